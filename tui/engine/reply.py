"""One response while it streams: its items become blocks, landings and calls.

A delta costs a dictionary look-up, the meter's count, and an append or a landing's feed: no
message, no task. What can wait for a frame waits for it (`Reply.frame`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from tui.core.history import CALL_OUTPUTS, Item
from tui.core.meter import Meter
from tui.core.turn import Block, BlockKind
from tui.core.wire.events import (
    ArgumentsDelta,
    Event,
    InputDelta,
    ItemAdded,
    ItemDone,
    PatchDelta,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
)
from tui.engine.board import Board
from tui.engine.calls import Calls, Earlier, Landings, doubt
from tui.engine.items import call_text, characters_in, message_item, message_text
from tui.engine.open_items import Call as Call
from tui.engine.open_items import Page, Prose
from tui.engine.slots import Slots

if TYPE_CHECKING:
    from tui.core.edits.patches.landing import Landing

CallDelta = ArgumentsDelta | InputDelta | PatchDelta
_KINDS: dict[type, str] = {
    ArgumentsDelta: "function_call",
    InputDelta: "custom_tool_call",
    PatchDelta: "apply_patch_call",
}
MOST_CHARS = 16 * 2**20
"""What streams of one response, and again what its finished items hold; no model says as much."""
_ITEM_CHARS = 256
"""For which an item counts by itself."""


_TEXTS = {"message": "content", "custom_tool_call": "input", "function_call": "arguments"}
"""Where a finished item of each kind has its text."""
_LATE_CHARS = 500
"""Of it that land at once."""


class Reply:
    """The blocks, landings and calls of one response."""

    def __init__(self, page: Page, landings: Landings, earlier: Earlier | None = None) -> None:
        self.chars = 0
        """Characters of output that came, reasoning left out."""
        self.room = MOST_CHARS
        """Characters that may still come, reasoning too; less than none: it is to be stopped."""
        self._room_in_items = MOST_CHARS
        self.items: list[Item] = []
        """Finished items, in order: what goes into the history."""
        self.response_id = ""
        self.calls = Calls(page, landings, earlier or Earlier())
        self._page = page
        self._board: Board = page.board
        self._meter: Meter = page.board.meter
        self._landings = landings
        self.slots = Slots()
        """Which item is which; ``mended``: the server does not know its calls by our ids."""
        self._prose: dict[str, Prose] = {}
        self._reasoning: dict[str, Block] = {}
        self._closed = False
        self._handlers: dict[type, Callable[..., None]] = {
            TextDelta: self.text,
            RefusalDelta: self.text,
            InputDelta: self.call_delta,
            ArgumentsDelta: self.call_delta,
            PatchDelta: self.call_delta,
            ReasoningDelta: self.reasoning,
            ItemAdded: self.added,
            ItemDone: self.done,
        }

    def event(self, event: Event, now: float) -> None:
        """An event of this response; ``now`` in seconds."""
        handler = self._handlers.get(type(event))
        if handler is not None and (not self._closed or handler == self.done):
            handler(event, now)

    @property
    def started(self) -> bool:
        """True if anything of it arrived."""
        return bool(self._prose or self._reasoning or self.calls.all or self.items)

    @property
    def unfinished(self) -> bool:
        """True if something half-written is on the screen."""
        return (
            any(not call.done for call in self.calls.all)
            or any(prose.shows and not prose.ended for prose in self._prose.values())
            or any(block.state == "open" for block in self._reasoning.values())
        )

    def added(self, event: ItemAdded, now: float) -> None:
        """An item begins."""
        self.room -= _ITEM_CHARS
        begun = self.slots.added(event.item, event.output_index)
        if begun and event.item.get("type") in CALL_OUTPUTS:
            self.calls.begin(*begun)

    def text(self, event: TextDelta | RefusalDelta, now: float) -> None:
        """Prose, maybe with patches in it."""
        self._count(now, event.delta)
        key = self.slots.of("message", event.item_id, event.output_index)
        prose = self._prose.get(key) or self._begin_prose(key)
        self._say(prose, event.delta)

    def reasoning(self, event: ReasoningDelta, now: float) -> None:
        """Reasoning or its summary."""
        self._count(now, event.delta, reasoning=True)
        key = self.slots.of("reasoning", event.item_id, event.output_index)
        block = self._reasoning.get(key)
        if block is None:
            self.room -= _ITEM_CHARS
            block = self._reasoning[key] = self._page.block(BlockKind.REASONING)
        self._board.append(block, event.delta)

    def call_delta(self, event: CallDelta, now: float) -> None:
        """More of a call's input."""
        self._count(now, event.delta)
        key = self.slots.of(_KINDS[type(event)], event.item_id, event.output_index)
        self.chars += self.calls.delta(key, event.delta)

    def done(self, event: ItemDone, now: float) -> None:
        """An item is finished: its text is the authoritative one."""
        ended = self.slots.ended(event.item, event.output_index)
        if ended is None:
            return
        key, item = ended
        self._room_in_items -= _ITEM_CHARS + characters_in(item)
        if self._room_in_items < 0:
            self.room = -1
            return
        kind = str(item.get("type"))
        if kind in CALL_OUTPUTS:
            whole = self.calls.finish(key, item)
            if whole is not None:
                self.items.append(whole)
            return
        self.items.append(item)
        if kind == "message":
            self._finish_prose(key, item)
        elif block := self._reasoning.get(key):
            self._board.close(block)

    def late(self, event: ItemDone, most: int) -> list[partial[None]]:
        """What a finished item says, and no delta has said: to be done in parts before its end.

        Empty if that is not more than ``most`` characters.
        """
        item, index = event.item, event.output_index
        kind = str(item.get("type"))
        field = _TEXTS.get(kind)
        if field is None or self._closed or self.slots.has_ended(item):
            return []
        text = message_text(item) if kind == "message" else call_text(item)
        key = self.slots.ending(item, index)
        said = self._said(key)
        if said is None or len(text) - len(said) <= most or not text.startswith(said):
            return []
        if not key:
            self.added(ItemAdded(item={**item, field: ""}, output_index=index), 0.0)
            key = self.slots.ending(item, index)
        begin = len(said)
        parts = (text[at : at + _LATE_CHARS] for at in range(begin, len(text), _LATE_CHARS))
        return [partial(self._say_late, kind, key, part) for part in parts]

    def complete(self) -> None:
        """The response is whole: what has no end of its own ends here, with what came."""
        if self._closed:
            return
        for prose in self._prose.values():
            if not prose.ended and prose.said:
                self.items.append(message_item(prose.said.text))
        ended = self.calls.finish_all()
        self.slots.mended |= bool(ended)
        self.items += ended

    def frame(self) -> None:
        """Once a frame: paint unfinished lines, tell where the model writes."""
        self.calls.frame()
        for prose in self._prose.values():
            if prose.patch is not None and prose.patch.state == "open":
                self.calls.show(prose.landing, prose.patch)

    def close(self, *, cut: bool) -> None:
        """Nothing more will be shown: what is open ends here, at this character."""
        if self._closed:
            return
        self._closed = True
        self.calls.close()
        for prose in self._prose.values():
            prose.end(self._page, cut=cut)
        for block in self._reasoning.values():
            self._board.close(block, "cut" if cut else "done")
        self._board.wake()

    @property
    def patches_in_prose(self) -> list[Landing]:
        """The landings of messages that had patches in them."""
        return [prose.landing for prose in self._prose.values() if prose.patch is not None]

    @property
    def landings(self) -> list[Landing]:
        """All landings, of calls and of messages."""
        calls = [call.landing for call in self.calls.all if call.landing is not None]
        return [*calls, *(prose.landing for prose in self._prose.values())]

    def _count(self, now: float, delta: str, *, reasoning: bool = False) -> None:
        self.room -= len(delta)
        self._meter.delta(now, len(delta), reasoning)
        self._board.metered()

    def _begin_prose(self, key: str) -> Prose:
        self.room -= _ITEM_CHARS
        prose = Prose(self._landings(self._page.unused(key), "text"))
        self._prose[key] = prose
        return prose

    def _say(self, prose: Prose, delta: str) -> None:
        self.chars += len(delta)
        prose.said.append(delta)
        landing = prose.landing
        landing.feed(delta)
        prose.show(self._page)

    def _said(self, key: str) -> str | None:
        """What an item's deltas have said; None: it is compared with an earlier one."""
        if prose := self._prose.get(key):
            return prose.said.text
        return self.calls.said(key)

    def _say_late(self, kind: str, key: str, text: str) -> None:
        if kind == "message":
            self._say(self._prose.get(key) or self._begin_prose(key), text)
        else:
            self.chars += self.calls.delta(key, text)

    def _finish_prose(self, key: str, item: Item) -> None:
        prose = self._prose.get(key)
        text = message_text(item)
        if prose is None:
            if not text:
                return
            prose = self._begin_prose(key)
        prose.ended = True
        if self._closed:
            return
        said = prose.said.text
        lost = not text.startswith(said) and text.strip() not in said
        if lost and prose.landing.hunks:
            doubt(prose.landing)
        elif lost:
            # a piece was lost on the way: the whole text is said again
            prose.end(self._page, cut=True)
            prose, said = self._begin_prose(key), ""
            prose.ended = True
        if text.startswith(said):
            self._say(prose, text[len(said) :])
        prose.end(self._page, cut=False)
