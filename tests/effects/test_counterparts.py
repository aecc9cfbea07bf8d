"""The connection against servers of another make, run as programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.other_servers import running
from tests.support.sockets import connection_to
from tui.core.wire import events
from tui.errors import EndpointError, KeyRefused

pytestmark = pytest.mark.slow


async def test_replay_server_streams_at_its_rate_and_every_delta_arrives() -> None:
    async with running("replay_server.py") as url:
        connection, heard = connection_to(url)
        await connection.open()
        connection.create({"model": "m", "input": "BENCHGO-r2000-n1000-e0007"})
        await heard.has(events.Completed)
        text = "".join(e.delta for e in heard.events if isinstance(e, events.TextDelta))
        (done,) = [event for event in heard.events if isinstance(event, events.ItemDone)]
        assert text == done.item["content"][0]["text"]
        assert "ENDMARK-0007" in text
        end = heard.events[-1]
        assert isinstance(end, events.Completed)
        assert events.usage_of(end.response) == events.Usage(100, 100, 0, 0)
        await connection.close()


async def test_replay_server_stops_on_an_interrupt() -> None:
    async with running("replay_server.py") as url:
        connection, heard = connection_to(url)
        await connection.open()
        connection.create({"model": "m", "input": "BENCHGO-r200-n2000-e0008"})
        await heard.has(events.TextDelta, 20)
        connection.interrupt()
        seen = len(heard.events)
        await heard.has(events.Incomplete)
        late = heard.events[seen:]
        assert not any(isinstance(event, events.TextDelta) for event in late)
        connection.create({"model": "m", "input": "hi"})
        await heard.has(events.Completed)
        await connection.close()


@pytest.fixture
def record(tmp_path: Path) -> str:
    return str(tmp_path / "frames.jsonl")


async def test_recserver_chains_calls_and_prewarms(record: str) -> None:
    async with running("recserver.py", "--rec", record) as url:
        connection, heard = connection_to(url, key="sk-test")
        await connection.open()
        connection.create({"model": "m", "input": [], "generate": False})
        await heard.has(events.Completed)
        warm = heard.events[-1]
        assert isinstance(warm, events.Completed)
        tools = [{"type": "custom", "name": "apply_patch"}]
        parent = {"previous_response_id": warm.response_id}
        connection.create({"model": "m", "input": "PATCH it", "tools": tools, **parent})
        await heard.has(events.Completed, 2)
        deltas = "".join(e.delta for e in heard.events if isinstance(e, events.InputDelta))
        assert deltas.startswith("*** Begin Patch")
        (call,) = [e.item for e in heard.events if isinstance(e, events.ItemDone)]
        assert call["input"] == deltas
        end = heard.events[-1]
        assert isinstance(end, events.Completed)
        output = {"type": "custom_tool_call_output", "call_id": call["call_id"], "output": "ok"}
        again = {"previous_response_id": end.response_id, "input": [output]}
        connection.create({"model": "m", "tools": tools, **again})
        await heard.has(events.Completed, 3)
        assert any(isinstance(event, events.TextDelta) for event in heard.events)
        await connection.close()


@pytest.mark.parametrize(
    ("manner", "stays_open", "capable"),
    [
        ("accept", True, True),
        ("accept_keep", True, True),
        ("fail", False, False),
        ("error400", False, False),
        ("ignore", False, False),
    ],
)
async def test_interrupts_against_every_manner_of_recserver(
    manner: str, stays_open: bool, capable: bool, record: str
) -> None:
    async with running("recserver.py", "--rec", record, "--interrupt", manner) as url:
        connection, heard = connection_to(url)
        await connection.open()
        connection.create({"model": "m", "input": "SLOW story"})
        await heard.has(events.ReasoningDelta, 2)
        connection.interrupt()
        seen = len(heard.events)
        if stays_open:
            await heard.has(events.Incomplete)
        else:
            await heard.closed()
        assert not any(isinstance(event, events.Delta) for event in heard.events[seen:])
        assert connection.state == ("open" if stays_open else "closed")
        assert connection.abilities("m").interrupt is capable
        await connection.open()
        connection.create({"model": "m", "input": "hello"})
        await heard.has(events.Completed)
        await connection.close()


ENDS: dict[str, type[events.Event]] = {
    "ERR429": events.ErrorEvent,
    "ERR500": events.ErrorEvent,
    "FAILRESP": events.Failed,
    "INCOMPLETE": events.Incomplete,
    "UNKNOWNEVT": events.Completed,
    "PARALLEL": events.Completed,
    "BIGMSG 17 ": events.Completed,
}


async def test_the_ends_of_recserver(record: str) -> None:
    async with running("recserver.py", "--rec", record) as url:
        for word, kind in ENDS.items():
            connection, heard = connection_to(url)
            await connection.open()
            connection.create({"model": "m", "input": word})
            await heard.has(kind)
            assert isinstance(heard.events[-1], kind), word
            assert connection.state == "open", word
            await connection.close()


async def test_the_closes_of_recserver(record: str) -> None:
    async with running("recserver.py", "--rec", record) as url:
        for word in ("DROP", "DROPLATE", "CLOSE1011", "LIMIT", "IDLECLOSE"):
            connection, heard = connection_to(url)
            await connection.open()
            connection.create({"model": "m", "input": word})
            assert await heard.closed(), word
            await connection.open()
            connection.create({"model": "m", "input": "hello"})
            await heard.has(events.Completed, 2 if word == "IDLECLOSE" else 1)
            await connection.close()


async def test_refused_upgrades_of_recserver(record: str) -> None:
    for status, kind in (("401", KeyRefused), ("404", EndpointError), ("426", EndpointError)):
        refusing = ("--rec", record, "--reject-handshake", status)
        async with running("recserver.py", *refusing) as url:
            connection, _ = connection_to(url, key="sk-test")
            with pytest.raises(kind, match=status):
                await connection.open()
            await connection.close()
