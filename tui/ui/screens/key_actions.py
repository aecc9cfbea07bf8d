"""What the keys of the scope "global" do: methods are named as the rows of the keymap are."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal

from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, TextArea

from tui.core.document.hunk import Hunk, Stage
from tui.core.document.line_notes import Note
from tui.core.wire.efforts import AUTO_EFFORT, EFFORTS, Effort, effort_refusal
from tui.engine.intents import (
    Accept,
    Against,
    Delegate,
    EditSummary,
    Intent,
    Interrupt,
    MakeAttempts,
    OpenFile,
    Reject,
    SendFailure,
    SetAutoAccept,
    SetEffort,
    SetMode,
    StopCommand,
    StopCompacting,
    StopDeciding,
    Switch,
    UndoTurn,
    Verify,
)
from tui.engine.notices import DelegateView, Notices
from tui.engine.session import Session
from tui.engine.slash import (
    NO_SUMMARY,
    asked,
    auto_words,
    diff_asked,
    find_command,
    mode_words,
    model_words,
    shown_attempt,
    split_command,
    unknown_command,
)
from tui.ui import theme
from tui.ui.conversation.transcript import TranscriptPane
from tui.ui.editor.editor import Editor
from tui.ui.editor.pane import EditorPane
from tui.ui.editor.sides import FEWEST_COLUMNS
from tui.ui.messages import HunkShown
from tui.ui.prompt.box import PromptBox
from tui.ui.styled_text import inert
from tui.ui.theming.theme_manager import AUTO, theme_manager_of
from tui.ui.widgets.figures import StatusFacts
from tui.ui.widgets.panes import Pane, Panes

_USUAL = ("low", "medium", "high", "xhigh")
"""The efforts to go through where a model's own are not known."""
_QUIT_WINDOW_S = 2.0
"""A second Ctrl+C within it leaves."""
TWICE_S, CALM_S = 0.5, 1.0
"""Within so long a second Esc opens the list of turns, this long after one that did something."""


