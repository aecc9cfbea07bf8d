"""Another model for a role while the session runs: by a name as people type it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from difflib import get_close_matches

from tui.engine.intents import ChooseModel, Role, UseModel
from tui.engine.notices import Trouble
from tui.engine.ports import ConnectedModels, ModelOffer, ModelOffers, RoleSpec
from tui.engine.services import Services
from tui.errors import DuettoError

_MOST_NAMED = 3
NO_CATALOGUE = "The models of this session are fixed."


class ModelChoice:
    """Finds what was meant, and hands it to the foreground."""

    def __init__(self, services: Services, use: Callable[[RoleSpec], None]) -> None:
        self._services = services
        self._use = use
        self._one_by_one = asyncio.Lock()

    def handle(self, intent: ChooseModel | UseModel) -> None:
        """Look it up in a task; what is wrong is told."""
        port = self._services.ports.catalogue
        if port is None:
            self._services.state.warn(NO_CATALOGUE)
            return
        catalogue = port()
        if isinstance(intent, UseModel):
            work = self._have(catalogue, intent.role, intent.endpoint, intent.model)
            self._services.supervisor.start(work, "the change of the model")
        else:
            work = self._choose(catalogue, intent.name)
            self._services.supervisor.start(work, "the change of the model")

    async def _choose(self, catalogue: ConnectedModels, name: str) -> None:
        status = self._services.state.status
        found = find_offer(name, await catalogue.offers(), status.endpoint)
        if isinstance(found, str):
            self._services.state.warn(found)
        else:
            await self._have(catalogue, status.role, found.endpoint, found.model)

    async def _have(
        self, catalogue: ConnectedModels, role: Role, endpoint: str, model: str
    ) -> None:
        try:
            async with self._one_by_one:
                spec = await catalogue.spec(role, endpoint, model)
        except DuettoError as error:
            what = f"{model} cannot be used on {endpoint}"
            self._services.state.trouble(Trouble(what, str(error), "/connect connects it"))
            return
        self._use(spec)


def find_offer(name: str, known: ModelOffers, endpoint: str) -> ModelOffer | str:
    """The model that is meant; a str says why there is none.

    A name that several endpoints have is that of ``endpoint``, who answers now.
    """
    offers = known.offers
    for same in (_is_called, _is_called_in_other_letters):
        meant = [one for one in offers if same(one, name)]
        here = [one for one in meant if one.endpoint == endpoint]
        if len(meant) == 1 or here:
            return (here or meant)[0]
        if meant:
            places = " or ".join(f"{one.endpoint}/{one.model}" for one in meant)
            return f"Several endpoints have {name}: say {places}."
    place, slash, rest = name.partition("/")
    if slash and rest and place in known.unlisted:
        return ModelOffer(place, rest)
    return _nothing(name, known)


def _nothing(name: str, known: ModelOffers) -> str:
    """That there is no such model, and what is near."""
    near = _near(name, known.offers)
    unlisted = "".join(f" {place} gave no list: {why}" for place, why in known.unlisted.items())
    if near:
        return f"No connected endpoint has {name}. Did you mean {' or '.join(near)}?{unlisted}"
    if not known.offers:
        return f"No model is connected: /connect.{unlisted}"
    return f"No connected endpoint has {name}. /model lists all, /connect adds others.{unlisted}"


def _near(name: str, offers: Sequence[ModelOffer]) -> list[str]:
    """The nearest names: those that hold what was typed first."""
    typed = name.lower()
    forms = {one.model.lower(): one.model for one in offers}
    forms |= {f"{one.endpoint}/{one.model}".lower(): one.model for one in offers}
    holding = sorted((form for form in forms if typed in form), key=len)
    close = get_close_matches(typed, forms, _MOST_NAMED, 0.5)
    return list(dict.fromkeys(forms[form] for form in (*holding, *close)))[:_MOST_NAMED]


def _is_called(offer: ModelOffer, name: str) -> bool:
    return name in (offer.model, f"{offer.endpoint}/{offer.model}")


def _is_called_in_other_letters(offer: ModelOffer, name: str) -> bool:
    return name.lower() in (offer.model.lower(), f"{offer.endpoint}/{offer.model}".lower())


def offer_words(offer: ModelOffer) -> str:
    """Window, price and speed; only what is known."""
    words = []
    if offer.context_window:
        words.append(window_words(offer.context_window))
    if offer.price is not None:
        words.append("free" if not any(offer.price) else "${:.4g} / ${:.4g}".format(*offer.price))
    if offer.tokens_s:
        words.append(f"{offer.tokens_s:,.0f} tok/s")
    if offer.ttft_s:
        words.append(f"ttft {offer.ttft_s * 1000:,.0f} ms")
    return " · ".join(words)


def window_words(tokens: int) -> str:
    """A context window as people say it."""
    if tokens >= 1_000_000:
        return f"{tokens / 1_000_000:.3g}M"
    return f"{tokens // 1024 if tokens % 1024 == 0 else round(tokens / 1000)}k"
