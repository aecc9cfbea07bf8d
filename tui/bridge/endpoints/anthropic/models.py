"""How a model wants to be asked, by its name: generations of Claude differ, other models too.

The rules are the documentation's (effort, adaptive thinking, fast mode, structured outputs), as of
November 2026. A name without a generation is taken for a new one; a provider's file, or the user,
overrides each rule by an option.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from tui.bridge.endpoints.anthropic.options import Options
from tui.bridge.endpoints.base import ModelFacts

Thinking = Literal["adaptive", "budget", "none"]
"""The model decides how much it thinks; it is given a number of tokens; it does not think."""

LADDER = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""Efforts, weakest first."""
EFFORTS = ("low", "medium", "high", "xhigh", "max")
"""Of them, those that ``output_config`` has."""
_NEWEST = (99, 0)
_NAME = re.compile(
    r"claude-(?:(?P<family>[a-z]+)-)?(?P<major>\d{1,2})(?!\d)(?:[.-](?P<minor>\d{1,2})(?!\d))?"
)
_RESTLESS = ("mythos", "fable")
"""Families that always think: to switch it off is an error."""
_OTHERS_TOKENS = 16_384


@dataclass(frozen=True, slots=True)
class Ways:
    """How a model wants to be asked."""

    thinking: Thinking
    efforts: tuple[str, ...]
    """What ``output_config.effort`` may be; empty: it is not known there."""
    max_tokens: int
    """Asked for where nobody says a number: every request has to."""
    most_tokens: int | None = None
    """What the server said is the most; None: it has not."""
    rests: bool = True
    """Thinking can be switched off."""
    thinks_when_forced: bool = False
    """It may think although ``tool_choice`` forces a call."""
    interleaves: bool = False
    """It thinks between calls if the beta header asks for it; newer ones do it by themselves."""
    sampling: bool = False
    """It takes a temperature."""
    structured: bool = False
    """It takes a JSON schema for its answer."""
    eager: bool = False
    """It streams the arguments of a call while it writes them, if it is asked to."""
    fast: bool = False
    """It has a fast mode."""


def ways(model: str, facts: ModelFacts, options: Options) -> Ways:
    """How a model wants to be asked: by its name, what is known of it, and the options."""
    found = _of_claude(model.lower()) if "claude" in model.lower() else _of_others()
    if facts.efforts is not None:
        found = replace(found, efforts=tuple(one for one in facts.efforts if one in EFFORTS))
    elif options.thinking == "adaptive" and not found.efforts:
        found = replace(found, efforts=EFFORTS)
    given = {
        name: value
        for name in ("thinking", "fast", "sampling", "structured", "eager", "max_tokens")
        if (value := getattr(options, name)) is not None
    }
    return replace(found, **given)


def nearest(effort: str, known: tuple[str, ...]) -> str:
    """The known effort that is next to this one, the stronger of two; empty: there is none."""
    if effort not in LADDER or not known:
        return ""
    rank = LADDER.index(effort)
    return min(known, key=lambda one: (abs(LADDER.index(one) - rank), -LADDER.index(one)))


def _of_claude(name: str) -> Ways:
    found = _NAME.search(name)
    version, family = _NEWEST, ""
    if found is not None:
        version = (int(found["major"]), int(found["minor"] or 0))
        family = found["family"] or ""
    if version < (4, 0):
        return _of_old(version)
    fast = version >= (4, 6) and "opus" in (family, *name.split("-"))
    if version < (4, 6):
        tokens = 32_000 if version < (4, 5) else 64_000
        efforts = EFFORTS[:3] if version >= (4, 5) and family == "opus" else ()
        return Ways(
            "budget", efforts, tokens, interleaves=True, sampling=True,
            structured=version >= (4, 5), eager=True,
        )  # fmt: skip
    levels = tuple(one for one in EFFORTS if one != "xhigh" or version >= (4, 7))
    return Ways(
        "adaptive",
        levels,
        64_000,
        rests=not any(one in name for one in _RESTLESS),
        thinks_when_forced=version >= (4, 8),
        sampling=version < (4, 7),
        structured=True,
        eager=True,
        fast=fast,
    )


def _of_old(version: tuple[int, int]) -> Ways:
    """Claude 3.7 and older."""
    if version >= (3, 7):
        return Ways("budget", (), 64_000, sampling=True)
    return Ways("none", (), 8_192 if version >= (3, 5) else 4_096, sampling=True)


def _of_others() -> Ways:
    """Models of other makers whose servers speak this language: they know its older half."""
    return Ways("budget", (), _OTHERS_TOKENS, sampling=True)
