"""Facts about providers: one TOML file each beside this module, the user's files over them.

``docs/providers.md`` has the schema in words. A user's ``providers/NAME.toml`` overrides the file
of the same name key by key, or describes a provider of its own.
"""

from __future__ import annotations

import contextlib
import datetime
import difflib
import fnmatch
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import msgspec

from tui import toml_tables
from tui.bridge.endpoints.base import EndpointSpec, ModelFacts
from tui.core.typed_data import typed
from tui.core.wire.address import is_loopback
from tui.errors import EndpointError, SettingsError
from tui.toml_tables import NO_VARIABLE, is_variable, no_address, no_header, no_header_value

_ROUTE = ("discovery", "model_route")
_OF_RESPONSES = ("max_age_s",)
"""What Chat has no option for: ``auto`` may turn out to be either."""


def wrong_options(kind: str, options: Mapping[str, Any]) -> tuple[tuple[str, ...], str] | None:
    """The path of an option that is wrong, and what is wrong; None: all are understood.

    Those of a plug-in's kind are its own business.
    """
    struct = _struct(kind)
    if struct is None:
        return None
    known = (*struct.__struct_fields__, *_ROUTE, *(_OF_RESPONSES if kind == "auto" else ()))
    for name, value in options.items():
        if name not in known:
            advice = toml_tables.nearest(name, known) or "; remove it"
            return ("options", name), f"is not an option of {kind}{advice}"
        try:
            typed({name: value}, struct)
        except msgspec.ValidationError as error:
            what = str(error).partition(" - at ")[0].rstrip(".")
            return ("options", name), f"is wrong: {toml_tables.in_words(what)}"
    return None


def _struct(kind: str) -> type[msgspec.Struct] | None:
    """What the options of a kind are read into."""
    if kind in ("openai-chat", "auto"):
        from tui.bridge.endpoints.openai_chat.dialect import ChatOptions

        return ChatOptions
    if kind == "anthropic":
        from tui.bridge.endpoints.anthropic.request import AnthropicOptions

        return AnthropicOptions
    if kind in ("responses-ws", "openai-responses"):
        from tui.bridge.endpoints.openai_responses.request import ResponsesOptions

        return ResponsesOptions
    if kind == "local":
        from tui.bridge.local.process import LocalOptions

        return LocalOptions
    return None


SCHEMA = 1
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_VARIABLE = re.compile(r"\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}")
_FOLDER = Path(__file__).parent
_ANY = "*"
DiscoveryForm = Literal["auto", "ollama", "lmstudio", "llamacpp", "litellm", "gemini", "none"]
"""Which questions beside ``GET /models`` a server is asked; auto: by what it answers to that."""


class StrictTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of which every key is known."""


class ModelEntry(ModelFacts, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[models."PATTERN"]``, and ``[limits]``, which is that of all models."""

    state: Literal["current", "legacy", "gone"] = "current"
    """``gone``: not served any more; ``legacy``: its provider names a successor."""
    source: str = ""
    """Where this is from, where it is not the file's source."""
    read: datetime.date | None = None
    """When that was read."""
    verified: bool = True
    """False: nothing dated says so."""


class FactSource(StrictTable, frozen=True):
    """``[sources."KEY"]``: where what one key says is from."""

    source: str
    read: datetime.date | None = None
    verified: bool = True


