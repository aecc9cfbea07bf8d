"""The list of prices that the package genai-prices keeps, and the user's own prices over it.

The package needs a tenth of a second to load and 30 MB: it is loaded when the first response of
a provider is to be priced, in a thread. Only what it says for this very provider, model and tier
is shown; nothing is guessed.
"""

from __future__ import annotations

import asyncio
import datetime
import logging
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from tui.core.price import Price, Quote, SameTiers, names_of
from tui.core.wire.events import Usage

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, PriceCalculation

_PLAIN_TIERS = frozenset({"", "auto", "default", "standard", "on_demand"})
"""Names of the tier that a list's plain price is of."""
_log = logging.getLogger(__name__)


class Prices:
    """Prices of the models of some endpoints."""

    def __init__(
        self,
        providers: Mapping[str, str],
        own: Mapping[tuple[str, str], Price] | None = None,
        same_tiers: Mapping[str, SameTiers] | None = None,
    ) -> None:
        """Of endpoints, by their names.

        Args:
            providers: the provider's name in the list.
            own: the user's prices: (endpoint, model) -> price.
            same_tiers: names of service tiers that are one there.
        """
        self._providers = dict(providers)
        self._own = dict(own or {})
        self._same_tiers = dict(same_tiers or {})

    async def quote(
        self, endpoint: str, models: Sequence[str], usage: Usage, tier: str = ""
    ) -> Quote:
        """What one response cost.

        ``models``: the names that its model goes by, the one that was served first.
        """
        provider = self._providers.get(endpoint)
        quote = Quote()
        if provider:
            for name in names_of(tier, self._same_tiers.get(endpoint, ())):
                quote = await asyncio.to_thread(_listed, provider, tuple(models), usage, name)
                if quote.usd is not None:
                    break
            quote = msgspec.structs.replace(quote, unknown=quote.usd is None)
        for model in models:
            if (price := self._own.get((endpoint, model))) is not None:
                return Quote(price.of(usage), context_window=quote.context_window)
        return quote


PricePair = tuple[float, float]
"""US dollars a million tokens of input and of output."""


async def per_million(provider: str, models: Sequence[str]) -> dict[str, PricePair | None]:
    """What the list says of models, as far as a moment reaches; None: it has no price."""
    return await asyncio.to_thread(_per_million, provider, models)


def _per_million(provider: str, models: Sequence[str]) -> dict[str, PricePair | None]:
    found: dict[str, PricePair | None] = {}
    end_s = time.monotonic() + _LOOK_S
    for model in models:
        read = _listed(provider, (model,), Usage(_SOME, 0), "").usd
        written = None if read is None else _listed(provider, (model,), Usage(0, _SOME), "").usd
        known = read is not None and written is not None
        found[model] = (_a_million(read), _a_million(written)) if known else None
        if time.monotonic() > end_s:  # a name that it does not have takes milliseconds
            break
    return found


def _a_million(usd: float | None) -> float:
    return round((usd or 0.0) * 1_000_000 / _SOME, 6)


_SOME = 1000
"""Tokens: few, since a price may be higher above a limit."""
_LOOK_S = 0.7
"""Of thousands of models the rest is looked up when they are asked for again."""


def _listed(provider: str, models: Sequence[str], usage: Usage, tier: str) -> Quote:
    """By the list. In a thread: it loads the package."""
    from genai_prices import Usage as Counted
    from genai_prices import calc_price

    counted = Counted(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cached_tokens,
        cache_write_tokens=usage.cache_write_tokens,
    )
    context = _context(tier) if tier else None
    for model in filter(None, models):
        try:
            found = calc_price(
                counted, model_ref=model, provider_id=provider, price_context=context
            )
        except LookupError:
            continue
        except (ValueError, ArithmeticError) as error:
            # counts that contradict each other, or a model that is sold by other units
            _log.info("no price of %s: %s", model, error)
            return Quote()
        return Quote(_dollars(found, tier), context_window=found.model.context_window)
    return Quote()


def _context(tier: str) -> dict[str, str]:
    """How the list names a tier: OpenAI's, and the fast mode of Anthropic."""
    return {"service_tier": tier, **({"speed": "fast"} if tier == "fast" else {})}


def _dollars(found: PriceCalculation, tier: str) -> float | None:
    """None: the list has no price of this tier, or none for the tokens at all."""
    if tier not in _PLAIN_TIERS and not _has_variant(found.model, _context(tier)):
        return None
    if found.model_price.input_mtok is None or found.model_price.output_mtok is None:
        return None
    return float(found.total_price)


def _has_variant(model: ModelInfo, context: Mapping[str, str]) -> bool:
    today = datetime.datetime.now(datetime.UTC)
    return any(
        all(context.get(key) == value for key, value in variant.when.items())
        for variant in model.price_variants or ()
        if variant.constraint is None or variant.constraint.active(today)
    )
