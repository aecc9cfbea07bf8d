"""Wide terminals: the turn's map beside the editor, files beside the diff, marks in the strip."""

from __future__ import annotations

import pytest

from tests.support.review_screen import reviewing
from tests.support.review_session import ReviewSession
from tests.support.scripted_app import running, settled
from tests.support.scripted_session import ScriptedSession
from tui.core.edits.hunk import Stage
from tui.engine.intents import Accept
from tui.ui.review.bars import FileList
from tui.ui.review.turn_map import TurnMap, fitted

WIDE = (200, 50)


def rows(widget: TurnMap | FileList) -> list[str]:
    return [widget.render_line(y).text.strip("▏ ") for y in range(widget.size.height)]


async def test_from_200_columns_on_there_are_three_columns() -> None:
    session = ScriptedSession()
    session.open("ledger/cache.py")
    async with running(session, WIDE) as (app, pilot):
        bench = app.bench
        parts = [bench.transcript, bench.editor, bench.panes.turn_map]
        edges = [(part.region.x, part.region.right) for part in parts]
        assert edges == sorted(edges)
        assert edges[-1] == (156, 200)
        assert rows(bench.panes.turn_map)[2:4] == [
            "What the model changes",
            "is listed here as it lands.",
        ]
        await pilot.resize_terminal(199, 50)
        await settled(session, pilot)
        assert not bench.panes.turn_map.region
        assert bench.editor.region.right == 199


async def test_the_map_says_where_every_hunk_stands_and_how() -> None:
    session = ReviewSession()
    session.turn_of()
    async with running(session, WIDE) as (app, pilot):
        turn_map = app.bench.panes.turn_map
        said = rows(turn_map)
        assert said[0].startswith("changes")
        cache = next(y for y, row in enumerate(said) if row.startswith("ledger/cache.py"))
        assert "━" in said[cache + 1], "the strip has marks"
        assert "─" in said[cache + 1], "and lines without any"
        assert said[cache + 2].startswith("1 ● pending  L5     import threading")
        assert any("⊘ refused" in row for row in said)
        session.submit(Accept((1,)))
        await settled(session, pilot)
        await pilot.pause(0.15)
        assert any(row.startswith("1 ✓ accepted") for row in rows(turn_map))


async def test_a_click_shows_the_hunk_in_the_editor() -> None:
    session = ReviewSession()
    session.turn_of()
    async with running(session, WIDE) as (app, pilot):
        said = rows(app.bench.panes.turn_map)
        third = next(y for y, row in enumerate(said) if row.startswith("3 ● pending"))
        await pilot.click("#turn-map", offset=(10, third))
        await settled(session, pilot)
        view = app.bench.editor.editor.view
        hunk = session.workspace.hunk(3)
        assert view is not None
        assert hunk.start is not None
        assert (view.path, hunk.start.line in view.shown(40)) == (hunk.path, True)


@pytest.mark.parametrize("height", [1, 2, 5, 12, 400])
def test_what_does_not_fit_is_counted_and_what_waits_comes_first(height: int) -> None:
    session = ScriptedSession()
    done = [session.hunk(Stage.DROPPED, n, path="a.py") for n in range(1, 30)]
    waiting = [session.hunk(Stage.LANDED, n, path="b.py") for n in range(1, 30)]
    found = fitted({"a.py": done, "b.py": waiting}, height)
    assert len(found) <= max(height, 3)
    if height == 400:
        assert [row.text for row in found if row.kind == "file"] == ["a.py", "b.py"]
    elif height == 12:
        assert [row.text for row in found if row.kind == "file"] == ["b.py"]
        shown = sum(row.kind == "hunk" for row in found)
        assert found[-1].text == f"… {58 - shown} more hunks"


async def test_the_review_has_a_column_of_files_where_it_is_wide() -> None:
    async with reviewing(WIDE) as (_, screen, pilot):
        files = screen.query_one(FileList)
        assert files.region.width == 44
        assert screen.view.region.x == 44
        said = rows(files)
        assert said[0].startswith("▸ ledger/cache.py")
        assert "●" in said[1]
        await pilot.click(FileList, offset=(5, 4))
        file = screen.view.file
        assert file is not None
        assert said[4].startswith(file.path)
        await pilot.resize_terminal(120, 40)
        await pilot.pause()
        assert files.region.width == 120
        assert screen.view.region.x == 0


async def test_the_strip_of_the_review_shows_where_the_hunks_are() -> None:
    async with reviewing((100, 14)) as (_, screen, _):
        view = screen.view
        marks = [view.render_line(y).text[-1] for y in range(view.size.height)]
        assert "▐" in marks
        styles = {
            str(list(view.render_line(y))[-1].style)
            for y in range(view.size.height)
            if marks[y] == "▐"
        }
        assert len(styles) > 2, "the thumb, and marks of several states"
