"""What an endpoint's server says of its models: asked when it is first needed, then remembered.

Ollama is asked for what it really gives a model, which is often less than the model has. Its
OpenAI surface takes no ``num_ctx`` and cuts a prompt that is too long without a word. The window
of a request there is the Modelfile's ``num_ctx``; else what the server was started with
(``OLLAMA_CONTEXT_LENGTH``), or what it chooses by the machine's memory: only a model that is
loaded says which. (docs.ollama.com/context-length, /api/ps, /api/show.)
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Protocol
from urllib.parse import quote, urlsplit, urlunsplit

import msgspec
from msgspec import Struct

from tui.bridge.endpoints.base import Broken, ModelFacts, Refused, Target
from tui.bridge.upstream.errors import error_in, excerpt
from tui.bridge.upstream.sse import value_of
from tui.core.wire.address import Address, checked, is_loopback
from tui.core.wire.refusals import BLOCKED, blocked, is_of_key, without_secrets
from tui.errors import EndpointError

MOST_MODELS = 5000
_MOST_CHARS = 256
_MOST_TOKENS = 1 << 32
_WINDOWS = (
    "loaded_context_length",  # LM Studio: what is in memory now
    "max_model_len",  # vLLM, SGLang
    "context_length",  # OpenRouter, Together, Fireworks, SambaNova, Ollama's list of loaded ones
    "context_window",  # Groq, Cerebras, gateways
    "max_context_length",  # Mistral, LM Studio
    "max_input_tokens",  # Anthropic, LiteLLM
    "inputTokenLimit",  # Gemini
)
_OUTPUTS = (
    "max_completion_tokens",  # Groq, OpenRouter, SambaNova
    "max_output_tokens",  # LiteLLM, gateways
    "outputTokenLimit",  # Gemini
    "max_output_length",
)
_EFFORTS = ("minimal", "low", "medium", "high", "xhigh", "max")
_NO_CHAT = {"embedding", "embeddings", "image", "audio", "rerank", "moderation", "transcribe"}
Clue = str
"""Which server it is that gave a list: a form of `DiscoveryForm`; empty: none that we know."""


def models_in(body: object) -> dict[str, ModelFacts]:
    """The models that a list names, without those that cannot chat."""
    found: dict[str, ModelFacts] = {}
    for entry in entries(body):
        name = name_of(entry)
        if name and not _chats_not(entry) and len(found) < MOST_MODELS:
            found[name] = facts_of(entry)
    return found


def entries(body: object) -> Iterable[Mapping[str, Any]]:
    """The entries of a list: ``data``, ``models``, or the list itself (Together)."""
    if isinstance(body, Mapping):
        # llama.cpp gives both; the one of OpenAI's form has the windows
        parts = [body.get(key) for key in ("data", "models")]
        body = next((part for part in parts if isinstance(part, list)), [])
    for entry in body if isinstance(body, list) else []:
        if isinstance(entry, Mapping):
            yield entry
        elif isinstance(entry, str):
            yield {"id": entry}


def name_of(entry: Mapping[str, Any]) -> str:
    """What requests call this model; empty: it has no usable name."""
    for key in ("id", "key", "model", "name", "model_name"):
        name = entry.get(key)
        if isinstance(name, str) and name.strip():
            name = name.removeprefix("models/")  # Gemini
            return name if len(name) <= _MOST_CHARS and name.isprintable() else ""
    return ""


def clue_in(body: object) -> Clue:
    """Which server answers like this, where that tells where to ask for more."""
    owners = {str(entry.get("owned_by")) for entry in entries(body)}
    if "llamacpp" in owners:
        return "llamacpp"
    if "organization_owner" in owners:
        return "lmstudio"
    return "ollama" if owners == {"library"} else ""


def facts_of(entry: Mapping[str, Any]) -> ModelFacts:
    """What one entry says of its model."""
    top, meta = _table(entry.get("top_provider")), _table(entry.get("meta"))
    info, limits = _table(entry.get("model_info")), _table(entry.get("limits"))
    # the most exact first: what OpenRouter routes to may take less than the model could
    tables = (top, info, limits, entry)
    window = _loaded(entry) or _first(tables, _WINDOWS) or tokens(meta.get("n_ctx"))
    outputs = (*_OUTPUTS, "max_tokens") if "max_input_tokens" in entry else _OUTPUTS
    return ModelFacts(
        context_window=window or tokens(meta.get("n_ctx_train")),
        max_output_tokens=_first(tables, outputs),
        images=_images(entry),
        efforts=_efforts(entry),
    )


def tokens(value: object) -> int | None:
    """A number of tokens, if it is one."""
    if isinstance(value, str) and value.isdigit() and len(value) < 12:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return int(value) if 0 < value < _MOST_TOKENS else None


def _first(tables: Iterable[Mapping[str, Any]], keys: Iterable[str]) -> int | None:
    names = tuple(keys)
    found = (tokens(table.get(key)) for table in tables for key in names)
    return next((number for number in found if number), None)


def _loaded(entry: Mapping[str, Any]) -> int | None:
    """LM Studio since 0.4: the instances in memory, each with its own window; the least counts."""
    instances = entry.get("loaded_instances")
    windows = [
        tokens(_table(_table(one).get("config")).get("context_length"))
        for one in (instances if isinstance(instances, list) else [])
    ]
    known = [window for window in windows if window]
    return min(known) if known else None


def _images(entry: Mapping[str, Any]) -> bool | None:
    """Whether it takes images, where its entry says so either way."""
    modalities = _table(entry.get("architecture")).get("input_modalities")
    if not isinstance(modalities, list):
        modalities = entry.get("input_modalities")
    if isinstance(modalities, list) and modalities:
        return "image" in modalities
    abilities = entry.get("capabilities")
    if isinstance(abilities, list) and abilities:  # Ollama, llama.cpp
        return bool({"vision", "multimodal", "image"} & set(map(str, abilities)))
    for value in (
        _table(abilities).get("vision"),  # Mistral, LM Studio
        _table(_table(abilities).get("image_input")).get("supported"),  # Anthropic
        entry.get("supports_image_input"),  # Fireworks
        _table(entry.get("model_info")).get("supports_vision"),  # LiteLLM
    ):
        if isinstance(value, bool):
            return value
    return {"vlm": True, "llm": False}.get(str(entry.get("type")))


def _efforts(entry: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The efforts that it knows, where its entry says so."""
    effort = _table(_table(entry.get("capabilities")).get("effort"))  # Anthropic
    if isinstance(effort.get("supported"), bool):
        levels = (name for name in _EFFORTS if _table(effort.get(name)).get("supported") is True)
        return tuple(levels) if effort["supported"] else ()
    parameters = entry.get("supported_parameters")  # OpenRouter
    if isinstance(parameters, list) and parameters:
        return None if {"reasoning", "reasoning_effort"} & set(map(str, parameters)) else ()
    return None