class PaneActions:
    """Which pane is seen, which has the keys, and what the editor's pane has."""

    def __init__(
        self,
        screen: Screen[None],
        panes: Panes,
        transcript: TranscriptPane,
        prompt_box: PromptBox,
        editor: EditorPane,
    ) -> None:
        self._screen, self.panes = screen, panes
        self.transcript, self.prompt_box, self.editor = transcript, prompt_box, editor
        self.save = editor.action_save
        self.open_file = editor.action_open_file
        self.follow = editor.action_follow
        self.wrap = editor.action_wrap
        self.removed = editor.action_removed

    def in_editor(self, widget: Widget | None) -> bool:
        """True if a widget is part of the editor pane."""
        return widget is not None and self.editor in widget.ancestors_with_self

    def enter_editor(self) -> None:
        """Show the editor and put the cursor into it."""
        self.panes.choose("editor")
        self.editor.focus_editor()

    def change_selection(self) -> None:
        """Ask for a change of what is selected in the editor."""
        self.panes.choose("editor")
        self.editor.words.change()

    def where_next(self) -> str:
        """Where the key for the next pane leads, for the footer."""
        if self.panes.narrow:
            return "editor" if self.panes.shown == "conversation" else "conversation"
        return "prompt" if self.in_editor(self._screen.focused) else "editor"

    def next_pane(self) -> None:
        """Between the two; where one has the width the other one takes it."""
        in_editor = self.in_editor(self._screen.focused)
        back = self.panes.shown == "editor" if self.panes.narrow else in_editor
        if back:
            self.panes.choose("conversation")
            self.prompt_box.focus_prompt()
        else:
            self.pane("editor")

    def pane(self, name: Pane) -> None:
        """Go to this pane; one that was not in sight is only shown, the prompt keeps the keys."""
        enter = self.panes.in_sight(name)
        self.panes.choose(name)
        if not enter:
            self.prompt_box.focus_prompt()
        elif name == "editor":
            self.editor.focus_editor()
        else:
            self._screen.set_focus(self.transcript)
            self.transcript.selection.focus(True)  # the next key is meant for it

    async def split(self) -> None:
        """Two editors side by side, or one again."""
        sides = self.editor.sides
        if sides.divided:
            sides.join()
        else:
            await sides.divide()
            self.panes.choose("editor")
            if self._screen.size.width < 2 * FEWEST_COLUMNS:  # else nothing would seem to happen
                self._screen.notify(
                    f"Two editors are seen from {2 * FEWEST_COLUMNS} columns on;"
                    " Alt+3 goes to the other one.",
                    markup=False,
                )
        self.panes.divide(sides.divided)

    async def other_side(self) -> None:
        """The other one of two editors; where there is one only, a second one first."""
        sides = self.editor.sides
        if not sides.divided:
            await self.split()
        self.panes.choose("editor")
        if (other := sides.other) is not None:
            sides.enter(other)
            self.editor.focus_editor()

    async def tree(self) -> None:
        """The file tree: show it and go there; from within it put it away."""
        self.panes.choose("editor")
        await self.editor.dock.toggle()

    def search(self) -> None:
        """Search the conversation."""
        self.panes.choose("conversation")
        self.transcript.action_search()

    def card(self) -> None:
        """From lines to the card of the hunk that wrote them, and from a card to its lines."""
        if self._screen.focused is self.transcript:
            self.transcript.action_activate()
            return
        view = self.editor.editor.view
        path, line = ("", 0) if view is None else (view.path, view.cursor.position[0])
        self.panes.choose("conversation")
        if not self.transcript.selection.return_to(path, line):
            words = "No card wrote this line; here is where you were."
            self._screen.notify(words, markup=False)
        self._screen.set_focus(self.transcript)

    def look_at_call(self, call_id: str) -> None:
        """Go to the card of a call."""
        self.panes.choose("conversation")
        if self.transcript.selection.select_call(call_id):
            self._screen.set_focus(self.transcript)
        else:
            words = "Its card is gone: a new conversation has begun since."
            self._screen.notify(words, markup=False)

    def question(self) -> None:
        """Go to what is asked over the prompt."""
        if not self.prompt_box.focus_question():
            self._screen.notify("Nothing is asked.", markup=False)

    def queue(self) -> None:
        """Go to the queued messages."""
        if not self.prompt_box.focus_queue():
            words = "Nothing is queued; Tab queues while an answer streams."
            self._screen.notify(words, markup=False)


