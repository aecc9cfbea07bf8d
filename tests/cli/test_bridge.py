from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from websockets.asyncio.client import connect

from tests.support.bridge_client import create, prose, until
from tests.support.commands import DUETTO, clean_environment
from tests.support.endpoint_servers import HttpServer, Say, Script
from tests.support.endpoint_servers_chat import Chat
from tests.support.sources import ROOT
from tui.bridge import __main__ as bridge_main
from tui.bridge.endpoints.base import Target
from tui.bridge.rehearsal.endpoint import Rehearsal
from tui.bridge.team.metrics import Metrics, exposition
from tui.cli.bridge import bridge_command, token_group
from tui.errors import UsageError

AGES: list[float | None] = []
"""What the last servers were told of the age of connections."""
TARGETS: list[Mapping[str, Target]] = []
"""What they were told to serve."""


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[Rehearsal, int]]:
    calls: list[tuple[Rehearsal, int]] = []

    def fake(
        rehearsal: Rehearsal,
        port: int = 0,
        *,
        max_age_s: float | None = None,
        targets: Mapping[str, Target],
    ) -> int:
        calls.append((rehearsal, port))
        AGES.append(max_age_s)
        TARGETS.append(targets)
        return 1 if port == 1 else 0

    monkeypatch.setenv("DUETTO_HOME", str(tmp_path))
    monkeypatch.setattr(bridge_main, "serve", fake)
    return calls


def test_the_age_of_connections(served: list[tuple[Rehearsal, int]]) -> None:
    assert CliRunner().invoke(bridge_command, ["--max-age", "2.5"]).exit_code == 0
    assert AGES[-1] == 2.5


def test_what_only_a_team_needs_is_said_where_it_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DUETTO_HOME", str(tmp_path))
    monkeypatch.setattr("tui.cli.bridge.find_spec", lambda name: None)
    ran = CliRunner().invoke(bridge_command, ["--listen", "127.0.0.1:0"])
    assert isinstance(ran.exception, UsageError)
    assert str(ran.exception).endswith("pip install 'duetto[team]'")


def test_a_failure_to_listen_is_an_exit_code(served: list[tuple[Rehearsal, int]]) -> None:
    assert CliRunner().invoke(bridge_command, ["--port", "1"]).exit_code == 1


def test_the_users_own_endpoints_are_served_with_their_keys(
    served: list[tuple[Rehearsal, int]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        'schema = 1\n[endpoints.near]\nkind = "openai-chat"\nurl = "https://a.test/v1"\n'
        'key_env = "NEAR_KEY"\n'
    )
    monkeypatch.setenv("NEAR_KEY", "near-key-of-a-test")
    monkeypatch.setenv("GROQ_API_KEY", "groq-key-of-a-test")
    ran = CliRunner().invoke(bridge_command, ["--config", str(own), "--endpoint", "groq"])
    assert ran.exit_code == 0, ran.output
    targets = TARGETS[-1]
    assert sorted(targets) == ["groq", "near"]
    assert targets["near"].address.headers["Authorization"] == "Bearer near-key-of-a-test"
    assert targets["groq"].address.headers["Authorization"] == "Bearer groq-key-of-a-test"
    assert "key-of-a-test" not in ran.output + repr(targets)


def test_a_key_that_is_missing_is_told(
    served: list[tuple[Rehearsal, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GROQ_API_KEY", raising=False)
    ran = CliRunner().invoke(bridge_command, ["--endpoint", "groq", "--endpoint", "ollama"])
    assert ran.exit_code == 0
    assert "ollama" not in ran.output  # which needs none
    assert "no key for groq: GROQ_API_KEY is not set" in ran.output


TEAM = (ROOT / "docs" / "team.md").read_text()


def test_the_flags_in_the_teams_docs_are_flags() -> None:
    def flags(command: click.Command) -> set[str]:
        return {flag for option in command.params for flag in option.opts if flag[:2] == "--"}

    known = flags(bridge_command).union(*map(flags, token_group.commands.values()))
    ours = re.sub(r"```console\n\$ vllm.*?```", "", TEAM, flags=re.S)
    ours = "\n".join(line for line in ours.splitlines() if not line.startswith(("RUN", "#")))
    said = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", ours))
    assert said <= known
    team = {flag for flag in known if flag in flags(token_group.commands["add"])}
    assert team <= said
    assert {"--listen", "--tls-cert", "--tls-key", "--behind-tls", "--log", "--drain"} <= said


def test_the_figures_in_the_teams_docs_are_figures() -> None:
    metrics = Metrics()
    gauges = re.findall(r'^ {4}"(\w+)": "', (ROOT / "tui/bridge/team/metrics.py").read_text(), re.M)
    page = exposition(metrics, dict.fromkeys(gauges, 0.0))[0].decode()
    names = set(re.findall(r"^# TYPE (duetto_\w+)", page, re.M))
    assert set(re.findall(r"duetto_[a-z_]+[a-z]", TEAM)) - {"duetto_tokens"} == names


pytestmark = pytest.mark.slow

KEY = "near-key-0123456789"


async def test_another_program_asks_the_users_endpoint_through_it(tmp_path: Path) -> None:
    async with HttpServer(Chat()).serving() as near:
        near.scripts = [Script([Say("Good morning.")])]
        (tmp_path / "config.toml").write_text(
            'schema = 1\n[endpoints.near]\nkind = "openai-chat"\n'
            f'url = "{near.url}"\nkey_env = "NEAR_KEY"\n'
        )
        process = await asyncio.create_subprocess_exec(
            *DUETTO,
            "bridge",
            cwd=tmp_path,
            env=clean_environment(tmp_path) | {"NEAR_KEY": KEY},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert process.stdout is not None
        assert process.stdin is not None
        said = json.loads(await process.stdout.readline())
        headers = {"Authorization": f"Bearer {said['token']}"}
        async with connect(said["url"], additional_headers=headers, proxy=None) as socket:
            await create(socket, "hello", model="near/anything")
            assert prose(await until(socket)) == "Good morning."
            await create(socket, "hello", model="rehearsal-fast")
            assert "rehearsal model" in prose(await until(socket))
        assert near.requests[0].headers["authorization"] == f"Bearer {KEY}"
        assert said["token"] not in str(near.requests)
        process.stdin.close()
        async with asyncio.timeout(60):
            assert await process.wait() == 0
