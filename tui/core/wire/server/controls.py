"""What a client says of a response that runs: interrupts, steers, throttles; out of the queue."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tui.core.wire.client_events import Inject, Interrupt, Steer, Throttle
from tui.core.wire.server.register import Register
from tui.core.wire.server.run import Run
from tui.core.wire.server.steering import Steering, is_steerable, rules_out, steer_error

Say = Callable[[str, str | None, dict[str, Any]], None]
"""Says what belongs to no run: the event's kind, its lane, its fields."""


class Controls:
    """The controls of one connection."""

    def __init__(self, register: Register, steering: Steering | None, say: Say) -> None:
        self._register = register
        self._steering = steering
        self._say = say
        self._interrupted: list[Run] = []
        self._throttled: list[Run] = []

    def interrupted(self) -> list[Run]:
        """Runs newly asked to stop."""
        runs, self._interrupted = self._interrupted, []
        return [run for run in runs if not run.done]

    def throttled(self) -> list[Run]:
        """Runs whose rate was newly set."""
        runs, self._throttled = self._throttled, []
        return [run for run in runs if not run.done]

    def interrupt(self, event: Interrupt) -> None:
        """Have a run stopped."""
        run = self._register.named(event.response_id)
        if run is not None:
            if not run.interrupted:
                run.interrupted = True
                run.emit("response.interrupt.accepted", response_id=run.response_id)
                self._interrupted.append(run)
        # One that is over already is ignored: an error would hit the client's next turn.
        elif self._register.running and not self._register.is_over(event.response_id):
            error = {"code": "response_not_found", "message": "No such response is running."}
            fields = {"response_id": event.response_id, "error": error}
            self._say("response.interrupt.failed", None, fields)

    def throttle(self, event: Throttle) -> None:
        """Rate what runs on a lane, or on all; of what has ended there is nothing to say."""
        for run in self._register.running.values():
            if event.everywhere or run.lane == event.stream_id:
                run.tokens_s = event.tokens_s
                self._throttled.append(run)

    def steer(self, event: Steer, size_bytes: int, room_bytes: int) -> None:
        """Take a text for a run's successor, or give it back with the reason."""
        parent = event.previous_response_id
        run = self._register.named(parent)
        steering = self._steering
        refusal = self._refusal(event, run)
        if refusal is None and steering is not None and run is not None:
            if steering.is_full(parent) or size_bytes > room_bytes:
                words = "Too many texts wait for this response's successor."
                refusal = ("too_many_pending_steers", words)
            else:
                text = steering.accept(parent, event.input, size_bytes)
                run.steered = True
                run.emit("response.steer.accepted", steer=text.shown())
        if refusal is not None:
            steer = {"previous_response_id": parent, "input": event.given}
            fields = {"steer": steer, "error": steer_error(*refusal)}
            self._answer(parent, "response.steer.failed", fields)

    def inject(self, event: Inject) -> None:
        """There are no multi-agent responses here (PROTOCOL section 9 has two codes)."""
        over = self._register.is_over(event.response_id)
        code = "response_already_completed" if over else "response_not_found"
        error = steer_error(code, "No such multi-agent response is running.")
        fields = {"response_id": event.response_id, "input": event.given, "error": error}
        self._answer(event.response_id, "response.inject.failed", fields)

    def _refusal(self, event: Steer, run: Run | None) -> tuple[str, str] | None:
        """Code and words of why this run cannot be steered so; None: it can."""
        if self._steering is None:
            words = "This server does not steer: interrupt and send a new request."
            return "steering_not_supported", words
        if run is None:
            over = self._register.is_over(event.previous_response_id)
            code = "response_already_completed" if over else "response_not_found"
            return code, "No such response is running."
        if excluding := rules_out(run.request):
            return "steering_not_supported", f"A response with '{excluding}' cannot be steered."
        if run.interrupted:
            return "response_not_active", "The response is being stopped."
        if not is_steerable(event.input):
            return "invalid_input", "User messages are expected."
        return None

    def _answer(self, response_id: str, kind: str, fields: dict[str, Any]) -> None:
        """Say something about a response that the client named, on its lane if there is one."""
        run = self._register.named(response_id)
        if run is not None:
            run.emit(kind, **fields)
        else:
            self._say(kind, self._register.lane_of(response_id), fields)
