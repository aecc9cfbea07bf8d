"""A long turn that ended unseen is told of; nothing else is, and nothing of the prompt."""

from __future__ import annotations

import pytest

from tui.ui.terminal.notifying import AWAY_S, Choices, Herald, Moment, way

KITTY = {"TERM": "xterm-kitty", "KITTY_WINDOW_ID": "1"}
BUSY, DONE = Moment(busy=True), Moment(busy=False, outcome="completed")


def ended(herald: Herald, seconds: float = 100.0, last: Moment = DONE) -> str:
    """What is written from the beginning of a turn to its end."""
    return herald.state(BUSY, 1000.0) + herald.state(last, 1000.0 + seconds)


def test_a_long_turn_in_a_window_that_nobody_looks_at() -> None:
    herald = Herald(Choices(), KITTY)
    herald.looking(False)
    assert ended(herald) == "\x1b]9;duetto: The turn is done.\x07"


def test_who_is_looking_or_has_just_typed_is_told_nothing() -> None:
    looking, typing = Herald(Choices(), KITTY), Herald(Choices(), KITTY)
    looking.looking(True)
    assert ended(looking) == ""
    typing.typed(1095.0)
    assert ended(typing) == ""


def test_without_word_of_the_focus_the_last_key_tells() -> None:
    herald = Herald(Choices(), KITTY)
    herald.typed(1000.0)
    assert ended(herald, AWAY_S + 1) != ""


def test_a_short_turn_is_not_told_of() -> None:
    herald = Herald(Choices(after_s=60), KITTY)
    herald.looking(False)
    assert ended(herald, 59) == ""
    assert ended(herald, 61) != ""


def test_it_is_said_once() -> None:
    herald = Herald(Choices(), KITTY)
    herald.looking(False)
    assert ended(herald)
    assert herald.state(DONE, 2000.0) == ""


@pytest.mark.parametrize("came", [False, True])
def test_of_one_turn_nobody_is_called_twice_who_did_not_come(came: bool) -> None:
    herald = Herald(Choices(), KITTY)
    herald.looking(False)
    herald.state(BUSY, 1000.0)
    assert herald.state(Moment(busy=True, asks=True), 1100.0)
    if came:
        herald.looking(True)
        herald.looking(False)
    assert herald.state(BUSY, 1101.0) == ""
    assert bool(herald.state(DONE, 1200.0)) == came
    assert ended(herald, last=DONE), "another turn"


def test_a_question_is_told_of_while_the_turn_runs() -> None:
    herald = Herald(Choices(), KITTY)
    herald.looking(False)
    herald.state(BUSY, 1000.0)
    said = herald.state(Moment(busy=True, asks=True), 1100.0)
    assert said == "\x1b]9;duetto: Waiting for your answer.\x07"


@pytest.mark.parametrize(("focused", "due_s"), [(False, 10.0), (None, AWAY_S)])
def test_a_question_that_comes_early_is_told_of_when_nobody_comes(
    focused: bool | None, due_s: float
) -> None:
    herald = Herald(Choices(), KITTY)
    if focused is not None:
        herald.looking(focused)
    herald.state(BUSY, 1000.0)
    herald.typed(1005.0)
    assert herald.state(Moment(busy=True, asks=True), 1005.0) == ""
    assert herald.again_s(1005.0) == due_s
    assert herald.remind(1005.0 + due_s - 1) == ""
    assert "Waiting for your answer" in herald.remind(1005.0 + due_s)
    assert (herald.remind(2000.0), herald.again_s(2000.0)) == ("", 0.0), "once"


def test_a_question_that_was_seen_or_answered_is_not_told_of() -> None:
    for come in (
        lambda herald: herald.looking(True),
        lambda herald: herald.state(BUSY, 1008.0),
    ):
        herald = Herald(Choices(), KITTY)
        herald.looking(False)
        herald.state(BUSY, 1000.0)
        herald.state(Moment(busy=True, asks=True), 1005.0)
        come(herald)
        assert (herald.remind(1100.0), herald.again_s(1006.0)) == ("", 0.0)


def test_bell_and_title_are_off_until_they_are_wanted() -> None:
    herald = Herald(Choices(bell=True, title=True, desktop="off"), KITTY, "ledger")
    herald.looking(False)
    assert herald.goodbye() == ""
    assert herald.state(BUSY, 0.0) == "\x1b[22;2t\x1b]2;duetto: ledger, a turn is running\x07"
    assert herald.state(DONE, 100.0) == "\x1b]2;duetto: ledger, the turn is done\x07\x07"
    assert herald.goodbye() == "\x1b[23;2t"
    assert herald.goodbye() == "", "once for each time it was kept"
    assert ended(herald).startswith("\x1b[22;2t"), "after a stop it is kept again"
    assert "\x07" not in ended(Herald(Choices(), {"TERM": "xterm"}))


def test_the_prompt_is_said_only_where_it_is_wanted_and_cannot_act() -> None:
    herald = Herald(Choices(desktop="osc777", prompt=True), {"TERM": "xterm"})
    herald.prompt = lambda: "make it; safe\x07\x1b]0;evil\x07\u202egpj"
    herald.looking(False)
    said = ended(herald)
    assert said.startswith("\x1b]777;notify;duetto;The turn is done. make it, safe")
    body = said.removeprefix("\x1b]777;notify;duetto;").removesuffix("\x07")
    assert body.isprintable()
    assert ";" not in body


def test_through_tmux_and_screen() -> None:
    tmux = Herald(Choices(), KITTY | {"TMUX": "/tmp/t,1,0"})
    tmux.looking(False)
    assert ended(tmux) == "\x1bPtmux;\x1b\x1b]9;duetto: The turn is done.\x07\x1b\\"
    screen = Herald(Choices(), KITTY | {"STY": "1.x"})
    screen.looking(False)
    assert ended(screen) == "\x1bP\x1b]9;duetto: The turn is done.\x07\x1b\\"


@pytest.mark.parametrize(
    ("kind", "environment"),
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
