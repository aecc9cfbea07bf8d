"""What the user does while an edit lands: every row of the table in EDITS.md section 5.

Their text is never lost, the cursor and the scroll stay where they are, and the edit goes on.
"""

from __future__ import annotations

import pytest

from tests.support.painted_rows import struck_lines
from tests.support.patches import Edit, patch_of
from tests.support.stepped_pair import SteppedPair, stepped
from tui.core.document.hunk import Decision, Stage
from tui.engine.intents import SaveFile

LINES = [f"line {number} of the file" for number in range(60)]
TEXT = "\n".join([*LINES, ""])


def patched(first: int = 30, last: int = 32, new: int = 4, context: int = 2) -> str:
    """A patch that replaces lines ``first .. last`` by so many new ones."""
    words = tuple(f"new {number}" for number in range(new))
    return patch_of(LINES, [Edit(first, last, words)], context, "a.py")


def result(first: int = 30, last: int = 32, new: int = 4) -> list[str]:
    return [*LINES[:first], *(f"new {number}" for number in range(new)), *LINES[last:], ""]


def stands(pair: SteppedPair, text: str) -> int:
    """The row of the one line that is so."""
    assert pair.buffer.lines.count(text) == 1
    return pair.buffer.lines.index(text)


@pytest.mark.slow
@pytest.mark.case("G01")
@pytest.mark.parametrize("wrap", [False, True], ids=["rows", "wrapped"])
async def test_lines_typed_above_shift_the_hunk_and_nobodys_place(wrap: bool) -> None:
    async with stepped({"a.py": TEXT}, "a.py", wrap=wrap) as pair:
        await pair.start(patched(), "+new 1\n")
        await pair.go(20)
        await pair.press(*"one", "enter", *"two", "enter", *"three", "enter")
        before = pair.sight()
        await pair.crawl()
        assert pair.sight() == before
        expected = result()
        expected[20:20] = ["one", "two", "three"]
        assert pair.buffer.lines == expected
        assert [hunk.stage for hunk in pair.hunks] == [Stage.LANDED]
        assert pair.hunks[0].start.line == 33


@pytest.mark.case("G01")
@pytest.mark.parametrize("wrap", [False, pytest.param(True, marks=pytest.mark.slow)])
async def test_neither_cursor_nor_scroll_jump_where_others_write(wrap: bool) -> None:
    for line in (0, 29, 33, 59):
        async with stepped({"a.py": TEXT}, "a.py", wrap=wrap) as pair:
            await pair.go(line, 3)
            before = pair.sight()
            await pair.start(patched(0, 2, 30))
            await pair.crawl(40)
            if line > 1:
                assert pair.sight()[:2] == before[:2], line
            if line > 20:
                assert pair.sight() == before, line
            before = pair.sight()
            await pair.start(patched(30, 32, 9))
            await pair.crawl(40)
            assert pair.sight().top == before.top, line
            if line < 30:
                assert pair.sight() == before, line
            assert pair.sight()[:2] == before[:2], line


@pytest.mark.case("G01")
@pytest.mark.parametrize("gone_to", [False, True])
async def test_a_cursor_at_the_very_start_stays_with_its_text(gone_to: bool) -> None:
    async with stepped({"a.py": TEXT}, "a.py") as pair:
        if gone_to:
            await pair.go(0, 0)
        pair.pane.sides.follow.on = False
        await pair.start(patch_of(LINES, [Edit(0, 0, ("top 1", "top 2"))], 2, "a.py"))
        before = pair.sight()
        await pair.crawl(3)
        assert pair.buffer.lines[:3] == ["top 1", "top 2", LINES[0]]
        assert pair.sight() == before


@pytest.mark.case("G01")
async def test_a_selection_stays_over_its_text() -> None:
    async with stepped({"a.py": TEXT}, "a.py") as pair:
        pair.editor.let_go()
        pair.editor.go((25, 2), select_to=(40, 4))
        await pair.pilot.pause()
        before = pair.sight()
        await pair.start(patched(5, 7, 12))
        await pair.crawl()
        assert pair.sight() == before
        await pair.start(patched(30, 32, 3))
        await pair.crawl()
        after = pair.sight()
        assert (*after[:2], after.top) == (*before[:2], before.top)
        assert "new 1\n" in pair.sight().selected


