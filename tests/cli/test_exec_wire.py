"""What ``duetto exec`` tells of the way to the model, and how it ends when the way is bad."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.nasty_server import Nasty, Refusal, nasty
from tests.support.nasty_steps import Close
from tests.support.server_words import created, delta, error, spoken, turn
from tests.support.sse_upstream import completed as sse_completed
from tests.support.sse_upstream import message, opening, saying, serving
from tui.cli.composition import Composition
from tui.cli.exec import JsonReport, Turn, WireNews
from tui.cli.models import Workplace, resolve
from tui.cli.options import ModelFlags
from tui.engine import recovery
from tui.engine.session import Session, SessionOptions
from tui.settings import Paths, Settings, Transport

FINE = turn(1, *spoken("fine"))
CLOSED = [Close(1011)]
BUSY = [error(503, "server_error", "down")]


@asynccontextmanager
async def session_over(
    folder: Path, url: str, transport: Transport = "websocket"
) -> AsyncIterator[Session]:
    models = resolve(Settings(), ModelFlags(endpoint=url, fast="m"), {})
    models.endpoints["cli"] = replace(models.endpoints["cli"], transport=transport)
    paths = Paths.find({"DUETTO_HOME": str(folder / "home")})
    place = Workplace(folder, Settings(), models, paths)
    composition = Composition(place, SessionOptions(), watched=False)
    try:
        yield composition.session
    finally:
        await composition.close()


async def played(session: Session) -> tuple[int, list[dict[str, Any]]]:
    out = io.StringIO()
    code = await Turn(session, JsonReport(out)).play("go", apply=False)
    return code, [json.loads(line) for line in out.getvalue().splitlines()]


def of_kind(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in events if event["type"] == kind]


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ([CLOSED], 3),
        ([BUSY], 3),
        ([[Close(1008)]], 3),
        ([[error(400, "invalid_request_error", "bad")]], 1),
        ([[error(401, "invalid_api_key", "no")]], 3),
        ([[created(), delta("half"), Close(1011)]], 1),
        ([[created(), delta("half"), Close(1011)], CLOSED], 1),
        ([CLOSED, FINE], 0),
    ],
)
async def test_a_server_that_only_fails_is_as_good_as_unreachable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: list[Any], code: int
) -> None:
    monkeypatch.setattr(recovery, "FIRST_WAIT_S", 0.001)
    async with nasty(Nasty(script)) as url, session_over(tmp_path, url) as session:
        ended, events = await played(session)
    assert ended == events[-1]["exit_code"] == code


async def test_every_retry_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery, "FIRST_WAIT_S", 0.1)
    server = Nasty([CLOSED, CLOSED, BUSY, FINE])
    async with nasty(server) as url, session_over(tmp_path, url) as session:
        code, events = await played(session)
    assert code == 0
    retries = of_kind(events, "retry")
    assert [event["why"].partition(": trying")[0] for event in retries] == [
        "the server had an internal error",
        "down",
    ]
    assert all(0.1 < event["in_s"] < 1 for event in retries)
    assert of_kind(events, "reconnected")[-1]["count"] == server.connections - 1 == 3
    assert of_kind(events, "transport") == of_kind(events, "steer") == []


async def test_another_transport_is_told(tmp_path: Path) -> None:
    answer = saying(opening() + message("hello") + sse_completed())
    async with serving(answer) as upstream:
        url = upstream.address.url.replace("http", "ws", 1)
        async with session_over(tmp_path, url, "auto") as session:
            code, events = await played(session)
    assert code == 0, events
    (told,) = of_kind(events, "transport")
    assert told["transport"] == "http"
    assert upstream.upgrades == 1


async def test_steering_is_told_once_a_step(tmp_path: Path) -> None:
    async with nasty(Nasty([FINE])) as url, session_over(tmp_path, url) as session:
        news, status = WireNews(), session.status
        assert list(news.new(session)) == []
        status.steering, status.steering_fates = ["shorter"], []
        assert list(news.new(session)) == [("steer", {"text": "shorter", "fate": "sent"})]
        assert list(news.new(session)) == []
        status.steering_fates = ["accepted"]
        assert list(news.new(session)) == [("steer", {"text": "shorter", "fate": "accepted"})]
        status.steering, status.steering_fates = [], []
        assert list(news.new(session)) == []


async def test_a_refused_upgrade_is_unreachable(tmp_path: Path) -> None:
    server = Nasty([FINE], refusals=[Refusal(404)] * 9)
    async with nasty(server) as url, session_over(tmp_path, url) as session:
        code, _ = await played(session)
    assert code == 3
