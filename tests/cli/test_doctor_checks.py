"""What the doctor says reads well in a terminal, and is one line each for programs."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.support.gguf import gguf
from tui.cli import endpoints
from tui.cli.doctor_checks import (
    CheckResult,
    background,
    endpoint_findings,
    key_findings,
    outdated_findings,
    provider_findings,
    signs,
    tmux_findings,
)
from tui.cli.models import SessionSetup, resolve
from tui.cli.options import ModelFlags
from tui.core.wire.endpoint_facts import Capabilities
from tui.effects.known_endpoints import KnownEndpoints
from tui.settings import Paths, Settings, parse
from tui.ui.terminal.facts import TerminalFacts, find

TOO_LONG = CheckResult(
    "tmux", "note", "extended-keys off, set-clipboard external", "set -s " + "x " * 40
)


def test_a_path_is_never_broken_and_a_pipe_gets_whole_lines() -> None:
    path = "/" + "folder/" * 20
    assert path in CheckResult("data folder", "ok", path).told(60)
    assert TOO_LONG.told(None).count("\n") == 1
    assert TOO_LONG.told(20) == TOO_LONG.told(None)


def test_facts_come_with_their_source() -> None:
    facts = find({"TERM": "linux", "LANG": "C"})
    assert signs(facts) == "ASCII only (LANG=C)"
    assert background(facts) == "dark (TERM=linux)"
    measured = replace(find({"LANG": "C.UTF-8"}), why_ambiguous="measured")
    assert signs(measured) == (
        "Unicode (LANG=C.UTF-8); signs of open width are one cell wide (measured)"
    )


def test_what_is_not_known_names_the_setting() -> None:
    assert "[screen] background" in background(TerminalFacts())


GOOD = {
    "escape-time": "10",
    "extended-keys": "on",
    "set-clipboard": "on",
    "allow-passthrough": "off",
    "focus-events": "on",
}
INSIDE = {"TMUX": "/tmp/tmux-0/default,1,0"}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({}, ""),
        ({"set-clipboard": "external", "allow-passthrough": "on"}, ""),
        ({"escape-time": "500"}, "set -s escape-time 10"),
        ({"extended-keys": "off"}, "set -s extended-keys on"),
        ({"focus-events": "off"}, "set -g focus-events on"),
        ({"set-clipboard": "external"}, "set -s set-clipboard on"),
    ],
)
def test_what_holds_duetto_up_is_told(changed: dict[str, str], told: str) -> None:
    (finding,) = tmux_findings(INSIDE, lambda name: (GOOD | changed)[name])
    assert finding.state == ("note" if told else "ok")
    assert told in finding.advice
    assert finding.text.isprintable()


def test_a_tmux_that_does_not_answer_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert list(tmux_findings(INSIDE)) == []


def test_tmux_is_asked_by_its_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "tmux"
    program.write_text('#!/bin/sh\n[ "$3" = escape-time ] && echo 500 || echo on\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    (finding,) = tmux_findings(INSIDE)
    assert finding.text == "escape-time 500 ms, extended-keys on, set-clipboard on"
    assert finding.state == "note"


KEY = "sk-correct-horse-battery"
LISTED = {"data": [{"id": "tiny", "max_model_len": 8192}, {"id": "large", "max_model_len": 131072}]}


@contextlib.asynccontextmanager
async def serving(pages: dict[str, Any], status: int = 200) -> AsyncIterator[str]:
    """A server of JSON pages by path; gives its base URL."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                path = head.split(b" ")[1].partition(b"?")[0].decode()
                said = status if path in pages else 404
                body = json.dumps(pages.get(path, {})).encode()
                lines = f"HTTP/1.1 {said} X\r\nContent-Type: application/json\r\n"
                writer.write(f"{lines}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


async def found(
    url: str, home: Path, monkeypatch: pytest.MonkeyPatch, model: str = "tiny", more: str = ""
) -> list[CheckResult]:
    monkeypatch.setenv("HERE_KEY", KEY)
    text = f'[endpoints.here]\nkind = "openai-chat"\nurl = "{url}"\nkey_env = "HERE_KEY"\n{more}\n'
    settings = parse(f'{text}[models.fast]\nname = "{model}"\nendpoint = "here"\n', "FILE")
    paths = Paths.find({"DUETTO_HOME": str(home)})
    models = resolve(settings, ModelFlags(), {"HERE_KEY": KEY}, paths)
    findings = await provider_findings(SessionSetup(home, settings, models, paths))
    assert KEY not in str(findings)
    return findings


def told(findings: list[CheckResult]) -> list[tuple[str, str]]:
    return [(one.check, one.state) for one in findings]


async def test_models_are_counted_and_a_small_window_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving({"/v1/models": LISTED}) as url:
        small = await found(url, tmp_path, monkeypatch)
        large = await found(url, tmp_path, monkeypatch, "large")
    assert told(small) == [("models of here", "ok"), ("window of tiny", "note")]
    assert small[0].text == "2 models (openai-chat)"
    assert "8,192" in small[1].text
    assert told(large) == [("models of here", "ok"), ("window of large", "ok")]


async def test_a_model_that_is_not_there_is_named_with_its_neighbours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving({"/v1/models": LISTED}) as url:
        findings = await found(url, tmp_path, monkeypatch, "tinny")
    assert told(findings)[1] == ("models of here", "fix")
    assert "did you mean tiny" in findings[1].text


@pytest.mark.parametrize(("status", "state"), [(401, "fix"), (302, "fix"), (500, "note")])
async def test_what_the_provider_refuses_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int, state: str
) -> None:
    page = {"error": {"message": f"no such key: {KEY}", "code": "invalid_api_key"}}
    async with serving({"/v1/models": page}, status) as url:
        findings = await found(url, tmp_path, monkeypatch)
    assert told(findings) == [("models of here", state)]