class TurnActions:
    """Stopping, deciding, reviewing, the models and the tests."""

    def __init__(self, screen: Screen[None], session: Session, panes: PaneActions) -> None:
        self._screen, self._session, self._panes = screen, session, panes
        self._quit_until_s = 0.0
        self._esc_s = self._esc_did_s = -CALM_S
        """When Esc was pressed last, and when one last stopped, closed or moved something."""
        self.over: Callable[[Notices], None] | None = None
        """Takes up what changed while a screen lies over this one."""
        self.in_tray = False
        """What goes on beside the conversation is listed now."""
        self._edited = 0
        """The hunk that was opened for editing; 0: none."""
        self._edited_in_review = False
        """It was opened from the review of the turn."""
        self.leave_guide: Callable[[], bool] = bool
        """Puts the guide away; False: there is none."""

    @property
    def stoppable(self) -> bool:
        """An answer streams, or is waited for."""
        status = self._session.status
        return status.busy or status.retry_s is not None

    def interrupt(self) -> None:
        """Stop first, always; else deciding, a summary, or a command; else close what is open."""
        status = self._session.status
        now_s, did = self._session.now(), True
        if self.stoppable:
            self._session.submit(Interrupt())
        elif status.deciding:
            self._session.submit(StopDeciding())
        elif status.compacting:
            self._session.submit(StopCompacting())
        elif status.running:
            self._session.submit(StopCommand())
        else:
            editor, box = self._panes.editor, self._panes.prompt_box
            closing = (box.close_list, self._panes.transcript.close_search, box.refuse)
            behind = (box.editing.leave, editor.dock.leave, editor.find.close, self.leave_guide)
            if not any(close() for close in (*closing, *behind)):
                did = not (self._screen.focused is box.prompt and not box.prompt.text)
                self._screen.app.clear_notifications()
                box.focus_prompt()
        self._look_for_twice(now_s, did=did)

    def _look_for_twice(self, now_s: float, *, did: bool) -> None:
        """Esc twice in an empty prompt opens the list of turns; an Esc that did something no."""
        if did:
            self._esc_s, self._esc_did_s = -TWICE_S, now_s
        elif now_s - self._esc_s <= TWICE_S and now_s - self._esc_did_s > CALM_S:
            self._esc_s = -TWICE_S
            self.rewind("")
        else:
            self._esc_s = now_s

    def rewind(self, argument: str) -> None:
        """Preview a rewind; without an argument the turns are listed first."""
        from tui.ui.review.rewinding import preview

        def opened(over: Callable[[Notices], None] | None) -> None:
            self.over = over

        app, post = self._screen.app, self._screen.post_message
        app.call_later(preview, app, self._session, (post, opened), argument)

    def cancel(self) -> None:
        """Copy, else stop, else clear the draft, else (twice) leave."""
        box, now_s = self._panes.prompt_box, self._session.now()
        if selected := self._selected():
            self._screen.app.copy_to_clipboard(selected)
        elif self.stoppable:
            self._session.submit(Interrupt())
        elif self._session.status.running:
            self._session.submit(StopCommand())
        elif box.editing.leave() or box.prompt.clear_draft():
            return
        elif now_s < self._quit_until_s:
            self._screen.app.call_later(self._screen.app.action_quit)
        else:
            self._quit_until_s = now_s + _QUIT_WINDOW_S
            words = "Ctrl+C again leaves duetto."
            self._screen.notify(words, timeout=_QUIT_WINDOW_S, markup=False)

    def _selected(self) -> str:
        """What is selected where the keys go."""
        focused = self._screen.focused
        return focused.selected_text if isinstance(focused, Editor | TextArea | Input) else ""

    def disarm_quit(self) -> None:
        """The next Ctrl+C is a first one again."""
        self._quit_until_s = 0.0

    def accept(self) -> None:
        """Accept all pending hunks."""
        self._session.submit(Accept())

    def reject(self) -> None:
        """Reject all pending hunks."""
        self._session.submit(Reject())

    def show_hunk(self, message: HunkShown) -> None:
        """Go to a hunk in the editor, to edit it perhaps."""
        if (hunk := self.hunk(message.hunk_id)) is None:
            return
        self._edited = hunk.id if message.edit else 0
        self._edited_in_review = message.review
        line, col = hunk.start.line if hunk.start is not None else None, 0
        if message.edit and hunk.stage is Stage.CUT and line is not None and hunk.end is not None:
            line = max(hunk.end.line - 1, line)  # to go on where the model was stopped
            col = len(self._session.workspace.buffers[hunk.path].lines[line])
        self._session.submit(OpenFile(hunk.path, line, col))
        self._panes.enter_editor()

    def hunk(self, hunk_id: int) -> Hunk | None:
        """The hunk of this number; None: it is gone."""
        hunks = self._session.workspace.hunk_list
        return hunks.by_id(hunk_id) if hunk_id in hunks else None

    @property
    def edited_hunk(self) -> Hunk | None:
        """The hunk that was opened for editing, while it can be decided on."""
        hunk = self.hunk(self._edited)
        return hunk if hunk is not None and hunk.decidable else None

    def accept_edited(self) -> None:
        """Accept it, and go on with the review."""
        hunk, self._edited = self.edited_hunk, 0
        transcript = self._panes.transcript
        if hunk is None:
            words = "e on a hunk opens it for editing; this accepts it."
            self._screen.notify(words, markup=False)
            return
        self._session.submit(Accept((hunk.id,)))
        if self._edited_in_review and self._session.workspace.hunk_list.has_waiting():
            self.review_turn(after=hunk.id)
        elif transcript.selection.select_pending():
            self._screen.set_focus(transcript)
        else:
            self._panes.prompt_box.focus_prompt()

    def review(self) -> None:
        """Go to the next pending hunk."""
        if self._panes.transcript.selection.select_pending():
            self._screen.set_focus(self._panes.transcript)
        else:
            self._screen.notify("No hunk is waiting for a decision.", timeout=3, markup=False)

    def review_turn(
        self, against: Against | None = None, path: str = "", *, after: int = 0
    ) -> None:
        """Review the whole turn on a screen of its own, from behind a hunk on.

        Or a file, or all that differ, ``against`` something.
        """
        from tui.ui.review.screen import ReviewScreen

        app = self._screen.app
        if isinstance(app.screen, ReviewScreen):
            if against is not None:
                app.screen.show_diff(against, path)
            return
        post = self._screen.post_message
        screen = ReviewScreen(self._session, post, against=against, path=path)
        screen.content.start_after = after
        self.over = screen.sync
        app.push_screen(screen, self._reviewed)

    def _reviewed(self, result: object) -> None:
        """The screen over this one was left."""
        self.over = None

    def say_mode(self) -> None:
        """What the model's commands may do now; older words about it go."""
        self._screen.app.clear_notifications()
        self._screen.notify(inert(mode_words(self._session.status)), markup=False)

    def tasks(self) -> None:
        """What is delegated, and the model's commands."""
        from tui.core.session_record import LeftDelegate
        from tui.ui.screens.tasks import Beside, TasksScreen

        def looked(chosen: Beside | str | None) -> None:
            self.over, self.in_tray = None, False
            if isinstance(chosen, LeftDelegate):
                chosen = f"/resume {chosen.session}"
            if isinstance(chosen, str):
                self._panes.prompt_box.restore(chosen)
                self._panes.prompt_box.focus_prompt()
            elif isinstance(chosen, DelegateView):
                self._look_into(chosen)
            elif chosen is not None:
                self._panes.look_at_call(chosen.call_id)

        self._screen.app.clear_notifications()  # they would cover what they are about
        screen = TasksScreen(self._session)
        self.over, self.in_tray = screen.sync, True
        self._screen.app.push_screen(screen, looked)

    def attempts(self, number: int = 0) -> None:
        """The attempts that run, or ran last; with a ``number`` that one is looked into."""
        from tui.ui.screens.attempts import AttemptScreen, AttemptsScreen, RaceScreen

        if isinstance(self._screen.app.screen, AttemptsScreen | RaceScreen):
            return
        screen: AttemptsScreen | RaceScreen = (
            RaceScreen(self._session)
            if self._session.attempts.race
            else AttemptsScreen(self._session)
        )
        self.over = screen.sync
        self._screen.app.push_screen(screen, self._reviewed)
        row = next((one for one in self._session.attempts.rows if one.number == number), None)
        if row is not None:
            self._screen.app.push_screen(AttemptScreen(self._session, row))

    def _look_into(self, one: DelegateView) -> None:
        """The conversation of what is delegated, as long as it works."""
        from tui.ui.screens.tasks import LookingIn

        delegates = self._session.delegates
        session = delegates.session(one.number)
        if not isinstance(session, Session):
            self._screen.notify(f"d{one.number} does not work now.", markup=False)
            return
        root = self._session.workspace.documents.roots[0]
        screen = LookingIn(session, f" d{one.number}  {one.prompt}", root)
        delegates.watch(one.number, screen.sync)
        self._screen.app.push_screen(screen)

    def delegate(self) -> None:
        """Have the deep model go on with what streams; if nothing does, list what is delegated."""
        if self._session.status.busy:
            self._session.submit(Delegate())
        else:
            self.tasks()

    def notes(self) -> None:
        """The notes on lines."""
        from tui.ui.screens.notes import NotesScreen

        def chosen(note: Note | None) -> None:
            self.over = None
            if note is not None:
                self._panes.editor.words.go(note)

        screen = NotesScreen(self._session)
        self.over = screen.sync
        self._screen.app.push_screen(screen, chosen)

    def undo_turn(self) -> None:
        """Take the model's last turn back."""
        self._session.submit(UndoTurn())

    def switch(self) -> None:
        """The other model."""
        self._session.submit(Switch("deep" if self._session.status.role == "fast" else "fast"))

    def effort(self) -> None:
        """The next effort."""
        status = self._session.status
        known = status.levels.get(status.role)
        levels = [one for one in EFFORTS if one in (_USUAL if known is None else known)]
        if not levels:
            model = status.models.get(status.role, "")
            self._screen.notify(effort_refusal("", model, known), markup=False)
            return
        now = AUTO_EFFORT if status.role in status.auto else status.efforts.get(status.role)
        ways: list[Effort | Literal["auto"]] = [*levels, AUTO_EFFORT]
        at = ways.index(now) + 1 if now in ways else min(1, len(levels) - 1)
        self._session.submit(SetEffort(ways[at % len(ways)]))

    def verify(self, disk: bool = False) -> None:
        """Run the tests, perhaps only on the disk; their output comes in the conversation."""
        self._session.submit(Verify(disk))
        if not self._panes.in_editor(self._screen.focused):
            self._panes.panes.show("conversation")

    def send_failure(self) -> None:
        """Tell the model what failed."""
        self._session.submit(SendFailure())


