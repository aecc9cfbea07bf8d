"""What is seen of an edit from its first line to its end, in the gutter and in words."""

from __future__ import annotations

import pytest

from tests.support.patches import Edit, patch, patch_of
from tests.support.stepped_pair import SteppedPair, stepped
from tui.core.edit_stream import Format
from tui.core.edits.hunk import Stage
from tui.ui.rows import MARGIN

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


def below(pair: SteppedPair) -> str:
    """What stands over the end of the last row."""
    return pair.rows()[-1].rstrip()


def card(pair: SteppedPair) -> list[str]:
    """The conversation's rows."""
    transcript = pair.app.bench.transcript
    rows = (transcript.rows.row(number) for number in range(transcript.rows.total))
    return ["" if row is None else row.strip.text[MARGIN:].rstrip() for row in rows]


async def test_candidates_are_counted_and_marked_if_they_are_few() -> None:
    async with stepped(FILES, "a.py", size=(100, 50)) as pair:
        await pair.go(0)
        block = pair.session.say("patch", speaker="fast", state="open")
        block.call_id = "call_1"
        text = update(
            "@@", '     log("start")', "     value = 2", "-    return value", "+    return 2"
        )
        await pair.start(text, 'log("start")\n')
        assert below(pair).endswith("hunk 1: 8 candidates, reading context")
        assert pair.bars() == {}
        assert any("where?   many candidates" in row for row in card(pair))
        await pair.stream("value = 2\n")
        assert below(pair).endswith("hunk 1: 2 candidates, reading context")
        places = [12, 13, 32, 33]
        assert pair.bars() == dict.fromkeys(places, "┆")
        assert any("where?   2 candidates" in row for row in card(pair))
        kinds = {kind for _, kind in pair.pane.overview._cells}
        assert kinds == {"", "candidate"}


async def test_incoming_lines_lie_under_the_first_candidate_after_the_cursor() -> None:
    async with stepped(FILES, "a.py", size=(100, 50)) as pair:
        await pair.go(0)
        text = update(
            "@@", "     value = 2", "-    return value", "+    one", "+    two", "+    three"
        )
        await pair.start(text, "+    one\n+    t")
        rows = pair.rows()
        assert "┊ hunk 1: 2 candidates, reading context · +2" in rows[14]
        assert [row[7:].strip() for row in rows[15:17]] == ["one", "t"]
        assert rows[17].split() == ["18", "value", "=", "3"]
        assert pair.buffer.text() == FILES["a.py"]  # it is not in the document
        await pair.go(15)  # the strip does not hide the cursor: it goes to the end
        assert "16   def handler_3" in pair.rows()[15]
        assert [row[7:].strip() for row in pair.rows()[-2:]] == ["one", "t"]
        await pair.stream()
        assert not any("┊" in row for row in pair.rows())
        hunk = pair.hunks[0]
        assert (hunk.stage, hunk.candidates) == (Stage.CANDIDATES, (12, 32))
        assert "hunk 1: fits in 2 places, yours to choose" in below(pair)


async def test_without_room_there_is_no_strip() -> None:
    async with stepped(FILES, "a.py", size=(80, 13)) as pair:
        text = update("@@", "     value = 2", "-    return value", "+    one", "+    two")
        await pair.start(text, "+    one\n+    t")
        assert pair.editor.size.height <= 8
        assert not any("┊" in row for row in pair.rows())
        assert below(pair).endswith("hunk 1: 2 candidates, reading context  ↓ 1 hunk")


async def test_removed_lines_are_struck_until_the_hunk_is_whole() -> None:
    async with stepped(FILES, "a.py", size=(100, 50)) as pair:
        text = update(
            "@@",
            " def handler_2():",
            '     log("start")',
            "-    value = 2",
            "-    return value",
            "+    return 2",
            " ",
        )
        await pair.start(text, "-    value = 2\n")
        assert pair.bars() == {13: "╌"}
        assert below(pair).endswith("hunk 1: landing at line 13, −1 +0")
        await pair.stream("+    ret")
        assert pair.bars() == {13: "╌", 14: "╌", 15: "▌"}
        assert pair.rows()[14].rstrip() == "  15 ▌     ret▍"
        await pair.stream(" \n")
        assert pair.bars() == {13: "╌", 14: "╌", 15: "▌"}
        await pair.stream()
        assert pair.bars() == {13: "┃"}
        assert pair.buffer.lines[10:15] == [*TWINS[10:12], "    return 2", "", TWINS[15]]
        assert below(pair) == pair.rows()[-1].split("   ")[0] or "hunk" not in below(pair)


