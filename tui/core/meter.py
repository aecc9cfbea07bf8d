"""The meter: time to first token, tokens/s, and the ghost of a slow model.

All times are monotonic seconds that the caller hands in. While a response streams, tokens are
estimated from characters (4 a token until the server's usage has calibrated the model); when
usage arrives it is what is shown, however far off the estimate was.

The ghost: how far a model at 50 tokens/s would be now in the same output, and where. It begins
with the model's own first token, since the way to the server is the same for both, writes what
the model wrote, and waits between two responses as long as the model did (for tools, and for the
next first token). All times are monotonic seconds that the caller hands in.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from typing import Literal, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from tui.core.document.hunk import OPEN, Decision, Hunk
from tui.core.files import counted
from tui.core.wire.events import Usage

GHOST_TOKENS_S = 50.0
_MOST_STEPS = 20_000
"""Lines of one turn that are remembered; the ghost skips the ones before."""


class GhostStretch(NamedTuple):
    """What one response streamed."""

    first_s: float
    last_s: float
    tokens: float
    chars: int

    def by(self, at_s: float) -> float:
        """How many of its tokens had come by then, at its even pace."""
        if at_s >= self.last_s or at_s <= self.first_s:
            return self.tokens if at_s >= self.last_s else 0.0
        return self.tokens * (at_s - self.first_s) / (self.last_s - self.first_s)


class Written(NamedTuple):
    """What the ghost has written."""

    tokens: float = 0.0
    chars: float = 0.0
    left_s: float = 0.0
    """Seconds that it needs for the rest of what the model has written."""


def written(stretches: Iterable[GhostStretch], now: float) -> Written:
    """How far the ghost is at ``now``."""
    tokens, chars, free_s, last_s = 0.0, 0.0, 0.0, 0.0
    begun = False
    for one in stretches:
        # the model's own pause between two responses is the ghost's, too
        start_s = free_s + max(one.first_s - last_s, 0.0) if begun else one.first_s
        begun, last_s = True, one.last_s
        free_s = start_s + one.tokens / GHOST_TOKENS_S
        if now >= free_s:
            tokens, chars = tokens + one.tokens, chars + one.chars
        elif now > start_s:
            share = (now - start_s) / (free_s - start_s)
            tokens, chars = tokens + share * one.tokens, chars + share * one.chars
    return Written(tokens, chars, max(free_s - now, 0.0) if begun else 0.0)


class GhostPlace(NamedTuple):
    """Where it is in the files."""

    path: str
    line: int | None
    """None: it has not come to its first edit yet, which is in this file."""


class _GhostStep(NamedTuple):
    """After so many characters the model wrote in this row of a hunk."""

    chars: int
    hunk: Hunk
    row: int
    """Counted from the hunk's first row, which moves with edits above."""
    gone: int
    """How many of the rows before it are struck lines, which go when the hunk has landed."""

    @property
    def row_now(self) -> int:
        """The same row as it is counted now."""
        return self.row if self.hunk.stage in OPEN else max(self.row - self.gone, 0)


class Trail:
    """Where the model wrote in one turn, for the ghost that comes after it.

    A frame adds one step at most, and each step is passed once: the cost of a frame does not
    grow with what was written.
    """

    def __init__(self) -> None:
        self._steps: deque[_GhostStep] = deque(maxlen=_MOST_STEPS)
        self._entered = False
        """The ghost has come to the first step."""

    def __bool__(self) -> bool:
        """True if anything was written in a file."""
        return bool(self._steps)

    def clear(self) -> None:
        """A new turn begins."""
        self._steps.clear()
        self._entered = False

    def wrote(self, chars: int, hunk: Hunk, line: int) -> None:
        """After ``chars`` characters of the turn's output the model writes in this line."""
        if hunk.start is not None:
            row = max(line - hunk.start.line, 0)
            gone = hunk.removed if hunk.stage in OPEN else 0
            self._steps.append(_GhostStep(chars, hunk, row, gone))

    def at(self, chars: float) -> tuple[str, int | None] | None:
        """Path and line where the ghost is after so many characters.

        No line: it has not come to its first edit; None: in no file, what it wrote was taken out.
        """
        steps = self._steps
        while len(steps) > 1 and steps[1].chars <= chars:
            steps.popleft()
        if not steps:
            return None
        if not (self._entered or steps[0].chars <= chars):
            return steps[0].hunk.path, None
        self._entered = True
        return _place(steps[0], steps[1] if len(steps) > 1 else None, chars)


