"""The prompt and the queue above it: a queued message is edited in the prompt, and put back."""

from __future__ import annotations

from textual.containers import Vertical

from tui.engine.intents import EditQueued, HoldQueued, Queue, Unqueue
from tui.engine.session import Session
from tui.ui.messages import Entered, QueueActed, QueueWanted, TakenBack, Wanted
from tui.ui.prompt.completer import Completer
from tui.ui.prompt.hint import Hint
from tui.ui.prompt.prompt import Prompt
from tui.ui.prompt.queue_edit import QueueEdit
from tui.ui.prompt.queued import QueueBox


class QueueingBox(Vertical):
    """The part of the prompt box that knows of the queue; `PromptBox` adds the rest."""

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._session = session
        self.prompt = Prompt(Completer(self._files, lambda: session.status), id="prompt")
        self._queue = QueueBox(id="queue")
        self._hint = Hint(session, self.prompt, self._queue, id="hint")
        self._edit: QueueEdit | None = None

    @property
    def draft(self) -> str:
        """All that is typed and not sent: the prompt's text, and a draft put aside for an edit."""
        aside = self._edit.aside if self._edit is not None else ""
        return "\n".join(filter(None, (self._typed(), aside)))

    def _typed(self) -> str:
        """What was typed in the prompt."""
        return self.prompt.aside or self.prompt.whole

    @property
    def in_queue(self) -> bool:
        """True while keys go to the queued messages."""
        return self._queue.has_focus

    def _files(self) -> list[str]:
        """All files of the workspace; if any came or went, they are listed anew meanwhile."""
        self._session.folders.look()
        return self._session.listing()

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

    def restore(self, text: str) -> None:
        """Put a text back into the draft; a message that is being edited stays as it is."""
        if self._edit is None:
            self.prompt.restore(text)
        else:
            both = "\n".join(filter(None, (text, self._edit.aside)))
            self._edit = QueueEdit(self._edit.index, self._edit.text, both)

    def leave_edit(self) -> bool:
        """Leave the queued message as it was; what was typed is in the history. False: no edit."""
        if self._edit is None:
            return False
        self.prompt.end_search()
        self.prompt.past.add(self.prompt.whole)
        self._end_edit()
        self.post_message(Wanted(HoldQueued(None)))
        return True

    def on_entered(self, message: Entered) -> None:
        """A message that was edited goes back to its place, or is steered with instead."""
        if self._edit is None:
            return
        message.stop()
        place = self._edit.place(self._session.status.queued)
        if message.how != "steer" or not message.text:
            self._put_back(message.text)
            return
        self._end_edit()
        if place is not None:
            self.post_message(Wanted(Unqueue(place)))
        self.post_message(Entered(message.text, "steer"))
        self.post_message(Wanted(HoldQueued(None)))

    def on_taken_back(self, message: TakenBack) -> None:
        """The last queued message leaves the queue for the prompt."""
        message.stop()
        queued = self._session.status.queued
        if queued and self._edit is None:
            self.prompt.restore(queued[-1])
            self.post_message(Wanted(Unqueue(len(queued) - 1)))

    def on_queue_wanted(self, message: QueueWanted) -> None:
        """Up from the empty prompt."""
        message.stop()
        self.focus_queue()

    def on_queue_acted(self, message: QueueActed) -> None:
        """A key or a click in the queue."""
        message.stop()
        queued, at = self._session.status.queued, message.index
        if not 0 <= at < len(queued):
            return
        text = queued[at]
        if message.what == "edit":
            self._begin_edit(at)
            return
        if self._edit is not None and self._edit.place(queued) == at:
            self.leave_edit()
        self.post_message(Wanted(Unqueue(at)))
        if message.what == "remove":
            self.prompt.past.add(text)
        else:
            self.leave_edit()
            self.focus_prompt()
            self.post_message(Entered(text))

    def _sync_queue(self) -> None:
        status, edit = self._session.status, self._edit
        place = edit.place(status.queued) if edit is not None else None
        if edit is not None and place is None:
            self._sent_meanwhile(edit)
        self.prompt.offer(status.prompts, status.suggestion)
        self._queue.show(status.queued, status.steering, status.steering_fates, place)
        if self._queue.has_focus and not status.queued:
            self.focus_prompt()

    def _begin_edit(self, index: int) -> None:
        """The message's text into the prompt; the draft waits."""
        self.prompt.end_search()
        queued = self._session.status.queued
        text = queued[index]
        if self._edit is not None:
            place = self._edit.place(queued)
            if place == index:
                self.focus_prompt()
                return
            removed = not self.prompt.text.strip() and place is not None and place < index
            index -= removed
            self._put_back(self.prompt.whole.strip(), release=False)
        self._edit = QueueEdit(index, text, self.prompt.whole)
        self.post_message(Wanted(HoldQueued(index)))
        self.prompt.editing = True
        self.prompt.write(text)
        self._queue.edited = index
        self.focus_prompt()
        self._sync_queue()
        self._hint.update_bar()

    def _put_back(self, text: str, *, release: bool = True) -> None:
        """The edited text to its place in the queue; nothing typed: the message goes.

        ``release``: no other message is edited next.
        """
        edit = self._edit
        place = edit.place(self._session.status.queued) if edit is not None else None
        self._end_edit()
        if place is not None:
            self.post_message(Wanted(EditQueued(place, text)))
        elif text:
            self.post_message(Wanted(Queue(text)))
        if release:
            self.post_message(Wanted(HoldQueued(None)))

    def _end_edit(self) -> None:
        """The draft that waited stands in the prompt again."""
        edit, self._edit = self._edit, None
        self.prompt.editing = False
        if edit is not None:
            self.prompt.write(edit.aside)
        self._sync_queue()
        self._hint.update_bar()

    def _sent_meanwhile(self, edit: QueueEdit) -> None:
        """The message left the queue as it was: what was typed since is a draft now."""
        self.prompt.end_search()
        changed = self.prompt.whole.strip() not in ("", edit.text.strip())
        draft = self.draft if changed else edit.aside
        self._edit = None
        self.prompt.editing = False
        self.prompt.write(draft)
        if changed:
            words = "The message was sent as it was; your edit of it is a draft now."
            self.notify(words, timeout=6, markup=False)
