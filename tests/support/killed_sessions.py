"""A session that is killed at any moment: ``python -m tests.support.killed_sessions FOLDER SEED``.

Plays a random conversation over the real engine, kept in the store of ``FOLDER/data``, until it is
killed. What the world outside sees of it (requests, writes, commands, steered texts, pieces of
answers) stands in ``FOLDER/seen`` from the moment in which it sees that: a line of JSON each.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.fakes import FakeRunner, FakeWire, MemoryFiles, World
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.turns import update
from tui.core.document.hunk import Decision
from tui.core.programs import CommandLine, RunResult
from tui.effects.store.writing import StoreWriter
from tui.engine import intents
from tui.engine.session import SessionOptions

LINES = [f"line {number}" for number in range(40)]


class Seen:
    """What the world outside has seen."""

    def __init__(self, file: Path) -> None:
        self._fd = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def note(self, **what: Any) -> None:
        os.write(self._fd, json.dumps({"s": time.monotonic(), **what}).encode() + b"\n")


class SeenWire(FakeWire):
    seen: Seen

    def create(self, request: Mapping[str, Any]) -> None:
        self.seen.note(request=request["input"])
        super().create(request)

    def steer(self, text: str) -> int | None:
        self.seen.note(steer=text)
        return super().steer(text)


class SeenRunner(FakeRunner):
    seen: Seen

    async def run(self, command: CommandLine, *how: Any, **more: Any) -> RunResult:
        self.seen.note(ran=str(command))
        return await super().run(command, *how, **more)


class SeenFiles(MemoryFiles):
    world: SeenWorld

    def write(self, path: str, data: bytes, expected: bytes | None) -> None:
        hunks = self.world.session.workspace.hunks
        accepted = [one.id for one in hunks if one.decision is Decision.ACCEPTED]
        self.world.seen.note(wrote=path, accepted=accepted)
        super().write(path, data, expected)


class SeenWorld(World):
    def __init__(self, seen: Seen, store: StoreWriter) -> None:
        self.seen = seen
        text = "".join(f"{line}\n" for line in LINES)
        super().__init__({f"{name}.py": text for name in "abc"}, options=SessionOptions(ask=True))
        files, runner = SeenFiles(self.files.data), SeenRunner()
        files.world, runner.seen = self, seen
        vars(self.files)["write"] = files.write
        files.data = self.files.data
        self.ports.runner = self.runner = runner
        self.ports.store = lambda: store

    def _wire(self, endpoint: str, lane: str = "main") -> FakeWire:
        if endpoint not in self.wires:
            wire = self.wires[endpoint] = SeenWire(self.clock)
            wire.seen = self.seen
        return self.wires[endpoint]


class Script:
    """What the user and the model do."""

    def __init__(self, folder: Path, seed: int, turns: int | None = None) -> None:
        self.dice = random.Random(seed)
        self.seen = Seen(folder / "seen")
        self.store = StoreWriter(folder / "data", time.monotonic)
        self.world = SeenWorld(self.seen, self.store)
        self.session = self.world.session
        self.count, self._turns = 0, turns
        self.said = ""
        self.session.on_wake = self._woken
        self.model = SteppedRehearsal(self.world.wire)

    def _woken(self) -> None:
        asyncio.get_running_loop().call_soon(self.session.drain)

    async def play(self) -> None:
        while self._turns is None or self.count < self._turns:
            self.count += 1
            await self.turn()

    async def pause(self) -> None:
        await asyncio.sleep(self.dice.choice([0, 0, 0.001, 0.01, 0.05]))

    async def turn(self) -> None:
        session, wire, number = self.session, self.world.wire, self.count
        asked = len(wire.requests)
        session.submit(intents.Prompt(f"<p{number}>"))
        await wire.request(asked + 1)
        while True:
            self.model.begin()
            called = False
            for step in range(self.dice.randrange(1, 4)):
                await self.pause()
                what = self.dice.choice(["text", "text", "patch", "patch", "command", "queue"])
                called |= what in ("patch", "command")
                await getattr(self, f"_{what}")(f"{len(wire.requests)}_{step}")
            if self.dice.random() < 0.15:
                session.submit(intents.Interrupt())
                self.model.interrupted()
                break
            asked = len(wire.requests)
            self.model.complete(output_tokens=100)
            if not called:
                break
            await wire.request(asked + 1)
        while session.status.busy and len(wire.requests) == asked:
            await asyncio.sleep(0)
        await self.decides()
        if len(wire.requests) > asked:  # what was queued is on its way
            self.model.answers("done")
        while session.status.busy:
            await asyncio.sleep(0)

    async def _text(self, name: str) -> None:
        key, text = self.model.open_text(), ""
        for piece in range(self.dice.randrange(1, 30)):
            token = f"[{name}.{piece}] "
            text += token
            self.model.say(key, token)
            self.seen.note(said=token)
            if self.dice.random() < 0.3:
                await self.pause()
        self.model.close_text(key, text)

    async def _patch(self, name: str) -> None:
        path = f"{self.dice.choice('abc')}.py"
        lines = self.session.workspace.open(path).lines
        at = self.dice.randrange(1, len(lines) - 2)
        patch = update(
            path, f" {lines[at - 1]}", f"-{lines[at]}", f"+new {name}", f" {lines[at + 1]}"
        )
        key = self.model.open_patch(name)
        for start in range(0, len(patch), 20):
            self.model.patch_delta(key, patch[start : start + 20])
            if self.dice.random() < 0.2:
                await self.pause()
        self.model.close_patch(key, name, patch)

    async def _command(self, name: str) -> None:
        self.model.call("shell", {"command": f"make {name}"}, f"c{name}")
        while not (asks := self.session.status.asks):
            await asyncio.sleep(0)
        self.session.submit(intents.Answer(asks[0].id, asks[0].choices[self.dice.choice([0, -1])]))
        await self.pause()

    async def _queue(self, name: str) -> None:
        if not self.session.status.queued:
            self.session.submit(intents.Queue(f"<q{name}>"))

    async def decides(self) -> None:
        for hunk in [one for one in self.session.workspace.hunks if one.decidable]:
            await self.pause()
            match self.dice.choice(["accept", "accept", "reject", "leave"]):
                case "accept":
                    self.session.submit(intents.Accept((hunk.id,)))
                case "reject":
                    self.session.submit(intents.Reject((hunk.id,), f"no {hunk.id}"))
            self.seen.note(
                decided={one.id: str(one.decision) for one in self.session.workspace.hunks}
            )


async def main(folder: Path, seed: int) -> None:
    await Script(folder, seed).play()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
