"""Files are looked for in parts: no key waits until all of a large workspace was looked through."""

from __future__ import annotations

import asyncio

from tui.core.fuzzy import Sieve
from tui.ui.file_search import SLICE, FileSearch

PATHS = [f"folder{n % 7}/unit_{n}.py" for n in range(5 * SLICE)]


async def test_what_is_found_in_many_files_comes_later_and_a_letter_more_is_quick() -> None:
    found: list[Sieve] = []
    search = FileSearch(found.append)
    assert search.begin("unit_49", PATHS) is None
    assert search.begin("unit_499", PATHS) is None  # the one before is let go
    turns = 0
    while search.busy:
        await asyncio.sleep(0)
        turns += 1
    assert turns >= len(PATHS) // SLICE - 1
    assert [one.letters for one in found] == ["unit_499"]
    narrowed = search.begin("unit_4999", PATHS)
    assert narrowed is not None
    assert narrowed.held == ["folder1/unit_4999.py"]


async def test_who_takes_one_at_once_does_not_wait() -> None:
    search = FileSearch(lambda sieve: None)
    assert search.begin("unit_4999", PATHS) is None
    sieve = search.end()
    assert sieve is not None
    assert [fit.text for fit in sieve.best(3)] == ["folder1/unit_4999.py"]
    assert search.end() is None
