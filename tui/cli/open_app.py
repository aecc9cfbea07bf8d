"""``duetto [PATH ...] [+LINE]``: open the app.

What can be checked without a screen is checked first, so that a wrong flag or path ends in one
sentence on an untouched terminal; the screen's packages are imported after that.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import os
import signal
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

import click
import msgspec

from tui.cli.last_words import LastWords
from tui.cli.options import ModelFlags, model_options, record_option, settings_for, trace_option
from tui.cli.own_keys import trouble_with, use_keys
from tui.cli.resolution import ResolvedModels, resolve
from tui.cli.screen import require_screen
from tui.cli.target import Target, target_of
from tui.cli.terminal_choices import facts_for, tell_ends
from tui.errors import EXIT_FAILED, EXIT_OK
from tui.settings import PROJECT_FILE, Paths, Settings, load_project, with_project

if TYPE_CHECKING:
    from tui.cli.composition import Composition
    from tui.cli.workplace import Workplace
    from tui.engine.notices import Trouble
    from tui.engine.session import Options, Session
    from tui.ui.app import DuettoApp

log = logging.getLogger("tui.cli")


class Beginning(Protocol):
    """What happens at the start: the guide, the first run."""

    def options(self, options: Options) -> Options:
        """How the session behaves then."""

    def begin(self, app: DuettoApp) -> None:
        """The first picture is on the screen."""


@click.command("open")
@click.argument("path", nargs=-1, metavar="[PATH ...] [+LINE]")
@record_option
@trace_option
@model_options
def open_command(
    path: Sequence[str], record: Path | None, trace: Path | None, flags: ModelFlags
) -> int:
    """Open the app on a folder, or on files (path:line:col works too); new ones are made on saving.

    Without PATH the current folder is opened; where no model is configured the built-in rehearsal
    answers, in its practice workspace.
    """
    return open_app([path] if isinstance(path, str) else path, flags, record, trace)


def open_app(
    arguments: Sequence[str],
    flags: ModelFlags,
    record: Path | None = None,
    trace: Path | None = None,
    beginning: Beginning | None = None,
) -> int:
    """Open the app on what the arguments name; returns the exit code.

    ``beginning`` is what happens over it at the start. Raises UsageError, SettingsError or
    EndpointError before the terminal is touched.
    """
    require_screen()
    paths = Paths.find()
    settings = settings_for(flags, paths)
    models = resolve(settings, flags)
    target = target_of(arguments) or _home_of(models, paths)
    own_theme = settings.editor.theme
    settings = with_project(settings, load_project(target.root))
    settings, wrong_theme = with_known_theme(settings, own_theme, target.root)
    wrong_keys = trouble_with(use_keys(settings, flags.config or paths.config_file))
    from tui.cli.composition import Composition, tracer_for
    from tui.cli.workplace import Workplace

    workplace = Workplace(target.root, settings, models, paths, tracer_for(trace))
    options = options_for(workplace)
    if beginning is not None:
        options = beginning.options(options)
    composition = Composition(workplace, options, record=record)
    for wrong in filter(None, (wrong_theme, wrong_keys)):
        composition.session.warn(wrong)
    return asyncio.run(_run(composition, workplace, target, beginning))


def _home_of(models: ResolvedModels, paths: Paths) -> Target:
    """What is opened when nothing is named: the exercises, or with a real model this folder.

    Raises UsageError: this folder cannot be read.
    """
    here = None if models.rehearsal else target_of([os.curdir])
    if here is None:
        from tui.cli.practice import ensure

        here = Target(ensure(paths.data_dir))
    return here


def with_known_theme(
    settings: Settings, own_theme: str, root: Path
) -> tuple[Settings, Trouble | None]:
    """The settings without a theme of the workspace's that this duetto does not have.

    A cloned repository must not keep anybody from opening it; a theme of one's own that does not
    exist is an error. Returns what is to be said of it too.
    """
    chosen = settings.editor.theme
    if not chosen or chosen == own_theme:
        return settings, None
    from tui.engine.notices import Trouble
    from tui.ui.theme import theme_names

    names = theme_names()
    if chosen in names:
        return settings, None
    editor = msgspec.structs.replace(settings.editor, theme=own_theme)
    words = f"{root / PROJECT_FILE} asks for {chosen!r}"
    step = f"there are {', '.join(names)}"
    trouble = Trouble("There is no such theme", words, step, severity="warning")
    return msgspec.structs.replace(settings, editor=editor), trouble


def options_for(workplace: Workplace) -> Options:
    """How the session behaves; in the practice workspace its exercises are offered."""
    from tui.bridge.rehearsal import RECORD
    from tui.engine.session import Options

    editor, root = workplace.settings.editor, workplace.root
    options = Options(
        save=editor.save,
        first_role=workplace.models.first_role,
        ask=True,
        ambiguous=editor.ambiguous,
        auto_accept=editor.review == "auto",
    )
    if not (root / RECORD).is_file():
        return options
    from tui.cli import practice

    return dataclasses.replace(
        options,
        prompts=tuple(exercise.prompt for exercise in practice.offered_prompts()),
        suggest=lambda: practice.suggested(root),
    )


async def _run(
    composition: Composition,
    workplace: Workplace,
    target: Target,
    beginning: Beginning | None = None,
) -> int:
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(log_broken)
    # nothing is there yet that Ctrl+C could harm, and a task that it cancels fails in odd ways
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    app = made_app(composition.session, workplace.settings, target.root)
    app.stamp = workplace.stamp
    app.copy_here = composition.copy_here
    if beginning is not None:
        app.on_begun = partial(beginning.begin, app)
    if workplace.tracer is not None:
        workplace.tracer.watch()
    _open_files(composition.session, target)
    last_words = LastWords(app.unsaved, composition.rescue)
    app.on_forced_end = last_words.keep
    try:
        code = await app.run_async()
    finally:
        last_words.keep()
        last_words.say()
        await composition.close()
    if getattr(app, "broken", False):
        return EXIT_FAILED
    return code if isinstance(code, int) else EXIT_OK


def _open_files(session: Session, target: Target) -> None:
    """A tab each; the first file is the active one."""
    from tui.engine.intents import OpenFile

    for place in target.places:
        aside = place is not target.places[0]
        session.submit(OpenFile(place.path, place.line, place.col, aside, place.new))


def made_app(session: Session, settings: Settings, root: Path) -> DuettoApp:
    """The app over a session."""
    from tui.ui.app import DuettoApp
    from tui.ui.theme import DEFAULT_THEME

    class App(DuettoApp):
        """The app with a last handler: what breaks is logged, and said in one sentence."""

        broken = False

        def _handle_exception(self, error: Exception) -> None:
            """Textual's last handler (tests/cli/test_open_app.py notices if it moves)."""
            self.broken = True
            log.error("the app broke", exc_info=error)
            name, where = type(error).__name__, Paths.find().log_file
            self.panic(f"duetto: internal error ({name}); files are as last saved; see {where}")

    app = App(
        session,
        theme_name=settings.editor.theme or DEFAULT_THEME,
        workspace=str(root),
        follow=settings.editor.follow,
        branch=git_branch(root),
    )
    app.draw_on(facts_for(settings.screen, os.environ))
    tell_ends(app, settings.notify, session, root)
    app.bench.editor.set_wrap(settings.editor.wrap)
    if less_motion(settings.editor.reduced_motion, os.environ):
        app.reduce_motion()
    return app