async def test_nobody_there_is_unreachable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving({}) as url:
        pass
    assert told(await found(url, tmp_path, monkeypatch)) == [("models of here", "unreachable")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("down", "state", "words"),
    [
        (["/v1/responses", "/v1/models"], "unreachable", "answered HTTP 503"),
        (["/v1/responses"], "note", "it is spoken to by HTTP+SSE through the bridge"),
    ],
)
async def test_a_server_that_fails_at_upgrades_is_asked_whether_it_is_down(
    tmp_path: Path, down: list[str], state: str, words: str
) -> None:
    paths = Paths.find({"DUETTO_HOME": str(tmp_path)})
    async with serving({path: {} for path in down}, 503) as url:
        settings = parse("", "FILE")
        models = resolve(settings, ModelFlags(endpoint=url, fast="m"), {}, paths)
        setup = SessionSetup(tmp_path, settings, models, paths)
        first, *_ = await endpoint_findings(setup, probe=False)
    assert first.state == state
    assert words in first.text


async def test_the_model_of_this_machine_that_is_used_is_the_one_that_is_tried(
    tmp_path: Path,
) -> None:
    file = gguf(tmp_path / "tiny.gguf")
    text = f'[endpoints.local]\nmodel = "{file}"\n[models.fast]\nname = "other"\nendpoint = "local"'
    settings, paths = parse(text, "FILE"), Paths.find({"DUETTO_HOME": str(tmp_path)})
    models = resolve(settings, ModelFlags(), {}, paths)
    (one,) = await provider_findings(SessionSetup(tmp_path, settings, models, paths))
    assert one.state == "fix"
    assert "There is no model 'other' on this machine: there are tiny." in one.text


async def test_of_a_mere_address_that_refuses_the_socket_models_are_asked_for(
    tmp_path: Path,
) -> None:
    paths = Paths.find({"DUETTO_HOME": str(tmp_path)})
    async with serving({"/v1/models": LISTED}) as url:
        settings = parse("", "FILE")
        models = resolve(settings, ModelFlags(endpoint=url, fast="tinny"), {}, paths)
        workplace = SessionSetup(tmp_path, settings, models, paths)
        assert await provider_findings(workplace) == []
        (endpoint,) = models.endpoints.values()
        known = KnownEndpoints(paths.state_dir)
        assert known.load(endpoint.address.url).websocket is None
        known.save(endpoint.address.url, Capabilities(websocket=False))
        findings = await provider_findings(workplace)
    assert told(findings) == [("models of cli", "ok"), ("models of cli", "fix")]
    assert "did you mean tiny?" in findings[1].text


