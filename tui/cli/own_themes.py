"""Which theme the app starts in: the settings, the choice that was kept, what is wrong in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tui import toml_lines, toml_tables
from tui.cli.finding import Finding
from tui.cli.theme_choice import ThemeChoice
from tui.engine.notices import Trouble
from tui.errors import SettingsError
from tui.settings import (
    PROJECT_FILE,
    EditorSettings,
    Paths,
    ProjectSettings,
    Settings,
    load_project,
)
from tui.toml_tables import nearest

if TYPE_CHECKING:
    from tui.ui.app import DuettoApp
    from tui.ui.theming.theme_manager import ThemePair

AUTO = "auto"
_MOST_SAID = 3
"""Complaints about a file that are said at the start; the doctor has all."""


@dataclass(frozen=True, slots=True)
class Dress:
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


def dressed(
    editor: EditorSettings, project: ProjectSettings, root: Path, paths: Paths, config: Path
) -> Dress:
    """What the app starts in. Whatever is wrong is told, and something else is worn.

    ``editor``: the user's own settings; ``config``: the file that they are from.
    """
    from tui.ui import theme

    theme.own_folder(paths.themes_dir)
    troubles: list[Trouble] = []
    asked, workspace = project.editor.theme, ""
    configured = editor.theme or AUTO
    if why := _unknown(configured):
        troubles.append(_trouble(_place(config, "theme"), why))
        configured = AUTO
    if asked:
        if why := _unknown(asked):
            troubles.append(_trouble(str(root / PROJECT_FILE), why))
        else:
            configured, workspace = asked, str(root)
    choice = ThemeChoice(paths, configured, workspace)
    kept = choice.known()
    worn = configured if not kept or _unknown(kept) else kept
    pair, wrong = _pair(editor, config)
    troubles += wrong
    troubles += _complaints(pair if worn == AUTO else (worn,))
    return Dress(worn, pair, choice.keep, paths.themes_dir, tuple(troubles))


def _pair(editor: EditorSettings, config: Path) -> tuple[ThemePair, list[Trouble]]:
    """What ``auto`` chooses from."""
    from tui.ui.theming.theme_manager import ThemePair

    pair, wrong = ThemePair(editor.theme_light, editor.theme_dark), []
    for key, name, field in (
        ("theme_light", pair.light, "light"),
        ("theme_dark", pair.dark, "dark"),
    ):
        if why := _unknown(name, auto=False):
            wrong.append(_trouble(_place(config, key), why))
            pair = pair._replace(**{field: ThemePair._field_defaults[field]})
    return pair, wrong


def _unknown(name: str, *, auto: bool = True) -> str:
    """Why nothing of this name can be worn; empty: it can."""
    from tui.ui import theme

    names = theme.theme_names()
    if auto and name == AUTO:
        return ""
    if name not in names:
        return f"asks for the theme {name!r}, which is not there{nearest(name, names)}"
    return ""


def _place(config: Path, key: str) -> str:
    """The file and the line in which a key of ``[editor]`` stands."""
    if not (text := toml_tables.read_again(config)):
        return str(config)
    return f"{config} line {toml_lines.line_of(text, ('editor', key))}"


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


def own_theme_findings(
    settings: Settings, folder: Path, paths: Paths, config: Path
) -> Iterator[Finding]:
    """What ``duetto doctor`` says of themes; nothing where all is well."""
    from tui.ui import theme

    try:
        project = load_project(folder)
    except SettingsError:  # said of the workspace
        project = ProjectSettings()

    theme.own_folder(paths.themes_dir)
    editor, names = settings.editor, ", ".join(theme.theme_names())
    asked = project.editor.theme
    if asked and (why := _unknown(asked)):
        yield Finding(
            "theme", "note", f"{folder / PROJECT_FILE} {why}", f"there are {names}; yours is used"
        )
    for key, name in (
        ("theme", editor.theme or AUTO),
        ("theme_light", editor.theme_light),
        ("theme_dark", editor.theme_dark),
    ):
        if why := _unknown(name, auto=key == "theme"):
            yield Finding("theme", "fix", f"{_place(config, key)} {why}", f"there are {names}")
    for complaint in theme.complaints():
        name = Path(complaint.file).stem
        advice = f"the rest of it is used; duetto theme check {name} says more"
        yield Finding("theme", "fix", str(complaint), advice)
    for odd in theme.library.odd_names():
        text = f"{paths.themes_dir / odd} is not used: that is no name of a theme"
        yield Finding("theme", "note", text, "letters, digits, . _ - and at most 40")
