"""Both protocols face to face: every piece of a reply reaches the turn that it answers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.memory_wire import MemoryWire
from tui.core.wire import events
from tui.core.wire.server.run import Run
from tui.errors import WireError

STEPS = st.lists(
    st.tuples(st.integers(0, 19), st.integers(0, 2), st.integers(0, 3)), min_size=20, max_size=80
)


class Turns:
    """Users on three lanes, a model that repeats what it was asked, and a slow network."""

    def __init__(self, *, steering: bool) -> None:
        self.runs: list[Run] = []
        first = MemoryWire(self.runs.append, lane="a", steering=steering)
        first.socket.on_interrupt = self.interrupted
        self.wires = [first, first.beside("b"), first.beside("c")]
        for wire in self.wires:
            wire.on_event = self.listener(wire)
        self.count = 0
        self.newest: dict[MemoryWire, str] = {}
        """What the turn that runs was asked for."""
        self.shut: set[MemoryWire] = set()
        self.texts: dict[tuple[MemoryWire, int, int], str] = {}
        self.fates: list[tuple[str, str]] = []
        self.parents: dict[MemoryWire, str] = {}
        self.wrong: list[str] = []

    def listener(self, wire: MemoryWire) -> Callable[[events.Event, float], None]:
        """What a lane calls."""
        return lambda event, now: self.heard(wire, event)

    def heard(self, wire: MemoryWire, event: events.Event) -> None:
        """Something reached a lane."""
        if isinstance(event, events.SteerNews):
            text = self.texts.get((wire, wire.socket.dials, event.number), event.text)
            self.fates.append((text, event.fate))
            if event.fate == "used":
                self.newest[wire] = text
        elif isinstance(event, events.TextDelta):
            if event.delta != self.newest.get(wire) and not self.shared(wire, event.delta):
                self.wrong.append(f"{event.delta} for {self.newest.get(wire)}")
            if wire in self.shut:
                self.wrong.append(f"{event.delta} after a stop")
        elif isinstance(event, events.ErrorEvent | events.Failed):
            mine = event.message == self.newest.get(wire) or self.shared(wire, event.message)
            if event.message.startswith(("ask", "text")) and not mine:
                self.wrong.append(f"{event.message!r} refused for {self.newest.get(wire)}")
        elif isinstance(event, events.Completed | events.Incomplete):
            self.parents[wire] = event.response_id
        elif isinstance(event, events.Created) and wire in self.shut and not wire.busy:
            self.wrong.append("a response on a lane at rest")

    def shared(self, wire: MemoryWire, text: str) -> bool:
        """Its acceptance came too late, so it was given back; the server answers it all the same.

        It does so together with one that was accepted in time, in one response: nobody can part
        them.
        """
        inputs = [json.dumps(run.request["input"]) for run in self.runs]
        both = any(
            json.dumps(text) in said and json.dumps(self.newest.get(wire)) in said
            for said in inputs
        )
        return both and (text, "returned") in self.fates

    def step(self, kind: int, x: int, y: int) -> None:
        """One thing happens."""
        wire = self.wires[x]
        socket = wire.socket
        if kind < 4:
            self._ask(wire, y)
        elif kind < 6:
            self.count += 1
            number = wire.steer(f"text {self.count}")
            if number is not None:
                self.texts[wire, socket.dials, number] = f"text {self.count}"
        elif kind == 6 and wire.busy:
            self.shut.add(wire)
            wire.interrupt()
        elif kind < 12:
            socket.deliver(to_client=(1, 2, 5, 50)[y])
        elif kind < 18:
            self._serve(x, y, refused=kind == 17)
        elif kind == 18:
            socket.advance((0.05, 0.5, 1.1, 3.0)[y])
        elif y == 0:
            wire.lose()

    def rests(self) -> bool:
        """True if no lane waits once all requests are answered and all deadlines are over."""
        socket = self.wires[0].socket
        for _ in range(60):
            if not any(wire.busy for wire in self.wires):
                return True
            for run in self.runs:
                run.finish()
            if socket.open:
                socket._run_server()
            socket.deliver()
            socket.advance(1.0)
        return False

    def interrupted(self, run: Run) -> None:
        """The model stops at once."""
        run.finish_interrupted()

    def _ask(self, wire: MemoryWire, y: int) -> None:
        wire.connect()
        self.count += 1
        text = f"ask {self.count}"
        request: dict[str, Any] = {"model": "m", "input": text}
        if y and self.parents.get(wire):
            request["previous_response_id"] = self.parents[wire]
        if wire.busy:
            return
        try:
            wire.create(request)
        except WireError:
            self.wrong.append("a free lane took no create")
            return
        self.newest[wire] = text
        self.shut.discard(wire)

    def _serve(self, x: int, y: int, *, refused: bool) -> None:
        running = [run for run in self.runs if not run.done]
        if not running:
            return
        run = running[x % len(running)]
        if run.interrupted:
            run.finish_interrupted()
        elif refused:
            _refuse(run, y)
        elif y < 2:
            index = run.item_added({"type": "message"})
            run.delta(index, asked(run))
            run.item_done(index)
            if run.steered:
                run.finish("incomplete", None, "steered")
        elif y == 2 and not run.steered:
            item = {"type": "function_call", "call_id": f"c{self.count}", "name": "f"}
            run.item_done(run.item_added(item))
            run.finish()
        else:
            run.finish("incomplete" if run.steered else "completed", None, "steered")


def _refuse(run: Run, y: int) -> None:
    """End it in one of four ways, with what it was asked as the reason."""
    if y == 3:
        run.fail("server_error", asked(run))
    else:
        code = ("invalid_prompt", "invalid_request_error", "response_not_found")[y]
        run.refuse(400, code, asked(run))


def asked(run: Run) -> str:
    """The newest thing that a run was asked."""
    texts = [item for item in run.full_input if item.get("role") == "user"]
    content = texts[-1]["content"] if texts else ""
    return content if isinstance(content, str) else str(content[0]["text"])


@given(STEPS, st.booleans())
@settings(max_examples=50)
def test_no_piece_reaches_another_turn_and_no_text_is_lost(
    steps: list[tuple[int, int, int]], steering: bool
) -> None:
    turns = Turns(steering=steering)
    for step in steps:
        turns.step(*step)
    assert turns.rests()
    turns.wires[0].lose()
    assert turns.wrong == []
    settled = Counter(text for text, fate in turns.fates if fate in ("used", "returned"))
    assert settled == Counter(turns.texts.values())
    heard = Counter(json.dumps(item) for run in turns.runs for item in run.request["input"])
    for text, fate in turns.fates:
        times = sum(count for item, count in heard.items() if json.dumps(text) in item)
        assert times <= 1
        assert fate != "used" or times == 1
