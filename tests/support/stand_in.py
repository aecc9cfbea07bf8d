"""A provider on loopback that stands in for a real one: a list of models, and Chat Completions."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

KEY = "sk-stand-in-correct-horse-battery"
NUMBERS = [f"{number}\n" for number in range(1, 41)]
MEASURED = re.compile(r"(?:\d tokens/s|too short to tell) \(80 tokens\)")
"""What is said of an answer; a busy machine may read all of it at once."""


@dataclass
class StandIn:
    """How it behaves, and what it has heard."""

    models: Sequence[str] = ("tiny-8b", "large-32b")
    key: str = KEY
    """Wanted of everybody; empty: none."""
    is_web_page: bool = False
    lists: bool = True
    holds: threading.Event = field(default_factory=threading.Event)
    """Until it is set nothing is answered."""
    between: Callable[[], object] = lambda: time.sleep(0.001)
    """Called, in a thread of its own, before each piece of an answer."""
    asked: list[str] = field(default_factory=list)
    """The models that were asked for an answer."""
    listless: int = 404
    """The status of its answer where it has no list to give."""
    port: int = 0

    def __post_init__(self) -> None:
        self.holds.set()

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"http://127.0.0.1:{self.port}/v1"

    def is_provider(self, home: Path, name: str = "mine", *, local: bool = False) -> None:
        """Be a provider of the user's own; ``local``: a server at its port."""
        folder = home / "providers"
        folder.mkdir(parents=True, exist_ok=True)
        variable = f'key_env = "{name.upper()}_API_KEY"\n' if self.key else ""
        port = f"port = {self.port}\n" if local else ""
        text = f'title = "Mine"\nkind = "openai-chat"\nurl = "{self.url}"\n{variable}{port}'
        (folder / f"{name}.toml").write_text(text)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    provider: StandIn


class _Handler(BaseHTTPRequestHandler):
    """Answers as the stand-in says."""

    server: _Server

    protocol_version = "HTTP/1.1"
    _model = ""

    def do_GET(self) -> None:
        self.server.provider.holds.wait(30)
        if self.server.provider.is_web_page:
            self._send(200, b"<html><h1>Welcome</h1></html>", "text/html")
        elif self._refused():
            self._send(401, b'{"error": {"message": "Incorrect API key provided"}}')
        elif not self.server.provider.lists:
            said = b'{"error": {"message": "not for this one"}}'
            self._send(self.server.provider.listless, said)
        else:
            data = [{"id": one, "context_window": 131072} for one in self.server.provider.models]
            self._send(200, json.dumps({"data": data}).encode())

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.provider.holds.wait(30)
        if self._refused():
            self._send(401, b'{"error": {"message": "Incorrect API key provided"}}')
            return
        self.server.provider.asked.append(body["model"])
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self._model = body["model"]
        for piece in NUMBERS:
            self.server.provider.between()
            self._event({"choices": [{"index": 0, "delta": {"content": piece}}]})
        self._event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        usage = {"prompt_tokens": 20, "completion_tokens": 80, "total_tokens": 100}
        self._event({"choices": [], "usage": usage})
        self.wfile.write(b"data: [DONE]\n\n")

    def _refused(self) -> bool:
        said = self.headers.get("Authorization", "")
        return bool(self.server.provider.key) and said != f"Bearer {self.server.provider.key}"

    def _event(self, event: dict[str, object]) -> None:
        whole = {"id": "c1", "object": "chat.completion.chunk", "model": self._model, **event}
        self.wfile.write(f"data: {json.dumps(whole)}\n\n".encode())
        self.wfile.flush()

    def _send(self, status: int, body: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


@contextmanager
def stand_in(provider: StandIn | None = None, *, key: str = KEY) -> Iterator[StandIn]:
    """One that listens."""
    provider = provider or StandIn(key=key)
    server = _Server(("127.0.0.1", 0), _Handler)
    server.provider, provider.port = provider, server.server_port
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield provider
    finally:
        provider.holds.set()
        server.shutdown()
        server.server_close()
