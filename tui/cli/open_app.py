"""``duetto [PATH ...] [+LINE]``: open the app.

What can be checked without a screen is checked first, so that a wrong flag or path ends in one
sentence on an untouched terminal; the screen's packages are imported after that.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shlex
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TextIO

import click
from msgspec import Struct
from msgspec.structs import replace

from tui import kept_frame
from tui.cli import process
from tui.cli.appearance import (
    THEME_FILE,
    StartTheme,
    line_complaints,
    start_theme,
    use_keys,
    use_line,
)
from tui.cli.models import ResolvedModels, resolve
from tui.cli.options import Again, Invocation, ModelFlags, invocation_options, settings_for
from tui.cli.target import OpenTarget, current_folder, target_of
from tui.core.inert_text import inert
from tui.core.unsaved import Unsaved
from tui.effects.rescue import RescueFolders
from tui.errors import EXIT_FAILED, EXIT_OK, DuettoError, FileRefused, SettingsError, UsageError
from tui.settings import (
    PROJECT_FILE,
    Paths,
    Settings,
    load_project,
    unused,
    unused_in_project,
    with_project,
)
from tui.ui.terminal.facts import ScreenOptions, TerminalFacts, find

if TYPE_CHECKING:
    from tui.cli.appearance import StartTheme
    from tui.cli.composition import Composition
    from tui.cli.models import SessionSetup
    from tui.engine.notices import Status, Trouble
    from tui.engine.session import Session, SessionOptions
    from tui.engine.sessions import Onward
    from tui.linear.app import LinearApp
    from tui.settings import NotifySettings, ScreenSettings, Settings
    from tui.ui.app import DuettoApp
    from tui.ui.terminal.terminal_app import TerminalApp


_ERRORS_ELSEWHERE = "duetto draws on stderr, too: do not redirect it; errors are in the log"


def require_screen(
    stdin: TextIO | None = None, stdout: TextIO | None = None, stderr: TextIO | None = None
) -> None:
    """Raise UsageError unless all three streams are a terminal that can show something.

    A small one will do: there the app says how small it is, and starts when it is enlarged.
    """
    stdin, stdout, stderr = stdin or sys.stdin, stdout or sys.stdout, stderr or sys.stderr
    if not (stdin.isatty() and stdout.isatty()):
        raise UsageError(
            'this needs a terminal; without one use: duetto --linear, or duetto exec "PROMPT"'
        )
    if not stderr.isatty():
        print(f"duetto: {_ERRORS_ELSEWHERE}", file=stdout)  # the error itself goes to the file
        raise UsageError(_ERRORS_ELSEWHERE)
    term = os.environ.get("TERM", "")
    if term in ("dumb", "unknown") or (not term and os.name == "posix"):
        named = f"TERM={term}" if term else "TERM is not set"
        raise UsageError(
            f"this terminal ({named}) cannot show a full screen; use: duetto --linear, or set TERM"
        )


log = logging.getLogger("tui.cli")

_BROKEN = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What a screen raises that is half gone: what ends the app must not end its keeping, too."""


class LastWords:
    """Keeps once, says once."""

    def __init__(self, unsaved: Callable[[], Unsaved], folders: RescueFolders) -> None:
        """``unsaved`` tells what would be lost; it is asked at the end."""
        self._unsaved = unsaved
        self._folders = folders
        self._stderr = sys.stderr
        """As it was before the screen: while that is lent something else stands in its place."""
        self._kept = False
        self._words = ""

    def keep(self) -> None:
        """Write what would be lost to the state folder, or remove what is saved by now.

        The second call does nothing. It never raises: it stands between a signal and the end.
        """
        if self._kept:
            return
        self._kept = True
        try:
            unsaved = self._unsaved()
        except _BROKEN:
            log.exception("what would be lost is unknown")
            self._words = "what was typed last may be lost; /rescue brings back what was kept"
            return
        try:
            folder, failed = self._folders.keep(unsaved, last=True)
        except FileRefused as error:
            if unsaved:
                self._words = f"{unsaved.words} could not be kept: {error}"
            return
        if not unsaved:
            return
        self._words = f"{unsaved.words} not saved: kept in {folder}; /rescue brings it back"
        if failed:
            self._words += f" (but not {', '.join(failed)})"
        log.warning("unsaved text is kept in %s", folder)

    def add(self, words: str) -> None:
        """Something else is left behind; nothing, if it is empty."""
        if words:
            self._words = "; ".join(filter(None, (self._words, words)))
            log.warning("%s", words)

    def say(self) -> None:
        """The last sentence on stderr, if there is something to say and somebody to hear it."""
        if self._words:
            with suppress(OSError, ValueError):
                print(f"duetto: {inert(self._words)}", file=self._stderr, flush=True)

    def say_way_back(self, session_id: str) -> None:
        """How to go on with a session that is kept; nothing, if it is empty."""
        if session_id:
            with suppress(OSError, ValueError):
                print(f"To go on: duetto resume {session_id}", file=self._stderr, flush=True)


