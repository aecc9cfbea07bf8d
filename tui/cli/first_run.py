"""The very first start: no settings, nothing remembered, nothing named on the command line."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tui.cli.guided import guided, rehearsed
from tui.cli.open_app import FIRST_RUN, open_app
from tui.cli.options import ModelFlags
from tui.errors import EXIT_OK
from tui.settings import Paths

if TYPE_CHECKING:
    from tui.cli.found_here import Place
    from tui.cli.guided import Guided
    from tui.engine.session import SessionOptions
    from tui.ui.app import DuettoApp
    from tui.ui.first_run.port import Choice, Found, Listed, Source


def remember(state_dir: Path, choice: str) -> None:
    """Keep that there was a first run; where it cannot be written it is asked again."""
    file = state_dir / FIRST_RUN
    fresh = file.with_name(f".{FIRST_RUN}.{os.getpid()}")
    try:
        fresh.write_text(json.dumps({"schema": 1, "choice": choice}) + "\n", encoding="utf-8")
        fresh.replace(file)
    except OSError:
        return


class FirstRun:
    """Over the practice workspace: shows the screen, then goes on as was chosen."""

    under: Literal["practice", "here"] = "practice"

    def __init__(self, paths: Paths, guided: Guided, reopen: Callable[[ModelFlags], int]) -> None:
        """``reopen`` opens the current folder with what the settings then say."""
        self.again: Callable[[], int] | None = None
        """What comes when this app has ended; None: nothing."""
        self.config_file = _short(paths.config_file)
        folder = _current()
        self.here = "" if folder is None else _short(folder)
        self._folder = folder
        self._paths, self._guided, self._reopen = paths, guided, reopen
        self._choice: Choice | None = None

    def options(self, options: SessionOptions) -> SessionOptions:
        """As for the guide: the practice lies under the screen."""
        return self._guided.options(options)

    def begin(self, app: DuettoApp) -> None:
        """Put the screen up; called when the first picture is there."""
        from tui.ui.first_run.screen import FirstRunScreen

        app.push_screen(FirstRunScreen(self, lambda: self.go_on(app)))

    async def look(self, tell: Callable[[Found], None]) -> tuple[Source, ...]:
        """See `Port`."""
        from tui.cli import found_here

        return await found_here.look(self._place(), tell)

    async def models(self, source: Source) -> Listed:
        """See `Port`."""
        from tui.cli import found_here

        return await found_here.models_of(source, self._place())

    def config(self, source: Source, fast: str, deep: str) -> str:
        """See `Port`."""
        from tui.cli.first_settings import text_of

        return text_of(source.name, fast, deep)

    def write(self, text: str) -> str:
        """See `Port`."""
        from tui.cli.first_settings import write

        return write(self._paths.config_file, text)

    def choose(self, choice: Choice) -> None:
        """See `Port`."""
        self._choice = choice
        remember(self._paths.state_dir, choice)

    def _place(self) -> Place:
        from tui.cli.found_here import Place

        return Place(self._paths, self._folder, os.environ)

    def go_on(self, app: DuettoApp) -> None:
        """The screen is gone: the guide, another folder, or what lies here."""
        if self._choice == "practice":
            self._guided.begin(app)
            return
        self._guided.is_over = True
        if self._choice in ("connected", "here"):
            flags = ModelFlags()
            if self._choice == "here":
                flags = dataclasses.replace(flags, fast="rehearsal-fast", deep="rehearsal-deep")
            self.again = lambda: self._reopen(flags)
            app.call_later(app.action_quit)


def open_first(flags: ModelFlags) -> int:
    """Open the practice workspace with the first-run screen over it, then what was chosen there.

    Raises UsageError: the practice workspace cannot be made.
    """
    paths = Paths.find()
    lesson = guided(paths.data_dir, datetime.now())
    first = FirstRun(paths, lesson, lambda chosen: open_app([os.curdir], chosen))
    code = open_app([str(lesson.root)], rehearsed(flags), beginning=first)
    return code if code != EXIT_OK or first.again is None else first.again()


def _current() -> Path | None:
    """The current folder, if it can be opened."""
    try:
        folder = Path.cwd()
    except OSError:
        return None
    return folder if os.access(folder, os.R_OK | os.X_OK) else None


def _short(path: Path) -> str:
    """A path as people write it: the home folder is ``~``."""
    try:
        return f"~/{path.relative_to(Path.home()).as_posix()}".removesuffix("/.")
    except (ValueError, RuntimeError, OSError):
        return str(path)
