"""Which models the bridge serves, and how fast: names, rates, what a request may set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tui.bridge.rehearsal.director import DEFAULT_MISTAKES, DEFAULT_SEED, Manner
from tui.bridge.rehearsal.player import Pace

FAST = "rehearsal-fast"
DEEP = "rehearsal-deep"
LEAST_TOKENS_S = 1.0
MOST_TOKENS_S = 20_000.0


class NoSuchModelError(Exception):
    """A request names a model or a rate that there is not; the text is for the client."""

    def __init__(self, code: str, message: str, param: str) -> None:
        super().__init__(message)
        self.code = code
        self.param = param


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """How the rehearsal models play."""

    fast_tokens_s: float = 1000.0
    deep_tokens_s: float = 65.0
    fast_ttft_s: float = 0.06
    deep_ttft_s: float = 0.5
    seed: int = DEFAULT_SEED
    mistakes: float = DEFAULT_MISTAKES
    """Share of the exercises that the fast model gets wrong at first, 0 to 1."""
    any_model: bool = False
    """Every other name is taken for the deep model: a client may choose its manners by the name."""

    def cast(self, request: Mapping[str, Any]) -> tuple[Manner, Pace]:
        """The manner and the pace that a request asks for.

        Raises:
            NoSuchModelError: no such model, or a rate that is not between 1 and 20,000.
        """
        asked = request.get("model")
        name, _, rate = (asked if isinstance(asked, str) else "").partition("@")
        if self.any_model and name and name not in (FAST, DEEP):
            name, rate = DEEP, ""
        if name not in (FAST, DEEP):
            raise NoSuchModelError(
                "model_not_found",
                f"There is no model {asked!r} here: {FAST} and {DEEP}, each also as NAME@RATE.",
                "model",
            )
        deep = name == DEEP
        tokens_s = self.deep_tokens_s if deep else self.fast_tokens_s
        if rate:
            tokens_s = rate_of(rate, "model")
        metadata = request.get("client_metadata")
        given = metadata.get("duetto_tokens_s") if isinstance(metadata, dict) else None
        if given is not None:
            tokens_s = rate_of(given, "client_metadata.duetto_tokens_s")
        reasoning = request.get("reasoning")
        effort = reasoning.get("effort") if isinstance(reasoning, dict) else None
        manner = Manner(deep, self.seed, self.mistakes, str(effort or ""))
        return manner, Pace(tokens_s, self.deep_ttft_s if deep else self.fast_ttft_s)


def rate_of(value: object, param: str) -> float:
    """A rate in tokens/s, 1 to 20,000. Raises NoSuchModelError."""
    try:
        rate = float(str(value))
    except ValueError:
        rate = 0.0
    if not LEAST_TOKENS_S <= rate <= MOST_TOKENS_S:
        raise NoSuchModelError(
            "invalid_rate", f"{value!r} is not a rate of 1 to 20000 tokens/s.", param
        )
    return rate
