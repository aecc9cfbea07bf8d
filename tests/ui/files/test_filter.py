from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tui.ui.files.tree_rows import MOST_FOUND, PathIndex


def test_the_count_is_bounded() -> None:
    assert len(PathIndex([f"f{n}.py" for n in range(5000)]).find("py")) == MOST_FOUND
    assert PathIndex([]).find("x") == []


pieces = st.text(st.sampled_from("aAbİß./ "), min_size=1, max_size=5)


@given(st.lists(pieces, max_size=12), pieces)
def test_it_finds_what_looking_at_each_path_finds(paths: list[str], words: str) -> None:
    parts = words.lower().split()
    expected = [path for path in paths if parts and all(part in path.lower() for part in parts)]
    assert PathIndex(paths).find(words) == expected