class ProviderFacts(StrictTable, frozen=True):
    """What is known of one provider, or of one kind of server."""

    kind: Annotated[str, msgspec.Meta(min_length=1)]
    """A kind of endpoint (`EndpointSpec.kind`)."""
    url: str
    """The base URL; ``{VARIABLE}`` in it stands for an environment variable's value."""
    name: str = ""
    """The file's name without ``.toml``."""
    schema: int = SCHEMA
    title: str = ""
    """As the provider writes itself."""
    source: str = ""
    """Where the facts are from."""
    read: datetime.date | None = None
    """When that was read."""
    verified: bool = True
    """False: nothing dated says so."""
    sources: dict[str, FactSource] = {}
    """Key, with dots -> where what it says is from, where it is not ``source``."""
    hosts: tuple[str, ...] = ()
    """Patterns of further hosts that are its own; that of ``url`` always is."""
    port: Annotated[int, msgspec.Meta(ge=1, le=65535)] | None = None
    """Of a server that people run themselves: where it listens if nobody said otherwise."""
    key_env: str = ""
    """Environment variable with the key; empty: it wants none."""
    key_env_also: tuple[str, ...] = ()
    """Other variables that its own tools read, in order, where ``key_env`` is not set."""
    key_optional: bool = False
    """It may be asked without a key."""
    key_header: str = "Authorization"
    headers: dict[str, str] = {}
    query: dict[str, str] = {}
    model_route: str = ""
    """What a name without ``/`` stands for, as ``accounts/fireworks/models/{model}``."""
    discovery: DiscoveryForm = "auto"
    prices: str = ""
    """Its name in the list of prices (genai-prices); empty: it is not in it, or costs nothing."""
    limits: ModelEntry = ModelEntry()
    """What holds for every model of which nothing else is known."""
    models: dict[str, ModelEntry] = {}
    """By name, or by a pattern (``gpt-oss*``); the longest one that fits says most."""
    same_tiers: tuple[tuple[str, ...], ...] = ()
    """Names of service tiers that are one: none of them is another one than was asked."""
    options: dict[str, Any] = {}
    """For its kind, see ``docs/providers.md``."""

    @property
    def local(self) -> bool:
        """A server that people run themselves."""
        return self.port is not None

    def variable(self, environment: Mapping[str, str]) -> str:
        """The variable that its key is in: the first one that is set, else ``key_env``."""
        names = [name for name in (self.key_env, *self.key_env_also) if name]
        return next((name for name in names if environment.get(name, "").strip()), self.key_env)

    def address(self, environment: Mapping[str, str]) -> str:
        """The base URL. Raises EndpointError: it names a variable that is not set."""

        def value(found: re.Match[str]) -> str:
            said = environment.get(found["name"], "").strip().rstrip("/")
            if not said:
                raise EndpointError(
                    f"The address of {self.title or self.name} is not known: set {found['name']}, "
                    f"or write url under [endpoints.{self.name}]."
                )
            return said

        return _VARIABLE.sub(value, self.url)

    def serves(self, url: str) -> bool:
        """Whether this address is the provider's."""
        try:
            parts = urlsplit(url)
            host, port = (parts.hostname or "").lower(), parts.port
            own = urlsplit(self.url).hostname or ""
        except ValueError:
            return False
        if self.local:
            return is_loopback(host) and port == self.port
        return any(fnmatch.fnmatchcase(host, one) for one in (own, *self.hosts) if one)

    def outdated(self, model: str) -> ModelEntry | None:
        """What the file says of a model that is gone or legacy; None: it says no such thing."""
        fitting = [name for name in self.models if fnmatch.fnmatchcase(model, name)]
        for name in sorted(fitting, key=lambda name: (name == model, len(name)), reverse=True):
            if self.models[name].state != "current":
                return self.models[name]
        return None

    def spec(self, environment: Mapping[str, str], url: str = "") -> EndpointSpec:
        """An endpoint of this provider; ``url``: at another address. Raises EndpointError."""
        known = {name: _facts(entry) for name, entry in self.models.items()}
        if self.limits != ModelEntry():
            known.setdefault(_ANY, _facts(self.limits))
        options = dict(self.options)
        if self.model_route:
            options["model_route"] = self.model_route
        if self.discovery != "auto":
            options["discovery"] = self.discovery
        return EndpointSpec(
            self.kind,
            url or self.address(environment),
            provider=self.name,
            key_env=self.variable(environment),
            key_header=self.key_header,
            headers=dict(self.headers),
            query=dict(self.query),
            known_models=known,
            options=options,
        )


def outdated_words(model: str, state: str, successor: str) -> str:
    """That a model is gone or legacy, and what to use, without a full stop."""
    if state == "gone":
        return f"{model} is not served any more{f': use {successor}' if successor else ''}"
    rest = f": its provider recommends {successor}" if successor else ""
    return f"{model} is a legacy model{rest}"


def providers(user_folder: Path | None) -> dict[str, ProviderFacts]:
    """All providers by name, the user's files (``user_folder/*.toml``) over ours.

    Raises SettingsError: ``FILE line N: what is wrong; what to do``.
    """
    return {name: provider(name, user_folder) for name in names(user_folder)}


def readable(user_folder: Path | None) -> dict[str, ProviderFacts]:
    """All providers whose files are right; of a wrong one ours, for whom it is no matter."""
    known: dict[str, ProviderFacts] = {}
    for name in names(user_folder):
        with contextlib.suppress(SettingsError, EndpointError):
            known[name] = provider(name, user_folder)
    return known


def names(user_folder: Path | None) -> list[str]:
    """The names of all providers, without reading the files."""
    folders = [_FOLDER, *([user_folder] if user_folder else [])]
    return sorted({file.stem for folder in folders for file in folder.glob("*.toml")})


