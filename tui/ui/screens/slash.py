"""Slash commands on the workbench: those that have a key do what the key does."""

from __future__ import annotations

from collections.abc import Callable

from textual.screen import Screen

from tui.engine.intents import SetAutoAccept, SetMode
from tui.engine.session import Session
from tui.engine.slash import (
    asked,
    auto_words,
    diff_asked,
    find_command,
    model_words,
    split_command,
    unknown_command,
)
from tui.ui import theme
from tui.ui.screens.actions import PaneActions, TurnActions
from tui.ui.styled_text import inert
from tui.ui.theming.theme_manager import AUTO, theme_manager_of
from tui.ui.widgets.figures import StatusFacts


class SlashCommands:
    """Runs what is typed with a slash in front."""

    def __init__(
        self,
        screen: Screen[None],
        session: Session,
        panes: PaneActions,
        turn: TurnActions,
        scene: Callable[[], StatusFacts],
    ) -> None:
        """``scene`` is what the status line shows."""
        self._screen, self._session, self._scene = screen, session, scene
        self._panes, self._turn = panes, turn

    def run(self, text: str) -> bool:
        """Run a slash command; False if the text is none."""
        parts = split_command(text)
        if parts is None:
            return False
        name, argument = parts
        known = find_command(name) is not None
        if problem := self._run(name, argument) if known else unknown_command(name):
            self._screen.notify(inert(problem), severity="warning", markup=False)
            self._panes.prompt_box.restore(text)
        return True

    def _run(self, name: str, argument: str) -> str:
        """Run a known command; returns what is wrong with it, empty if nothing is."""
        simple = {
            "undo": self._turn.undo_turn,
            "verify": self._turn.verify,
            "review": self._turn.review_turn,
            "wrap": self._panes.wrap,
            "removed": self._panes.removed,
            "meter": self._explain_meter,
            "follow": self._panes.follow,
        }
        if name in simple:
            simple[name]()
            return ""
        intent = asked(name, argument, self._session.status)
        if isinstance(intent, str):
            return intent
        plain = {
            "tier": self._say_models,
            "effort": self._turn.effort,
            "mode": self._turn.say_mode,
            "tasks": self._turn.tasks,
            "skills": self._list_skills,
        }
        if intent is not None:
            self._session.submit(intent)
            if isinstance(intent, SetAutoAccept):
                self._screen.notify(auto_words(intent.on), markup=False)
            elif isinstance(intent, SetMode):
                self._turn.say_mode()
        elif name in plain:
            plain[name]()
        elif name == "theme":
            return self._set_theme(argument)
        elif name == "diff":
            self._turn.show_diff(*diff_asked(argument))
        elif name == "connect":
            self._screen.app.call_later(self._screen.app.run_action, f"connect({argument!r})")
        elif name in ("tree", "split"):
            self._screen.app.call_later(self._screen.run_action, f"command({name!r})")
        else:
            self._screen.app.call_later(self._screen.app.run_action, name)
        return ""

    def _say_models(self) -> None:
        words = inert(model_words(self._session.status))
        self._screen.notify(words, timeout=10, markup=False)

    def _list_skills(self) -> None:
        from tui.ui.screens.status import SkillsScreen

        self._screen.app.push_screen(SkillsScreen(self._session))

    def _explain_meter(self) -> None:
        """Every figure of the status line, and what it means."""
        from tui.ui.screens.meter import MeterScreen

        self._screen.app.push_screen(MeterScreen(self._session, self._scene))

    def _set_theme(self, name: str) -> str:
        """Apply a theme and keep it; without a name the list of all is shown."""
        themes, names = theme_manager_of(self._screen.app), theme.theme_names()
        if not name:
            from tui.ui.theming.chooser import ThemeChooser

            self._screen.app.push_screen(ThemeChooser(themes))
        elif name not in (*names, AUTO):
            return f"There is no theme {name}; there are {', '.join(names)}, and {AUTO}."
        else:
            themes.choose(name)
        return ""