_TOLD = frozenset(
    (
        *("ask", "blame", "budget", "clear", "compact", "context", "continue", "delegate"),
        *("export", "fix", "inspect", "pin", "rename", "verify"),
    )
)
"""Commands whose answer comes in the conversation."""


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
        elif name in _TOLD:
            self._panes.panes.sent()
        return True

    def _run(self, name: str, argument: str) -> str:
        """Run a known command; returns what is wrong with it, empty if nothing is."""
        simple: dict[str, Callable[[], None]] = {
            "undo": self._turn.undo_turn,
            "review": self._turn.review_turn,
            "wrap": self._panes.wrap,
            "removed": self._panes.removed,
            "meter": self._explain_meter,
            "follow": self._panes.follow,
            "rewind": partial(self._turn.rewind, argument),
            "image": partial(self._panes.prompt_box.add_images, argument),
        }
        if name in simple:
            simple[name]()
            return ""
        intent = asked(name, argument, self._session.status)
        if isinstance(intent, str):
            return intent
        plain: dict[str, Callable[[], None]] = {
            "tier": self._say_models,
            "effort": self._turn.effort,
            "mode": self._turn.say_mode,
            "tasks": self._turn.tasks,
            "notes": self._turn.notes,
            "attempts": partial(self._turn.attempts, shown_attempt(argument) or 0),
            "race": partial(self._turn.attempts, shown_attempt(argument) or 0),
            "skills": self._list_skills,
            "compact": self._show_summary,
        }
        if intent is not None:
            self._submit(intent)
        elif name in plain:
            plain[name]()
        elif name == "theme":
            return self._set_theme(argument)
        elif name == "diff":
            self._turn.review_turn(*diff_asked(argument))
        elif name == "connect":
            self._screen.app.call_later(self._screen.app.run_action, f"connect({argument!r})")
        elif name in ("resume", "fork"):
            from tui.ui.screens.sessions import fork, resume

            wanted = resume if name == "resume" else fork
            self._screen.app.call_later(wanted, self._screen.app, self._session, argument)
        elif name == "stats":
            from tui.ui.screens.status import show_stats

            show_stats(self._screen.app, self._session, argument)
        elif name in ("tree", "split"):
            self._screen.app.call_later(self._screen.run_action, f"command({name!r})")
        else:
            self._screen.app.call_later(self._screen.app.run_action, name)
        return ""

    def _submit(self, intent: Intent) -> None:
        """Ask the engine, and say what it means where that is not seen."""
        self._session.submit(intent)
        if isinstance(intent, SetAutoAccept):
            self._screen.notify(auto_words(intent.on), markup=False)
        elif isinstance(intent, SetMode):
            self._turn.say_mode()
        elif isinstance(intent, MakeAttempts) and self._session.attempts.active:
            self._turn.attempts()

    def _say_models(self) -> None:
        words = inert(model_words(self._session.status))
        self._screen.notify(words, timeout=10, markup=False)

    def _show_summary(self) -> None:
        """What is sent for the beginning of the conversation, in the user's editor."""
        session = self._session
        if not (text := session.compaction().text):
            self._screen.notify(NO_SUMMARY, markup=False)
            return
        box = self._screen.query_one(PromptBox)
        box.lend(text, lambda edited: session.submit(EditSummary(edited, text)))

    def _list_skills(self) -> None:
        from tui.ui.screens.status import SkillsScreen

        self._screen.app.push_screen(SkillsScreen(self._session))

    def _explain_meter(self) -> None:
        """Every figure of the status line, and what it means."""
        from tui.ui.screens.status import MeterScreen

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
