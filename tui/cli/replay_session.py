"""The wire of a replay: recorded frames go through the real protocol, nothing is dialled."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

from tui.cli.options import ROLES
from tui.core.files import FileBlock
from tui.core.programs import AS_THE_USER, CommandLine, Output, RunOptions, RunResult, Sandbox
from tui.core.wire.client.protocol import ClientProtocol
from tui.core.wire.endpoint_facts import Abilities, Capabilities
from tui.core.wire.events import Event
from tui.core.wire.recording import (
    RecordedAct,
    RecordedExchange,
    Recording,
    exchanges,
    foreground,
    prompt_of,
    quoted_files,
)
from tui.effects.files import Files
from tui.effects.listing import Listing
from tui.effects.system import MonotonicClock
from tui.engine.intents import Accept, Interrupt, OpenFile, Prompt, Reload, Role, Steer, Switch
from tui.engine.ports import (
    MAIN_LANE,
    Clock,
    PatchFormat,
    PatchTool,
    Ports,
    RoleSpec,
    Transport,
    Wire,
    WireState,
)
from tui.engine.session import Session, SessionOptions
from tui.errors import EditRefused, FileRefused, WireError


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


STRANGER = "(This is a replay: nothing is sent, and the recording has no answer to this.)"
ENDED = "(The recording ends here.)"
GO_ON = "(the recorded client went on)"
BREATH = 200
"""Frames that are fed in one go at most: the screen has to be painted too."""
LOOK_S = 0.05
"""Between two looks at whether the engine still means to ask."""


class ReplayPace:
    """Recorded time, divided by a speed."""

    def __init__(self, speed: float, clock: Clock) -> None:
        """``speed`` 0: as fast as possible."""
        self._speed = speed
        self._clock = clock
        self._anchor: tuple[float, float] | None = None
        self._fed = 0

    async def until(self, recorded_s: float) -> None:
        """Return when the recording is at this time."""
        if not self._speed:
            self._fed += 1
            if self._fed % BREATH == 0:
                await asyncio.sleep(0)
            return
        if self._anchor is None:
            self.resume(recorded_s)
            return
        then_s, at_s = self._anchor
        delay_s = at_s + (recorded_s - then_s) / self._speed - self._clock.now()
        if delay_s > 0:
            await asyncio.sleep(delay_s)

    def resume(self, recorded_s: float) -> None:
        """Whatever was waited for has come: the recording is at this time now."""
        self._anchor = (recorded_s, self._clock.now())


class ReplayDirector:
    """Tells the session what the recorded user did, and the wire what the server said."""

    def __init__(
        self,
        session: Session,
        wire: ReplayWire,
        pace: ReplayPace,
        prepare: Callable[[RecordedExchange], None],
    ) -> None:
        """``prepare`` is called before each request: the workspace as it was then."""
        self.played = 0
        """Exchanges that are over."""
        self._session = session
        self._wire = wire
        self._pace = pace
        self._prepare = prepare
        self._said: list[str] = []
        self._over = False
        wire.on_request = self._requested

    async def play(self, exchanges: Sequence[RecordedExchange]) -> None:
        """Play all of them; the session stays as it is then, and may be looked at."""
        try:
            for index, exchange in enumerate(exchanges):
                following = exchanges[index + 1] if index + 1 < len(exchanges) else None
                await self._exchange(exchange, following)
                self.played += 1
        finally:
            self._over = True
        self._wire.answers_control = False
        if self._wire.request is not None:
            self._wire.reply(ENDED)

    async def _exchange(
        self, exchange: RecordedExchange, following: RecordedExchange | None
    ) -> None:
        await self._pace.until(exchange.t)
        self._prepare(exchange)
        self._switch(exchange.model)
        self._prompt(exchange)
        if not await self._is_asked():
            return
        wire = self._wire
        wire.taken()
        wire.recorded_s = exchange.t
        self._pace.resume(exchange.t)
        for act in exchange.acts:
            await self._pace.until(act.t)
            if wire.stopped or wire.state != "open":
                break  # the viewer pressed Esc, or the socket was given up
            wire.recorded_s = act.t
            self._act(act, exchange, following)
        wire.answers_control = False
        if wire.state == "open" and wire.busy and not wire.stopped and wire.request is None:
            self._leave(exchange, following)
        await asyncio.sleep(0)

    def _prompt(self, exchange: RecordedExchange) -> None:
        """Say what the user said, unless the engine sends this request by itself."""
        status, text = self._session.status, exchange.prompt
        going_on = status.busy and (not text or text in self._said[-1:])
        if not going_on:
            text = text or GO_ON
            self._said.append(text)
            self._session.submit(Prompt(text))

    def _switch(self, model: str) -> None:
        status = self._session.status
        roles: list[Role] = [role for role, name in status.models.items() if name == model]
        if roles and status.role not in roles and not status.busy:
            self._session.submit(Switch(roles[0]))

    async def _is_asked(self) -> bool:
        """Wait for the engine's request; False if it does not mean to send one."""
        while not self._wire.asked.is_set():
            if not self._session.status.busy:
                return False
            try:
                async with asyncio.timeout(LOOK_S):
                    await self._wire.asked.wait()
            except TimeoutError:
                continue
        return True

    def _act(
        self, act: RecordedAct, exchange: RecordedExchange, following: RecordedExchange | None
    ) -> None:
        wire = self._wire
        if act.kind == "frame":
            wire.feed(act.text)
        elif act.kind == "interrupt":
            wire.answers_control = True
            self._session.submit(Interrupt())
        elif act.kind == "steer":
            wire.answers_control = True
            self._session.submit(Steer(act.text))
        elif act.by_user:
            self._leave(exchange, following)
        else:
            wire.lose(act.text, act.code)

    def _leave(self, exchange: RecordedExchange, following: RecordedExchange | None) -> None:
        """The recorded client left before the end: its user stopped it, or it tries again."""
        wire = self._wire
        wire.answers_control = False
        again = following is not None and following.prompt in ("", exchange.prompt)
        if again and not self._session.status.stopping:
            wire.lose("the connection broke")
            return
        if not self._session.status.stopping:
            self._session.submit(Interrupt())
        wire.finish()

    def _requested(self, request: dict[str, Any]) -> None:
        """The engine asks; what the viewer typed is answered at once."""
        text = prompt_of(request)
        strange = bool(text) and not any(said in text for said in self._said)
        if strange or self._over:
            asyncio.get_running_loop().call_soon(self._decline, request)

    def _decline(self, request: dict[str, Any]) -> None:
        if self._wire.request == request:
            known = prompt_of(request) in ("", *self._said)
            self._wire.reply(ENDED if known else STRANGER)