async def test_what_contradicts_the_place_takes_the_painting_back() -> None:
    async with stepped(FILES, "a.py", size=(100, 50)) as pair:
        text = update("@@", f" {TWINS[10]}", f" {TWINS[11]}", "+more", " nowhere", "-x")
        await pair.start(text, "+more\n")
        assert pair.bars() == {13: "▌"}
        await pair.go(12, 4)
        await pair.stream("nowhere\n")
        assert pair.bars() == {}
        assert pair.buffer.text() == FILES["a.py"]
        assert "hunk 1: no place found yet, reading context" in "".join(pair.rows())
        assert pair.view.cursor.position[0] == 12
        await pair.stream()
        assert pair.hunks[0].stage is Stage.REFUSED
        assert pair.buffer.text() == FILES["a.py"]


BLOCK = """a.py
```
<<<<<<< SEARCH
def handler_2():
    log("start")
    value = 2
=======
def handler_2():
    log("begin")
    value = 2
>>>>>>> REPLACE
```
"""
DIFF = """--- a/a.py
+++ b/a.py
@@ -11,3 +11,3 @@
 def handler_2():
-    log("start")
+    log("begin")
     value = 2
"""
WHOLE = (
    "a.py\n```\n"
    + FILES["a.py"].replace('handler_2():\n    log("start")', 'handler_2():\n    log("begin")')
    + "```\n"
)


@pytest.mark.parametrize(
    ("fmt", "text"),
    [("search_replace", BLOCK), ("unified_diff", DIFF), ("whole_file", WHOLE)],
)
async def test_every_format_paints_while_it_streams(fmt: Format, text: str) -> None:
    async with stepped(FILES, "a.py", size=(100, 50)) as pair:
        await pair.go(2)
        await pair.start(text, 'log("begin")\n', fmt)
        before = pair.sight()
        struck = {number for number, bar in pair.bars().items() if bar == "╌"}
        painted = {number for number, bar in pair.bars().items() if bar == "▌"}
        assert painted
        assert all(pair.buffer.lines[number - 1] == '    log("begin")' for number in painted)
        assert all(pair.buffer.lines[number - 1] == TWINS[11] for number in struck)
        assert "landing at line" in below(pair)
        assert set(TWINS) <= set(pair.buffer.lines)  # an open hunk hides nothing
        await pair.stream()
        assert pair.sight() == before
        assert [hunk.stage for hunk in pair.hunks] == [Stage.LANDED]
        expected = list(TWINS)
        expected[11] = '    log("begin")'
        assert pair.buffer.lines == [*expected, ""]
        assert pair.bars() == {12: "┃"}


async def test_hunks_above_and_below_are_counted() -> None:
    lines = [f"line {number}" for number in range(200)]
    edits = [Edit(at, at + 1, (f"new {at}",)) for at in (10, 90, 100, 150, 160, 170)]
    async with stepped({"a.py": "\n".join([*lines, ""])}, "a.py") as pair:
        await pair.go(0)
        await pair.start(patch_of(lines, edits, 2, "a.py"))
        await pair.stream()
        assert below(pair).endswith("↓ 5 hunks")
        assert "hunk" not in pair.rows()[0]
        await pair.go(95)
        assert pair.rows()[0].rstrip().endswith("↑ 1 hunk")
        assert below(pair).endswith("↓ 3 hunks")
        await pair.go(199)
        assert pair.rows()[0].rstrip().endswith("↑ 6 hunks")
        await pair.press("alt+a")
        await pair.frame()
        assert not any("hunk" in row for row in pair.rows())


async def test_the_counts_never_hide_the_cursor() -> None:
    lines = [f"line {number} " + "word " * 20 for number in range(200)]
    edits = [Edit(at, at + 1, (f"new {at}",)) for at in (10, 190)]
    async with stepped({"a.py": "\n".join([*lines, ""])}, "a.py") as pair:
        await pair.start(patch_of(lines, edits, 2, "a.py"))
        await pair.stream()
        pair.editor.let_go()
        pair.view.scroll_to(100, pair.editor.size.height)
        width = pair.editor.size.width
        for line, row in ((100, 0), (100 + pair.editor.size.height - 1, -1)):
            pair.view.cursor.place((line, width - 12))
            pair.editor.repaint()
            assert "hunk" not in pair.rows()[row]
            assert "↑ 1 hunk" in "".join(pair.rows()[:2])
            assert "↓ 1 hunk" in "".join(pair.rows()[-2:])


TWO_FILES = update("@@", "-x = 1", "+x = 2", "+y = 3", file="b.py")


