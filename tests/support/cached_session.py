"""A long session of a real engine against real endpoints, and what of its input a cache had seen.

The words of a user and of a model are scripted; the session, the sockets, the bridge and its
languages are the real ones, and what is judged are the bodies that the provider's server read.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.support.endpoint_kinds import server_of
from tests.support.endpoint_servers import (
    KEY,
    MODEL,
    Call,
    Hold,
    Item,
    Mark,
    Plan,
    Say,
    Script,
    Server,
    Think,
    sse,
)
from tests.support.endpoint_servers_responses import Responses, events
from tests.support.fakes import FakeRunner, MemoryFiles, settle
from tests.support.seat import Seat
from tui.bridge.endpoints.base import EndpointSpec
from tui.bridge.providers.provider_files import provider
from tui.bridge.server import Bridge
from tui.bridge.targets import target
from tui.core.document.hunk import Decision
from tui.core.wire.address import Address
from tui.effects.system import MonotonicClock
from tui.effects.wire.endpoint import Endpoint
from tui.engine import intents
from tui.engine.ports import MAIN_LANE, Ports, RoleSpec
from tui.engine.session import Session, SessionOptions

Body = dict[str, Any]
TURNS = 30


@dataclass(frozen=True)
class Way:
    """How a session reaches its model."""

    kind: str
    """The language of the provider."""
    direct: bool = False
    """Without the bridge."""
    chaining: bool = True
    """Towards whom the app itself speaks to."""
    provider: str = ""
    """Whose file says how it is asked."""
    patch_tool: str = "custom"

    def spec(self, url: str) -> EndpointSpec:
        """The endpoint as the bridge is told of it."""
        header = "x-api-key" if self.kind == "anthropic" else "Authorization"
        known = provider(self.provider, None).spec({}) if self.provider else None
        options = dict(known.options) if known is not None else {}
        return EndpointSpec(self.kind, url, key_header=header, options=options)


WAYS: Mapping[str, Way] = {
    "Responses, on a chain": Way("responses-ws", direct=True),
    "Responses, all said each time": Way("responses-ws", direct=True, chaining=False),
    "Responses over HTTP": Way("openai-responses"),
    "Responses behind the bridge's socket": Way("responses-ws"),
    "Chat Completions": Way("openai-chat", patch_tool="function"),
    "Chat Completions, all said each time": Way("openai-chat", chaining=False),
    "Gemini": Way("openai-chat", provider="gemini", patch_tool="function"),
    "Mistral": Way("openai-chat", provider="mistral", patch_tool="function"),
    "Anthropic Messages": Way("anthropic", provider="anthropic", patch_tool="function"),
    "Anthropic Messages, all said each time": Way("anthropic", chaining=False),
}


@dataclass
class Pair:
    """A user and a model at work, both scripted."""

    way: Way
    session: Session
    server: Server
    files: MemoryFiles
    seat: Seat
    endpoint: Endpoint
    turn: int = 0
    outside: list[Callable[[set[str]], None]] = field(default_factory=list)

    @property
    def bodies(self) -> list[Body]:
        """All that was asked for, as the provider's server read it."""
        return [request.body for request in self.server.requests]

    async def ask(self, *answers: Sequence[Item]) -> None:
        """A turn: these are the responses to its requests."""
        self.turn += 1
        self.server.scripts = [Script(items) for items in answers]
        await self.seat.ask(f"Turn {self.turn}: {PROMPT}")
        await settle()

    async def stopped(self, words: str) -> None:
        """A turn that the user stops in the middle."""
        self.turn += 1
        self.server.released.clear()
        self.server.scripts = [Script([Say(words), Hold()])]
        self.session.submit(intents.Prompt(f"Turn {self.turn}: {PROMPT}"))
        await self.seat.until(lambda: words.split()[-1] in self.seat.said())
        self.session.submit(intents.Interrupt())
        await self.seat.idle()
        self.server.released.set()

    def patch(self, path: str, row: int) -> Call:
        """The model changes one row of a file as it stands now."""
        lines = self.session.workspace.open(path).text().split("\n")
        old, turn = lines[row], self.turn + 1
        around = [f" {lines[row - 1]}", f"-{old}", f"+{old}  # turn {turn}", f" {lines[row + 1]}"]
        head = ["*** Begin Patch", f"*** Update File: {path}", "@@"]
        text = "\n".join([*head, *around, "*** End Patch", ""])
        if self.way.patch_tool == "function":
            return Call("apply_patch", json.dumps({"input": text}), f"patch_{turn}")
        return Call("apply_patch", text, f"patch_{turn}", custom=True)

    def read(self, path: str, number: int = 1) -> Call:
        """The model reads a file."""
        arguments = json.dumps({"path": path})
        return Call("read_file", arguments, f"read_{self.turn + 1}_{number}")

    def types(self, path: str, row: int) -> None:
        """The user writes a line."""
        at = (row, 0)
        self.session.workspace.edit(path, at, at, f"# by hand, in turn {self.turn}\n", "type")

    async def decides(self, *, accept: bool) -> None:
        """The user decides on all that waits."""
        words = "" if accept else "not like this: keep the name as it was"
        self.session.submit(intents.Accept() if accept else intents.Reject(words=words))
        await settle()
        hunks = self.session.workspace.hunks
        assert not [one for one in hunks if one.decision is Decision.PENDING and one.placeable]

    async def appears(self, path: str) -> None:
        """Another program makes a file."""
        self.files.data[path] = b"made = True\n"
        for tell in self.outside:
            tell({path})
        await settle()


