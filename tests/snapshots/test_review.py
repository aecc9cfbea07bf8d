"""Pictures of the review of a turn, and of a diff."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.support.review_session import ReviewSession
from tests.support.scripted_app import scripted_app, settled

Compare = Callable[..., bool]
sizes = pytest.mark.parametrize(
    "size", [(40, 12), (80, 24), (120, 40)], ids=["40x12", "80x24", "120x40"]
)


def turn() -> ReviewSession:
    """Hunks that landed and one that was refused, in four files."""
    session = ReviewSession()
    session.open("ledger/cache.py")
    session.turn_of()
    return session


def keys(session: ReviewSession, *pressed: str) -> Callable[[Pilot[int]], Awaitable[None]]:
    """Open the review, press these."""

    async def run(pilot: Pilot[int]) -> None:
        await settled(session, pilot)
        for key in ("f7", *pressed):
            await pilot.press(key)
            await settled(session, pilot)
        await pilot.pause(0.3)

    return run


@sizes
def test_the_review_of_a_turn(snap_compare: Compare, size: tuple[int, int]) -> None:
    """The first hunk accepted, the second rejected, the third to be decided on."""
    session = turn()
    run = keys(session, "a", "r")
    assert snap_compare(scripted_app(session), terminal_size=size, run_before=run)


def test_the_end_of_a_review(snap_compare: Compare) -> None:
    """A new file, an edit and a deletion, in one column though there is room for two."""
    session = turn()
    run = keys(session, "s", "end")
    assert snap_compare(scripted_app(session), terminal_size=(120, 40), run_before=run)


def test_a_diff_against_the_disk(snap_compare: Compare) -> None:
    """The file of the hunk that was chosen."""
    session = turn()
    run = keys(session, "d")
    assert snap_compare(scripted_app(session), terminal_size=(80, 24), run_before=run)


def test_the_review_without_colours(snap_compare: Compare, monkeypatch: Any) -> None:
    """Signs say what colours do not."""
    monkeypatch.setenv("NO_COLOR", "1")
    session = turn()
    run = keys(session, "a")
    assert snap_compare(scripted_app(session), terminal_size=(80, 24), run_before=run)
