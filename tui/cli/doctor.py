"""``duetto doctor``: checks the set-up, measures the way to the models, says what to do."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import platform
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

import click
from msgspec.structs import asdict

import tui
from tui.cli import doctor_checks, workspace_commands
from tui.cli.doctor_checks import (
    CheckResult,
    endpoint_findings,
    key_findings,
    outdated_findings,
    own_key_findings,
    own_line_findings,
    own_theme_findings,
    provider_findings,
    surroundings,
)
from tui.cli.models import ResolvedModels, SessionSetup, resolve
from tui.cli.options import ModelFlags, model_options, settings_for
from tui.core.programs import Confinement, RunOptions, RunResult
from tui.effects.commands.runner import CommandRunner
from tui.effects.commands.sandbox import Tool, find_sandbox
from tui.effects.listing import Listing
from tui.effects.shadow.copying import ShadowSource
from tui.effects.shadow.making import ShadowMaker
from tui.engine.ports import project_tests
from tui.engine.verifier_plan import command_line
from tui.errors import (
    EXIT_FAILED,
    EXIT_OK,
    EXIT_UNREACHABLE,
    DuettoError,
    FileRefused,
    SettingsError,
)
from tui.settings import PROJECT_FILE, Paths, Settings, load_project, unused, unused_in_project

_DEADLINE_S = 20.0
_HELD_S = 2.0
"""So long what the command left behind may need to end."""
_ADVICE = "mode sandbox runs commands without a question: use it knowing what is open"
_ESCAPES = {
    "outside": "write beside the workspace",
    "home": "write into the home folder",
    "hook": "plant a git hook",
    "config": "change git's configuration",
    "own": "change what configures duetto here",
    "moved": "put another .git in place of this one",
    "secret": "read what duetto keeps",
    "variable": "find a key in the environment",
    "tcp": "open a TCP connection",
    "udp": "send by UDP",
    "abstract": "reach an abstract socket",
    "socket": "reach a service's socket",
    "memory": "read duetto's memory",
    "signal": "send duetto a signal",
    "daemon": "leave a process behind",
}
_SCRIPT = r"""
import fcntl, json, os, socket, sys, time
p = json.loads(sys.argv[1])
reached = []
def attempt(name, act):
    try:
        act()
    except Exception:
        return
    reached.append(name)
def write(path):
    def act():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "a") as file: file.write(p["mark"])
    return act
def talk(kind, address, family=socket.AF_INET):
    def act():
        with socket.socket(family, kind) as one:
            one.settimeout(3)
            one.connect(address)
            one.send(p["mark"].encode())
    return act
def secret():
    if p["mark"] not in open(p["secret"]).read(): raise OSError
def variable():
    if "DUETTO_PROBE_KEY" not in os.environ: raise OSError
for name, path in p["writes"].items():
    attempt(name, write(path))
