"""The review of very many hunks: laid out a part at a time, and no key looks at them all."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import pytest
from textual.pilot import Pilot

from tests.support.review_screen import seen, whole
from tests.support.review_session import ReviewSession
from tests.support.scripted_app import scripted_app, settled, until
from tui.core.document.hunk import Hunk
from tui.ui.review import document, view
from tui.ui.review.screen import ReviewScreen


@asynccontextmanager
async def reviewing(count: int) -> AsyncIterator[tuple[ReviewSession, ReviewScreen, Pilot[int]]]:
    """A turn of so many hunks in one file."""
    session = ReviewSession({"a.txt": "".join(f"line {row}\n" for row in range(count * 3))})
    changes = (f"@@\n-line {row}\n+changed {row}\n" for row in range(1, count * 3, 3))
    session.turn_of(f"*** Begin Patch\n*** Update File: a.txt\n{''.join(changes)}*** End Patch\n")
    app = scripted_app(session)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(session, pilot)
        await pilot.press("f7")
        assert isinstance(app.screen, ReviewScreen)
        yield session, app.screen, pilot


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Hunk]]:
    """Hunks of which the decision is asked, each time anew."""
    asked: list[Hunk] = []
    known = Hunk.decision

    def ask(hunk: Hunk) -> object:
        asked.append(hunk)
        return known.__get__(hunk, Hunk)

    with monkeypatch.context() as patched:
        patched.setattr(Hunk, "decision", property(ask, known.__set__))
        yield asked


async def test_a_key_looks_at_no_more_hunks_than_are_in_sight(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: dict[int, int] = {}
    for count in (40, 400):
        async with reviewing(count) as (session, screen, pilot):
            await settled(session, pilot)
            with counted(monkeypatch) as asked:
                screen.action_step(1)
                screen.action_scroll_rows(1)
                screen.action_scroll_pages(1)
                screen.action_step_file(1)
                screen.update_bars()
                seen(screen)
            looked[count] = len(asked)
    assert looked[400] <= looked[40]


@pytest.mark.slow
async def test_keys_are_taken_while_very_many_are_laid_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is shown stays until all is laid out; what changed meanwhile is shown after it."""
    async with reviewing(60) as (session, screen, pilot):
        await settled(session, pilot)
        with monkeypatch.context() as slow:
            slow.setattr(view, "_LEAST", 1)
            slow.setattr(view, "_SLICE_S", 0.0)
            await pilot.press("a")
            session.changed()
            screen.content.look()
            assert screen.view.laying
            await pilot.press("r")
            assert session.states()[:3] == ["accepted", "rejected", "landed"]
            assert screen.view.cursor.hunk is session.workspace.hunk_list.by_id(3)
        while screen.view.laying:
            await pilot.pause(0.01)
        await settled(session, pilot)
        while screen.view.laying:
            await pilot.pause(0.01)
        assert "60 hunks · 58 pending · 1 accepted · 1 rejected" in whole(screen)
        rows = seen(screen)
        assert any("changed 1" in row for row in rows)


async def test_rows_are_made_of_what_is_in_sight_only_and_a_closed_review_keeps_none() -> None:
    """Else 10,000 hunks take as much memory again as the session had before them."""

    def shown() -> int:
        return sum(
            type(one) in {document.HeadRow, document.ChangeLines} for one in gc.get_objects()
        )

    gc.collect()
    before = shown()
    async with reviewing(400) as (session, screen, pilot):
        await until(pilot, lambda: shown() > before)
        await settled(session, pilot)
        assert shown() - before < 400
        screen.action_step(200)
        seen(screen)
        assert shown() - before < 400
        await pilot.press("escape")
        await settled(session, pilot)
        assert not screen.is_attached
        assert not screen.view.cursor.files
        assert shown() == before
