"""What the user chose of looks: theme, status line and keys, put on at the start."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from tui import toml_tables
from tui.engine.notices import Trouble
from tui.errors import SettingsError
from tui.settings import (
    PROJECT_FILE,
    EditorSettings,
    MeterSettings,
    Paths,
    ProjectSettings,
    Settings,
)
from tui.toml_tables import nearest

if TYPE_CHECKING:
    from tui.ui.app import DuettoApp
    from tui.ui.screens.workbench import Workbench
    from tui.ui.theming.theme_manager import ThemePair


_LIMIT_BYTES = 64 * 1024
_MOST = 200
"""Workspaces whose choice is kept; the oldest goes first."""


THEME_FILE = "theme.json"
"""In the state folder: what was chosen with the keyboard."""


class ThemeChoice:
    """What was chosen in place of one theme of the settings."""

    def __init__(self, paths: Paths, configured: str, workspace: str = "") -> None:
        """``workspace``: the one whose own settings name the theme; empty: the user's do."""
        self._paths = paths
        self._file = paths.state_dir / THEME_FILE
        self._configured = configured
        self._workspace = workspace

    def known(self) -> str:
        """The choice; empty: none was made, or the settings say something else by now."""
        over, chosen = _choice_of(self._all().get(self._workspace))
        return chosen if over == self._configured else ""

    def keep(self, choice: str) -> None:
        """Choose this from now on; what cannot be written holds until duetto ends."""
        choices = self._all()
        choices.pop(self._workspace, None)
        if choice != self._configured:
            choices[self._workspace] = [self._configured, choice]
        while len(choices) > _MOST:
            del choices[next(iter(choices))]
        from tui.shared_files import replace_file  # not at every start

        with contextlib.suppress(OSError, SettingsError):
            place = self._paths.make_state_dir() / self._file.name
            replace_file(place, json.dumps(choices, indent=1).encode())

    def _all(self) -> dict[str, object]:
        try:
            with self._file.open("rb") as opened:
                found = json.loads(opened.read(_LIMIT_BYTES))
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}


def _choice_of(value: object) -> tuple[str, str]:
    """What the settings said and what was chosen, of an entry that may be anything."""
    if isinstance(value, list) and len(value) == 2:
        over, chosen = value
        if isinstance(over, str) and isinstance(chosen, str):
            return over, chosen
    return "", ""


def use_keys(settings: Settings, file: Path) -> list[str]:
    """Have these keys; returns what is wrong: ``FILE line N: keys.SCOPE.ACTION WORDS``."""
    if not settings.keys:
        return []
    from tui.ui import keymap

    refused = keymap.use(settings.keys)
    if not refused:
        return []
    text = toml_tables.read_again(file)
    return [
        f"{file} line {toml_tables.line_of(text, ('keys', *one.path))}:"
        f" keys.{'.'.join(one.path)}: {one.words}"
        for one in refused
    ]


_QUOTES = ('"""', "'''")


def use_line(bench: Workbench, settings: MeterSettings) -> None:
    """Have this status line, and this ghost in the gutter."""
    if settings.line != "":
        from tui.ui.widgets.line_template import template_of

        text = settings.line
        bench.status_line.follow(template_of(text if isinstance(text, str) else "")[0])
    for side in bench.editor.sides:
        side.editor.background.ghost.mode = settings.gutter_ghost


def line_complaints(settings: Settings, file: Path) -> list[str]:
    """What is wrong with the template: ``FILE line N: meter.line WORDS``."""
    written = settings.meter.line
    if written == "":
        return []
    from tui.ui.widgets.line_template import TemplateProblem, template_of

    if isinstance(written, str):
        found = template_of(written)[1]
    else:
        found = [TemplateProblem(0, 'is not text; write it in quotes: line = "{rate} tok/s"')]
    if not found:
        return []
    text = toml_tables.read_again(file)
    first = toml_tables.line_of(text, ("meter", "line"))
    rows = text.splitlines()
    if len(rows) >= first and rows[first - 1].rstrip().endswith(_QUOTES):
        first += 1  # the text begins in the next line
    return [f"{file} line {first + one.line}: meter.line: {one.words}" for one in found]


