"""The wire of a replay: recorded frames go through the real protocol, nothing is dialled."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from tui.core.wire.client.protocol import ClientProtocol
from tui.core.wire.endpoint_facts import Capabilities
from tui.core.wire.events import Event
from tui.engine.ports import Abilities, Clock, Transport, WireState
from tui.errors import WireError


class ReplayWire:
    """A `Wire` that the director of a replay feeds; one lane without a name."""

    def __init__(self, clock: Clock) -> None:
        self.state: WireState = "closed"
        self.transport: Transport = "websocket"
        self.round_trip_s: float | None = None
        self.close_code: int | None = None
        self.on_event: Callable[[Event, float], None] = lambda event, now: None
        self.on_state: Callable[[WireState, str], None] = lambda state, reason: None
        self.recorded_s = 0.0
        """The recording's time, which is the protocol's: its patience is not ours to speed up."""
        self.request: dict[str, Any] | None = None
        """What the engine sent and nothing has answered yet."""
        self.asked = asyncio.Event()
        """Set while there is such a request."""
        self.on_request: Callable[[dict[str, Any]], None] = lambda request: None
        self.answers_control = False
        """An interrupt or a steering text is the recording's own: its frames answer."""
        self.stopped = False
        """The response was interrupted, and not by the recording."""
        self._clock = clock
        self._responses = 0
        self._protocol = self._new_protocol()

    @property
    def busy(self) -> bool:
        """A response is in flight, or its successor is owed."""
        return self._protocol.lane(None).busy

    def abilities(self, model: str) -> Abilities:
        """As if everything were known: a replay probes nothing."""
        return Abilities(interrupt=True, steer=self.busy, prewarm=False, lanes=False)

    async def open(self) -> None:
        """Be open."""
        if self.state == "open":
            return
        self._protocol = self._new_protocol()
        self.close_code = None
        self.state = "open"
        self.on_state("open", "")

    def create(self, request: Mapping[str, Any]) -> None:
        """Take a request for which the recording has an answer, or the director finds one."""
        if self.state != "open":
            raise WireError("The connection is not open.")
        self._protocol.create(request, None)
        self._protocol.data_to_send()
        self.request, self.stopped = dict(request), False
        self.asked.set()
        self.on_request(self.request)

    def steer(self, text: str) -> int | None:
        """Steer where the recording did; the viewer's own text is queued."""
        if not self.answers_control:
            return None
        number = self._protocol.steer(text, None, self.recorded_s)
        self._protocol.data_to_send()
        return number

    def throttle(self, tokens_s: float | None) -> bool:
        """A recording goes at its own speed."""
        return False

    def interrupt(self) -> None:
        """Stop; where the recording does not say what the server said, it says yes."""
        self._protocol.interrupt(None, self.recorded_s)
        self._protocol.data_to_send()
        self._settled()
        if not self.answers_control:
            self.stopped = True
            self.taken()
            asyncio.get_running_loop().call_soon(self._stop, self._protocol)

    def drop(self) -> None:
        """Be closed."""
        self.lose("the connection was dropped to stop the response")

    def fall_back(self) -> bool:
        """There is nothing to fall back to."""
        return False

    def come_back(self) -> None:
        """There is nothing to come back from."""

    async def close(self) -> None:
        """Be closed for good."""
        self.state = "closed"

    def taken(self) -> None:
        """The request is being answered."""
        self.request = None
        self.asked.clear()

    def feed(self, text: str) -> None:
        """A frame of the server comes."""
        if self.state == "open":
            self._protocol.receive_text(text, self.recorded_s)
            self._settled()

    def lose(self, reason: str, code: int | None = None) -> None:
        """The socket breaks."""
        if self.state != "open":
            return
        self.taken()
        self._protocol.connection_lost(reason)
        self._tell()
        self.state, self.close_code = "closed", code
        self.on_state("closed", reason)

    def reply(self, text: str) -> None:
        """Answer a request for which there is no recorded answer."""
        self.taken()
        item = {"type": "message", "id": "msg_replay", "role": "assistant", "status": "completed"}
        part = {"type": "output_text", "text": text, "annotations": []}
        whole = {**item, "content": [part]}
        self._begin()
        self._say("response.output_item.added", item={**item, "content": []}, output_index=0)
        self._say("response.output_text.delta", item_id="msg_replay", delta=text)
        self._say("response.output_item.done", item=whole, output_index=0)
        self._end("completed")

    def finish(self) -> None:
        """The recording has no more of this response: it ends here."""
        self.taken()
        if self.state == "open" and self.busy:
            self._begin()
            self._end("incomplete", {"reason": "the recording has no more of this answer"})
        if self.state == "open" and self.busy:
            self.lose("the recording has no more of this answer")

    def _stop(self, protocol: ClientProtocol) -> None:
        """Answer an interrupt, unless the response ended meanwhile."""
        if protocol is not self._protocol or self.state != "open" or not self.busy:
            return
        self._begin()
        self._say("response.interrupt.accepted", response_id=protocol.lane(None).response_id)
        self._end("incomplete", {"reason": "interrupted"})

    def _begin(self) -> None:
        """A response that was not created yet is created."""
        if not self._protocol.lane(None).response_id:
            self._responses += 1
            response = {"id": f"resp_replay_{self._responses}", "status": "in_progress"}
            self._say("response.created", response=response)

    def _end(self, status: str, details: dict[str, str] | None = None) -> None:
        named = {"id": self._protocol.lane(None).response_id, "status": status}
        whole: dict[str, object] = {**named, "output": [], "incomplete_details": details}
        self._say(f"response.{status}", response=whole)

    def _say(self, kind: str, **fields: object) -> None:
        self.feed(json.dumps({"type": kind, **fields}))

    def _settled(self) -> None:
        """Hand on what the protocol made of it, do what it wants."""
        self._protocol.tick(self.recorded_s)
        self._tell()
        self._protocol.data_to_send()
        if self._protocol.should_drop:
            self.lose(self._protocol.drop_reason)

    def _tell(self) -> None:
        now = self._clock.now()
        for event in self._protocol.events_received():
            self.on_event(event, now)

    def _new_protocol(self) -> ClientProtocol:
        return ClientProtocol(Capabilities(lanes=False, prewarm=False))
