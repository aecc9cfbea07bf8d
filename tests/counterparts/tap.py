"""A tap on the line between a WebSocket client and its server: bytes pass as they are, frames are
written down. It sees what neither end tells: whether a socket was closed or just dropped.

    with Tap("127.0.0.1", port) as tap:
        ...  # the client dials tap.port
        tap.wait(lambda n: n.kind == "text" and n.sender == "client")
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Note:
    """One thing that happened on the line."""

    sender: str
    """``client`` or ``server``."""
    connection: int
    kind: str
    """``open`` (the client's handshake), ``vain`` (the same, while there was no server), ``text``, ``binary``, ``close``, ``end`` (of the TCP
    stream, in data: ``eof`` or ``reset``)."""
    data: Any
    """The event of a text frame; the code of a close frame; the head of a handshake."""
    at_s: float

    def says(self, kind: str) -> bool:
        """Whether it is an event of this type."""
        return self.kind == "text" and isinstance(self.data, dict) and self.data.get("type") == kind


class Frames:
    """Takes one direction's bytes apart: the HTTP head, then WebSocket frames."""

    def __init__(self, note: Callable[[str, Any], None]) -> None:
        self._note = note
        self._bytes = bytearray()
        self._upgraded = False
        self._message = b""

    def feed(self, data: bytes) -> None:
        self._bytes += data
        if not self._upgraded:
            end = self._bytes.find(b"\r\n\r\n")
            if end < 0:
                return
            self._note("open", self._bytes[:end].decode("latin-1"))
            del self._bytes[: end + 4]
            self._upgraded = True
        while self._frame():
            pass

    def _frame(self) -> bool:
        data = self._bytes
        if len(data) < 2:
            return False
        size, at = data[1] & 0x7F, 2
        extra = {126: 2, 127: 8}.get(size, 0)
        masked = bool(data[1] & 0x80)
        if len(data) < at + extra + 4 * masked:
            return False
        if extra:
            size = int.from_bytes(data[at : at + extra], "big")
        at += extra
        mask = bytes(data[at : at + 4]) if masked else b""
        at += len(mask)
        if len(data) < at + size:
            return False
        payload = bytes(data[at : at + size])
        if mask:
            stretched = (mask * (size // 4 + 1))[:size]
            payload = (int.from_bytes(payload, "big") ^ int.from_bytes(stretched, "big")).to_bytes(
                size, "big"
            )
        first = data[0]
        del data[: at + size]
        self._take(first, payload)
        return True

    def _take(self, first: int, payload: bytes) -> None:
        opcode = first & 0x0F
        if opcode == 8:
            self._note("close", int.from_bytes(payload[:2], "big") if payload else 1005)
        elif opcode in (0, 1, 2):
            self._message += payload
            if first & 0x80:
                message, self._message = self._message, b""
                if opcode == 2 or first & 0x40:
                    self._note("binary", len(message))
                    return
                try:
                    self._note("text", json.loads(message))
                except ValueError:
                    self._note("text", message.decode("utf-8", "replace"))


class Tap:
    """Listens on a free port and passes everything on to a server."""

    def __init__(self, host: str, port: int) -> None:
        self.notes: list[Note] = []
        self.port = 0
        self._target = (host, port)
        self._changed = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._connections = 0
        self._writers: set[asyncio.StreamWriter] = set()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Tap:
        self._thread.start()
        with self._changed:
            self._changed.wait_for(lambda: self.port, 10)
        return self

    def __exit__(self, *exc: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def wait(
        self, wanted: Callable[[Note], bool], what: str, timeout_s: float = 30.0, since: int = 0
    ) -> Note:
        """The first note from number ``since`` on that is wanted. Raises TimeoutError."""
        found: list[Note] = []

        def there() -> bool:
            found[:] = [note for note in self.notes[since:] if wanted(note)][:1]
            return bool(found)

        with self._changed:
            if not self._changed.wait_for(there, timeout_s):
                raise TimeoutError(f"{what} did not come within {timeout_s:g} s")
        return found[0]

    def count(self, wanted: Callable[[Note], bool], since: int = 0) -> int:
        """How many notes are wanted."""
        with self._changed:
            return sum(wanted(note) for note in self.notes[since:])

    def dump(self) -> str:
        """The notes as text, deltas left out, for a failure's report."""
        lines = []
        for note in list(self.notes):
            data = note.data
            if isinstance(data, dict):
                if "delta" in str(data.get("type")):
                    continue
                data = {k: v for k, v in data.items() if k not in ("tools", "instructions")}
                data = json.dumps(data)
            lines.append(f"{note.at_s:.2f} {note.sender} {note.connection} {note.kind} {data}"[:400])
        return "\n".join(lines)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            asyncio.start_server(self._pass_on, "127.0.0.1", 0)
        )
        with self._changed:
            self.port = server.sockets[0].getsockname()[1]
            self._changed.notify_all()
        self._loop.run_forever()
        server.close()
        for writer in self._writers:
            writer.transport.abort()
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self._loop.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        number = self._connections
        try:
            there, back = await asyncio.open_connection(*self._target)
        except OSError:
            with contextlib.suppress(TimeoutError, OSError):
                head = await asyncio.wait_for(reader.read(65536), 1)
                self._note(Note("client", number, "vain", head.decode("latin-1"), time.monotonic()))
            writer.close()
            return
        self._writers |= {writer, back}
        # cancelled only when the tap ends; the callback of start_server would shout about it
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(
                self._pipe("client", number, reader, back),
                self._pipe("server", number, there, writer),
            )

    def _note(self, note: Note) -> None:
        with self._changed:
            self.notes.append(note)
            self._changed.notify_all()

    async def _pipe(
        self, sender: str, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        def note(kind: str, data: Any) -> None:
            self._note(Note(sender, number, kind, data, time.monotonic()))

        frames, end = Frames(note), "eof"
        try:
            while data := await reader.read(65536):
                frames.feed(data)
                writer.write(data)
                await writer.drain()
        except (ConnectionError, OSError):
            end = "reset"
        note("end", end)
        if end == "reset":
            writer.transport.abort()
        elif writer.can_write_eof():
            try:
                writer.write_eof()
            except OSError:
                writer.transport.abort()