def _chats_not(entry: Mapping[str, Any]) -> bool:
    abilities = entry.get("capabilities")
    if isinstance(abilities, Mapping) and abilities.get("completion_chat") is False:  # Mistral
        return True
    if isinstance(abilities, list) and abilities and "embedding" in abilities:  # Ollama
        return "completion" not in abilities
    methods = entry.get("supportedGenerationMethods")  # Gemini
    if isinstance(methods, list) and methods:
        return "generateContent" not in methods
    return str(entry.get("type")).lower() in _NO_CHAT or entry.get("lifecycle") == "retired"


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


MOST_BYTES = 8 * 1024 * 1024
"""Of a list of models: the longest ones known have one megabyte."""
DEADLINE_S = 10.0
_BEHIND = ("/chat/completions", "/completions", "/responses", "/messages", "/models")
_SCHEMES = {"ws": "http", "wss": "https"}


class Fetched(Struct, frozen=True):
    """A whole HTTP answer."""

    status: int
    body: bytes


class Fetcher(Protocol):
    """Who asks (`bridge.upstream`)."""

    async def fetch(self, address: Address, body: bytes | None, most_bytes: int) -> Fetched:
        """GET, or POST with a body; redirects are not followed. Raises Broken, Refused."""


class ServerQueries:
    """Asks one endpoint's server; the key goes to that host only."""

    def __init__(self, target: Target, fetcher: Fetcher) -> None:
        """Raises Refused: the address is none, or its key would travel in clear text."""
        self.target = target
        self._fetcher = fetcher
        address = _checked(target)
        parts = urlsplit(address.url)
        self.host = parts.hostname or ""
        self._headers = address.headers
        scheme = _SCHEMES.get(parts.scheme, parts.scheme)
        self._parts = parts._replace(scheme=scheme, path=base_path(parts.path))

    async def get(self, path: str, query: str = "") -> Any:
        """What the API has at a path (``/models``). Raises Refused, Broken."""
        return await self._ask(self._parts.path + path, query, {})

    async def get_beside(self, path: str, query: str = "", headers: Mapping[str, str] = {}) -> Any:
        """What the server has beside its API (``/api/ps``). Raises Refused, Broken."""
        return await self._ask(self._root() + path, query, headers)

    async def post_beside(self, path: str, body: Mapping[str, Any], deadline_s: float) -> Any:
        """The answer to a JSON object beside the API. Raises Refused, Broken."""
        data = msgspec.json.encode(body)
        return await self._send(self._address(self._root() + path, "", {}), data, deadline_s)

    def _root(self) -> str:
        path = self._parts.path
        for tail in ("/openai", "/v1", "/openai/v1"):
            if path.endswith(tail):
                return path.removesuffix(tail)
        return path

    async def _ask(self, path: str, query: str, headers: Mapping[str, str]) -> Any:
        return await self._send(self._address(path, query, headers), None, DEADLINE_S)

    def _address(self, path: str, query: str, headers: Mapping[str, str]) -> Address:
        joined = "&".join(filter(None, (self._parts.query, query)))
        url = urlunsplit(self._parts._replace(path=path, query=joined))
        return Address(url, {**self._headers, **headers})

    async def _send(self, address: Address, body: bytes | None, deadline_s: float) -> Any:
        try:
            async with asyncio.timeout(deadline_s):
                fetched = await self._fetcher.fetch(address, body, MOST_BYTES)
        except TimeoutError:
            raise Broken(f"{self.host} did not answer within {deadline_s:.0f} s.") from None
        if not 200 <= fetched.status < 300:
            raise _refused(self.host, fetched, self.target)
        try:
            return msgspec.json.decode(fetched.body)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            page = fetched.body.lstrip()[:1] == b"<"
            what = "a web page" if page else "something that is not JSON"
            words = f"{self.host} answered with {what}: is the url that of an endpoint?"
            raise Refused(502, "not_an_endpoint", words) from None


