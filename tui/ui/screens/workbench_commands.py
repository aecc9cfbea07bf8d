"""What the slash commands of the workbench do."""

from __future__ import annotations

from tui.engine.intents import SetAutoAccept
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
from tui.ui.rows import inert
from tui.ui.screens.workbench_keys import WorkbenchKeys
from tui.ui.theming.theme_manager import AUTO, theme_manager_of
from tui.ui.widgets.status_line import StatusLine


class WorkbenchCommands(WorkbenchKeys):
    """Commands that have a key do what the key does."""

    status_line: StatusLine

    def run_slash(self, text: str) -> bool:
        """Run a slash command; False if the text is none."""
        parts = split_command(text)
        if parts is None:
            return False
        name, argument = parts
        if find_command(name) is None:
            self.notify(unknown_command(name), severity="warning", markup=False)
            self.prompt_box.restore(text)
            return True
        if problem := self._slash(name, argument):
            self.notify(inert(problem), severity="warning", markup=False)
            self.prompt_box.restore(text)
        return True

    def _slash(self, name: str, argument: str) -> str:
        """Run a known command; returns what is wrong with it, empty if nothing is."""
        simple = {
            "undo": self.action_undo_turn,
            "verify": self.action_verify,
            "review": self.action_review_turn,
            "wrap": self.action_wrap,
            "meter": self._explain_meter,
            "follow": self.action_follow,
        }
        if name in simple:
            simple[name]()
            return ""
        intent = asked(name, argument, self.session.status)
        if isinstance(intent, str):
            return intent
        if intent is not None:
            self.submit(intent)
            if isinstance(intent, SetAutoAccept):
                self.notify(auto_words(intent.on), markup=False)
        elif name in ("model", "tier"):
            words = inert(model_words(self.session.status))
            self.notify(words, timeout=10, markup=False)
        elif name == "effort":
            self.action_effort()
        elif name == "theme":
            return self._set_theme(argument)
        elif name == "diff":
            self.show_diff(*diff_asked(argument))
        else:
            owner = self if name in ("tree", "split") else self.app
            self.app.call_later(owner.run_action, name)
        return ""

    def _explain_meter(self) -> None:
        """Every figure of the status line, and what it means."""
        from tui.ui.screens.meter import MeterScreen

        self.app.push_screen(MeterScreen(self.session, self.status_line.scene))

    def _set_theme(self, name: str) -> str:
        """Wear a theme and keep it; without a name the list of all is shown."""
        themes, names = theme_manager_of(self.app), theme.theme_names()
        if not name:
            from tui.ui.theming.chooser import ThemeChooser

            self.app.push_screen(ThemeChooser(themes))
        elif name not in (*names, AUTO):
            return f"There is no theme {name}; there are {', '.join(names)}, and {AUTO}."
        else:
            themes.choose(name)
        return ""
