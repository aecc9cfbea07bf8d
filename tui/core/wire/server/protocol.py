"""The server's side of the wire without any I/O: text frames in, runs and text frames out.

A server calls `receive_text` for each frame, then `accept` for the runs to start (again whenever a
run ended: a lane is first come, first served), and writes what `data_to_send` gives.

What is remembered of conversations is in memory: of each lane, and stored ones.
`previous_response_id` is resolved over all lanes of the connection (a fork names a parent on
another lane); a response that is no longer the newest of its lane is forgotten there, and found
among the stored ones unless its request said `"store": false`.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct, field

from tui.core.steps import finished
from tui.core.wire.client_events import (
    ClientEvent,
    Create,
    Inject,
    InterruptMessage,
    Invalid,
    SteerMessage,
    ThrottleMessage,
    decode_client,
)
from tui.core.wire.events import REFERENCE, Usage, unanswered
from tui.core.wire.json_reading import read_in_steps
from tui.core.wire.json_writing import Told, frame, frame_or_long
from tui.core.wire.server.run import (
    AcceptedTexts,
    Run,
    Task,
    behind_outputs,
    error_fields,
    items_of_texts,
    refusal_of,
    required_outputs,
    size_of_texts,
    steer_error,
)

MOST_BYTES = 64 * 1024 * 1024
"""What one user's stored conversations may take; those that were used least lately go first."""
_POINTER_BYTES = 8


class KnownResponse(Struct, frozen=True):
    """A response with everything that led to it."""

    response_id: str
    items: tuple[dict[str, Any], ...]
    size_bytes: int = 0
    """Of all the frames that its items came and went in."""
    asked: int = 0
    """So many of the items it was asked with: no call among these is without its answer."""