def base_path(path: str) -> str:
    """The path of the API that an endpoint's path belongs to, without a slash behind it."""
    path = path.rstrip("/")
    for tail in _BEHIND:
        path = path.removesuffix(tail)
    return path or "/v1"


def _checked(target: Target) -> Address:
    """The address with the headers that the kind sends."""
    try:
        if target.spec.kind == "anthropic":
            from tui.bridge.endpoints.anthropic.endpoint import messages_address
            from tui.bridge.endpoints.anthropic.request import VERSION

            return messages_address(target.address, target.spec, {"anthropic-version": VERSION})
        checked(target.address)
    except EndpointError as error:
        raise Refused(400, "invalid_endpoint", str(error)) from error
    return target.address


def _refused(host: str, fetched: Fetched, target: Target) -> Refused:
    """Why there is no list, in words."""
    status, body = fetched.status, fetched.body
    of_api = body.lstrip().startswith(b"{")
    if status == 403 and not (of_api and is_of_key(body.decode("utf-8", "replace"))):
        words = ""
        with contextlib.suppress(Broken, ValueError):
            value = value_of(body)
            words = error_in(value).message if isinstance(value, dict) else ""
        if words:
            words = without_secrets(words, target.address)[:_MOST_CHARS]
            return Refused(status, "http_403", f"{host} says HTTP 403: {words}")
        return Refused(status, BLOCKED, blocked(host, excerpt(body)))
    if status in (401, 403):
        variable = target.spec.key_env
        where = f"check {variable}" if variable else "name its variable in key_env"
        return Refused(status, "invalid_api_key", f"{host} refused the key: {where}.")
    if 300 <= status < 400:
        words = f"{host} redirects to another address: the key is not taken there."
        return Refused(400, "endpoint_redirects", words)
    return Refused(status, "no_models", f"{host} gives no list of its models (HTTP {status}).")


