"""Whole turns against servers of another make: interrupt, redirect, recovery, patches."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import DUETTO, clean_environment
from tests.support.composed import composed
from tests.support.floods import FLOODS, flooding
from tests.support.nasty_server import Nasty, nasty
from tests.support.nasty_steps import Close, Raw, Reset, Script, Step, Storm
from tests.support.seat import Seat
from tests.support.server_words import (
    added,
    begun,
    called,
    completed,
    created,
    delta,
    done,
    error,
    failed,
    function_call,
    incomplete,
    message,
    patch_call,
    spoken,
    turn,
)
from tests.support.turns import CACHE, PATCH
from tui.cli.options import ModelFlags
from tui.core.document.hunk import Stage
from tui.engine import intents, recovery
from tui.engine.requests import TurnLimits
from tui.engine.session import SessionOptions

pytestmark = pytest.mark.slow


READ = function_call("read_file", '{"path":"cache.py"}')
LIST = function_call("list", "{}", "call_2")
FINE = turn("fine", *spoken("fine", "msg_fine"))
NEXT = turn("next", *spoken("bye", "msg_next"))
DIFF = PATCH.split("cache.py\n", 1)[1].rsplit("*** End", 1)[0]
HOSTED = {
    "type": "apply_patch_call",
    "id": "apc_1",
    "call_id": "call_1",
    "status": "completed",
    "operation": {"type": "update_file", "path": "cache.py", "diff": DIFF},
}
HOSTED_DELTA = "response.apply_patch_call_operation_diff.delta"


def without(item: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name not in names}


def bare(text: str, **fields: Any) -> dict[str, Any]:
    return {"type": "response.output_text.delta", "delta": text, **fields}


@dataclass(frozen=True)
class Row:
    """A scenario and how it ends."""

    name: str
    script: Script
    outcome: str = "completed"
    said: str = "fine"
    """This is among what the model said."""
    trouble: str = ""
    """This is what the user is told; empty: nothing."""
    requests: int = 1
    connections: int = 1
    stages: tuple[Stage, ...] = ()
    unsent: bool = False
    """The prompt goes back to the prompt box."""


def gone(name: str, code: int, words: str, *, hopeless: bool = False) -> Row:
    """The socket is closed in the middle of a message, always."""
    count = 1 if hopeless else 6
    steps: list[Step] = [created(), delta("half"), Close(code)]
    return Row(name, [steps], "failed", "half", words, count, count, unsent=True)


def cut(name: str, *steps: Any, stages: tuple[Stage, ...] = (), said: str = "fine") -> Row:
    """The socket breaks once."""
    return Row(name, [[created(), *steps, Reset()], FINE], said=said, requests=2, connections=2,
               stages=stages)  # fmt: skip


def refused(name: str, event: dict[str, Any], words: str, requests: int = 1, **more: Any) -> Row:
    """The response ends in an error, always."""
    return Row(name, [[created(), event]], "failed", "", words, requests, unsent=True, **more)


def odd(name: str, *steps: Any, requests: int = 2, **more: Any) -> Row:
    """A response out of order; calls in it are answered."""
    return Row(name, [[created("resp_odd"), *steps, completed("resp_odd")], FINE],
               requests=requests, **more)  # fmt: skip


ROWS = [
    gone("close 1000", 1000, "closed the connection"),
    gone("close 1001", 1001, "going away"),
    gone("close 1008", 1008, "refuses to go on", hopeless=True),
    gone("close 1009", 1009, "too big", hopeless=True),
    gone("close 1011", 1011, "internal error"),
    Row("binary", [[created(), Raw(b"\0", binary=True)]], "failed", "", "binary", unsent=True),
    Row("not UTF-8", [[created(), Raw(b"\xff\xfe")]], "failed", "", "broke the", unsent=True),
    cut("reset in a patch", *begun(patch_call(PATCH), 0.7), stages=(Stage.REFUSED,)),
    cut("reset in arguments", *begun(READ, 0.6)),
    cut("reset in a message", *spoken("one", "msg_0"), delta("hal", "msg_2")),
    Row("close between rounds", [[*turn(1, *called(READ)), Close(1001)], FINE], requests=2,
        connections=2),
    Row("close after a call", [[created(), *called(READ), Close(1011)], FINE], requests=2,
        connections=2),
    Row("close after a patch", [[created(), *called(patch_call(PATCH)), Close(1011)], FINE],
        requests=2, connections=2, stages=(Stage.LANDED,)),
    Row("frames that are none", [[created(), *(Raw(text) for text in (
        b"no", b"[1]", b'"x"', b"null", b"{", b"{}", b'{"type":5}', b"[" * 200_000)),
        *spoken("fine"), completed()]]),
    odd("calls without ids", *(done(without(call, "id")) for call in (READ, LIST))),
    odd("calls without ids stream", *called(without(READ, "id")), *called(without(LIST, "id"))),
    odd("calls share an id", *called({**READ, "id": "x"}), *called({**LIST, "id": "x"})),
    odd("calls share a call id", *called(READ), *called({**LIST, "call_id": "call_1"})),
    odd("no call ids", done(without(LIST, "call_id")), done(
        {**patch_call(PATCH), "call_id": None}), stages=(Stage.LANDED,)),
    odd("a call is done twice", *called(READ), done(READ)),
    odd("a call without its end", *begun(READ)),
    odd("a call's end is empty", *begun(READ), done({**READ, "arguments": ""})),
    odd("a broken item", done({}), done({"type": None}), {"type": "response.output_item.done"},
        done({"type": "message", "content": [None, 5]}), requests=1, said=""),
    odd("two messages without ids", bare("one"), done(without(message("one"), "id")),
        bare("two"), done(without(message("two"), "id")), requests=1, said="one\ntwo"),
    odd("two messages share an id", *spoken("one"), *spoken("two"), requests=1, said="one\ntwo"),
    odd("deltas under another id", added(message("")), delta("fi", "a"), delta("ne", "b"),
        done(message("fine")), requests=1),
    odd("deltas only", delta("fine"), requests=1),
    Row("a delta before created", [[delta("fi"), created(), delta("ne"), completed()]]),
    Row("a patch before created", [[*begun(patch_call(PATCH)), created(),
        done(patch_call(PATCH)), completed()], FINE], requests=2, stages=(Stage.LANDED,)),
    Row("no response objects", [[{"type": "response.created"}, *spoken("fine"),
        {"type": "response.completed", "response": None}]]),
    Row("two ends", [[*turn(1, *called(READ)), completed("resp_1")], FINE], requests=2),
    Row("another id at the end", [[created(), *called(READ), completed("other")], FINE],
        requests=2),
    Row("no beginning", [[*spoken("fine"), completed()]]),
    Row("no beginning later", [turn(1, *called(READ)), [*spoken("fine"), completed("resp_2")]],
        requests=2),
    Row("ids nowhere", [[{"type": "response.created"}, *called(READ), {"type":
        "response.completed"}], [{"type": "response.created"}, *spoken("fine"), {"type":
        "response.completed"}]], requests=2),
    Row("begins twice", [[created("own_1"), created(), *spoken("fine"), completed("own_1")]]),
    Row("output at the end only", [[created(), completed(output=[message("fine")])]]),
    Row("calls at the end only", [[created(), completed(output=[READ])], FINE], requests=2),
    Row("a patch at the end only", [[created(), completed(output=[patch_call(PATCH)])], FINE],
        requests=2, stages=(Stage.LANDED,)),
    Row("nothing at all", [[created(), completed()]], said=""),
    odd("a storm", Storm({"type": "vendor.noise", "x": [1]}, 2000), *spoken("fine"), requests=1),
    refused("flat error", {"type": "error", "code": "bad", "message": "flat"}, "flat"),
    refused("error without a status", error(None, None, "why not"), "why not"),
    refused("error as a text", {"type": "error", "error": "a text"}, "a text"),
    refused("empty error", {"type": "error"}, "did not say why"),
    refused("message beside the error", {"type": "error", "error": {}, "message": "so"}, "so"),
    refused("number as a code", {"type": "error", "error": {"code": 429, "message": "slow"}},
            "slow", 6),
    refused("text as a status", {"type": "error", "status": "503", "error": {}}, "why", 6,
            connections=6),
    refused("a failure", failed("invalid_prompt", "no such thing"), "no such thing"),
    refused("a failure that passes", failed("server_error", "oops"), "oops", 6, connections=6),
    Row("retry-after", [[error(429, "rate_limit_exceeded", "x", headers={"Retry-After": "0.01"})],
        FINE], requests=2),
    Row("output limit in a patch", [[created(), *begun(patch_call(PATCH), 0.7),
        incomplete("max_output_tokens")]], "failed", "", "output limit", stages=(Stage.REFUSED,)),
    Row("content filter", [[created(), delta("some"), incomplete("content_filter")]], "failed",
        "some", "content filter"),
    Row("interrupted unasked", [[created(), delta("some"), incomplete("interrupted")]], "failed",
        "some", "interrupted it"),
    odd("refusal", {"type": "response.refusal.delta", "item_id": "m", "delta": "I cannot"},
        done({"type": "message", "id": "m", "content": [{"refusal": "I cannot"}]}), requests=1,
        said="I cannot"),
    odd("unknown tool", *called(function_call("rm_rf", "{}"))),
    odd("unknown custom tool", *called({**patch_call("ls"), "name": "shell"})),
    odd("broken arguments", *called(function_call("read_file", '{"path": "cac'))),
    odd("deep arguments", *called(function_call("read_file", "[" * 200_000))),
    odd("deep patch arguments", *called(function_call("apply_patch", "[" * 200_000))),
    odd("huge arguments", *called(function_call("read_file", json.dumps({"path": "x" * 900_000})))),
    odd("half a character", *called(function_call("read_file", '{"path":"\\ud800"}'))),
    odd("a path of 3,000 folders", *called(function_call("read_file",
        json.dumps({"path": "a/" * 3000})))),
    odd("arguments as an object", done({**READ, "arguments": {"path": "cache.py"}})),
    *(odd(f"patch as {name}", *called(function_call("apply_patch", json.dumps({name: PATCH}))),
        stages=(Stage.LANDED,)) for name in ("input", "patch", "diff")),
    odd("patch in an object", done({**function_call("apply_patch", ""),
        "arguments": {"input": PATCH}}), stages=(Stage.LANDED,)),
    odd("patch as a command", *called(function_call("apply_patch",
        json.dumps({"command": ["apply_patch", PATCH]})))),
    odd("hosted patch", added({**HOSTED, "operation": {"type": "update_file",
        "path": "cache.py"}}), {"type": HOSTED_DELTA, "item_id": "apc_1",
        "delta": DIFF}, done(HOSTED), stages=(Stage.LANDED,)),
    odd("two patches", *called(patch_call(PATCH)), *called(patch_call(PATCH, "call_2")),
        stages=(Stage.LANDED, Stage.REFUSED)),
    odd("fenced patch", *spoken(f"fine:\n```diff\n{PATCH}```\n"), requests=1,
        stages=(Stage.LANDED,)),
    Row("rounds without end", [[created(), *called(one), completed()] for one in (READ, LIST) * 3],
        "failed", "", "6 rounds", requests=6),
    Row("one call without end", [[created(), *called(READ), completed()]], "failed", "",
        "same call 3 times", requests=3),
    Row("not found, always", [[error(400, "previous_response_not_found", "gone")]], "failed", "",
        "gone", requests=2, unsent=True),
    Row("time is up, always", [[error(400, "websocket_connection_limit_reached", "60 minutes")]],
        "failed", "", "60 minutes", requests=7, connections=7, unsent=True),
]  # fmt: skip


@asynccontextmanager
async def at_work(tmp_path: Path, server: Nasty) -> AsyncIterator[Seat]:
    """A session over that server, in a workspace with one file."""
    root = tmp_path / "work"
    root.mkdir()
    (root / "cache.py").write_text(CACHE)
    async with nasty(server) as url:
        # what comes after the last try, HTTP+SSE, is told by tests/faults
        flags, options = (
            ModelFlags(endpoint=url, fast="m", deep="n"),
            SessionOptions(limits=TurnLimits(6)),
        )
        async with composed(root, flags=flags, options=options, transport="websocket") as (seat, _):
            yield seat


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
async def test_a_turn_ends_well(
    tmp_path: Path, row: Row, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(recovery, "FIRST_WAIT_S", 0.001)
    server = Nasty(row.script)
    async with at_work(tmp_path, server) as seat:
        status, workspace = seat.session.status, seat.session.workspace
        seat.session.submit(intents.Prompt("go"))
        await seat.idle()
        assert (status.outcome, status.unsent) == (row.outcome, "go" if row.unsent else "")
        assert row.said in seat.said()
        assert (len(server.requests), server.connections) == (row.requests, row.connections)
        assert tuple(hunk.stage for hunk in workspace.hunks) == row.stages
        told = [f"{trouble.what}: {trouble.why}" for trouble in seat.troubles]
        assert len(told) == bool(row.trouble)
        assert all(row.trouble in words for words in told)
        await next_turn(seat, server)
        assert not [block for block in seat.session.transcript.blocks if block.state == "open"]
    assert [fault for fault in server.faults if "twice" not in fault] == []
    assert (tmp_path / "work" / "cache.py").read_text() == CACHE
    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == []


async def next_turn(seat: Seat, server: Nasty) -> None:
    """The conversation goes on."""
    server.script = [*[[] for _ in server.requests], NEXT]
    seat.session.submit(intents.Prompt("and then"))
    await seat.idle()
    assert seat.session.status.outcome == "completed"
    assert seat.said().endswith("bye")


async def exec_over(tmp_path: Path, server: Nasty, *arguments: str) -> tuple[int | None, str, str]:
    """``duetto exec`` as a program; gives exit code, stdout and stderr."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "cache.py").write_text(CACHE)
    environment = {**os.environ, "DUETTO_HOME": str(tmp_path / "home"), "A_KEY": "sk-a-secret-key"}
    async with nasty(server) as url:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tui.cli", "exec", "go", "-C", str(tmp_path / "work"),
            "--endpoint", url, "--fast", "m", "--key-env", "A_KEY", *arguments,
            stdout=PIPE, stderr=PIPE, env=environment,
        )  # fmt: skip
        async with asyncio.timeout(60):
            out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


