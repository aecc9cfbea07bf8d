"""Which endpoint answers a request, as which model, and who answers in its place."""

from __future__ import annotations

import asyncio
import importlib
import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct, field

from tui.bridge.endpoints.base import Asked, Refused, Target
from tui.bridge.endpoints.kinds import ModelEndpoint
from tui.core.wire.address import secrets_in
from tui.core.wire.masking import Mask

if TYPE_CHECKING:
    from tui.bridge.upstream.client import Upstream


LEAST_TOKENS_S, MOST_TOKENS_S = 1.0, 20_000.0
MOST_FALLBACKS = 8
_RATED = re.compile(r"(.+)@(\d{1,5}(?:\.\d{1,3})?)")
"""A model's name with a rate; ``@20240620`` behind a name is a date and belongs to it."""
_OWN = "rehearsal-"


class Candidate(Struct, frozen=True):
    """One who may answer a request, and how he is asked."""

    endpoint: ModelEndpoint
    asked: Asked
    mask: Mask = field(default_factory=Mask)
    """Knows the secrets that no word about it may repeat."""
    name: str = ""
    """The endpoint's; empty: the bridge itself answers."""
    tokens_s: float = math.inf
    """How fast the answer may come."""
    refusal: Refused | None = None
    """Why this one cannot even be asked."""


class _Wanted(NamedTuple):
    """Who is to answer, as whom, and how fast."""

    endpoint: str
    model: str
    tokens_s: float


Route = Callable[[Mapping[str, Any], Sequence[dict[str, Any]]], Awaitable[Sequence[Candidate]]]
"""Where the requests of one path go: who may answer one with these items, the first choice first;
never empty. Raises Refused: no endpoint may answer it."""


class Endpoints:
    """The endpoints that the bridge was told of; each is made when it is first asked."""

    def __init__(self) -> None:
        self.targets: dict[str, Target] = {}
        self._made: dict[str, tuple[Target, ModelEndpoint]] = {}
        self._replaced: list[ModelEndpoint] = []
        """Perhaps something still runs there."""
        self._upstream: Upstream | None = None

    async def endpoint(self, name: str) -> ModelEndpoint:
        """An endpoint by name. Raises Refused: there is none, or its kind is not known."""
        if self._upstream is None:
            # The HTTP client takes a tenth of a second to load: the rehearsal needs none. First
            # of all, for others may ask meanwhile: each name has one endpoint, whoever comes.
            await asyncio.to_thread(importlib.import_module, "tui.bridge.upstream.client")
        target = self.targets.get(name)
        if target is None:
            raise Refused(404, "unknown_endpoint", f"There is no endpoint {name!r} here.")
        known = self._made.get(name)
        if known is not None and known[0] == target:
            self.targets[name] = known[0]  # which knows what its server has said
            return known[1]
        from tui.bridge.endpoints.kinds import make
        from tui.bridge.upstream.client import Upstream

        self._upstream = self._upstream or Upstream()
        made = make(target, self._upstream)
        if known is not None:
            self._replaced.append(known[1])
        self._made[name] = (target, made)
        return made

    async def candidates(
        self, name: str, request: Mapping[str, Any], items: Sequence[dict[str, Any]]
    ) -> list[Candidate]:
        """An endpoint, then those that its model falls back on. Raises Refused.

        The request's ``model`` is the name within the endpoint, perhaps with a rate behind it.
        """
        target = self.targets.get(name)
        if target is None:
            raise Refused(404, "unknown_endpoint", f"There is no endpoint {name!r} here.")
        model, tokens_s = rated(request, target)
        first = await self._candidate(_Wanted(name, model, tokens_s), request, items)
        if first.refusal is not None:
            raise first.refusal
        candidates, asked = [first], {(name, first.asked.model)}
        for fallback in first.asked.facts.fallbacks[:MOST_FALLBACKS]:
            where, _, other = fallback.partition("/")
            if where in self.targets and other:
                candidate = await self._candidate(_Wanted(where, other, tokens_s), request, items)
                if (where, candidate.asked.model) not in asked:  # nobody is asked twice
                    candidates.append(candidate)
                asked.add((where, candidate.asked.model))
            else:
                candidates.append(_unknown_fallback(fallback, first))
        return candidates

    async def _candidate(
        self, wanted: _Wanted, request: Mapping[str, Any], items: Sequence[dict[str, Any]]
    ) -> Candidate:
        name, model, tokens_s = wanted
        target = self.targets[name]
        asked = Asked(target.route(model), request, items, target.facts(model))
        if request.get("model") != asked.model and asked.model:
            asked = Asked(asked.model, {**request, "model": asked.model}, items, asked.facts)
        mask = Mask(secrets_in(target.address))
        try:
            endpoint = await self.endpoint(name)
        except Refused as error:
            return Candidate(_Unavailable(error), asked, mask, name, tokens_s, error)
        return Candidate(endpoint, asked, mask, name, tokens_s)

    async def close(self) -> None:
        """End all connections."""
        for endpoint in [*self._replaced, *(endpoint for _, endpoint in self._made.values())]:
            await endpoint.close()
        if self._upstream is not None:
            await self._upstream.close()


