"""What is told to the desktop, and what is put on the clipboard."""

from __future__ import annotations

import pytest

from tests.support.scripted_app import running
from tests.support.scripted_session import ScriptedSession
from tests.support.tables import each
from tui.ui.terminal.notifying import (
    MOST_BYTES,
    Moment,
    Notifier,
    NotifyOptions,
    copying,
    too_long,
    way,
)

KITTY = {"TERM": "xterm-kitty", "KITTY_WINDOW_ID": "1"}


BUSY, DONE = Moment(busy=True), Moment(busy=False, outcome="completed")


def ended(herald: Notifier, seconds: float = 100.0, last: Moment = DONE) -> str:
    """What is written from the beginning of a turn to its end."""
    return herald.state(BUSY, 1000.0) + herald.state(last, 1000.0 + seconds)


def test_a_long_turn_in_a_window_that_nobody_looks_at() -> None:
    herald = Notifier(NotifyOptions(), KITTY)
    herald.looking(False)
    assert ended(herald) == "\x1b]9;duetto: The turn is done.\x07"


@each("came", [False, True])
def test_of_one_turn_nobody_is_called_twice_who_did_not_come(came: bool) -> None:
    herald = Notifier(NotifyOptions(), KITTY)
    herald.looking(False)
    herald.state(BUSY, 1000.0)
    assert herald.state(Moment(busy=True, asks=True), 1100.0)
    if came:
        herald.looking(True)
        herald.looking(False)
    assert herald.state(BUSY, 1101.0) == ""
    assert bool(herald.state(DONE, 1200.0)) == came
    assert ended(herald, last=DONE), "another turn"


def test_bell_and_title_are_off_until_they_are_wanted() -> None:
    herald = Notifier(NotifyOptions(bell=True, title=True, desktop="off"), KITTY, "ledger")
    herald.looking(False)
    assert herald.goodbye() == ""
    assert herald.state(BUSY, 0.0) == "\x1b[22;2t\x1b]2;duetto: ledger, a turn is running\x07"
    assert herald.state(DONE, 100.0) == "\x1b]2;duetto: ledger, the turn is done\x07\x07"
    assert herald.goodbye() == "\x1b[23;2t"
    assert herald.goodbye() == "", "once for each time it was kept"
    assert ended(herald).startswith("\x1b[22;2t"), "after a stop it is kept again"
    assert "\x07" not in ended(Notifier(NotifyOptions(), {"TERM": "xterm"}))


def test_the_prompt_is_said_only_where_it_is_wanted_and_cannot_act() -> None:
    herald = Notifier(NotifyOptions(desktop="osc777", prompt=True), {"TERM": "xterm"})
    herald.prompt = lambda: "make it; safe\x07\x1b]0;evil\x07\u202egpj"
    herald.looking(False)
    said = ended(herald)
    assert said.startswith("\x1b]777;notify;duetto;The turn is done. make it, safe")
    body = said.removeprefix("\x1b]777;notify;duetto;").removesuffix("\x07")
    assert body.isprintable()
    assert ";" not in body


def test_through_tmux_and_screen() -> None:
    tmux = Notifier(NotifyOptions(), KITTY | {"TMUX": "/tmp/t,1,0"})
    tmux.looking(False)
    assert ended(tmux) == "\x1bPtmux;\x1b\x1b]9;duetto: The turn is done.\x07\x1b\\"
    screen = Notifier(NotifyOptions(), KITTY | {"STY": "1.x"})
    screen.looking(False)
    assert ended(screen) == "\x1bP\x1b]9;duetto: The turn is done.\x07\x1b\\"


@each(
    "kind, environment",
    [
        ("osc9", {"TERM_PROGRAM": "iTerm.app"}),
        ("osc9", {"LC_TERMINAL": "iTerm2"}),
        ("osc777", {"TERM": "foot"}),
        ("osc777", {"TERM": "rxvt-unicode-256color"}),
        ("osc777", {"TERM_PROGRAM": "ghostty"}),
        ("osc777", {"VTE_VERSION": "7600"}),
        ("off", {"TERM": "xterm-256color"}),
        ("off", {"TERM_PROGRAM": "Apple_Terminal"}),
        ("off", {"TERM": "linux"}),
    ],
)
def test_the_way_that_a_terminal_is_known_to_take(kind: str, environment: dict[str, str]) -> None:
    assert way("auto", environment) == kind


def asked(text: str, **environment: str) -> str:
    return copying(text, environment)


def test_what_is_too_long_is_not_asked_for() -> None:
    assert asked("x" * MOST_BYTES)
    assert asked("x" * (MOST_BYTES + 1)) == ""
    assert f"{MOST_BYTES + 1:,}" in too_long("x" * (MOST_BYTES + 1))


@pytest.mark.parametrize("here", [True, False], ids=["desktop", "no desktop"])
async def test_a_long_text_is_said_unless_the_desktop_has_it(here: bool) -> None:
    async with running(ScriptedSession()) as (app, pilot):
        copied: list[str] = []

        def copy_here(text: str) -> bool:
            copied.append(text)
            return here

        app.copy_here = copy_here
        app.copy_to_clipboard("short")
        await pilot.pause()
        assert not app._notifications
        app.copy_to_clipboard("x" * 200_000)
        await pilot.pause()
        assert [len(text) for text in copied] == [5, 200_000]
        assert bool(app._notifications) is not here
        assert app.clipboard == "x" * 200_000