PROMPT = (
    "have a look at what the parser does with an empty line, and change the one place that needs it"
)
PROSE = "The empty line ends a block here, so the test in front of it has to go first. "


def workspace() -> dict[str, str]:
    """Forty files of eighty lines."""
    return {
        f"src/part_{number:02}.py": "".join(
            f"value_{number}_{row} = compute({row}, size={row * number})\n" for row in range(80)
        )
        for number in range(40)
    }


class _Numbered(Responses):
    """As the real service: no two items have one id."""

    def __init__(self) -> None:
        self._count = 0

    def plan(self, script: Script) -> Plan:
        self._count += 1
        told = events(script, f"resp_{self._count}")
        return [one if isinstance(one, Mark) else sse(one, str(one["type"])) for one in told]


@contextlib.asynccontextmanager
async def working(way: Way) -> AsyncIterator[Pair]:
    """Everything up, and down again."""
    async with contextlib.AsyncExitStack() as up:
        server: Server = await up.enter_async_context(server_of(way.kind).serving())
        if way.kind == "openai-responses":
            server.dialect = _Numbered()
        url = server.url.replace("http", "ws", 1) + "/responses"
        sent = {"Authorization": f"Bearer {KEY}"}
        if not way.direct:
            bridge = Bridge(token="the-token")
            await bridge.start()
            up.push_async_callback(bridge.close)
            bridge.endpoints.targets["there"] = target("there", way.spec(server.url), KEY)
            url, sent = bridge.url_of("there"), {"Authorization": "Bearer the-token"}

        async def address() -> Address:
            return Address(url, sent)

        endpoint = Endpoint("there", address, MonotonicClock(), bridged=not way.direct)
        up.push_async_callback(endpoint.close)
        files = MemoryFiles(workspace())
        outside: list[Callable[[set[str]], None]] = []

        async def watch(callback: Callable[[set[str]], None]) -> None:
            outside.append(callback)

        ports = Ports(
            wires=lambda name, lane=MAIN_LANE: endpoint.lane(lane),
            clock=MonotonicClock(),
            files=files,
            runner=FakeRunner(),
            watch=watch,
        )
        tool: Any = way.patch_tool
        spec = RoleSpec("fast", MODEL, "there", patch_tool=tool, chaining=way.chaining)
        session = Session(ports, {"fast": spec}, SessionOptions(conversation="measured"))
        up.push_async_callback(session.close)
        await session.run()
        await settle()
        yield Pair(way, session, server, files, Seat(session), endpoint, outside=outside)