ENDPOINT = "replay"
NO_COMMANDS = "a replay runs no commands"
LAYOUT_BYTES = 64 * 2**20
"""All that a recording may lay out."""


_ADDED = re.compile(
    r"\*\*\* Add File: (.+?)(?:\\n|\\r|\")"
    r"|--- /dev/null(?:\\r)?\\n\+\+\+ (?:b/)?(.+?)(?:\\[nrt]|\")"
)
"""In the JSON text of a finished item."""


class NoRunner:
    """Runs nothing."""

    async def sandbox(self) -> Sandbox:
        """There is nothing to confine."""
        return Sandbox()

    async def git_programs(self, folders: Iterable[str]) -> str:
        """Nothing is run."""
        return ""

    def places(self, folder: str, names: Sequence[str]) -> tuple[str, ...]:
        """Nothing is run."""
        return ()

    async def run(
        self, command: CommandLine, output: Output, deadline_s: float, how: RunOptions = AS_THE_USER
    ) -> RunResult:
        """Say why it was not run."""
        return RunResult(None, 0.0, error=NO_COMMANDS)


class ReplaySession:
    """A session over a scratch workspace, and the director who plays a recording into it."""

    def __init__(self, recording: Recording, speed: float) -> None:
        """``speed`` 0: as fast as possible. Nothing is played yet."""
        self._folder = tempfile.TemporaryDirectory(
            prefix="duetto-replay-", ignore_cleanup_errors=True
        )
        self.root = Path(self._folder.name).resolve()
        self._lock = os.open(self.root, os.O_RDONLY)  # the next duetto clears what nobody holds
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self._listing = Listing(str(self.root))
        self._files = Files(str(self.root), self._listing)
        self._left_bytes = LAYOUT_BYTES
        clock = MonotonicClock()
        self._wire = ReplayWire(clock)
        self.exchanges, self.elsewhere = foreground(exchanges(recording.entries))
        roles = roles_of(recording, self.exchanges)
        self.session = Session(self._ports(clock, speed), roles, _options(roles))
        self.director = ReplayDirector(
            self.session, self._wire, ReplayPace(speed, clock), self._prepare
        )

    async def play(self) -> None:
        """Play the recording to its end."""
        for block in read_at_first(self.exchanges):
            with suppress(EditRefused, FileRefused):
                self._lay_out(block)
        await self.director.play(self.exchanges)

    async def close(self) -> None:
        """End the session, remove the workspace."""
        self._listing.close()
        await self.session.close()
        os.close(self._lock)
        self._folder.cleanup()

    def _ports(self, clock: MonotonicClock, speed: float) -> Ports:
        async def sleep(seconds: float) -> None:
            await asyncio.sleep(seconds / speed if speed else 0.0)

        def wires(endpoint: str, lane: str = MAIN_LANE) -> Wire:
            return self._wire

        return Ports(
            wires=wires,
            clock=clock,
            files=self._files,
            runner=NoRunner(),
            sleep=sleep,
        )

    def _prepare(self, exchange: RecordedExchange) -> None:
        """The files as the recorded request quotes them; the active one is shown."""
        for block in quoted_files(exchange.request):
            if "state" not in block.attributes:
                continue  # it was read in passing, and may have changed since
            with suppress(EditRefused, FileRefused):
                self._lay_out(block)
            if exchange.prompt and block.attributes.get("state") == "active":
                self._show(block)

    def _lay_out(self, block: FileBlock) -> None:
        """Make the file, or bring it to what the request says that it was."""
        data = block.text.encode("utf-8", "replace")
        session, path = self.session, block.path
        buffer = session.workspace.buffers.get(path)
        if len(data) > self._left_bytes or (buffer is not None and buffer.text() == block.text):
            return
        if buffer is not None:
            pending = [h.id for h in session.workspace.hunks if h.path == path and h.decidable]
            session.submit(Accept(tuple(pending)))
        there = self._files.read(path).data
        if there != data:
            self._left_bytes -= len(data)
            self._files.write(path, data, there)
        if buffer is not None:
            session.submit(Reload(path))

    def _show(self, block: FileBlock) -> None:
        status = self.session.status
        if status.active_path == block.path or self._files.read(block.path).data is None:
            return
        line, _, column = block.attributes.get("cursor", "1:1").partition(":")
        at = [int(number) - 1 if number.isdecimal() else 0 for number in (line[:9], column[:9])]
        self.session.submit(OpenFile(block.path, max(0, at[0]), max(0, at[1])))


