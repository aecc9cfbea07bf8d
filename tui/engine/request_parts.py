"""``/context`` and ``/pin``: what the next request holds, what is left out and what stays.

Of each part there are its tokens, how many were sent before, and what they cost: estimates
(`tui.core.tokens`), scaled to what the model's server counted last.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, json

from tui.core.attachments import ATTACHED, span_words
from tui.core.compaction import said_in
from tui.core.conversation import CALL_OUTPUTS, HistoryEntry, Item
from tui.core.files import counted, file_blocks
from tui.core.instructions import HAVE_CHANGED, MAP_NAME, MAP_TITLE, OF_FOLDER, RULES_NAME
from tui.core.meter import dollars
from tui.core.steps import Work
from tui.core.tokens import tokens, tokens_of
from tui.core.wire.endpoint_facts import REHEARSAL
from tui.core.wire.events import Usage
from tui.engine.attachments import unquoted
from tui.engine.intents import AddPart, DropPart, Pin, ShowContext
from tui.engine.ports import RoleSpec
from tui.engine.requests import Request
from tui.engine.services import Services
from tui.errors import EditRefused

RESULTS = "results of calls"


class RequestPart(Struct):
    """One kind of what is sent, or one file."""

    kind: str
    """``open file``, ``attachment``; of all else what it is called."""
    name: str = ""
    """Its path, with lines; empty: the kind says it."""
    tokens: int = 0
    sent: int = 0
    """Of them those that were sent before, as the head of the last request."""
    times: int = 0
    """In how many pieces."""

    @property
    def called(self) -> str:
        """How `/context drop` knows it."""
        return self.name or self.kind


class InputPrices(Struct, frozen=True):
    """US dollars a token of input; None: not known."""

    fresh: float | None = None
    cached: float | None = None

    def of(self, part: RequestPart) -> float | None:
        """What a part costs in the next request."""
        if self.fresh is None:
            return None
        cached = self.fresh if self.cached is None else self.cached
        return (part.tokens - part.sent) * self.fresh + part.sent * cached


class TokenLedger:
    """Counts the parts of requests; of an item that is known it looks nothing up again."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Item, list[RequestPart]]] = {}

    def parts(
        self, said: Mapping[str, str], tools: object, entries: Sequence[HistoryEntry], sent: int
    ) -> Work[list[RequestPart]]:
        """The parts of a request in their order, with a pause after each item.

        Args:
            said: the instructions by what they are of.
            tools: those that are offered.
            entries: the conversation.
            sent: how many of its entries the last request had; 0: nothing was sent yet.
        """
        found: dict[tuple[str, str], RequestPart] = {}
        for kind, text in said.items():
            _add(found, RequestPart(kind, tokens=tokens(text)), sent=bool(sent))
            yield 1
        _add(found, RequestPart("tools", tokens=tokens(json.encode(tools).decode())), bool(sent))
        known: dict[int, tuple[Item, list[RequestPart]]] = {}
        for number, entry in enumerate(entries):
            counted = self._known.get(id(entry.item))
            if counted is None or counted[0] is not entry.item or entry.image is not None:
                counted = (entry.item, _parts_of(entry))
            known[id(entry.item)] = counted
            for part in counted[1]:
                _add(found, part, sent=number < sent)
            yield 1
        self._known = known
        return list(found.values())


def _add(found: dict[tuple[str, str], RequestPart], part: RequestPart, sent: bool) -> None:
    whole = found.setdefault((part.kind, part.name), RequestPart(part.kind, part.name))
    whole.tokens += part.tokens
    whole.sent += part.tokens if sent else 0
    whole.times += 1


def _parts_of(entry: HistoryEntry) -> list[RequestPart]:
    """What an item of the conversation is made of."""
    kind = str(entry.item.get("type"))
    if entry.kind == "context":
        return _files_of(entry.text)
    if entry.image is not None:
        sees = entry.tokens if entry.counted is entry.item else tokens_of(entry.item)
        return [RequestPart("attachment", entry.image.name, sees)]
    if entry.kind == "note":
        text = entry.text
        if text.startswith(ATTACHED):
            name = text[len(ATTACHED) :].partition("\n")[0]
            attached = name if name.startswith("@") else ""
            return [RequestPart("attachment" if attached else "pins", attached, tokens(text))]
        titles = ((MAP_TITLE, MAP_NAME), (OF_FOLDER, RULES_NAME), (HAVE_CHANGED, RULES_NAME))
        found = (kind for title, kind in titles if text.startswith(title))
        return [RequestPart(next(found, "report of changes"), tokens=tokens(text))]
    if entry.kind == "answer" or kind in CALL_OUTPUTS.values():
        return [RequestPart(RESULTS, tokens=tokens_of(entry.item))]
    if kind in CALL_OUTPUTS:
        return [RequestPart("calls and patches", tokens=tokens_of(entry.item))]
    if kind == "reasoning":
        return [RequestPart("reasoning", tokens=tokens_of(entry.item))]
    words = {"prompt": "your prompts", "summary": "summary"}.get(entry.kind, "answers")
    return [RequestPart(words, tokens=tokens_of(entry.item))]


