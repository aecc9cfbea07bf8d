"""How far a run has come, as its output streams."""

from __future__ import annotations

from typing import Any, cast

from tests.support.tables import each
from tui.cli.verifiers.project import formats
from tui.core.run_progress import RunProgress

ALL = tuple(form.progress for form in formats().values())


@each(
    "pieces, words",
    [
        (["...", ".F.."], ["3", "7"]),
        (["..........   [ 10/120]\n", "....."], ["10/120", "15/120"]),
        (["tests/test_a.py::test_x PASSED       [  1/12]\n"], ["1/12"]),
        (
            ["\nrunning 3 tests\n", "test a::b ... ok\n", "test c ... FAILED\n"],
            ["0/3", "1/3", "2/3"],
        ),
        (["--- PASS: TestA\n", "    --- SKIP: TestB/c\n", "ok  \tx\n"], ["1", "2", "2"]),
        ([" ✓ a.test.ts (3 tests) 2ms\n", " ❯ b.test.ts (2 tests | 1 failed) 5ms\n"], ["3", "5"]),
        (["1..4\n", "ok 1 - a\n", "not ok 2 - b\n"], ["0/4", "1/4", "2/4"]),
        (["compiling\n", "all good\n"], ["", ""]),
        (["y" * 100_000], [""]),
    ],
)
def test_progress_is_read_from_the_output_of_any_runner(
    pieces: list[str], words: list[str]
) -> None:
    progress = RunProgress(ALL)
    said = []
    for piece in pieces:
        progress.feed(piece.encode())
        said.append(progress.words)
    assert said == words


def test_a_character_that_is_cut_in_two_is_whole_again() -> None:
    progress = RunProgress(ALL)
    data = " ✓ a.test.ts (3 tests) 2ms\n".encode()
    progress.feed(data[:2])
    progress.feed(data[2:])
    assert progress.words == "3"


def test_a_flood_of_short_lines_is_not_looked_at_line_by_line() -> None:
    """What a runner says behind it counts."""
    looked_at = 0

    class Counting:
        def search(self, line: str) -> None:
            nonlocal looked_at
            looked_at += 1

    progress = RunProgress([cast(Any, [Counting()]), *ALL])
    progress.feed(b"y\n" * 16_000)
    assert looked_at < 200
    progress.feed(b"tests/test_a.py::test_x PASSED       [  1/12]\n")
    assert progress.words == "1/12"
