"""What a request holds, part by part: its tokens, how many were sent before, what they cost.

Tokens are estimates (`tui.core.tokens`), scaled to what the model's server counted last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, json

from tui.core.attachments import ATTACHED, span_words
from tui.core.conversation import CALL_OUTPUTS, HistoryEntry, Item
from tui.core.files import file_blocks
from tui.core.instructions import MAP_NAME, MAP_TITLE
from tui.core.meter import dollars
from tui.core.steps import Work
from tui.core.tokens import tokens
from tui.core.window import tokens_of

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
        kind = MAP_NAME if text.startswith(MAP_TITLE) else "report of changes"
        return [RequestPart(kind, tokens=tokens(text))]
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
