"""Whether what is sent fits the model that answers, and what was learnt of how much that is.

What a request holds is estimated, each item of the history once, and put right by what the model's
server counted last.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from tui.core.context import TOTAL_LIMIT_CHARS
from tui.core.conversation import Block, BlockKind, HistoryEntry
from tui.core.steps import Work
from tui.core.tokens import (
    TokenScale,
    Window,
    head_tokens,
    is_too_long,
    tokens,
    tokens_of,
    window_told,
)
from tui.core.wire.endpoint_facts import REHEARSAL
from tui.core.wire.events import ErrorEvent, Failed, Usage
from tui.engine.notices import Trouble
from tui.engine.ports import Ports, RoleSpec
from tui.engine.requests import Request, Requests
from tui.engine.session_state import SessionState

_ASKED_TOKENS = 8000
"""A first request that is no longer fits whatever there is: it does not wait for the price list."""
_LEARNT = 0.9
"""Of what was refused without a number: so much may fit."""
_FILES = 0.6
"""Of what is left, for the open files of a request."""
_CHARS = 3
"""At least, of a token of code."""
_CHOOSE = "choose a model with a larger window with /model"
_LARGER = f"{_CHOOSE}, or begin a new conversation with /clear"
_INSTEAD = {
    "the instructions and tools": f"{_CHOOSE}, or give this one a larger window where it runs"
    " (of duetto's own local models: window in config.toml)",
    "a prompt": f"shorten the prompt, or {_CHOOSE}",
}
"""Where another part than the conversation is the largest."""


class ModelWindow:
    """Of whichever model answers."""

    def __init__(self, ports: Ports, state: SessionState, requests: Requests) -> None:
        self._ports, self._state, self.requests = ports, state, requests
        self._summed = ((0, 0), 0, 0)
        """Of which history, how many of its items, and their tokens."""
        self.head_tokens = 0
        """Of what the last request said beside its items."""
        self._scales: dict[tuple[str, str], TokenScale] = {}
        self._looked_up: set[tuple[str, str]] = set()
        self._priced: set[tuple[str, str]] = set()
        """Those that were looked for in what was learnt, and in the price list."""
        self._estimated = 0
        """Of the last request, with all that the server knows of it."""

    def scale(self, spec: RoleSpec) -> TokenScale:
        """How this model's server counts."""
        return self._scales.setdefault((spec.endpoint, spec.model), TokenScale())

    def of(self, spec: RoleSpec) -> Window:
        """What is known of this model: what its server said last comes first."""
        known = self._state.meter.window_of(spec.endpoint, spec.model, spec.context_window)
        return Window(known, spec.output_limit)

    def room(self, spec: RoleSpec) -> int | None:
        """Tokens of input that fit with an answer; None: not known."""
        return self.of(spec).room(spec.max_output_tokens)

    def files_room(self, spec: RoleSpec, texts: Iterable[str]) -> int:
        """Characters that open files may take in the next request, which says these texts."""
        room = self.room(spec)
        if room is None:
            return TOTAL_LIMIT_CHARS
        said = head_tokens(self.requests.last_head) + self.history_tokens()
        left = room / self.scale(spec).factor - said - sum(map(tokens, texts))
        return max(int(left * _FILES * _CHARS), 0)

    async def look_up(self, spec: RoleSpec, prompt: str) -> None:
        """Find out the window of a model that was not asked yet, where that may be the question."""
        place, meter = (spec.endpoint, spec.model), self._state.meter
        if spec.endpoint == REHEARSAL:
            return
        catalogue, quote = self._ports.catalogue, self._ports.quote
        if place not in self._looked_up and catalogue is not None:
            self._looked_up.add(place)
            if learnt := await catalogue().learnt_window(*place):
                meter.learnt[place] = learnt
        known = meter.window_of(*place, spec.context_window)
        long = self.history_tokens() + len(prompt) > _ASKED_TOKENS
        if known is None and quote is not None and long and place not in self._priced:
            self._priced.add(place)
            listed = await quote(spec.endpoint, (spec.model,), Usage(0, 0), "")
            if listed.context_window:
                meter.windows.setdefault(place, listed.context_window)
        self.describe(spec)

    def describe(self, spec: RoleSpec) -> None:
        """This model answers: the meter shows how full its window is."""
        self._state.meter.context_window = self.of(spec).tokens
        self._state.metered()

    def measuring(self) -> Work[None]:
        """Estimate what is not estimated yet, with pauses."""
        history = self.requests.history
        known = self._summed[1] if self._summed[0] == (id(history), history.rewritten) else 0
        for entry in history.entries[known:]:
            if entry.counted is not entry.item:
                tokens_in(entry)
                yield 1

    def history_tokens(self) -> int:
        """Of all that was said, as far as it is in requests."""
        history = self.requests.history
        place, count, tokens = self._summed
        if place != (id(history), history.rewritten) or count > len(history.entries):
            place, count, tokens = (id(history), history.rewritten), 0, 0
        tokens += sum(map(tokens_in, islice(history.entries, count, None)))
        self._summed = place, len(history.entries), tokens
        return tokens

    def wanted(self, spec: RoleSpec, head: Request) -> int:
        """Tokens that the next request takes, with all that the server holds of it."""
        self.head_tokens = head_tokens(head)
        self._estimated = self.head_tokens + self.history_tokens()
        return self.scale(spec).tokens(self._estimated)

    def surely(self, spec: RoleSpec, head: Request) -> int:
        """Tokens that the next request hardly has less of."""
        self.wanted(spec, head)
        return self.scale(spec).surely(self._estimated)

    def refusal(self, spec: RoleSpec, head: Request) -> Trouble | None:
        """Why the request that was just made cannot be sent: it surely is too large."""
        wanted, takes = self.wanted(spec, head), self.of(spec).tokens
        if takes is None or self.scale(spec).surely(self._estimated) <= takes:
            return None
        name, chars = max(self._parts(head), key=lambda part: part[1])
        share = f"{name} about {self.scale(spec).tokens(chars):,}"
        why = f"it takes about {wanted:,} tokens ({share}), and {spec.model} takes {takes:,}"
        return Trouble("The request is too large", why, _INSTEAD.get(name, _LARGER))

    def _parts(self, head: Request) -> list[tuple[str, int]]:
        """What a request is made of, in words, each with its tokens."""
        beside = {**head, "tools": ()}
        parts = [("the instructions and tools", head_tokens(head)), ("", head_tokens(beside))]
        for entry in self.requests.history.entries:
            words = {
                "prompt": "a prompt",
                "context": "the open files",
                "answer": "the result of a call",
                "output": "an answer of the model",
            }.get(entry.kind, "what happened")
            parts.append((words, tokens_in(entry)))
        return [part for part in parts if part[0]]

    def counted(self, spec: RoleSpec, usage: Usage) -> None:
        """The server counted the last request."""
        if not usage.estimated and usage.input_tokens:
            self.scale(spec).count(self._estimated, usage.input_tokens)
        known = self.of(spec).tokens
        if known is not None and not usage.estimated and usage.input_tokens > known:
            self._learn(spec, usage.input_tokens)  # it takes more than was said

    def refused(self, spec: RoleSpec, event: ErrorEvent | Failed) -> bool:
        """Whether the server said that the last request does not fit: from now on that is known."""
        if not is_too_long(event.code, event.message):
            return False
        wanted, known = self.scale(spec).tokens(self._estimated), self.of(spec).tokens
        told = window_told(event.message)
        if told is not None and known is not None and told >= known:
            told = None
            if self.scale(spec).too_many(self._estimated, known):
                return True  # it takes what was known: the estimate was too small
        window = told or min(int(wanted * _LEARNT), known or wanted)
        if window != known:
            self._learn(spec, window)
            words = f"{spec.model} takes {window:,} tokens, as its server says"
            if told is None:
                words = f"{spec.model} takes less than {wanted:,} tokens, as its server says"
            self._state.add(Block(BlockKind.NOTE, 0, state="done"), words)
        return True

    def _learn(self, spec: RoleSpec, tokens: int) -> None:
        self._state.meter.learnt[spec.endpoint, spec.model] = tokens
        self.describe(spec)
        if self._ports.catalogue is not None and spec.endpoint != REHEARSAL:
            self._ports.catalogue().learn_window(spec.endpoint, spec.model, tokens)


def tokens_in(entry: HistoryEntry) -> int:
    """An estimate of an item; made once."""
    if entry.counted is not entry.item:
        entry.tokens, entry.counted = tokens_of(entry.item), entry.item
    return entry.tokens
