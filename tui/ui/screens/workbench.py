"""The one main screen: header, conversation and prompt left, editor right, status and keys below.

It routes: widgets' messages become intents, the session's notices become `sync` calls. Below
100 columns one pane at a time takes the width, with the prompt under it, whichever it is; below
40 x 12 one sentence takes the screen.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import isawaitable
from typing import TYPE_CHECKING

from textual import events
from textual.actions import parse
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Static

from tui.core.inert_text import inert
from tui.engine.intents import Intent, Prompt, Queue, RunCommand, SetMode, Steer
from tui.engine.notices import Notices, Trouble
from tui.engine.session import Session
from tui.engine.slash import DelegateNews
from tui.ui.conversation.transcript import TranscriptPane
from tui.ui.conversation.views import card_words
from tui.ui.editor.pane import EditorPane
from tui.ui.keymap import bindings
from tui.ui.keys.table import Scope, When
from tui.ui.messages import (
    DraftChanged,
    EditorWanted,
    Entered,
    How,
    HunkSelected,
    HunkShown,
    PromptWanted,
    Scrolled,
    SearchWanted,
    Wanted,
)
from tui.ui.painting.screen import PaintedScreen
from tui.ui.prompt.box import PromptBox
from tui.ui.review.turn_map import TurnMap
from tui.ui.screens.key_actions import PaneActions, SlashCommands, TurnActions
from tui.ui.terminal.terminal_app import TerminalApp
from tui.ui.widgets.bars import Header, KeysLine, StatusLine
from tui.ui.widgets.painted import set_dim
from tui.ui.widgets.panes import Panes

if TYPE_CHECKING:
    from tui.ui.guide.guide import Guide

SMALLEST = (40, 12)
_WAYS: dict[How, Callable[[str], Intent]] = {"send": Prompt, "queue": Queue, "steer": Steer}
"""What a draft becomes."""


class Workbench(PaintedScreen):
    """The workbench of one session."""

    AUTO_FOCUS = ""
    """`on_mount` gives the prompt the focus, not the first widget."""
    BINDINGS = bindings("global", by="command")

    def __init__(self, session: Session, *, workspace: str = "") -> None:
        """``workspace`` is the folder's absolute path."""
        super().__init__()
        self.session = session
        first = session.input_first
        self.on_focused_painted, first.on_taken = first.shown, self.echo
        self.waits = lambda: first.untaken
        name = workspace.rstrip("/").rpartition("/")[2] or workspace
        self.header = Header(session.status, name, id="header")
        self.transcript = TranscriptPane(session, root=workspace, id="transcript")
        self.prompt_box = PromptBox(session, id="prompt-box")
        self.editor = EditorPane(session)
        self.panes = Panes(self.transcript, self.prompt_box, self.editor, TurnMap(session))
        self.panes.on_fitted = self.update_keys
        self.status_line = StatusLine(session, name, id="status")
        self._keys = KeysLine(id="keys")
        self.pane_actions = PaneActions(
            self, self.panes, self.transcript, self.prompt_box, self.editor
        )
        self.turn_actions = TurnActions(self, session, self.pane_actions)
        self.slash = SlashCommands(
            self, session, self.pane_actions, self.turn_actions, self.status_line.facts
        )
        self.guide: Guide | None = None
        """The lesson that runs, or ran."""
        self._was_open = self._was_busy = False
        self._delegated = DelegateNews()
        self._given_back = ""
        """The unsent prompt that the prompt box has taken back."""
        self._had_focus: Widget | None = None

    def compose(self) -> ComposeResult:
        """Everything at once: first paint needs no socket."""
        yield Static(id="too-small", markup=False)
        with Vertical(id="whole"):
            yield self.header
            yield self.panes
            yield self.status_line
            yield self._keys

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Opened the first time, it was styled a moment ago, widget by widget."""
        event.refresh_styles = self._was_open
        self._was_open = True

    def on_mount(self) -> None:
        """The prompt has the focus at the start, also over a file, unless a session goes on."""
        self.prompt_box.focus_prompt()
        if self.session.status.open_paths and not self.session.goes_on:
            self.panes.show("editor")
        self.sync(Notices(status=True, meter=True, hunks=True))

    def sync(self, notices: Notices) -> None:
        """Update every part that a notice is about; called once a frame."""
        told = notices.transcript_from is not None or notices.hunks or notices.buffers
        if told or notices.status:
            self.transcript.sync(notices)
        self.editor.sync(notices)
        self.panes.turn_map.sync(notices)
        self.prompt_box.sync(notices)
        if notices.status:
            self.header.update_bar()
            self._after_turn()
            self._tell_delegated()
        if notices.status or notices.meter:
            self.status_line.sync(only_meter=not notices.status)
        if notices.status or notices.hunks:
            self.update_keys()
        if notices.hunks:
            self._after_review()
        if notices.landing is not None and self.editor.sides.follow.on:
            self.panes.landed()
        if notices.goto is not None and self.focused is not self.transcript:
            self.panes.show("editor")
        for trouble in notices.troubles:
            self._tell(trouble)
        if notices.diff is not None:
            path, against = notices.diff
            self.turn_actions.review_turn(against, path)
        if self.turn_actions.over is not None:
            self.turn_actions.over(notices)
        if self.guide is not None:
            self.guide.sync(notices)

    def begin_guide(self, guide: Guide) -> None:
        """Have a lesson over the prompt from now on."""
        self.guide, self.turn_actions.leave_guide = guide, guide.leave
        guide.begin()

    def on_resize(self, event: events.Resize) -> None:
        """Show all of it, or a sentence where the terminal is too small."""
        width, height = event.size
        small = width < SMALLEST[0] or height < SMALLEST[1]
        if small and not self.has_class("-small"):
            self._had_focus = self.focused  # hiding a widget takes the focus from it
        elif not small and self.has_class("-small"):
            self.call_after_refresh(self.set_focus, self._had_focus or self.prompt_box.prompt)
        self.set_class(small, "-small")
        self.prompt_box.fit()
        if small:
            words = f"duetto needs at least 40 x 12 cells; this terminal has {width} x {height}."
            self.query_one("#too-small", Static).update(words)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """The pane with the focus is seen; the prompt is under either. The footer follows."""
        if self.pane_actions.in_editor(event.widget):
            self.panes.show("editor")
        elif event.widget is self.transcript:
            self.panes.choose("conversation")
        if event.widget is not self.editor.dock.tree and self.editor.dock.is_over:
            self.editor.dock.close()
        in_editor = self.pane_actions.in_editor(event.widget)
        self.editor.bright(in_editor)
        set_dim(self.transcript, in_editor)
        self.prompt_box.look()
        self.update_keys()

    def on_key(self, event: events.Key) -> None:
        """What is typed while nothing has the focus (the window was too small) is the prompt's."""
        if self.focused is None and event.is_printable and event.character:
            event.stop()
            self.prompt_box.focus_prompt(event.character)

    def on_paste(self, event: events.Paste) -> None:
        """What is pasted where nothing takes it is the prompt's, too."""
        self.prompt_box.focus_prompt()
        self.prompt_box.prompt.on_paste(event)

    async def action_command(self, action: str) -> None:
        """Do what a row of the keymap's scope "global" says: ``accept``, ``pane('editor')``."""
        _, name, arguments = parse(action)
        owner = self.turn_actions if hasattr(self.turn_actions, name) else self.pane_actions
        done = getattr(owner, name)(*arguments)
        if isawaitable(done):
            await done
        self.update_keys()

    @property
    def is_ending(self) -> bool:
        """It has ended, and its parts go one by one: what is called now may miss some."""
        return self.is_mounted and not self.is_running

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """Whose keys work now, the nearest first."""
        focused = self.focused
        if focused is self.transcript:
            own: list[Scope] = ["review"] * (self.transcript.selection.hunk is not None)
            own += ["command"] * bool(self.transcript.commands.names)
            return (*own, "conversation", "global")
        if self.pane_actions.in_editor(focused):
            in_tree = focused is self.editor.dock.tree
            return ("files", "editor", "global") if in_tree else ("editor", "global")
        return ("queue" if self.prompt_box.in_queue else "prompt", "global")

    def update_keys(self) -> None:
        """The footer says what the keys do now."""
        status, hunks = self.session.status, self.session.workspace.hunk_list
        scopes = [scope for scope in self.scopes if scope != "prompt"]
        selected = self.transcript.selection.hunk
        in_editor = "editor" in scopes
        if "files" in scopes:
            scopes.remove("editor")
        under = self.panes.narrow and self.panes.shown == "editor"
        holds: dict[When, bool] = {
            "busy": status.busy,
            "idle": not status.busy,
            "pending": hunks.has_decidable(),
            "waiting": hunks.has_waiting(),
            "failed": status.can_send_failure and not status.busy,
            "under": under and not in_editor,
            "stoppable": self.turn_actions.stoppable or bool(status.running),
            "queued": bool(status.queued) and "queue" not in scopes,
            "redoing": selected is not None and selected.is_redoing,
            "waited": "background" in self.transcript.commands.names,
            "asked": bool(status.asks) and not self.prompt_box.answers,
            "editing": in_editor and self.turn_actions.edited_hunk is not None,
        }
        states = {state for state, is_so in holds.items() if is_so}
        self._keys.show(states, scopes, {"next_pane": self.pane_actions.where_next()})

    # -- messages of the widgets

    def on_wanted(self, message: Wanted) -> None:
        """A widget asks for something."""
        self.session.submit(message.intent)
        if isinstance(message.intent, SetMode):
            self.turn_actions.say_mode()
        if message.enter:
            self.pane_actions.enter_editor()

    def on_editor_wanted(self, message: EditorWanted) -> None:
        """The user goes into the editor, with what they typed meanwhile."""
        self.pane_actions.enter_editor()
        if isinstance(self.app, TerminalApp):
            self.app.release_keys()

    def on_entered(self, message: Entered) -> None:
        """The prompt was handed over: a command, a shell command, or words for the model."""
        text = message.text
        if self.slash.run(text):
            return
        intent: Intent
        if text.startswith("!"):
            intent = RunCommand(text[1:].strip())
        else:
            intent = _WAYS[message.how](text)
            self._given_back = ""
        self.app.clear_notifications()  # they would cover what comes
        self.transcript.action_scroll_end()
        self.panes.sent()
        self.session.submit(intent)

    def on_prompt_wanted(self, message: PromptWanted) -> None:
        """Back to the prompt."""
        self.prompt_box.focus_prompt(message.text)

    def on_search_wanted(self, message: SearchWanted) -> None:
        """From the prompt into the conversation's search."""
        self.pane_actions.search()
        self.update_keys()

    def on_scrolled(self, message: Scrolled) -> None:
        """The prompt scrolls the conversation."""
        self.transcript.action_scroll_pages(message.pages)

    def on_draft_changed(self, message: DraftChanged) -> None:
        """Typing disarms the second Ctrl+C."""
        self.turn_actions.disarm_quit()
        if self.guide is not None:
            self.guide.look()

    def on_hunk_selected(self, message: HunkSelected) -> None:
        """Show a hunk in the editor; a pane that is out of sight stays out of sight."""
        if (hunk := self.turn_actions.hunk(message.hunk_id)) is None:
            return
        self.panes.turn_map.choose(hunk.id)
        lines = None
        if message.line is not None:
            lines = message.line, message.line
        elif hunk.start is not None:
            first = hunk.start.line
            lines = first, max(first, hunk.end.line - 1 if hunk.end is not None else first)
        self.editor.files.look(hunk.path, lines)
        self.update_keys()

    def on_hunk_shown(self, message: HunkShown) -> None:
        """Go to a hunk in the editor."""
        self.turn_actions.show_hunk(message)

    def _after_review(self) -> None:
        """Go back to the prompt when nothing is left to decide on."""
        reviewing = self.focused is self.transcript and self.transcript.selection.hunk is not None
        if reviewing and not self.session.workspace.hunk_list.has_waiting():
            self.prompt_box.focus_prompt()

    def _after_turn(self) -> None:
        """The turn ended: whoever stopped it goes on typing, an unsent prompt comes back."""
        busy = self.session.status.busy
        if self._was_busy and not busy and self.session.status.stopped:
            self.prompt_box.focus_prompt()
        self._was_busy = busy
        unsent = self.session.status.unsent
        if unsent and unsent != self._given_back:
            self.prompt_box.restore(unsent)
        self._given_back = unsent

    def _tell_delegated(self) -> None:
        """What is delegated asks, or stands still: it takes no keys."""
        for words in self._delegated.new(self.session.status):
            if not self.turn_actions.in_tray:  # which says it
                self.notify(inert(words), severity="warning", timeout=8, markup=False)

    def _tell(self, trouble: Trouble) -> None:
        """Say what went wrong, unless the conversation says it, or the screen over this one."""
        if self.turn_actions.over is not None and trouble.severity == "information":
            return
        if trouble.noted and self.panes.in_sight("conversation"):
            self.app.clear_notifications()  # older words would cover these
            return
        title, words = card_words(trouble)
        self.notify(words, title=title, severity=trouble.severity, timeout=8, markup=False)