def _place(step: _GhostStep, then: _GhostStep | None, chars: float) -> tuple[str, int] | None:
    """At a step, or between it and the next one in the same hunk; None: it was taken out."""
    hunk, row = step.hunk, step.row_now
    if hunk.start is None or hunk.end is None or hunk.decision is Decision.REJECTED:
        return None
    if then is not None and then.hunk is hunk and then.row_now > row:
        share = max(chars - step.chars, 0.0) / (then.chars - step.chars)
        row += int(share * (then.row_now - row))
    last = max(hunk.end.line - 1, hunk.start.line)
    return hunk.path, min(hunk.start.line + row, last)


CHARS_PER_TOKEN = 4.0
"""Until a model's own ratio is known."""
SLOWEST_TOKENS_S = 20.0
FASTEST_TOKENS_S = 5000.0
SPARK_LENGTH = 16
_BUCKET_S = 0.1
_WINDOW_BUCKETS = 10
_SETTLED_S = 0.1
"""Before that much of a response has streamed no rate is shown."""
_CALIBRATING_TOKENS = 16
_FELT_S = 0.05
"""Tools that took less are not told of."""
_LEAST_SPARK = 0.125
"""Of a rate below the scale: something came."""


PRICE_UNKNOWN = "price unknown"
"""Of what is charged for at a price that nobody here knows."""


class Cost(Struct, frozen=True):
    """US dollars, as far as prices are known."""

    turn_usd: float | None = None
    """None: not all of the turn's responses have a price that is known."""
    session_usd: float | None = None
    """None: nothing of it has."""
    session_whole: bool = True
    """False: there were responses without a known price; `session_usd` is the least it was."""
    estimated: bool = False
    """Some of the turn's tokens were not counted by a server."""
    unknown: bool = False
    """The turn has responses that are charged for, at a price that is not known."""
    session_unknown: bool = False
    """The session has."""


MeterState = Literal["idle", "waiting", "streaming", "done"]
Reasoning = Literal["counted", "not counted", "unknown"]


class MeterView(Struct, frozen=True):
    """What the meter says at one moment."""

    state: MeterState = "idle"
    tokens_s: float | None = None
    """Over the last second while streaming; over the whole turn when done."""
    estimated: bool = True
    """True: `tokens_s` rests on estimated tokens."""
    ttft_s: float | None = None
    """Of the newest response that was asked for and has begun."""
    tokens: int = 0
    tokens_estimated: bool = True
    seconds: float = 0.0
    """From the turn's prompt until now, or until it ended."""
    spark: tuple[float, ...] = ()
    """A tenth of a second each, newest last: the rate's place as in `scale`, 0 where none came."""
    scale: float = 0.0
    """0..1: logarithmic place of `tokens_s` between 20 and 5000."""
    ghost: float = 0.0
    """0..1: the share of the output that a model at 50 tokens/s would have by now."""
    ghost_left_s: float = 0.0
    """Seconds that it would still need for the rest."""
    reasoning: Reasoning = "unknown"
    context_tokens: int | None = None
    context_window: int | None = None
    cached: float | None = None
    """0..1: the share of the turn's input that came from the server's cache; None: not told."""
    cost: Cost = Cost()
    tool_s: float = 0.0
    """What the turn's tools took, in no rate; those side by side count once."""
    last_s: float = 0.0
    """From the turn's prompt until the last piece of output."""


class TurnClocks(NamedTuple):
    """When what happened in a turn: seconds from its first request; None: not yet, or never."""

    asked_s: float | None = None
    """That request, by the clock."""
    ttft_s: float | None = None
    hunk_s: float | None = None
    """The first line of an edit stood in a file."""
    last_s: float | None = None
    """The last piece of output came."""
    prompt_s: float = 0.0
    """So long before that request the prompt was given."""
    stretches: tuple[GhostStretch, ...] = ()
    """What each response streamed, by the clock."""

    def tokens_by(self, seconds: float) -> float:
        """How many tokens had come so long after the first request."""
        return sum(one.by((self.asked_s or 0.0) + seconds) for one in self.stretches)

    def since_prompt(self) -> tuple[float | None, float | None]:
        """Seconds from the prompt until the first output, and the first line of an edit."""
        ttft_s, hunk_s = self.ttft_s, self.hunk_s
        return (
            None if ttft_s is None else ttft_s + self.prompt_s,
            None if hunk_s is None else hunk_s + self.prompt_s,
        )


