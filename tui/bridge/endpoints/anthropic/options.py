"""What a provider's file, or the user, may say of an endpoint (see `docs/providers.md`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from tui.bridge.endpoints.base import EndpointSpec, Refused, options_over

VERSION = "2023-06-01"
"""The API's version that every server of it knows; the next one, 2026-10-21, only takes away:
temperatures, and citations and documents where we write none."""


class Options(msgspec.Struct, frozen=True):
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


def options_of(name: str, spec: EndpointSpec, more: Mapping[str, Any] | None = None) -> Options:
    """The options of an endpoint; ``more``: those of a model. Raises Refused: one is wrong."""
    try:
        return msgspec.convert(options_over(more or {}, spec.options), Options)
    except msgspec.ValidationError as error:
        words = f"An option of the endpoint {name!r} is wrong: {error}."
        raise Refused(400, "invalid_option", words) from error
