"""The lower left: questions, queue, the prompt and the row that says what Enter does."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Static

from tui.engine.intents import Unqueue
from tui.engine.session import Session
from tui.ui.messages import DraftChanged, TakenBack, Wanted
from tui.ui.widgets.ask import AskBox
from tui.ui.widgets.hint import Hint
from tui.ui.widgets.prompt import Prompt
from tui.ui.widgets.queued import QueueBox


class PromptBox(Vertical):
    """Composes the parts and keeps them in step with the session."""

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._session = session
        self.prompt = Prompt(session.listing, id="prompt")
        self._asks = AskBox(id="asks")
        self._queue = QueueBox(id="queue")
        self._hint = Hint(session, self.prompt, id="hint")
        self._sent = ""

    def compose(self) -> ComposeResult:
        """Questions over the queue over the draft over the hint."""
        yield self._asks
        yield self._queue
        with Horizontal(id="draft"):
            yield Static("\u276f", id="glyph", markup=False)
            yield self.prompt
        yield self._hint

    def sync(self) -> None:
        """Take up the session's state; called when it changed."""
        status = self._session.status
        self.prompt.busy = status.busy
        self.prompt.offer(status.prompts, status.suggestion)
        self._queue.show(status.queued)
        # a question takes the focus only from an empty prompt: nobody answers by mistake
        free = self.screen.focused in (None, self.prompt) and not self.prompt.text
        if self._asks.show(status.asks) and free:
            self._asks.focus()
        elif not status.asks and self._asks.has_focus:
            self.prompt.focus()
        self._hint.update_bar()

    def focus_prompt(self, text: str = "") -> None:
        """Give the prompt the focus at once; ``text`` was typed elsewhere."""
        self.screen.set_focus(self.prompt)
        if text == "\n":
            self.prompt.send()
        elif text:
            self.prompt.insert(text)

    def focus_ask(self) -> bool:
        """Give an open question the focus; False if there is none."""
        if self._asks.waits:
            self._asks.focus()
        return self._asks.waits

    def refuse(self) -> bool:
        """Answer an open question with the safe refusal; False if there is none."""
        waits = self._asks.waits
        self._asks.refuse()
        return waits

    def take_back(self, index: int | None = None) -> None:
        """Put a queued message (the last one) back into the prompt."""
        queued = self._session.status.queued
        if queued:
            at = len(queued) - 1 if index is None else min(index, len(queued) - 1)
            self.prompt.restore(queued[at])
            self.post_message(Wanted(Unqueue(at)))

    def recolour(self) -> None:
        """The theme changed."""
        self._hint.recolour()
        self._asks.refresh()
        self._queue.refresh()

    def on_draft_changed(self, message: DraftChanged) -> None:
        """The hint follows every keystroke; the screen hears of it too."""
        self._hint.update_bar()

    def on_descendant_focus(self) -> None:
        """The label says who gets the keys."""
        self._hint.update_bar()

    def on_descendant_blur(self) -> None:
        """See `on_descendant_focus`."""
        self._hint.update_bar()

    def on_taken_back(self, message: TakenBack) -> None:
        """A click in the queue, or the key for the last one."""
        message.stop()
        self.take_back(message.index)