class _Response(Struct):
    """The counts of one response."""

    asked_s: float | None = None
    """When its request went out; None: it came by itself."""
    first_s: float | None = None
    last_s: float = 0.0
    chars: int = 0
    reasoning_chars: int = 0
    usage: Usage | None = None
    cut: bool = False
    """It was stopped: the server may have counted tokens that never came here."""
    buckets: deque[int] = field(default_factory=lambda: deque(maxlen=64))
    bucket: int = 0
    """Number of the newest bucket, counted from the first delta."""

    def ttft_s(self) -> float | None:
        """Seconds from its request to its first delta."""
        if self.first_s is None or self.asked_s is None:
            return None
        return self.first_s - self.asked_s

    def span_s(self) -> float:
        """Seconds from the first to the last delta."""
        return 0.0 if self.first_s is None else max(self.last_s - self.first_s, 0.0)

    def count(self, now: float, chars: int) -> None:
        """Put characters into the bucket of this moment."""
        if self.first_s is None:
            self.first_s = now
        self.last_s = now
        bucket = int((now - self.first_s) / _BUCKET_S)
        self.roll(bucket)
        self.buckets[-1] += chars

    def roll(self, bucket: int) -> None:
        """Open buckets up to this number; time that went by without deltas counts as zeros."""
        if not self.buckets:
            self.buckets.append(0)
        missing = min(bucket - self.bucket, self.buckets.maxlen or 0)
        if missing > 0:
            self.buckets.extend([0] * missing)
            self.bucket = bucket


