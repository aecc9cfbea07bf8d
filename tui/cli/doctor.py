"""``duetto doctor``: checks the set-up, measures the way to the models, says what to do."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import click

import tui
from tui.cli import verify_command
from tui.cli.inert_text import inert
from tui.cli.options import (
    REHEARSAL,
    ModelFlags,
    ResolvedModels,
    model_options,
    resolve,
    settings_for,
)
from tui.cli.screen import MIN_COLUMNS, MIN_ROWS
from tui.core.address import Address, shown
from tui.engine.verification import command_line
from tui.errors import (
    EXIT_FAILED,
    EXIT_OK,
    EXIT_UNREACHABLE,
    DuettoError,
    EndpointError,
    SettingsError,
)
from tui.settings import PROJECT_FILE, Paths, Settings, load_project

DIAL_TIMEOUT_S = 10.0
PONG_TIMEOUT_S = 3.0
KNOWN_KEYS = (
    "OPENAI_API_KEY",
    "XAI_API_KEY",
    "CEREBRAS_API_KEY",
    "GROQ_API_KEY",
    "ANTHROPIC_API_KEY",
    "OPENROUTER_API_KEY",
    "GEMINI_API_KEY",
    "MISTRAL_API_KEY",
)
"""Looked for by name; a value is never shown."""

State = Literal["ok", "note", "fix", "unreachable"]
_MARKS: dict[State, str] = {"ok": "✓", "note": "·", "fix": "✗", "unreachable": "✗"}


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found."""

    check: str
    state: State
    text: str
    advice: str = ""
    """What to do, empty if nothing is to be done."""
    round_trip_ms: float | None = None


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of lines.")
@model_options
def doctor_command(flags: ModelFlags, as_json: bool) -> None:
    """Check terminal, configuration, keys, folders and endpoints, and say what to do.

    Exit status: 0 fine, 1 something to fix, 3 an endpoint cannot be reached.
    """
    findings: list[Finding] = []
    for finding in examine(flags, Paths.find()):
        findings.append(finding)
        if not as_json:
            click.echo(_line(finding))
    code = exit_code(findings)
    if as_json:
        report = {"version": tui.__version__, "exit_code": code}
        rows = [asdict(finding) for finding in findings]
        click.echo(json.dumps({**report, "findings": rows}, indent=2))
    else:
        click.echo(_summary(findings))
    sys.exit(code)


def exit_code(findings: list[Finding]) -> int:
    """0 fine, 1 something to fix, 3 an endpoint cannot be reached."""
    states = {finding.state for finding in findings}
    if "unreachable" in states:
        return EXIT_UNREACHABLE
    return EXIT_FAILED if "fix" in states else EXIT_OK


def examine(flags: ModelFlags, paths: Paths) -> Iterator[Finding]:
    """All checks in order; the endpoints, which take time, come last."""
    yield _program()
    yield _terminal()
    yield from _folders(paths)
    settings, finding = _configuration(flags, paths)
    yield finding
    yield from _workspace(Path.cwd(), settings or Settings())
    yield _keys(settings or Settings())
    if settings is None:
        return
    try:
        models = resolve(settings, flags)
    except DuettoError as error:
        yield Finding("models", "fix", str(error))
        return
    yield _models(models)
    yield from asyncio.run(_endpoints(models))


def _program() -> Finding:
    text = f"duetto {tui.__version__}, Python {platform.python_version()}, {platform.system()}"
    return Finding("program", "ok", text)


def _terminal() -> Finding:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return Finding(
            "terminal", "note", "stdin or stdout is not a terminal", "without one: duetto exec"
        )
    columns, rows = os.get_terminal_size(sys.stdout.fileno())
    term, depth = os.environ.get("TERM", ""), os.environ.get("COLORTERM", "")
    text = f"{columns}x{rows}, TERM={term or '(not set)'}, colours: {_colours(term, depth)}"
    if columns < MIN_COLUMNS or rows < MIN_ROWS:
        return Finding("terminal", "fix", text, f"enlarge it to {MIN_COLUMNS}x{MIN_ROWS} or more")
    if term in ("", "dumb"):
        return Finding("terminal", "fix", text, "set TERM to what your terminal is")
    return Finding("terminal", "ok", text)


def _colours(term: str, depth: str) -> str:
    if os.environ.get("NO_COLOR"):
        return "off (NO_COLOR)"
    if depth in ("truecolor", "24bit"):
        return "16 million"
    return "256" if "256" in term else "16"


