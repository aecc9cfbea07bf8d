"""What holds for every kind of endpoint that fails: one error with the cause, no other harmed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

import pytest

from tests.support.bridge_client import TERMINAL
from tests.support.endpoint_kinds import Stand, failure, items, of_each_kind, text_of, well_told
from tests.support.endpoint_servers import KEY, Call, Say, Script, Shape, Status
from tests.support.rehearsed import READ
from tests.support.tables import each
from tui.bridge.endpoints.responses_ws import connection_pool as ws_socket

pytestmark = pytest.mark.usefixtures("plain_words")

OK = Script([Say("all is well")])


async def goes_on(there: Stand) -> None:
    """The connection and the endpoint serve the next request."""
    events = await there.answered(OK)
    assert text_of(events) == "all is well"


STATUSES = [
    (401, "invalid_api_key", {}),
    (403, "forbidden", {}),
    (404, "model_not_found", {}),
    (400, "invalid_request", {}),
    (429, "rate_limit_exceeded", {"Retry-After": "37"}),
    (500, "internal", {}),
    (503, "unavailable", {"Retry-After": "41"}),
    (529, "overloaded_error", {}),
]


@each("status, code, headers", STATUSES)
@of_each_kind
async def test_a_status(there: Stand, status: int, code: str, headers: dict[str, str]) -> None:
    words = f"Because {KEY} is what it is."
    events = await there.answered(Script(instead=Status(status, code, words, headers)))
    if (there.kind, status) == ("responses-ws", 404):  # there may be no WebSocket at all
        assert failure(events)[0] == "not_an_endpoint"
        return
    _, said, told = failure(events)
    assert told == status
    assert "is what it is." in said
    if headers:
        assert events[-1]["error"]["headers"]["retry-after"] == headers["Retry-After"]
        assert events[-1]["headers"]["retry-after"] == headers["Retry-After"]
    await goes_on(there)


@each("what", ["html", "error-in-200"])
@of_each_kind
async def test_a_200_that_is_none(there: Stand, what: str) -> None:
    events = await there.answered(Script(instead=what))
    _, said, _ = failure(events)
    assert "\n" not in said
    assert ("provider's own words" in said) == (what == "error-in-200")
    await goes_on(there)


@each("begun", [False, True])
@of_each_kind
async def test_an_error_in_the_stream(there: Stand, begun: bool) -> None:
    said: Sequence[Say] = [Say("some of it")] if begun else []
    events = await there.answered(Script(said, after="error"))
    assert "It broke inside" in failure(events)[1]
    assert text_of(events) == ("some of it" if begun else "")
    await goes_on(there)


@each("begun", [False, True])
@of_each_kind
async def test_a_stream_that_is_torn(there: Stand, begun: bool) -> None:
    said: Sequence[Say] = [Say("some of it")] if begun else []
    events = await there.answered(Script(said, after="cut"))
    assert "127.0.0.1" in failure(events)[1]
    await goes_on(there)


@of_each_kind
async def test_a_message_that_is_no_json(there: Stand) -> None:
    events = await there.answered(Script([Say("some of it")], after="garbage"))
    if there.kind in ("openai-responses", "responses-ws"):
        # Nothing is lost: the items and the end hold the whole text again.
        assert events[-1]["type"] == "response.completed"
        assert text_of(events) == "some of it"
    else:
        assert "JSON" in failure(events)[1]
    await goes_on(there)


@of_each_kind
async def test_arguments_that_are_no_json(there: Stand) -> None:
    script = Script([Say("Let me see."), Call("read_file", '{"path": "a.py', "call_1")])
    events = await there.answered(script, tools=[READ])
    if there.kind == "plain-words":
        return  # a plug-in does as it likes
    assert "read_file with arguments that are not JSON" in failure(events)[1]
    assert items(events, "function_call") == []
    await goes_on(there)


@of_each_kind
async def test_a_call_that_is_cut_by_the_limit(there: Stand) -> None:
    call = Call("read_file", '{"path": "a.py', "call_1")
    events = await there.answered(Script([call], stop="length"), tools=[READ])
    assert events[-1]["type"] == "response.incomplete"
    assert events[-1]["response"]["incomplete_details"]["reason"] == "max_output_tokens"


def _lines(data: bytes) -> list[bytes]:
    """CRLF, comments between the events, and cuts in the midst of characters."""
    shaped = b": keep-alive\r\n\r\n" + data.replace(b"\n", b"\r\n") + b":\r\n"
    return [shaped[at : at + 3] for at in range(0, len(shaped), 3)]


def _drops(data: bytes) -> list[bytes]:
    return [data[at : at + 1] for at in range(len(data))]


@each("shape", [_lines, _drops])
@of_each_kind
async def test_bytes_in_any_shape(there: Stand, shape: Shape) -> None:
    there.server.shape = _drops if there.kind == "responses-ws" else shape
    text = "Grüße 🙂 \u4f60\u597d"
    assert text_of(await there.answered(Script([Say(text)]))) == text


@pytest.mark.slow
@of_each_kind
async def test_ten_megabytes_in_one_event(there: Stand) -> None:
    big = "0123456789abcdef" * (10 * 2**16)
    call = Call("read_file", json.dumps({"path": big}), "call_1")
    there.answers(Script([Say("held", held=True)]), Script([call]))
    await there.ask("slow", stream_id="a")
    await there.until("response.output_text.delta", lane="a")
    await there.ask("big", stream_id="b", tools=[READ])
    events = await there.until(lane="b")
    well_told(events, "b")
    (item,) = items(events)
    assert json.loads(item["arguments"]) == {"path": big}
    there.server.released.set()
    assert (await there.until(lane="a"))[-1]["type"] == "response.completed"


@of_each_kind
async def test_a_stream_that_stalls_ends(there: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        stalls_after(0.3, patched)
        there.answers(Script([Say("some of it")], after="stall"), OK)
        await there.ask("stalls", stream_id="a")
        events = await there.until(lane="a")
    assert "said nothing for" in failure(events)[1]
    async with asyncio.timeout(60):
        await there.server.requests[0].gone.wait()
    await goes_on(there)


def stalls_after(seconds: float, patch: pytest.MonkeyPatch) -> None:
    """Lose patience sooner than users do."""
    from tui.bridge.upstream import client

    patch.setattr(ws_socket, "SILENCE_S", seconds)
    patch.setattr(client, "SILENCE_S", seconds)


@of_each_kind
async def test_nobody_there(there: Stand) -> None:
    there.answers(OK)
    there.spec = type(there.spec)(there.kind, "http://127.0.0.1:9/v1")
    there.knows()
    await there.ask()
    events = await there.until()
    code, said, status = failure(events)
    assert (code, status) == ("endpoint_unreachable", 502)
    assert said.removeprefix("127.0.0.1").removeprefix(":9").startswith(" cannot be reached")
    assert [e["type"] for e in events if e["type"] in TERMINAL] == ["error"]
