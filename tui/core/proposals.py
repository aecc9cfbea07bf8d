"""Which model a prompt is better asked of, as the user's own turns tell: proposed, never chosen.

Prompts are told apart by what they ask for (their first verb where it is an English one, else a
question mark of any script or their length) and by whether they name several files. Of each kind it
is known how often an answer was right: the first verdict behind it was green or, where there was
none, all of its hunks were accepted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import sqrt
from statistics import median
from typing import NamedTuple

from tui.core.cycles import Cycle
from tui.core.text.patterns import pattern

LEAST = 8
"""Judged turns of a kind that each of the models must have."""
MOST = 50
"""The newest ones of each count."""
_BETTER, _AS_GOOD, _QUICKER = 0.25, 0.05, 0.5
"""So much more often right; hardly less often; and so much less time."""
_SURE = 1.64
"""Standard deviations: by chance such a difference comes once in 20 times."""
_READ = 2000
"""Characters of a prompt that are looked at."""
_WORDS = 12
"""The verb is among so many first words."""
_LONG = 400
_VERBS = {
    "fixes": "fix repair mend correct debug solve",
    "renames": "rename",
    "questions": "explain why what how describe where which",
    "additions": "add write implement create make build support introduce",
    "changes": "change refactor extract simplify clean split move rewrite replace use turn let",
}
_KINDS = {verb: kind for kind, verbs in _VERBS.items() for verb in verbs.split()}
_WORD = pattern(r"[A-Za-z]+")
_ASKS = pattern(r"\?(?=\s|$)|[？؟]")
_NAME = pattern(r"[A-Za-z0-9_./-]{0,60}\w\.[A-Za-z][A-Za-z0-9_]{0,4}(?![A-Za-z0-9_])")
"""Of a file, also between letters that need no space around it."""


def kind_of(prompt: str) -> str:
    """The kind of a prompt, in words: ``fixes in several files``."""
    text = prompt[:_READ]
    words = [word.lower() for word in _WORD.findall(text)[:_WORDS]]
    kind = next((_KINDS[word] for word in words if word in _KINDS), "")
    if kind == "additions" and {"test", "tests"} & set(words):
        kind = "tests"
    if not kind and _ASKS.search(text):
        kind = "questions"
    kind = kind or ("long prompts" if len(prompt) > _LONG else "short prompts")
    names = {name for name in _NAME.findall(text) if not name.startswith("//")} - {"e.g", "i.e"}
    return f"{kind} in several files" if len(names) > 1 else kind


class JudgedTurn(NamedTuple):
    """A turn that was judged."""

    kind: str
    role: str
    model: str
    right: bool
    seconds: float | None
    """From the prompt to the green verdict, or to the last accepted hunk."""
    proposed: str = ""
    """The role that was proposed for it; empty: none was."""


def past_turn(one: Cycle, prompt: str, proposed: str = "") -> JudgedTurn | None:
    """A cycle as it counts here; None: nobody judged it."""
    right, done_ms = one.green_ms == one.verdict_ms, one.green_ms  # a later green may be by hand
    if one.verdict_ms is None:
        if not one.hunks or one.accepted + one.rejected < one.hunks:
            return None
        right, done_ms = one.accepted == one.hunks, one.accepted_ms
    seconds = None if done_ms is None or done_ms < one.began_ms else (done_ms - one.began_ms) / 1000
    return JudgedTurn(kind_of(prompt), one.role, one.model, right, seconds, proposed)


class Proposal(NamedTuple):
    """Have another model answer."""

    role: str
    words: str
    """Why, in words, what matters most first, with middle dots between them."""
    kind: str


class _TrackRecord:
    """What a model did with prompts of a kind."""

    def __init__(self) -> None:
        self.count = self.right = 0
        self.seconds: list[float] = []

    def add(self, turn: JudgedTurn) -> None:
        if self.count < MOST:
            self.count, self.right = self.count + 1, self.right + turn.right
            if turn.right and turn.seconds is not None:
                self.seconds.append(turn.seconds)

    @property
    def share(self) -> float:
        return self.right / self.count


class Proposals:
    """What can be proposed from turns, the newest first."""

    def __init__(self, turns: Iterable[JudgedTurn]) -> None:
        self._records: dict[tuple[str, str, str], _TrackRecord] = {}
        self._advised = self._well_advised = 0
        for turn in turns:
            self._records.setdefault((turn.kind, turn.role, turn.model), _TrackRecord()).add(turn)
            if turn.proposed:
                self._advised += 1
                self._well_advised += turn.right == (turn.role == turn.proposed)

    @property
    def advice(self) -> str:
        """How often proposals were right, in words; empty: there was none.

        One that was taken is right if the answer was, one that was not if the answer was wrong.
        """
        advised = self._advised
        return f"advice right {self._well_advised} of {advised}" if advised else ""

    def of(self, prompt: str, role: str, models: Mapping[str, str]) -> Proposal | None:
        """Which role should answer, where ``role`` is to; None: nothing is to be said."""
        kind = kind_of(prompt)
        own = self._records.get((kind, role, models.get(role, "")))
        for other, model in models.items():
            rival = self._records.get((kind, other, model))
            if other == role or own is None or rival is None:
                continue
            if min(own.count, rival.count) < LEAST:
                continue
            right = f"{rival.right} of {rival.count} right"
            if _is_better(rival, own):
                why = [f"{right}, {role} {own.right} of {own.count}"]
            elif _is_quicker(rival, own):
                why = [f"in {_span(rival)}, {role} {_span(own)}", right]
            else:
                continue
            return Proposal(other, " · ".join(filter(None, (*why, kind, self.advice))), kind)
        return None


def _span(record: _TrackRecord) -> str:
    """How long it takes, in words."""
    seconds = median(record.seconds)
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:,.0f} s"


def _is_better(rival: _TrackRecord, own: _TrackRecord) -> bool:
    both = (rival.right + own.right) / (rival.count + own.count)
    deviation = sqrt(both * (1 - both) * (1 / rival.count + 1 / own.count))
    more = rival.share - own.share
    return more >= _BETTER and more >= _SURE * deviation


def _is_quicker(rival: _TrackRecord, own: _TrackRecord) -> bool:
    """As often right, in far less time."""
    if min(len(rival.seconds), len(own.seconds)) < LEAST // 2:
        return False
    as_good = rival.share >= own.share - _AS_GOOD
    return as_good and median(rival.seconds) <= median(own.seconds) * _QUICKER
