"""``duetto practice``, and the very first start, which may lead there.

The practice is the bundled workspace with exercises that the rehearsal model can play. A first
start is one without settings, where nothing is remembered or named on the command line.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click
from msgspec import Struct, field
from msgspec.structs import replace

from tui import kept_frame, own_process
from tui.bridge.rehearsal import RECORD
from tui.bridge.rehearsal.scripts import Script, fingerprint, load_scripts, workspace_files
from tui.cli import process
from tui.cli.catalogue import Tell, all_of, look_for_sources
from tui.cli.open_app import FIRST_RUN, open_app, opened, require_screen
from tui.cli.options import Invocation, ModelFlags, invocation_options
from tui.cli.target import current_folder, short_path
from tui.core.programs import safe_path
from tui.engine.connecting import FoundHere, ModelSource
from tui.engine.ports import project_tests
from tui.errors import EXIT_OK, DuettoError, UsageError
from tui.settings import Paths, Settings
from tui.shared_files import replace_file

if TYPE_CHECKING:
    from tui.engine.session import SessionOptions
    from tui.ui.app import DuettoApp
    from tui.ui.first_run.screen import Choice
    from tui.ui.guide.guide import Ending


FOLDER = "practice"


def ensure(data_dir: Path) -> Path:
    """The practice workspace, made if it is not there; an existing one is left as it is.

    Raises UsageError if it cannot be made.
    """
    root = data_dir / FOLDER
    if root.is_dir():
        return root
    if os.path.lexists(root):
        raise UsageError(f"{root} is not a folder: move it away, then try again")
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{FOLDER}-", dir=data_dir))
        try:
            _write(scratch, workspace_files())
            scratch.chmod(0o755)
            scratch.rename(root)
        except OSError:
            shutil.rmtree(scratch, ignore_errors=True)
            # Another duetto may have made it in the meantime.
            if not root.is_dir():
                raise
    except OSError as error:
        raise UsageError(
            f"cannot make the practice workspace {root}: {error.strerror}; set DUETTO_HOME to a "
            "folder that you may write to"
        ) from error
    return root


def start_over(data_dir: Path, now: datetime) -> tuple[Path, Path | None]:
    """A fresh workspace; the old one is kept beside it under a dated name, which is returned.

    Raises UsageError if that cannot be done; the old one is then where it was.
    """
    root, kept = data_dir / FOLDER, None
    if root.is_dir():
        stem = f"{FOLDER}-{now:%Y-%m-%d-%H%M%S}"
        kept = next(
            path
            for number in range(1, 1_000_000)
            if not os.path.lexists(path := data_dir / (f"{stem}-{number}" if number > 1 else stem))
        )
        try:
            root.rename(kept)
        except OSError as error:
            raise UsageError(f"cannot rename {root} to {kept}: {error.strerror}") from error
    return ensure(data_dir), kept


def begun(root: Path) -> list[str]:
    """The names of the exercises of which a file is not as it came."""
    came = _fingerprints(root)
    return [
        one.name
        for one in load_scripts()
        if any(_fingerprint(root / path) != mark for path, mark in came[one.name].items())
    ]


def suggested(root: Path) -> str:
    """The prompt of the first exercise that was not begun; empty if all were."""
    done = begun(root)
    return next((one.prompt for one in load_scripts() if one.name not in done), "")


def _fingerprints(root: Path) -> Mapping[str, Mapping[str, str]]:
    """Exercise -> path -> how its file came; the shipped ones where the record does not say."""
    try:
        recorded = json.loads((root / RECORD).read_bytes())["exercises"]
        came = {entry["name"]: dict(entry["files"]) for entry in recorded}
        if {script.name for script in load_scripts()} <= came.keys():
            return came
    except (OSError, ValueError, KeyError, TypeError):
        came = {}
    files = workspace_files()
    shipped = {s.name: {p: fingerprint(files.get(p)) for p in s.paths} for s in load_scripts()}
    return shipped | came


def _fingerprint(path: Path) -> str:
    try:
        return fingerprint(path.read_bytes())
    except OSError:
        return ""


def _write(root: Path, files: Mapping[str, bytes]) -> None:
    for path, content in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


@click.command("practice")
@click.option("--new", is_flag=True, help="Start over; the old workspace is kept beside it.")
@click.option("--guide", is_flag=True, help="With the guide: the basics by doing, in a minute.")
@invocation_options
def practice_command(new: bool, guide: bool, asked: Invocation) -> int:
    """Open the practice workspace: a small package with exercises, made once in your data folder.

    The rehearsal model plays the exercises unless another one is configured; with the guide it
    always does, unless one is named here.
    """
    if asked.linear and guide:
        raise UsageError("the guide needs the screen; in linear mode /help reads the commands")
    if not asked.linear:
        require_screen()
    data_dir = Paths.find().data_dir
    if new:
        root, kept = start_over(data_dir, datetime.now())
        if kept is not None:
            kept_frame.leave()
            click.echo(f"Your old workspace is kept in {kept}")
    else:
        root = ensure(data_dir)
    if not guide:
        return opened(replace(asked, arguments=[str(root)]))
    lesson = guided(data_dir, datetime.now())
    flags = rehearsed(asked.flags)
    return opened(replace(asked, arguments=[str(lesson.root)], flags=flags), lesson)


class Guided(Struct):
    """One run of the guide over the practice workspace."""

    root: Path
    script: Script
    """An exercise that was not begun, and that can be redirected."""
    kept: Path | None = None
    """Where the old workspace went, if it had to make room."""
    is_over: bool = field(default=False)

    def options(self, options: SessionOptions) -> SessionOptions:
        """The exercise's prompt and a redirect are offered first, then what is left.

        What the settings say of reviewing holds from the next start on: the lesson is about it.
        """
        first = [self.script.prompt, next(iter(self.script.asks.values())).example]
        others = [one.prompt for one in load_scripts() if one.prompt not in first]
        return replace(
            options,
            prompts=(*first, *others),
            suggest=self._suggested,
            save="on-accept",
            auto_accept=False,
        )

    def join(self, app: DuettoApp) -> None:
        """See `Beginning`."""
        app.on_begun = partial(self.begin, app)

    def begin(self, app: DuettoApp) -> None:
        """Put the guide onto the screen; called when it shows its first picture."""
        from tui.ui.guide.guide import Guide

        if self.kept is not None:
            words = f"Your old practice workspace is kept in {self.kept}"
            app.notify(words, timeout=8, markup=False)
        bench = app.bench
        bench.begin_guide(Guide(bench.session, bench.prompt_box, bench.panes, self._ended))

    def _suggested(self) -> str:
        return suggested(self.root) if self.is_over else self.script.prompt

    def _ended(self, ending: Ending) -> None:
        self.is_over = True


def guided(data_dir: Path, now: datetime) -> Guided:
    """The practice workspace with an exercise that the guide can play.

    Where all of them were begun it starts over, and the old workspace is kept beside it. Raises
    UsageError: the workspace cannot be made.
    """
    root = ensure(data_dir)
    script, kept = _fresh(root), None
    if script is None:
        root, kept = start_over(data_dir, now)
        script = _fresh(root)
    assert script is not None, "a new workspace has exercises"
    return Guided(root, script, kept)


def _fresh(root: Path) -> Script | None:
    """The first exercise that was not begun and knows a redirect; None: there is none."""
    done = begun(root)
    return next((one for one in load_scripts() if one.asks and one.name not in done), None)


def rehearsed(flags: ModelFlags) -> ModelFlags:
    """The guide plays with the rehearsal, unless a model is named for this run.

    Nothing is asked of a server, and nothing is paid, for a first look.
    """
    if flags.endpoint or flags.fast or flags.deep:
        return flags
    return replace(flags, fast="rehearsal-fast", deep="rehearsal-deep")


def remember(state_dir: Path, choice: str) -> None:
    """Keep that there was a first run; where it cannot be written it is asked again."""
    with suppress(OSError):
        said = json.dumps({"schema": 1, "choice": choice}) + "\n"
        replace_file(state_dir / FIRST_RUN, said.encode())


GIT_S = 1.0
_COLOURS = {"true": "all colours", "256": "256 colours", "16": "16 colours", "none": "no colours"}


async def look_around(
    paths: Paths, here: Path | None, environment: Mapping[str, str], tell: Tell
) -> tuple[ModelSource, ...]:
    """What a first start shows: those who could answer, the terminal, git, tests.

    Returns the first of these; ``here`` is the current folder, if it can be read. Never raises.
    """
    tell(FoundHere("terminal", _terminal(environment), "found"))
    tell(FoundHere("git", "looking…", "looking"))
    if here is not None:
        tell(FoundHere("tests", "looking…", "looking"))
    looking = asyncio.create_task(look_for_sources(paths, environment, tell))
    await all_of((looking, _git(tell), _tests(here, tell)))
    return await looking


def _terminal(environment: Mapping[str, str]) -> str:
    """What it shows, in words."""
    from tui.ui.terminal import facts as terminal_facts

    facts = terminal_facts.find(environment)
    signs = "Unicode" if facts.glyphs == "unicode" else "few signs beyond ASCII"
    words = [_COLOURS[facts.colours], signs if facts.unicode else "ASCII only"]
    words += [facts.multiplexer] * bool(facts.multiplexer) + ["over SSH"] * facts.remote
    return ", ".join(words)


async def _git(tell: Tell) -> None:
    """Whether git is here; it gets nothing of the environment but where programs are."""
    path = safe_path(os.environ, os.getcwd())
    program = shutil.which("git", path=path)
    if program is None:
        tell(
            FoundHere(
                "git", "not found: no states in the file tree, no diff against HEAD", "nothing"
            )
        )
        return
    version = ""
    with suppress(OSError, TimeoutError):
        running = await own_process.spawned(
            program,
            "--version",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={"PATH": path, "LC_ALL": "C"},
        )
        try:
            async with asyncio.timeout(GIT_S):
                said, _ = await running.communicate()
            version = said.decode("utf-8", "replace").removeprefix("git version ").strip()
        finally:
            if running.returncode is None:
                running.kill()
    tell(FoundHere("git", version[:24] or "found", "found"))


async def _tests(here: Path | None, tell: Tell) -> None:
    """Which command judges the current folder."""
    from tui.cli import workspace_commands

    if here is None:
        return
    try:
        found = await asyncio.to_thread(workspace_commands.find_verifiers, here, Settings())
    except (DuettoError, OSError) as error:
        tell(FoundHere("tests", str(error), "odd"))
        return
    command = project_tests(found)
    if command is None:
        tell(FoundHere("tests", "no test command found in this folder", "nothing"))
    elif not command.argv and command.reader is not None:
        tell(FoundHere("tests", command.reader("", False).fault, "odd"))
    else:
        tell(FoundHere("tests", command.source, "found"))


def current_directory() -> Path | None:
    """The current folder, if it can be opened."""
    try:
        folder = Path.cwd()
    except OSError:
        return None
    return folder if os.access(folder, os.R_OK | os.X_OK) else None


class FirstRun:
    """Over this folder, or over the practice workspace: shows the screen, then goes on."""

    def __init__(self, paths: Paths, guided: Guided | None, reopen: Reopen) -> None:
        """``guided`` lies under the screen; None: the current folder does, which is work."""
        self.under: Literal["practice", "here"] = "practice" if guided else "here"
        self.again: Callable[[], int] | None = None
        """What comes when this app has ended; None: nothing."""
        folder = current_directory()
        self.here = "" if folder is None else short_path(folder)
        self._folder = folder
        self._paths, self._guided, self._reopen = paths, guided, reopen
        self._choice: Choice | None = None

    def options(self, options: SessionOptions) -> SessionOptions:
        """As for the guide, where the practice lies under the screen."""
        return options if self._guided is None else self._guided.options(options)

    def join(self, app: DuettoApp) -> None:
        """Have the first picture be that of the screen."""
        from tui.ui.first_run.screen import FirstRunScreen

        screen = FirstRunScreen(self, lambda: self.go_on(app), app.connect_model)
        app.on_mounted = partial(app.push_screen, screen)

    async def look(self, tell: Tell) -> tuple[ModelSource, ...]:
        """See `Port`."""
        return await look_around(self._paths, self._folder, os.environ, tell)

    def choose(self, choice: Choice) -> None:
        """See `Port`."""
        self._choice = choice
        remember(self._paths.state_dir, choice)

    def go_on(self, app: DuettoApp) -> None:
        """The screen is gone: the guide, another folder, or what lies here."""
        choice, lesson = self._choice, self._guided
        if choice == "practice" and lesson is not None:
            lesson.begin(app)
            return
        if lesson is not None:
            lesson.is_over = True
        if choice in ("here", "practice"):
            self.again = partial(self._reopen, choice)
            app.call_later(app.action_quit)


Reopen = Callable[["Choice"], int]
"""Opens what was chosen, when the app with the first screen has ended."""


def open_first(flags: ModelFlags) -> int:
    """Open this folder, if it is work, else the practice, with the first-run screen over it.

    Then what was chosen there. Raises UsageError: the practice workspace cannot be made.
    """
    paths = Paths.find()
    work = current_folder(sources=True)
    lesson = guided(paths.data_dir, datetime.now()) if work is None else None

    def reopen(choice: Choice) -> int:
        if choice == "practice":
            guide = guided(paths.data_dir, datetime.now())
            return open_app(Invocation([str(guide.root)], rehearsed(flags)), guide)
        return open_app(Invocation([os.curdir], rehearsed(flags)))

    first = FirstRun(paths, lesson, reopen)
    root = os.curdir if lesson is None else str(lesson.root)
    code = open_app(Invocation([root], rehearsed(flags)), first)
    if code != EXIT_OK or first.again is None:
        return code
    process.stay()
    return first.again()