class Meter:
    """Counts one turn at a time; remembers every model's characters a token."""

    def __init__(self) -> None:
        self.context_window: int | None = None
        """Tokens the current model can take; the session sets it."""
        self.windows: dict[tuple[str, str], int] = {}
        """(Endpoint, model) -> window in tokens, where the endpoint has told it."""
        self.learnt: dict[tuple[str, str], int] = {}
        """The same where a server has refused more, or taken more than was known."""
        self._ratios: dict[str, float] = {}
        self._model = ""
        self._turn_s: float | None = None
        self.first_hunk_s: float | None = None
        """When the turn's first line of an edit came, by its frame."""
        self._prompted = False
        """The turn's clock runs already, its first request is still to come."""
        self._stopped_s: float | None = None
        self._chars = 0
        """Of the turn's output, reasoning that was shown included."""
        self._trail = Trail()
        self._past: list[_Response] = []
        self._now: _Response | None = None
        self._context_tokens: int | None = None
        self._tools = 0
        """How many run now."""
        self._tools_s = 0.0
        """Since when, if any does."""
        self._tool_s = 0.0
        """What those took that are over."""
        self.responses = 0
        """How many requests have gone out; the number of the newest response."""
        self._first = 1
        """The number of the turn's first response."""
        self._bill: dict[int, float | None] = {}
        """Of the turn: a response's number -> its cost, when that is known to be known or not."""
        self._before = MeterView()
        """Of the last turn of an earlier start, until another one begins."""
        self._session_usd: float | None = None
        self._unpriced = False
        self._turn_unknown = self._session_unknown = False
        """Something of it is charged for at a price that is not known."""

    def window_of(self, endpoint: str, model: str, known: int | None = None) -> int | None:
        """A model's window: as its server's refusals say, as it was told, else ``known``."""
        place = (endpoint, model)
        return self.learnt.get(place) or self.windows.get(place) or known

    def prompted(self, now: float, model: str = "") -> None:
        """A prompt was given: the turn's clock runs, also while the endpoint is dialled."""
        self._prompted = False
        self.start(now, model)
        self._prompted = True

    def start(self, now: float, model: str = "", *, fresh: bool = True, asked: bool = True) -> None:
        """A request goes out; ``fresh`` begins a turn, else it is one more of the same turn.

        Not ``asked``: a response begins by itself, as the one after a steering text.
        """
        if fresh or self._turn_s is None:
            self._turn_s = self._turn_s if self._prompted else now
            self._clear_turn()
        elif self._now is not None:
            self._past.append(self._now)
        self._now = _Response(now if asked else None)
        self.responses += 1
        self._stopped_s = None
        self._prompted = False
        self._model = model or self._model

    def delta(self, now: float, chars: int, reasoning: bool = False) -> None:
        """So many characters of output came; O(1)."""
        response = self._now
        if response is None or not chars:
            return
        response.count(now, chars)
        response.chars += chars
        self._chars += chars
        if reasoning:
            response.reasoning_chars += chars

    def wrote(self, hunk: Hunk, line: int) -> None:
        """What came up to now ends in this line of a file; once a frame at most."""
        if self.first_hunk_s is None and self._now is not None:
            self.first_hunk_s = self._now.last_s
        self._trail.wrote(self._chars, hunk, line)

    def clocks(self) -> TurnClocks:
        """When what happened in this turn, by the times of the frames."""
        responses = [*self._past, self._now] if self._now is not None else []
        if not responses or (asked_s := responses[0].asked_s) is None:
            return TurnClocks()
        came = [one.last_s for one in responses if one.first_s is not None]
        return TurnClocks(
            asked_s,
            responses[0].ttft_s(),
            None if self.first_hunk_s is None else self.first_hunk_s - asked_s,
            max(came) - asked_s if came else None,
            asked_s - (asked_s if self._turn_s is None else self._turn_s),
            self._stretches(),
        )

    def ghost_place(self, now: float) -> GhostPlace | None:
        """Where a model at 50 tokens/s would be writing now; None: in no file."""
        if not self.ghost_walks(now):
            return None
        place = self._trail.at(self._ghost(now).chars)
        return None if place is None else GhostPlace(*place)

    def ghost_walks(self, now: float) -> bool:
        """True while such a model would have something left to write in files."""
        if not self._trail:
            return False
        return self._stopped_s is None or self._ghost(now).left_s > 0.0

    def usage(self, now: float, usage: Usage, *, cut: bool = False) -> None:
        """The server's own count of the current response: shown from now on.

        Of one that was ``cut`` it says nothing about how fast the words came.
        """
        response = self._now
        if response is None:
            return
        response.usage, response.cut = usage, cut
        self._context_tokens = usage.input_tokens + usage.output_tokens
        tokens = _streamed_tokens(response)
        if tokens >= _CALIBRATING_TOKENS and response.chars and not cut:
            self._ratios[self._model] = min(max(response.chars / tokens, 1.0), 12.0)

    def paid(self, response: int, usd: float | None, *, unknown: bool = False) -> None:
        """What a response cost, by its number (`responses`); None: its price is not known.

        ``unknown``: it is charged for all the same.
        """
        if response >= self._first:  # else of a turn before
            self._turn_unknown |= unknown
            self._bill[response] = usd
        self.paid_beside(usd, unknown=unknown)

    def paid_beside(self, usd: float | None, *, unknown: bool = False) -> None:
        """What somebody's response cost that is none of this conversation's."""
        self._session_unknown |= unknown
        if usd is None:
            self._unpriced = True
        else:
            self._session_usd = (self._session_usd or 0.0) + usd

    def spent(self) -> tuple[float, bool]:
        """US dollars of the turn as far as prices are known, and whether one is not known."""
        bills = self._bill.values()
        return sum(usd for usd in bills if usd is not None), None in bills

    @property
    def session_usd(self) -> float:
        """US dollars of the session as far as prices are known."""
        return self._session_usd or 0.0

    @property
    def streamed_tokens(self) -> float:
        """Output of the response that comes now, estimated until it is counted."""
        return 0.0 if self._now is None else self._tokens(self._now)

    def total(self) -> Usage | None:
        """The turn's usage by the server's counts; None if no response had one."""
        responses = [*self._past, *([self._now] if self._now else [])]
        counts = [r.usage for r in responses if r.usage is not None]
        if not counts:
            return None
        cached = [u.cached_tokens for u in counts if u.cached_tokens is not None]
        reasoning = [u.reasoning_tokens for u in counts if u.reasoning_tokens is not None]
        return Usage(
            sum(u.input_tokens for u in counts),
            sum(u.output_tokens for u in counts),
            sum(cached) if cached else None,
            sum(reasoning) if reasoning else None,
        )

    def tool(self, now: float, *, begins: bool) -> None:
        """A tool begins, or ends."""
        if begins and not self._tools:
            self._tools_s = now
        self._tools = max(self._tools + (1 if begins else -1), 0)
        if not begins and not self._tools:
            self._tool_s += now - self._tools_s

    def stop(self, now: float) -> None:
        """The turn is over."""
        if self._stopped_s is None:
            self._stopped_s = now

    def forget(self) -> None:
        """A new conversation: nothing has been measured yet, but the models' ratios stay."""
        self._turn_s = self._now = self._context_tokens = None
        self._before = MeterView()
        self._clear_turn()

    def resume(self, usd: float, before: MeterView) -> None:
        """The session has cost so much before; ``before``: what its last turn took."""
        self._session_usd, self._context_tokens = usd or None, before.context_tokens
        rate, tokens = before.tokens_s, before.tokens
        if rate:
            before = replace(
                before,
                scale=scale(rate),
                ghost=min(GHOST_TOKENS_S / rate, 1.0),
                ghost_left_s=max(tokens / GHOST_TOKENS_S - tokens / rate, 0.0),
            )
        self._before = before

    def estimate_context(self, tokens: int) -> None:
        """The conversation has become so long, until a server counts it."""
        self._context_tokens = tokens

    def _clear_turn(self) -> None:
        self._past, self._bill = [], {}
        self._first, self._chars, self._turn_unknown = self.responses + 1, 0, False
        self.first_hunk_s = None
        self._trail.clear()
        self._tool_s, self._tools_s = 0.0, self._turn_s or 0.0

    def view(self, now: float) -> MeterView:
        """What to show at ``now``."""
        if self._turn_s is None or self._now is None:
            return replace(
                self._before,
                context_tokens=self._context_tokens,
                context_window=self.context_window,
                cost=replace(self._cost([]), turn_usd=self._before.cost.turn_usd),
            )
        responses = [*self._past, self._now]
        state = self._state()
        live = state == "streaming" and self._now.usage is None
        estimated = any(
            r.usage.estimated if r.usage is not None else bool(r.chars) for r in responses
        )
        streamed = sum(map(self._rated_tokens, responses))
        span_s = sum(r.span_s() for r in responses)
        rate = self._live_rate(now) if live else (streamed / span_s if span_s > 0 else None)
        ghost = self._ghost(now if self._stopped_s is None else self._stopped_s)
        return MeterView(
            state=state,
            tokens_s=rate,
            estimated=live or estimated or any(r.cut for r in responses),
            ttft_s=next((s for r in reversed(responses) if (s := r.ttft_s()) is not None), None),
            tokens=round(sum(map(self._tokens, responses))),
            tokens_estimated=estimated,
            seconds=(now if self._stopped_s is None else self._stopped_s) - self._turn_s,
            spark=self._spark(now, live),
            scale=scale(rate),
            ghost=min(ghost.tokens / streamed, 1.0) if streamed else 0.0,
            ghost_left_s=ghost.left_s,
            reasoning=_reasoning(responses),
            context_tokens=self._context_tokens,
            context_window=self.context_window,
            cached=_cached(responses),
            cost=self._cost(responses),
            tool_s=self._tool_s + (now - self._tools_s if self._tools else 0.0),
            last_s=max(max(r.last_s for r in responses) - self._turn_s, 0.0),
        )

    def _ghost(self, now: float) -> Written:
        return written(self._stretches(), now)

    def _stretches(self) -> tuple[GhostStretch, ...]:
        return tuple(
            GhostStretch(one.first_s, one.last_s, self._rated_tokens(one), one.chars)
            for one in [*self._past, *([self._now] if self._now else [])]
            if one.first_s is not None
        )

    def _cost(self, responses: list[_Response]) -> Cost:
        known = [usd for usd in self._bill.values() if usd is not None]
        counted = sum(one.usage is not None for one in responses)
        whole = bool(known) and len(known) == counted
        return Cost(
            sum(known) if whole else None,
            self._session_usd,
            not self._unpriced,
            any(one.usage is not None and one.usage.estimated for one in responses),
            unknown=self._turn_unknown,
            session_unknown=self._session_unknown,
        )

    def _state(self) -> MeterState:
        if self._stopped_s is not None:
            return "done"
        return "waiting" if self._now is None or self._now.first_s is None else "streaming"

    @property
    def chars_per_token(self) -> float:
        """Of the model that answers, as far as that is known."""
        return self._ratios.get(self._model, CHARS_PER_TOKEN)

    def _tokens(self, response: _Response) -> float:
        if response.usage is not None:
            return response.usage.output_tokens
        return response.chars / self.chars_per_token

    def _rated_tokens(self, response: _Response) -> float:
        """The tokens that came between the first and the last delta: never those held back."""
        if response.usage is not None and not response.cut:
            return _streamed_tokens(response)
        return response.chars / self.chars_per_token

    def _live_rate(self, now: float) -> float | None:
        response = self._now
        if response is None or response.first_s is None:
            return None
        age_s = now - response.first_s
        if age_s < _SETTLED_S:
            return None
        response.roll(int(age_s / _BUCKET_S))
        window_s = min(age_s, (_WINDOW_BUCKETS - 1) * _BUCKET_S + age_s % _BUCKET_S)
        chars = sum(list(response.buckets)[-_WINDOW_BUCKETS:])
        return chars / self.chars_per_token / max(window_s, _BUCKET_S)

    def _spark(self, now: float, live: bool) -> tuple[float, ...]:
        """The turn's last buckets; the waits between its responses are left out."""
        response = self._now
        if live and response is not None and response.first_s is not None:
            response.roll(int((now - response.first_s) / _BUCKET_S))
        shown: list[int] = []
        for one in reversed([*self._past, *([response] if response else [])]):
            shown = [*one.buckets, *shown]
            if len(shown) >= SPARK_LENGTH:
                break
        shown = shown[-SPARK_LENGTH:]
        bucket_s = self.chars_per_token * _BUCKET_S
        return tuple(
            max(scale(chars / bucket_s), _LEAST_SPARK) if chars else 0.0 for chars in shown
        )


