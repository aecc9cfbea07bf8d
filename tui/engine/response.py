"""One response while it streams: its items become blocks, patches that land, and calls.

A delta costs a dictionary look-up, the meter's count, and an append or a landing's feed: no
message, no task. What can wait for a frame waits for it (`Reply.frame`). A call that comes once
more after a lost connection is not landed twice (coding-tools-mcp#50): as long as it says what an
earlier one of the turn said it is only listened to. A patch in a call of a shell (``apply_patch
<<'EOF'``) is a patch all the same, from the moment that it can be seen.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from tui.core.conversation import CALL_OUTPUTS, Block, BlockKind, BlockState, Item
from tui.core.document.hunk import PLACED
from tui.core.meter import Meter
from tui.core.wire.events import (
    ArgumentsDelta,
    InputDelta,
    ItemAdded,
    ItemDone,
    PatchDelta,
    ReasoningDelta,
    RefusalDelta,
    SummaryDelta,
    TextDelta,
)
from tui.engine.open_files import NOT_KNOWN
from tui.engine.response_items import (
    PATCH_TOOL,
    Call,
    Earlier,
    OpenMessage,
    Page,
    Slots,
    call_text,
    characters_in,
    closed_json,
    hosted_header,
    is_message,
    is_shell,
    line_so_far,
    message_item,
    message_text,
    names_patch,
    with_text,
)
from tui.engine.session_state import SessionState
from tui.engine.tools import brief_call

if TYPE_CHECKING:
    from tui.core.patches.landing import Landing
    from tui.core.steps import Work
    from tui.engine.response_items import CutReply


_SEEN_EARLY_CHARS = 2_000
"""A patch in a shell's call that begins later lands when the call is whole."""
AGAIN = "already applied: this call arrived twice and was applied once"
OTHERWISE = "the finished call differs from what streamed"
"""The flag of hunks that landed from deltas which the end of their call contradicts."""


Landings = Callable[..., "Landing"]
"""Makes a landing of the turn, given the call's id and its channel.

``hosted``: it reads the built-in tool's own format, not what the model was asked for.
"""


