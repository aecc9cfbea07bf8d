"""What the keys and slash commands of the workbench do."""

from __future__ import annotations

from textual.screen import Screen

from tui.engine.intents import (
    Effort,
    Intent,
    Interrupt,
    NewConversation,
    Role,
    SendFailure,
    SetEffort,
    StopCommand,
    Switch,
    Throttle,
    UndoTurn,
    Verify,
)
from tui.engine.session import Session
from tui.ui import theme
from tui.ui.commands import find_command, split_command, unknown_command
from tui.ui.keymap import bindings
from tui.ui.rows import inert
from tui.ui.widgets.editor_pane import EditorPane
from tui.ui.widgets.prompt_box import PromptBox
from tui.ui.widgets.transcript import Transcript

EFFORTS: tuple[Effort, ...] = ("low", "medium", "high", "xhigh")
_QUIT_WINDOW_S = 2.0
"""A second Ctrl+C within it leaves."""


class WorkbenchKeys(Screen[None]):
    """Actions of the scope "global"; `Workbench` adds the widgets."""

    BINDINGS = bindings("global")

    session: Session
    transcript: Transcript
    prompt_box: PromptBox
    editor: EditorPane
    _quit_until_s = 0.0

    def submit(self, intent: Intent) -> None:
        """Hand an intent to the engine."""
        self.session.submit(intent)

    def disarm_quit(self) -> None:
        """The next Ctrl+C is a first one again."""
        self._quit_until_s = 0.0

    def decide(self, accept: bool) -> None:
        """Accept or reject all that is pending."""
        raise NotImplementedError

    def action_interrupt(self) -> None:
        """Stop first, always; else a running command; else close what is open."""
        if self.session.status.busy:
            self.submit(Interrupt())
        elif self.session.status.running:
            self.submit(StopCommand())
        elif not self.prompt_box.refuse() and not self.editor.close_open():
            self.prompt_box.focus_prompt()

    def action_cancel(self) -> None:
        """Copy, else stop, else clear the draft, else (twice) leave."""
        if selected := str(getattr(self.focused, "selected_text", "")):
            self.app.copy_to_clipboard(selected)
        elif self.session.status.busy:
            self.submit(Interrupt())
        elif self.session.status.running:
            self.submit(StopCommand())
        elif not self.prompt_box.prompt.clear_draft():
            if self.session.now() < self._quit_until_s:
                self.app.call_later(self.app.action_quit)
                return
            self._quit_until_s = self.session.now() + _QUIT_WINDOW_S
            self.notify("Ctrl+C again leaves duetto.", timeout=_QUIT_WINDOW_S, markup=False)

    def action_accept(self) -> None:
        """Accept all pending hunks."""
        self.decide(True)

    def action_reject(self) -> None:
        """Reject all pending hunks."""
        self.decide(False)

    def action_review(self) -> None:
        """Go to the next pending hunk."""
        if self.transcript.select_pending():
            self.transcript.focus()
        else:
            self.notify("No hunk waits for a decision.", timeout=3, markup=False)

    def action_undo_turn(self) -> None:
        """Take the model's last turn back."""
        self.submit(UndoTurn())

    def action_switch(self) -> None:
        """The other model."""
        self.submit(Switch("deep" if self.session.status.role == "fast" else "fast"))

    def action_effort(self) -> None:
        """The next effort."""
        status = self.session.status
        now = status.efforts.get(status.role)
        at = EFFORTS.index(now) + 1 if now in EFFORTS else 1
        self.submit(SetEffort(EFFORTS[at % len(EFFORTS)]))

    def action_verify(self) -> None:
        """Run the tests."""
        self.submit(Verify())

    def action_send_failure(self) -> None:
        """Tell the model what failed."""
        self.submit(SendFailure())

    def action_save(self) -> None:
        """Write the file that the editor shows."""
        self.editor.action_save()

    def action_open_file(self) -> None:
        """Open a file by a few letters of its name."""
        self.editor.action_open_file()

    def action_follow(self) -> None:
        """Follow the landing edit, or let go of it."""
        self.editor.action_follow()

    def action_next_pane(self) -> None:
        """From the conversation to the editor and back."""
        inside = self.focused is not None and self.editor in self.focused.ancestors_with_self
        self.action_pane("conversation" if inside else "editor")

    def action_pane(self, name: str) -> None:
        """Go to this pane."""
        if name == "editor":
            self.set_class(True, "-editor")
            self.editor.focus_editor()
        else:
            self.prompt_box.focus_prompt()

    def run_slash(self, text: str) -> bool:
        """Run a slash command; False if the text is none."""
        parts = split_command(text)
        if parts is None:
            return False
        name, argument = parts
        if find_command(name) is None:
            self.notify(unknown_command(name), severity="warning", markup=False)
            self.prompt_box.prompt.restore(text)
            return True
        if problem := self._slash(name, argument):
            self.notify(inert(problem), severity="warning", markup=False)
            self.prompt_box.prompt.restore(text)
        return True

    def _slash(self, name: str, argument: str) -> str:
        """Run a known command; returns what is wrong with it, empty if nothing is."""
        simple = {
            "undo": self.action_undo_turn,
            "verify": self.action_verify,
            "review": self.action_review,
        }
        if name in simple:
            simple[name]()
        elif name in ("fast", "deep") or (name == "model" and argument in ("fast", "deep")):
            role: Role = "fast" if "fast" in (name, argument) else "deep"
            self.submit(Switch(role))
        elif name in ("status", "model"):
            self.notify(self._status_words(), timeout=10, markup=False)
        elif name == "clear":
            self.submit(NewConversation())
        elif name == "effort":
            return self._set_effort(argument)
        elif name == "throttle":
            return self._throttle(argument)
        elif name == "theme":
            return self._set_theme(argument)
        else:
            self.app.call_later(self.app.run_action, name)
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

    def _set_theme(self, name: str) -> str:
        names = theme.theme_names()
        wanted = name or names[(names.index(theme.active().name) + 1) % len(names)]
        if wanted not in names:
            return f"There is no theme {wanted}; there are {', '.join(names)}."
        self.app.theme = wanted
        return ""

    def _status_words(self) -> str:
        """Models, endpoint and connection in words."""
        status = self.session.status
        lines = [
            f"{role}: {name or 'none'}"
            + (f", effort {effort}" if (effort := status.efforts.get(role)) else "")
            + (" (answers now)" if role == status.role else "")
            for role, name in status.models.items()
        ]
        served = status.served_model or "not said yet"
        lines.append(f"served: {served}" + (f" ({status.served_tier})" * bool(status.served_tier)))
        lines.append(f"endpoint: {status.endpoint or 'none'}, {status.connection}")
        if status.rehearsal:
            lines.append("This is a rehearsal: scripted answers, no model.")
        return inert("\n".join(lines))
