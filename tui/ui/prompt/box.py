"""The lower left: questions, queue, the prompt and the row that says what its keys do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Protocol

from textual import events
from textual.app import ComposeResult, SuspendNotSupported
from textual.containers import Horizontal, Vertical
from textual.widgets import Static

from tui.core.programs import Edited
from tui.engine.intents import HoldQueued, Intent, Prewarm, Unqueue
from tui.engine.notices import Notices
from tui.engine.session import Session
from tui.errors import EditRefused
from tui.ui.keymap import shown
from tui.ui.messages import (
    CompletionActed,
    DraftChanged,
    Entered,
    ExternalEditorWanted,
    ImageWanted,
    QueueActed,
    QueueWanted,
    RefusalWanted,
    TakenBack,
    Wanted,
)
from tui.ui.prompt.completion import written
from tui.ui.prompt.completion_list import CompletionList
from tui.ui.prompt.hint import REFUSAL, Hint
from tui.ui.prompt.prompt import PromptArea
from tui.ui.prompt.question_box import QuestionBox
from tui.ui.prompt.queue_list import QueueEditing, QueueList
from tui.ui.styled_text import inert
from tui.ui.widgets.field import Field

_SHARE = 0.6
"""The most that the box takes of the panes' height; the styles say the same."""
_BARS, _FRAME = 3, 2
"""Rows of the screen that are not panes; rows of the box that are its border and its hint."""
_BESIDE_QUESTION = 2
"""Rows that are seen beside a question: of the draft, and of the conversation."""
_LOOK_BACK_S = 0.5
"""After the first paint."""
_MOST_ROWS = 8
"""Rows that the prompt grows to."""
_CALM_S = 0.5
"""So long an Enter is not yet about a text that came back by itself, unless it was changed."""


class ExternalEditor(Protocol):
    """What opens an editor; ``effects.text_editor`` is one."""

    def refusal(self) -> str:
        """Why there is none to open, in a sentence; empty: there is one."""

    async def edit(self, text: str) -> Edited:
        """Have a text edited; the terminal is the editor's until this returns."""

    def written(self) -> str | None:
        """What the editor has saved by now; None: there is none, or it has saved nothing yet."""


def joined(edited: str, given: str, now: str) -> str:
    """The draft after an edit, with what came into the prompt meanwhile: a prompt not sent."""
    if now == given:
        return edited
    came = now.removesuffix(given).rstrip("\n") if given else now
    return "\n".join(filter(None, (came, edited)))


