"""The server's side of the wire without any I/O: text frames in, runs and text frames out.

A server calls `receive_text` for each frame, then `accept` for the runs to start (again whenever a
run ended: a lane is first come, first served), and writes what `data_to_send` gives.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from tui.core.wire.client_events import (
    Create,
    Inject,
    Interrupt,
    Invalid,
    Steer,
    decode_client,
)
from tui.core.wire.frames import frame
from tui.core.wire.server.chain import Chains, UnknownItemError, resolved, unanswered_call
from tui.core.wire.server.run import Run, Task, error_fields
from tui.core.wire.server.steering import (
    Steering,
    behind_outputs,
    is_steerable,
    items_of_texts,
    required_outputs,
    rules_out,
    steer_error,
)
from tui.core.wire.usage import Usage

MAX_IN_FLIGHT = 16
"""Responses that run at a time on one connection; more wait."""
MAX_LANES = 32
"""Distinct names on one connection; the default lane is not counted."""
MAX_WAITING = 64
"""Requests that wait for their lane on one connection; more are refused."""

MAX_ENDED = 1024
"""Responses that are over and still known as such: what comes late comes about the newest."""


class ServerProtocol:
    """One connection, seen from the server."""

    def __init__(self, prefix: str = "", *, steering: bool = False) -> None:
        """``prefix`` makes the response ids unique over connections.

        With ``steering`` the owner ends a run whose `Run.steered` is set at the next item
        boundary, as ``incomplete`` with the reason ``steered``.
        """
        self._prefix = prefix
        self._counter = 0
        self._unix_s = 0
        self._names: set[str] = set()
        self._waiting: deque[Create | Invalid] = deque()
        """Requests in their order; one that is refused waits for its turn on its lane too."""
        self._running: dict[str | None, Run] = {}
        self._interrupted: list[Run] = []
        self._ended_lanes: dict[str, str | None] = {}
        """Response id -> its lane, of the newest that are over."""
        self._chains = Chains()
        self._steering = Steering(prefix) if steering else None
        self._outbox: list[str] = []
        self._over = False

    def receive_text(self, text: str, unix_s: int = 0) -> None:
        """Take one text frame of the client; ``unix_s`` dates the responses."""
        if self._over:
            return
        self._unix_s = unix_s
        event = decode_client(text)
        match event:
            case Create():
                self._queue(event)
            case Interrupt():
                self._interrupt(event)
            case Steer():
                self._steer(event)
            case Inject():
                self._refuse_inject(event)
            case Invalid(is_create=True):
                self._queue(event)
            case Invalid():
                self._error(None, event.code, event.message, event.param)
            case _:
                self._error(None, "unknown_event", f"Unknown event type {event.type!r}.", "type")

    def receive_binary(self) -> None:
        """Take a binary frame: there are none in this protocol."""
        if not self._over:
            words = "Binary messages are not part of this protocol."
            self._error(None, "invalid_json", words)

    def accept(self) -> list[Run]:
        """The runs that may start now, already announced to the client.

        A prewarm is answered here, and so is a request that cannot be served.
        """
        started: list[Run] = []
        held: set[str | None] = set()
        waiting, self._waiting = self._waiting, deque()
        for wanted in waiting:
            lane = wanted.stream_id
            full = len(self._running) >= MAX_IN_FLIGHT
            if full or lane in held or lane in self._running:
                held.add(lane)
                self._waiting.append(wanted)
            elif isinstance(wanted, Invalid):
                self._refuse(wanted)
            elif (run := self._start(wanted)) is not None:
                started.append(run)
        return started

    def interrupted_runs(self) -> list[Run]:
        """Runs newly asked to stop: end each with `Run.finish_interrupted`."""
        runs, self._interrupted = self._interrupted, []
        return [run for run in runs if not run.done]

    def data_to_send(self) -> list[str]:
        """Text frames to write, in order."""
        frames = list(self._outbox)
        self._outbox.clear()
        return frames

    def running(self) -> list[Run]:
        """The runs in flight."""
        return list(self._running.values())

    def connection_lost(self) -> list[Run]:
        """The client is gone: every run is abandoned; returns those whose work is to stop."""
        runs = self.running()
        for run in runs:
            run.abandon()
        self._running.clear()
        self._waiting.clear()
        self._outbox.clear()
        self._over = True
        return runs

    def limit_reached(self) -> list[Run]:
        """The connection is too old: the client hears it and nothing after it.

        The owner writes what is to be sent, stops the work of the returned runs and closes.
        """
        words = "The connection has reached its time limit: open another one."
        self._error(None, "websocket_connection_limit_reached", words)
        said = self.data_to_send()
        runs = self.connection_lost()
        self._outbox.extend(said)
        return runs

    def _queue(self, wanted: Create | Invalid) -> None:
        lane = wanted.stream_id
        if lane is not None and lane not in self._names:
            if len(self._names) >= MAX_LANES:
                message = f"At most {MAX_LANES} distinct stream ids on one connection."
                self._error(lane, "websocket_stream_limit_reached", message, "stream_id")
                return
            self._names.add(lane)
        if len(self._waiting) >= MAX_WAITING:
            message = f"At most {MAX_WAITING} requests may wait on one connection."
            self._say("error", lane, error_fields(429, "websocket_queue_full", message))
            return
        self._waiting.append(wanted)

    def _refuse(self, wanted: Invalid) -> None:
        """Answer a request that is none, and evict its parent as any 4xx does."""
        lane = wanted.stream_id
        self._evict(lane, wanted.previous_response_id)
        self._error(lane, wanted.code, wanted.message, wanted.param)

    def _start(self, create: Create) -> Run | None:
        """Resolve the parent and announce the run; None: it is over already."""
        request, lane = create.request, create.stream_id
        parent = request.get("previous_response_id") or ""
        known = self._chains.items_before(parent) if parent else []
        if known is None:
            message = f"Previous response with id '{parent}' not found."
            self._error(lane, "previous_response_not_found", message, "previous_response_id")
            return None
        try:
            request = {**request, "input": resolved(request["input"], known, self._chains)}
        except UnknownItemError as error:
            message = f"Item with id '{error}' not found: items are not stored here."
            self._refuse(Invalid(message, "item_not_found", "input", lane, True, parent))
            return None
        call_id = unanswered_call(known + request["input"])
        if call_id:
            message = f"No tool output found for function call {call_id}."
            self._refuse(Invalid(message, "invalid_request", "input", lane, True, parent))
            return None
        return self._announce(create, request, known)

    def _announce(
        self, create: Create, request: dict[str, Any], known: list[dict[str, Any]]
    ) -> Run | None:
        """Say that a response exists; None: a prewarm, which is over with that."""
        parent = str(request.get("previous_response_id") or "")
        if create.generate and self._steering is not None:
            # A prewarm is no successor: the texts would be used without an answer.
            owed = items_of_texts(self._steering.take(parent))
            request = {**request, "input": behind_outputs(request["input"], owed)}
        self._counter += 1
        response_id = f"resp_{self._prefix}{self._counter:06d}"
        full_input = known + request["input"]
        lane, unix_s = create.stream_id, self._unix_s
        task = Task(response_id, lane, request, full_input, create.generate, unix_s)
        run = Run(task, self._outbox.append, self._ended)
        self._running[lane] = run
        run.start()
        if create.generate:
            return run
        run.finish("completed", Usage(0, 0))
        return None

    def _ended(self, run: Run, remembered: bool) -> None:
        lane, parent = run.lane, run.request.get("previous_response_id")
        if self._running.get(lane) is run:
            del self._running[lane]
        self._ended_lanes[run.response_id] = lane
        if len(self._ended_lanes) > MAX_ENDED:
            del self._ended_lanes[next(iter(self._ended_lanes))]
        if remembered:
            items = [*run.full_input, *run.output]
            self._return_texts(lane, self._chains.remember(lane, run.response_id, items))
        elif parent:
            self._evict(lane, str(parent))
        if self._steering is not None and self._steering.waiting(run.response_id):
            self._succeed(run, self._steering, usable=remembered and not run.interrupted)

    def _evict(self, lane: str | None, parent: str) -> None:
        """A continuation on the parent's own lane failed (PROTOCOL section 4)."""
        if self._chains.forget(lane, parent):
            self._return_texts(lane, parent)

    def _return_texts(self, lane: str | None, parent: str) -> None:
        """Give back the texts that waited for a successor which cannot come any more."""
        for text in self._steering.take(parent) if self._steering is not None else ():
            error = steer_error("successor_creation_failed", "The response was left behind.")
            fields = {"steer": text.shown(with_input=True), "error": error}
            self._say("response.steer.failed", lane, fields)

    def _succeed(self, run: Run, steering: Steering, *, usable: bool) -> None:
        """Start the successor of a steered run, or say what it waits for."""
        stubs = required_outputs(run.output)
        if usable and not stubs:
            items = items_of_texts(steering.take(run.response_id))
            request = {**run.request, "previous_response_id": run.response_id, "input": items}
            self._waiting.appendleft(Create(request, run.lane))
        elif usable:
            for text in steering.waiting(run.response_id):
                run.postscript(
                    "response.steer.pending",
                    steer=text.shown(),
                    reason="waiting_for_required_input",
                    required_input=stubs,
                )
        else:
            error = steer_error("successor_creation_failed", "The response was stopped.")
            for text in steering.take(run.response_id):
                steer = text.shown(with_input=True)
                run.postscript("response.steer.failed", steer=steer, error=error)

    def _interrupt(self, event: Interrupt) -> None:
        run = self._running_as(event.response_id)
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

    def _steer(self, event: Steer) -> None:
        parent = event.previous_response_id
        run = self._running_as(parent)
        steering = self._steering
        excluding = rules_out(run.request) if run is not None else ""
        if steering is None:
            words = "This server does not steer: interrupt and send a new request."
            self._refuse_steer(event, "steering_not_supported", words)
        elif run is None:
            over = parent in self._ended_lanes
            code = "response_already_completed" if over else "response_not_found"
            self._refuse_steer(event, code, "No such response is running.")
        elif excluding:
            words = f"A response with '{excluding}' cannot be steered."
            self._refuse_steer(event, "steering_not_supported", words)
        elif run.interrupted:
            self._refuse_steer(event, "response_not_active", "The response is being stopped.")
        elif not is_steerable(event.input):
            self._refuse_steer(event, "invalid_input", "User messages are expected.")
        elif steering.is_full(parent):
            words = "Too many texts wait for this response's successor."
            self._refuse_steer(event, "too_many_pending_steers", words)
        else:
            text = steering.accept(parent, event.input)
            run.steered = True
            run.emit("response.steer.accepted", steer=text.shown())

    def _refuse_steer(self, event: Steer, code: str, words: str) -> None:
        steer = {"previous_response_id": event.previous_response_id, "input": event.given}
        self._answer(
            event.previous_response_id,
            "response.steer.failed",
            {"steer": steer, "error": steer_error(code, words)},
        )

    def _refuse_inject(self, event: Inject) -> None:
        """There are no multi-agent responses here (PROTOCOL section 9 has two codes)."""
        over = event.response_id in self._ended_lanes
        code = "response_already_completed" if over else "response_not_found"
        error = steer_error(code, "No such multi-agent response is running.")
        fields = {"response_id": event.response_id, "input": event.given, "error": error}
        self._answer(event.response_id, "response.inject.failed", fields)

    def _running_as(self, response_id: str) -> Run | None:
        runs = self._running.values()
        return next((run for run in runs if run.response_id == response_id), None)

    def _answer(self, response_id: str, kind: str, fields: dict[str, Any]) -> None:
        """Say something about a response that the client named, on its lane if there is one."""
        run = self._running_as(response_id)
        if run is not None:
            run.emit(kind, **fields)
        else:
            self._say(kind, self._ended_lanes.get(response_id), fields)

    def _error(self, lane: str | None, code: str, message: str, param: str = "") -> None:
        self._say("error", lane, error_fields(400, code, message, param or None))

    def _say(self, kind: str, lane: str | None, fields: dict[str, Any]) -> None:
        """Say what belongs to no response in flight."""
        event = {"type": kind, "sequence_number": 0, **fields}
        self._outbox.append(frame(event if lane is None else {**event, "stream_id": lane}))
