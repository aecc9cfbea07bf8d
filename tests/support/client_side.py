"""A client protocol under test, and the server's words in short."""

from __future__ import annotations

import json
from typing import Any

from tui.core.wire import events
from tui.core.wire.client.lane import LaneState
from tui.core.wire.client.protocol import ClientProtocol
from tui.core.wire.endpoint_facts import Capabilities

MODEL = "m"
UNKNOWN_EVENT: dict[str, Any] = {
    "status": 400,
    "error": {"type": "invalid_request_error", "message": "Unknown event type."},
}


class ClientSide:
    """One `ClientProtocol`; every word of the server returns what was handed on."""

    def __init__(self, capabilities: Capabilities | None = None) -> None:
        self.client = ClientProtocol(capabilities)
        self.now = 0.0

    @property
    def known(self) -> Capabilities:
        """What the client has learnt."""
        return self.client.capabilities

    def busy(self) -> bool:
        """Someone waits for a response."""
        return self.client.busy

    def state(self, lane: str | None = None) -> LaneState:
        """What a lane is doing."""
        return self.client.lane(lane).state

    def ask(self, lane: str | None = None, **request: Any) -> list[dict[str, Any]]:
        """Create; the frames that go out."""
        self.client.create({"model": MODEL, **request}, lane, self.now)
        return self.sent()

    def sent(self) -> list[dict[str, Any]]:
        """The frames that go out now."""
        return [json.loads(text) for text in self.client.data_to_send()]

    def got(self) -> list[events.Event]:
        """What is handed on now."""
        return self.client.events_received()

    def say(self, kind: str, lane: str | None = None, **fields: Any) -> list[events.Event]:
        """Any event of the server."""
        named = {} if lane is None else {"stream_id": lane}
        event = {"type": kind, **named, **fields}
        self.client.receive_text(json.dumps(event).encode(), self.now)
        return self.got()

    def created(
        self, name: str = "resp_1", lane: str | None = None, **fields: Any
    ) -> list[events.Event]:
        """A response begins."""
        return self.say("response.created", lane, response={"id": name, **fields})

    def in_progress(self, name: str = "resp_1", lane: str | None = None) -> list[events.Event]:
        """The model works."""
        return self.say("response.in_progress", lane, response={"id": name})

    def delta(self, text: str = "x", lane: str | None = None) -> list[events.Event]:
        """A piece of text."""
        return self.say("response.output_text.delta", lane, item_id="i", delta=text)

    def item(self, lane: str | None = None, **item: Any) -> list[events.Event]:
        """A finished item."""
        return self.say("response.output_item.done", lane, output_index=0, item=item)

    def call(self, lane: str | None = None) -> list[events.Event]:
        """A finished call of a client tool."""
        item = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
        return self.item(lane, **item)

    def completed(self, name: str = "resp_1", lane: str | None = None) -> list[events.Event]:
        """A response is whole."""
        return self.say("response.completed", lane, response={"id": name})

    def incomplete(
        self, reason: str, name: str = "resp_1", lane: str | None = None
    ) -> list[events.Event]:
        """A response is cut short."""
        response = {"id": name, "incomplete_details": {"reason": reason}}
        return self.say("response.incomplete", lane, response=response)

    def failed(self, name: str = "resp_1", lane: str | None = None) -> list[events.Event]:
        """A response is given up."""
        error = {"code": "server_error", "message": "broken"}
        return self.say("response.failed", lane, response={"id": name, "error": error})

    def error(
        self, status: int | None = 400, lane: str | None = None, **error: Any
    ) -> list[events.Event]:
        """An `error` event."""
        fields = {} if status is None else {"status": status}
        return self.say("error", lane, **fields, error=error)

    def accepted(self, steer: str, parent: str = "resp_1") -> list[events.Event]:
        """A steering text was accepted."""
        named = {"id": steer, "previous_response_id": parent}
        return self.say("response.steer.accepted", steer=named)

    def steer_failed(
        self, code: str, parent: str = "resp_1", text: str = "", name: str = ""
    ) -> list[events.Event]:
        """A steering text comes back; ``name``: the server's id of it."""
        named = {"id": name} if name else {}
        steer = {**named, "previous_response_id": parent, "input": text}
        return self.say("response.steer.failed", steer=steer, error={"code": code, "message": ""})

    def wait(self, seconds: float) -> list[events.Event]:
        """Time passes, tick by tick."""
        end = self.now + seconds
        while (due := self.client.deadline()) is not None and due <= end:
            self.now = max(self.now, due)
            self.client.tick(self.now)
        self.now = end
        return self.got()

    def streaming(self, lane: str | None = None, name: str = "resp_1") -> ClientSide:
        """Be in the middle of a response."""
        self.ask(lane)
        self.created(name, lane)
        self.delta("x", lane)
        return self


def fates(got: list[events.Event]) -> list[tuple[int, str]]:
    """Number and fate of every steering text that is told of."""
    return [(one.number, one.fate) for one in got if isinstance(one, events.SteerNews)]


def kinds(got: list[events.Event]) -> list[str]:
    """The types of events."""
    return [type(event).__name__ for event in got]