OLLAMA_LEAST_WINDOW = 4096
"""What it gives where nobody says more and the machine has little memory."""
LOADING_S = 120.0
"""A model is loaded within that time, or nothing is known of its window."""
_NUM_CTX = re.compile(r"^\s*(?:PARAMETER\s+)?num_ctx\s+\"?(\d+)", re.M)


class Shown(Struct, frozen=True):
    """What ``/api/show`` says of a model."""

    num_ctx: int | None = None
    """Of its Modelfile."""
    trained: int | None = None
    """The most that the model can take."""
    images: bool | None = None
    efforts: tuple[str, ...] | None = None


async def ollama_facts(questions: ServerQueries, model: str, *, load: bool) -> ModelFacts:
    """The window that a request gets now; ``load``: have the model loaded where only that tells.

    Raises Refused, Broken: there is no such model, or the server does not answer.
    """
    shown = await _shown(questions, model)
    window = shown.num_ctx or await _running(questions, model)
    if window is None and load:
        window = await _once_loaded(questions, model)
    if window is not None and shown.trained is not None:
        window = min(window, shown.trained)
    return ModelFacts(context_window=window, images=shown.images, efforts=shown.efforts)


def same_model(one: str, other: str) -> bool:
    """Whether two names mean the same model: ``:latest`` is what a name without a tag means."""
    return one.removesuffix(":latest") == other.removesuffix(":latest")


def ollama_advice(window: int, needed: int, trained: int | None) -> str:
    """What to do about a window that is too small."""
    more = _rounded(needed * 2)
    more = min(more, trained) if trained else more
    if trained and trained <= window:
        return "that is all the model has: use one with a larger window"
    return (
        f"start it with OLLAMA_CONTEXT_LENGTH={more}, or give the model PARAMETER num_ctx {more} "
        "in its Modelfile"
    )


def shown_in(body: object) -> Shown:
    """What an answer of ``/api/show`` says."""
    if not isinstance(body, Mapping):
        return Shown()
    found = _NUM_CTX.search(str(body.get("parameters") or ""))
    info = body.get("model_info")
    info = info if isinstance(info, Mapping) else {}
    # "qwen3.context_length": the key begins with the architecture's name
    key = f"{info.get('general.architecture')}.context_length"
    others = (value for name, value in info.items() if name.endswith(".context_length"))
    lengths = map(tokens, (info.get(key), *others))
    abilities = body.get("capabilities")
    known = list(map(str, abilities)) if isinstance(abilities, list) and abilities else None
    return Shown(
        tokens(found[1]) if found else None,
        next((length for length in lengths if length), None),
        None if known is None else "vision" in known,
        None if known is None or "thinking" in known else (),
    )


async def ollama_trained_window(questions: ServerQueries, model: str) -> int | None:
    """The most that the model can take. None: it does not say."""
    return (await _shown(questions, model)).trained