class PromptBox(Vertical):
    """Composes the parts and keeps them in step with the session."""

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._session = session
        self.prompt = PromptArea(self._files, lambda: session.status)
        self.prompt.completer.on_change = self._show_completions
        self._restored, self._restored_s = "", -_CALM_S
        self.prompt.just_restored = lambda: (
            session.now() - self._restored_s < _CALM_S and self.prompt.text == self._restored
        )
        self._question = QuestionBox(id="asks")
        self._queue = QueueList(id="queue")
        self._completions = CompletionList()
        self._completions.room = lambda: self.prompt.region.y
        self._hint = Hint(session, self.prompt, self._queue)
        self.editing = QueueEditing(
            self.prompt, lambda: session.status, self._submit, self._queue_changed
        )
        self.prompt.completer.attachables = session.attachments
        self.external_editor: ExternalEditor | None = None
        """Where the draft can be edited, too."""
        self._lent: str | None = None
        """The draft, while the editor has it."""
        self._lending = False
        """The editor has a text, and the terminal."""
        self._typing = False
        """Words for the model stand in the prompt."""
        self._refusal: Field | None = None
        """Takes the words of a refusal; made when it is first wanted."""

    def compose(self) -> ComposeResult:
        """Questions over the queue over the draft over the hint."""
        yield self._question
        yield self._queue
        yield self._completions
        with Horizontal(id="draft"):
            yield Static("\u276f", id="glyph", markup=False)
            yield self.prompt
        yield self._hint

    def on_mount(self) -> None:
        """The history of earlier runs is read before somebody asks for it."""
        if self.prompt.past.store is not None:
            self.set_timer(_LOOK_BACK_S, self._look_back)

    async def _look_back(self) -> None:
        past = self.prompt.past
        if past.store is not None:
            past.fill(await asyncio.to_thread(past.store.load))

    @property
    def draft(self) -> str:
        """All that is typed and not sent: the prompt's text, and a draft put aside for an edit."""
        return "\n".join(filter(None, (self._typed(), self.editing.aside)))

    def _typed(self) -> str:
        """With what the external editor has saved while it has the draft."""
        typed = self.prompt.search.aside or self.prompt.whole
        editor = self.external_editor
        written = editor.written() if self._lent is not None and editor is not None else None
        return typed if written is None else joined(inert(written), self._lent or "", typed)

    def _submit(self, intent: Intent) -> None:
        self.post_message(Wanted(intent))

    def _files(self) -> list[str]:
        """All files of the workspace; if any came or went, they are listed anew meanwhile."""
        self._session.folders.look()
        return self._session.listing()

    # -- in step with the session

    def sync(self, notices: Notices) -> None:
        """Show what the session's status is now; called once a frame."""
        if notices.listing:
            self.prompt.completer.look_again()
        if notices.hunks and not notices.status and not self._session.status.busy:
            self._hint.update_bar()  # a cut one was decided on
        if not notices.status:
            return
        status = self._session.status
        self.prompt.busy = status.busy
        self.prompt.waiting = bool(status.queued or status.asks)
        if self.editing.sync(self._typed):
            words = "The message was sent unedited; your edit is a draft now."
            self.notify(words, timeout=6, markup=False)
        self._show_queue()
        self._show_question()
        self.fit()
        self._hint.update_bar()

    def _show_question(self) -> None:
        """A question takes the focus only from an empty prompt: nobody answers by mistake.

        One about a command takes it from nobody.
        """
        status, question, refusal = self._session.status, self._question, self._refusal
        asking = self.answers
        free = asking or self.screen.focused in (None, self.prompt)
        fresh = question.show(status.asks)
        if refusal is not None and refusal.value and (fresh or not status.asks):
            self.prompt.restore(refusal.value)  # nobody is there to read it
            refusal.value = ""
        if fresh and free and question.takes_focus and not self.prompt.text:
            question.focus()
        elif asking and (fresh or not status.asks):
            self.focus_prompt()  # now: a key may be on its way
        if fresh and not question.takes_focus and not self.screen.is_current:
            self.notify("A command waits for your answer, over the prompt.", markup=False)

    def fit(self) -> None:
        """Share the rows: the hint is always seen, a row of the draft, and one of what waits."""
        height = self.screen.size.height - _BARS
        self._question.fit(height - _FRAME - _BESIDE_QUESTION)
        self.set_class(self._question.waits, "-asking")
        room = int(height * _SHARE) - _FRAME - self._question.rows
        listed = bool(self._queue.rows)
        most = max(min(_MOST_ROWS, room - listed), 1)
        self.prompt.styles.max_height = most
        self._queue.fit(room - min(self.prompt.wrapped_document.height, most))
        crowded = self._question.waits and height <= self._question.rows + _FRAME + _BESIDE_QUESTION
        self._queue.display = listed and not crowded

    # -- the focus

    @property
    def in_queue(self) -> bool:
        """True while keys go to the queued messages."""
        return self.screen.focused is self._queue

    def focus_prompt(self, text: str = "") -> None:
        """Give the prompt the focus at once; ``text`` was typed elsewhere."""
        self.screen.set_focus(self.prompt)
        if text == "\n":
            self.prompt.send()
        elif text:
            self.prompt.insert(text)

    def focus_queue(self) -> bool:
        """Give the last queued message the focus; False if there is none."""
        if self._queue.queued:
            self._queue.choose_last()
            self.screen.set_focus(self._queue)
        return bool(self._queue.queued)

    def focus_question(self) -> bool:
        """Give an open question the focus; False if there is none."""
        if self._question.waits:
            self._question.enter()
        return self._question.waits

    def look(self) -> None:
        """The label says who gets the keys; words of a refusal are kept for when it is wanted."""
        if self._refusal is not None:
            self._refusal.display = self.is_refusing
            self.query_one("#glyph").visible = not self.is_refusing
        self._hint.update_bar()

    on_descendant_blur = look

    # -- the draft

    def restore(self, text: str) -> None:
        """Put a text back into the draft; a message that is being edited stays as it is."""
        if self.editing.active:
            self.editing.set_aside(text)
        else:
            self.prompt.restore(text)
            self._restored, self._restored_s = self.prompt.text, self._session.now()

    def refuse(self) -> bool:
        """Answer an open question with the safe refusal; False if there is none.

        One about a command is answered where it is seen whole.
        """
        ours = self._question.takes_focus or self.screen.focused is self._question
        if ours and (given := self._question.refusal()) is not None:
            self._submit(given)
        return ours

    def on_refusal_wanted(self, message: RefusalWanted) -> None:
        """Have words for the model typed."""
        message.stop()
        if self._refusal is None:
            words = f"why not? {shown('send', 'prompt')} refuses"
            self._refusal = Field(placeholder=words, id=REFUSAL)
            self._refusal.select_on_focus = False  # what was typed is gone on with
            self.mount(self._refusal, after=self._question)
        self._refusal.display = True
        self.screen.set_focus(self._refusal)
        self.look()

    @property
    def answers(self) -> bool:
        """True while keys go to a question."""
        return self.screen.focused is self._question or self.is_refusing

    @property
    def is_refusing(self) -> bool:
        """True while words for a refusal are typed."""
        return self._refusal is not None and self.screen.focused is self._refusal

    def on_input_submitted(self, event: Field.Submitted) -> None:
        """The command is refused, with these words, if there are any."""
        event.stop()
        if (given := self._question.refusal(event.value.strip())) is not None:
            self._submit(given)
        event.input.value = ""
        self.focus_prompt()

    def on_key(self, event: events.Key) -> None:
        """From the words of a refusal back to the question."""
        if event.key in ("tab", "shift+tab", "up") and self.is_refusing:
            event.stop()
            event.prevent_default()
            self.focus_question()

    def close_list(self) -> bool:
        """Close what the prompt has open (see `PromptArea.close_list`). False: nothing is."""
        return self.screen.focused is self.prompt and self.prompt.close_list()

    def on_draft_changed(self, message: DraftChanged) -> None:
        """The hint follows every keystroke; the engine hears of the first, the screen of all."""
        self._session.keeping.changed()
        text = self.prompt.text
        typing = bool(text) and not text.startswith(("/", "!"))
        if typing and not self._typing and not self._session.status.busy:
            self._submit(Prewarm())
        self._typing = typing
        self.fit()
        self._hint.update_bar()

    def on_completion_acted(self, message: CompletionActed) -> None:
        """The mouse in the list."""
        message.stop()
        if message.what == "step":
            self.prompt.completer.step(message.value)
        else:
            self.prompt.take(message.value)
            self.focus_prompt()

    def _show_completions(self) -> None:
        """The list, and what its keys do."""
        completer = self.prompt.completer
        kind = completer.query.kind if completer.query is not None else "file"
        self._completions.show(kind, completer.items, completer.at, completer.total)
        self._hint.update_bar()

    # -- the queue

    def on_entered(self, message: Entered) -> None:
        """A message that was edited goes back to its place, or is steered with instead."""
        if not self.editing.active:
            return
        message.stop()
        if message.how != "steer" or not message.text:
            self.editing.put_back(message.text)
            return
        self.editing.take_out()
        self.post_message(Entered(message.text, "steer"))
        self._submit(HoldQueued(None))

    def on_taken_back(self, message: TakenBack) -> None:
        """The last queued message leaves the queue for the prompt."""
        message.stop()
        queued = self._session.status.queued
        if queued and not self.editing.active:
            self.prompt.restore(queued[-1])
            self._submit(Unqueue(len(queued) - 1))

    def on_queue_wanted(self, message: QueueWanted) -> None:
        """Up from the empty prompt."""
        message.stop()
        if not self.focus_question():
            self.focus_queue()

    def on_queue_acted(self, message: QueueActed) -> None:
        """A key or a click in the queue."""
        message.stop()
        queued, at = self._session.status.queued, message.index
        if not 0 <= at < len(queued):
            return
        text = queued[at]
        if message.what == "edit":
            self.editing.begin(at)
            self.focus_prompt()
            return
        if self.editing.place == at:
            self.editing.leave()
        self._submit(Unqueue(at))
        if message.what == "remove":
            self.prompt.past.add(text)
        else:
            self.editing.leave()
            self.focus_prompt()
            self.post_message(Entered(text))

    def _show_queue(self) -> None:
        status = self._session.status
        self.prompt.suggest(status.prompts if status.suggestion else [], status.suggestion)
        place = self.editing.place
        self._queue.show(status.queued, status.steering, status.steering_fates, place)
        if self.screen.focused is self._queue and not status.queued:
            self.focus_prompt()

    def _queue_changed(self) -> None:
        self._show_queue()
        self._hint.update_bar()

    # -- the external editor

    def on_image_wanted(self, message: ImageWanted) -> None:
        """The image on the clipboard is named at the cursor."""
        message.stop()
        self.add_images(copied=message.copied)

    def add_images(self, words: str = "", *, copied: str = "") -> None:
        """Name images in the draft: files, or the one on the clipboard, else what was copied."""
        self.run_worker(self._add_images(words, copied), name="image", group="image")

    async def _add_images(self, words: str, copied: str) -> None:
        try:
            names = await self._session.attachments.named_images(words)
        except EditRefused as error:
            if copied:
                self.prompt.take_in(copied)
            else:
                why = f"No image was taken: {error}."
                self.notify(inert(why), severity="warning", timeout=8, markup=False)
            return
        self.prompt.take_in("".join(f"{written(name)} " for name in names))

    def on_external_editor_wanted(self, message: ExternalEditorWanted) -> None:
        """The draft goes to the user's own editor."""
        message.stop()
        if (editor := self._free_editor()) is not None:
            self.prompt.search.end()
            given = self._lent = self.prompt.whole
            self._lend(editor, given, partial(self._take_up, given))

    def lend(self, text: str, take: Callable[[str], None]) -> None:
        """Have another text edited there; ``take`` is given what became of it."""
        if (editor := self._free_editor()) is not None:
            self._lend(editor, text, take)

    def _free_editor(self) -> ExternalEditor | None:
        """What can be lent a text now; None: nothing, which is said."""
        editor = self.external_editor
        why_not = "There is no editor to open here." if editor is None else editor.refusal()
        if why_not:
            self.notify(inert(why_not), severity="warning", timeout=8, markup=False)
        return None if why_not or self._lending else editor

    def _lend(self, editor: ExternalEditor, text: str, take: Callable[[str], None]) -> None:
        self._lending = True
        self.run_worker(self._edit(editor, text, take), name="editor", group="editor")

    async def _edit(self, editor: ExternalEditor, text: str, take: Callable[[str], None]) -> None:
        """The session goes on meanwhile; the screen stands still, for it is the editor's."""
        edited = Edited(None)
        try:
            with self.app.suspend():
                edited = await editor.edit(text)
        except SuspendNotSupported:
            edited = Edited(edited.text, "This terminal cannot run another program.")
        finally:  # also where the terminal is gone meanwhile
            self._lent, self._lending = None, False
            if edited.text is not None:
                take(edited.text)
            if edited.said:
                self.notify(inert(edited.said), severity="warning", timeout=8, markup=False)

    def _take_up(self, given: str, edited: str) -> None:
        """The draft that was ``given`` comes back."""
        if edited != given:
            if not edited.strip():
                self.prompt.past.add(given)
            self.prompt.write(joined(inert(edited), given, self.prompt.whole))