class _Conversation(Struct, eq=False):
    """A response and all that continue it: they share their items, and go together."""

    links: dict[str, KnownResponse] = field(default_factory=dict)
    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By the id of the item."""
    size_bytes: int = 0


class StoredResponses:
    """What one user's connections share: stored responses, in memory, by their ids.

    A request with `store` (the API's default) leaves its response here, so that any connection of
    the same user continues it by `previous_response_id`, or names its items, over either transport.
    """

    def __init__(self) -> None:
        self._conversations: OrderedDict[_Conversation, None] = OrderedDict()
        """The one used least lately first."""
        self._by_response: dict[str, _Conversation] = {}
        self._by_item: dict[str, _Conversation] = {}
        self.held_bytes = 0

    def link(self, response_id: str) -> KnownResponse | None:
        """That response with what led to it; None: not stored."""
        found = self._used(self._by_response.get(response_id))
        return found.links[response_id] if found is not None else None

    def item(self, item_id: str) -> dict[str, Any] | None:
        """An item of a stored conversation, by its id."""
        found = self._used(self._by_item.get(item_id))
        return found.items[item_id] if found is not None else None

    def put(self, link: KnownResponse, parent_id: str = "") -> None:
        """Store a response; ``parent_id`` names the one that it continues, if it does."""
        known = self._used(self._by_response.get(parent_id))
        conversation = known or _Conversation()
        parent = conversation.links.get(parent_id)
        before = len(parent.items) if parent is not None else 0
        own_bytes = link.size_bytes - (parent.size_bytes if parent is not None else 0)
        own_bytes += _POINTER_BYTES * len(link.items)
        conversation.links[link.response_id] = link
        self._by_response[link.response_id] = conversation
        new = link.items[before:]
        named = {name: item for item in new if type(name := item.get("id")) is str}
        conversation.items.update(named)
        self._by_item.update(dict.fromkeys(named, conversation))
        conversation.size_bytes += own_bytes
        self.held_bytes += own_bytes
        self._conversations[conversation] = None
        if conversation.size_bytes > MOST_BYTES:  # all others would go for nothing
            self._drop(conversation)
        while self.held_bytes > MOST_BYTES:
            self._drop(next(iter(self._conversations)))

    def _used(self, conversation: _Conversation | None) -> _Conversation | None:
        if conversation is not None:
            self._conversations.move_to_end(conversation)
        return conversation

    def _drop(self, conversation: _Conversation) -> None:
        del self._conversations[conversation]
        self.held_bytes -= conversation.size_bytes
        for name in conversation.links:
            del self._by_response[name]
        for name in conversation.items:
            if self._by_item.get(name) is conversation:
                del self._by_item[name]


class LaneResponses:
    """Lane -> its newest response with everything that led to it."""

    def __init__(self, stored: StoredResponses | None = None) -> None:
        self._stored = stored
        self._newest: dict[str | None, KnownResponse] = {}
        """The least lately used lane first."""
        self.held_bytes = 0

    def link(self, response_id: str) -> KnownResponse | None:
        """That response with what led to it; None: not remembered."""
        links = self._newest.values()
        found = next((link for link in links if link.response_id == response_id), None)
        if found is None and self._stored is not None:
            found = self._stored.link(response_id)
        return found

    def item(self, item_id: str) -> dict[str, Any] | None:
        """An item of any remembered conversation, by its id."""
        for link in self._newest.values():
            for item in link.items:
                if item.get("id") == item_id:
                    return item
        return self._stored.item(item_id) if self._stored is not None else None

    def remember(self, lane: str | None, link: KnownResponse) -> str:
        """A response of this lane ended well: it is the newest now.

        Returns the id of the one that it takes the place of; empty if there was none.
        """
        before = self._drop(lane)
        self._newest[lane] = link
        self.held_bytes += link.size_bytes
        return before.response_id if before is not None else ""

    def forget(self, lane: str | None, response_id: str) -> bool:
        """A continuation on the parent's own lane failed: the parent is evicted.

        Returns whether it was there: a fork that fails leaves its parent to the other lane.
        """
        link = self._newest.get(lane)
        if link is None or link.response_id != response_id:
            return False
        self._drop(lane)
        return True

    def shrink(self, most_bytes: int) -> list[tuple[str | None, str]]:
        """Forget the conversations that were continued least lately until the rest is small.

        Returns their lanes and newest responses.
        """
        gone: list[tuple[str | None, str]] = []
        while self.held_bytes > most_bytes and self._newest:
            lane = next(iter(self._newest))
            link = self._drop(lane)
            gone.append((lane, link.response_id if link is not None else ""))
        return gone

    def _drop(self, lane: str | None) -> KnownResponse | None:
        link = self._newest.pop(lane, None)
        if link is not None:
            self.held_bytes -= link.size_bytes
        return link


class UnknownItemError(Exception):
    """An `item_reference` to an item that is not remembered; the text is its id."""


def resolved(
    items: list[dict[str, Any]], parent_items: Iterable[dict[str, Any]], chains: LaneResponses
) -> list[dict[str, Any]]:
    """A request's items with references replaced by what they name.

    Without references it is the same list. What the parent holds already is not said twice, nor is
    anything within one request: references are short, and what they name may be large.

    Raises:
        UnknownItemError: a reference to nothing that is remembered.
    """
    if not any(item.get("type") == REFERENCE for item in items):
        return items
    full: list[dict[str, Any]] = []
    held = {name for item in parent_items if isinstance(name := item.get("id"), str)}
    for item in items:
        if item.get("type") != REFERENCE:
            full.append(item)
            continue
        wanted = str(item.get("id"))
        if wanted in held:
            continue
        found = chains.item(wanted)
        if found is None:
            raise UnknownItemError(wanted)
        held.add(wanted)
        full.append(found)
    return full


def referred_bytes(given: Iterable[dict[str, Any]], full: Iterable[dict[str, Any]]) -> int:
    """Size of what a request holds besides its own frame: the items that it refers to."""
    return 0 if full is given else sum(len(frame(item)) for item in full)


def unanswered_call(items: Sequence[dict[str, Any]]) -> str:
    """The call id of the first client tool call without an output; empty if there is none."""
    names = (item.get("call_id") for item in unanswered(items))
    return next((name for name in names if isinstance(name, str) and name), "")


MAX_IN_FLIGHT = 16
"""Responses that run at a time on one connection; more wait."""
MAX_LANES = 32
"""Distinct names on one connection; the default lane is not counted."""
MAX_WAITING = 64
"""Requests that wait for their lane on one connection; more are refused."""
MAX_ENDED = 1024
"""So many finished responses are known by id: late words of a client are about the newest."""
MAX_HELD_BYTES = 128 * 1024 * 1024
"""What one connection may make us hold: requests that wait or run, conversations, steers."""
MOST_SAID_BACK = 256
"""Characters of a client's own name that an error repeats."""
_NOTHING = KnownResponse("", ())


class PendingRequest(Struct, frozen=True):
    """One request, with the size of the frame that it came in."""

    event: Create | Invalid
    size_bytes: int = 0


class RequestQueue:
    """The requests of one connection that have not begun, in their order."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._requests: deque[PendingRequest] = deque()
        self.held_bytes = 0

    def put(self, wanted: PendingRequest, room_bytes: int) -> dict[str, Any] | None:
        """Let a request wait; None, or the fields of the `error` that refuses it.

        ``room_bytes`` is what it may take.
        """
        lane = wanted.event.stream_id
        if lane is not None and lane not in self._names:
            if len(self._names) >= MAX_LANES:
                words = f"At most {MAX_LANES} distinct stream ids on one connection."
                return error_fields(400, "websocket_stream_limit_reached", words, "stream_id")
            self._names.add(lane)
        if len(self._requests) >= MAX_WAITING:
            words = f"At most {MAX_WAITING} requests may wait on one connection."
            return error_fields(429, "websocket_queue_full", words)
        if wanted.size_bytes > room_bytes:
            words = "The requests of this connection are too large together: wait for their ends."
            return error_fields(429, "websocket_queue_full", words)
        self._requests.append(wanted)
        self.held_bytes += wanted.size_bytes
        return None

    def put_first(self, wanted: PendingRequest) -> None:
        """Let a successor go before everything that its client has asked for since."""
        self._requests.appendleft(wanted)
        self.held_bytes += wanted.size_bytes

    def take(self, may_start: Callable[[str | None], bool]) -> PendingRequest | None:
        """Take out the first request that may start: of each lane only the oldest may."""
        seen: set[str | None] = set()
        for index, wanted in enumerate(self._requests):
            lane = wanted.event.stream_id
            if lane not in seen and may_start(lane):
                del self._requests[index]
                self.held_bytes -= wanted.size_bytes
                return wanted
            seen.add(lane)
        return None

    def clear(self) -> None:
        """Forget all requests: the client is gone."""
        self._requests.clear()
        self.held_bytes = 0


class ServerProtocol:
    """One connection, seen from the server."""

    def __init__(
        self, prefix: str = "", *, steering: bool = False, shelf: StoredResponses | None = None
    ) -> None:
        """``prefix`` makes the response ids unique over connections.

        ``shelf`` keeps what is stored for the user's other connections; None: nothing is.

        With ``steering`` the owner ends a run whose `Run.steered` is set at the next item
        boundary, as ``incomplete`` with the reason ``steered``.
        """
        self._prefix = prefix
        self._counter = 0
        self._unix_s = 0
        self._waiting = RequestQueue()
        self._running: dict[str | None, Run] = {}
        """By lane; None: the default one."""
        self._ended_lanes: dict[str, str | None] = {}
        """Response that is over -> its lane; the newest ones."""
        self._shelf = shelf
        self._chains = LaneResponses(shelf)
        self._steers = steering
        self._texts = AcceptedTexts(prefix)
        self._outbox: list[Told] = []
        self._prewarmed: list[dict[str, Any]] = []
        self._interrupted: list[Run] = []
        self._throttled: list[Run] = []
        self._rates: dict[str, float | None] = {}
        """Id of a steered run -> the rate that its successor begins with."""
        self._over = False

    def receive_text(self, text: str, unix_s: int = 0) -> None:
        """Take one text frame of the client; ``unix_s`` dates the responses."""
        if not self._over:
            event, steps = decode_client(text), read_in_steps(text)
            self.receive(event, finished(steps), unix_s)

    def receive(self, event: ClientEvent, size_bytes: int, unix_s: int = 0) -> None:
        """Take what a client says; ``size_bytes``: what `read_in_steps` says of its text."""
        if self._over:
            return
        self._unix_s = unix_s
        match event:
            case Create():
                self._queue(PendingRequest(event, size_bytes))
            case InterruptMessage():
                self._interrupt(event)
            case SteerMessage():
                self._steer(event, size_bytes)
            case Inject():
                self._inject(event)
            case ThrottleMessage():
                self._throttle(event)
            case Invalid(is_create=True):
                self._queue(PendingRequest(event))
            case Invalid():
                self._error(None, event.code, event.message, event.param)
            case _:
                words = f"Unknown event type {_cut(event.type)!r}."
                self._error(None, "unknown_event", words, "type")

    def receive_binary(self) -> None:
        """Take a binary frame: there are none in this protocol."""
        if not self._over:
            words = "Binary messages are not part of this protocol."
            self._error(None, "invalid_json", words)

    def misread(self) -> None:
        """Say that a message is nested more deeply than what it says can be answered."""
        self._error(None, "invalid_json", "The message is nested too deeply.")

    def accept(self) -> list[Run]:
        """The runs that may start now, already announced to the client.

        A prewarm is answered here, and so is a request that cannot be served.
        """
        started: list[Run] = []
        while (wanted := self._waiting.take(self._may_start)) is not None:
            if isinstance(wanted.event, Invalid):
                self._refuse(wanted.event)
            elif (run := self._start(wanted.event, wanted.size_bytes)) is not None:
                started.append(run)
        return started

    def prewarmed(self) -> list[dict[str, Any]]:
        """Requests without an answer that were newly taken: more like them will follow."""
        requests, self._prewarmed = self._prewarmed, []
        return requests

    def interrupted_runs(self) -> list[Run]:
        """Runs newly asked to stop: end each with `Run.finish_interrupted`."""
        runs, self._interrupted = self._interrupted, []
        return [run for run in runs if not run.done]

    def throttled_runs(self) -> list[Run]:
        """Runs whose `Run.tokens_s` has newly been set."""
        runs, self._throttled = self._throttled, []
        return [run for run in runs if not run.done]

    def data_to_send(self) -> list[Told]:
        """Text frames to write, in order; `str` makes a text of any."""
        frames = list(self._outbox)
        self._outbox.clear()
        return frames

    def running(self) -> list[Run]:
        """The runs in flight."""
        return list(self._running.values())

    @property
    def held_bytes(self) -> int:
        """About what this connection makes us hold, in bytes of the frames that it came in."""
        running = sum(run.task.size_bytes for run in self._running.values())
        kept = self._chains.held_bytes + self._texts.held_bytes
        return self._waiting.held_bytes + running + kept

    def connection_lost(self) -> list[Run]:
        """Abandon every run, as the client is gone; returns those whose work is to stop."""
        runs = self.running()
        for run in runs:
            run.abandon()
        self._running.clear()
        self._waiting.clear()
        self._outbox.clear()
        self._over = True
        return runs

    def limit_reached(self) -> list[Run]:
        """Tell the client that the connection is too old, and nothing after it.

        The owner writes what is to be sent, stops the work of the returned runs and closes.
        """
        words = "The connection has reached its time limit: open another one."
        self._error(None, "websocket_connection_limit_reached", words)
        said = self.data_to_send()
        runs = self.connection_lost()
        self._outbox.extend(said)
        return runs

    # What a client says of a response that runs: out of the queue.

    def _interrupt(self, event: InterruptMessage) -> None:
        """Have a run stopped."""
        run = self._named(event.response_id)
        if run is not None:
            if not run.interrupted:
                run.interrupted = True
                run.emit("response.interrupt.accepted", response_id=run.response_id)
                self._interrupted.append(run)
        # One that is over already is ignored: an error would hit the client's next turn.
        elif self._running and event.response_id not in self._ended_lanes:
            error = {"code": "response_not_found", "message": "No such response is running."}
            fields = {"response_id": event.response_id, "error": error}
            self._say("response.interrupt.failed", None, fields)

    def _throttle(self, event: ThrottleMessage) -> None:
        """Rate what runs on a lane, or on all; of what has ended there is nothing to say."""
        for run in self._running.values():
            if event.everywhere or run.lane == event.stream_id:
                run.tokens_s = event.tokens_s
                self._throttled.append(run)

    def _steer(self, event: SteerMessage, size_bytes: int) -> None:
        """Take a text for a run's successor, or give it back with the reason."""
        parent = event.previous_response_id
        run = self._named(parent)
        if not self._steers:
            words = "This server does not steer: interrupt and send a new request."
            refusal: dict[str, str] | None = steer_error("steering_not_supported", words)
        elif run is None:
            refusal = self._not_running(parent, "No such response is running.")
        else:
            room = size_bytes <= self._room_bytes() and not self._texts.is_full(parent)
            refusal = refusal_of(event.input, run, room=room)
        if refusal is not None or run is None:
            steer = {"previous_response_id": parent, "input": event.given}
            self._answer(parent, "response.steer.failed", {"steer": steer, "error": refusal})
        else:
            text = self._texts.accept(parent, event.input, size_bytes)
            run.steered = True
            run.emit("response.steer.accepted", steer=text.shown())

    def _inject(self, event: Inject) -> None:
        """Refuse an injection: there are no multi-agent responses here (PROTOCOL section 9)."""
        error = self._not_running(event.response_id, "No such multi-agent response is running.")
        fields = {"response_id": event.response_id, "input": event.given, "error": error}
        self._answer(event.response_id, "response.inject.failed", fields)

    def _not_running(self, response_id: str, words: str) -> dict[str, str]:
        over = response_id in self._ended_lanes
        return steer_error("response_already_completed" if over else "response_not_found", words)

    def _named(self, response_id: str) -> Run | None:
        """The run in flight that has this id, if there is one."""
        runs = self._running.values()
        return next((run for run in runs if run.response_id == response_id), None)

    def _answer(self, response_id: str, kind: str, fields: dict[str, Any]) -> None:
        """Say something about a response that the client named, on its lane if there is one."""
        run = self._named(response_id)
        if run is not None:
            run.emit(kind, **fields)
        else:
            self._say(kind, self._ended_lanes.get(response_id), fields)

    # Requests: queued, started, ended.

    def _may_start(self, lane: str | None) -> bool:
        return len(self._running) < MAX_IN_FLIGHT and lane not in self._running

    def _room_bytes(self) -> int:
        """How much more may be held; conversations make room, their clients can send them anew."""
        return MAX_HELD_BYTES - (self.held_bytes - self._chains.held_bytes)

    def _queue(self, wanted: PendingRequest) -> None:
        refusal = self._waiting.put(wanted, self._room_bytes())
        if refusal is not None:
            self._say("error", wanted.event.stream_id, refusal)

    def _refuse(self, wanted: Invalid) -> None:
        """Answer an unusable request, and evict its parent as any 4xx does."""
        lane = wanted.stream_id
        self._evict(lane, wanted.previous_response_id)
        self._error(lane, wanted.code, wanted.message, wanted.param)

    def _start(self, create: Create, size_bytes: int) -> Run | None:
        """Resolve the parent and announce the run; None: it is over already."""
        request, lane = create.request, create.stream_id
        parent = request.get("previous_response_id") or ""
        known = self._chains.link(parent) if parent else _NOTHING
        if known is None:
            message = f"Previous response with id '{_cut(parent)}' not found."
            self._error(lane, "previous_response_not_found", message, "previous_response_id")
            return None
        before = list(known.items)
        try:
            items = request["input"]
            items = items if create.whole else resolved(items, before, self._chains)
        except UnknownItemError as error:
            message = (
                f"Item with id '{_cut(str(error))}' not found: it is not kept here (any more)."
            )
            self._refuse(Invalid(message, "item_not_found", "input", lane, True, parent))
            return None
        output = before[known.asked :]
        done = create.whole and not unanswered(output)
        done = done or not unanswered(output + items)
        call_id = "" if done else unanswered_call(before + items)
        if call_id:
            message = f"No tool output found for function call {_cut(call_id)}."
            self._refuse(Invalid(message, "invalid_request", "input", lane, True, parent))
            return None
        size_bytes += known.size_bytes + referred_bytes(request["input"], items)
        create = Create({**request, "input": items}, lane, create.generate)
        return self._announce(create, before, size_bytes)

    def _announce(self, create: Create, known: list[dict[str, Any]], size_bytes: int) -> Run | None:
        """Say that a response exists; None: a prewarm, which is over with that."""
        request, lane, unix_s = create.request, create.stream_id, self._unix_s
        if create.generate:
            # A prewarm is no successor: the texts would be used without an answer.
            texts = self._texts.take(str(request.get("previous_response_id") or ""))
            owed = items_of_texts(texts)
            request = {**request, "input": behind_outputs(request["input"], owed)}
            size_bytes += size_of_texts(texts)
        self._counter += 1
        response_id = f"resp_{self._prefix}{self._counter:06d}"
        full_input = known + request["input"]
        stored = self._shelf is not None and request.get("store") is not False
        task = Task(
            response_id, lane, request, full_input, create.generate, unix_s, size_bytes, stored
        )
        run = Run(task, self._outbox.append, self._ended)
        run.tokens_s = self._rates.pop(str(request.get("previous_response_id") or ""), None)
        self._running[lane] = run
        run.start()
        if create.generate:
            return run
        self._prewarmed.append(request)
        run.finish("completed", Usage(0, 0))
        return None

    def _ended(self, run: Run, remembered: bool) -> None:
        """Free the lane of a run that is over, and see to what waits for its successor."""
        lane, parent = run.lane, str(run.request.get("previous_response_id") or "")
        if self._running.get(lane) is run:
            del self._running[lane]
        self._ended_lanes[run.response_id] = lane
        if len(self._ended_lanes) > MAX_ENDED:
            del self._ended_lanes[next(iter(self._ended_lanes))]
        if remembered:
            items = (*run.full_input, *run.output)
            link = KnownResponse(
                run.response_id, items, run.task.size_bytes + run.end_bytes, len(run.full_input)
            )
            before = self._chains.remember(lane, link)
            if self._shelf is not None and run.task.stored:
                self._shelf.put(link, parent)
            self._return_texts(lane, before)
            for other, forgotten in self._chains.shrink(MAX_HELD_BYTES):
                self._return_texts(other, forgotten)
        elif parent:
            self._evict(lane, parent)
        if self._texts.waiting(run.response_id):
            self._succeed(run, usable=remembered and not run.interrupted)

    def _evict(self, lane: str | None, parent: str) -> None:
        """Forget a parent, as a continuation on its own lane failed (PROTOCOL section 4)."""
        if self._chains.forget(lane, parent):
            self._return_texts(lane, parent)

    def _return_texts(self, lane: str | None, parent: str) -> None:
        """Give back the texts that waited for a successor which cannot come any more."""
        for text in self._texts.take(parent):
            error = steer_error("successor_creation_failed", "The response was left behind.")
            fields = {"steer": text.shown(with_input=True), "error": error}
            self._say("response.steer.failed", lane, fields)

    def _succeed(self, run: Run, *, usable: bool) -> None:
        """Start the successor of a steered run, or say what it waits for."""
        stubs = required_outputs(run.output)
        if usable and stubs:
            for text in self._texts.waiting(run.response_id):
                run.postscript(
                    "response.steer.pending",
                    steer=text.shown(),
                    reason="waiting_for_required_input",
                    required_input=stubs,
                )
            return
        texts = self._texts.take(run.response_id)
        if usable:
            items = items_of_texts(texts)
            request = {**run.request, "previous_response_id": run.response_id, "input": items}
            self._rates[run.response_id] = run.tokens_s
            self._waiting.put_first(PendingRequest(Create(request, run.lane), size_of_texts(texts)))
            return
        error = steer_error("successor_creation_failed", "The response was stopped.")
        for text in texts:
            steer = text.shown(with_input=True)
            run.postscript("response.steer.failed", steer=steer, error=error)

    def _error(self, lane: str | None, code: str, message: str, param: str = "") -> None:
        self._say("error", lane, error_fields(400, code, message, param or None))

    def _say(self, kind: str, lane: str | None, fields: dict[str, Any]) -> None:
        """Say what belongs to no response in flight."""
        event = {"type": kind, "sequence_number": 0, **fields}
        self._outbox.append(frame_or_long(event if lane is None else {**event, "stream_id": lane}))


def _cut(name: str) -> str:
    """Shorten a client's own name for an error: megabytes are not said back."""
    return name if len(name) <= MOST_SAID_BACK else f"{name[:MOST_SAID_BACK]}..."
