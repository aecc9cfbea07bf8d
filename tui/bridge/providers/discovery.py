"""What an endpoint's server says of its models: asked when it is first needed, then remembered."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import time
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

from tui.bridge.endpoints.base import Broken, ModelFacts, Refused, Target
from tui.bridge.providers import ollama
from tui.bridge.providers.asking import Fetcher, Questions
from tui.bridge.providers.listing import (
    MOST_MODELS,
    clue_in,
    entries,
    facts_of,
    models_in,
    name_of,
    tokens,
)
from tui.core.wire.address import is_loopback

LISTED_S = 300.0
"""A list is believed for so long."""
REFUSED_S = 15.0
"""So long a server that gave no list is not asked again."""
LOADED_S = 60.0
"""The window of a model that is in a local server's memory; models are unloaded and loaded anew."""
_UNKNOWN_S = 5.0
"""A server that did not say a model's window may know it soon, when it has loaded the model."""
_MOST_LOADED = 256
_RECOGNISED_S = 3.0
_MOST_PAGES = 5
LOCAL_FORMS = ("ollama", "lmstudio", "llamacpp")
"""Servers whose windows are chosen when a model is loaded."""


class Discovery:
    """One endpoint's models; what is found is put into `Target.discovered`, too."""

    def __init__(
        self, target: Target, fetcher: Fetcher, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.target = target
        self.questions = Questions(target, fetcher)
        self._clock = clock
        self._form = str(target.spec.options.get("discovery") or "auto")
        self._asking = asyncio.Lock()
        self._listed_s: float | None = None
        self._refused: tuple[float, Refused | Broken] | None = None
        self._recognised = bool(target.spec.provider)
        self._loaded: dict[str, tuple[float, ModelFacts]] = {}

    @property
    def form(self) -> str:
        """Which server it is, as far as that is known; see `facts.Discovery`."""
        return self._form

    async def models(self, *, anew: bool = False) -> dict[str, ModelFacts]:
        """All models. Raises Refused, Broken: there is no list.

        ``anew``: not from memory.
        """
        if self._form == "none":
            return dict(self.target.spec.models)
        async with self._asking:
            now = self._clock()
            if not anew and self._refused and now - self._refused[0] < REFUSED_S:
                raise self._refused[1]
            if anew or self._listed_s is None or now - self._listed_s > LISTED_S:
                try:
                    found = await self._ask()
                except (Refused, Broken) as error:
                    self._refused = (now, error)
                    raise
                self._listed_s, self._refused = now, None
                self.target.discovered.clear()
                self.target.discovered.update(found)
        return {name: self.target.facts(name) for name in self.target.discovered}

    async def recognise(self) -> None:
        """Find out, once, whether a server nearby of which nobody said anything is a local one.

        By its list; Ollama also by what it says is loaded.
        """
        if self._form != "auto" or self._recognised or not nearby(self.questions.host):
            return
        self._recognised = True
        try:
            async with asyncio.timeout(_RECOGNISED_S):
                with contextlib.suppress(Refused, Broken):
                    await self.models()
                if self._form == "auto" and await self._has_ollamas_list():
                    self._form = "ollama"
        except TimeoutError:
            return

    async def _has_ollamas_list(self) -> bool:
        try:
            body = await self.questions.get_beside("/api/ps")
        except (Refused, Broken):
            return False
        return isinstance(body, dict) and isinstance(body.get("models"), list)

    async def loaded(self, model: str, *, load: bool = False, anew: bool = False) -> ModelFacts:
        """What a local server gives a model now; ``load``: let it load the model to say so.

        Empty where it does not say, or cannot be asked.
        """
        known = self._loaded.get(model)
        now = self._clock()
        if known is not None and not anew:
            told = known[1].context_window is not None
            if now - known[0] < LOADED_S if told else (not load and now - known[0] < _UNKNOWN_S):
                return known[1]
        try:
            if self._form == "ollama":
                found = await ollama.facts(self.questions, model, load=load)
            else:
                await self.models(anew=self._form in LOCAL_FORMS)
                found = self.target.discovered.get(model, ModelFacts())
        except (Refused, Broken):
            return ModelFacts()
        self._remember(model, now, found)
        return found

    def _remember(self, model: str, now: float, found: ModelFacts) -> None:
        while len(self._loaded) >= _MOST_LOADED:  # names are the clients'
            del self._loaded[next(iter(self._loaded))]
        self._loaded[model] = (now, found)
        discovered = self.target.discovered
        if model in discovered or (found != ModelFacts() and len(discovered) < MOST_MODELS):
            discovered[model] = found.over(discovered.get(model, ModelFacts()))

    async def _ask(self) -> dict[str, ModelFacts]:
        body = await self._list()
        if self._form == "auto":
            self._form = clue_in(body) or "auto"
        found = models_in(body)
        more = _MORE.get(self._form)
        if more is None:
            return found
        try:
            told = await more(self.questions)
        except (Refused, Broken):
            return found  # the list itself is something
        if not found:
            return told
        everywhere = told.pop("*", ModelFacts())
        return {
            name: told.get(name, ModelFacts()).over(everywhere).over(one)
            for name, one in found.items()
        }

    async def _list(self) -> Any:
        """The list; where a server gives it by pages (Anthropic), all of them."""
        paged = self.target.spec.kind == "anthropic"
        body = await self.questions.get("/models", "limit=1000" if paged else "")
        whole, page = list(entries(body)), body
        for _ in range(_MOST_PAGES):
            last = page.get("last_id") if isinstance(page, dict) else None
            if not paged or not page.get("has_more") or not isinstance(last, str):
                break
            page = await self.questions.get("/models", f"limit=1000&after_id={quote(last)}")
            whole += entries(page)
        return {"data": whole} if paged else body


def nearby(host: str) -> bool:
    """This machine, or one of the same network, as models of one's own are served."""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return is_loopback(host) or "." not in host or host.endswith(".local")


async def _lmstudio(questions: Questions) -> dict[str, ModelFacts]:
    """LM Studio's own list says what is loaded, with which window (0.4: v1, before: v0)."""
    try:
        body = await questions.get_beside("/api/v1/models")
    except Refused:
        body = await questions.get_beside("/api/v0/models")
    return models_in(body)


async def _llamacpp(questions: Questions) -> dict[str, ModelFacts]:
    """llama.cpp's ``/props``: the window of a slot, which is what one request gets."""
    body = await questions.get_beside("/props")
    if not isinstance(body, dict):
        return {}
    settings, seen = body.get("default_generation_settings"), body.get("modalities")
    window = tokens(settings.get("n_ctx")) if isinstance(settings, dict) else None
    vision = seen.get("vision") if isinstance(seen, dict) else None
    images = vision if isinstance(vision, bool) else None
    return {"*": ModelFacts(context_window=window, images=images)}


async def _litellm(questions: Questions) -> dict[str, ModelFacts]:
    """LiteLLM says what it knows of its models' windows beside the list."""
    found: dict[str, ModelFacts] = {}
    for entry in entries(await questions.get_beside("/model/info")):
        found[str(entry.get("model_name"))] = facts_of(entry)
    return found


async def _gemini(questions: Questions) -> dict[str, ModelFacts]:
    """Gemini's own list has the limits; its OpenAI surface has the names only."""
    key = questions.target.address.headers.get("Authorization", "").removeprefix("Bearer ")
    headers = {"x-goog-api-key": key} if key else {}
    body = await questions.get_beside("/models", "pageSize=1000", headers)
    return models_in(body)


async def _ollama(questions: Questions) -> dict[str, ModelFacts]:
    """The windows of the models that are loaded; those of others are known when they are."""
    body = await questions.get_beside("/api/ps")
    found: dict[str, ModelFacts] = {}
    for entry in entries(body):
        found[name_of(entry)] = ModelFacts(context_window=tokens(entry.get("context_length")))
    return found


_MORE: dict[str, Callable[[Questions], Awaitable[dict[str, ModelFacts]]]] = {
    "lmstudio": _lmstudio,
    "llamacpp": _llamacpp,
    "litellm": _litellm,
    "gemini": _gemini,
    "ollama": _ollama,
}