def less_motion(setting: bool | Literal["auto"], environ: Mapping[str, str]) -> bool:
    """Whether nothing shall slide; ``auto``: where ``REDUCE_MOTION`` or ``NO_MOTION`` is set."""
    if setting != "auto":
        return setting
    return any(environ.get(name, "0") not in ("", "0") for name in ("REDUCE_MOTION", "NO_MOTION"))


def git_branch(root: Path) -> str:
    """The branch that is checked out, read from ``.git/HEAD``; empty if there is none."""
    for folder in (root, *root.parents):
        git = folder / ".git"
        try:
            if git.is_file():
                git = folder / _beginning(git).partition("gitdir:")[2].strip()
            head = _beginning(git / "HEAD").strip()
        except (OSError, ValueError):
            continue
        return head.removeprefix("ref: refs/heads/") if head.startswith("ref:") else head[:8]
    return ""


def _beginning(file: Path) -> str:
    """Of a small text file; a link to a device or a pipe is not waited for."""
    if not file.is_file():
        raise FileNotFoundError(file)
    with file.open("rb") as opened:
        return opened.read(4096).decode()


def log_broken(loop: asyncio.AbstractEventLoop, context: Mapping[str, object]) -> None:
    """A task of nobody broke: the screen must not be written over."""
    error = context.get("exception")
    log.error(
        "%s", context.get("message"), exc_info=error if isinstance(error, Exception) else None
    )