def read_at_first(played: Sequence[RecordedExchange]) -> list[FileBlock]:
    """The files that the recorded tools read, as they were at first; none that the model made."""
    found: dict[str, FileBlock] = {}
    made: set[str] = set()
    for exchange in played:
        for block in quoted_files(exchange.request):
            if block.path not in made and "state" not in block.attributes:
                found.setdefault(block.path, block)
        for act in exchange.acts:
            if '"response.output_item.done"' in act.text:
                made.update(name for found in _ADDED.findall(act.text) for name in found if name)
    return list(found.values())


def roles_of(recording: Recording, played: Sequence[RecordedExchange]) -> dict[Role, RoleSpec]:
    """Who answered: as the recording says, else the first model is fast and the second deep."""
    told = recording.about.get("roles")
    named: dict[str, Any] = told if isinstance(told, dict) else {}
    roles: dict[Role, RoleSpec] = {}
    for role in ROLES:
        known = named.get(role)
        if isinstance(known, dict) and isinstance(known.get("model"), str):
            tool = _one_of(get_args(PatchTool), known.get("patch_tool"))
            fmt = _one_of(get_args(PatchFormat), known.get("patch_format"))
            roles[role] = RoleSpec(
                role, known["model"], ENDPOINT, patch_tool=tool, patch_format=fmt
            )
    if roles:
        return roles
    models = list(dict.fromkeys(exchange.model or "model" for exchange in played)) or ["model"]
    named_roles = zip(ROLES, models, strict=False)
    return {role: RoleSpec(role, model, ENDPOINT) for role, model in named_roles}


def _one_of(known: tuple[Any, ...], said: object) -> Any:
    """The one that is said; the first, if it is none of them."""
    return said if said in known else known[0]


def _options(roles: dict[Role, RoleSpec]) -> SessionOptions:
    return SessionOptions(first_role="fast" if "fast" in roles else "deep")