class Calls:
    """The calls of one response."""

    def __init__(self, page: Page, landings: Landings, earlier: Earlier) -> None:
        self.all: list[Call] = []
        self.on_call: Callable[[Call], None] = lambda call: None
        """A call other than apply_patch is complete: run it."""
        self.privacy: Callable[[str], str] = lambda path: ""
        """Why nothing of a file may be quoted to the model; empty if it may."""
        self._page = page
        self._state: SessionState = page.state
        self._landings = landings
        self.earlier = earlier
        self.going_on: CutReply | None = None
        """The patch of the answer that was cut, with which the next patch goes on."""
        self._keyed: dict[str, Call] = {}
        self._place: tuple[str, int] | None = None
        self._closed = False

    def begin(self, key: str, item: Item) -> Call:
        """A call begins."""
        patch = item.get("type") == "apply_patch_call" or item.get("name") == PATCH_TOOL
        patch = patch and not self._page.plans
        shell = is_shell(item)
        name = self._page.unused(str(item.get("call_id", "")))
        if patch and (joined := self._joined(item)) is not None:
            self._keyed[key] = joined
            self.all.append(joined)
            return joined
        landing = self._landing_of(item, name) if patch else None
        kind = BlockKind.PATCH if patch else BlockKind.RUN if shell else BlockKind.TOOL
        name_of = brief_call(str(item.get("name", "")), "")
        title = PATCH_TOOL if patch else "" if shell else name_of
        call = Call(item, self._page.block(kind, title, name), landing)
        call.twins = self.earlier.like(item) if patch else []
        call.shell = shell and not self._page.plans and item.get("type") != "custom_tool_call"
        self._keyed[key] = call
        self.all.append(call)
        return call

    def _joined(self, item: Item) -> Call | None:
        """A call that goes on with the one that was cut."""
        cut, self.going_on = self.going_on, None
        old = cut.call if cut is not None else None
        if cut is None or old is None or old.landing is None or is_shell(item):
            return None
        if item.get("type") == "apply_patch_call":
            return None
        from tui.core.edit_stream.arguments import ArgumentText
        from tui.core.patches.seam import Joint

        cut.call = None
        call = Call(item, old.block, old.landing)
        call.joint = Joint(old.landing, cut.stands)
        call.unwrapped = ArgumentText() if item.get("type") == "function_call" else None
        return call

    def _join(self, call: Call, delta: str, *, last: bool = False) -> None:
        """More of a call that goes on with one that was cut."""
        joint = call.joint
        assert joint is not None
        known = joint.known
        new = call.joined(delta, last=last)
        if joint.known and not known:
            if joint.apart:
                self._part(call)
                return
            call.block.state = "open"
            self._state.changed(call.block)
        if new and call.landing is not None:
            call.landing.feed(new)
            self._state.wake()

    def _part(self, call: Call) -> None:
        """It is a patch of its own."""
        name = self._page.unused(str(call.item.get("call_id", "")))
        call.joint = call.unwrapped = None
        call.block = self._page.block(BlockKind.PATCH, PATCH_TOOL, name)
        call.landing = self._landing_of(call.item, name)
        call.landing.feed(call.text)
        self._state.wake()

    def streaming(self, key: str) -> Call | None:
        """The call of this key, as long as its end was not said."""
        call = self._keyed.get(key)
        return None if call is None or call.done else call

    def delta(self, call: Call, delta: str) -> None:
        """More of a call's input."""
        call.parts.append(delta)
        if call.joint is not None:
            self._join(call, delta)
        elif call.twins:
            self._compare(call, delta)
        elif call.landing is not None:
            call.landing.feed(delta)
            self._state.wake()
        elif call.shell and call.parts.length < _SEEN_EARLY_CHARS and names_patch(call.text):
            self._turn_patch(call)

    def said(self, key: str) -> str | None:
        """What the deltas of a call have said; None: it is compared with an earlier one."""
        call = self._keyed.get(key)
        if call is None:
            return ""
        return None if call.twins or call.done else call.text

    def finish(self, key: str, item: Item) -> Item | None:
        """The whole input is known: place the rest, or have the call run; None: it was before."""
        call = self._keyed.get(key) or self.begin(key, item)
        return self._finish(call, {**item, "call_id": call.item["call_id"]})

    def finish_all(self) -> list[Item]:
        """The response is whole: what has no end of its own ends here, with what came."""
        open_ones = [call for call in self.all if not call.done and call.parts]
        ended = [self._finish(call, call.item) for call in open_ones]
        return [item for item in ended if item is not None]

    def frame(self) -> None:
        """Once a frame: paint unfinished lines, tell where the model writes."""
        for call in self.all:
            if call.landing is not None and not call.done:
                self.show(call.landing, call.block)

    def close(self) -> None:
        """Nothing more will be shown: what is open ends here, at this character."""
        self._closed = True
        for call in self.all:
            if not call.done:
                if call.landing is not None:
                    call.landing.finish(cut=True)
                self._state.close(call.block, "cut")

    def partial(self) -> list[Call]:
        """Patch calls that were cut, with their whole lines as the item."""
        found = []
        for call in self.all:
            if call.done or call.landing is None or not call.parts or call.twins:
                continue
            item = _with_whole_lines(call)
            if item is not None:
                call.item = item
                found.append(call)
        return found

    def report(self, landing: Landing) -> Work[str]:
        """What became of a patch, for the model."""
        return landing.reporting(self.privacy)

    def show(self, landing: Landing, block: Block, *, tail: bool = True) -> None:
        """What landed is painted; ``tail``: the unfinished line too."""
        if tail:
            landing.tail()
        self._state.changed(block)
        self._state.hunks_changed()
        place = landing.last_line
        if place is not None and place != self._place:
            self._place = place
            self._state.landed(*place, landing.last_hunk)

    def _compare(self, call: Call, delta: str) -> None:
        """While a call says what an earlier one said, nothing of it lands."""
        call.twins = [twin for twin in call.twins if twin.said.startswith(delta, call.compared)]
        call.compared += len(delta)
        if not call.twins and call.landing is not None:
            call.landing.feed(call.text)
            self._state.wake()

    def _turn_patch(self, call: Call) -> None:
        """A shell is called to apply a patch: from here on it is one."""
        name = self._page.unused(str(call.item.get("call_id", "")))
        self._state.close(call.block, "done")
        call.block = self._page.block(BlockKind.PATCH, PATCH_TOOL, name)
        call.landing = self._landings(name, "shell")
        call.landing.feed(call.text)
        self._state.wake()

    def _finish(self, call: Call, item: Item) -> Item | None:
        if call.done:
            return None
        text = call_text(item)
        if not text and call.parts:
            text = call.text
            item = with_text(item, text)
        late = hosted_header(call.item) != hosted_header(item)
        call.done, call.item, call.said = True, item, text
        if call.landing is None and call.shell and names_patch(text) and not self._closed:
            self._turn_patch(call)
        if call.landing is None:
            call.block.title = (is_shell(item) and line_so_far(item)) or brief_call(call.name, text)
            self._state.changed(call.block)
            if not self._closed:
                self.on_call(call)
            return item
        again = next((twin for twin in self.earlier.like(item) if twin.said == text), None)
        if again in self.all:
            self._withdraw(call)
            return None
        if again is not None:
            self._repeat(call, again)
        elif not self._closed:
            self._land(call, call.landing, text, late=late)
            self.earlier.add(call)
        self._answer(call)
        self._close(call, call.landing)
        return item

    def _close(self, call: Call, landing: Landing) -> None:
        """The call is over; one that left no hunks says in words what became of it."""
        if call.again:
            self._state.append(call.block, "already applied: it arrived twice")
        elif landing.failure:
            nothing = "no edit in it" if not landing.hunks else "broke off"
            self._state.append(call.block, f"{nothing}: {landing.failure}")
        state: BlockState = "failed" if call.failed else "cut" if call.again else "done"
        self._state.close(call.block, state)

    def _withdraw(self, call: Call) -> None:
        """The server said an item of this response twice: it is one."""
        if call.landing is not None:
            call.landing.finish(cut=True, withdrawn=True)
        self.all.remove(call)
        self._state.append(call.block, "it came a second time")
        self._state.close(call.block, "cut")

    def _repeat(self, call: Call, again: Call) -> None:
        """It was applied before: what became of that is the answer."""
        if call.landing is not None and call.landing is not again.landing:
            call.landing.finish(cut=True, withdrawn=True)
        call.landing, call.again = again.landing, True

    def _answer(self, call: Call) -> None:
        """Say what became of a patch when the answer is sent, as it is then."""
        landing = call.landing
        if landing is None:
            return
        call.report = partial(self._reported, call, landing)
        call.failed = not landing.placed_all and not call.again
        paths = self._state.workspace.hunk_list.files_of(landing.call_id)
        if not self._closed and NOT_KNOWN in map(self.privacy, paths):
            self.on_call(call)

    def _reported(self, call: Call, landing: Landing) -> Work[str]:
        report = yield from self.report(landing)
        return f"{AGAIN}\n{report}" if call.again else report

    def _land(self, call: Call, landing: Landing, text: str, *, late: bool) -> None:
        """The authoritative text is here: feed what the deltas left out.

        ``late``: only the end says which file it is about.
        """
        hosted = call.item.get("type") == "apply_patch_call"
        if call.joint is not None:
            self._land_rest(call, text)
            return
        seen = "" if call.twins else call.text
        whole = text.startswith(seen) and not late
        if not whole and not landing.hunks:
            # a piece was lost on the way, but nothing stands in the buffers yet
            landing.finish(cut=True)
            call.landing = landing = self._landing_of(call.item, call.block.call_id)
            seen, whole = "", True
        if whole:
            landing.feed(text[len(seen) :])
            if hosted:
                landing.feed("\n*** End Patch\n")
        else:
            doubt(landing)
        landing.finish(cut=not whole)
        self.show(landing, call.block, tail=False)

    def _land_rest(self, call: Call, text: str) -> None:
        """The end of a call that goes on with one that was cut."""
        whole = text.startswith(call.text)
        rest = text[len(call.text) :] if whole else ""
        call.parts.append(rest)
        self._join(call, rest, last=True)
        landing = call.landing
        assert landing is not None
        if not whole:
            doubt(landing)
        landing.finish(cut=not whole)
        self.show(landing, call.block, tail=False)

    def _landing_of(self, item: Item, name: str) -> Landing:
        if item.get("type") == "apply_patch_call":
            landing = self._landings(name, "custom", hosted=True)
            landing.alone = True
            landing.feed(hosted_header(item))
            return landing
        if is_shell(item):
            return self._landings(name, "shell")
        return self._landings(name, "function" if item.get("type") == "function_call" else "custom")


