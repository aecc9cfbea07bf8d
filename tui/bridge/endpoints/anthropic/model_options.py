"""How a model of the Messages API is asked: options of its endpoint, and traits of the model.

The rules are data: those of ``providers/anthropic.toml``, by name or pattern, hold wherever this
language is spoken. What an endpoint's own provider, or the user, says of a model comes before them
(see `docs/providers.md`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tui.bridge.endpoints.base import EndpointSpec, ModelFacts, Refused, Target, options_over
from tui.core.wire.address import Address

VERSION = "2023-06-01"
"""The API's version that every server of it knows; the next one, 2026-10-21, only takes away:
temperatures, and citations and documents where we write none."""


class AnthropicOptions(msgspec.Struct, frozen=True):
    """The options of one endpoint; None: as the model's name says (see `models`)."""

    version: str = VERSION
    """The header ``anthropic-version``."""
    betas: tuple[str, ...] = ()
    """More for the header ``anthropic-beta``."""
    bearer: bool = False
    """The key travels as ``Authorization: Bearer``, not as ``x-api-key``."""
    thinking: Literal["adaptive", "budget", "none"] | None = None
    budgets: dict[str, int] = {}
    """Tokens to think in, by effort, for models that are given a number."""
    display: Literal["summarized", "omitted", ""] = "summarized"
    """How thoughts are shown; empty: as the model has it."""
    max_tokens: int | None = None
    """Most tokens of an answer, where neither the client nor the model's facts say a number."""
    fast: bool | None = None
    """It has a fast mode."""
    sampling: bool | None = None
    """It takes a temperature."""
    structured: bool | None = None
    """It takes a JSON schema for its answer."""
    eager: bool | None = None
    """It takes ``eager_input_streaming``."""
    rests: bool | None = None
    """Thinking can be switched off."""
    forces: bool | None = None
    """It takes a ``tool_choice`` that forces a call."""
    thinks_when_forced: bool | None = None
    """It may think although a call is forced."""
    interleaves: bool | None = None
    """It thinks between calls if the beta header asks for it; newer ones do it by themselves."""
    tier: bool | None = None
    """It knows ``service_tier``."""
    cache: bool = True
    """Mark what is to be kept in the prompt cache."""
    cache_ttl: Literal["5m", "1h"] | None = None


def options_of(
    name: str, spec: EndpointSpec, more: Mapping[str, Any] | None = None
) -> AnthropicOptions:
    """The options of an endpoint; ``more``: those of a model. Raises Refused: one is wrong."""
    try:
        return msgspec.convert(options_over(more or {}, spec.options), AnthropicOptions)
    except msgspec.ValidationError as error:
        words = f"An option of the endpoint {name!r} is wrong: {error}."
        raise Refused(400, "invalid_option", words) from error


Thinking = Literal["adaptive", "budget", "none"]
"""The model decides how much it thinks; it is given a number of tokens; it does not think."""

LADDER = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""Efforts, weakest first."""
EFFORTS = ("low", "medium", "high", "xhigh", "max")
"""Of them, those that ``output_config`` has."""
_OTHERS_TOKENS = 16_384


class ModelTraits(Struct, frozen=True):
    """How a model wants to be asked; see `options.AnthropicOptions`."""

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


_FROM_OPTIONS = (
    "thinking", "max_tokens", "rests", "forces", "thinks_when_forced", "interleaves", "sampling",
    "structured", "eager", "fast", "tier",
)  # fmt: skip


def traits_of(model: str, facts: ModelFacts, options: AnthropicOptions) -> ModelTraits:
    """How a model wants to be asked: by what is known of its name, of it here, and the options."""
    known = _known(model.lower())
    rules = [msgspec.convert(known.options, AnthropicOptions), options]
    rules.append(msgspec.convert(facts.options, AnthropicOptions))
    given = {
        name: value
        for rule in rules
        for name in _FROM_OPTIONS
        if (value := getattr(rule, name)) is not None
    }
    told = facts.efforts if facts.efforts is not None else known.efforts
    efforts = tuple(one for one in told or () if one in EFFORTS)
    if facts.efforts is None and not efforts and options.thinking == "adaptive":
        efforts = EFFORTS
    return replace(ModelTraits(efforts=efforts), **given)


def nearest(effort: str, known: tuple[str, ...]) -> str:
    """The known effort that is next to this one, the stronger of two; empty: there is none."""
    if effort not in LADDER or not known:
        return ""
    rank = LADDER.index(effort)
    return min(known, key=lambda one: (abs(LADDER.index(one) - rank), -LADDER.index(one)))


@cache
def _rules() -> Target:
    from tui.bridge.providers.provider_files import provider

    own = provider("anthropic", None)
    return Target(own.name, own.spec({}), Address(own.url))


def _known(name: str) -> ModelFacts:
    return _rules().facts(name)
