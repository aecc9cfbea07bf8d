"""The replay server, heard by clients that do nothing but listen."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import aiohttp
import msgspec
import pytest

from tests.benchmarks.screen.replay_text import Kind, Wanted, pieces
from tests.benchmarks.screen.stand import Sent
from tests.benchmarks.transport.worker import Worker
from tests.support.sockets import connection_to
from tui.core.wire import events

pytestmark = pytest.mark.slow


@pytest.fixture
def server() -> Iterator[Worker]:
    worker = Worker("tests.benchmarks.screen.server")
    yield worker
    worker.close()


def url_of(server: Worker, scheme: str = "http") -> str:
    return f"{scheme}://127.0.0.1:{server.greeting['port']}/v1"


async def sent(server: Worker, asked: Wanted, within_s: float = 10.0) -> Sent:
    answer = await asyncio.to_thread(server.ask, number=asked.number, within_s=within_s)
    return msgspec.convert(answer["sent"], Sent)


@pytest.mark.parametrize("kind", ["text", "edit"])
async def test_an_answer_comes_by_websocket_at_its_rate(server: Worker, kind: Kind) -> None:
    asked = Wanted(2_000, 1_000, 1234, kind)
    connection, heard = connection_to(f"{url_of(server, 'ws')}/responses")
    await connection.open()
    connection.create({"model": "replay", "input": asked.go_word})
    await heard.has(events.Completed)
    deltas = [e for e in heard.events if isinstance(e, events.TextDelta | events.InputDelta)]
    assert tuple(delta.delta for delta in deltas) == pieces(asked)
    end = heard.events[-1]
    assert isinstance(end, events.Completed)
    usage = events.usage_of(end.response)
    assert usage is not None
    assert usage.output_tokens == len(deltas)
    told = await sent(server, asked)
    assert (told.protocol, told.tokens, told.stopped_by) == ("websocket", len(deltas), "")
    assert told.first_s is not None
    assert told.last_s is not None
    # on time, however busy the machine: what it missed it makes up for
    assert told.last_s - told.first_s > 0.95 * len(deltas) / 2_000
    await connection.close()


async def test_an_interrupt_stops_it_and_is_noted(server: Worker) -> None:
    asked = Wanted(500, 5_000, 4321, "dense")
    connection, heard = connection_to(f"{url_of(server, 'ws')}/responses")
    await connection.open()
    connection.create({"model": "replay", "input": asked.go_word})
    await heard.has(events.TextDelta, 20)
    connection.interrupt()
    await heard.has(events.Incomplete)
    told = await sent(server, asked)
    assert told.stopped_by == "response.interrupt"
    assert told.tokens < 5_000
    # and goes on: what has no go-word, or a known one, is answered in a few words
    for prompt in ("hi", asked.go_word):
        before = len(heard.events)
        connection.create({"model": "replay", "input": prompt})
        await heard.has(events.Completed)
        later = [e.delta for e in heard.events[before:] if isinstance(e, events.TextDelta)]
        assert "".join(later).endswith("OK")
        heard.events.clear()
    await connection.close()


@pytest.mark.parametrize("path", ["responses", "chat/completions"])
async def test_an_answer_comes_by_sse(server: Worker, path: str) -> None:
    asked = Wanted(5_000, 500, 1111)
    lines = [line async for line in stream(server, path, asked)]
    chat = path.startswith("chat")
    text = "".join(
        line["choices"][0]["delta"].get("content", "") if chat else line["delta"]
        for line in lines
        if (line.get("choices") if chat else line["type"].endswith("output_text.delta"))
    )
    assert text == "".join(pieces(asked))
    told = await sent(server, asked)
    assert (told.protocol, told.ended) == ("chat" if chat else "sse", True)


async def test_a_client_that_hangs_up_stops_it(server: Worker) -> None:
    asked = Wanted(100, 1_000, 2222)
    lines = stream(server, "chat/completions", asked)
    await anext(lines)
    await lines.aclose()
    told = await sent(server, asked)
    assert told.stopped_by == "close"
    assert told.tokens < 1_000


async def test_models_are_listed_and_a_plain_answer_comes_at_once(server: Worker) -> None:
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{url_of(server)}/models") as response:
            assert [model["id"] for model in (await response.json())["data"]] == ["replay"]
        body = {"model": "replay", "messages": [{"role": "user", "content": "a title"}]}
        async with session.post(f"{url_of(server)}/chat/completions", json=body) as response:
            assert (await response.json())["choices"][0]["finish_reason"] == "stop"


async def stream(server: Worker, path: str, asked: Wanted) -> Any:
    """The events of an answer."""
    body = {"model": "replay", "stream": True, "input": asked.go_word, "messages": []}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{url_of(server)}/{path}", json=body) as response,
    ):
        assert response.status == 200
        async for line in response.content:
            if line.startswith(b"data: {"):
                yield json.loads(line[6:])
