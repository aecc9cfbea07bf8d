"""One response while it streams: its items become blocks, landings and calls.

A delta costs a dictionary look-up, the meter's count, and an append or a landing's feed: no
message, no task. What can wait for a frame waits for it (`Reply.frame`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Protocol

from tui.core.edit_stream import Channel
from tui.core.history import CALL_OUTPUTS, Item
from tui.core.hunk import PLACED
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
from tui.engine.catalogue import NOT_KNOWN
from tui.engine.items import (
    PATCH_TOOL,
    call_text,
    closed_json,
    hosted_header,
    message_item,
    message_text,
    with_text,
)
from tui.engine.open_items import Call as Call
from tui.engine.open_items import Page, Prose
from tui.engine.slots import Slots
from tui.engine.tools import brief_call

if TYPE_CHECKING:
    from tui.core.landing import Landing

CallDelta = ArgumentsDelta | InputDelta | PatchDelta
_KINDS: dict[type, str] = {
    ArgumentsDelta: "function_call",
    InputDelta: "custom_tool_call",
    PatchDelta: "apply_patch_call",
}


class Landings(Protocol):
    """Makes landings for one turn."""

    def __call__(self, call_id: str, channel: Channel) -> Landing:
        """A landing fed with what the channel says: custom, function or text."""


class Reply:
    """The blocks, landings and calls of one response."""

    def __init__(self, board: Board, turn: int, speaker: str, landings: Landings) -> None:
        self.calls: list[Call] = []
        self.chars = 0
        """Characters of output that came, reasoning left out."""
        self.items: list[Item] = []
        """Finished items, in order: what goes into the history."""
        self.response_id = ""
        self.on_call: Callable[[Call], None] = lambda call: None
        """A call other than apply_patch is complete: run it."""
        self.privacy: Callable[[str], str] = lambda path: ""
        """Why nothing of a file may be quoted to the model; empty if it may."""
        self._board = board
        self._meter: Meter = board.meter
        self._page = Page(board, turn, speaker)
        self._landings = landings
        self.slots = Slots()
        """Which item is which; ``mended``: the server does not know its calls by our ids."""
        self._prose: dict[str, Prose] = {}
        self._reasoning: dict[str, Block] = {}
        self._calls: dict[str, Call] = {}
        self._place: tuple[str, int] | None = None
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
        return bool(self._prose or self._reasoning or self._calls or self.items)

    @property
    def unfinished(self) -> bool:
        """True if something half-written is on the screen."""
        return (
            any(not call.done for call in self.calls)
            or any(prose.shows and not prose.ended for prose in self._prose.values())
            or any(block.state == "open" for block in self._reasoning.values())
        )

    def added(self, event: ItemAdded, now: float) -> None:
        """An item begins."""
        begun = self.slots.added(event.item, event.output_index)
        if begun and event.item.get("type") in CALL_OUTPUTS:
            self._begin_call(*begun)

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
            block = self._reasoning[key] = self._page.block(BlockKind.REASONING)
        self._board.append(block, event.delta)

    def call_delta(self, event: CallDelta, now: float) -> None:
        """More of a call's input."""
        self._count(now, event.delta)
        key = self.slots.of(_KINDS[type(event)], event.item_id, event.output_index)
        call = self._calls.get(key)
        if call is None or call.done:
            return
        self.chars += len(event.delta)
        call.parts.append(event.delta)
        if call.landing is not None:
            call.landing.feed(event.delta)
            self._board.wake()

    def done(self, event: ItemDone, now: float) -> None:
        """An item is finished: its text is the authoritative one."""
        ended = self.slots.ended(event.item, event.output_index)
        if ended is None:
            return
        key, item = ended
        kind = str(item.get("type"))
        if kind in CALL_OUTPUTS:
            call = self._calls.get(key) or self._begin_call(key, item)
            self._finish_call(call, {**item, "call_id": call.item["call_id"]})
            return
        self.items.append(item)
        if kind == "message":
            self._finish_prose(key, item)
        elif block := self._reasoning.get(key):
            self._board.close(block)

    def complete(self) -> None:
        """The response is whole: what has no end of its own ends here, with what came."""
        if self._closed:
            return
        for prose in self._prose.values():
            if not prose.ended and prose.said:
                self.items.append(message_item(prose.said.text))
        for call in self.calls:
            if not call.done and call.parts:
                self.slots.mended = True
                self._finish_call(call, call.item)

    def frame(self) -> None:
        """Once a frame: paint unfinished lines, tell where the model writes."""
        for call in self.calls:
            if call.landing is not None and not call.done:
                self._show(call.landing, call.block)
        for prose in self._prose.values():
            if prose.patch is not None and prose.patch.state == "open":
                self._show(prose.landing, prose.patch)

    def close(self, *, cut: bool) -> None:
        """Nothing more will be shown: what is open ends here, at this character."""
        if self._closed:
            return
        self._closed = True
        for call in self.calls:
            if not call.done:
                if call.landing is not None:
                    call.landing.finish(cut=True)
                self._board.close(call.block, "cut")
        for prose in self._prose.values():
            prose.end(self._page, cut=cut)
        for block in self._reasoning.values():
            self._board.close(block, "cut" if cut else "done")
        self._board.wake()

    def partial_calls(self, *, landed: bool = False) -> list[tuple[Item, str]]:
        """Patch calls that were cut, as items with their whole lines, and what became of them.

        With ``landed`` only those that reached a buffer.
        """
        found = []
        for call in self.calls:
            if call.done or call.landing is None or not call.parts:
                continue
            if landed and not any(hunk.stage in PLACED for hunk in call.landing.hunks):
                continue
            kind = call.item.get("type")
            whole = call.text[: call.text.rfind("\n") + 1]
            if kind == "custom_tool_call":
                found.append(({**call.item, "input": whole}, self._report(call.landing)))
            elif kind == "function_call":
                whole = call.text[: call.text.rfind("\\n") + 2] if "\\n" in call.text else ""
                arguments = closed_json(whole)
                if arguments:
                    item = {**call.item, "arguments": arguments}
                    found.append((item, self._report(call.landing)))
        return found

    def prose_report(self) -> str:
        """What became of the patches in the prose, for the model; empty if there were none."""
        patched = [prose.landing for prose in self._prose.values() if prose.patch is not None]
        return "\n".join(map(self._report, patched))

    def _report(self, landing: Landing) -> str:
        """What became of a patch, for the model; of private files nothing is quoted."""
        hunks = landing.hunks
        if not any(self.privacy(hunk.path) for hunk in hunks):
            return landing.report()
        return "\n".join(f"{hunk.path}: hunk {hunk.id} {hunk.stage.value}" for hunk in hunks)

    def _count(self, now: float, delta: str, *, reasoning: bool = False) -> None:
        self._meter.delta(now, len(delta), reasoning)
        self._board.metered()

    def _begin_prose(self, key: str) -> Prose:
        prose = Prose(self._landings(self._page.unused(key), "text"))
        self._prose[key] = prose
        return prose

    def _say(self, prose: Prose, delta: str) -> None:
        self.chars += len(delta)
        prose.said.append(delta)
        landing = prose.landing
        landing.feed(delta)
        prose.show(self._page)

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
        if not text.startswith(said) and text.strip() not in said and not prose.landing.hunks:
            # a piece was lost on the way: the whole text is said again
            prose.end(self._page, cut=True)
            prose, said = self._begin_prose(key), ""
            prose.ended = True
        if text.startswith(said):
            self._say(prose, text[len(said) :])
        prose.end(self._page, cut=False)

    def _begin_call(self, key: str, item: Item) -> Call:
        patch = item.get("type") == "apply_patch_call" or item.get("name") == PATCH_TOOL
        name = self._page.unused(str(item.get("call_id", "")))
        landing = self._landing_of(item, name) if patch else None
        kind = BlockKind.PATCH if patch else BlockKind.TOOL
        title = PATCH_TOOL if patch else str(item.get("name", ""))
        call = Call(item, self._page.block(kind, title, name), landing)
        self._calls[key] = call
        self.calls.append(call)
        return call

    def _finish_call(self, call: Call, item: Item) -> None:
        """The whole input is known: place the rest, or have the call run."""
        if call.done:
            return
        text = call_text(item)
        if not text and call.parts:
            text = call.text
            item = with_text(item, text)
        call.done, call.item = True, item
        self.items.append(item)
        if call.landing is None:
            call.block.title = brief_call(call.name, text)
            self._board.changed(call.block)
            if not self._closed:
                self.on_call(call)
            return
        if not self._closed:
            self._land(call, call.landing, text)
        self._answer(call, call.landing)
        call.failed = not call.landing.placed_all
        self._board.close(call.block, "failed" if call.failed else "done")

    def _answer(self, call: Call, landing: Landing) -> None:
        """Say what became of a patch, as soon as it is known what may be quoted."""
        if not self._closed and any(self.privacy(h.path) == NOT_KNOWN for h in landing.hunks):
            call.report = partial(self._report, landing)
            self.on_call(call)
        else:
            call.output = self._report(landing)

    def _land(self, call: Call, landing: Landing, text: str) -> None:
        """The authoritative text is here: feed what the deltas left out."""
        hosted = call.item.get("type") == "apply_patch_call"
        seen = call.text
        whole = text.startswith(seen)
        if not whole and not landing.hunks:
            # a piece was lost on the way, but nothing stands in the buffers yet
            landing.finish(cut=True)
            call.landing = landing = self._landing_of(call.item, call.block.call_id)
            seen, whole = "", True
        if whole:
            landing.feed(text[len(seen) :])
            if hosted:
                landing.feed("\n*** End Patch\n")
        landing.finish(cut=not whole)
        self._show(landing, call.block, tail=False)

    def _landing_of(self, item: Item, name: str) -> Landing:
        channel: Channel = "function" if item.get("type") == "function_call" else "custom"
        landing = self._landings(name, channel)
        if item.get("type") == "apply_patch_call":
            landing.feed(hosted_header(item))
        return landing

    def _show(self, landing: Landing, block: Block, *, tail: bool = True) -> None:
        if tail:
            landing.tail()
        self._board.changed(block)
        self._board.hunks_changed()
        place = landing.last_line
        if place is not None and place != self._place:
            self._place = place
            self._board.landed(*place)
