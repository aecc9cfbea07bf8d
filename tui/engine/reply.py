"""One response while it streams: its items become blocks, landings and calls.

A delta costs a dictionary look-up, the meter's count, and an append or a landing's feed: no
message, no task. What can wait for a frame waits for it (`Reply.frame`).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from tui.core.edit_stream import Channel
from tui.core.events import (
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
from tui.core.history import CALL_OUTPUTS, Item
from tui.core.meter import Meter
from tui.core.turn import Block, BlockKind
from tui.engine.board import Board
from tui.engine.tools import brief_call

if TYPE_CHECKING:
    from tui.core.landing import Landing

PATCH_TOOL = "apply_patch"
CallDelta = ArgumentsDelta | InputDelta | PatchDelta


class Landings(Protocol):
    """Makes landings for one turn."""

    def __call__(self, call_id: str, channel: Channel) -> Landing:
        """A landing fed with what the channel says: custom, function or text."""


@dataclass(slots=True)
class Prose:
    """A message: text blocks with patches between them."""

    landing: Landing
    block: Block | None = None
    patch: Block | None = None
    shown: int = 0
    """Pieces of the landing's prose that were shown."""
    chars: int = 0


@dataclass(slots=True)
class Call:
    """A tool call."""

    item: Item
    block: Block
    landing: Landing | None = None
    parts: list[str] = field(default_factory=list)
    done: bool = False
    output: str | None = None
    failed: bool = False

    @property
    def name(self) -> str:
        """The tool's name."""
        return PATCH_TOOL if self.landing else str(self.item.get("name") or self.item.get("type"))

    @property
    def text(self) -> str:
        """The input or arguments as far as they came."""
        return "".join(self.parts)


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
        self._turn = turn
        self._speaker = speaker
        self._landings = landings
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

    def added(self, event: ItemAdded, now: float) -> None:
        """An item begins."""
        kind, key = str(event.item.get("type")), str(event.item.get("id", ""))
        if kind in CALL_OUTPUTS and key not in self._calls:
            self._begin_call(key, event.item)

    def text(self, event: TextDelta | RefusalDelta, now: float) -> None:
        """Prose, maybe with patches in it."""
        self._count(now, event.delta)
        prose = self._prose.get(event.item_id) or self._begin_prose(event.item_id)
        self._say(prose, event.delta)

    def reasoning(self, event: ReasoningDelta, now: float) -> None:
        """Reasoning or its summary."""
        self._count(now, event.delta, reasoning=True)
        block = self._reasoning.get(event.item_id)
        if block is None:
            block = Block(BlockKind.REASONING, self._turn, speaker=self._speaker)
            self._reasoning[event.item_id] = self._board.add(block)
        self._board.append(block, event.delta)

    def call_delta(self, event: CallDelta, now: float) -> None:
        """More of a call's input."""
        self._count(now, event.delta)
        call = self._calls.get(event.item_id)
        if call is None or call.done:
            return
        self.chars += len(event.delta)
        call.parts.append(event.delta)
        if call.landing is not None:
            call.landing.feed(event.delta)
            self._board.wake()

    def done(self, event: ItemDone, now: float) -> None:
        """An item is finished: its text is the authoritative one."""
        item, kind, key = event.item, str(event.item.get("type")), str(event.item.get("id", ""))
        self.items.append(item)
        if kind in CALL_OUTPUTS:
            self._finish_call(self._calls.get(key) or self._begin_call(key, item), item)
        elif kind == "message":
            self._finish_prose(key, item)
        elif block := self._reasoning.get(key):
            self._board.close(block)

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
            self._end_prose(prose, cut=cut)
        for block in self._reasoning.values():
            self._board.close(block, "cut" if cut else "done")
        self._board.wake()

    def partial_calls(self) -> list[tuple[Item, str]]:
        """Patch calls that were cut, as items with their whole lines, and what became of them."""
        found = []
        for call in self.calls:
            if call.done or call.landing is None or not call.parts:
                continue
            kind = call.item.get("type")
            whole = call.text[: call.text.rfind("\n") + 1]
            if kind == "custom_tool_call":
                found.append(({**call.item, "input": whole}, self._report(call.landing)))
            elif kind == "function_call":
                whole = call.text[: call.text.rfind("\\n") + 2] if "\\n" in call.text else ""
                arguments = _closed_json(whole)
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
        prose = Prose(self._landings(key or "text", "text"))
        self._prose[key] = prose
        return prose

    def _say(self, prose: Prose, delta: str) -> None:
        self.chars += len(delta)
        prose.chars += len(delta)
        landing = prose.landing
        landing.feed(delta)
        self._show_prose(prose)

    def _show_prose(self, prose: Prose) -> None:
        landing = prose.landing
        if prose.patch is None and landing.hunks:
            self._show_patch(prose)
        for text in landing.prose[prose.shown :]:
            if prose.block is None:
                prose.block = self._board.add(
                    Block(BlockKind.TEXT, self._turn, speaker=self._speaker)
                )
            self._board.append(prose.block, text)
        prose.shown = len(landing.prose)

    def _show_patch(self, prose: Prose) -> None:
        """A patch began in the prose: what follows it is a block of its own."""
        if prose.block is not None:
            self._board.close(prose.block)
            prose.block = None
        call_id = prose.landing.hunks[0].call_id
        prose.patch = self._board.add(
            Block(BlockKind.PATCH, self._turn, PATCH_TOOL, speaker=self._speaker, call_id=call_id)
        )

    def _finish_prose(self, key: str, item: Item) -> None:
        prose = self._prose.get(key)
        text = message_text(item)
        if prose is None:
            if not text:
                return
            prose = self._begin_prose(key)
        if self._closed:
            return
        if len(text) > prose.chars:
            self._say(prose, text[prose.chars :])
        self._end_prose(prose, cut=False)

    def _end_prose(self, prose: Prose, *, cut: bool) -> None:
        if (prose.block or prose.patch) is None and not prose.chars:
            return
        prose.landing.finish(cut=cut)
        self._show_prose(prose)
        for block in (prose.block, prose.patch):
            if block is not None:
                failed = block is prose.patch and not prose.landing.placed_all
                self._board.close(block, "cut" if cut else "failed" if failed else "done")

    def _begin_call(self, key: str, item: Item) -> Call:
        kind, call_id = item.get("type"), str(item.get("call_id", ""))
        patch = kind == "apply_patch_call" or item.get("name") == PATCH_TOOL
        block = Block(
            BlockKind.PATCH if patch else BlockKind.TOOL,
            self._turn,
            PATCH_TOOL if patch else str(item.get("name", "")),
            speaker=self._speaker,
            call_id=call_id,
        )
        landing = None
        if patch:
            landing = self._landings(call_id, "function" if kind == "function_call" else "custom")
            if kind == "apply_patch_call":
                landing.feed(hosted_header(item))
        call = Call(item, self._board.add(block), landing)
        self._calls[key] = call
        self.calls.append(call)
        return call

    def _finish_call(self, call: Call, item: Item) -> None:
        """The whole input is known: place the rest, or have the call run."""
        if call.done:
            return
        call.done, call.item = True, item
        text, seen = call_text(item), call.text
        if call.landing is None:
            call.block.title = brief_call(call.name, text)
            self._board.changed(call.block)
            if not self._closed:
                self.on_call(call)
            return
        if not self._closed:
            if text.startswith(seen) and len(text) > len(seen):
                call.landing.feed(text[len(seen) :])
            if item.get("type") == "apply_patch_call":
                call.landing.feed("\n*** End Patch\n")
            call.landing.finish(cut=False)
            self._show(call.landing, call.block, tail=False)
        call.output = self._report(call.landing)
        call.failed = not call.landing.placed_all
        self._board.close(call.block, "failed" if call.failed else "done")

    def _show(self, landing: Landing, block: Block, *, tail: bool = True) -> None:
        if tail:
            landing.tail()
        self._board.changed(block)
        self._board.hunks_changed()
        place = landing.last_line
        if place is not None and place != self._place:
            self._place = place
            self._board.landed(*place)


def message_text(item: Item) -> str:
    """The text of a message item."""
    content = item.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    found = [part.get("text") or part.get("refusal") for part in parts if isinstance(part, dict)]
    return "".join(text for text in found if isinstance(text, str))


def call_text(item: Item) -> str:
    """The whole input of a call: patch, arguments or diff."""
    operation = item.get("operation")
    if isinstance(operation, dict):
        return str(operation.get("diff") or "")
    return str(item.get("input") or item.get("arguments") or "")


def hosted_header(item: Item) -> str:
    """The envelope that a built-in apply_patch call leaves out."""
    operation = item.get("operation")
    values = operation if isinstance(operation, dict) else {}
    verbs = {"create_file": "Add", "delete_file": "Delete"}
    verb = verbs.get(str(values.get("type")), "Update")
    return f"*** Begin Patch\n*** {verb} File: {values.get('path', '')}\n"


def _closed_json(text: str) -> str:
    """A prefix of a JSON object whose last string is open, closed; empty if it cannot be."""
    for ending in ('"}', "}"):
        try:
            json.loads(text + ending)
        except ValueError:
            continue
        return text + ending
    return ""