_MOST_TOLD = 9
_PLACE = " line "


def complaints_at_start(
    settings: Settings, config: Path, root: Path, theme: StartTheme
) -> list[str]:
    """What of the settings is not used: tables and values, the theme, keys, the status line.

    The user's keys go into the keymap.
    """
    themes = [line for trouble in theme.troubles for line in trouble.why.splitlines()]
    keys, line = use_keys(settings, config), line_complaints(settings, config)
    return [*unused(config), *unused_in_project(root), *themes, *keys, *line]


def trouble_with(complaints: Sequence[str]) -> Trouble | None:
    """What is said of them at the start; None if there are none."""
    if not complaints:
        return None
    from tui.engine.notices import Trouble

    count = len(complaints)
    what = f"{count} things in your settings are not used"
    if count == 1:
        what = "One thing in your settings is not used"
    step = "The rest is used; duetto doctor lists these, too."
    why = "\n".join(_by_file(sorted(complaints, key=_place)[:_MOST_TOLD], count))
    return Trouble(what, why, step, severity="warning", noted=True)


def _place(complaint: str) -> tuple[str, int]:
    """File and line."""
    file, _, words = complaint.partition(_PLACE)
    number = words[: len(words) - len(words.lstrip("0123456789"))]
    return file, int(number[:9] or 0)


def _by_file(complaints: Sequence[str], count: int) -> list[str]:
    """Each file is named once, before what is wrong in it."""
    rows, last = list[str](), ""
    for complaint in complaints:
        file, found, words = complaint.partition(_PLACE)
        if not found:
            file, words = "", complaint
        elif file != last:
            rows.append(f"In {file}")
        rows.append(f"line {words}" if found else words)
        last = file
    if count > len(complaints):
        rows.append(f"and {count - len(complaints)} more")
    return rows


def facts_for(screen: ScreenSettings, environment: Mapping[str, str]) -> TerminalFacts:
    """The terminal of this environment, as the settings have it."""
    wishes = ScreenOptions(screen.colours, screen.glyphs, screen.ambiguous, screen.background)
    return find(environment, wishes)


def tell_ends(app: TerminalApp, notify: NotifySettings, session: Session, root: Path) -> None:
    """Have it said outside of the window when a turn ends."""
    from tui.ui.terminal.notifying import NotifyOptions

    options = NotifyOptions(
        notify.bell, notify.title, notify.desktop, notify.after_s, notify.prompt
    )
    app.notify_by(options, root.name, lambda: _prompt(session))


def ring_ends(app: LinearApp, notify: NotifySettings) -> None:
    """The bell of the linear mode; title and notification would be signs among the words."""
    from tui.ui.terminal.notifying import Moment, Notifier, NotifyOptions

    herald = Notifier(NotifyOptions(bell=notify.bell, desktop="off", after_s=notify.after_s), {})

    def rings(status: Status, now_s: float) -> bool:
        said = herald.state(Moment(status.busy, bool(status.asks), status.outcome), now_s)
        return bool(said or herald.remind(now_s))

    app.on_typed, app.rings = herald.typed, rings


def _prompt(session: Session) -> str:
    """The last one that the user sent."""
    said = (block for block in reversed(session.transcript.blocks) if block.kind == "user")
    block = next(said, None)
    return "" if block is None else block.text[:200]


FIRST_RUN = "first-run.json"
"""In the state folder: that there was a first run, and what was chosen."""


class Beginning(Protocol):
    """What happens at the start: the guide, the first run."""

    def options(self, options: SessionOptions) -> SessionOptions:
        """How the session behaves then."""

    def join(self, app: DuettoApp) -> None:
        """Have the app, which does not run yet, call when it is time."""