async def test_exec_tells_of_its_tries_and_writes_once(tmp_path: Path) -> None:
    broken: list[Step] = [
        created(),
        *begun(patch_call(PATCH), 0.7),
        Close(1011, "for sk-a-secret-key"),
    ]
    server = Nasty([broken, turn(2, *called(patch_call(PATCH, "call_2"))), FINE])
    code, out, err = await exec_over(tmp_path, server, "--apply")
    assert (code, out) == (0, "fine\n")
    assert "trying again (1 of 5)" in err
    assert "sk-a-secret-key" not in err
    text = (tmp_path / "work" / "cache.py").read_text()
    assert text.count("with self.lock") == 1
    assert server.faults == []


async def test_exec_with_nothing_whole_writes_nothing(tmp_path: Path) -> None:
    cut_short: list[Step] = [
        created(),
        *begun(patch_call(PATCH), 0.7),
        incomplete("max_output_tokens"),
    ]
    code, _, err = await exec_over(tmp_path, Nasty([cut_short]), "--apply")
    assert code == 1
    assert "output limit" in err
    assert (tmp_path / "work" / "cache.py").read_text() == CACHE


async def test_a_close_before_the_first_request_says_why(tmp_path: Path) -> None:
    server = Nasty([[]], on_connect=[Close(1008, "sk-a-secret-key is not welcome")])
    code, out, err = await exec_over(tmp_path, server)
    assert (code, out, server.connections) == (3, "", 1)
    assert err.count("\n") == 1
    assert "is not welcome" in err
    assert "secret" not in err


