"""A terminal that reads late, or by small sips, still gets the right picture in the end."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable

from tests.support.terminal import Terminal

Start = Callable[..., Terminal]


def picture(text: str) -> list[str]:
    """The screen without its status line, which counts on."""
    lines = [line.rstrip() for line in text.splitlines()]
    return [*lines[:-2], lines[-1]]


def check_picture(term: Terminal) -> None:
    """What stands there is what a full repaint shows."""
    columns, rows = term.columns, term.rows
    for _ in range(5):  # a picture that was taken before the last frame is taken again
        shown = picture(term.settle(1.0))
        term.resize(columns - 1, rows)
        term.settle(0.5)
        term.resize(columns, rows)
        if picture(term.settle(1.0)) == shown:
            return
    term.wait_for(lambda text: picture(text) == shown)


def full(term: Terminal) -> bool:
    """Whether the line takes no more of what is painted."""
    line = os.open(term.path, os.O_WRONLY | os.O_NOCTTY)
    room = select.select([], [line], [], 0)[1]
    os.close(line)
    return not room


def test_nobody_reads_while_an_answer_streams(start: Start) -> None:
    term = start("practice", size=(160, 50))
    term.wait_for("send")
    term.settle()
    term.type("make the cache safe for threads\r")
    while not full(term):  # nothing is read
        time.sleep(0.01)
    term.wait_for("tok/s")
    term.type("typed on")
    term.wait_for("typed on")
    check_picture(term)


def test_a_line_of_few_bytes_a_second(start: Start) -> None:
    """Frames are left out, keys are not: Esc stops the answer while the line is full."""
    term = start("practice", size=(120, 36))
    term.wait_for("send")
    term.type("/throttle 60\r")  # or it is over before the key comes
    term.wait_for("throttled")
    term.settle()
    term.type("make the cache safe for threads\r")
    while not full(term):
        time.sleep(0.01)
    term.type("\x1b[27u")
    while "stopped" not in term.text:
        term._take(os.read(term._fd, 300))
        time.sleep(0.01)
    term.wait_for("send")
    term.type("after")
    term.wait_for("after")
    check_picture(term)