async def _shown(questions: ServerQueries, model: str) -> Shown:
    body = {"model": model, "name": model}  # the latter until 0.5
    try:
        return shown_in(await questions.post_beside("/api/show", body, 10.0))
    except Refused as error:
        if error.status == 404 and error.code == "no_models":
            return Shown()
        raise


async def _running(questions: ServerQueries, model: str) -> int | None:
    """The window of a model that is loaded."""
    try:
        body = await questions.get_beside("/api/ps")
    except Refused:
        return None
    for entry in entries(body):
        if any(same_model(str(entry.get(key)), model) for key in ("name", "model")):
            return tokens(entry.get("context_length"))
    return None


async def _once_loaded(questions: ServerQueries, model: str) -> int | None:
    """Load it, as the request itself would, and look again."""
    try:
        await questions.post_beside("/api/generate", {"model": model, "stream": False}, LOADING_S)
    except (Refused, Broken):
        return None
    return await _running(questions, model)


def _rounded(needed: int) -> int:
    """The next power of two."""
    return max(8192, 1 << max(needed - 1, 1).bit_length())


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
        self.questions = ServerQueries(target, fetcher)
        self._clock = clock
        self._form = str(target.spec.options.get("discovery") or "auto")
        self._asking = asyncio.Lock()
        self._listed_s: float | None = None
        self._refused: tuple[float, Refused | Broken] | None = None
        self._recognised = bool(target.spec.provider)
        self._loaded: dict[str, tuple[float, ModelFacts]] = {}

    @property
    def form(self) -> str:
        """Which server it is, as far as that is known; see `provider_files.DiscoveryForm`."""
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
                found = await ollama_facts(self.questions, model, load=load)
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


async def _lmstudio(questions: ServerQueries) -> dict[str, ModelFacts]:
    """LM Studio's own list says what is loaded, with which window (0.4: v1, before: v0)."""
    try:
        body = await questions.get_beside("/api/v1/models")
    except Refused:
        body = await questions.get_beside("/api/v0/models")
    return models_in(body)


async def _llamacpp(questions: ServerQueries) -> dict[str, ModelFacts]:
    """llama.cpp's ``/props``: the window of a slot, which is what one request gets."""
    body = await questions.get_beside("/props")
    if not isinstance(body, dict):
        return {}
    settings, seen = body.get("default_generation_settings"), body.get("modalities")
    window = tokens(settings.get("n_ctx")) if isinstance(settings, dict) else None
    vision = seen.get("vision") if isinstance(seen, dict) else None
    images = vision if isinstance(vision, bool) else None
    return {"*": ModelFacts(context_window=window, images=images)}


async def _litellm(questions: ServerQueries) -> dict[str, ModelFacts]:
    """LiteLLM says what it knows of its models' windows beside the list."""
    found: dict[str, ModelFacts] = {}
    for entry in entries(await questions.get_beside("/model/info")):
        found[str(entry.get("model_name"))] = facts_of(entry)
    return found


async def _gemini(questions: ServerQueries) -> dict[str, ModelFacts]:
    """Gemini's own list has the limits; its OpenAI surface has the names only."""
    key = questions.target.address.headers.get("Authorization", "").removeprefix("Bearer ")
    headers = {"x-goog-api-key": key} if key else {}
    body = await questions.get_beside("/models", "pageSize=1000", headers)
    return models_in(body)


async def _ollama(questions: ServerQueries) -> dict[str, ModelFacts]:
    """The windows of the models that are loaded; those of others are known when they are."""
    body = await questions.get_beside("/api/ps")
    found: dict[str, ModelFacts] = {}
    for entry in entries(body):
        found[name_of(entry)] = ModelFacts(context_window=tokens(entry.get("context_length")))
    return found


_MORE: dict[str, Callable[[ServerQueries], Awaitable[dict[str, ModelFacts]]]] = {
    "lmstudio": _lmstudio,
    "llamacpp": _llamacpp,
    "litellm": _litellm,
    "gemini": _gemini,
    "ollama": _ollama,
}