@click.command("open")
@click.argument("path", nargs=-1, metavar="[PATH ...] [+LINE]")
@invocation_options
def open_command(path: Sequence[str], asked: Invocation) -> int:
    """Open the app on a folder, or on files (path:line:col works too); new ones are made on saving.

    Without PATH the current folder is opened, if it is a git checkout or holds sources, else the
    practice workspace. Where no model is connected the built-in rehearsal answers.
    """
    arguments = [path] if isinstance(path, str) else path
    plain = not (arguments or asked.linear or asked.record or asked.trace)
    if plain and is_first(asked.flags, Paths.find()):
        from tui.cli.practice import open_first

        return open_first(asked.flags)
    return opened(replace(asked, arguments=arguments))


def is_first(flags: ModelFlags, paths: Paths) -> bool:
    """Whether duetto was never started here: no settings, and nothing that a first run left.

    Where that cannot be remembered it is no first run: it would be one at every start.
    """
    if replace(flags, debug=False) != ModelFlags():
        return False
    state = paths.state_dir
    known = os.path.lexists(paths.config_file) or os.path.lexists(state / FIRST_RUN)
    return not known and state.is_dir() and os.access(state, os.W_OK | os.X_OK)


def opened(asked: Invocation, beginning: Beginning | None = None) -> int:
    """Go on in lines of text, or as `open_app`; returns the exit code."""
    if not asked.linear:
        return open_app(asked, beginning)
    from tui.cli.open_linear import open_linear

    return open_linear(asked)


def open_app(asked: Invocation, beginning: Beginning | None = None) -> int:
    """Open the app on what is asked for; returns the exit code.

    ``beginning`` is what happens over it at the start. Raises UsageError, SettingsError or
    EndpointError before the terminal is touched.
    """
    require_screen()

    def options(setup: SessionSetup) -> SessionOptions:
        return replace(options_for(setup), in_slices=True)

    def first_options(setup: SessionSetup) -> SessionOptions:
        return options(setup) if beginning is None else beginning.options(options(setup))

    start = prepared(asked, first_options)
    while True:
        setup, root = start.setup, start.target.root
        opened = partial(made_app, start.composition.session, setup.settings, root, start.theme)
        config = asked.flags.config or setup.paths.config_file
        join = None if beginning is None else beginning.join
        join = _list_sessions if asked.lists else join
        code, onward = _played(start, opened, join, config)
        if onward is None:
            return code
        process.stay()
        from tui.cli import sessions

        again, beginning = sessions.again(setup.paths, onward, whole=False), None
        asked = next_of(asked, again)
        start = prepared(asked, options)


def next_of(asked: Invocation, again: Again) -> Invocation:
    """The same for another session: what is recorded of it goes to files of its own."""
    record, trace = map(_next_file, (asked.record, asked.trace))
    return replace(asked, arguments=(), record=record, trace=trace, again=again, lists=False)


def _next_file(file: Path | None) -> Path | None:
    """``run.jsonl``, ``run-2.jsonl``, ``run-3.jsonl``: the next one that is not there."""
    while file is not None and os.path.lexists(file):
        stem, _, number = file.stem.rpartition("-")
        if not (stem and number.isascii() and number.isdecimal()):
            stem, number = file.stem, "1"
        file = file.with_name(f"{stem}-{int(number) + 1}{file.suffix}")
    return file


def recorded(asked: Invocation) -> Trouble | None:
    """Where a session that goes on is recorded; None: nowhere."""
    from tui.engine.notices import Trouble

    files = [str(file) for file in (asked.record, asked.trace) if file is not None]
    if asked.again is None or not files:
        return None
    what = f"Recorded to {' and '.join(files)}"
    return Trouble(what, severity="information", noted=True)


class Start(Struct, frozen=True):
    """What the app or the linear mode begins with."""

    setup: SessionSetup
    target: OpenTarget
    theme: StartTheme
    composition: Composition


