"""The supervised bridge: started late, started again after a crash, never left behind."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from websockets.asyncio.client import connect

from tests.support.bridge_client import create, prose, specification, until
from tests.support.sse_upstream import completed, message, saying, serving
from tests.support.tables import each
from tui.core.wire.address import AUTHORITY_VARIABLES, Address
from tui.effects import bridge_process
from tui.effects.bridge_process import BridgeProcess
from tui.errors import EndpointError

pytestmark = pytest.mark.slow


@pytest.fixture
async def bridge() -> AsyncIterator[BridgeProcess]:
    process = BridgeProcess(['{"fast_tokens_s": 5000}'])
    yield process
    await process.close()


async def gone(pid: int) -> None:
    async with asyncio.timeout(60):
        while Path(f"/proc/{pid}/stat").exists() and _state(pid) != "Z":
            await asyncio.sleep(0.01)


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return "Z"


async def test_it_starts_when_it_is_asked_for_and_once(bridge: BridgeProcess) -> None:
    assert bridge.pid is None
    one, other = await asyncio.gather(bridge.address(), bridge.address())
    assert one == other
    assert one.url.startswith("ws://127.0.0.1:")
    assert one.headers["Authorization"].removeprefix("Bearer ") not in repr(one)
    async with connect(one.url, additional_headers=dict(one.headers), proxy=None):
        pass


async def test_a_bridge_that_hangs_is_replaced(
    bridge: BridgeProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, pid = await bridge.address(), bridge.pid
    assert await bridge.address() == before
    monkeypatch.setattr(bridge_process, "ANSWER_S", 0.2)
    monkeypatch.setattr(bridge_process, "GRACE_S", 0.1)
    os.kill(pid, signal.SIGSTOP)
    after = await bridge.address()
    assert after.url != before.url or after.headers != before.headers
    assert bridge.pid != pid
    await gone(pid)


async def test_after_a_crash_there_is_another_with_another_token(bridge: BridgeProcess) -> None:
    before = await bridge.address()
    os.kill(bridge.pid, signal.SIGKILL)
    await gone(bridge.pid)
    async with asyncio.timeout(60):
        while bridge.pid is not None:
            await asyncio.sleep(0.01)
    after = await bridge.address()
    assert after.headers != before.headers
    async with connect(after.url, additional_headers=dict(after.headers), proxy=None):
        pass


async def test_closing_ends_it(bridge: BridgeProcess) -> None:
    await bridge.address()
    pid = bridge.pid
    await bridge.close()
    assert bridge.pid is None
    assert _state(pid) == "Z"
    with pytest.raises(EndpointError):
        await bridge.address()


async def test_one_that_does_not_listen_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridge_process, "GRACE_S", 0.2)
    deaf = (
        "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        'print(\'{"url": "ws://127.0.0.1:1/v1/responses", "token": "t"}\', flush=True)\n'
        "time.sleep(60)"
    )
    process = BridgeProcess(command=[sys.executable, "-c", deaf])
    await process.address()
    pid = process.pid
    await process.close()
    assert _state(pid) == "Z"


async def test_ctrl_c_in_the_terminal_is_not_for_it(bridge: BridgeProcess) -> None:
    await bridge.address()
    assert os.getsid(bridge.pid) != os.getsid(0)


async def test_it_ends_when_the_app_is_killed(tmp_path: Path) -> None:
    app = (
        "import asyncio\nfrom tui.effects.bridge_process import BridgeProcess\n"
        "async def main():\n"
        "    bridge = BridgeProcess()\n"
        "    await bridge.address()\n"
        "    print(bridge.pid, flush=True)\n"
        "    await asyncio.sleep(60)\n"
        "asyncio.run(main())"
    )
    root = Path(bridge_process.__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", app], cwd=root, stdout=subprocess.PIPE, text=True
    ) as parent:
        pid = int(parent.stdout.readline())
        parent.kill()
    await gone(pid)


@each(
    "code, said",
    [
        ("print('hello')", "ended without an error message"),
        ("import sys; sys.exit('no room at all')", "no room at all"),
        ("print('[]')", "did not start"),
    ],
)
async def test_one_that_does_not_start_is_said_in_one_sentence(code: str, said: str) -> None:
    process = BridgeProcess(command=[sys.executable, "-c", code])
    with pytest.raises(EndpointError, match=said):
        await process.address()
    assert process.pid is None
    await process.close()


async def test_a_silent_one_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridge_process, "READY_DEADLINE_S", 0.2)
    process = BridgeProcess(command=[sys.executable, "-c", "import sys; sys.stdin.read()"])
    with pytest.raises(EndpointError, match="did not say"):
        await process.address()
    assert process.pid is None


async def test_no_program_is_one_sentence() -> None:
    process = BridgeProcess(command=["/nowhere/at/all"])
    with pytest.raises(EndpointError, match="cannot be started"):
        await process.address()


async def test_what_it_says_on_stderr_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    code = (
        "import sys\nprint('odd thing', file=sys.stderr, flush=True)\n"
        'print(\'{"url": "ws://127.0.0.1:1/v1/responses", "token": "t"}\', flush=True)\n'
        "sys.stdin.read()"
    )
    process = BridgeProcess(command=[sys.executable, "-c", code])
    with caplog.at_level(logging.WARNING, "tui.bridge_process"):
        await process.address()
        async with asyncio.timeout(60):
            while "odd thing" not in caplog.text:
                await asyncio.sleep(0.01)
    await process.close()


async def test_a_module_in_the_working_directory_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tui").mkdir()
    (tmp_path / "tui" / "__init__.py").write_text("raise SystemExit('hijacked')")
    (tmp_path / "json.py").write_text("raise SystemExit('hijacked')")
    monkeypatch.chdir(tmp_path)
    process = BridgeProcess()
    assert (await process.address()).url
    await process.close()


async def test_an_endpoint_is_relayed_and_its_key_is_on_no_command_line() -> None:
    key = "sk-on-no-command-line"
    async with serving(saying(message("relayed") + completed())) as upstream:
        given = Address(upstream.address.url.replace("http:", "ws:"), {"api-key": key})
        process = BridgeProcess(endpoints={"my/own": specification(given)})
        address = await process.address("my/own")
        assert address.headers == (await process.address()).headers
        shown = Path(f"/proc/{process.pid}/cmdline").read_bytes()
        shown += Path(f"/proc/{process.pid}/environ").read_bytes()
        assert key.encode() not in shown
        headers = dict(address.headers)
        async with connect(address.url, additional_headers=headers, proxy=None) as socket:
            await create(socket, "hi")
            assert prose(await until(socket)) == "relayed"
        assert upstream.headers[0]["api-key"] == key
        with pytest.raises(EndpointError, match="no endpoint"):
            await process.address("nobody")
        await process.close()


async def test_a_bridge_that_does_not_take_the_endpoints_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bridge_process, "READY_DEADLINE_S", 0.3)
    code = (
        'print(\'{"url": "ws://127.0.0.1:1/v1/responses", "token": "t"}\', flush=True)\n'
        "import sys\nsys.stdin.read()"
    )
    endpoints = {"x": specification(Address("http://127.0.0.1:9/v1/responses"))}
    process = BridgeProcess(command=[sys.executable, "-c", code], endpoints=endpoints)
    with pytest.raises(EndpointError, match="did not say"):
        await process.address("x")
    assert process.pid is None


def test_files_of_authorities_are_found_from_the_bridge_s_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in AUTHORITY_VARIABLES:
        monkeypatch.setenv(name, "own.pem")
    monkeypatch.setenv("SSL_CERT_DIR", f"one{os.pathsep}/two")
    told = bridge_process._moved(os.environ)
    assert {told[name] for name in AUTHORITY_VARIABLES[:1] + AUTHORITY_VARIABLES[2:]} == {
        str(tmp_path / "own.pem")
    }
    assert told["SSL_CERT_DIR"].split(os.pathsep) == [str(tmp_path / "one"), "/two"]


async def test_it_serves_more_while_it_runs_whoever_stops_waiting_for_that() -> None:
    process = BridgeProcess()
    spec = {"kind": "openai-chat", "url": "http://127.0.0.1:9/v1", "key_env": ""}
    try:
        await process.address()
        pid = process.pid
        for names in (("one", "two"), ("three",)):
            for name in names:
                process.serve_too({name: spec}, {})
                asking = asyncio.create_task(process.address(name))
                while not process.telling:
                    await asyncio.sleep(0)
                asking.cancel()
                await asyncio.gather(asking, return_exceptions=True)
        for name in ("one", "two", "three"):
            assert f"/endpoints/{name}/" in (await process.address(name)).url
        assert process.pid == pid
    finally:
        await process.close()
