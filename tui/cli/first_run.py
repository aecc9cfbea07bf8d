"""The very first start: no settings, nothing remembered, nothing named on the command line."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tui.cli.open_app import FIRST_RUN, open_app
from tui.cli.options import Invocation, ModelFlags
from tui.cli.practice import guided, rehearsed
from tui.cli.surroundings import Surroundings, current_directory, look_around, short_path
from tui.cli.target import current_folder
from tui.engine.connecting import FoundHere, ModelSource
from tui.errors import EXIT_OK
from tui.settings import Paths
from tui.shared_files import replace_file

if TYPE_CHECKING:
    from tui.cli.practice import Guided
    from tui.engine.session import SessionOptions
    from tui.ui.app import DuettoApp
    from tui.ui.first_run.screen import Choice


def remember(state_dir: Path, choice: str) -> None:
    """Keep that there was a first run; where it cannot be written it is asked again."""
    with suppress(OSError):
        said = json.dumps({"schema": 1, "choice": choice}) + "\n"
        replace_file(state_dir / FIRST_RUN, said.encode())


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

    async def look(self, tell: Callable[[FoundHere], None]) -> tuple[ModelSource, ...]:
        """See `Port`."""
        return await look_around(Surroundings(self._paths, self._folder, os.environ), tell)

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
    return code if code != EXIT_OK or first.again is None else first.again()
