"""What the slash commands of the workbench do."""

from __future__ import annotations

import re

from tui.engine.intents import (
    Dismiss,
    NewConversation,
    RedoDecision,
    Restore,
    Role,
    SetAutoAccept,
    SetEffort,
    SetTier,
    Steer,
    Switch,
    Throttle,
)
from tui.ui import theme
from tui.ui.commands import find_command, split_command, unknown_command
from tui.ui.rows import inert
from tui.ui.screens.workbench_keys import AGAINST, EFFORTS, WorkbenchKeys

_TIER = re.compile(r"[a-z][a-z0-9_-]{0,31}")


class WorkbenchCommands(WorkbenchKeys):
    """Commands that have a key do what the key does."""

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
            "follow": self.action_follow,
        }
        if name in simple:
            simple[name]()
        elif name in ("fast", "deep") or (name == "model" and argument in ("fast", "deep")):
            role: Role = "fast" if "fast" in (name, argument) else "deep"
            self.submit(Switch(role))
        elif name == "model":
            self.notify(self._model_words(), timeout=10, markup=False)
        elif name == "steer":
            return self._steer(argument)
        elif name == "clear":
            self.submit(NewConversation())
        elif name == "effort":
            return self._set_effort(argument)
        elif name == "tier":
            return self._set_tier(argument)
        elif name == "throttle":
            return self._throttle(argument)
        elif name == "theme":
            return self._set_theme(argument)
        elif name == "diff":
            return self._diff(argument)
        elif name == "redo":
            self.submit(RedoDecision())
        elif name == "auto":
            return self._auto(argument)
        elif name == "rescue":
            return self._rescue(argument)
        else:
            owner = self if name in ("tree", "split") else self.app
            self.app.call_later(owner.run_action, name)
        return ""

    def _set_effort(self, argument: str) -> str:
        for effort in EFFORTS:
            if argument == effort:
                self.submit(SetEffort(effort))
                return ""
        if argument:
            return f"Effort is one of {', '.join(EFFORTS)}."
        self.action_effort()
        return ""

    def _set_tier(self, argument: str) -> str:
        if not argument:
            self.notify(self._model_words(), timeout=10, markup=False)
        elif not _TIER.fullmatch(argument):
            return "A tier is one word, as fast, priority or flex; off asks for none."
        else:
            self.submit(SetTier("" if argument == "off" else argument))
        return ""

    def _throttle(self, argument: str) -> str:
        if argument in ("", "off"):
            self.submit(Throttle(None))
            return ""
        try:
            rate = float(argument)
        except ValueError:
            rate = 0.0
        if not 1 <= rate <= 20_000:
            return "The throttle is a number of tokens/s from 1 to 20000, or off."
        self.submit(Throttle(rate))
        return ""

    def _rescue(self, argument: str) -> str:
        if argument not in ("", "forget"):
            return "/rescue brings it back, /rescue forget removes it."
        self.submit(Dismiss() if argument else Restore())
        return ""

    def _diff(self, argument: str) -> str:
        """Against what, of which file; without one of all that differ."""
        first, _, rest = argument.partition(" ")
        against = next((one for one in AGAINST if one == first), None)
        path = rest.strip() if against else argument
        self.show_diff(against or "head", path.removeprefix("@"))
        return ""

    def _auto(self, argument: str) -> str:
        if argument not in ("", "on", "off"):
            return "/auto on accepts what needs no look, /auto off asks for every hunk."
        on = argument == "on" if argument else not self.session.status.auto_accept
        self.submit(SetAutoAccept(on))
        words = "Hunks are accepted by themselves, but for those that need a look."
        self.notify(words if on else "Every hunk waits for your decision.", markup=False)
        return ""

    def _set_theme(self, name: str) -> str:
        names = theme.theme_names()
        wanted = name or names[(names.index(theme.active().name) + 1) % len(names)]
        if wanted not in names:
            return f"There is no theme {wanted}; there are {', '.join(names)}."
        self.app.theme = wanted
        return ""

    def _steer(self, text: str) -> str:
        if not text:
            return "Say what to add: /steer TEXT."
        self.submit(Steer(text))
        return ""

    def _model_words(self) -> str:
        """Both models in words."""
        status = self.session.status
        lines = [
            f"{role}: {name or 'none'}"
            + (f", effort {effort}" if (effort := status.efforts.get(role)) else "")
            + (f", tier {tier}" if (tier := status.tiers.get(role)) else "")
            + (" (answers now)" if role == status.role else "")
            for role, name in status.models.items()
        ]
        return inert("\n".join(lines))