def _files_of(text: str) -> list[RequestPart]:
    """The quoted files of a message, each a part; the rest is what is said of them."""
    parts, rest = [], len(text)
    for block in file_blocks(text):
        marks = block.attributes
        attached = marks.get("state") == "attached"
        rows = (int(marks["from"]), int(marks["to"])) if attached and "from" in marks else None
        lines = f":{span_words(rows)}" if rows is not None else ""
        kind = "attachment" if attached else "open file"
        parts.append(RequestPart(kind, f"{block.path}{lines}", tokens(block.text) + _HEADER_TOKENS))
        rest -= len(block.text)
    beside = max(rest // 4 - _HEADER_TOKENS * len(parts), 0)
    return [*parts, RequestPart("what is open", tokens=beside)] if beside else parts


_HEADER_TOKENS = 20
"""Of what stands around a quoted file."""


def ledger_lines(
    parts: Sequence[RequestPart], prices: InputPrices, pinned: Sequence[str] = ()
) -> list[str]:
    """A line each: tokens, the price if it is known, the name, and what of it is new.

    Short enough for half a screen of 80 columns, unless a path is long. The sum is below.
    """
    sums = [sum(part.tokens for part in parts), sum(part.sent for part in parts)]
    whole = RequestPart("in all", "", *sums)
    counts = [f"{part.tokens:,}" for part in (*parts, whole)]
    costs = [_price_words(prices.of(part)) for part in (*parts, whole)]
    wide, costly = max(map(len, counts)), max(map(len, costs))
    return [
        f"{count:>{wide}}  " + (f"{cost:>{costly}}  " if costly else "") + _called(part, pinned)
        for part, count, cost in zip((*parts, whole), counts, costs, strict=True)
    ]


def _called(part: RequestPart, pinned: Sequence[str]) -> str:
    beside = {"open file": "open", "attachment": "attached"}.get(part.kind, "") if part.name else ""
    marks = [beside, "pinned" if part.name in pinned else "", _new_words(part)]
    return ", ".join([part.called, *filter(None, marks)])


def _new_words(part: RequestPart) -> str:
    if part.sent >= part.tokens:
        return ""
    return "new" if not part.sent else f"{part.tokens - part.sent:,} new"


def _price_words(usd: float | None) -> str:
    return "" if usd is None else dollars(usd)


_DROPPABLE = ("listing", RULES_NAME, MAP_NAME)
_LOOKED = ("function_call_output", "local_shell_call_output")
"""Answers that say any text."""
_NO_PINS = "Nothing is pinned: /pin NAME keeps a file attached, /pin WORDS keeps words in mind."
_HOW = "/context drop NAME leaves a part out, /context add NAME sends it again, /pin NAME keeps it."


_NO_RESULT: Item = {"output": "left out by the user: call it again if it is needed"}
_LONG_CHARS = 200
"""A result that is shorter costs next to nothing."""


class RequestParts:
    """Says what is sent, in the conversation, and changes it."""

    def __init__(self, services: Services, asked: Callable[[], tuple[RoleSpec, Request]]) -> None:
        """``asked`` says who answers, and what a request to it says beside its items."""
        self._services, self._asked = services, asked
        self._attachments = services.requests.attachments
        self._ledger = TokenLedger()
        self._task: asyncio.Task[None] | None = None

    def handle(self, intent: ShowContext | DropPart | AddPart | Pin) -> None:
        """Do it in the background; what came of it is told in the conversation."""
        match intent:
            case ShowContext():
                work = self._show()
            case DropPart(name):
                work = self._drop(name)
            case AddPart(name):
                work = self._add(name)
            case Pin(words):
                work = self._pin(words)
        self._task = self._services.supervisor.start(work, "the parts of a request")

    @property
    def running(self) -> bool:
        """Something that was asked is not answered yet."""
        return self._task is not None and not self._task.done()

    async def parts(self) -> list[RequestPart]:
        """What the next request holds, with its files as they are now."""
        services, (spec, head) = self._services, self._asked()
        await services.open_files.prepare()
        history, requests = services.requests.history, services.requests
        self._attachments.images.settle(spec, history)
        said, entries = requests.ahead(spec)
        sent = history.sent if requests.stands(spec) else 0
        counting = self._ledger.parts(said, head.get("tools"), entries, sent)
        found = await services.state.input_first.do(counting, services.ports.clock.now)
        scale = services.window().scale(spec)
        for part in found:
            part.tokens, part.sent = scale.tokens(part.tokens), scale.tokens(part.sent)
        for file in requests.new_files(spec):
            kind = "attachment" if file.attached else "open file"
            tokens = scale.tokens(self._attachments.tokens_of(file) + _HEADER_TOKENS)
            found.append(RequestPart(kind, file.name, tokens))
            await asyncio.sleep(0)
        return found

    async def _show(self) -> None:
        spec, _ = self._asked()
        parts = await self.parts()
        window = self._services.window().of(spec).tokens
        total = sum(part.tokens for part in parts)
        full = f" of {window:,} ({total / window:.0%})" if window else ""
        head = f"The next request to {spec.model}: about {total:,}{full} tokens"
        lines = ledger_lines(parts, await self._prices(spec, total), self._attachments.pins)
        words = [f"pinned: {pin}" for pin in self._attachments.pins]
        left_out = sorted(self._attachments.dropped)
        words += [f"left out: {', '.join(left_out)}"] if left_out else []
        if any(part.sent for part in parts):
            words.append("What is not new was sent before, so that it may be in a cache.")
        usage = self._services.state.meter.total()
        if usage is not None and usage.cached_tokens is not None and usage.input_tokens:
            share = usage.cached_tokens / usage.input_tokens
            words.append(f"The server found {share:.0%} of the last turn's input in its cache.")
        self._say("\n".join([head, *lines, *words, _HOW]))

    async def _prices(self, spec: RoleSpec, total: int) -> InputPrices:
        ask = self._services.ports.quote
        if ask is None or spec.endpoint == REHEARSAL or not total:
            return InputPrices()
        tier = self._services.state.status.tiers.get(spec.role, "")
        each = []
        for cached in (0, total):
            quote = await ask(spec.endpoint, (spec.model,), Usage(total, 0, cached), tier)
            each.append(None if quote.usd is None else quote.usd / total)
        return InputPrices(*each)

    async def _drop(self, name: str) -> None:
        called = unquoted(name)
        if self._attachments.unpin(name):
            self._say(f"Not pinned any more: {name}")
            return
        parts, before = await self.parts(), {*self._attachments.dropped}
        if not self._attachments.dropped.isdisjoint((called, called.rpartition(":")[0])):
            self._say(f"It is left out already: {name}")
            return
        if called in _DROPPABLE:
            self._attachments.dropped.add(called)
        elif self._services.requests.history.leave_out_image(called):
            pass
        elif not self._left_out(called, name):
            names = [part.called for part in parts if part.name or part.kind == RESULTS]
            names += [one for one in _DROPPABLE if one not in self._attachments.dropped]
            names = [*dict.fromkeys([*names, *self._attachments.pins])]
            why = f"these can be left out: {', '.join(names)}"
            self._services.state.warn(f"{name} was not dropped", why)
            return
        self._services.requests.begin_anew()
        left_out = self._attachments.dropped - before | {called}
        gone = sum(part.tokens for part in parts if part.called in left_out)
        rest = sum(part.tokens for part in parts) - gone
        again = f"the next request says the rest anew, about {rest:,} tokens"
        self._say(f"Left out from now on: {name} ({counted(gone, 'token')}); {again}.")

    async def _add(self, name: str) -> None:
        dropped = self._attachments.dropped
        if not self._attachments.take_back(unquoted(name)):
            why = (
                f"left out are: {', '.join(sorted(dropped))}" if dropped else "nothing is left out"
            )
            self._services.state.warn(f"{name} was not added", why)
            return
        self._services.requests.begin_anew()
        total = sum(part.tokens for part in await self.parts())
        self._say(
            f"Sent again from now on: {name}; the next request says all anew, {total:,} tokens."
        )

    def _left_out(self, called: str, name: str) -> bool:
        """Leave out a file, results of calls, an image, or what was made for a prompt."""
        history = self._services.requests.history

        def named(entry: HistoryEntry) -> bool:
            image = entry.image is not None and entry.image.name == called
            return image or (entry.kind == "note" and entry.text.startswith(f"{ATTACHED}{name}\n"))

        if called == RESULTS:
            return history.leave_out(self._is_long_result(), _NO_RESULT)
        found = history.leave_out(named)
        return self._attachments.drop(called) or self._attachments.drop(name) or found

    def _is_long_result(self) -> Callable[[HistoryEntry], bool]:
        """Whether an item is a result of a turn that is over; what became of patches stays."""
        history, busy = self._services.requests.history, self._services.state.status.busy
        items = [entry.item for entry in history.entries]
        patches = {one.get("call_id") for one in items if one.get("name") == "apply_patch"}

        def is_long(entry: HistoryEntry) -> bool:
            called = entry.kind == "answer" and entry.item.get("type") in _LOOKED
            if not called or entry.item.get("call_id") in patches:
                return False
            over = not busy or entry.turn < history.turn
            return over and len(said_in(entry.item)) > _LONG_CHARS

        return is_long

    async def _pin(self, words: str) -> None:
        pins = self._attachments.pins
        if not words:
            listed = "\n".join(f"pinned: {pin}" for pin in pins)
            self._say(listed or _NO_PINS)
            return
        try:
            await self._services.open_files.prepare()
            self._say(await self._attachments.pin(words))
        except EditRefused as error:
            self._services.state.warn(f"{words} was not pinned", str(error))

    def _say(self, words: str) -> None:
        self._services.state.note(0, words)
