"""The bridge as a process: its one line, and its two ways to end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from websockets.sync.client import connect

from tests.support.tables import each

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


def start(*flags: str, module: str = "tui.bridge") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", *module.split(), *flags],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def first_line(process: subprocess.Popen[str]) -> dict[str, str]:
    assert process.stdout is not None
    said = json.loads(process.stdout.readline())
    assert isinstance(said, dict)
    return said


@each(
    "module, flags",
    [
        ("tui.bridge", ['{"fast_tokens_s": 5000}']),
        ("tui.cli bridge", ["--port", "0", "--fast-rate", "5000"]),
    ],
)
def test_it_says_where_it_serves_and_ends_with_stdin(module: str, flags: list[str]) -> None:
    with start(*flags, module=module) as process:
        said = first_line(process)
        assert set(said) == {"url", "token"}
        assert len(said["token"]) >= 32
        headers = {"Authorization": f"Bearer {said['token']}"}
        with connect(said["url"], additional_headers=headers, proxy=None) as socket:
            socket.send('{"type":"response.create","model":"rehearsal-fast","input":"hello"}')
            kinds = []
            while not kinds or kinds[-1] != "response.completed":
                kinds.append(json.loads(socket.recv(timeout=60))["type"])
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(timeout=60) == 0
        assert process.stdout is not None
        assert process.stdout.read() == ""
        assert process.stderr is not None
        assert process.stderr.read() == ""


@each("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_the_middle_of_a_stream(number: signal.Signals) -> None:
    with start() as process:
        said = first_line(process)
        headers = {"Authorization": f"Bearer {said['token']}"}
        with connect(said["url"], additional_headers=headers, proxy=None) as socket:
            create = {"type": "response.create", "model": "rehearsal-fast@50"}
            socket.send(json.dumps({**create, "input": "rehearse 10000 tokens"}))
            while json.loads(socket.recv(timeout=60))["type"] != "response.output_text.delta":
                pass
            process.send_signal(number)
            assert process.wait(timeout=60) == 0


@pytest.mark.slow
def test_every_run_has_a_token_of_its_own() -> None:
    with start() as one, start() as other:
        assert first_line(one)["token"] != first_line(other)["token"]
        for process in (one, other):
            process.terminate()


def test_a_taken_port_is_one_sentence() -> None:
    with start() as first:
        port = first_line(first)["url"].split(":")[2].split("/")[0]
        with start("--port", port, module="tui.cli bridge") as second:
            assert second.wait(timeout=60) == 1
            assert second.stderr is not None
            complaint = second.stderr.read()
            assert f"port {port}" in complaint
            assert "Traceback" not in complaint
        first.terminate()


@each("flags", [("--fast-rate", "0"), ("--deep-rate", "20001"), ("--bogus",), ("--max-age", "0")])
def test_a_wrong_flag_is_a_usage_error(flags: tuple[str, ...]) -> None:
    with start(*flags, module="tui.cli bridge") as process:
        assert process.wait(timeout=60) == 2


def test_endpoints_come_on_stdin_and_a_wrong_line_gives_nothing_away() -> None:
    with start() as process:
        first_line(process)
        assert process.stdin is not None
        secret = {"kind": "openai-responses", "headers": {"api-key": "k-secret"}}
        address = {"url": "https://example.test/v1/responses", **secret}
        process.stdin.write(json.dumps({"endpoints": {"a b": address}}) + "\n")
        process.stdin.flush()
        said = json.loads(process.stdout.readline()) if process.stdout else {}
        assert list(said["endpoints"]) == ["a b"]
        assert said["endpoints"]["a b"].endswith("/v1/endpoints/a%20b/responses")
        clear = {"url": "http://example.test/v1/responses", **secret}
        for line in ("k-secret", '{"endpoints": 1}', json.dumps({"endpoints": {"c": clear}})):
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
            again = json.loads(process.stdout.readline()) if process.stdout else {}
            assert again == said
        process.stdin.close()
        assert process.wait(timeout=60) == 0
        assert process.stderr is not None
        complaints = process.stderr.read()
        assert complaints.count("not understood") == 2
        assert complaints.count("clear text") == 1
        assert "k-secret" not in complaints
        assert "Traceback" not in complaints


def test_the_command_takes_no_endpoints() -> None:
    with start(module="tui.cli bridge") as process:
        first_line(process)
        assert process.stdin is not None
        process.stdin.write('{"endpoints": {"a": {"url": "https://example.test/v1"}}}\n')
        process.stdin.close()
        assert process.wait(timeout=60) == 0
        assert process.stdout is not None
        assert process.stdout.read() == ""


def test_the_rehearsal_does_not_load_the_http_client() -> None:
    code = "import sys, tui.bridge.__main__; print('aiohttp' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert ran.stdout.strip() == "False"
