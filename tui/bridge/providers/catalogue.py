"""Which models an endpoint serves, and all of them in one list; names near to a wrong one."""

from __future__ import annotations

import asyncio
import difflib
import logging
import re
from typing import TYPE_CHECKING, Any

from tui.bridge.endpoints.base import Asked, Broken, ModelFacts, Refused, Target

if TYPE_CHECKING:
    from tui.bridge.endpoints.response_writer import ResponseWriter
    from tui.bridge.providers.discovery import Discovery, Fetcher
    from tui.bridge.routing import Endpoints


LISTING_S = 5.0
"""An endpoint that has not listed its models by then is left out of the list."""
_NEAREST = 3
_PATTERN = "*?["
_log = logging.getLogger(__name__)


async def models_of(served: Endpoints, name: str) -> dict[str, ModelFacts]:
    """The models of one endpoint; those that are known anyhow if it does not say in time.

    No provider is asked before a list is wanted.
    """
    target = served.targets[name]
    known = {model: target.facts(model) for model in _named(target)}
    try:
        async with asyncio.timeout(LISTING_S):
            endpoint = await served.endpoint(name)
            return {**known, **await endpoint.models()}
    except (Refused, Broken, TimeoutError) as error:
        _log.info("no list of the models of %s: %s", name, type(error).__name__)
        return known


async def listing(served: Endpoints) -> list[dict[str, Any]]:
    """All models, as ``/v1/models`` says them: ``ENDPOINT/MODEL``, and what is known."""
    names = list(served.targets)
    lists = await asyncio.gather(*(models_of(served, name) for name in names))
    return [
        listed(f"{name}/{model}", name, facts)
        for name, models in zip(names, lists, strict=True)
        for model, facts in sorted(models.items())
    ]


def known_models(served: Endpoints) -> list[str]:
    """The models that are known without asking: ``ENDPOINT/MODEL``."""
    return [
        f"{name}/{model}"
        for name, target in served.targets.items()
        for model in dict.fromkeys([*_named(target), *target.discovered])
    ]


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


WINDOW = "duetto_context_window"
"""In a response's ``metadata``: tokens, as text."""

_CODES = ("model_not_found", "unknown_model", "model_not_available")
_NO_MODEL = re.compile(
    r"\b(?:invalid|unknown|no such|not a valid) model\b"
    r"|\bmodel\b.{0,120}\b(?:not found|not exist|doesn't exist|not supported|not available)",
    re.I | re.S,
)


class EndpointModels:
    """Of one endpoint. Its server is asked when that is needed, never to warm a connection."""

    def __init__(self, target: Target, fetcher: Fetcher) -> None:
        self._target = target
        self._fetcher = fetcher
        self._made: Discovery | None = None
        self._looking: asyncio.Task[None] | None = None

    async def all(self) -> dict[str, ModelFacts]:
        """The models that it serves. Raises Refused, Broken: it gives no list."""
        return await self._discovery().models()

    async def prepared(self, asked: Asked, writer: ResponseWriter) -> Asked:
        """The request as it is sent; the model's window is told to the client.

        Raises Refused: it does not fit.
        """
        from tui.bridge.providers.context_window import prepared

        ready = await prepared(asked, self._discovery())
        if ready.facts.context_window is not None:
            writer.note(**{WINDOW: str(ready.facts.context_window)})
        elif self._target.spec.provider and (self._looking is None or self._looking.done()):
            self._looking = asyncio.create_task(self._look(asked.model, writer))
        return ready

    async def explained(self, error: Refused, model: str) -> Refused:
        """A refusal; if it is that there is no such model, with the names that are near to it."""
        words = str(error)
        if error.code not in _CODES and not (error.status < 500 and _NO_MODEL.search(words)):
            return error
        try:
            async with asyncio.timeout(LISTING_S):
                known = await self.all()
        except (Refused, Broken, TimeoutError):
            return error
        advice = "" if model in known else near(model, list(known))
        if not advice or "did you mean" in words:
            return error
        told = Refused(error.status, error.code, words.rstrip(".") + advice, param=error.param)
        told.retry_after_s = error.retry_after_s
        return told

    async def close(self) -> None:
        """Stop asking."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)

    async def _look(self, model: str, writer: ResponseWriter) -> None:
        """Of a known provider: ask, beside the answer, how large the window is."""
        try:
            await self._discovery().loaded(model)
        except (Refused, Broken):
            return
        window = self._target.facts(model).context_window
        if window is not None and not writer.done:
            writer.note(**{WINDOW: str(window)})

    def _discovery(self) -> Discovery:
        """Who asks. Raises Refused: its address is none."""
        if self._made is None:
            from tui.bridge.providers.discovery import Discovery

            self._made = Discovery(self._target, self._fetcher)
        return self._made
