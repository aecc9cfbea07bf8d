"""Prices of the models in use: the user's own, else those of the provider's price list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tui.cli.workplace import Workplace
from tui.core.price import Price, Quote
from tui.core.tiers import SameTiers
from tui.core.wire.events import Usage

if TYPE_CHECKING:
    from tui.effects.prices import Prices


class Pricing:
    """What a response cost; looked up when the first one has ended."""

    def __init__(self, workplace: Workplace) -> None:
        self._workplace = workplace
        self._prices: Prices | None = None

    async def quote(self, endpoint: str, models: Sequence[str], usage: Usage, tier: str) -> Quote:
        """See `engine.ports.Ports.quote`."""
        if self._prices is None:
            from tui.effects.prices import Prices

            lists, same_tiers = self._lists()
            self._prices = Prices(lists, self._own(), same_tiers)
        return await self._prices.quote(endpoint, models, usage, tier)

    def _lists(self) -> tuple[dict[str, str], dict[str, SameTiers]]:
        """Endpoint -> its provider's name in the price list, where there is one; names of tiers."""
        from tui.bridge.providers import facts

        models = self._workplace.models
        specs = {name: one.spec for name, one in models.endpoints.items()} | models.fallbacks
        known = facts.readable(self._workplace.paths.providers_dir)
        lists: dict[str, str] = {}
        same_tiers: dict[str, SameTiers] = {}
        for name, spec in specs.items():
            # not by the provider's name alone: its table may lead to another server
            provider = facts.of_url(known, spec.url)
            if provider is not None and provider.prices:
                lists[name] = provider.prices
                same_tiers[name] = provider.same_tiers
        return lists, same_tiers

    def _own(self) -> dict[tuple[str, str], Price]:
        """The prices of ``[models.X] price``."""
        settings, roles = self._workplace.settings.models, self._workplace.models.roles
        own: dict[tuple[str, str], Price] = {}
        for role, model in (("fast", settings.fast), ("deep", settings.deep)):
            spec = roles.get("fast" if role == "fast" else "deep")
            if model is None or model.price is None or spec is None or spec.model != model.name:
                continue
            said = model.price
            own[spec.endpoint, spec.model] = Price(said.input, said.output, said.cached_input)
        return own