@pytest.mark.slow
@pytest.mark.case("G03")
@pytest.mark.parametrize(
    "where", ["behind the last one", "before the next one", "into the next one"]
)
async def test_a_line_put_at_the_end_of_the_open_hunk_is_outside_too(where: str) -> None:
    async with stepped({"a.py": TEXT}, "a.py") as pair:
        await pair.start(patched(), "+new 2\n")
        if where == "behind the last one":
            await pair.go(stands(pair, "new 2"), len("new 2"))
            await pair.press("enter", *"mine", "enter", *"too")
        elif where == "before the next one":
            await pair.go(stands(pair, LINES[32]))
            await pair.press("enter", "up", *"mine", "enter", *"too")
        else:
            await pair.go(stands(pair, LINES[32]))
            await pair.press(*"mine", "enter", *"too", "enter")
        before = pair.sight()
        await pair.crawl()
        after = pair.sight()
        assert (*after[:2], after.top) == (*before[:2], before.top)
        expected = result()
        expected[34:34] = ["mine", "too"]
        assert pair.buffer.lines == expected
        hunk = pair.hunks[0]
        assert (hunk.stage, hunk.flags) == (Stage.LANDED, ())
        assert hunk.agent == "new 0\nnew 1\nnew 2\nnew 3\n"
        await pair.press("alt+r")
        await pair.frame()
        assert pair.buffer.lines == [*LINES[:32], "mine", "too", *LINES[32:], ""]


@pytest.mark.case("G03")
async def test_what_is_typed_in_painted_lines_stays_and_the_stream_goes_on() -> None:
    async with stepped({"a.py": TEXT}, "a.py") as pair:
        await pair.start(patched(), "+new 1\n+new")
        await pair.go(stands(pair, "new 0"), 5)
        await pair.press(*" mine")
        before = pair.sight()
        await pair.crawl()
        after = pair.sight()
        assert (*after[:2], after.top) == (*before[:2], before.top)
        expected = result()
        expected[30] = "new 0 mine"
        assert pair.buffer.lines == expected
        await pair.press("alt+r")
        await pair.frame()
        assert "new 0 mine" in pair.buffer.lines
        hunk = pair.hunks[0]  # nothing of it is thrown away unasked
        assert "you changed what this hunk wrote" in hunk.reason
        assert hunk.decision is Decision.PENDING


@pytest.mark.case("G02")
async def test_a_changed_old_line_is_merged_where_both_fit() -> None:
    async with stepped({"a.py": TEXT}, "a.py") as pair:
        old = [*LINES[26:30]]
        patch = patch_of(LINES, [Edit(29, 30, ("new",))], 3, "a.py")
        await pair.start(patch, f" {old[2]}\n-{old[3]}\n")
        await pair.go(26, 0)
        await pair.press(*"my ")
        assert any("conflict, you changed these lines" in row for row in pair.rows())
        assert pair.bars() == {27: "!", 30: "!"}
        before = pair.sight()
        await pair.crawl()
        assert pair.sight() == before
        assert pair.buffer.lines[26:30] == [f"my {old[0]}", *old[1:3], "new"]
        hunk = pair.hunks[0]
        assert (hunk.stage, hunk.flags) == (
            Stage.LANDED,
            ("merged with what was changed meanwhile",),
        )


