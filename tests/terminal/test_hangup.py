"""The window is closed, or the connection to it breaks: the app ends by itself."""

from __future__ import annotations

import signal
from collections.abc import Callable

from tests.support.terminal import Terminal


def test_a_terminal_that_goes_away_ends_the_app(start: Callable[..., Terminal]) -> None:
    term = start("practice")
    term.wait_for("send")
    term.pump(0.5)
    assert term.hang_up() is not None


def test_one_that_is_told_to_continue_without_a_pause_still_ends(
    start: Callable[..., Terminal],
) -> None:
    term = start("practice")
    term.wait_for("send")
    # a kernel that hangs up says SIGHUP, then SIGCONT
    for _ in range(8):
        term.signal(signal.SIGCONT)
        term.pump(0.05)
    assert term.hang_up() is not None
