"""Calls that the client answers: the same kinds for the client and for the server."""

from __future__ import annotations

import json
from typing import Any

from tests.support.tables import each
from tui.core.wire.events import CALL_OUTPUTS
from tui.core.wire.server.protocol import ServerProtocol

KINDS = sorted(CALL_OUTPUTS)


def item_of(kind: str) -> dict[str, Any]:
    return {"type": kind, "id": "item_1", "call_id": "call_1", "name": "f", "status": "completed"}


def output_of(kind: str) -> dict[str, Any]:
    return {"type": CALL_OUTPUTS[kind], "call_id": "call_1", "output": "done"}


def create(server: ServerProtocol, parent: str, *items: dict[str, Any]) -> list[dict[str, Any]]:
    """What the server says to a continuation, and the new run's input after it."""
    told = {"type": "response.create", "model": "m", "previous_response_id": parent}
    server.receive_text(json.dumps({**told, "input": list(items)}))
    runs = server.accept()
    said = [json.loads(text) for text in server.data_to_send()]
    return [*said, *(item for run in runs for item in run.full_input)]


@each("kind", KINDS)
def test_the_server_misses_any_answer_and_puts_what_was_steered_behind_it(kind: str) -> None:
    server = ServerProtocol(steering=True)
    server.receive_text('{"type":"response.create","model":"m","input":"go"}')
    (run,) = server.accept()
    steer = {"type": "response.steer", "previous_response_id": run.response_id, "input": "Small."}
    server.receive_text(json.dumps(steer))
    run.item_done(run.item_added(item_of(kind)), item_of(kind))
    run.finish("completed")
    assert server.accept() == []
    said = [json.loads(text) for text in server.data_to_send()]
    pending = next(e for e in said if e["type"] == "response.steer.pending")
    assert pending["required_input"] == [{"type": CALL_OUTPUTS[kind], "call_id": "call_1"}]
    told = create(server, run.response_id, output_of(kind))
    assert [i["type"] for i in told][-3:] == [kind, CALL_OUTPUTS[kind], "message"]

    other = ServerProtocol()
    other.receive_text('{"type":"response.create","model":"m","input":"go"}')
    (run,) = other.accept()
    run.item_done(run.item_added(item_of(kind)), item_of(kind))
    run.finish("completed")
    other.data_to_send()
    (refused,) = create(other, run.response_id, {"role": "user", "content": "and?"})
    assert refused["status"] == 400
    assert "call_1" in refused["error"]["message"]
