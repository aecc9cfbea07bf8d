from __future__ import annotations

import base64
import re

import pytest

from tests.support.scripted_app import running
from tests.support.scripted_session import ScriptedSession
from tui.ui.terminal.clipboard import MOST_BYTES, copying, too_long


def asked(text: str, **environment: str) -> str:
    return copying(text, environment)


def held(sequence: str) -> bytes:
    """What the terminal puts on its clipboard."""
    (found,) = re.findall(r"\x1b\]52;c;([A-Za-z0-9+/=]*)\x07", sequence)
    return base64.b64decode(found)


def test_a_terminal_gets_the_text_and_nothing_else() -> None:
    evil = "é\x1b]0;owned\x07\n\x1b\\"
    assert held(asked(evil)) == evil.encode()
    assert re.fullmatch(r"\x1b\]52;c;[A-Za-z0-9+/=]*\x07", asked(evil))


def test_bytes_that_are_no_text_come_back_as_they_were() -> None:
    assert held(asked(b"a\xff".decode("utf-8", "surrogateescape"))) == b"a\xff"


def test_tmux_gets_it_both_ways() -> None:
    sequence = asked("copy me", TMUX="/tmp/tmux-0/default,1,0")
    plain, _, wrapped = sequence.partition("\x1bPtmux;")
    assert held(plain) == b"copy me"
    assert wrapped.endswith("\x1b\\")
    assert held(wrapped.removesuffix("\x1b\\").replace("\x1b\x1b", "\x1b")) == b"copy me"


def test_screen_gets_it_in_pieces() -> None:
    sequence = asked("x" * 3000, STY="1.pts-0")
    pieces = re.findall(r"\x1bP(.*?)\x1b\\", sequence, re.DOTALL)
    assert "".join(f"\x1bP{piece}\x1b\\" for piece in pieces) == sequence
    assert all(len(piece) < 768 for piece in pieces)
    assert held("".join(pieces)) == b"x" * 3000


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
