"""A real session over real sockets at a scripted server, with time that does not drag.

Files are in memory and count how often they are read; waits before retries are written down and
not waited; everything between the session and the server is the real thing.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from msgspec.structs import replace

from tests.support.fakes import FakeRunner, MemoryFiles
from tests.support.nasty_server import Nasty, nasty
from tests.support.nasty_steps import Step
from tests.support.seat import Seat
from tests.support.server_words import called, created, patch_call, spoken, turn
from tests.support.turns import CACHE, PATCH
from tui.core.conversation import BlockKind
from tui.core.files import FileRead
from tui.core.wire.address import Address
from tui.core.wire.endpoint_facts import Capabilities
from tui.effects.system import MonotonicClock
from tui.effects.wire.endpoint import Endpoint
from tui.effects.wire.link import ConnectionOptions
from tui.engine.ports import MAIN_LANE, Ports, RoleSpec
from tui.engine.requests import TurnLimits
from tui.engine.session import Session, SessionOptions

PATIENT = ConnectionOptions(
    connect_timeout_s=30.0,
    ping_interval_s=1.0,
    silence_s=30.0,
    event_s=30.0,
    gap_s=120.0,
    close_timeout_s=0.05,
)
"""Longer than any machine is busy: what ends is told by the socket."""
HASTY = replace(PATIENT, ping_interval_s=0.05, silence_s=0.5, event_s=0.9)
"""For servers that say nothing more."""
PATCHED = CACHE.replace(
    "        self.items[key] = 1\n",
    "        with self.lock:\n            self.items[key] = 1\n",
)
FINE: list[Step] = turn("fine", *spoken("fine", "msg_fine"))
NEXT: list[Step] = turn("next", *spoken("bye", "msg_next"))
PATCHES: list[Step] = [created("resp_patch"), *called(patch_call(PATCH, "call_again"))]


class CountedFiles(MemoryFiles):
    """A workspace in a dict that knows how often a file was read."""

    def __init__(self, files: Mapping[str, str | bytes]) -> None:
        super().__init__(files)
        self.reads: Counter[str] = Counter()

    def read(self, path: str) -> FileRead:
        self.reads[path] += 1
        return super().read(path)


@dataclass
class Stand:
    """A session and what stands around it."""

    server: Nasty
    session: Session
    seat: Seat
    files: CountedFiles
    endpoint: Endpoint
    waits: list[float] = field(default_factory=list)
    """Seconds that were to be waited before retries."""

    @property
    def capabilities(self) -> Capabilities:
        """What was learnt of the endpoint."""
        return self.endpoint.capabilities

    @property
    def whole(self) -> list[str]:
        """The texts of the model's messages that came to their end."""
        return self.seat.texts(BlockKind.TEXT, "done")

    @property
    def broken(self) -> list[str]:
        """Those that did not, and are marked."""
        return self.seat.texts(BlockKind.TEXT, "cut") + self.seat.texts(BlockKind.TEXT, "failed")

    @property
    def notes(self) -> list[str]:
        """What the conversation tells besides."""
        return self.seat.texts(BlockKind.NOTE)

    @property
    def troubles(self) -> list[str]:
        """What the user was told aloud."""
        return [f"{trouble.what}: {trouble.why}" for trouble in self.seat.troubles]

    @property
    def text(self) -> str:
        """The file that patches are about, as it stands in the buffer."""
        return self.session.workspace.open("cache.py").text()

    async def goes_on(self) -> None:
        """The conversation is whole: the next turn is answered, and a strict server takes it."""
        self.server.script = [*[[] for _ in self.server.inputs], NEXT]
        before = len(self.whole)
        await self.seat.ask("and then")
        assert self.session.status.outcome == "completed"
        assert self.whole[before:] == ["bye"]
        assert self.server.faults == []
        assert not [b for b in self.session.transcript.blocks if b.state == "open"]


async def _nobody_writes(callback: Callable[[set[str]], None]) -> None:
    """A workspace that is watched: what the model has read is not read again for every request."""
    callback(set())
    await asyncio.Event().wait()


@asynccontextmanager
async def stand(
    server: Nasty,
    *,
    options: ConnectionOptions = PATIENT,
    url: str = "",
    other: str = "",
    capabilities: Capabilities | None = None,
) -> AsyncIterator[Stand]:
    """A session at that server.

    ``url`` is another way to it (a line that dribbles); ``other`` is where HTTP+SSE would be
    spoken, by a bridge.
    """
    async with nasty(server) as direct:
        known = capabilities or Capabilities()
        endpoint = Endpoint(
            "scripted",
            _at(url or direct),
            MonotonicClock(),
            options=options,
            capabilities=known,
            fallback=_at(other) if other else None,
        )
        async with seated(endpoint, server) as made:
            yield made


@asynccontextmanager
async def seated(
    endpoint: Endpoint, server: Nasty, model: str = "m", *, chaining: bool = True
) -> AsyncIterator[Stand]:
    """A session over that endpoint; both are closed at the end."""
    files = CountedFiles({"cache.py": CACHE, "notes.txt": "a note\n"})
    waits: list[float] = []

    async def soon(seconds: float) -> None:
        waits.append(seconds)
        await asyncio.sleep(0)

    ports = Ports(
        wires=lambda name, lane=MAIN_LANE: endpoint.lane(lane),
        clock=MonotonicClock(),
        files=files,
        runner=FakeRunner(),
        watch=_nobody_writes,
        sockets=endpoint.views,
        sleep=soon,
        jitter=lambda: 0.5,
    )
    role = RoleSpec("fast", model, "scripted", chaining=chaining)
    session = Session(ports, {"fast": role}, SessionOptions(limits=TurnLimits(6)))
    try:
        yield Stand(server, session, Seat(session), files, endpoint, waits)
    finally:
        await session.close()
        await endpoint.close()


def _at(url: str) -> Callable[[], Awaitable[Address]]:
    async def address() -> Address:
        return Address(url, {"Authorization": "Bearer sk-a-secret-key"})

    return address