attempt("secret", secret)
attempt("variable", variable)
attempt("tcp", talk(socket.SOCK_STREAM, ("127.0.0.1", p["tcp"])))
attempt("udp", talk(socket.SOCK_DGRAM, ("127.0.0.1", p["udp"])))
attempt("abstract", talk(socket.SOCK_STREAM, "\0" + p["mark"], socket.AF_UNIX))
attempt("socket", talk(socket.SOCK_STREAM, p["socket"], socket.AF_UNIX))
attempt("memory", lambda: open(f"/proc/{p['pid']}/mem", "rb"))
attempt("signal", lambda: os.kill(p["pid"], 0))
attempt("moved", lambda: (os.rename(".git", ".git-away"), os.rename(".git-away", ".git")))
if os.fork() == 0:
    os.setsid()
    with open("held", "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        os.write(1, b"\n" + json.dumps(reached).encode() + b"\n")
        os.close(1)
        os.close(2)
        time.sleep(60)
    os._exit(0)
time.sleep(1)
"""


def sandbox_findings(folder: Path, paths: Paths, *, probe: bool) -> Iterator[CheckResult]:
    """What confines commands in this workspace, and whether it holds."""
    sandbox = find_sandbox(str(folder), paths.own()).sandbox
    words = sandbox.words if sandbox.works else f"{sandbox.words}; commands are asked about"
    yield CheckResult("sandbox", "ok" if sandbox.works else "note", words)
    if not probe or not sandbox.works:
        return
    with tempfile.TemporaryDirectory(prefix="duetto-probe-") as scratch:
        reached = _break_out(Path(scratch))
    if isinstance(reached, str):
        yield CheckResult("sandbox", "fix", f"the probe could not run: {reached}")
        return
    last = next((name for name in reversed(_ESCAPES) if name in reached), "")
    for name, attempt in _ESCAPES.items():
        if name in reached:
            advice = _ADVICE if name == last else ""
            known = name in sandbox.leaves
            yield CheckResult("sandbox", "note" if known else "fix", f"open: {attempt}", advice)
        else:
            yield CheckResult("sandbox", "ok", f"held: {attempt}")


async def shadow_findings(folder: Path, paths: Paths) -> Sequence[CheckResult]:
    """On what the tests run, proved by a command."""
    from tui.cli.verifiers.project import table

    listing = Listing(str(folder))
    source = ShadowSource(str(folder), table()["caches"], listing.paths)
    shadows = ShadowMaker(source, paths.state_dir, CommandRunner(str(folder)))
    try:
        kind = await shadows.look()
    except FileRefused as refusal:
        return [CheckResult("shadow", "note", f"{refusal}; tests run on the disk only")]
    finally:
        await shadows.close()
        listing.close()
    return [
        CheckResult("shadow", "ok", f"{kind}: tests run with pending hunks, before they are saved")
    ]


def _break_out(scratch: Path) -> set[str] | str:
    """What a command could do that it should not, in a workspace of its own; or why none ran."""
    mark = f"duetto-{os.urandom(6).hex()}"
    root, own = scratch / "workspace", scratch / "own"
    (root / ".git" / "objects").mkdir(parents=True)
    own.mkdir()
    (own / "secret").write_text(mark, encoding="utf-8")
    writes = {
        "outside": scratch / mark,
        "home": Path.home() / f".{mark}",
        "hook": root / ".git/hooks/pre-commit",
        "config": root / ".git/config",
        "own": root / ".duetto/config.toml",
    }
    with contextlib.ExitStack() as stack:
        servers = {
            "tcp": _server(stack, socket.AF_INET, ("127.0.0.1", 0)),
            "udp": _server(stack, socket.AF_INET, ("127.0.0.1", 0), socket.SOCK_DGRAM),
            "socket": _server(stack, socket.AF_UNIX, str(scratch / "socket")),
        }
        if sys.platform.startswith("linux"):
            servers["abstract"] = _server(stack, socket.AF_UNIX, "\0" + mark)
        plan = {
            "mark": mark,
            "writes": {name: str(path) for name, path in writes.items()},
            "secret": str(own / "secret"),
            "tcp": servers["tcp"].getsockname()[1],
            "udp": servers["udp"].getsockname()[1],
            "socket": str(scratch / "socket"),
            "pid": os.getpid(),
        }
        tool = find_sandbox(str(root), [str(own)])
        result, said = asyncio.run(_run(tool, root, plan))
        heard = {name for name, server in servers.items() if _heard(server)}
    lines = [line for line in said.splitlines() if line.startswith("[")]
    if not lines:
        return result.error or said.strip()[-200:] or "it said nothing"
    reached = set(json.loads(lines[-1])) - {*writes, *servers} | heard
    for name, path in writes.items():
        with contextlib.suppress(OSError):
            if mark in path.read_text(encoding="utf-8"):
                reached.add(name)
                path.unlink()
    return reached | ({"daemon"} if _is_held(root / "held") else set())


_PYTHON = os.path.realpath(sys.executable)
"""Not that of a virtual environment, which may lie in /tmp: the sandbox has one of its own."""


async def _run(tool: Tool, root: Path, plan: dict[str, object]) -> tuple[RunResult, str]:
    said = bytearray()
    environment = {**os.environ, "DUETTO_PROBE_KEY": "x"}
    runner = CommandRunner(str(root), environment, lambda: tool)
    command = (_PYTHON, "-I", "-S", "-c", _SCRIPT, json.dumps(plan))
    how = RunOptions(keys=False, confined=Confinement())
    return await runner.run(command, said.extend, _DEADLINE_S, how), said.decode(errors="replace")


def _server(
    stack: contextlib.ExitStack,
    family: socket.AddressFamily,
    address: tuple[str, int] | str,
    kind: socket.SocketKind = socket.SOCK_STREAM,
) -> socket.socket:
    server = stack.enter_context(socket.socket(family, kind))
    server.bind(address)
    if kind == socket.SOCK_STREAM:
        server.listen(1)
    server.setblocking(False)
    return server


def _heard(server: socket.socket) -> bool:
    """Something connected, or sent a datagram."""
    try:
        if server.type == socket.SOCK_DGRAM:
            server.recv(100)
        else:
            server.accept()[0].close()
    except OSError:
        return False
    return True


def _is_held(path: Path) -> bool:
    """A process of the command is still there."""
    deadline = time.monotonic() + _HELD_S
    while True:
        try:
            with path.open("r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except OSError:
            if time.monotonic() < deadline:
                time.sleep(0.05)
                continue
            return True
        return False


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of lines.")
@click.option(
    "--probe",
    is_flag=True,
    help="Try what each endpoint can do, and remember it: asks each model for one short answer."
    " Try to break out of the sandbox of the model's commands.",
)
@click.option(
    "--bundle",
    is_flag=False,
    flag_value="",
    metavar="[FILE]",
    help="Write a file for a bug report: findings, versions, settings, log; no keys, no prompts.",
)
@model_options
def doctor_command(flags: ModelFlags, as_json: bool, probe: bool, bundle: str | None) -> None:
    """Check terminal, configuration, keys, folders and endpoints, and say what to do.

    Exit status: 0 fine, 1 something to fix, 3 an endpoint cannot be reached; of --bundle: 0 it is
    written.
    """
    if bundle is not None:
        _bundle(bundle, flags, probe=probe)
        return
    findings: list[CheckResult] = []
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for finding in examine(flags, Paths.find(), probe=probe):
        findings.append(finding)
        if not as_json:
            click.echo(finding.told(columns))
    code = exit_code(findings)
    if as_json:
        report = {"version": tui.__version__, "exit_code": code}
        rows = [asdict(finding) for finding in findings]
        click.echo(json.dumps({**report, "findings": rows}, indent=2))
    else:
        click.echo(_summary(findings))
    sys.exit(code)


def _bundle(name: str, flags: ModelFlags, *, probe: bool) -> None:
    """Write the file for a bug report, and say what is in it. Raises UsageError."""
    from tui.cli import bundle

    paths = Paths.find()
    file = Path(name or bundle.default_name(datetime.now())).absolute()
    findings = examine(flags, paths, probe=probe)
    parts = bundle.write(file, paths, flags.config or paths.config_file, findings)
    click.echo(f"{file} is written, for you to attach to a bug report: {', '.join(parts)}.")
    click.echo("Nothing was sent. Keys and prompts are left out; look through it all the same.")


def exit_code(findings: list[CheckResult]) -> int:
    """0 fine, 1 something to fix, 3 an endpoint cannot be reached."""
    states = {finding.state for finding in findings}
    if "unreachable" in states:
        return EXIT_UNREACHABLE
    return EXIT_FAILED if "fix" in states else EXIT_OK


def examine(flags: ModelFlags, paths: Paths, *, probe: bool = False) -> Iterator[CheckResult]:
    """All checks in order; the endpoints, which take time, come last."""
    yield _program()
    yield from _terminal(flags, paths)
    yield from doctor_checks.tmux_findings(os.environ)
    yield from _folders(paths)
    settings, finding = _configuration(flags, paths)
    yield finding
    if settings is not None:
        yield from _unused(flags.config or paths.config_file)
    yield from own_key_findings(settings or Settings(), flags.config or paths.config_file)
    yield from own_line_findings(settings or Settings(), flags.config or paths.config_file)
    here, config = Path.cwd(), flags.config or paths.config_file
    yield from own_theme_findings(settings or Settings(), here, paths, config)
    yield from _workspace(here, settings or Settings())
    yield from sandbox_findings(here, paths, probe=probe)
    yield from asyncio.run(shadow_findings(here, paths))
    yield from key_findings(settings or Settings(), paths)
    if settings is None:
        return
    yield from outdated_findings(settings, flags, paths)
    try:
        models = resolve(settings, flags, os.environ, paths)
    except DuettoError as error:
        yield CheckResult("models", "fix", str(error))
        return
    yield _models(models)
    yield from surroundings(os.environ)
    setup = SessionSetup(Path.cwd(), settings, models, paths)
    yield from asyncio.run(endpoint_findings(setup, probe=probe))
    yield from asyncio.run(provider_findings(setup))


def _program() -> CheckResult:
    text = f"duetto {tui.__version__}, Python {platform.python_version()}, {platform.system()}"
    return CheckResult("program", "ok", text)


def _terminal(flags: ModelFlags, paths: Paths) -> Iterator[CheckResult]:
    """As the settings have it, if they can be read: what is wrong in them is said further on."""
    try:
        settings = settings_for(flags, paths)
    except SettingsError:
        settings = Settings()
    yield from doctor_checks.terminal_findings(os.environ, settings.screen, settings.notify)


def _folders(paths: Paths) -> Iterator[CheckResult]:
    places: list[tuple[str, Callable[[], Path]]] = [
        ("state folder", paths.make_state_dir),
        ("data folder", paths.make_data_dir),
    ]
    for name, make in places:
        try:
            folder = make()
            with tempfile.TemporaryFile(dir=folder):
                pass
        except SettingsError as error:
            yield CheckResult(name, "fix", str(error))
        except OSError as error:
            text = f"cannot write to {folder}: {error.strerror}"
            yield CheckResult(name, "fix", text, "make it writable, or set DUETTO_HOME")
        else:
            yield CheckResult(name, "ok", str(folder))


def _configuration(flags: ModelFlags, paths: Paths) -> tuple[Settings | None, CheckResult]:
    file = flags.config or paths.config_file
    try:
        settings = settings_for(flags, paths)
    except SettingsError as error:
        return None, CheckResult("configuration", "fix", str(error))
    there = "read" if file.exists() else "not there (that is fine: the defaults hold)"
    return settings, CheckResult("configuration", "ok", f"{file} {there}")


def _unused(config: Path) -> Iterator[CheckResult]:
    advice = "docs/settings.md has all settings; the default holds instead"
    for words in (*unused(config), *unused_in_project(Path.cwd())):
        yield CheckResult("configuration", "fix", words, advice)


def _workspace(folder: Path, settings: Settings) -> Iterator[CheckResult]:
    try:
        load_project(folder)
        commands = workspace_commands.find_verifiers(folder, settings)
    except SettingsError as error:
        yield CheckResult("workspace", "fix", str(error))
        return
    if project_tests(commands) is None:
        yield CheckResult(
            "tests",
            "note",
            f"no test command found for {folder}",
            f"set [verify] command in {PROJECT_FILE}, if there is one",
        )
        return
    for one in commands:
        asked = "; asks before the first run" if one.needs_consent else ""
        yield CheckResult(one.kind, "ok", f"{command_line(one.argv)} ({one.source}{asked})")


def _models(models: ResolvedModels) -> CheckResult:
    parts = [f"{role}: {spec.model} on {spec.endpoint}" for role, spec in models.roles.items()]
    if not models.rehearsal:
        return CheckResult("models", "ok", "; ".join(parts))
    advice = "to connect a model: duetto connect (docs/connect.md)"
    return CheckResult("models", "note", "; ".join(parts), advice)


def _summary(findings: list[CheckResult]) -> str:
    count = sum(finding.state in ("fix", "unreachable") for finding in findings)
    return "all is well" if not count else f"{count} to look at (✗)"
