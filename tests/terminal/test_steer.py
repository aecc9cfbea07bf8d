"""Alt+Enter with the real binary: as most terminals send it, nothing is stopped by it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.support.terminal import Terminal

AS_ESC_CR, AS_NUMBER = "\x1b\r", "\x1b[13;3u"


@pytest.mark.parametrize("sent", [AS_ESC_CR, AS_NUMBER])
def test_the_answer_takes_the_text_up_without_a_stop(
    start: Callable[..., Terminal], sent: str
) -> None:
    term = start("practice")
    term.wait_for("Tab takes the suggestion")
    term.type("/throttle 120\r")
    term.wait_for("throttled")
    term.type("\t")
    term.wait_for("❯ make the cache safe for threads")
    term.type("\r")
    term.wait_for("Alt+⏎ steer")
    term.wait_for("landing")
    term.type(f"use a plain Lock{sent}")
    term.wait_for("A plain Lock then")
    assert "stopped after" not in term.text
    term.type("\x11y")
    assert term.wait_exit() == 0
    assert term.trouble() == ""


def test_a_queued_message_is_edited_where_it_stands(start: Callable[..., Terminal]) -> None:
    term = start("practice", size=(80, 24))
    term.wait_for("Tab takes the suggestion")
    term.type("/throttle 20\r")
    term.wait_for("throttled")
    term.type("\t")
    term.wait_for("❯ make the cache safe for threads")
    term.type("\r")
    term.wait_for("Tab queue")
    term.type("first\tsecond\t")
    term.wait_for("2 second")
    term.type("\x1b[A")
    term.wait_for("d remove")
    term.type("\x1b[A")
    term.type("e")
    term.wait_for("put back as 1")
    term.type(" of all\t")
    term.wait_for("1 first of all")
    term.wait_for("⏎ redirect")
    term.wait_for(re.compile(r"~[1-9]\d* tok"))  # before, Esc gives the prompt back
    term.type("\x1b")
    term.wait_for("stopped after")
    term.type("/status\r")
    term.wait_for("What it can do")
    term.wait_for("● open")
    term.type("\x1b")
    term.wait_gone("What it can do")
    term.type("\x11y")
    assert term.wait_exit() == 0
    assert term.trouble() == ""