async def test_two_models_in_two_files_both_paint() -> None:
    async with stepped(FILES, "b.py", "a.py", size=(220, 30)) as pair:
        await pair.pane.divide()
        pair.pane.choose("b.py")
        await pair.pilot.pause()
        for side in pair.pane.sides:
            side.editor.let_go()
        pair.session.start(update("@@", " " + TWINS[10], "+    one", "+    two"))
        pair.session.start(TWO_FILES)
        pair.session.feed(70)
        await pair.frame()
        tabs = pair.pane.tabs.render_line(0).text
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
        assert "✎" not in pair.pane.tabs.render_line(0).text
        assert pair.session.workspace.buffers["b.py"].text() == "x = 2\ny = 3\n"


async def test_the_view_stays_with_one_of_two_files_until_it_is_whole() -> None:
    async with stepped(FILES, "c.py") as pair:
        pair.session.start(
            patch("@@", "-x = 1", "+x = 2", *(f"+y = {n}" for n in range(40)), file="b.py")
        )
        pair.session.start(update("@@", " " + TWINS[0], "+    one", "+    two", "+    three"))
        seen = []
        while pair.session.streams:
            pair.session.feed(9)
            await pair.frame()
            seen.append(pair.pane.active)
        paths = [path for at, path in enumerate(seen) if at == 0 or seen[at - 1] != path]
        assert len(paths) <= 3, paths  # it does not go to and fro
        assert {"a.py", "b.py"} <= set(pair.session.status.open_paths)


async def test_a_file_that_is_not_open_gets_a_tab_and_takes_nothing_away() -> None:
    async with stepped(FILES, "a.py") as pair:
        await pair.start(TWO_FILES, "Begin Patch\n")
        await pair.go(3, 4)
        before, focused = pair.sight(), pair.app.focused
        await pair.stream("+x = 2\n")
        assert "✎ b.py" in pair.pane.tabs.render_line(0).text
        assert (pair.pane.active, pair.session.status.active_path) == ("a.py", "a.py")
        assert (pair.sight(), pair.app.focused) == (before, focused)
        await pair.press("!")
        assert pair.buffer.lines[3] == "    !return value"
        await pair.stream()
        assert pair.pane.active == "a.py"
        assert "✎" not in pair.pane.tabs.render_line(0).text


async def test_following_begins_again_by_its_key_only() -> None:
    lines = [f"line {number}" for number in range(300)]
    text = patch_of(lines, [Edit(200, 201, tuple(f"new {n}" for n in range(60)))], 2, "a.py")
    async with stepped({"a.py": "\n".join([*lines, ""]), "b.py": "x\n"}, "b.py") as pair:
        await pair.start(text, "+new 3\n")
        assert pair.pane.active == "a.py"
        assert 202 in pair.view.shown(pair.editor.size.height)
        await pair.press("ctrl+up")
        top = pair.view.top
        await pair.stream("+new 20\n")
        assert pair.view.top == top
        await pair.press("ctrl+pageup")
        await pair.stream("+new 30\n")
        assert pair.pane.active == "b.py"
        await pair.press("alt+l")
        await pair.stream("+new 40\n")
        assert pair.pane.active == "a.py"
        assert pair.buffer.lines.index("new 40") in pair.view.shown(pair.editor.size.height)


async def test_a_deletion_is_shown_struck_and_a_move_says_where_it_goes() -> None:
    text = (
        "*** Begin Patch\n*** Delete File: c.py\n*** Update File: b.py\n*** Move to: new/d.py\n"
        "@@\n-x = 1\n+x = 2\n*** End Patch\n"
    )
    async with stepped(FILES, "a.py") as pair:
        await pair.go(0)
        await pair.start(text, "c.py\n")
        assert "c.py" not in pair.pane.tabs.render_line(0).text  # nothing is deleted early
        await pair.stream()
        assert "b.py → d.py" in pair.pane.tabs.render_line(0).text
        pair.pane.choose("c.py")
        await pair.frame()
        assert pair.bars() == {1: "╌", 2: "╌", 3: "╌"}
        assert below(pair).endswith("to be deleted")
        pair.pane.choose("b.py")
        await pair.frame()
        assert below(pair).endswith("moves to new/d.py")
        assert pair.bars() == {1: "┃"}
        await pair.press("alt+r")
        await pair.frame()
        assert "→" not in pair.pane.tabs.render_line(0).text
        assert "moves" not in below(pair)


async def test_a_file_that_is_not_saved_because_it_changed_on_disk_says_so() -> None:
    """After "decide later", too."""
    async with stepped(FILES, "a.py") as pair:
        pair.session.workspace.conflicts.add("a.py")
        pair.session.board.touched("a.py")
        await pair.frame()
        assert below(pair).endswith("changed on disk too: saving asks")
        assert "a.py !" in pair.pane.tabs.render_line(0).text
