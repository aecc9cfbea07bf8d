"""A real llama.cpp server behind the bridge: its Python with xllamacpp. See checks.py."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bridges import ROOT, answers, bridge, free_port, running
from checks import finish, scenario, want
from talk import Talk, deltas

interpreter = sys.argv[1]
SERVERS = Path(__file__).resolve().parents[1] / "servers"
CONTEXT = 4096


@contextlib.contextmanager
def server() -> Iterator[tuple[str, Path]]:
    """llama.cpp with the tiny model; gives the base URL and what it logs."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        model, log, port = Path(folder) / "tiny.gguf", Path(folder) / "log", free_port()
        subprocess.run([interpreter, str(SERVERS / "tiny_model.py"), str(model)], check=True)
        with log.open("wb") as said:
            script = str(SERVERS / "llamacpp_server.py")
            command = [interpreter, script, str(model), str(port), str(CONTEXT)]
            with running(command, stdout=said, stderr=subprocess.STDOUT):
                answers(f"http://127.0.0.1:{port}/v1/models", 60)
                yield f"http://127.0.0.1:{port}/v1", log


def played(bases: dict[str, str], token: str) -> None:
    talk = Talk(bases["llama"], token, "tiny")
    with scenario("llama.cpp: streamed text and usage"):
        talk.create("hello", max_output_tokens=200)
        events = talk.until()
        end = events[-1]["response"]
        want(events[-1]["type"] == "response.incomplete", str(events[-1]))
        want(end["incomplete_details"]["reason"] == "max_output_tokens", str(end))
        text = "".join(deltas(events))
        want(len(deltas(events)) > 20 and text.count("word") == 200, f"{len(text)}: {text[:90]}")
        want(end["output"][0]["content"][0]["text"] == text, "the item differs from its deltas")
        want(end["usage"]["output_tokens"] > 0, str(end["usage"]))
    with scenario("llama.cpp: the chain goes on"):
        talk.create("more", max_output_tokens=5, previous_response_id=end["id"])
        more = talk.until()[-1]["response"]
        want(more["previous_response_id"] == end["id"], str(more))
    with scenario("llama.cpp: an interrupt ends it there, and it is free at once"):
        talk.create("a long story", max_output_tokens=3500)
        begun = talk.until("response.output_text.delta")
        told = {"response_id": begun[0]["response"]["id"], "mode": "discard_partial_items"}
        talk.say("interrupt", **told)
        start_s = time.monotonic()
        events = [*begun, *talk.until()]
        took_s = time.monotonic() - start_s
        kinds = [event["type"] for event in events]
        want("response.interrupt.accepted" in kinds, str(kinds[-5:]))
        end = events[-1]["response"]
        want(end["incomplete_details"] == {"reason": "interrupted"}, str(end))
        want(end["usage"]["output_tokens"] > 0, str(end["usage"]))
        want("".join(deltas(events)).count("word") < 3000, "it was not stopped")
        want(took_s < 1, f"it took {took_s:.2f} s")
        talk.create("again", max_output_tokens=5)
        want(talk.until()[-1]["type"] == "response.incomplete", "it does not answer any more")
    with scenario("llama.cpp: steering goes on by itself"):
        talk.create("a long story", max_output_tokens=3000)
        first = talk.until("response.output_text.delta")[0]["response"]["id"]
        talk.say("steer", previous_response_id=first, input="shorter")
        talk.until("response.steer.accepted")
        talk.until("response.incomplete")
        successor = talk.until("response.created")[-1]["response"]
        want(successor["previous_response_id"] == first, str(successor))
        talk.until()
    with scenario("llama.cpp: more than its context is one error, and says so if it is known"):
        # the server itself breaks off without a word
        talk.create("word " * 3 * CONTEXT, max_output_tokens=5)
        (error,) = [e for e in talk.until() if e["type"] in ("error", "response.failed")]
        known = Talk(bases["known"], token, "tiny")
        known.create("word " * 3 * CONTEXT, max_output_tokens=5)
        (error,) = [e for e in known.until() if e["type"] in ("error", "response.failed")]
        want("context" in json.dumps(error), str(error))


def executed(url: str) -> None:
    with scenario("llama.cpp: duetto exec by the base URL"):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "tui.cli", "exec", "--endpoint", url, "--fast", "tiny"]
            done = subprocess.run(
                [*command, "hello"],
                cwd=folder, capture_output=True, text=True, timeout=120,
                env={**os.environ, "PYTHONPATH": str(ROOT), "DUETTO_HOME": folder},
            )  # fmt: skip
        want("word" in done.stdout, f"exit {done.returncode}: {done.stdout[-300:]}{done.stderr[-600:]}")


with server() as (url, _log):
    told = {"kind": "openai-chat", "url": url}
    known = {**told, "models": {"tiny": {"context_window": CONTEXT}}}
    with bridge({"llama": told, "known": known}) as (bases, token):
        played(bases, token)
    executed(url)
finish()
