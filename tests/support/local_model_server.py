"""Stands in for `tui.bridge.local.serving`, without llama.cpp: it answers what it is told.

The file ``NAME.says`` beside the model has, as JSON, an answer for each request: text, which comes
character by character, each a token; ``null`` never comes, a number says that the request has so
many tokens, which are too many. What it was asked is put into
``NAME.asked``, a line each, and that a client went away before the end, too. One that is called
``slow`` has no end of loading before there is a file ``slow.loaded``; ``NAME.starts`` has a line
for each start.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, told: dict[str, Any]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        model = Path(told["file"])
        self.key = told["key"]
        self.says = json.loads(model.with_suffix(".says").read_text())
        self.count = itertools.count()
        self.asked = model.with_suffix(".asked").open("a")


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        known = self.headers["authorization"] == f"Bearer {self.server.key}"
        self._note({"path": self.path, "key": known, **body})
        text = self.server.says[next(self.server.count)]
        if isinstance(text, int):  # of so many tokens as it counts there is room for 4,000
            error = {"type": "exceed_context_size_error", "n_ctx": 4000, "n_prompt_tokens": text}
            self.send_response(400)
            self.end_headers()
            self.wfile.write(
                json.dumps({"error": {"code": 400, "message": "long", **error}}).encode()
            )
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        try:
            for number, sign in enumerate(text or " ", 1):
                self._chunk({"delta": {"content": sign}}, number)
            while text is None:  # an answer that never ends
                self._chunk({"delta": {"content": ""}}, 1)
                threading.Event().wait(0.01)
            self._chunk({"delta": {}, "finish_reason": "stop"}, len(text))
            self.wfile.write(b"data: [DONE]\n\n")
        except OSError:
            self._note({"left": True})
        self.close_connection = True

    def _chunk(self, choice: dict[str, Any], count: int) -> None:
        timings = {"prompt_n": 7, "cache_n": 3, "predicted_n": count}
        line = {"choices": [{"index": 0, **choice}], "timings": timings}
        self.wfile.write(f"data: {json.dumps(line)}\n\n".encode())

    def _note(self, what: dict[str, Any]) -> None:
        print(json.dumps(what), file=self.server.asked, flush=True)

    def log_message(self, *what: object) -> None:
        pass


if __name__ == "__main__":
    told = json.loads(sys.stdin.buffer.readline())
    if told["name"].startswith("unknown"):
        print("0.1 E load: unknown model architecture: 'zebra'", file=sys.stderr, flush=True)
        print(json.dumps({"error": "it failed"}), flush=True)
        sys.exit(1)
    if told["name"] == "broken":
        for why in (
            "chat_templates_init: error: Unexpected token: }} of type 11",
            "srv init: exiting",
        ):
            print(f"0.1 E {why}", file=sys.stderr, flush=True)
        print(json.dumps({"error": "it failed"}), flush=True)
        sys.exit(1)
    with Path(told["file"]).with_suffix(".starts").open("a") as starts:
        print(os.getpid(), file=starts)
    while told["name"] == "slow" and not Path(told["file"]).with_suffix(".loaded").exists():
        threading.Event().wait(0.01)
    serving = Server(told)
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    Path(told["file"]).with_suffix(".pid").write_text(str(os.getpid()))
    print(json.dumps({"url": f"http://127.0.0.1:{serving.server_port}"}), flush=True)
    while os.read(0, 4096):
        pass
    os._exit(0)
