from __future__ import annotations

import pytest

from tui.ui.editor.tabs import titles


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["a.py", "b/c.py"], ["a.py", "c.py"]),
        (["a/x.py", "b/x.py"], ["a/x.py", "b/x.py"]),
        (["p/a/x.py", "q/a/x.py", "y.py"], ["p/a/x.py", "q/a/x.py", "y.py"]),
        (["x.py", "a/x.py"], ["x.py", "a/x.py"]),
        (["n" * 40], ["…" + "n" * 27]),
        (["a\x1b[31m.py"], ["a␛[31m.py"]),
    ],
)
def test_titles_tell_files_apart_and_are_inert(paths: list[str], expected: list[str]) -> None:
    assert titles(paths) == expected