def prepared(asked: Invocation, options: Callable[[SessionSetup], SessionOptions]) -> Start:
    """All of it, checked.

    What of the settings is not used, those of the screen as well, is told in the session. Raises
    UsageError, SettingsError or EndpointError.
    """
    flags, again, paths = asked.flags, asked.again, Paths.find()
    settings = settings_for(flags, paths)
    models = resolve(settings, flags)
    target = target_of([str(again.folder)]) if again else target_of(asked.arguments)
    target = target or home_of(models, paths)
    config, project = flags.config or paths.config_file, load_project(target.root)
    theme = start_theme(settings.editor, project, target.root, paths, config)
    settings = with_project(settings, project)
    complaints = complaints_at_start(settings, config, target.root, theme)
    from tui.cli.composition import Composition, tracer_for
    from tui.cli.models import SessionSetup

    setup = SessionSetup(target.root, settings, models, paths, tracer_for(asked.trace), flags)
    chosen = options(setup)
    if again is not None:
        chosen = again.options(chosen, models.roles)
    composition = Composition(setup, chosen, record=asked.record)
    wrong_ones = (composition.prompting.left_over(), trouble_with(complaints), recorded(asked))
    for wrong in filter(None, wrong_ones):
        composition.session.warn(wrong)
    return Start(setup, target, theme, composition)


def home_of(models: ResolvedModels, paths: Paths) -> OpenTarget:
    """What is opened when nothing is named: this folder, or the practice workspace.

    With the rehearsal this folder has to be a checkout or hold sources.

    Raises UsageError: the practice workspace cannot be made.
    """
    here = current_folder(sources=models.rehearsal)
    if here is None:
        from tui.cli.practice import ensure

        here = OpenTarget(ensure(paths.data_dir))
    return here


def session_options(settings: Settings) -> SessionOptions:
    """What the settings say of the model's commands. Raises SettingsError: an ``allow`` is none."""
    from tui.engine.model_commands import CommandRules
    from tui.engine.ports import Caps, FixRules
    from tui.engine.requests import TurnLimits
    from tui.engine.session import SessionOptions

    table, limits, verify = settings.commands, settings.limits, settings.verify
    return SessionOptions(
        mode=table.mode,
        verify=settings.verify.when,
        commands=CommandRules(
            tuple(
                command_prefix(prefix, "[commands] allow", SettingsError) for prefix in table.allow
            ),
            table.network,
            table.deadline_s,
        ),
        limits=TurnLimits(table.max_rounds, table.max_tokens, table.max_cost, table.max_time_s),
        caps=Caps(limits.session_usd, limits.day_usd, limits.switch_usd),
        fix=FixRules(
            verify.fix,
            verify.fix_tries,
            verify.fix_usd,
            verify.fix_time_s,
            verify.fix_with,
            verify.escalate,
        ),
    )


def command_prefix(
    prefix: str, where: str, refusal: type[DuettoError] = UsageError
) -> tuple[str, ...]:
    """The words of a command's beginning, said ``where``. Raises ``refusal``: it has none."""
    try:
        words = tuple(shlex.split(prefix))
    except ValueError as error:
        raise refusal(f"{where}: {prefix!r} is not a command ({error})") from None
    if not words:
        raise refusal(f"{where}: one is empty; say how a command begins: 'npm test'")
    return words


def options_for(setup: SessionSetup) -> SessionOptions:
    """How the session behaves; in the practice workspace its exercises are offered."""
    from tui.bridge.rehearsal import RECORD, TRY_HERE

    editor, root = setup.settings.editor, setup.root
    options = replace(
        session_options(setup.settings),
        save=editor.save,
        first_role=setup.models.first_role,
        ask=True,
        ambiguous=editor.ambiguous,
        auto_accept=editor.review == "auto",
        propose=setup.settings.prompt.propose,
        asks_felt=setup.settings.stats.ask,
        kind="rehearsal" if setup.models.rehearsal else "app",
    )
    if not (root / RECORD).is_file():
        return replace(options, prompts=(TRY_HERE,)) if setup.models.rehearsal else options
    from tui.bridge.rehearsal.scripts import load_scripts
    from tui.cli.practice import suggested

    return replace(
        options,
        prompts=tuple(one.prompt for one in load_scripts()),
        suggest=lambda: suggested(root),
        kind="practice",
    )


def _list_sessions(app: DuettoApp) -> None:
    from tui.ui.screens.sessions import resume

    app.on_begun = partial(app.call_later, resume, app, app.session)


def _played(
    start: Start,
    opened: Callable[[], DuettoApp],
    join: Callable[[DuettoApp], None] | None,
    config: Path,
) -> tuple[int, Onward | None]:
    """Until the user leaves; the exit code, and the session to go to."""
    # nothing is there yet that Ctrl+C could harm, and a task that it cancels fails in odd ways
    signal.signal(signal.SIGINT, kept_frame.end)
    app = opened()
    with asyncio.Runner() as runner:
        try:
            return runner.run(_run(start, app, join, config))
        except SystemExit:
            app.leaving.before()  # its parts end one by one: no frame may look for them
            raise


