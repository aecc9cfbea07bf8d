"""Conversations on a network that breaks again and again, at random: every word stands once."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from tests.support.fault_stand import stand
from tests.support.nasty_server import Nasty
from tests.support.nasty_steps import Close, Ending, Fin, Reset, Step
from tests.support.server_words import (
    begun,
    called,
    completed,
    created,
    delta,
    error,
    failed,
    function_call,
    spoken,
)
from tests.support.tables import each

ENDINGS: list[Ending] = [Reset(), Fin(), *map(Close, (1000, 1001, 1011, 1012, 1013))]
NOISE: list[Step] = [{"type": "codex.rate_limits"}, {"type": "ping"}]


@dataclass
class Day:
    """What the server will say, and what the user must find in the end."""

    chance: random.Random
    scripts: list[list[Step]] = field(default_factory=list)
    whole: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    reads: int = 0

    def turn(self) -> int:
        """A turn with breaks in it; how many responses it takes."""
        before = len(self.scripts)
        for _ in range(self.chance.randrange(4)):
            self._response(self._way_out())
        self._response([completed(f"resp_{len(self.scripts)}")], last=True)
        return len(self.scripts) - before

    def _way_out(self) -> list[Step]:
        number = len(self.scripts)
        ways: list[list[Step]] = [[ending] for ending in ENDINGS]
        ways += [[error(500, "server_error", "x")], [failed("server_error", "x", f"resp_{number}")]]
        return self.chance.choice(ways)

    def _response(self, way_out: list[Step], *, last: bool = False) -> None:
        number, chance = len(self.scripts), self.chance
        steps: list[Step] = [created(f"resp_{number}"), *NOISE[: chance.randrange(3)]]
        if last or chance.random() < 0.5:
            self.whole.append(f"message {number}")
            steps += spoken(self.whole[-1], f"msg_{number}")
        if not last and chance.random() < 0.4:
            self.reads += 1
            call = function_call("read_file", '{"path":"notes.txt"}', f"call_{number}")
            steps += called(call)
        if not last and chance.random() < 0.4:
            self.broken.append(f"half {number}")
            steps.append(delta(self.broken[-1], f"half_{number}"))
        elif not last and chance.random() < 0.4:
            steps += begun(function_call("list", '{"path":""}', f"half_{number}"), 0.6)
        if not last and len(steps) == 1 and chance.random() < 0.5:
            steps.clear()
        self.scripts.append([*steps, *way_out])


@each("echo", [True, False])
@each("seed", range(6))
async def test_every_word_stands_once(seed: int, echo: bool) -> None:
    day = Day(random.Random(seed))
    turns = [day.turn() for _ in range(4)]
    server = Nasty(day.scripts, echo=echo)
    async with stand(server) as at:
        for number in range(len(turns)):
            await at.seat.ask(f"prompt {number}")
            assert at.session.status.outcome == "completed"
            assert len(server.requests) == sum(turns[: number + 1])
        assert (at.whole, at.broken) == (day.whole, day.broken)
        assert (at.files.reads["notes.txt"], at.troubles) == (day.reads, [])
        assert at.text == at.files.data["cache.py"].decode()
        asked = [str(item["content"]) for item in server.inputs[-1] if item.get("role") == "user"]
        for number in range(len(turns)):
            assert sum(f"prompt {number}" in text for text in asked) == 1
        await at.goes_on()