async def test_a_small_num_ctx_comes_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = {
        "/v1/models": {"data": [{"id": "qwen3:latest"}]},
        "/api/tags": {"models": [{"name": "qwen3:latest"}]},
        "/api/show": {
            "parameters": "num_ctx 4096",
            "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40960},
        },
        "/api/ps": {"models": []},
    }
    async with serving(pages) as url:
        more = 'options = { discovery = "ollama" }'
        findings = await found(url, tmp_path, monkeypatch, "qwen3", more)
    assert told(findings) == [("models of here", "ok"), ("window of qwen3", "fix")]
    assert "4,096" in findings[1].text
    assert "OLLAMA_CONTEXT_LENGTH" in findings[1].advice


def test_keys_are_named_never_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = Paths.find({"DUETTO_HOME": str(tmp_path)})
    monkeypatch.setenv("GROQ_API_KEY", KEY)
    endpoints.remember(paths.state_dir, "anthropic")
    (finding,) = key_findings(Settings(), paths)
    assert "GROQ_API_KEY" in finding.text
    assert "in the keyring: anthropic" in finding.text
    assert KEY not in str(finding)
    paths.providers_dir.mkdir()
    (paths.providers_dir / "mine.toml").write_text('kind = "openai-chat"\nurl = 7\n')
    wrong, keys = key_findings(Settings(), paths)
    assert (wrong.check, wrong.state, keys.state) == ("providers", "fix", "ok")
    assert "mine.toml line 2" in wrong.text


OUTDATED = """
[models.fast]
name = "claude-opus-5"
endpoint = "anthropic"
fallbacks = ["deepseek/deepseek-chat", "openrouter/anthropic/claude-opus-5.5"]

[models.deep]
name = "grok-code-fast-1"
endpoint = "direct"

[endpoints.direct]
url = "wss://api.x.ai/v1/responses"
key_env = "XAI_API_KEY"
"""


@pytest.mark.parametrize("flags", [ModelFlags(), ModelFlags(fast="claude-opus-5-5")])
def test_models_that_are_gone_or_legacy_are_named_with_their_successors(
    tmp_path: Path, flags: ModelFlags
) -> None:
    """Of roles, fallbacks and settings, whatever the flags say; by name or by address."""
    keys = ("ANTHROPIC_API_KEY", "DEEPSEEK_API_KEY", "XAI_API_KEY", "OPENROUTER_API_KEY")
    environment = dict.fromkeys(keys, KEY)
    settings, paths = parse(OUTDATED, "FILE"), Paths.find({"DUETTO_HOME": str(tmp_path)})
    findings = [*outdated_findings(settings, flags, paths)]
    told = {(one.check, one.state, one.advice) for one in findings}
    assert told == {
        ("model of anthropic", "note", "use claude-opus-5-5"),
        ("model of deepseek", "fix", "use deepseek-flash"),
        ("model of direct", "fix", "use grok-4.3"),
    }
    assert any("grok-code-fast-1 is not served any more (xAI" in one.text for one in findings)
    assert all("2026" in one.text for one in findings)
    spoken = resolve(settings, flags, environment, paths).roles["fast"].outdated
    assert bool(spoken) == (flags == ModelFlags())


def test_a_users_file_says_otherwise(tmp_path: Path) -> None:
    paths = Paths.find({"DUETTO_HOME": str(tmp_path)})
    assert paths.providers_dir is not None
    paths.providers_dir.mkdir(parents=True)
    (paths.providers_dir / "xai.toml").write_text(
        '[models."grok-code-fast-1"]\nstate = "current"\nsuccessor = ""\n'
    )
    text = '[models.fast]\nname = "grok-code-fast-1"\nendpoint = "xai"\n'
    settings = parse(text, "FILE")
    models = resolve(settings, ModelFlags(), {"XAI_API_KEY": KEY}, paths)
    assert [*outdated_findings(settings, ModelFlags(), paths)] == []
    assert models.roles["fast"].outdated == ""