async def _run(
    start: Start, app: DuettoApp, join: Callable[[DuettoApp], None] | None, config: Path
) -> tuple[int, Onward | None]:
    """The same in the event loop; whatever ends it, what is unsaved is kept."""
    composition, setup, target = start.composition, start.setup, start.target
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(log_broken)
    app.stamp = setup.stamp
    app.copy_here = composition.copy_here
    app.connecting = composition.connector
    composition.prompting.serve(app.bench.prompt_box)
    if join is not None:
        join(app)
    app.on_settled = partial(keep_frame, app, setup, config)
    if setup.tracer is not None:
        setup.tracer.watch()
    open_files(composition.session, target)
    last_words = LastWords(app.leaving.unsaved, composition.rescue)
    app.leaving.on_forced = last_words.keep

    def last() -> None:
        try:
            app.leaving.give_terminal_back()
        finally:
            last_words.keep()
            last_words.say()

    app.leaving.on_begun = partial(process.end_in_time, last=last)
    try:
        code = await app.run_async()
    finally:
        process.end_in_time(EXIT_FAILED, last)
        last_words.keep()
        last_words.add(await composition.prompting.leave())
        last_words.say()
        await composition.close()
        if app.leaving.onward is None:
            last_words.say_way_back(composition.kept_as)
    if getattr(app, "broken", False):
        return EXIT_FAILED, None
    return code if isinstance(code, int) else EXIT_OK, app.leaving.onward


def keep_frame(app: DuettoApp, setup: SessionSetup, config: Path) -> None:
    """Have the next start show at once what does not change; the settings must be the same."""
    if os.name != "posix":
        return
    from tui.ui.terminal import frame_keeping

    paths, themes = setup.paths, setup.paths.themes_dir
    own = sorted(themes.iterdir()) if themes.is_dir() else ()
    watched = (config, setup.root / PROJECT_FILE, paths.state_dir / THEME_FILE, themes, *own)
    words = ("duetto", f"{setup.root.name}/")
    frame_keeping.keep_frame(
        app, app.bench, (app.bench.header, words), [str(path) for path in watched]
    )


def open_files(session: Session, target: OpenTarget) -> None:
    """A tab each; the first file is the active one."""
    from tui.engine.intents import OpenFile

    for place in target.places:
        aside = place is not target.places[0]
        session.submit(OpenFile(place.path, place.line, place.col, aside, place.new))


def made_app(session: Session, settings: Settings, root: Path, theme: StartTheme) -> DuettoApp:
    """The app over a session."""
    from tui.ui.app import DuettoApp

    class App(DuettoApp):
        """The app with a last handler: what breaks is logged, and said in one sentence."""

        broken = False

        def _handle_exception(self, error: Exception) -> None:
            """Textual's last handler (tests/cli/test_open_app.py notices if it moves)."""
            if self.bench.is_ending:
                log.warning("broken off on the way out", exc_info=error)
                return
            self.broken = True
            log.error("the app broke", exc_info=error)
            name, where = type(error).__name__, Paths.find().log_file
            self.panic(f"duetto: internal error ({name}); files are as last saved; see {where}")

    facts = facts_for(settings.screen, os.environ)
    app = App(
        session,
        theme_name=theme.name(facts.dark),
        workspace=str(root),
        follow=settings.editor.follow,
    )
    theme.put_on(app, facts.dark)
    app.draw_on(facts)
    tell_ends(app, settings.notify, session, root)
    app.bench.editor.sides.set_wrap(settings.editor.wrap)
    use_line(app.bench, settings.meter)
    if less_motion(settings.editor.reduced_motion, os.environ):
        app.reduce_motion()
    return app


def less_motion(setting: bool | Literal["auto"], environ: Mapping[str, str]) -> bool:
    """Whether nothing shall slide; ``auto``: where ``REDUCE_MOTION`` or ``NO_MOTION`` is set."""
    if setting != "auto":
        return setting
    return any(environ.get(name, "0") not in ("", "0") for name in ("REDUCE_MOTION", "NO_MOTION"))


def log_broken(loop: asyncio.AbstractEventLoop, context: Mapping[str, object]) -> None:
    """A task of nobody broke: the screen must not be written over."""
    error = context.get("exception")
    log.error(
        "%s", context.get("message"), exc_info=error if isinstance(error, Exception) else None
    )
