"""What can answer: the models of all endpoints that are connected, and who could be.

What a provider has is asked when the user wants to choose, with the key that belongs to it. A model
that is tried says what it can do, and how fast one short answer of it is.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import re
import socket
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from tui.cli.endpoints import Sources, declared, fallback_endpoints, names
from tui.cli.models import ResolvedModels, SessionSetup, flagged_endpoint, resolve
from tui.cli.options import ROLES, settings_for
from tui.core.conversation import user_item
from tui.core.meter import CHARS_PER_TOKEN
from tui.core.wire.address import shown
from tui.core.wire.endpoint_facts import REHEARSAL
from tui.core.wire.events import (
    Completed,
    Delta,
    ErrorEvent,
    Event,
    Failed,
    Incomplete,
    ItemAdded,
    ReasoningDelta,
    SteerNews,
    SummaryDelta,
    Usage,
    usage_of,
)
from tui.effects.system import MonotonicClock
from tui.engine.connecting import FoundHere, Measured, ModelSource
from tui.engine.intents import Role
from tui.engine.ports import ModelOffer, ModelOffers, RoleSpec, Wire, WireState
from tui.errors import DuettoError, EndpointError
from tui.settings import ModelSettings, ModelsSettings, Paths, Settings

if TYPE_CHECKING:
    from tui.bridge.endpoints.base import EndpointSpec, ModelFacts
    from tui.bridge.providers.provider_files import ProviderFacts
    from tui.effects.known_models import LearntWindows, MeasuredSpeeds


log = logging.getLogger("tui.cli")
ASK_S = 10.0
"""A provider that was chosen and has not named its models by then is not waited for."""
SEES_S = 3.0
"""One that may say whether its model takes images is waited for no longer: it can be tried."""
NO_MODEL = "It has no model that could answer."
_OTHERS = re.compile(
    r"embed|whisper|\btts\b|-tts|dall-e|moderation|transcri|rerank|image|realtime|audio|sora|guard"
)
_SIZE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)b(?![a-z])")


class ModelList(NamedTuple):
    """What somebody said of its models."""

    facts: Mapping[str, ModelFacts]
    wrong: str = ""
    """Why there is no list, and what to do; empty if there is one."""
    key_refused: bool = False
    gives_none: bool = False
    """It answers, and has no list: the name is typed."""


async def listed(name: str, spec: EndpointSpec, key: str, patience_s: float = ASK_S) -> ModelList:
    """Ask an endpoint for its models; what goes wrong is said in words."""
    await asyncio.to_thread(_import_upstream)
    from tui.bridge.endpoints.base import Broken, Refused
    from tui.bridge.providers.discovery import Discovery
    from tui.bridge.targets import target
    from tui.bridge.upstream.client import Upstream

    upstream = Upstream()
    try:
        discovery = Discovery(target(name, spec, key), upstream)
        async with asyncio.timeout(patience_s):
            models = await discovery.models()
    except TimeoutError:
        return ModelList({}, f"No answer within {patience_s:.0f} s.")
    except Refused as error:
        refused = error.code == "invalid_api_key"
        # a key may be made for answers only
        none_given = error.status in (404, 405, 501) or error.code == "http_403"
        return ModelList({}, str(error), refused, gives_none=none_given)
    except (EndpointError, Broken) as error:
        return ModelList({}, str(error))
    finally:
        with contextlib.suppress(OSError):
            await upstream.close()
    chat = _that_chat(models)
    none_told = discovery.form == "none" and not chat
    return ModelList(
        {one: models[one] for one in chat}, "" if chat else NO_MODEL, gives_none=none_told
    )


def _that_chat(names: Iterable[str]) -> list[str]:
    """Without those whose names say that they do something else, unless nothing is left then."""
    found = sorted(names, key=_by_size)
    return [name for name in found if not _OTHERS.search(name.lower())] or found


def _by_size(model: str) -> tuple[float, str]:
    """Smaller models first, where the name says how large they are; then by name."""
    sizes = [float(size) for size in _SIZE.findall(model.lower())]
    return (max(sizes) if sizes else 0.0, model.lower())


def _import_upstream() -> None:
    """In a thread: it takes a while, and the screen is to go on."""
    for module in ("tui.bridge.providers.discovery", "tui.bridge.upstream.client"):
        import_module(module)


BELIEVED_S = 300.0
"""A list is asked for anew after so long."""
Adopt = Callable[[SessionSetup, Collection[str]], None]
"""Have a session use the endpoints of a setup; those named are dialled anew in any case."""


class Catalogue:
    """See `engine.ports.ConnectedModels`."""

    def __init__(self, setup: SessionSetup, adopt: Adopt) -> None:
        self._setup = setup
        self._adopt = adopt
        self._lists: dict[str, tuple[float, ModelList]] = {}
        self._prices: dict[tuple[str, str], tuple[float, float] | None] = {}
        self._renewed: set[str] = set()

    async def offers(self) -> ModelOffers:
        """See `engine.ports.ConnectedModels`."""
        try:
            settings = settings_for(self._setup.flags, self._setup.paths)
        except DuettoError:
            settings = self._setup.settings
        sources = self._sources(settings)
        specs = await asyncio.to_thread(self._connected, settings, sources)
        answers = await asyncio.gather(*(self._list(*one) for one in specs.items()))
        found = dict(zip(specs, answers, strict=True))
        speeds = await asyncio.to_thread(self._speeds.all)
        await self._price(specs, found)
        offers = [
            self._offer(name, specs[name], model, facts, speeds)
            for name, one in found.items()
            for model, facts in self._with_named(settings, name, one).items()
        ]
        rehearsal = [ModelOffer(REHEARSAL, f"rehearsal-{role}") for role in ROLES]
        unlisted = {name: one.wrong for name, one in found.items() if one.wrong}
        return ModelOffers((*offers, *rehearsal), unlisted)

    async def spec(self, role: Role, endpoint: str, model: str) -> RoleSpec:
        """See `engine.ports.ConnectedModels`."""
        resolved = await asyncio.to_thread(self._resolved, role, endpoint, model)
        self._setup = replace(self._setup, models=_merged(self._setup.models, resolved))
        renewed, self._renewed = self._renewed, set()
        self._adopt(self._setup, renewed)
        return resolved.roles[role]

    def renew(self, endpoint: str) -> None:
        """It has another key: it is asked for its list and dialled anew."""
        self._renewed.add(endpoint)
        self._lists.pop(endpoint, None)

    def measured(self, endpoint: str, model: str, tokens_s: float, ttft_s: float) -> None:
        """See `engine.ports.ConnectedModels`."""
        place = self._place(endpoint)
        asyncio.get_running_loop().run_in_executor(
            None, self._speeds.keep, place, model, tokens_s, ttft_s
        )

    async def sees(self, endpoint: str, model: str) -> bool | None:
        """See `engine.ports.ConnectedModels`; a server that takes long is not waited for."""
        known = self._setup.models.endpoints.get(endpoint)
        if known is None:
            return None
        try:
            async with asyncio.timeout(SEES_S):
                facts = (await self._list(endpoint, known.spec)).facts.get(model)
        except (TimeoutError, DuettoError):
            return None
        return None if facts is None else facts.images

    async def learnt_window(self, endpoint: str, model: str) -> int | None:
        """See `engine.ports.ConnectedModels`."""
        return await asyncio.to_thread(self._windows.known, self._place(endpoint), model)

    def learn_window(self, endpoint: str, model: str, tokens: int) -> None:
        """See `engine.ports.ConnectedModels`."""
        place = self._place(endpoint)
        asyncio.get_running_loop().run_in_executor(None, self._windows.keep, place, model, tokens)

    @functools.cached_property
    def _windows(self) -> LearntWindows:
        from tui.effects.known_models import LearntWindows

        return LearntWindows(self._setup.paths.state_dir)

    @functools.cached_property
    def _speeds(self) -> MeasuredSpeeds:
        from tui.effects.known_models import MeasuredSpeeds

        return MeasuredSpeeds(self._setup.paths.state_dir)

    def _place(self, endpoint: str, spec: EndpointSpec | None = None) -> str:
        """Where an endpoint is: speeds are measured there, whatever it is called."""
        known = self._setup.models.endpoints.get(endpoint)
        if known is not None:
            return shown(known.spec.url)
        return endpoint if spec is None else shown(spec.url)

    def _sources(self, settings: Settings) -> Sources:
        setup = self._setup
        return Sources(
            settings,
            setup.keys,
            setup.paths.providers_dir,
            flagged=flagged_endpoint(setup.settings, setup.flags),
            state_dir=setup.paths.state_dir,
        )

    def _connected(self, settings: Settings, sources: Sources) -> dict[str, EndpointSpec]:
        """Endpoint -> how it is asked; those that cannot be are left out."""
        roles = [one for one in (settings.models.fast, settings.models.deep) if one]
        wanted = [*self._setup.models.endpoints, *(one.endpoint for one in roles)]
        wanted += [place for one in roles for place in fallback_endpoints(one)]
        wanted += [*settings.endpoints, *names(self._setup.paths.state_dir)]
        specs: dict[str, EndpointSpec] = {}
        for name in dict.fromkeys(wanted):
            if name and name != REHEARSAL:
                try:
                    specs[name] = declared(name, sources).spec
                except DuettoError:
                    continue
        return specs

    async def _list(self, name: str, spec: EndpointSpec) -> ModelList:
        since, known = self._lists.get(name, (0.0, None))
        if known is not None and time.monotonic() - since < BELIEVED_S:
            return known
        from tui.bridge.targets import key_of

        key = await asyncio.to_thread(key_of, name, spec, self._setup.keys)
        found = await listed(name, spec, key)
        if not found.wrong:
            self._lists[name] = (time.monotonic(), found)
        return found

    def _with_named(
        self, settings: Settings, name: str, one: ModelList
    ) -> Mapping[str, ModelFacts | None]:
        """The list, and the models that settings and flags name there."""
        found: dict[str, ModelFacts | None] = dict(one.facts)
        for role in (settings.models.fast, settings.models.deep):
            if role is not None and role.endpoint == name:
                found.setdefault(role.name, None)
        for spec in self._setup.models.roles.values():
            if spec.endpoint == name:
                found.setdefault(spec.model, None)
        return found

    async def _price(
        self, specs: Mapping[str, EndpointSpec], found: Mapping[str, ModelList]
    ) -> None:
        """Look up the prices that are not known yet."""
        from tui.bridge.providers import provider_files
        from tui.effects.prices import per_million

        providers = await asyncio.to_thread(
            provider_files.readable, self._setup.paths.providers_dir
        )
        for name, spec in specs.items():
            at = provider_files.of_url(providers, spec.url)
            fresh = [one for one in found[name].facts if (name, one) not in self._prices]
            if at is not None and at.prices and fresh:
                told = await per_million(at.prices, fresh)
                self._prices |= {(name, model): price for model, price in told.items()}

    def _offer(
        self,
        name: str,
        spec: EndpointSpec,
        model: str,
        facts: ModelFacts | None,
        speeds: Mapping[str, tuple[float, float, int]],
    ) -> ModelOffer:
        speed = speeds.get(f"{self._place(name, spec)} {model}")
        window = None if facts is None else facts.context_window
        rate, wait = (None, None) if speed is None else (speed[0], speed[1])
        return ModelOffer(name, model, window, self._prices.get((name, model)), rate, wait)

    def _resolved(self, role: Role, endpoint: str, model: str) -> ResolvedModels:
        """How a model is asked, by the settings as they are now. Raises DuettoError."""
        setup = self._setup
        settings = settings_for(setup.flags, setup.paths)
        own = settings.models.fast if role == "fast" else settings.models.deep
        lone = next(iter(settings.endpoints)) if len(settings.endpoints) == 1 else ""
        chosen = ModelSettings(name=model, endpoint=endpoint, effort=own.effort if own else None)
        if own is not None and (own.name, own.endpoint or lone) == (model, endpoint):
            chosen = msgspec.structs.replace(own, endpoint=endpoint)
        models = ModelsSettings(**{role: chosen})
        known = endpoint in setup.models.endpoints
        flags = replace(
            setup.flags, fast=None, deep=None, key_env=setup.flags.key_env if known else None
        )
        settings = msgspec.structs.replace(settings, models=models)
        return resolve(settings, flags, setup.keys, setup.paths)


def _merged(old: ResolvedModels, new: ResolvedModels) -> ResolvedModels:
    """Both; of what both have the new one, with what the old one knows of other models."""
    endpoints = dict(old.endpoints)
    for name, one in new.endpoints.items():
        before = old.endpoints.get(name)
        if before is not None:
            spec = msgspec.structs.replace(
                one.spec, models={**before.spec.models, **one.spec.models}
            )
            one = replace(one, spec=spec)
        endpoints[name] = one
    return replace(
        new,
        roles={**old.roles, **new.roles},
        endpoints=endpoints,
        rehearsal=old.rehearsal or new.rehearsal,
        fallbacks={**old.fallbacks, **new.fallbacks},
    )


KNOCK_S = 0.5
"""A port of this machine that has not taken a connection by then has no server behind it."""
LIST_S = 2.0
"""A server on this machine that has not named its models by then is not waited for."""
SERVERS = ("ollama", "lmstudio", "llamacpp", "vllm")
"""Those that are named, too, if they are not there."""
Tell = Callable[[FoundHere], None]


async def look_for_sources(
    paths: Paths, environment: Mapping[str, str], tell: Tell
) -> tuple[ModelSource, ...]:
    """Who could answer, and what each of them needs; servers of this machine come first.

    Never raises.
    """
    known = await asyncio.to_thread(_providers, paths)
    local = {name: one for name, one in known.items() if one.local}
    for name in SERVERS:
        if name in local:
            tell(FoundHere(local[name].title, "looking…", "looking"))
    distant = _distant(known, paths, environment, tell)
    asked = (
        _server(name, one, environment, tell) for name, one in sorted(local.items(), key=_order)
    )
    found = [one for one in await all_of(asked) if isinstance(one, ModelSource)]
    sources = [*(one for one in found if one.ready), *distant]
    sources += [one for one in found if not one.ready]
    return (*(one for one in sources if one.ready), *(one for one in sources if not one.ready))


async def all_of(work: Iterable[Awaitable[object]]) -> list[object]:
    """All of it, at the same time."""
    # not an except: what a stranger's server can break is not known beforehand
    found = await asyncio.gather(*work, return_exceptions=True)
    for one in found:
        if isinstance(one, BaseException):
            log.warning("looking around: %s", type(one).__name__)
    return list(found)


def _providers(paths: Paths) -> Mapping[str, ProviderFacts]:
    from tui.bridge.providers import provider_files

    return provider_files.readable(paths.providers_dir)


def _order(entry: tuple[str, object]) -> tuple[int, str]:
    """The well-known servers first, in the order in which they are named."""
    name = entry[0]
    return (SERVERS.index(name) if name in SERVERS else len(SERVERS), name)


def _distant(
    known: Mapping[str, ProviderFacts],
    paths: Paths,
    environment: Mapping[str, str],
    tell: Tell,
) -> list[ModelSource]:
    """The providers: those whose keys are here, by the variables' and the notes' names, first."""
    stored = names(paths.state_dir)
    sources: list[ModelSource] = []
    for name, one in known.items():
        if one.local or one.kind == "rehearsal":
            continue
        variable = one.variable(environment)
        is_set = bool(variable and environment.get(variable, "").strip())
        has = f"{variable} is set" if is_set else "its key is in the keyring"
        here = is_set or name in stored
        try:
            host = urlsplit(one.address(environment)).hostname
        except (EndpointError, ValueError) as error:
            if here:
                tell(FoundHere(one.title, f"{has}. {error}", "odd"))
            words = f"{has}; needs an address" if here else "needs an address and a key"
            sources.append(
                ModelSource(
                    name, one.title, words, needs_key=not here, needs_address=True, ready=False
                )
            )
            continue
        if here:
            tell(FoundHere(one.title, has, "found"))
            whence = f"with {variable}" if is_set else "with the key from the keyring"
            asks = f"asks {host} for its models, {whence}"
            sources.append(ModelSource(name, one.title, has, asks=asks))
        else:
            needs = bool(variable) and not one.key_optional
            words = "needs a key" if needs else ""
            sources.append(ModelSource(name, one.title, words, needs_key=needs, ready=False))
    return sources


async def _server(
    name: str, one: ProviderFacts, environment: Mapping[str, str], tell: Tell
) -> ModelSource | None:
    """A server at the port that it chooses by itself; None where no such server could answer."""
    where = f"127.0.0.1:{one.port}"
    if not await asyncio.to_thread(_listens, one.port or 0):
        if name not in SERVERS:
            return None
        tell(FoundHere(one.title, "nothing listening", "nothing"))
        return ModelSource(name, one.title, f"nothing listening on {where}", ready=False)
    spec = one.spec({}, f"http://{where}/v1")
    found = await listed(name, msgspec.structs.replace(spec, key_env=""), "", LIST_S)
    variable = one.variable(environment)
    if found.facts:
        count = f"{len(found.facts)} model{'s' * (len(found.facts) > 1)} on {where}"
        tell(FoundHere(one.title, count, "found"))
        return ModelSource(name, one.title, count, offers_of(name, found))
    if variable and environment.get(variable, "").strip():
        tell(FoundHere(one.title, f"something on {where}, and {variable} is set", "found"))
        asks = f"asks {where} for its models, with {variable}"
        return ModelSource(name, one.title, "", asks=asks)
    wrong = found.wrong
    if wrong == NO_MODEL and name == "ollama":
        wrong += " ollama pull NAME gets one."
    tell(FoundHere(one.title, f"something on {where}, but: {wrong}", "odd"))
    return ModelSource(
        name, one.title, f"on {where}: {wrong}", needs_key=found.key_refused, ready=False
    )


def offers_of(endpoint: str, found: ModelList) -> tuple[ModelOffer, ...]:
    """The models of a list, as they are shown."""
    return tuple(
        ModelOffer(endpoint, model, facts.context_window) for model, facts in found.facts.items()
    )


def _listens(port: int) -> bool:
    """Whether a server takes a connection; nothing is said to it.

    In a thread: while the first picture is made the event loop has no time for an answer.
    """
    try:
        socket.create_connection(("127.0.0.1", port), KNOCK_S).close()
    except OSError:
        return False
    return True


STEP_S = 20.0
"""An endpoint has so long to begin an answer."""
SETTLE_S = 4.0
"""So long to answer a steering text or an interrupt: the wire gives up before that."""
ANSWER_S = 60.0
"""A model that has not ended such an answer by then is slow, and what came is what is told."""
TASK = "Count from 1 to 60, one number a line, and nothing else."
SPEED_TASK = "Count from 1 to 40, one number a line, and nothing else."
REDIRECT = "Stop counting now: say only the word done."


class Probing:
    """Tries one endpoint over a wire of its own."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._clock = MonotonicClock()
        self._changed = asyncio.Event()
        wire.on_event, wire.on_state = self._event, self._state
        self._forget()

    def _forget(self) -> None:
        """Nothing was heard yet."""
        self.streams = False
        """The last answer began."""
        self.refusal = ""
        """Why it ended, where it did not end well, in the server's words."""
        self._news = ""
        self._asked_s = self._first_s = self._last_s = 0.0
        self._chars = 0
        self._usage: Usage | None = None
        self._thinks = False

    async def prewarm(self, model: str) -> None:
        """Ask for nothing: lanes and prewarm. Raises EndpointError or KeyRefused."""
        await self._wire.open()
        self._wire.create({**_request(model, []), "generate": False})
        if not await self._until(self._is_free, STEP_S):
            self._wire.drop()

    async def answer(self, model: str) -> None:
        """Ask for a short answer, steer it, stop it. `streams` and `refusal` say what came of it.

        Raises EndpointError or KeyRefused.
        """
        await self._ask(model, TASK)
        await self._until(lambda: self.streams or self._is_free(), STEP_S)
        if self._wire.busy and self._wire.steer(REDIRECT) is not None:
            await self._until(lambda: bool(self._news) or self._is_free(), SETTLE_S)
        if self._wire.busy:
            self._wire.interrupt()
            if not await self._until(self._is_free, SETTLE_S):
                self._wire.drop()

    async def speed(self, model: str) -> Measured:
        """Have a model give a short answer; how fast, or why it gave none. Never raises."""
        try:
            await self.prewarm(model)  # as a session does while its user types
            await self._ask(model, SPEED_TASK)
        except DuettoError as error:
            return Measured(model, wrong=str(error))
        if await self._until(lambda: bool(self._first_s) or self._is_free(), STEP_S):
            await self._until(self._is_free, ANSWER_S)
        elif not self._first_s:
            self.refusal = self.refusal or f"No answer within {STEP_S:.0f} s."
        if not self._is_free():
            self._wire.interrupt()
        if not self._first_s:
            return Measured(model, wrong=self.refusal or "No answer.")
        usage, span_s = self._usage, self._last_s - self._first_s
        tokens = round(self._chars / CHARS_PER_TOKEN)
        if usage is not None:  # what it thought unseen came before the first piece
            tokens = usage.output_tokens - (0 if self._thinks else usage.reasoning_tokens or 0)
        rate = tokens / span_s if span_s > 0 and tokens > 1 else None
        counted = usage is not None
        return Measured(model, self._first_s - self._asked_s, rate, tokens, is_counted=counted)

    async def _ask(self, model: str, task: str) -> None:
        await self._wire.open()
        self._forget()
        self._asked_s = self._clock.now()
        self._wire.create(_request(model, [user_item(task)]))

    def _is_free(self) -> bool:
        return self._wire.state == "closed" or not self._wire.busy

    async def _until(self, done: Callable[[], bool], limit_s: float) -> bool:
        try:
            async with asyncio.timeout(limit_s):
                while not done():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            return False
        return True

    def _event(self, event: Event, now: float) -> None:
        self.streams |= isinstance(event, Delta | ItemAdded)
        if isinstance(event, Delta) and event.delta:
            self._first_s, self._last_s = self._first_s or now, now
            self._chars += len(event.delta)
            self._thinks |= isinstance(event, ReasoningDelta | SummaryDelta)
        elif isinstance(event, ErrorEvent | Failed):
            self.refusal = event.message or event.code or "the server did not say why"
        elif isinstance(event, Completed | Incomplete):
            self._usage = usage_of(event.response)
        elif isinstance(event, SteerNews):
            self._news = event.fate
        self._changed.set()

    def _state(self, state: WireState, reason: str) -> None:
        if state == "closed":
            self.refusal = self.refusal or reason
        self._changed.set()


def _request(model: str, items: list[dict[str, object]]) -> dict[str, Any]:
    """What is asked of a model that is tried."""
    return {"model": model, "input": items, "store": False}
