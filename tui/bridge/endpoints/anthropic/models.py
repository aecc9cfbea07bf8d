"""How a model wants to be asked: generations of Claude differ, other models too.

The rules are data: those of ``providers/anthropic.toml``, by name or pattern, hold wherever this
language is spoken. What an endpoint's own provider, or the user, says of a model comes before them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import msgspec

from tui.bridge.endpoints.anthropic.options import Options
from tui.bridge.endpoints.base import ModelFacts, Target
from tui.core.wire.address import Address

Thinking = Literal["adaptive", "budget", "none"]
"""The model decides how much it thinks; it is given a number of tokens; it does not think."""

LADDER = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""Efforts, weakest first."""
EFFORTS = ("low", "medium", "high", "xhigh", "max")
"""Of them, those that ``output_config`` has."""
_OTHERS_TOKENS = 16_384


@dataclass(frozen=True, slots=True)
class Ways:
    """How a model wants to be asked; see `options.Options`."""

    thinking: Thinking = "budget"
    efforts: tuple[str, ...] = ()
    """What ``output_config.effort`` may be; empty: it is not known there."""
    max_tokens: int = _OTHERS_TOKENS
    """Asked for where nobody says a number: every request has to."""
    most_tokens: int | None = None
    """What the server said is the most; None: it has not."""
    rests: bool = True
    forces: bool = True
    thinks_when_forced: bool = False
    interleaves: bool = False
    sampling: bool = True
    structured: bool = False
    eager: bool = False
    fast: bool = False
    tier: bool = False


_SAID = (
    "thinking", "max_tokens", "rests", "forces", "thinks_when_forced", "interleaves", "sampling",
    "structured", "eager", "fast", "tier",
)  # fmt: skip


def ways(model: str, facts: ModelFacts, options: Options) -> Ways:
    """How a model wants to be asked: by what is known of its name, of it here, and the options."""
    known = _known(model.lower())
    rules = [msgspec.convert(known.options, Options), options]
    rules.append(msgspec.convert(facts.options, Options))
    given = {
        name: value
        for rule in rules
        for name in _SAID
        if (value := getattr(rule, name)) is not None
    }
    told = facts.efforts if facts.efforts is not None else known.efforts
    efforts = tuple(one for one in told or () if one in EFFORTS)
    if facts.efforts is None and not efforts and options.thinking == "adaptive":
        efforts = EFFORTS
    return replace(Ways(efforts=efforts), **given)


def nearest(effort: str, known: tuple[str, ...]) -> str:
    """The known effort that is next to this one, the stronger of two; empty: there is none."""
    if effort not in LADDER or not known:
        return ""
    rank = LADDER.index(effort)
    return min(known, key=lambda one: (abs(LADDER.index(one) - rank), -LADDER.index(one)))


@cache
def _rules() -> Target:
    from tui.bridge.providers.facts import provider

    own = provider("anthropic", None)
    return Target(own.name, own.spec({}), Address(own.url))


def _known(name: str) -> ModelFacts:
    return _rules().facts(name)
