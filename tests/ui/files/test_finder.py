from __future__ import annotations

from tui.ui.files.finder import find_files

PATHS = ["README.md", "ledger/cache.py", "ledger/cli.py", "tests/test_cache.py", "docs/cat.md"]


def best(query: str) -> list[str]:
    return [found.path for found in find_files(query, PATHS, [])]


def test_names_weigh_more_than_folders() -> None:
    assert best("cache")[0] == "ledger/cache.py"
    assert best("cli") == ["ledger/cli.py"]
    assert best("tca")[0] == "tests/test_cache.py"


def test_folders_and_case_and_blanks() -> None:
    assert best("led cli") == ["ledger/cli.py"]
    assert best("readme") == ["README.md"]
    assert best("zzz") == []


def test_without_a_query_the_recent_ones_come_first() -> None:
    found = find_files("", PATHS, ["docs/cat.md"])
    assert [one.path for one in found][:2] == ["docs/cat.md", "README.md"]
    assert len(found) == len(PATHS)


def test_what_matched_is_known() -> None:
    assert find_files("cli", PATHS, [])[0].offsets == (7, 8, 9)


def test_many_files_are_cut_not_slow() -> None:
    paths = [f"package/module_{number}/file_{number}.py" for number in range(20_000)]
    assert find_files("file19999", paths, [])[0].path.endswith("file_19999.py")


def test_the_same_letter_many_times_is_not_slow() -> None:
    paths = [f"package/{'e' * 60}/{number}/{'e' * 60}.py" for number in range(200)]
    assert len(find_files("e" * 30, paths, [])) == 200
    assert find_files("e" * 130, paths, []) == []
