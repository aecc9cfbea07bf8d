"""A question is seen whole, with every answer, before anything else gets room."""

from __future__ import annotations

import pytest

from tests.support.prompt_rows import hint
from tests.support.scripted_app import running
from tests.support.scripted_session import ScriptedSession
from tui.engine.notices import Ask
from tui.ui.prompt.ask import AskBox

ANSWERS = ("run it this time", "run it always", "do not run it")


@pytest.mark.parametrize("size", [(40, 12), (40, 20), (80, 24)])
@pytest.mark.parametrize(
    "detail", ["make test", "a long command line of the workspace " * 12], ids=len
)
@pytest.mark.parametrize("queued", [[], ["then a test", "and the docs"]], ids=len)
async def test_every_answer_is_in_sight(
    size: tuple[int, int], detail: str, queued: list[str]
) -> None:
    session = ScriptedSession()
    session.status.queued = queued
    session.status.asks = [Ask(1, "Run the command of this workspace?", detail, ANSWERS)]
    async with running(session, size) as (app, pilot):
        await pilot.pause()
        box = app.bench.query_one(AskBox)
        rows = [box.render_line(y).text.strip() for y in range(box.rows)]
        assert rows[0].startswith("? Run the command")
        assert rows[-3:] == [f"{at} {answer}" for at, answer in enumerate(ANSWERS, 1)]
        assert len(detail) < 20 or any("more rows" in row for row in rows) or size[0] == 80
        assert box.region.height == box.rows
        prompt = app.bench.prompt_box.prompt.region
        assert box.region.bottom <= prompt.y < prompt.bottom <= size[1] - 3, "and its hint"
        assert "answer" in hint(app)
        assert app.bench.transcript.region.height >= 1
