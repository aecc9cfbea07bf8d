"""Alt+A over very many hunks: it says how far it is, Esc stops it, a kill loses nothing."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.patch_server import PatchServer, made
from tests.support.terminal import Terminal

ALL = "\x1ba"
HUNKS = 8_000
BEFORE, AFTER, PATCH = made(HUNKS, 2)
SAYS = re.compile(r"accepting ([\d,]+) of 8,000 hunks · Esc stops")


class Work:
    """A workspace, and what starts duetto in it."""

    def __init__(self, start: Callable[..., Terminal], folder: Path) -> None:
        self._start = start
        self._rescue = folder / "home" / "state" / "rescue"
        self._server = PatchServer(PATCH)
        self._folder = folder / "work"
        self._folder.mkdir()
        for path, text in BEFORE.items():
            (self._folder / path).write_text(text)

    def open(self) -> Terminal:
        address = f"ws://127.0.0.1:{self._server.port}/v1/responses"
        term = self._start("--endpoint", address, "--fast", "m", self._folder, size=(180, 36))
        term.wait_for("send")
        return term

    def landed(self) -> Terminal:
        """All hunks wait for a decision."""
        term = self.open()
        term.type("go\r")
        term.wait_for(lambda _: self._server.ended.is_set())
        term.wait_for("Done.")
        term.settle(1.0)
        return term

    def states(self) -> set[str]:
        """What the files are."""
        texts = {path: (self._folder / path).read_text() for path in BEFORE}
        known = {"before": BEFORE, "after": AFTER}
        return {
            next((name for name, all_of in known.items() if all_of[path] == text), "torn")
            for path, text in texts.items()
        }

    def changed(self) -> int:
        """How many hunks are on the disk."""
        return sum((self._folder / path).read_text().count("new ") for path in BEFORE)

    def rescued(self) -> int:
        """How many hunks are in what is kept for the next start."""
        count = 0
        for file in self._rescue.glob("*/files/*"):
            with suppress(OSError):  # a folder, or it was written to its own place just now
                count += file.read_text().count("new ")
        return count


@pytest.fixture
def work(start: Callable[..., Terminal], tmp_path: Path) -> Work:
    return Work(start, tmp_path)


def test_it_says_how_far_it_is_and_esc_stops_it(work: Work) -> None:
    term = work.landed()
    term.type(ALL)
    term.wait_for(SAYS)
    term.type("\x1b")
    term.wait_for(re.compile(r"Stopped accepting ([\d,]+) of 8,000 hunks"))
    term.wait_for(lambda _: work.changed() > 0)
    stopped = work.changed()
    assert 0 < stopped < HUNKS
    term.type(ALL)
    term.wait_for(lambda _: work.states() == {"after"})
    term.leave()


MOMENTS: dict[str, Callable[[Work, str], object]] = {
    "at once": lambda work, screen: True,
    "while it decides": lambda work, screen: SAYS.search(screen),
    "when some of it is kept": lambda work, screen: work.rescued() or work.changed(),
    "when it writes": lambda work, screen: work.changed(),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_kill_in_its_middle_leaves_each_file_whole_and_offers_the_rest(
    work: Work, moment: str
) -> None:
    term = work.landed()
    term.type(ALL)
    term.wait_for(lambda screen: MOMENTS[moment](work, screen))
    term.signal(signal.SIGKILL)
    assert term.wait_exit() == -signal.SIGKILL
    found, kept = work.states(), work.rescued()
    assert found <= {"before", "after"}
    assert kept or found == {"after"} or moment in ("at once", "while it decides")
    term = work.open()
    if len(found) == 2:
        term.wait_for("was cut short when duetto ended: write the rest?")
        term.type("1")
        term.wait_for(lambda _: work.states() == {"after"})
    elif kept and found == {"before"}:
        term.wait_for("/rescue brings it back")
        term.type("/rescue\r")
        term.wait_for("brought back, not saved yet")