async def test_candidates_are_looked_at_as_they_are_now() -> None:
    twice = ["def f():", "    return 1", "", "def g():", "    return 1", ""]
    patch = (
        "*** Begin Patch\n*** Update File: a.py\n@@\n-    return 1\n+    return 2\n*** End Patch\n"
    )
    async with stepped({"a.py": "\n".join(twice)}, "a.py") as pair:
        await pair.start(patch, "-    return 1\n")
        assert pair.hunks[0].candidates == (1, 4)
        await pair.go(1, 12)
        await pair.press(*"00")
        await pair.stream()
        assert pair.buffer.lines == [
            "def f():",
            "    return 100",
            "",
            *twice[3:4],
            "    return 2",
            "",
        ]
        assert pair.hunks[0].stage is Stage.LANDED


@pytest.mark.case("G04")
async def test_a_region_that_is_deleted_takes_nothing_of_the_stream() -> None:
    async with stepped({"a.py": TEXT}, "a.py") as pair:
        await pair.start(patched(), "+new 1\n")
        pair.editor.let_go()
        pair.editor.go((20, 0), select_to=(45, 0))
        await pair.press("delete")
        assert any("target deleted" in row for row in pair.rows())
        before = pair.sight()
        await pair.crawl()
        assert pair.sight() == before
        assert not any(line.startswith("new") for line in pair.buffer.lines)
        assert pair.hunks[0].stage is Stage.CONFLICT
        assert pair.hunks[0].reason.startswith("target deleted")
        await pair.press("ctrl+z")
        assert pair.buffer.lines == [*LINES, ""]


@pytest.mark.case("G05")
async def test_undo_inside_the_open_hunk_is_refused_in_words() -> None:
    async with stepped({"a.py": TEXT}, "a.py") as pair:
        await pair.start(patched(), "+new 1\n")
        await pair.go(stands(pair, "new 0"), 5)
        await pair.press(*"!!", "ctrl+z")
        assert "new 0!!" in pair.buffer.lines
        assert pair.said() == ["The model is writing in these lines: try again when it is done."]
        await pair.stream()
        await pair.press("ctrl+z")
        assert pair.buffer.lines == result()


@pytest.mark.case("G06")
async def test_a_save_leaves_the_open_hunk_out_and_says_so() -> None:
    async with stepped({"a.py": TEXT}, "a.py") as pair:
        await pair.start(patched(10, 11, 1), "")
        await pair.stream()
        await pair.press("alt+a")
        await pair.start(patched(40, 42, 5), "+new 2\n")
        await pair.go(0)
        await pair.press(*"mine ", "ctrl+s")
        await pair.frame()
        assert pair.session.intents[-1:] != [SaveFile("b.py")]
        expected = result(10, 11, 1)
        expected[0] = f"mine {LINES[0]}"
        assert pair.session.files["a.py"] == "\n".join(expected)
        assert "Saved without hunk 2" in pair.said()[-1]
        await pair.stream()
        assert pair.session.files["a.py"] == "\n".join(expected)
        assert "new 4" in pair.buffer.lines


@pytest.mark.case("G01")
@pytest.mark.parametrize("context", [0, 2])
async def test_a_line_put_right_above_the_hunk_shifts_it_while_it_is_painted(context: int) -> None:
    async with stepped({"a.py": TEXT}, "a.py") as pair:
        await pair.start(patched(context=context), "+new 0\n")
        await pair.go(29 - context, len(LINES[29 - context]))
        await pair.press("enter", *"mine")
        before = pair.sight()
        for number in (1, 2, 3):
            await pair.stream(f"+new {number}\n" if number < 3 else "")
            at = stands(pair, "mine")
            assert at == 30 - context
            assert pair.buffer.lines[at + 1 : at + 1 + context] == LINES[30 - context : 30]
            first = stands(pair, "new 0")
            if number < 3:
                painted = [f"new {n}" for n in range(number + 1)]
                assert pair.buffer.lines[first : first + number + 1] == painted
                above = len(struck_lines(pair.session.workspace, "a.py"))
                assert {bar for n, bar in pair.bars().items() if n > first - above} == {"▌"}
            assert pair.sight() == before
        assert pair.buffer.lines == [*result()[: 30 - context], "mine", *result()[30 - context :]]
        assert [hunk.stage for hunk in pair.hunks] == [Stage.LANDED]
