from __future__ import annotations

from tui.ui.files.finder import find_files

PATHS = ["README.md", "ledger/cache.py", "ledger/cli.py", "tests/test_cache.py", "docs/cat.md"]


def best(query: str) -> list[str]:
    return [found.path for found in find_files(query, PATHS, [])]


def test_folders_and_case_and_blanks() -> None:
    assert best("led cli") == ["ledger/cli.py"]
    assert best("readme") == ["README.md"]
    assert best("zzz") == []
    assert best("cache test") == ["tests/test_cache.py"]
    assert best("cat doc") == ["docs/cat.md"]


def test_a_name_says_more_than_a_folder() -> None:
    paths = ["examples/flask/wrapper.py", "src/flask/app.py", "src/flask/views.py", "app/x.py"]
    assert find_files("app flask", paths, [])[0].path == "src/flask/app.py"
    assert find_files("app", paths, [])[0].path == "src/flask/app.py"


def test_without_a_query_the_recent_ones_come_first() -> None:
    found = find_files("", PATHS, ["docs/cat.md"])
    assert [one.path for one in found][:2] == ["docs/cat.md", "README.md"]
    assert len(found) == len(PATHS)
