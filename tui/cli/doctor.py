"""``duetto doctor``: checks the set-up, measures the way to the models, says what to do."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import click
from msgspec.structs import asdict

import tui
from tui.cli import doctor_checks, workspace_commands
from tui.cli.doctor_checks import (
    CheckResult,
    own_key_findings,
    own_line_findings,
    own_theme_findings,
)
from tui.cli.doctor_endpoints import (
    endpoint_findings,
    key_findings,
    outdated_findings,
    provider_findings,
    surroundings,
)
from tui.cli.doctor_sandbox import sandbox_findings
from tui.cli.models import ResolvedModels, SessionSetup, resolve
from tui.cli.options import ModelFlags, model_options, settings_for
from tui.engine.verification import command_line
from tui.errors import (
    EXIT_FAILED,
    EXIT_OK,
    EXIT_UNREACHABLE,
    DuettoError,
    SettingsError,
)
from tui.settings import (
    PROJECT_FILE,
    Paths,
    Settings,
    load_project,
    unused,
    unused_in_project,
)


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
        command = workspace_commands.find_verify(folder, settings)
    except SettingsError as error:
        yield CheckResult("workspace", "fix", str(error))
        return
    if command is None:
        yield CheckResult(
            "tests",
            "note",
            f"no test command found for {folder}",
            f"set [verify] command in {PROJECT_FILE}, if there is one",
        )
        return
    asked = "; asks before the first run" if command.needs_consent else ""
    yield CheckResult("tests", "ok", f"{command_line(command.argv)} ({command.source}{asked})")


def _models(models: ResolvedModels) -> CheckResult:
    parts = [f"{role}: {spec.model} on {spec.endpoint}" for role, spec in models.roles.items()]
    if not models.rehearsal:
        return CheckResult("models", "ok", "; ".join(parts))
    advice = "to connect a model: duetto connect (docs/connect.md)"
    return CheckResult("models", "note", "; ".join(parts), advice)


def _summary(findings: list[CheckResult]) -> str:
    count = sum(finding.state in ("fix", "unreachable") for finding in findings)
    return "all is well" if not count else f"{count} to look at (✗)"