def _folders(paths: Paths) -> Iterator[Finding]:
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
            yield Finding(name, "fix", str(error))
        except OSError as error:
            text = f"cannot write to {folder}: {error.strerror}"
            yield Finding(name, "fix", text, "make it writable, or set DUETTO_HOME")
        else:
            yield Finding(name, "ok", str(folder))


def _configuration(flags: ModelFlags, paths: Paths) -> tuple[Settings | None, Finding]:
    file = flags.config or paths.config_file
    try:
        settings = settings_for(flags, paths)
    except SettingsError as error:
        return None, Finding("configuration", "fix", str(error))
    there = "read" if file.exists() else "not there (that is fine: the defaults hold)"
    return settings, Finding("configuration", "ok", f"{file} {there}")


def _workspace(folder: Path, settings: Settings) -> Iterator[Finding]:
    try:
        load_project(folder)
        command = verify_command.find(folder, settings)
    except SettingsError as error:
        yield Finding("workspace", "fix", str(error))
        return
    if command is None:
        yield Finding(
            "tests",
            "note",
            f"no test command found for {folder}",
            f"set [verify] command in {PROJECT_FILE}, if there is one",
        )
        return
    asked = "; asks before the first run" if command.needs_consent else ""
    yield Finding("tests", "ok", f"{command_line(command.argv)} ({command.source}{asked})")


def _keys(settings: Settings) -> Finding:
    own = [endpoint.key_env for endpoint in settings.endpoints.values() if endpoint.key_env]
    names = dict.fromkeys([*own, *KNOWN_KEYS])
    found = [name for name in names if os.environ.get(name, "").strip()]
    if found:
        return Finding("keys", "ok", "in the environment: " + ", ".join(found))
    return Finding("keys", "note", "none of the known ones in the environment")


def _models(models: ResolvedModels) -> Finding:
    parts = [f"{role}: {spec.model} on {spec.endpoint}" for role, spec in models.roles.items()]
    if not models.rehearsal:
        return Finding("models", "ok", "; ".join(parts))
    advice = "to connect a model: duetto --endpoint wss://HOST/v1/responses --fast MODEL"
    return Finding("models", "note", "; ".join(parts), advice)


async def _endpoints(models: ResolvedModels) -> list[Finding]:
    from tui.effects.bridge_process import BridgeProcess

    async def fixed(address: Address) -> Address:
        return address

    bridge = BridgeProcess()
    try:
        dials = [
            _dialled(name, partial(fixed, endpoint.address))
            for name, endpoint in models.endpoints.items()
        ]
        if models.rehearsal:
            dials.append(_dialled(REHEARSAL, bridge.address))
        return list(await asyncio.gather(*dials))
    finally:
        await bridge.close()


async def _dialled(name: str, address: Callable[[], Awaitable[Address]]) -> Finding:
    """Dial one endpoint and measure the round trip of a ping."""
    from tui.effects.clock import MonotonicClock
    from tui.effects.connection import Connection, ConnectionOptions

    check = f"endpoint {name}"
    clock = MonotonicClock()
    options = ConnectionOptions(connect_timeout_s=DIAL_TIMEOUT_S)
    connection = Connection(address, clock, options=options)
    began = clock.now()
    try:
        await connection.open()
        dial_ms = (clock.now() - began) * 1000
        for _ in range(int(PONG_TIMEOUT_S / 0.005)):
            if connection.round_trip_s is not None:
                break
            await asyncio.sleep(0.005)
        where = shown((await address()).url)
        if connection.round_trip_s is None:
            return Finding(check, "note", f"{where} answers no ping (dial {dial_ms:.0f} ms)")
        trip_ms = round(connection.round_trip_s * 1000, 2)
        text = f"{where} reached in {dial_ms:.0f} ms, round trip {trip_ms:.1f} ms"
        return Finding(check, "ok", text, round_trip_ms=trip_ms)
    except EndpointError as error:
        return Finding(check, "unreachable", str(error))
    finally:
        await connection.close()


def _line(finding: Finding) -> str:
    advice = f"\n  {'':<18} → {inert(finding.advice)}" if finding.advice else ""
    return f"{_MARKS[finding.state]} {finding.check:<18} {inert(finding.text)}{advice}"


def _summary(findings: list[Finding]) -> str:
    count = sum(finding.state in ("fix", "unreachable") for finding in findings)
    return "all is well" if not count else f"{count} to look at (✗)"
