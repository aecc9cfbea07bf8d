from __future__ import annotations

from tui.core.fuzzy import Sieve
from tui.ui.files.finder import found_in, recent_first

PATHS = ["README.md", "ledger/cache.py", "ledger/cli.py", "tests/test_cache.py", "docs/cat.md"]


def best(query: str, paths: list[str] = PATHS) -> list[str]:
    sieve = Sieve(query, paths)
    assert sieve.step(len(paths))
    return [found.path for found in found_in(sieve)]


def test_folders_and_case_and_blanks() -> None:
    assert best("led cli") == ["ledger/cli.py"]
    assert best("readme") == ["README.md"]
    assert best("zzz") == []
    assert best("cache test") == ["tests/test_cache.py"]
    assert best("cat doc") == ["docs/cat.md"]


def test_a_name_says_more_than_a_folder() -> None:
    paths = ["examples/flask/wrapper.py", "src/flask/app.py", "src/flask/views.py", "app/x.py"]
    assert best("app flask", paths)[0] == "src/flask/app.py"
    assert best("app", paths)[0] == "src/flask/app.py"


def test_without_a_query_the_recent_ones_come_first() -> None:
    found = recent_first(PATHS, ["docs/cat.md"])
    assert [one.path for one in found][:2] == ["docs/cat.md", "README.md"]
    assert len(found) == len(PATHS)
