from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from websockets.sync.server import ServerConnection, serve

from tests.support.server_words import created, error
from tests.support.sources import ROOT
from tui.cli import catalogue, doctor
from tui.cli.doctor import sandbox_findings, shadow_findings
from tui.cli.doctor_checks import PROXIES, surroundings
from tui.cli.main import run
from tui.core.programs import Launch, Sandbox
from tui.core.wire.address import AUTHORITY_VARIABLES
from tui.effects.commands.sandbox import (
    Bubblewrap,
    ConfinedCommand,
    NoSandbox,
    Tool,
    find_sandbox,
)
from tui.settings import Paths


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DUETTO_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-value")
    (tmp_path / "ws").mkdir()
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path / "ws")
    return tmp_path / "home"


def silent(connection: ServerConnection) -> None:
    for _ in connection:
        pass


def refusing(connection: ServerConnection) -> None:
    """Takes prewarms, and knows no model."""
    for text in connection:
        request = json.loads(text)
        lane = {"stream_id": request["stream_id"]} if "stream_id" in request else {}
        said = [error(404, "model_not_found", "There is no model m-\x1b[31m1.")]
        if request.get("generate") is False:
            end = {"type": "response.completed", "response": {"id": "resp_1", "output": []}}
            said = [created("resp_1"), end]
        for event in said:
            connection.send(json.dumps({**event, **lane}))


@contextmanager
def serving(handler: Callable[[ServerConnection], None]) -> Iterator[str]:
    """A WebSocket server in threads of its own; gives its address."""
    with serve(handler, "127.0.0.1", 0) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"ws://127.0.0.1:{running.socket.getsockname()[1]}/v1/responses"


@pytest.fixture
def server() -> Iterator[str]:
    """A WebSocket server that only answers pings."""
    with serving(silent) as address:
        yield address


def report(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, object]]:
    shown = capsys.readouterr().out
    assert "sk-secret" not in shown
    return {finding["check"]: finding for finding in json.loads(shown)["findings"]}


def exit_status(*arguments: str) -> int:
    return run(["doctor", *arguments])


@pytest.mark.slow
def test_the_rehearsal_is_reached(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_status("--json") == 0
    findings = report(capsys)
    assert findings["endpoint rehearsal"]["state"] == "ok"
    assert findings["endpoint rehearsal"]["round_trip_ms"] is not None
    assert "duetto connect" in str(findings["models"]["advice"])
    assert "OPENAI_API_KEY" in str(findings["keys"]["text"])


def test_an_endpoint_named_by_its_base_is_shown_as_it_is_dialled(
    server: str, capsys: pytest.CaptureFixture[str]
) -> None:
    base = server.replace("ws://", "http://").removesuffix("/responses")
    assert exit_status("--json", "--endpoint", f"{base}/", "--fast", "m") == 0
    assert str(report(capsys)["endpoint cli"]["text"]).startswith(f"{server} reached in ")


def test_a_broken_file_is_to_be_fixed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "config.toml").write_text("[models.fast]\nname = 3\n")
    assert exit_status() == 1
    shown = capsys.readouterr().out
    assert "config.toml line 2: models.fast.name: expected a string" in shown
    assert "1 to look at" in shown


