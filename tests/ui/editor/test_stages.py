"""What is seen of an edit from its first line to its end, in the gutter and in words."""

from __future__ import annotations

from tests.support.patches import patch
from tests.support.stepped_pair import stepped

TWINS = [
    line
    for number in range(8)
    for line in (
        f"def handler_{number}():",
        '    log("start")',
        f"    value = {number % 4}",
        "    return value",
        "",
    )
]
"""Eight functions; each value stands in two of them."""
FILES = {"a.py": "\n".join(TWINS) + "\n", "b.py": "x = 1\n", "c.py": "gone = 1\nbye = 2\n"}


def update(*lines: str, file: str = "a.py") -> str:
    """A patch of one file."""
    return patch(*lines, file=file)


TWO_FILES = update("@@", "-x = 1", "+x = 2", "+y = 3", file="b.py")


async def test_two_models_in_two_files_both_paint() -> None:
    async with stepped(FILES, "b.py", "a.py", size=(220, 30)) as pair:
        await pair.pane.sides.divide()
        pair.pane.files.choose("b.py")
        await pair.pilot.pause()
        for side in pair.pane.sides:
            side.editor.let_go()
        pair.session.start(update("@@", " " + TWINS[10], "+    one", "+    two"))
        pair.session.start(TWO_FILES)
        pair.session.feed(70)
        await pair.frame()
        tabs = pair.pane.files.tabs.render_line(0).text
        assert "✎ a.py" in tabs
        assert "✎ b.py" in tabs
        shown = {side.path: side.editor for side in pair.pane.sides}
        assert set(shown) == {"a.py", "b.py"}
        for number, path in enumerate(("a.py", "b.py"), 1):
            editor = shown[path]
            assert any("▌" in row for row in pair.rows(editor))
            assert f"hunk {number}: landing at line" in pair.rows(editor)[-1]
        while pair.session.streams:
            pair.session.feed(5)
            await pair.frame()
        assert "✎" not in pair.pane.files.tabs.render_line(0).text
        assert pair.session.workspace.buffers["b.py"].text() == "x = 2\ny = 3\n"
