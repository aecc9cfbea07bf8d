"""Keys and private files go nowhere without a yes: what a model, a child and a log get to see."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.commands import DUETTO, clean_environment
from tests.support.composed import composed
from tests.support.nasty_server import Nasty, nasty
from tests.support.server_words import called, error, function_call, spoken, turn
from tui.cli.composition import Composition, Consents
from tui.cli.models import SessionSetup, resolve, withheld
from tui.cli.network import Network
from tui.cli.options import ModelFlags
from tui.core.wire.endpoint_facts import REHEARSAL
from tui.effects.system import MonotonicClock
from tui.engine import intents
from tui.engine.session import SessionOptions
from tui.errors import EndpointError
from tui.settings import Paths, parse

SECRET = "hunter2hunter2"
KEY = "correct-horse-battery-staple"
PRIVATE = (
    ".env",
    ".env.local",
    "deploy/.env.production",
    "id_rsa",
    "certs/server.pem",
    ".netrc",
    ".npmrc",
    ".aws/credentials",
    "notes.sql",
)
LINKS = {"docs/readme.txt": "../.env", "data.txt": "notes.sql", "twice.txt": "docs/readme.txt"}
READS = (
    *PRIVATE,
    *LINKS,
    "outside.txt",
    "AGENTS.md",
    "folder/secret.txt",
    "../secret.txt",
    "a/../../secret.txt",
    "~/secret.txt",
    "a.py\0.env",
    ".git/config",
    "./.ENV",
    "deploy\\.env.production",
    "\ud800",
    "",
)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A workspace full of things that are nobody's business."""
    folder = tmp_path / "work"
    for name in PRIVATE:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"KEY={SECRET}\n")
    (tmp_path / "secret.txt").write_text(f"{SECRET}\n")
    (folder / "docs").mkdir()
    for link, target in LINKS.items():
        (folder / link).symlink_to(target)
    (folder / "outside.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "folder").symlink_to(tmp_path)
    (folder / "AGENTS.md").symlink_to(".env")
    (folder / "a.py").write_text("KEY = None\n")
    (folder / ".gitignore").write_text("*.sql\n")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    with (folder / ".git" / "config").open("a") as config:
        config.write(f'[url "https://u:{SECRET}@h/"]\n')
    return folder


async def executed(work: Path, url: str, *arguments: str) -> tuple[int, bytes, str]:
    """``duetto exec --debug`` with a key: exit code, all it printed, and its log."""
    home = work.parent / "home"
    process = await asyncio.create_subprocess_exec(
        *DUETTO, "exec", "what is the key?", "--debug", "-C", str(work),
        "--endpoint", url, "--fast", "m", "--key-env", "MODEL_PASS", *arguments,
        env=clean_environment(home) | {"MODEL_PASS": KEY, "HOME": str(work.parent)},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    async with asyncio.timeout(60):
        out, _ = await process.communicate()
    return process.returncode or 0, out, (home / "state" / "duetto.log").read_text()


@pytest.mark.slow
async def test_a_model_gets_no_secret_without_a_yes(work: Path) -> None:
    reads = [
        function_call("read_file", json.dumps({"path": path}), f"call_{number}")
        for number, path in enumerate([str(work.parent / "secret.txt"), *READS])
    ]
    more = [
        function_call("search", json.dumps({"pattern": "KEY"}), "call_s"),
        function_call("search", json.dumps({"pattern": "KEY", "path": ".env"}), "call_t"),
        function_call("list", "{}", "call_l"),
        function_call("list", '{"pattern": "**/.env*"}', "call_m"),
    ]
    calls = [step for call in [*reads, *more] for step in called(call)]
    server = Nasty([turn(1, *calls), turn(2, *spoken("there is none"))])
    async with nasty(server) as url:
        code, out, log = await executed(work, url, "--json")
    assert code == 5, out
    said = json.dumps(server.requests)
    assert len(server.requests) == 2
    assert said.count("_call_output") == len(reads) + len(more)
    assert "a.py:1: KEY = None" in said
    for place in (said, out.decode(), log):
        assert SECRET not in place
        assert KEY not in place
    listed = server.requests[0]["instructions"]
    assert "a.py" in listed
    assert not [name for name in (*PRIVATE, *LINKS, "outside.txt") if f"\n{name}\n" in listed]


@pytest.mark.slow
async def test_a_server_that_repeats_the_key_is_not_quoted(work: Path) -> None:
    script = [[error(400, "invalid_request_error", f"Incorrect API key provided: {KEY}")]]
    for arguments in ((), ("--json",)):
        server = Nasty(script)
        async with nasty(server) as url:
            code, out, log = await executed(work, url, *arguments)
        assert code in (1, 3)
        assert "Authorization" in server.headers[0]
        assert KEY not in log
        assert KEY not in out.decode()


EVIL = "\x1b[2J\x1b]0;own\x07\x1b]52;c;aGk=\x07\x1b]8;;http://x\x1b\\\x1bP1\x1b\\\x9b31m\x08\u202e"


@pytest.mark.slow
async def test_what_a_server_says_is_inert(work: Path) -> None:
    """Raw bytes never reach the output, whether it is a terminal or a pipe."""
    calls = called(function_call("read_file", json.dumps({"path": EVIL})))
    for script in (
        [turn(1, *spoken(f"hello {EVIL} there"))],
        [turn(1, *calls), turn(2, *spoken("bye"))],
        [[error(400, f"code{EVIL}", f"bad {EVIL}")]],
    ):
        for arguments in ((), ("--json",)):
            async with nasty(Nasty(script)) as url:
                _, out, log = await executed(work, url, *arguments)
            for text in (out.decode(), log):
                assert "Traceback" not in text
                assert not [char for char in text if not char.isprintable() and char != "\n"]


def setup(work: Path, toml: str = "", environment: dict[str, str] | None = None) -> SessionSetup:
    settings = parse(toml, "config.toml")
    models = resolve(settings, ModelFlags(), environment or {})
    return SessionSetup(work, settings, models, Paths.find({"DUETTO_HOME": str(work.parent / "h")}))


CONNECTED = """
[endpoints.here]
url = "wss://models.example/v1/responses"
key_env = "MODEL_PASS"
[endpoints.there]
url = "wss://other.example/v1/responses"
key_env = "OTHER_KEY"
[models.fast]
name = "m"
endpoint = "here"
"""


def test_commands_of_the_workspace_do_not_get_the_keys(tmp_path: Path) -> None:
    environment = {
        "MODEL_PASS": KEY,
        "OTHER_KEY": "other",
        "COPY": f" {KEY} ",
        "CURL_HEADER": f"Authorization: Bearer {KEY}",
        "EMPTY": "",
        "PATH": "/bin",
        "OPENAI_API_KEY": "not used here",
    }
    connected = setup(tmp_path, CONNECTED, environment)
    left = withheld(connected, environment)
    assert left == {"EMPTY": "", "PATH": "/bin", "OPENAI_API_KEY": "not used here"}
    assert withheld(setup(tmp_path), environment) == environment


async def test_a_command_sees_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_PASS", KEY)
    settings = parse(CONNECTED, "config.toml")
    async with composed(tmp_path, settings, environ=os.environ) as (seat, _):
        session = seat.session
        session.submit(intents.RunCommand('echo "pass=$MODEL_PASS path=${PATH:+set}"'))
        await seat.until(lambda: session.transcript.blocks and not session.status.running)
    assert "pass= path=set" in session.transcript.blocks[-1].text


async def test_git_has_no_key_in_its_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A filter of the user's configuration is a program, and gets what git has."""
    said, path = tmp_path / "said", tmp_path.with_name(f"{tmp_path.name}-bin")
    path.mkdir()  # outside of the workspace
    (path / "git").write_text(f'#!/bin/sh\n(echo "asked $@"; env) >> "{said}"\n')
    (path / "git").chmod(0o700)
    monkeypatch.setenv("PATH", f"{path}:{os.environ['PATH']}")
    monkeypatch.setenv("MODEL_PASS", KEY)
    composition = Composition(setup(tmp_path, CONNECTED, dict(os.environ)), SessionOptions())
    ports = composition._ports(watched=True)
    assert ports.git_status is not None
    await ports.git_status()
    composition._listing.paths()
    await composition.close()
    told = said.read_text()
    assert {"rev-parse", "ls-files"} <= set(told.split())
    assert KEY not in told


async def test_the_bridge_has_keys_neither_in_its_environment_nor_on_its_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told on its stdin what it needs."""
    said = tmp_path / "said"
    script = tmp_path / "python"
    script.write_text(f'#!/bin/sh\n(env; echo "$@") > "{said}"\n')
    script.chmod(0o700)
    monkeypatch.setenv("MODEL_PASS", KEY)
    monkeypatch.setenv("COPY_OF_IT", f"Bearer {KEY}")
    monkeypatch.setattr(sys, "executable", str(script))
    network = Network(setup(tmp_path, CONNECTED, dict(os.environ)), MonotonicClock())
    with pytest.raises(EndpointError):
        await network.wire(REHEARSAL).open()
    await network.close()
    told = said.read_text()
    assert 'tui.bridge {"fast_tokens_s":' in told
    assert "PATH=" in told
    assert KEY not in told


async def test_instructions_that_are_ignored_or_a_link_to_a_secret_are_private(work: Path) -> None:
    files = Composition(setup(work), SessionOptions()).session._open_files
    await files.prepare()
    assert files.privacy("AGENTS.md")
    (work / "AGENTS.md").unlink()
    (work / "AGENTS.md").write_text("Use tabs.\n")
    files.catalogue.expire()
    await files.prepare()
    assert not files.privacy("AGENTS.md")
    (work / ".gitignore").write_text("AGENTS.md\n")
    files.catalogue.expire()
    await files.prepare()
    assert "ignored" in files.privacy("AGENTS.md")


def test_a_consent_that_cannot_be_kept_is_asked_again(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    paths = Paths.find({"DUETTO_HOME": str(tmp_path / "home")})
    consents = Consents(paths, "/one")
    consents.remember("make test")
    assert consents.known() == set()