@contextmanager
def asking(tmp_path: Path, port: int, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """``duetto exec`` at work, some of whose answer has been written."""
    (tmp_path / "work").mkdir()
    url = f"ws://127.0.0.1:{port}/v1/responses"
    words = ["exec", "go", "-C", str(tmp_path / "work"), "--endpoint", url, "--fast", "m"]
    process = subprocess.Popen(
        [*DUETTO, *words, *options],
        env=clean_environment(tmp_path / "home"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        written = b""
        while b"start " not in written:
            more = os.read(process.stdout.fileno(), 4096)
            assert more, written
            written += more
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("name", ["unknown events", "text"])
def test_exec_is_ended_by_a_signal_under_a_flood(tmp_path: Path, name: str) -> None:
    with flooding(FLOODS[name]) as port, asking(tmp_path, port, "--json") as process:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=300)
        assert process.returncode == 130


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("pings", "more than 1,000 empty or control frames in a second"),
        ("many keys", "a message with more than 50,000 values"),
        ("large text", "The answer was stopped: it is longer than 4 MB"),
    ],
)
def test_exec_says_why_it_hears_no_more_of_a_flood(tmp_path: Path, name: str, why: str) -> None:
    with flooding(FLOODS[name]) as port, asking(tmp_path, port) as process:
        _, said = process.communicate(timeout=300)
        assert process.returncode == 1
        assert why in said.decode()
