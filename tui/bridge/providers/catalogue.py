"""What all endpoints of the bridge serve, in one list; names that are near to a wrong one."""

from __future__ import annotations

import asyncio
import difflib
import logging
from collections.abc import Mapping
from typing import Any, Protocol

from tui.bridge.endpoints.base import Broken, Endpoint, ModelFacts, Refused, Target

LISTING_S = 5.0
"""An endpoint that has not listed its models by then is left out of the list."""
_NEAREST = 3
_PATTERN = "*?["
_log = logging.getLogger(__name__)


class Served(Protocol):
    """The endpoints of a bridge (`bridge.routes.Endpoints`)."""

    @property
    def targets(self) -> Mapping[str, Target]:
        """By name."""

    async def endpoint(self, name: str) -> Endpoint:
        """An endpoint by name. Raises Refused."""


class Catalogue:
    """The models of all endpoints. Nobody is asked before somebody wants to know."""

    def __init__(self, served: Served) -> None:
        self._served = served

    async def models(self, name: str) -> dict[str, ModelFacts]:
        """The models of one endpoint; those that are known anyhow if it does not say in time."""
        target = self._served.targets[name]
        known = {model: target.facts(model) for model in _named(target)}
        try:
            async with asyncio.timeout(LISTING_S):
                endpoint = await self._served.endpoint(name)
                return {**known, **await endpoint.models()}
        except (Refused, Broken, TimeoutError) as error:
            _log.info("no list of the models of %s: %s", name, type(error).__name__)
            return known

    async def listing(self) -> list[dict[str, Any]]:
        """All models, as ``/v1/models`` says them: ``ENDPOINT/MODEL``, and what is known."""
        names = list(self._served.targets)
        lists = await asyncio.gather(*map(self.models, names))
        return [
            listed(f"{name}/{model}", name, facts)
            for name, models in zip(names, lists, strict=True)
            for model, facts in sorted(models.items())
        ]

    def known(self) -> list[str]:
        """The models that are known without asking: ``ENDPOINT/MODEL``."""
        return [
            f"{name}/{model}"
            for name, target in self._served.targets.items()
            for model in dict.fromkeys([*_named(target), *target.discovered])
        ]

    def near(self, model: str) -> str:
        """How a sentence about a model that is not known ends, with those that are meant perhaps.

        ``; did you mean groq/openai/gpt-oss-120b?``, or nothing.
        """
        return near(model, self.known())


def listed(model: str, owner: str, facts: ModelFacts) -> dict[str, Any]:
    """One entry of ``/v1/models``; what is not known is left out."""
    entry: dict[str, Any] = {"id": model, "object": "model", "created": 0, "owned_by": owner}
    if facts.context_window is not None:
        entry["context_window"] = facts.context_window
    if facts.max_output_tokens is not None:
        entry["max_output_tokens"] = facts.max_output_tokens
    if facts.images is not None:
        entry["input_modalities"] = ["text", "image"] if facts.images else ["text"]
    if facts.efforts is not None:
        entry["efforts"] = list(facts.efforts)
    return entry


def near(model: str, known: list[str]) -> str:
    """``; did you mean A or B?`` for a name that is not among the known ones; or nothing.

    The part behind ``ENDPOINT/`` is compared, too, and so is what a short name is the middle of.
    """
    wanted = model.lower()
    spellings: dict[str, str] = {}
    for name in known:
        spellings.setdefault(name.lower(), name)
        spellings.setdefault(name.lower().partition("/")[2] or name.lower(), name)
        spellings.setdefault(name.lower().rpartition("/")[2], name)
    found = difflib.get_close_matches(wanted, spellings, 2 * _NEAREST, 0.6)
    if len(wanted) >= _NEAREST:
        found += sorted((one for one in spellings if wanted in one), key=len)
    names = list(dict.fromkeys(spellings[one] for one in found))[:_NEAREST]
    return f"; did you mean {' or '.join(names)}?" if names else ""


def _named(target: Target) -> list[str]:
    """The models that settings and the provider's file name, without patterns and what is gone."""
    names = [*target.spec.models, *target.spec.known_models]
    known = [name for name in dict.fromkeys(names) if not any(mark in name for mark in _PATTERN)]
    return [name for name in known if target.facts(name).state != "gone"]
