from __future__ import annotations

import pytest
from textual.app import App, ComposeResult

from tui.ui import theme
from tui.ui.editor.tabs import Tab, Tabs, titles


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


class _Row(App[None]):
    """A row of tabs by itself."""

    def compose(self) -> ComposeResult:
        theme.activate(theme.DEFAULT_THEME)
        yield Tabs()


@pytest.mark.parametrize(
    ("width", "paths", "follow", "seen", "unseen"),
    [
        (53, ["tabs.go"], "Alt+L follows", ["tabs.go", "12:7", "Alt+L follows"], []),
        (53, ["tabs.go"], "▸ following", ["tabs.go", "12:7", "▸ following"], []),
        (44, ["one.go", "two.go", "three.go"], "▸ following", ["three.go", "12:7 ", "▸"], ["foll"]),
        (44, ["one.go", "two.go", "three.go"], "Alt+L follows", ["one.go", "12:7"], ["Alt"]),
        (26, ["one.go", "two.go", "three.go"], "Alt+L follows", ["one.go", "12:7"], ["Alt"]),
        (12, ["one.go", "two.go", "three.go"], "Alt+L follows", ["on"], ["12:7", "Alt"]),
        (80, ["a" * 20, "b" * 20, "c" * 20], "▸ following", ["aaa", "12:7", "▸ following"], []),
    ],
)
async def test_where_the_cursor_is_stands_in_a_narrow_row_too(
    width: int, paths: list[str], follow: str, seen: list[str], unseen: list[str]
) -> None:
    app = _Row()
    async with app.run_test(size=(width, 3)) as pilot:
        row = app.query_one(Tabs)
        row.show(tuple(Tab(path) for path in paths), paths[0])
        row.note("12:7", follow)
        await pilot.pause()
        text = row.render_line(0).text
        assert len(text) == width
        assert all(words in text for words in seen), text
        assert not any(words in text for words in unseen), text


async def test_several_are_written_at_once_and_fates_are_seen() -> None:
    app = _Row()
    async with app.run_test(size=(110, 3)) as pilot:
        row = app.query_one(Tabs)
        tabs = (
            Tab("a.py", writing=True),
            Tab("b.py", writing=True),
            Tab("c.py", fate="to be deleted"),
            Tab("d.py", fate="moves to e/f.py"),
            Tab("g.py", fate="moves to e/g.py"),
            Tab("h.py", dirty=True, torn=True),
        )
        row.show(tabs, "a.py")
        await pilot.pause()
        strip = row.render_line(0)
        assert "✎ a.py" in strip.text
        assert "✎ b.py" in strip.text
        assert "d.py → f.py ×" in strip.text
        assert "g.py → e/ ×" in strip.text, "another folder is what is new"
        assert "h.py !" in strip.text
        struck = [segment.text for segment in strip if segment.style and segment.style.strike]
        assert struck == ["c.py "]


def test_titles_of_very_many_files_cost_little() -> None:
    paths = [f"src/part{number % 50}/module{number}.py" for number in range(2_000)]
    assert titles(paths)[7] == "module7.py"
    assert titles([*paths, "other/module7.py"])[7] == "part7/module7.py"
