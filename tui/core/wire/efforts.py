"""The efforts of reasoning: their names, which one is near another, which ones a refusal names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from tui.core.text.patterns import pattern

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
"""Weakest first, as openai-python 3.52 names them (`shared/reasoning_effort.py`), and ``max``."""
EFFORTS: tuple[Effort, ...] = get_args(Effort)
AUTO_EFFORT: Literal["auto"] = "auto"
"""The effort follows from what became of the answers (`tui.engine.auto_effort`)."""
_NAMES = "|".join(EFFORTS)
_USUAL = ("low", "medium", "high")
"""What a model can be expected to have of which nothing is known."""
_TAKEN = pattern(
    rf"(?i)(?:support(?:ed|s)|valid|allowed|accept(?:ed|s)|permitted|expected|one of|must be|should"
    rf" be|available)[^.;]{{0,60}}?\b(?:{_NAMES})\b[^.;]{{0,120}}"
)
"""The part of a refusal that says what would be taken."""
_REFUSED = pattern(r"(?i)\b(?:not|un(?:supported|known)|invalid)\b[^.;,:]{0,40}")
_NAME = pattern(rf"(?i)\b(?:{_NAMES})\b")


def nearest_effort(effort: str, known: Sequence[str]) -> str:
    """The strongest known effort that is no stronger; else the weakest known one."""
    if effort in known or effort not in EFFORTS:
        return effort
    ordered: list[str] = [one for one in EFFORTS if one in known] or [*known]
    weaker = [one for one in ordered if one in EFFORTS[: EFFORTS.index(effort)]]
    return weaker[-1] if weaker else ordered[0]


def auto_levels(known: Sequence[str] | None) -> list[Effort]:
    """What ``auto`` chooses from, weakest first; ``known`` are the model's, None: not known.

    Not to think at all (``none``) is among them only where there is hardly anything else.
    """
    levels = [one for one in EFFORTS if one in (_USUAL if known is None else known)]
    return levels[1:] if levels[:1] == ["none"] and len(levels) > 2 else levels


def auto_start(known: Sequence[str] | None) -> Effort | None:
    """The effort that ``auto`` begins with; None: the model has none."""
    levels = auto_levels(known)
    start = nearest_effort("medium", levels) if levels else ""
    return next((one for one in levels if one == start), None)


def efforts_named(message: str, refused: str) -> tuple[Effort, ...]:
    """The efforts that a refusal of one says are taken instead; empty: it says nothing of that."""
    if "effort" not in message.lower() and "reasoning" not in message.lower():
        return ()
    for part in _TAKEN.finditer(message):
        if _REFUSED.search(message, max(part.start() - 8, 0), part.start() + 12):
            continue
        named = {found[0].lower() for found in _NAME.finditer(part[0])} - {refused}
        if named:
            return tuple(one for one in EFFORTS if one in named)
    return ()


def effort_refusal(effort: str, model: str, known: Sequence[str] | None) -> str:
    """Why a model cannot be asked for an effort, with those that it has; empty: it can."""
    if known is None:
        return ""
    if not known:
        return f"{model} has no levels of effort."
    if not auto_levels(known):
        return f"{model} has no level of effort that duetto knows: it has {', '.join(known)}."
    if effort in known or effort == AUTO_EFFORT:
        return ""
    return f"{model} has no effort {effort}: it has {', '.join(known)}."