def dollars(usd: float) -> str:
    """``$0.0041``, ``$0.124`` or ``$12.30``."""
    if usd >= 1:
        return f"${usd:,.2f}"
    if usd >= 0.01:
        return f"${usd:.3f}"
    return f"${usd:.4f}" if usd >= 0.00005 or not usd else "<$0.0001"


def pace_words(view: MeterView) -> str:
    """``2.7 s (tools 2.0 s), 464 tokens``: how long a turn took, and its output."""
    about = "~" if view.tokens_estimated else ""
    tools = f" (tools {_seconds(view.tool_s)})" if view.tool_s >= _FELT_S else ""
    return f"{_seconds(view.seconds)}{tools}, {about}{counted(view.tokens, 'token')}"


def slow_words(view: MeterView) -> str:
    """``at 50 tok/s 9.3 s``: how long the same output takes a model that one delegates to."""
    return f"at {GHOST_TOKENS_S:g} tok/s {_seconds(view.tokens / GHOST_TOKENS_S)}"


def _seconds(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


def scale(tokens_s: float | None) -> float:
    """Where a rate stands between delegation (0) and collaboration (1), logarithmic."""
    if not tokens_s or tokens_s <= SLOWEST_TOKENS_S:
        return 0.0
    reach = math.log(FASTEST_TOKENS_S / SLOWEST_TOKENS_S)
    return min(math.log(tokens_s / SLOWEST_TOKENS_S) / reach, 1.0)


def _streamed_tokens(response: _Response) -> float:
    """Output tokens without hidden reasoning, which passed before the first delta."""
    usage = response.usage
    if usage is None:
        return 0.0
    if response.reasoning_chars:
        return usage.output_tokens
    return max(usage.output_tokens - (usage.reasoning_tokens or 0), 0)


def _cached(responses: list[_Response]) -> float | None:
    """The share of input that came from a cache, of the responses whose servers count that."""
    told = [r.usage for r in responses if r.usage and r.usage.cached_tokens is not None]
    sent = sum(usage.input_tokens for usage in told)
    return min(sum(usage.cached_tokens or 0 for usage in told) / sent, 1.0) if sent else None


def _reasoning(responses: list[_Response]) -> Reasoning:
    """Whether reasoning is part of the rate; unknown until a server has said how much it was."""
    if any(r.usage is not None and r.usage.reasoning_tokens is None for r in responses):
        return "unknown"
    counted = [r for r in responses if r.usage is not None]
    if not counted:
        return "counted" if any(r.reasoning_chars for r in responses) else "unknown"
    hidden = any(r.usage and r.usage.reasoning_tokens and not r.reasoning_chars for r in counted)
    return "not counted" if hidden else "counted"
