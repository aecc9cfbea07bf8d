"""What a landing line and a keystroke cost in the editor, in ms, by the length of the file.

Run with ``python -m tests.budgets.editor_cost``. The figures are CPU time of the whole step:
buffer, marks, colours, rows and the strips of the rows that changed; the terminal is not in it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from statistics import median
from time import process_time

from tests.support.editor_app import EditorApp
from tests.support.fake_session import FakeSession
from tui.ui.editor.changes import insert
from tui.ui.editor.editor import Editor

SIZES = (1_000, 10_000, 50_000)
REPEATS = 200
FUNCTION = (
    "def value_{0}(self, key: str, default: int = {0}) -> int:\n"
    '    """What is kept under a key; {0} if there is nothing."""\n'
    "    # look it up once\n"
    "    found = self._items.get(key)\n"
    "    return default if found is None else int(found) + {0}\n"
    "\n"
)


def source(lines: int) -> str:
    """Python of about that many lines."""
    return "".join(FUNCTION.format(number) for number in range(lines // 6))


def measure(step: Callable[[int], None]) -> tuple[float, float]:
    """Median and 95th percentile of a step, in ms."""
    taken = []
    for number in range(REPEATS):
        began = process_time()
        step(number)
        taken.append((process_time() - began) * 1000)
    return median(taken), sorted(taken)[int(REPEATS * 0.95)]


def paint(editor: Editor) -> None:
    """Make the strips of all rows; those that did not change come from the cache."""
    for y in range(editor.size.height):
        editor.render_line(y)


async def costs(lines: int) -> dict[str, tuple[float, float]]:
    """The cost of each kind of step in a file of so many lines."""
    session = FakeSession({"a.py": source(lines)})
    app = EditorApp(session, "a.py")
    found = {}
    async with app.run_test(size=(120, 50)) as pilot:
        editor, pane = app.pane.editor, app.pane
        view = editor.view
        assert view is not None
        while view.colours.pending:
            view.colours.advance(view.buffer.line_count, 1.0)
        await pilot.pause()

        def land_at_end(number: int) -> None:
            line = view.buffer.line_count - 1
            pane.sync(session.land("a.py", line, f"    x = self.f({number})\n"))
            paint(editor)

        def land_above(number: int) -> None:
            pane.sync(session.land("a.py", 6 * (number % 5) + 3, f"    y = {number}\n"))
            paint(editor)

        def key(number: int) -> None:
            editor.change(insert(view.cursor, "x"))
            paint(editor)

        def scroll(number: int) -> None:
            editor.scroll_lines(3 if number % 80 < 40 else -3)
            paint(editor)

        found["landing at the end, followed"] = measure(land_at_end)
        session.workspace.lines_kind.clear()
        editor.following = False
        editor.go((lines // 2, 0))
        found["landing above the view"] = measure(land_above)
        session.workspace.lines_kind.clear()
        found["key in the middle"] = measure(key)
        found["scroll by 3 lines"] = measure(scroll)
    return found


async def main() -> None:
    """Print the table."""
    print(f"{'ms: median / p95':<32}" + "".join(f"{size:>18,}" for size in SIZES))
    tables = [await costs(size) for size in SIZES]
    for name in tables[0]:
        cells = [f"{table[name][0]:.2f} / {table[name][1]:.2f}" for table in tables]
        print(f"{name:<32}" + "".join(f"{cell:>18}" for cell in cells))


if __name__ == "__main__":
    asyncio.run(main())