def provider(name: str, user_folder: Path | None) -> ProviderFacts:
    """One provider. Raises SettingsError: a file is wrong; EndpointError: there is none."""
    own = _FOLDER / f"{name}.toml"
    theirs = user_folder / f"{name}.toml" if user_folder else None
    ours = own.read_text("utf-8") if _NAME.fullmatch(name) and own.is_file() else None
    text = toml_tables.read(theirs, required=False) if theirs else None
    if theirs and text is not None:
        if not _NAME.fullmatch(name):
            raise SettingsError(
                f"{theirs}: {name!r} cannot be a provider's name; use a-z, 0-9, - and _"
            )
        return _read(
            name, text, str(theirs), toml_tables.parsed(ours, own.name, SCHEMA) if ours else {}
        )
    if ours is None:
        raise EndpointError(f"There is no provider {name!r}{near(name, names(user_folder))}")
    return _read(name, ours, own.name, {}, checked=True)


def near(name: str, known: list[str]) -> str:
    """How a sentence about a name that is not known ends: with the nearest ones, or with all."""
    found = difflib.get_close_matches(name.lower(), known, 3, 0.7)
    if found:
        return f": did you mean {' or '.join(found)}?"
    return f": there are {', '.join(known)}." if known else "."


def of_url(known: Mapping[str, ProviderFacts], url: str) -> ProviderFacts | None:
    """The provider that an address belongs to."""
    return next((one for one in known.values() if one.serves(url)), None)


def _facts(entry: ModelEntry) -> ModelFacts:
    facts = typed(entry, ModelFacts, from_attributes=True)
    return msgspec.structs.replace(facts, state="") if facts.state == "current" else facts


def _read(
    name: str, text: str, origin: str, base: Mapping[str, Any], *, checked: bool = False
) -> ProviderFacts:
    """A provider of a file's text; what it does not say is as in ``base``.

    ``checked``: it is our own, which the tests have looked at.
    """
    said = toml_tables.parsed(text, origin, SCHEMA)
    if said.get("kind", base.get("kind")) != base.get("kind"):
        # habits of another language
        base = {key: value for key, value in base.items() if key != "options"}
    data = _over(base, said)
    found = toml_tables.converted(text, origin, data, ProviderFacts)
    for key, wrong in () if checked else wrong_in(found):
        line = toml_tables.line_of(text, key)
        raise SettingsError(f"{origin} line {line}: {'.'.join(key)} {wrong}")
    return msgspec.structs.replace(found, name=name, title=found.title or name)


def _over(base: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Tables with another one's keys over them, key by key at every depth."""
    merged = dict(base)
    for key, value in more.items():
        old = merged.get(key)
        merged[key] = (
            _over(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
        )
    return merged


def _wrong_sources(found: ProviderFacts) -> Iterator[tuple[tuple[str, ...], str]]:
    data = msgspec.to_builtins(found)
    for key in found.sources:
        table: Any = data
        for name in key.split("."):
            table = table.get(name) if isinstance(table, dict) else None
        if table is None:
            yield ("sources", key), "names a key that this file does not say; remove it"


def wrong_in(found: ProviderFacts) -> Iterator[tuple[tuple[str, ...], str]]:
    """What the types do not say: a key's path, and what is wrong with it."""
    if found.name:
        yield ("name",), "is not said here: the file's name is the provider's"
    for key, variables in (("key_env", (found.key_env,)), ("key_env_also", found.key_env_also)):
        if any(name and not is_variable(name) for name in variables):
            yield (key,), NO_VARIABLE
    if why := no_header(found.key_header):
        yield ("key_header",), why
    for header, value in found.headers.items():
        if why := no_header(header) or no_header_value(value):
            yield ("headers", header), why
    plain = _VARIABLE.sub("https://example.invalid", found.url)
    if found.kind != "rehearsal" and no_address(plain):
        yield ("url",), "is not an address; write one like https://HOST/v1"
    if found.model_route and found.model_route.count("{model}") != 1:
        yield ("model_route",), 'has to hold {model} once, as "accounts/NAME/models/{model}"'
    if (wrong := wrong_options(found.kind, found.options)) is not None:
        yield wrong
    yield from _wrong_sources(found)
    yield from _wrong_models(found)


def _wrong_models(found: ProviderFacts) -> Iterator[tuple[tuple[str, ...], str]]:
    for name, entry in found.models.items():
        if (wrong := wrong_options(found.kind, entry.options)) is not None:
            yield ("models", name, *wrong[0]), wrong[1]
        if entry.successor and entry.state == "current":
            yield ("models", name, "successor"), 'is for what goes: add state = "legacy" or "gone"'
        for fallback in entry.fallbacks:
            if not all(fallback.partition("/")):
                yield ("models", name, "fallbacks"), f'names {fallback!r}; write "ENDPOINT/MODEL"'
