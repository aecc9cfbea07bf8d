"""Long work done a little at a time, so that the rest of the event loop has its turn between.

A library that reads at once all that the network brought holds the loop for as long as that takes:
256 kB of empty frames, or of chunks of one byte, are a tenth of a second and more. `Sliced` gives
it slices; `Share` and `in_turns` cut our own work, `aside` does it in a thread.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from codecs import getincrementaldecoder
from collections import deque
from collections.abc import Callable, Generator
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from websockets.asyncio.connection import Connection
from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import Event

from tui.bridge.endpoints.base import Asked
from tui.core.wire.json_reading import AT_ONCE_BYTES, PIECE_BYTES
from tui.core.wire.json_writing import is_long

BUDGET_S = 0.002
"""After so long the rest of the loop has its turn."""


class Sliced(asyncio.Protocol):
    """A protocol before the library's in the order of bases, which gets its data in slices."""

    SLICE_BYTES = 1024
    """What the library reads of it in some milliseconds, whatever it is."""
    transport: Any
    """Some libraries set it to None once the connection is closed."""
    _waiting, _at = b"", 0
    """What came and has to wait for its turn, and how much of it was read."""
    _resuming = _feeding = False
    _eof = _gone = False
    _gone_for: Any = None
    _spent_s = _left_at_s = 0.0
    """How long this kept the loop, less what it has left to others since; and until when."""

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`. Nothing: the library wants to go on with what it has."""
        if not data:
            super().data_received(data)
            return
        self._waiting, self._at = self._waiting[self._at :] + data, 0
        if not self._resuming and not self._feeding:
            now_s = time.monotonic()
            self._spent_s = max(0.0, self._spent_s - now_s + self._left_at_s)
            self._feed(now_s)

    def eof_received(self) -> None:
        """See `asyncio.Protocol`: it ends behind what waits."""
        if self._waiting:
            self._eof = True
        else:
            super().eof_received()

    def connection_lost(self, exc: Any) -> None:
        """See `asyncio.Protocol`: it ends behind what waits."""
        if self._waiting:
            self._gone, self._gone_for = True, exc
            self._regulate()
        else:
            super().connection_lost(exc)

    def holds(self) -> bool:
        """Whether nothing more is to be read now."""
        return False

    def fed(self) -> None:
        """Called behind all slices of a turn."""

    def forget(self) -> None:
        """What waits is not read any more."""
        self._waiting, self._at = b"", 0

    def _resume(self) -> None:
        """Go on in a later turn of the loop."""
        self._resuming, self._spent_s = False, 0.0
        if self._waiting:
            self._feed(time.monotonic())
        else:
            self._regulate()
        if self._waiting or self._resuming:
            return
        if self._eof:
            self._eof = False
            super().eof_received()
        if self._gone:
            super().connection_lost(self._gone_for)

    def _feed(self, began_s: float) -> None:
        """Read what waits, as far as there is time."""
        until_s = began_s + BUDGET_S - self._spent_s
        if len(self._waiting) > self.SLICE_BYTES:
            turns = _turns()
            turns.begin()
            until_s = min(until_s, turns.until_s)
        self._feeding = True
        try:
            while self._waiting and (self._gone or not self.holds()):
                piece = self._waiting[self._at : self._at + self.SLICE_BYTES]
                self._at += self.SLICE_BYTES
                if self._at >= len(self._waiting):
                    self.forget()
                super().data_received(piece)
                if time.monotonic() > until_s:
                    break
            self.fed()
        finally:
            self._feeding = False
        self._left_at_s = time.monotonic()
        self._spent_s += self._left_at_s - began_s
        self._regulate()

    def _regulate(self) -> None:
        """Have the network wait while something waits here, and go on with that soon."""
        held = self.holds() and not self._gone
        due = bool(self._waiting) or self._spent_s > BUDGET_S
        if due and not held and not self._resuming and not self._feeding:
            self._resume_soon()
        if self.transport is None or self.transport.is_closing():
            return
        if held or self._waiting or self._resuming:
            self.transport.pause_reading()
        else:
            self.transport.resume_reading()

    def _resume_soon(self) -> None:
        self._resuming = True
        _turns().soon(self._resume)


class Share:
    """What one task takes of the loop's time before others have their turn."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Others have had their turn just now."""
        self._until_s = time.monotonic() + BUDGET_S

    @property
    def spent(self) -> bool:
        """Others are due."""
        return time.monotonic() > self._until_s

    async def pause(self) -> None:
        """Let others have their turn, if they are due."""
        if self.spent:
            await others()
            self.begin()


async def others() -> None:
    """Let all others have their turn that have much to do."""
    woken = asyncio.Event()
    _turns().soon(woken.set)
    await woken.wait()


async def own_turn() -> None:
    """Before what may take a while: at once if this turn of the loop has time left for it."""
    turns = _turns()
    turns.begin()
    if turns.taken:
        await others()


class _LoopTurns:
    """The turns of one loop: of all that have much to do each gets one, in their order."""

    def __init__(self) -> None:
        self._waiting: deque[Callable[[], object]] = deque()
        self._begun = False
        self.until_s = 0.0
        """When the one that has begun is to end."""

    @property
    def taken(self) -> bool:
        """Others wait for their turn, or its time is over."""
        return bool(self._waiting) or time.monotonic() > self.until_s

    def begin(self) -> None:
        """Measure this turn of the loop."""
        if not self._begun:
            self._begun = True
            self._begin()

    def soon(self, work: Callable[[], object]) -> None:
        """Do this when it is its turn."""
        self._waiting.append(work)
        self.begin()

    def _begin(self) -> None:
        self.until_s = time.monotonic() + BUDGET_S
        asyncio.get_running_loop().call_soon(self._next)

    def _next(self) -> None:
        if self._waiting:
            self._begin()
            self._waiting.popleft()()
        else:
            self._begun = False


_of_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopTurns] = WeakKeyDictionary()


def _turns() -> _LoopTurns:
    loop = asyncio.get_running_loop()
    found = _of_loops.get(loop)
    if found is None:
        found = _of_loops[loop] = _LoopTurns()
    return found


MOST_ITEMS = 500
"""A request with no more costs some milliseconds wherever it is worked on."""
_MOST_AT_ONCE = 2**18, 10_000
"""Characters and values of a request."""
_Result = TypeVar("_Result")


async def in_turns(steps: Generator[None, None, _Result]) -> _Result:
    """What these steps return; others have their turn between them."""
    await own_turn()
    share = Share()
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: _Result = end.value
            return result
        await share.pause()


async def aside(
    asked: Asked, work: Callable[[], _Result], before: Callable[[], object] | None = None
) -> _Result:
    """What ``work`` makes of a request, at once if it is short; raises what that raises.

    ``before`` is done before it if the request is long: what would hold up the loop later.

    In a thread it has to do with texts piece by piece: one call of C holds up the loop as well.

    Whoever is cancelled meanwhile does not wait for its end.
    """
    tools = asked.request.get("tools")
    short = len(asked.items) <= MOST_ITEMS and not is_long([*asked.items, tools], *_MOST_AT_ONCE)
    if short:
        await own_turn()
        return work()
    if before is not None:
        await asyncio.to_thread(before)
    return await asyncio.to_thread(work)


MOST_PIECES = 256
"""Of a body, read at once: chunks of one byte are a piece each."""


class SlicedHttp(Sliced):
    """A protocol before aiohttp's in the order of bases."""

    _reading_paused: bool
    _buffer_paused: bool

    def holds(self) -> bool:
        """See `Sliced`."""
        return self._reading_paused or self._buffer_paused

    def resume_reading(self, resume_parser: bool = True) -> None:
        """In the next turn: aiohttp would go on within each piece that is read."""
        if not resume_parser:
            self._resume_reading(resume_parser)
        elif self._reading_paused and not self._resuming:
            self._resume_soon()

    def _resume(self) -> None:
        self._resuming = False
        if self._reading_paused:
            self._resume_reading(True)  # what it unpacks may pause it again, and be read at once
            self.fed()
        if not self._resuming:
            super()._resume()

    def _resume_reading(self, resume_parser: bool) -> None:
        library: Any = super()
        library.resume_reading(resume_parser)

    def _pause_transport_reading(self) -> None:
        self._regulate()

    def _resume_transport_reading(self) -> None:
        self._regulate()


def some(content: Any) -> bytes:
    """Of what has come of a body as much as is put together in no time; empty: nothing has."""
    size = sum(map(len, itertools.islice(getattr(content, "_buffer", ()), MOST_PIECES)))
    data: bytes = content._read_nowait(size - content._buffer_offset) if size else b""
    return data


MOST_IDLE, IDLE_S = 1000, 1.0
"""More empty or control frames in so long, without data between, no network would cause."""
_GONE_S = 0.2
"""A peer that was refused has so long to read why: reset at once, it might not."""


class FairSocket(Sliced, Connection):
    """A connection of either side."""

    refusal = ""
    """What the peer sent that ended the connection, in words behind its name."""
    transport: asyncio.Transport
    _kinds: deque[Opcode]
    """Of the messages that have begun and were not heard."""
    _idle_frames, _idle_since = 0, 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        super().connection_made(transport)
        self._kinds = deque()
        self.recv_messages.pause = self._regulate
        self.recv_messages.resume = self._regulate

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        if not self.refusal:
            super().data_received(data)

    def process_event(self, event: Event) -> None:
        """Take a frame that the library has read; too many that say nothing end the connection."""
        if self.refusal:
            return
        if isinstance(event, Frame) and event.opcode in (Opcode.TEXT, Opcode.BINARY):
            self._kinds.append(event.opcode)
        super().process_event(event)
        if not isinstance(event, Frame):
            return
        if event.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT) and event.data:
            self._idle_frames = 0
            return
        now = self.loop.time()
        if now - self._idle_since > IDLE_S:
            self._idle_frames, self._idle_since = 0, now
        self._idle_frames += 1
        if self._idle_frames > MOST_IDLE:
            self._refuse(f"sent more than {MOST_IDLE:,} empty or control frames in a second")

    async def heard(self) -> str | bytes | None:
        """The next message: a text as bytes if it is a long one; None: a binary one.

        Raises as the library's `recv`, which would read a text of any length in one call.
        """
        data = await self.recv(decode=False)
        if self._kinds.popleft() is Opcode.BINARY:
            return None
        decoder, share = getincrementaldecoder("utf-8")(), Share()
        try:
            if len(data) <= AT_ONCE_BYTES:
                return data.decode()
            for at in range(0, len(data), PIECE_BYTES):
                decoder.decode(data[at : at + PIECE_BYTES], at + PIECE_BYTES >= len(data))
                await share.pause()
        except UnicodeDecodeError as error:
            self._refuse(f"sent text that is not UTF-8: {error.reason}", CloseCode.INVALID_DATA)
            return await self.heard()  # that it is closed
        return data

    def holds(self) -> bool:
        """See `Sliced`."""
        return self.recv_messages.paused

    def _refuse(self, words: str, code: int = CloseCode.POLICY_VIOLATION) -> None:
        """Close for what the peer sent; it is read no more."""
        self.refusal = words
        self.forget()
        self.protocol.fail(code, words)
        self.send_data()
        self.loop.call_later(_GONE_S, self.transport.abort)
