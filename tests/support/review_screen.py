"""The review screen in the app, over a turn that has landed, and what it shows."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.pilot import Pilot

from tests.support.review_session import ReviewSession
from tests.support.scripted_app import scripted_app, settled
from tui.ui.app import DuettoApp
from tui.ui.review.screen import ReviewScreen


@asynccontextmanager
async def reviewing(
    size: tuple[int, int] = (120, 40), *, begin: bool = True
) -> AsyncIterator[tuple[ReviewSession, ReviewScreen, Pilot[int]]]:
    """The screen over a turn that has landed."""
    session = ReviewSession()
    session.open("ledger/cache.py")
    if begin:
        session.turn_of()
    app = scripted_app(session)
    async with app.run_test(size=size) as pilot:
        await settled(session, pilot)
        await pilot.press("f7")
        await settled(session, pilot)
        screen = app.screen
        assert isinstance(screen, ReviewScreen)
        yield session, screen, pilot


def seen(screen: ReviewScreen) -> list[str]:
    """The rows of the diff that are on the screen."""
    view = screen.view
    return [view.render_line(y).text.rstrip() for y in range(view.size.height)]


def whole(app: DuettoApp | ReviewScreen) -> str:
    """All rows of a screen."""
    screen = app.screen if isinstance(app, DuettoApp) else app
    bars = [screen.query_one(f"#review-{name}") for name in ("title", "files", "keys")]
    rows = [bar.render_line(y).text for bar in bars for y in range(bar.size.height)]
    return "\n".join([*rows, *(seen(screen) if isinstance(screen, ReviewScreen) else [])])