def doubt(landing: Landing) -> None:
    """What stands in the buffers is not what the item says: it is to be looked at, and quoted."""
    for hunk in landing.hunks:
        hunk.flags += (OTHERWISE,)


def landed(landing: Landing) -> bool:
    """True if something of a patch stands, or stood, in a buffer."""
    return any(hunk.stage in PLACED for hunk in landing.hunks)


def _with_whole_lines(call: Call) -> Item | None:
    """A call that was cut, with its input up to the last whole line; None: it cannot be told."""
    text, kind = call.text, call.item.get("type")
    item = {**call.item, "status": "incomplete"} if "status" in call.item else call.item
    if kind == "custom_tool_call":
        return {**item, "input": text[: text.rfind("\n") + 1]}
    if kind != "function_call":
        return None
    whole = text[: text.rfind("\\n") + 2] if "\\n" in text else ""
    arguments = closed_json(whole)
    return {**item, "arguments": arguments} if arguments else None


CallDelta = ArgumentsDelta | InputDelta | PatchDelta
_KINDS: dict[type, str] = {
    ArgumentsDelta: "function_call",
    InputDelta: "custom_tool_call",
    PatchDelta: "apply_patch_call",
}
MOST_CHARS = 4 * 2**20
"""What streams of one response, and again what its finished items hold; no model says as much."""
_ITEM_CHARS = 256
"""For which an item counts by itself."""


