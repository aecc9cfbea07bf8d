"""Alt+Enter with the real binary: as most terminals send it, nothing is stopped by it."""

from __future__ import annotations

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
    term.type("/throttle 50\r")
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