class SharedRoute:
    """The route of all: a model is ``ENDPOINT/MODEL``, a name that one endpoint knows, or ours."""

    def __init__(self, endpoints: Endpoints, own: Route) -> None:
        """``own`` answers what begins with ``rehearsal-``, and everything if nobody else can."""
        self._endpoints = endpoints
        self._own = own

    async def candidates(
        self, request: Mapping[str, Any], items: Sequence[dict[str, Any]]
    ) -> Sequence[Candidate]:
        """See `Route`."""
        given = request.get("model")
        model = given if isinstance(given, str) else ""
        targets = self._endpoints.targets
        if not targets or (model.startswith(_OWN) and not self._knowing(model)):
            return await self._own(request, items)
        name, inner = model.partition("/")[::2]
        if name not in targets or not inner or self._is_whole(model, name, inner):
            name, inner = await self._place(model), model
        return await self._endpoints.candidates(name, {**request, "model": inner}, items)

    async def _place(self, model: str) -> str:
        """The endpoint that a bare name means. Raises Refused: none, or several."""
        from tui.bridge.providers.catalogue import known_models, models_of, near

        if not model:
            raise Refused(400, "invalid_request", "The request names no model.", param="model")
        targets = self._endpoints.targets
        knowing = self._knowing(model)
        if not knowing and len(targets) == 1:
            return next(iter(targets))
        if not knowing:
            lists = await asyncio.gather(*(models_of(self._endpoints, name) for name in targets))
            bare = _bare(model)
            knowing = [
                name
                for name, models in zip(list(targets), lists, strict=False)
                if not {model, bare}.isdisjoint(models)
            ]
        if len(knowing) == 1:
            return knowing[0]
        if knowing:
            names = " or ".join(f"{name}/{model}" for name in knowing)
            words = f"Several endpoints have a model {model!r}: say {names}."
            raise Refused(400, "model_ambiguous", words, param="model")
        meant = near(_bare(model), known_models(self._endpoints)) or "."
        words = f"There is no model {model!r} here{meant}"
        raise Refused(400, "model_not_found", words, param="model")

    def _is_whole(self, model: str, name: str, inner: str) -> bool:
        """Whether somebody declared a model whose own name begins with an endpoint's.

        ``inner`` is what it would be called there: if that endpoint knows it, it is meant.
        """
        whole, there = {model, _bare(model)}, self._endpoints.targets[name]
        if not {inner, _bare(inner)}.isdisjoint([*there.spec.models, *there.discovered]):
            return False
        targets = self._endpoints.targets.values()
        return any(not whole.isdisjoint(target.spec.models) for target in targets)

    def _knowing(self, model: str) -> list[str]:
        """The endpoints of which it is known that they have a model; the user's word first."""
        names = {model, _bare(model)}
        targets = self._endpoints.targets.items()
        declared = [name for name, target in targets if not names.isdisjoint(target.spec.models)]
        known = [
            name
            for name, target in targets
            if not names.isdisjoint([*target.spec.known_models, *target.discovered])
        ]
        return declared or known


class _Unavailable:
    """An endpoint that cannot be asked."""

    def __init__(self, refusal: Refused) -> None:
        self._refusal = refusal

    async def answer(self, asked: Asked, writer: object) -> None:
        """See `ModelEndpoint`."""
        raise self._refusal

    async def warm(self) -> None:
        """See `ModelEndpoint`."""

    async def models(self) -> dict[str, Any]:
        """See `ModelEndpoint`."""
        raise self._refusal

    async def close(self) -> None:
        """See `ModelEndpoint`."""


def rated(request: Mapping[str, Any], target: Target) -> tuple[str, float]:
    """The model that a request names, and the tokens a second that it wants.

    Raises Refused: a rate that is none.
    """
    given = request.get("model")
    model, tokens_s = given if isinstance(given, str) else "", math.inf
    told = _RATED.fullmatch(model)
    known = model in target.spec.models or model in target.discovered
    if told and not known and LEAST_TOKENS_S <= float(told[2]) <= MOST_TOKENS_S:
        model, tokens_s = told[1], float(told[2])
    metadata = request.get("client_metadata")
    wanted = metadata.get("duetto_tokens_s") if isinstance(metadata, dict) else None
    if wanted is not None:
        tokens_s = rate_of(wanted, "client_metadata.duetto_tokens_s")
    return model, tokens_s


def rate_of(value: object, param: str) -> float:
    """A rate in tokens/s, 1 to 20,000. Raises Refused."""
    try:
        rate = float(str(value))
    except ValueError:
        rate = 0.0
    if not LEAST_TOKENS_S <= rate <= MOST_TOKENS_S:
        words = f"{str(value)[:40]!r} is not a rate of 1 to 20000 tokens/s."
        raise Refused(400, "invalid_rate", words, param=param)
    return rate


def _bare(model: str) -> str:
    """A name without the rate behind it."""
    told = _RATED.fullmatch(model)
    return told[1] if told else model


def _unknown_fallback(fallback: str, first: Candidate) -> Candidate:
    words = f"The fallback {fallback!r} is of no endpoint: ENDPOINT/MODEL is expected."
    refusal = Refused(404, "unknown_endpoint", words)
    return Candidate(_Unavailable(refusal), first.asked, Mask(), fallback, first.tokens_s, refusal)