_TEXTS = {"message": "content", "custom_tool_call": "input", "function_call": "arguments"}
"""Where a finished item of each kind has its text."""
_LATE_CHARS = 500
"""Of it that land at once."""


class Reply:
    """The blocks, landings and calls of one response."""

    def __init__(
        self,
        page: Page,
        landings: Landings,
        earlier: Earlier | None = None,
        going_on: CutReply | None = None,
    ) -> None:
        """``going_on``: what was cut, with which this one goes on."""
        self.going_on = going_on
        self.chars = 0
        """Characters of output that came, reasoning left out."""
        self.room = MOST_CHARS
        """Characters that may still come, reasoning too; less than none: it is to be stopped."""
        self._room_in_items = MOST_CHARS
        self.items: list[Item] = []
        """Finished items, in order: what goes into the history."""
        self.response_id = ""
        self.calls = Calls(page, landings, earlier or Earlier())
        self.calls.going_on = going_on
        self._page = page
        self._state: SessionState = page.state
        self._meter: Meter = page.state.meter
        self._landings = landings
        self.slots = Slots()
        """Which item is which; ``mended``: the server does not know its calls by our ids."""
        self._prose: dict[str, OpenMessage] = {}
        self._reasoning: dict[str, Block] = {}
        self._closed = False
        self._whole = list(going_on.whole) if going_on is not None else []
        self.handlers: dict[type, Callable[..., None]] = {
            TextDelta: self.text,
            RefusalDelta: self.text,
            InputDelta: self.call_delta,
            ArgumentsDelta: self.call_delta,
            PatchDelta: self.call_delta,
            ReasoningDelta: self.reasoning,
            SummaryDelta: self.reasoning,
            ItemAdded: self.added,
            ItemDone: self.done,
        }

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
        self._state.append(block, event.delta)

    def call_delta(self, event: CallDelta, now: float) -> None:
        """More of a call's input."""
        self._count(now, event.delta)
        key = self.slots.of(_KINDS[type(event)], event.item_id, event.output_index)
        call = self.calls.streaming(key)
        if call is None:
            return
        self.chars += len(event.delta)
        if call.landing is None or call.twins or call.joint is not None:
            self.calls.delta(call, event.delta)
        else:
            call.parts.append(event.delta)
            call.landing.feed(event.delta)
            if self._meter.first_hunk_s is None and call.landing.last_line is not None:
                self._meter.first_hunk_s = now
            self._state.wake()

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
            self._state.close(block)

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
                self._say(prose, "", last=True)
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
        self.handlers = {ItemDone: self.done}
        self.calls.close()
        for prose in self._prose.values():
            prose.end(self._page, cut=cut)
        for block in self._reasoning.values():
            self._state.close(block, "cut" if cut else "done")
        self._state.wake()

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
        self._state.metered()

    def _begin_prose(self, key: str) -> OpenMessage:
        self.room -= _ITEM_CHARS
        prose = self._joined_message() or OpenMessage(self._fresh(key), echoes=self._whole)
        self._prose[key] = prose
        return prose

    def _fresh(self, key: str) -> Landing:
        return self._landings(self._page.unused(key), "text")

    def _joined_message(self) -> OpenMessage | None:
        """A message that goes on with the one that was cut."""
        cut, self.going_on = self.going_on, None
        old = cut.message if cut is not None else None
        if cut is None or old is None:
            return None
        from tui.core.patches.seam import Joint

        cut.message = None
        prose = OpenMessage(old.landing, old.block, old.patch, told=old.told)
        prose.joint = Joint(old.landing, cut.stands)
        return prose

    def _say(self, prose: OpenMessage, delta: str, *, last: bool = False) -> None:
        self.chars += len(delta)
        prose.said.append(delta)
        delta = prose.unechoed(delta, last=last)
        new = prose.joined(delta, self._page, lambda: self._fresh("going on"), last=last)
        if new:
            prose.landing.feed(new)
            prose.show(self._page)

    @property
    def left(self) -> CutReply:
        """What it leaves half-said, once it was cut."""
        from tui.engine.response_items import CutReply

        left = CutReply(whole=[message_text(one) for one in self.items if is_message(one)])
        left.earlier = self.calls.earlier
        calls = (one for one in reversed(self.calls.all) if one.landing and one.parts)
        left.call = next((one for one in calls if not (one.done or one.twins)), None)
        if left.call is None:
            messages = (one for one in reversed(self._prose.values()) if one.said)
            left.message = next((one for one in messages if not one.ended), None)
        if (half := left.call or left.message) is not None:
            left.stands = half.stands
        return left

    def _said(self, key: str) -> str | None:
        """What an item's deltas have said; None: it is compared with an earlier one."""
        if prose := self._prose.get(key):
            return prose.said.text
        return self.calls.said(key)

    def _say_late(self, kind: str, key: str, text: str) -> None:
        if kind == "message":
            self._say(self._prose.get(key) or self._begin_prose(key), text)
        elif call := self.calls.streaming(key):
            self.chars += len(text)
            self.calls.delta(call, text)

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
            self._say(prose, text[len(said) :], last=True)
        prose.end(self._page, cut=False)