async def long_session(pair: Pair, turns: int = TURNS) -> None:
    """Turns as people work: reads, edits of both, decisions, Esc, a lost connection, an effort."""
    opened = ["src/part_00.py", "src/part_01.py"]
    for path in opened:
        pair.session.submit(intents.OpenFile(path))
    await settle()
    for number in range(1, turns + 1):
        path = opened[number % len(opened)]
        if number % 10 == 8:
            await pair.stopped(PROSE + f"half{number}")
            continue
        read = pair.read(f"src/part_{number % 38 + 2:02}.py")
        thought = Think(f"What does {path} do in turn {number}?")
        await pair.ask(
            [thought, Say(PROSE), read],
            [pair.patch(path, 3 + number * 2), pair.read(path, 2)],
            [Say(f"Done: {PROSE * 3}")],
        )
        if number % 3:
            await pair.decides(accept=number % 4 != 1)
        if number % 2:
            pair.types(path, 70)
        if number % 7 == 0:
            opened.append(f"src/part_{number:02}.py")
            pair.session.submit(intents.OpenFile(opened[-1]))
            await pair.appears(f"src/new_{number}.py")
        if number % 13 == 0:
            pair.endpoint.lane(MAIN_LANE).drop()
            await settle()
        if number == 20:
            pair.session.submit(intents.SetEffort("low"))


PARTS = ("tools", "system", "instructions", "messages", "input")
"""In the order in which a provider reads them; the rest of a body is none of its input."""


def pieces(body: Body) -> Iterator[bytes]:
    """What a provider's cache compares, in its order, cut where a mark may be set."""
    for part in PARTS:
        held = body.get(part) or []
        for one in held if isinstance(held, list) else [held]:
            blocks = one.get("content") if isinstance(one, dict) and part == "messages" else None
            if isinstance(blocks, list):
                yield str(one["role"]).encode()
                yield from map(written, blocks)
            else:
                yield written(one)


def written(part: object) -> bytes:
    """One of them as it leaves, without marks for a cache: those are no input."""
    if isinstance(part, dict):
        part = {name: value for name, value in part.items() if name != "cache_control"}
    return json.dumps(part, ensure_ascii=False).encode()


def marks(body: Body) -> list[int]:
    """Behind how many pieces a mark is set."""
    found, count = [], 0
    for part in PARTS:
        for one in body.get(part) or ():
            if not isinstance(one, dict):
                continue  # a text, which has no place for a mark
            held = one.get("content") if part == "messages" else None
            blocks = held if isinstance(held, list) else [one]
            count += isinstance(held, list)
            for block in blocks:
                count += 1
                if "cache_control" in block:
                    found.append(count)
    return found


@dataclass
class Head:
    """What of the input of a session had been sent before."""

    requests: int = 0
    sent: int = 0
    """Bytes in all."""
    known: int = 0
    """Of them in a head that an earlier request had, too."""
    breaks: list[int] = field(default_factory=list)
    """The numbers (from 0) of requests that do not begin with the whole of the one before."""

    @property
    def share(self) -> float:
        """Of the input."""
        return self.known / self.sent if self.sent else 0.0


LOOKBACK = 20
"""Blocks before a mark at which Anthropic looks for what it holds."""


def head_of(bodies: Sequence[Body], *, marked: bool = False) -> Head:
    """What was known of the requests; ``marked``: only up to marks, as Anthropic keeps it."""
    found = Head(requests=len(bodies))
    told = [list(pieces(body)) for body in bodies]
    kept: set[bytes] = set()
    for number, one in enumerate(told):
        found.sent += sum(map(len, one))
        if marked:
            at = _marked(bodies[number], one, kept)
        else:
            at = max((_common(one, other) for other in told[:number]), default=0)
        found.known += at
        if number and _common(one, told[number - 1]) < sum(map(len, told[number - 1])):
            found.breaks.append(number)
    return found


def _marked(body: Body, one: Sequence[bytes], kept: set[bytes]) -> int:
    """What was read from the cache; what this request writes there is kept from now on."""
    ends = marks(body)
    heads = {
        at: b"".join(one[:at]) for end in ends for at in range(max(end - LOOKBACK, 0), end + 1)
    }
    known = max((len(head) for head in heads.values() if head in kept), default=0)
    kept.update(heads[end] for end in ends)
    return known


def _common(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    """The bytes of their common head."""
    size = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            pairs = enumerate(zip(mine, theirs, strict=False))
            return size + next((at for at, (a, b) in pairs if a != b), min(len(mine), len(theirs)))
        size += len(mine)
    return size


async def measured(way: Way, turns: int = TURNS) -> Head:
    """One session, and what came of it."""
    async with asyncio.timeout(300), working(way) as pair:
        await long_session(pair, turns)
        return head_of(pair.bodies, marked=way.kind == "anthropic")
