"""Changes by other programs in the real app, where the system tells of them badly or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.terminal import Terminal

pytestmark = pytest.mark.case("G07", "G10")


def test_in_a_huge_tree_an_open_file_is_watched(
    start: Callable[..., Terminal], tmp_path: Path
) -> None:
    for number in range(1_100):
        (tmp_path / f"pkg{number:04}" / "sub").mkdir(parents=True)
    deep = tmp_path / "zz" / "y" / "x"
    deep.mkdir(parents=True)
    (deep / "a.py").write_text("first = 1\n")
    term = start(".", "zz/y/x/a.py", size=(100, 30))
    term.wait_for("first = 1")
    for text in ("second = 2", "third = 3"):
        (deep / "new").write_text(f"{text}\n")
        (deep / "new").replace(deep / "a.py")
        term.wait_for(text)


def test_a_file_that_is_open_through_a_link_is_watched(
    start: Callable[..., Terminal], tmp_path: Path
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.py").write_text("first = 1\n")
    (tmp_path / "aa").symlink_to("real")
    (tmp_path / "zz").symlink_to("real")
    term = start(".", "real/a.py", size=(100, 30))
    term.wait_for("first = 1")
    (tmp_path / "real" / "a.py").write_text("second = 2\n")
    term.wait_for("second = 2")