def test_a_missing_key_is_to_be_fixed(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--endpoint", "wss://models.example/v1", "--fast", "m", "--key-env", "NONE_SUCH")
    assert exit_status("--json", *arguments) == 1
    assert "NONE_SUCH" in str(report(capsys)["models"]["text"])


def test_a_broken_workspace_file_is_to_be_fixed(capsys: pytest.CaptureFixture[str]) -> None:
    Path(".duetto").mkdir()
    Path(".duetto/config.toml").write_text('[models.fast]\nname = "m"\n')
    assert exit_status("--json") == 1
    assert report(capsys)["workspace"]["state"] == "fix"


def test_a_home_that_cannot_be_made_is_to_be_fixed(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "file").touch()
    monkeypatch.setenv("DUETTO_HOME", str(home / "file"))
    assert exit_status("--json") == 1
    findings = report(capsys)
    assert findings["state folder"]["state"] == findings["data folder"]["state"] == "fix"


def test_the_test_command_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("test_x.py").touch()
    assert exit_status("--json") == 0
    assert "pytest" in str(report(capsys)["tests"]["text"])


@pytest.fixture
def bridge(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The rehearsal as a server that one has to be told of; its token is in BRIDGE_TOKEN."""
    command = [sys.executable, "-m", "tui.cli", "bridge"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    )
    assert process.stdout is not None
    said = json.loads(process.stdout.readline())
    monkeypatch.setenv("BRIDGE_TOKEN", said["token"])
    yield said["url"]
    process.communicate(timeout=60)


@pytest.mark.slow
def test_what_is_known_is_learnt_by_a_probe_and_kept(
    bridge: str, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ("--endpoint", bridge, "--key-env", "BRIDGE_TOKEN", "--fast", "rehearsal-fast")
    assert exit_status("--json", *flags) == 0
    findings = report(capsys)
    assert "probe cli" not in findings
    assert "interrupt" not in str(findings["known of cli"]["facts"])
    assert exit_status("--json", "--probe", *flags) == 0
    findings = report(capsys)
    probe = str(findings["probe cli"]["text"])
    assert "lanes yes, prewarm yes; rehearsal-fast: interrupt yes, steer yes" in probe
    assert "asked 1 model for one short answer" in probe
    assert exit_status("--json", *flags) == 0
    known = report(capsys)["known of cli"]
    facts = known["facts"]
    assert isinstance(facts, dict)
    assert facts["interrupt rehearsal-fast"]["value"] is True
    assert facts["lanes"]["since"].startswith("20")
    assert "steer rehearsal-fast yes (since 20" in str(known["text"])


def test_an_endpoint_that_answers_nothing_is_probed_in_vain(
    server: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(catalogue, "STEP_S", 0.05)
    monkeypatch.setattr(catalogue, "SETTLE_S", 0.05)
    assert exit_status("--json", "--probe", "--endpoint", server, "--fast", "m") == 0
    probe = report(capsys)["probe cli"]
    assert probe["state"] == "note"
    assert "m said nothing within" in str(probe["text"])


@pytest.mark.slow
def test_an_endpoint_that_refuses_every_answer_is_not_well(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with serving(refusing) as address:
        flags = ("--endpoint", address, "--fast", "m-1", "--deep", "m-2")
        assert exit_status("--json", "--probe", *flags) == 1
        probe = report(capsys)["probe cli"]
        assert probe["state"] == "fix"
        assert str(probe["text"]).startswith("m-1 gives no answer: There is no model m-")
        assert "model's name" in str(probe["advice"])
        exit_status("--probe", *flags)
        assert "all is well" not in capsys.readouterr().out


def test_a_probe_does_not_ask_for_a_probe(capsys: pytest.CaptureFixture[str]) -> None:
    flags = ("--endpoint", "ws://127.0.0.1:9/v1/responses", "--fast", "m")
    assert exit_status("--json", "--probe", *flags) == 3
    assert report(capsys)["known of cli"]["advice"] == ""


def test_proxies_and_authorities_are_named_without_secrets(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in (*PROXIES, *AUTHORITY_VARIABLES, "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    assert exit_status("--json") == 0
    assert not {"proxies", "certificates"} & report(capsys).keys()
    monkeypatch.setenv("https_proxy", "http://me:hunter2@proxy.example:3128/?k=hunter2")
    monkeypatch.setenv("ALL_PROXY", "hunter2:hunter2@socks.example:1080")
    monkeypatch.setenv("NO_PROXY", "lan.example")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    assert exit_status("--json") == 1
    findings = report(capsys)
    proxies = str(findings["proxies"]["text"])
    assert "hunter2" not in str(findings)
    assert "https_proxy=http://proxy.example:3128" in proxies
    assert "socks.example:1080" in proxies
    assert "NO_PROXY=lan.example" in proxies
    assert findings["certificates"]["state"] == "fix"
    assert "SSL_CERT_FILE" in str(findings["certificates"]["advice"])


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("http://me:hun#ter2@proxy.example:3128", "http://proxy.example:3128"),
        ("http://me:12/hunter2@proxy.example", "http://proxy.example"),
        ("me:hun@ter2://x@proxy.example:1", "http://proxy.example:1"),
        ("http://me:hun?ter2@[::1]:3128/ter2", "http://[::1]:3128/ter2"),
        ("socks5://proxy.example", "socks5://proxy.example"),
    ],
)
def test_no_odd_password_of_a_proxy_is_shown(value: str, shown: str) -> None:
    (finding,) = surroundings({"HTTPS_PROXY": value})
    assert finding.text == f"HTTPS_PROXY={shown} (never for this machine)"


class Leaky:
    """It confines nothing."""

    sandbox = Sandbox(works=True, words="a sieve", leaves=frozenset({"hook"}))

    def launch(self, command: ConfinedCommand) -> Launch:
        return Launch(tuple(command.argv))


def findings(tool: Tool, monkeypatch: pytest.MonkeyPatch, folder: Path) -> list[tuple[str, str]]:
    monkeypatch.setattr(doctor, "find_sandbox", lambda *_: tool)
    paths = Paths.find({"DUETTO_HOME": str(folder)})
    return [(one.state, one.text) for one in sandbox_findings(folder, paths, probe=True)]


def test_without_a_sandbox_it_says_what_happens_instead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = NoSandbox("no sandbox: bubblewrap is not installed")
    (found,) = findings(tool, monkeypatch, tmp_path)
    assert found == (
        "note",
        "no sandbox: bubblewrap is not installed; commands are asked about",
    )


async def test_it_says_what_shadows_there_are(tmp_path: Path) -> None:
    paths = Paths.find({"DUETTO_HOME": str(tmp_path / "home")})
    (tmp_path / "work").mkdir()
    (found,) = await shadow_findings(tmp_path / "work", paths)
    assert found.check == "shadow"
    assert "own path" in found.text or "another folder" in found.text or found.state == "note"
    (none,) = await shadow_findings(Path("/proc/self"), paths)
    assert none.state == "note"
    assert none.text.endswith("; tests run on the disk only")


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux only")
def test_the_probe_finds_every_way_out_of_a_sieve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    _, *tried = findings(Leaky(), monkeypatch, tmp_path)
    held = [text for state, text in tried if state == "ok"]
    # both hold without a sandbox, too
    assert held == ["held: find a key in the environment", "held: leave a process behind"]
    # what its words say is no news: it does not make the machine a sick one
    assert [text for state, text in tried if state == "note"] == ["open: plant a git hook"]
    assert not list(tmp_path.glob(".duetto-*"))


@pytest.mark.slow
def test_the_probe_finds_none_in_bubblewrap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not isinstance(find_sandbox(str(tmp_path)), Bubblewrap):
        pytest.skip("bubblewrap is not here, or does not work")
    paths = Paths.find({"DUETTO_HOME": str(tmp_path / "home")})
    _, *tried = sandbox_findings(tmp_path, paths, probe=True)
    assert {one.state for one in tried} == {"ok"}
    assert len(tried) == 15
