"""The replay server, heard by clients that do nothing but listen, and programs in a terminal."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest

from tests.benchmarks import esc_cost, processes
from tests.benchmarks.screen.replay_text import Kind, Wanted, pieces
from tests.benchmarks.screen.stand import Client, Sent, environment, stand
from tests.benchmarks.screen.terminal import Emulator, PseudoTerminal
from tests.benchmarks.worker import Worker
from tests.support.sockets import connection_to
from tui.core.wire import events
from tui.errors import DuettoError

pytestmark = pytest.mark.slow


@pytest.fixture
def server() -> Iterator[Worker]:
    worker = Worker("tests.benchmarks.screen.replay_server")
    yield worker
    worker.close()


def url_of(server: Worker, scheme: str = "http") -> str:
    return f"{scheme}://127.0.0.1:{server.greeting['port']}/v1"


async def sent(server: Worker, asked: Wanted) -> Sent:
    answer = await asyncio.to_thread(server.ask, number=asked.number, within_s=10.0)
    return msgspec.convert(answer["sent"], Sent)


@pytest.mark.parametrize("kind", ["text", "edit"])
async def test_an_answer_comes_by_websocket_at_its_rate(server: Worker, kind: Kind) -> None:
    asked = Wanted(2_000, 1_000, 1234, kind)
    connection, heard = connection_to(f"{url_of(server, 'ws')}/responses")
    await connection.open()
    connection.create({"model": "replay", "input": asked.go_word})
    await heard.has(events.Completed)
    deltas = [e.delta for e in heard.events if isinstance(e, events.TextDelta | events.InputDelta)]
    assert tuple(deltas) == pieces(asked)
    told = await sent(server, asked)
    assert (told.protocol, told.tokens, told.stopped_by) == ("websocket", len(deltas), "")
    # on time, however busy the machine: what it missed it makes up for
    assert (told.last_s or 0) - (told.first_s or 0) > 0.95 * len(deltas) / 2_000
    asked = Wanted(500, 5_000, 4321, "dense")
    heard.events.clear()
    connection.create({"model": "replay", "input": asked.go_word})
    await heard.has(events.TextDelta, 20)
    connection.interrupt()
    await heard.has(events.Incomplete)
    told = await sent(server, asked)
    assert (told.stopped_by, told.tokens < 5_000) == ("response.interrupt", True)
    await connection.close()


@pytest.mark.parametrize("path", ["responses", "chat/completions"])
async def test_an_answer_comes_by_sse_and_stops_with_the_client(server: Worker, path: str) -> None:
    asked, chat = Wanted(5_000, 500, 1111), path.startswith("chat")
    text = ""
    async for line in stream(server, path, asked):
        if line.get("choices") if chat else line["type"].endswith("output_text.delta"):
            text += line["choices"][0]["delta"].get("content", "") if chat else line["delta"]
    assert text == "".join(pieces(asked))
    told = await sent(server, asked)
    assert (told.protocol, told.ended) == ("chat" if chat else "sse", True)
    left = Wanted(100, 1_000, 2222)
    lines = stream(server, path, left)
    await anext(lines)
    await lines.aclose()
    assert (await sent(server, left)).stopped_by == "close"


async def stream(server: Worker, path: str, asked: Wanted) -> AsyncIterator[Any]:
    """The events of an answer."""
    body = {"model": "replay", "stream": True, "input": asked.go_word, "messages": []}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{url_of(server)}/{path}", json=body) as response,
    ):
        async for line in response.content:
            if line.startswith(b"data: {"):
                yield json.loads(line[6:])


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def shown(terminal: PseudoTerminal, word: str) -> str:
    """The screen once a word is there."""
    emulator = Emulator()
    for _ in range(1000):
        emulator.read(terminal.take())
        if word in emulator.text:
            break
        terminal.rest(0.02)
    assert word in emulator.text
    return emulator.text


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        (b"\x1b[6n", b"\x1b[1;1R"),
        (b"\x1b[?2026$p", b"\x1b[?2026;2$y"),
        (b"\x1b]11;?\x07", b"\x1b]11;rgb:0c0c/0c0c/0c0c\x1b\\"),
        (b"\x1b[18t", b"\x1b[8;40;120t"),
    ],
)
def test_a_program_may_ask_its_terminal_in_pieces(
    tmp_path: Path, query: bytes, answer: bytes
) -> None:
    code = f"""
import os, sys, time, tty
tty.setraw(0)
for byte in {list(query)!r}:
    os.write(1, bytes([byte])); time.sleep(0.002)
got = b""
while len(got) < {len(answer)}: got += os.read(0, 100)
os.write(1, b"got " + got.hex().encode() + b" end")
time.sleep(30)
"""
    with PseudoTerminal(python(code), environment({}), tmp_path) as terminal:
        assert f"got {answer.hex()} end" in shown(terminal, " end").replace("\n", "")


def test_a_daemon_that_left_its_family_counts_and_ends_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    (tmp_path / "daemon.py").write_text(
        "import os, time\nos.setsid()\n"
        "print(os.getpid(), os.environ.get('OPENAI_API_KEY'), 'end', flush=True)\ntime.sleep(60)\n"
    )
    begin = f"import subprocess, sys; subprocess.Popen([sys.executable, '{tmp_path}/daemon.py'])"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {begin!r}]); input()"
    terminal = PseudoTerminal(python(code), environment({}), tmp_path)
    try:
        pid, key, _ = shown(terminal, "end").split()
        family = terminal.processes()
        assert {terminal.pid, int(pid)} <= set(family)
        assert key == "None"
        assert processes.usage(family).rss_mb > processes.usage([int(pid)]).rss_mb > 3
    finally:
        terminal.close()
    assert not {terminal.pid, int(pid)} & {*processes.family(1, "")}


@pytest.mark.parametrize("code", ["print('no such model')", "raise SystemExit('no such model')"])
def test_a_client_that_ends_at_once_is_one_sentence(tmp_path: Path, code: str) -> None:
    client = Client("pi", tuple(python(code)), environment({}))
    said = pytest.raises(DuettoError, match=r"^pi has ended by itself: no such model$")
    with stand() as place, place.seat(client, tmp_path) as seat, said:
        seat.ready()


async def test_esc_reaches_the_wire_under_four_streams() -> None:
    presses, rate = await esc_cost.measure(5)
    assert all(one.written_ms >= 0 and one.read_ms >= 0 for one in presses)
    assert rate > 0
