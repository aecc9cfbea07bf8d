"""What a repaint has no time for is done when nobody types, and then nothing more is done."""

from __future__ import annotations

from collections.abc import Callable

from textual.pilot import Pilot

from tests.support.editor_app import EditorApp
from tests.support.fake_session import FakeSession
from tui.ui.editor.long_lines import long_cells

FAMILY = "👩\u200d👩\u200d👧"


async def until(pilot: Pilot[None], true: Callable[[], bool]) -> None:
    """Let the app work until something is so; three seconds at most."""
    for _ in range(300):
        if true():
            return
        await pilot.pause(0.01)
    raise AssertionError("it did not come to pass")


async def test_the_partner_of_a_far_bracket_is_found() -> None:
    text = "(\n" + "some [words] {here}\n" * 60_000 + ")\n"
    app = EditorApp(FakeSession({"a.txt": text}), "a.txt")
    async with app.run_test(size=(60, 12)) as pilot:
        editor = app.pane.editor
        await pilot.press("right", "left")
        view = editor.view
        assert view is not None
        await until(pilot, lambda: view.brackets.pair == ((0, 0), (60_001, 0)))
        assert (0, 1, "bracket") in editor._rows[0].overlays
        await until(pilot, lambda: "brackets" not in editor._repeats)


async def test_a_long_line_is_measured_before_its_end_is_asked_for() -> None:
    line = "".join(f"{number}\t漢字{FAMILY} e\u0301 " for number in range(12_000))
    app = EditorApp(FakeSession({"a.txt": line}), "a.txt")
    async with app.run_test(size=(60, 12)) as pilot:
        editor = app.pane.editor
        cells = long_cells(line)
        assert len(cells._cells) < 40
        await until(pilot, lambda: len(cells._cells) == len(cells._starts) + 1)
        await until(pilot, lambda: "measures" not in editor._repeats)
        await pilot.press("end")
        assert editor.view is not None
        assert editor.view.cursor_spot(12) is not None


async def test_nothing_is_done_when_nothing_is_left() -> None:
    app = EditorApp(FakeSession({"a.txt": "def f(a):\n    return a\n" * 20}), "a.txt")
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("down", "end")
        await until(pilot, lambda: not app.pane.editor._repeats)