AUTO = "auto"
_MOST_SAID = 3
"""Complaints about a file that are said at the start; the doctor has all."""


class StartTheme(Struct, frozen=True):
    """What the app puts on."""

    choice: str
    """``auto`` or a theme that there is."""
    pair: ThemePair
    keep: Callable[[str], None]
    folder: Path
    troubles: tuple[Trouble, ...] = ()

    def name(self, dark: bool | None) -> str:
        """The theme for a terminal's background."""
        return self.pair.on(dark) if self.choice == AUTO else self.choice

    def put_on(self, app: DuettoApp, dark: bool | None) -> None:
        """The app knows how to change it, and where the user's files are."""
        themes = app.themes
        themes.pair, themes.auto, themes.dark = self.pair, self.choice == AUTO, dark
        themes.keep = self.keep
        themes.watch = partial(_watch, self.folder)


async def _watch(folder: Path, told: Callable[[], None]) -> None:
    from tui.effects.watcher import watch_folder  # the first paint does not wait for it

    await watch_folder(folder, told)


def start_theme(
    editor: EditorSettings, project: ProjectSettings, root: Path, paths: Paths, config: Path
) -> StartTheme:
    """What the app starts in. Whatever is wrong is told, and something else is worn.

    ``editor``: the user's own settings; ``config``: the file that they are from.
    """
    from tui.ui import theme

    theme.library.own_folder(paths.themes_dir)
    troubles: list[Trouble] = []
    asked, workspace = project.editor.theme, ""
    configured = editor.theme or AUTO
    if why := unknown_theme(configured):
        troubles.append(_trouble(place_of(config, "theme"), why))
        configured = AUTO
    if asked:
        if why := unknown_theme(asked):
            troubles.append(_trouble(str(root / PROJECT_FILE), why))
        else:
            configured, workspace = asked, str(root)
    choice = ThemeChoice(paths, configured, workspace)
    kept = choice.known()
    worn = configured if not kept or unknown_theme(kept) else kept
    pair, wrong = _pair(editor, config)
    troubles += wrong
    troubles += _complaints(pair if worn == AUTO else (worn,))
    return StartTheme(worn, pair, choice.keep, paths.themes_dir, tuple(troubles))


def _pair(editor: EditorSettings, config: Path) -> tuple[ThemePair, list[Trouble]]:
    """What ``auto`` chooses from."""
    from tui.ui.theming.theme_manager import ThemePair

    pair, wrong = ThemePair(editor.theme_light, editor.theme_dark), []
    for key, name, field in (
        ("theme_light", pair.light, "light"),
        ("theme_dark", pair.dark, "dark"),
    ):
        if why := unknown_theme(name, auto=False):
            wrong.append(_trouble(place_of(config, key), why))
            pair = pair._replace(**{field: ThemePair._field_defaults[field]})
    return pair, wrong


def unknown_theme(name: str, *, auto: bool = True) -> str:
    """Why nothing of this name can be worn; empty: it can."""
    from tui.ui import theme

    names = theme.theme_names()
    if auto and name == AUTO:
        return ""
    if name not in names:
        return f"asks for the theme {name!r}, which is not there{nearest(name, names)}"
    return ""


def place_of(config: Path, key: str) -> str:
    """The file and the line in which a key of ``[editor]`` stands."""
    if not (text := toml_tables.read_again(config)):
        return str(config)
    return f"{config} line {toml_tables.line_of(text, ('editor', key))}"


def _trouble(place: str, why: str) -> Trouble:
    return Trouble(
        "There is no such theme",
        f"{place} {why}",
        "/theme shows all that there are",
        severity="warning",
    )


def _complaints(names: tuple[str, ...]) -> Iterator[Trouble]:
    """What is wrong in the files of what is worn."""
    from tui.ui import theme

    own = theme.library.own_names()
    for name in (name for name in dict.fromkeys(names) if name in own):
        complaints = theme.library.reading(name).complaints
        if complaints:
            said = [str(complaint) for complaint in complaints[:_MOST_SAID]]
            if more := len(complaints) - len(said):
                said.append(f"and {more} more")
            step = f"the rest of it is used; duetto theme check {name} says all"
            yield Trouble("The theme has mistakes", "\n".join(said), step, severity="warning")
