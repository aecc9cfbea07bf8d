"""The lower left: questions, queue, the prompt and the row that says what its keys do."""

from __future__ import annotations

import asyncio

from textual.app import ComposeResult, SuspendNotSupported
from textual.containers import Horizontal
from textual.widgets import Static

from tui.core.edited import Edited
from tui.engine.intents import Prewarm
from tui.engine.notices import Notices
from tui.engine.session import Session
from tui.ui.messages import DraftChanged, EditedOutside, OfferActed, Wanted
from tui.ui.prompt.ask import AskBox
from tui.ui.prompt.history import NothingKept
from tui.ui.prompt.offer_list import OfferList
from tui.ui.prompt.outside import NoEditor, OutsideEditor, joined
from tui.ui.prompt.queueing import QueueingBox
from tui.ui.rows import inert

_SHARE = 0.6
"""Of the panes' height, at most; as in the styles."""
_BARS, _FRAME = 3, 2
"""Rows of the screen that are not panes; rows of the box that are its border and its hint."""
_BESIDE_ASK = 2
"""Rows that are seen beside a question: of the draft, and of the conversation."""
_LOOK_BACK_S = 0.5
"""After the first paint."""
_MOST_ROWS = 8
"""Of the prompt."""


class PromptBox(QueueingBox):
    """Composes the parts and keeps them in step with the session."""

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(session, id=id)
        self.prompt.on_offers = self._show_offers
        self._asks = AskBox(id="asks")
        self._offers = OfferList(id="offers")
        self._offers.room = lambda: self.prompt.region.y
        self.outside: OutsideEditor = NoEditor()
        """Where the draft can be edited, too."""
        self._lent: str | None = None
        """The draft that the editor has been given; the terminal is the editor's."""
        self._typing = False
        """Words for the model stand in the prompt."""

    def compose(self) -> ComposeResult:
        """Questions over the queue over the draft over the hint."""
        yield self._asks
        yield self._queue
        yield self._offers
        with Horizontal(id="draft"):
            yield Static("\u276f", id="glyph", markup=False)
            yield self.prompt
        yield self._hint

    def on_mount(self) -> None:
        """The history of earlier runs is read before somebody asks for it."""
        if not isinstance(self.prompt.past.kept, NothingKept):
            self.set_timer(_LOOK_BACK_S, self._look_back)

    async def _look_back(self) -> None:
        past = self.prompt.past
        past.fill(await asyncio.to_thread(past.kept.load))

    def sync(self, notices: Notices) -> None:
        """Take up what changed; called once a frame."""
        if notices.listing:
            self.prompt.completer.look_again()
        if not notices.status:
            return
        status = self._session.status
        self.prompt.busy = status.busy
        self.prompt.waiting = bool(status.queued)
        self._sync_queue()
        # a question takes the focus only from an empty prompt: nobody answers by mistake
        asking = self._asks.has_focus
        free = asking or self.screen.focused in (None, self.prompt)
        fresh = self._asks.show(status.asks)
        if fresh and free and not self.prompt.text:
            self._asks.focus()
        elif asking and (fresh or not status.asks):
            self.prompt.focus()
        self.fit()
        self._hint.update_bar()

    def fit(self) -> None:
        """Share the rows: the hint is always seen, a row of the draft, and one of what waits."""
        height = self.screen.size.height - _BARS
        self._asks.fit(height - _FRAME - _BESIDE_ASK)
        self.set_class(self._asks.waits, "-asking")
        room = int(height * _SHARE) - _FRAME - self._asks.rows
        listed = bool(self._queue.rows)
        most = max(min(_MOST_ROWS, room - listed), 1)
        self.prompt.styles.max_height = most
        self._queue.fit(room - min(self.prompt.wrapped_document.height, most))
        crowded = self._asks.waits and height <= self._asks.rows + _FRAME + _BESIDE_ASK
        self._queue.display = listed and not crowded

    def focus_ask(self) -> bool:
        """Give an open question the focus; False if there is none."""
        if self._asks.waits:
            self.screen.set_focus(self._asks)
        return self._asks.waits

    def refuse(self) -> bool:
        """Answer an open question with the safe refusal; False if there is none."""
        waits = self._asks.waits
        self._asks.refuse()
        return waits

    def recolour(self) -> None:
        """The theme changed."""
        self._hint.recolour()
        self._asks.refresh()
        self._queue.recolour()
        self._offers.recolour()

    def on_draft_changed(self, message: DraftChanged) -> None:
        """The hint follows every keystroke; the engine hears of the first, the screen of all."""
        self._session.keeping.changed()
        text = self.prompt.text
        typing = bool(text) and not text.startswith(("/", "!"))
        if typing and not self._typing and not self._session.status.busy:
            self.post_message(Wanted(Prewarm()))
        self._typing = typing
        self.fit()
        self._hint.update_bar()

    def close_offers(self) -> bool:
        """Close the list over the prompt, or leave vi's insert mode; False: neither is there."""
        prompt = self.prompt
        return prompt.has_focus and (prompt.close_offers() or prompt.leave_insert())

    def on_offer_acted(self, message: OfferActed) -> None:
        """The mouse in the list."""
        message.stop()
        if message.what == "step":
            self.prompt.step_offers(message.value)
        else:
            self.prompt.take(message.value)
            self.focus_prompt()

    def _show_offers(self) -> None:
        """The list, and what its keys do."""
        completer = self.prompt.completer
        kind = completer.wish.kind if completer.wish is not None else "file"
        self._offers.show(kind, completer.offers, completer.at, completer.total)
        self._hint.update_bar()

    def on_descendant_focus(self) -> None:
        """The label says who gets the keys."""
        self._hint.update_bar()

    def on_descendant_blur(self) -> None:
        """See `on_descendant_focus`."""
        self._hint.update_bar()

    def on_edited_outside(self, message: EditedOutside) -> None:
        """The draft goes to the user's own editor."""
        message.stop()
        if why_not := self.outside.refusal():
            self.notify(inert(why_not), severity="warning", timeout=8, markup=False)
        elif self._lent is None:
            self._lent = self.prompt.whole
            self.run_worker(self._edit_outside(), name="editor", group="editor")

    def _typed(self) -> str:
        """With what the editor has saved, while it has the draft: duetto may end over it."""
        typed = super()._typed()
        written = None if self._lent is None else self.outside.written()
        return typed if written is None else joined(inert(written), self._lent or "", typed)

    async def _edit_outside(self) -> None:
        """The session goes on meanwhile; the screen stands still, for it is the editor's."""
        self.prompt.end_search()
        given = self._lent = self.prompt.whole
        edited = Edited(None)
        try:
            with self.app.suspend():
                edited = await self.outside.edit(given)
        except SuspendNotSupported:
            edited = Edited(edited.text, "This terminal cannot be handed to another program.")
        finally:
            self._lent = None
            self._take_up(edited, given)  # also where the terminal is gone meanwhile

    def _take_up(self, edited: Edited, given: str) -> None:
        if edited.text is not None and edited.text != given:
            if not edited.text.strip():
                self.prompt.past.add(given)
            self.prompt.write(joined(inert(edited.text), given, self.prompt.whole))
        if edited.said:
            self.notify(inert(edited.said), severity="warning", timeout=8, markup=False)
