from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tui.ui.files.filter import MOST_FOUND, PathIndex, best, filtered

PATHS = ["README.md", "pkg/Cache.py", "pkg/sub/cache_test.py", "tests/test_cache.py", "x/ÄÖ.py"]


def shown(words: str) -> list[str]:
    rows = filtered(PathIndex(PATHS).find(words), words)
    return ["  " * row.depth + row.name for row in rows]


def test_files_with_all_the_words_stand_in_their_folders() -> None:
    assert shown("cache") == [
        "pkg",
        "  sub",
        "    cache_test.py",
        "  Cache.py",
        "tests",
        "  test_cache.py",
    ]
    assert shown("test cache") == [
        "pkg",
        "  sub",
        "    cache_test.py",
        "tests",
        "  test_cache.py",
    ]
    assert shown("PKG py sub") == ["pkg", "  sub", "    cache_test.py"]
    assert shown("äö") == ["x", "  ÄÖ.py"]
    assert shown("nothing like it") == []
    assert shown("  ") == []


def test_what_the_last_word_found_in_the_name_is_marked_and_the_best_is_lit() -> None:
    rows = filtered(PathIndex(PATHS).find("pkg cache"), "pkg cache")
    assert [row.match for row in rows if row.kind == "file"] == [(0, 5), (0, 5)]
    rows = filtered(PathIndex(PATHS).find("cache"), "cache")
    assert rows[best(rows)].name == "cache_test.py"
    assert best([]) == 0


def test_the_count_is_bounded() -> None:
    assert len(PathIndex([f"f{n}.py" for n in range(5000)]).find("py")) == MOST_FOUND
    assert PathIndex([]).find("x") == []


pieces = st.text(st.sampled_from("aAbİß./ "), min_size=1, max_size=5)


@given(st.lists(pieces, max_size=12), pieces)
def test_it_finds_what_looking_at_each_path_finds(paths: list[str], words: str) -> None:
    parts = words.lower().split()
    expected = [path for path in paths if parts and all(part in path.lower() for part in parts)]
    assert PathIndex(paths).find(words) == expected
