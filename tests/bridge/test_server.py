"""The bridge over real sockets, seen from a client of another make (the websockets library)."""

from __future__ import annotations

import pytest
from websockets.asyncio.client import ClientConnection

from tests.support.bridge_client import create, prose, until
from tests.support.rehearsed import CUSTOM, READ, fresh_files, user
from tui.bridge.rehearsal import endpoint as performer
from tui.core.files import file_block
from tui.core.instructions import STOPPED_BY_ACCIDENT


async def test_an_exercise_over_the_socket_with_a_tool_round(client: ClientConnection) -> None:
    files = fresh_files()
    block = file_block("ledger/cache.py", files["ledger/cache.py"], state="active", cursor="1:1")
    tools = [CUSTOM, READ]
    prompt = "make the cache safe for threads"
    await create(client, "", input=[user(block), user(prompt)], tools=tools)
    events = await until(client)
    response = events[-1]["response"]
    kinds = [item["type"] for item in response["output"]]
    assert kinds == ["reasoning", "message", "custom_tool_call"]
    call = response["output"][-1]
    deltas = [e for e in events if e["type"] == "response.custom_tool_call_input.delta"]
    assert "".join(e["delta"] for e in deltas) == call["input"]
    assert call["input"].startswith("*** Begin Patch\n*** Update File: ledger/cache.py\n@@\n")
    assert response["usage"]["output_tokens_details"]["reasoning_tokens"] > 0
    output = {"type": "custom_tool_call_output", "call_id": call["call_id"]}
    await create(
        client,
        "",
        input=[{**output, "output": "placed, pending review"}],
        tools=tools,
        previous_response_id=response["id"],
    )
    events = await until(client)
    assert "Accept or reject the hunks" in prose(events)
    usage = events[-1]["response"]["usage"]
    assert 0 < usage["input_tokens_details"]["cached_tokens"] < usage["input_tokens"]


async def test_what_an_earlier_bridge_began_is_finished(client: ClientConnection) -> None:
    file = file_block("ledger/cache.py", fresh_files()["ledger/cache.py"])
    reported = "Your last answer broke off, as duetto ended, after 93 characters."
    words = ["make the cache safe for threads", reported, file, f"{STOPPED_BY_ACCIDENT} Go on."]
    await create(client, "", input=[user(text) for text in words], tools=[CUSTOM, READ])
    output = (await until(client))[-1]["response"]["output"]
    assert "with self._lock" in output[-1].get("input", "")


async def test_nonsense_is_answered_and_the_socket_stays_open(client: ClientConnection) -> None:
    for frame in ("{", "[]", '{"type":"response.cancel"}', b"\x00", '{"type":"response.create"}'):
        await client.send(frame)
        assert (await until(client))[-1]["type"] == "error"
    for model in ("gpt-9", "rehearsal-fast@0", "rehearsal-fast@20001", "rehearsal-fast@x", None):
        await create(client, "hello", model=model)
        assert (await until(client))[-1]["error"]["code"] in ("model_not_found", "invalid_rate")
    metadata = {"duetto_tokens_s": "-1"}
    await create(client, "hello", client_metadata=metadata)
    assert (await until(client))[-1]["error"]["code"] == "invalid_rate"
    await create(client, "hello")
    assert (await until(client))[-1]["type"] == "response.completed"


async def test_a_broken_model_ends_its_response_and_nothing_else(
    client: ClientConnection, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    words = "no idea"

    def broken(*_: object) -> list[object]:
        raise RuntimeError(words)

    with monkeypatch.context() as patched:
        patched.setattr(performer, "answer", broken)
        await create(client, "hello")
        await create(client, "hello")
        for _ in range(2):
            failed = (await until(client))[-1]
            assert failed["type"] == "response.failed"
            assert failed["response"]["error"]["code"] == "server_error"
            assert "no idea" not in failed["response"]["error"]["message"]
    assert "RuntimeError" in caplog.text
    assert "in broken" in caplog.text
    assert "no idea" not in caplog.text
    await create(client, "hello")
    assert (await until(client))[-1]["type"] == "response.completed"
