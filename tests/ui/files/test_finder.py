from __future__ import annotations

from tui.ui.files.finder import find_files

PATHS = ["README.md", "ledger/cache.py", "ledger/cli.py", "tests/test_cache.py", "docs/cat.md"]


def best(query: str) -> list[str]:
    return [found.path for found in find_files(query, PATHS, [])]


def test_folders_and_case_and_blanks() -> None:
    assert best("led cli") == ["ledger/cli.py"]
    assert best("readme") == ["README.md"]
    assert best("zzz") == []


def test_without_a_query_the_recent_ones_come_first() -> None:
    found = find_files("", PATHS, ["docs/cat.md"])
    assert [one.path for one in found][:2] == ["docs/cat.md", "README.md"]
    assert len(found) == len(PATHS)
