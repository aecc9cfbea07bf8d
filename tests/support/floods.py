"""A server whose answer is a flood without end, one kind of frame each.

::

    with flooding(FLOODS["pings"]) as port: ...

or as a program, ``python -m tests.support.floods NAME [CERTIFICATE KEY]``: it prints its port and
serves until its stdin is closed. It is a thread a connection over plain sockets, because a server
of asyncio would spend its time on the frames that are to be measured at the other end.
"""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

from websockets.frames import Frame, Opcode
from websockets.utils import accept_key

_BLOCK_BYTES = 2**18


def framed(payload: bytes, opcode: Opcode = Opcode.TEXT, *, fin: bool = True) -> bytes:
    """A frame as a server sends it."""
    return Frame(opcode, payload, fin=fin).serialize(mask=False)


def said(**event: object) -> bytes:
    """An event of the protocol, as a frame."""
    return framed(json.dumps(event).encode())


def text(delta: str) -> bytes:
    """A piece of the answer."""
    kind = "response.output_text.delta"
    return said(type=kind, item_id="m", output_index=0, content_index=0, delta=delta)


@dataclass(frozen=True)
class Flood:
    """What comes again and again, and once before it."""

    again: bytes
    before: bytes = b""
    pause_s: float = 0.0
    """Between two times; 0: as much as can be sent."""

    @property
    def block(self) -> bytes:
        """As much as goes into one write."""
        return self.again * max(1, _BLOCK_BYTES // len(self.again))


_OPEN = framed(b'{"a":"', fin=False)
_KEYS = b",".join(b'"k%d":{"a":[[]]}' % number for number in range(30_000))
_CALL = {"type": "function_call", "id": "c", "call_id": "c", "name": "read_file", "arguments": ""}
FLOODS = {
    "pings": Flood(framed(b"", Opcode.PING)),
    "long pings": Flood(framed(b"p" * 125, Opcode.PING)),
    "pongs": Flood(framed(b"", Opcode.PONG)),
    "long pongs": Flood(framed(b"p" * 125, Opcode.PONG)),
    "pings in a message": Flood(framed(b"", Opcode.PING) + framed(b"x", Opcode.CONT, fin=False),
        before=_OPEN),
    "empty fragments": Flood(framed(b"", Opcode.CONT, fin=False), before=_OPEN),
    "tiny fragments": Flood(framed(b"x", Opcode.CONT, fin=False), before=_OPEN),
    "fragments": Flood(framed(b"x" * 4096, Opcode.CONT, fin=False), before=_OPEN),
    "empty messages": Flood(framed(b"")),
    "empty in pieces": Flood(framed(b"", fin=False) + framed(b"", Opcode.CONT)),
    "unknown events": Flood(said(type="x")),
    "no JSON": Flood(framed(b"{")),
    "large junk": Flood(framed(b'["' + b"a" * 2_000_000 + b'"]')),
    "deep": Flood(framed(b"[" * 500_000)),
    "deep and whole": Flood(framed(b'{"type":"response.completed","response":' + b'{"a":' * 900
        + b"1" + b"}" * 901)),
    "many keys": Flood(framed(b'{"type":"x",' + _KEYS + b"}")),
    "many keys at the end": Flood(framed(b'{"type":"response.queued","response":{' + _KEYS
        + b"}}")),
    "many values": Flood(framed(b'{"type":"x","a":[' + b"0," * 400_000 + b"0]}")),
    "large text": Flood(text("w " * 40_000)),
    "text": Flood(text("word ") * 49 + text("\n")),
    "lines": Flood(text("\n")),
    "arguments": Flood(said(type="response.function_call_arguments.delta", item_id="c",
        output_index=1, delta="x" * 40_000), before=said(type="response.output_item.added",
        output_index=1, item=_CALL)),
    "thoughts": Flood(said(type="response.reasoning_text.delta", item_id="r", output_index=0,
        delta="hm " * 10_000)),
    "items": Flood(said(type="response.output_item.added", output_index=5, item={"type":
        "message", "id": "n", "role": "assistant", "content": []})),
    "one message": Flood(framed(b'{"type":"x","a":"' + b"a" * 15_000_000 + b'"}')),
}  # fmt: skip
"""By what comes; each for ever, over an answer that has begun."""


class _Guest:
    """One connection."""

    def __init__(self, plug: socket.socket) -> None:
        self._plug, self._unread = plug, b""

    def serve(self, flood: Flood) -> None:
        """Let in, answer prewarms, flood the first request. Raises OSError."""
        head = self._until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        fields = dict(line.lower().split(": ", 1) for line in head if ": " in line)
        key = next(line for line in head if line.lower().startswith("sec-websocket-key"))
        answer = accept_key(key.partition(": ")[2])
        assert "upgrade" in fields
        self._plug.sendall(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Accept: {answer}\r\n\r\n".encode()
        )
        while True:
            event = self._event()
            if event.get("type") != "response.create":
                continue
            lane = {"stream_id": event["stream_id"]} if "stream_id" in event else {}
            begun = {"id": "r", "status": "in_progress", "output": []}
            self._plug.sendall(said(type="response.created", response=begun, **lane))
            if event.get("generate") is not False:
                break
            done = {"id": "r", "status": "completed", "output": []}
            self._plug.sendall(said(type="response.completed", response=done, **lane))
        self._plug.sendall(text("start ") + flood.before)
        threading.Thread(target=self._swallow, daemon=True).start()
        block, due_s = flood.block, time.monotonic()
        while True:
            self._plug.sendall(flood.again if flood.pause_s else block)
            due_s += flood.pause_s
            if flood.pause_s:
                time.sleep(max(due_s - time.monotonic(), 0.0))

    def _event(self) -> dict[str, object]:
        """The next text message of the client; what else it sends is passed over."""
        while True:
            first, size = self._bytes(2)
            size &= 0x7F
            if size > 125:
                size = int.from_bytes(self._bytes(2 if size == 126 else 8), "big")
            mask = self._bytes(4)
            payload = self._bytes(size)
            if first == 0x81:
                pad = mask * (size // 4 + 1)
                plain = int.from_bytes(payload, "big") ^ int.from_bytes(pad[:size], "big")
                event: dict[str, object] = json.loads(plain.to_bytes(size, "big"))
                return event

    def _until(self, end: bytes) -> bytes:
        while end not in self._unread:
            self._read()
        head, _, self._unread = self._unread.partition(end)
        return head

    def _bytes(self, size: int) -> bytes:
        while len(self._unread) < size:
            self._read()
        found, self._unread = self._unread[:size], self._unread[size:]
        return found

    def _read(self) -> None:
        data = self._plug.recv(65536)
        if not data:
            raise OSError("it is gone")
        self._unread += data

    def _swallow(self) -> None:
        with contextlib.suppress(OSError):
            while self._plug.recv(65536):
                pass


@contextlib.contextmanager
def flooding(flood: Flood, tls: ssl.SSLContext | None = None) -> Iterator[int]:
    """A server with this flood, in threads; its port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(plug: socket.socket) -> None:
        with contextlib.suppress(OSError), plug:
            _Guest(tls.wrap_socket(plug, server_side=True) if tls else plug).serve(flood)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                plug, _ = listener.accept()
                threading.Thread(target=serve, args=(plug,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.close()


def main() -> None:
    """Serve until stdin is closed."""
    name, *files = sys.argv[1:]
    tls = None
    if files:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(*files)
    with flooding(FLOODS[name], tls) as port:
        print(port, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
