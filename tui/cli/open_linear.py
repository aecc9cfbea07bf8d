"""``duetto --linear``: the session as lines of text, for screen readers, pipes, dumb terminals.

The main thread reads lines and writes them (`tui.linear.console` says why); the session lives in
the event loop of a second one.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from tui import kept_frame
from tui.cli import process
from tui.cli.composition import Composition, Prompting
from tui.cli.models import SessionSetup
from tui.cli.open_app import (
    LastWords,
    Start,
    log_broken,
    next_of,
    open_files,
    options_for,
    prepared,
    ring_ends,
)
from tui.cli.options import Invocation
from tui.cli.target import OpenTarget
from tui.core.inert_text import inert
from tui.core.programs import Edited
from tui.core.unsaved import Unsaved
from tui.engine.notices import Status
from tui.engine.session import SessionOptions
from tui.errors import EXIT_FAILED
from tui.linear.app import LinearApp
from tui.linear.command_table import Completion
from tui.linear.console import Console, LineSource, Listener, source_of

_PATIENCE_S = 1.0
_MOST = 500
"""Lines of earlier runs that the up arrow goes through."""


def open_linear(asked: Invocation) -> int:
    """Converse in lines of text about what is asked for; returns the exit code.

    Raises UsageError, SettingsError or EndpointError before anything is said.
    """
    kept_frame.leave()
    process.begin()
    start = prepared(asked, _options)
    prompting, chosen = start.composition.prompting, start.setup.settings.prompt
    past = [one.text for one in prompting.load()[-_MOST:]] if chosen.history else []
    completion = Completion(start.composition.session)
    source = source_of(completion.found, past, vi=chosen.vi)
    if not source.edits:
        process.turn_on()
    rest = ["/resume"] * asked.lists
    while True:
        linear = _made(start, source)
        linear.app.begin_with(rest)
        code = linear.run()
        if (onward := linear.app.onward) is None:
            return code
        process.stay()
        from tui.cli import sessions

        again, rest = sessions.again(start.setup.paths, onward), linear.app.rest
        asked = next_of(asked, again)
        start = prepared(asked, _options)
        completion.session = start.composition.session


def _made(start: Start, source: LineSource) -> Linear:
    """The linear mode over a session."""
    composition, target, settings = start.composition, start.target, start.setup.settings
    prompting, chosen = composition.prompting, settings.prompt
    linear = Linear(composition, target, source)
    linear.app.editor = partial(_edited, prompting, source)
    linear.app.connector = composition.connector
    if source.live and sys.stdout.isatty():
        ring_ends(linear.app, settings.notify)
    if source.edits and chosen.history:
        linear.app.on_entered = prompting.keep
    return linear


def _options(setup: SessionSetup) -> SessionOptions:
    options = options_for(setup)
    return replace(options, kind="linear") if options.kind == "app" else options


async def _edited(prompting: Prompting, source: LineSource, text: str) -> Edited:
    """Have the draft edited by a program that finds the terminal as it was."""
    process.turn_on()
    try:
        return await prompting.edit(text)
    finally:
        if source.edits:
            process.turn_off()


class Linear:
    """Two threads: this one hears and speaks, the other one has the session."""

    def __init__(self, composition: Composition, target: OpenTarget, source: LineSource) -> None:
        self._composition = composition
        self._target = target
        self._console = Console(source, sys.stdout.fileno(), sys.stdout.encoding)
        self.app = LinearApp(composition.session, self._console, live=source.live)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._known = threading.Event()
        """The first thread waits for the second one, whatever happens."""
        self._begun = threading.Event()
        self._settling: set[asyncio.Task[None]] = set()
        self._last_words = LastWords(self._unsaved, composition.rescue)

    def run(self) -> int:
        """Until the user leaves. Raises what broke in the session's thread."""
        app, call = self.app, self._call
        listener = Listener(
            line=lambda text, taken: call(self._hear, text, taken),
            interrupted=lambda cleared, taken: call(self._stop, cleared, taken),
            ended=lambda: call(app.ended),
            killed=self._kill,
            typing=lambda text: call(app.typing, text),
        )
        with ThreadPoolExecutor(1, thread_name_prefix="session") as second:
            # Ctrl+C in the start of a thread would leave one behind that nobody waits for:
            # neither thread hears it before.
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            ended = second.submit(self._session)
            try:
                self._known.set()
                signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
                self._begun.wait()
                self._console.serve(listener)
            finally:
                self._begun.wait()  # Ctrl+C may have come before it began, and before `serve`
                self._console.finished.set()
                call(app.end, EXIT_FAILED)
                process.end_in_time(EXIT_FAILED, self._last)
                wait([ended])
                self._console.release()
        return ended.result()

    def _session(self) -> int:
        """The second thread; what breaks in it is raised in the first one."""
        self._known.wait()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # or its programs have it so
        try:
            return asyncio.run(self._main())
        finally:
            self._begun.set()
            self._console.finish()

    async def _main(self) -> int:
        self._loop = asyncio.get_running_loop()
        self._loop.set_exception_handler(log_broken)
        session = self._composition.session
        self._begun.set()
        open_files(session, self._target)
        code = EXIT_FAILED
        try:
            code = await self.app.run(opening(session.status, self._target.root))
            return code
        finally:
            process.end_in_time(code, self._last)
            # whoever reads lines has to stop first: what stands in one is kept, too
            await asyncio.to_thread(self._console.finish, _PATIENCE_S)
            self._last_words.keep()
            self._last_words.add(await self._composition.prompting.leave())
            self._last_words.say()
            await self._composition.close()
            if self.app.onward is None:
                self._last_words.say_way_back(self._composition.kept_as)

    def _last(self) -> None:
        self._last_words.keep()
        self._last_words.say()

    def _kill(self, code: int) -> None:
        process.end_in_time(code, self._last)
        self._call(self.app.end, code)

    def _hear(self, text: str, taken: Callable[[], None]) -> None:
        try:
            self.app.line(text)
        finally:
            task = asyncio.get_running_loop().create_task(self.app.settled())
            self._settling.add(task)
            task.add_done_callback(self._settling.discard)
            task.add_done_callback(lambda _: taken())

    def _stop(self, cleared: bool, taken: Callable[[], None]) -> None:
        try:
            self.app.interrupted(cleared)
        finally:
            taken()

    def _call(self, function: Callable[..., None], *arguments: object) -> None:
        """In the session's thread, as soon as it can; nothing, if that has ended."""
        if self._loop is None or self._loop.is_closed():
            return
        try:
            self._loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:  # it was closed just now
            return

    def _unsaved(self) -> Unsaved:
        """What would be lost; nothing if the user left it behind."""
        if self.app.left:
            return Unsaved()
        if left_over := self._console.left_over:
            self.app.typing(left_over)
        drafts = (self._composition.prompting.written() or "", self.app.draft)
        return self._composition.session.unsaved("\n".join(filter(None, drafts)))


def opening(status: Status, root: Path) -> list[str]:
    """Where the user is, who answers, and how to begin."""
    lines = [f"duetto, linear mode, in {inert(str(root))}."]
    models = [f"{role} is {inert(name or 'none')}" for role, name in status.models.items()]
    lines.append(f"{', '.join(models)}; {status.role} answers.")
    if status.rehearsal:
        lines.append("This is a rehearsal: scripted answers at real speeds, no model.")
        lines.append("/connect connects a real model.")
    if status.suggestion:
        lines.append(f"Try: {inert(status.suggestion)}")
    lines.append("Type what you want and press Enter; /help reads all commands, /quit leaves.")
    return lines
