"""Which keys ``duetto keys set`` has put into the system's keyring: names only.

No keyring lists its entries, and to load one takes longer than the first paint may.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

import msgspec
from msgspec import Struct, field

from tui.core.price import SameTiers
from tui.core.typed_data import typed
from tui.core.wire.address import Address, checked, is_loopback
from tui.core.wire.endpoint_facts import REHEARSAL
from tui.errors import EndpointError, SettingsError, UsageError
from tui.settings import EndpointSettings, ModelSettings, Paths, Settings, Transport
from tui.toml_tables import NO_VARIABLE, is_variable

if TYPE_CHECKING:
    from tui.bridge.endpoints.base import EndpointSpec, ModelFacts
    from tui.bridge.providers.provider_files import ProviderFacts


FILE = "keys.json"


def names(state_dir: Path) -> list[str]:
    """Whose keys lie there, sorted; a file that is broken names none."""
    try:
        read = json.loads((state_dir / FILE).read_bytes())
    except (OSError, ValueError, RecursionError):
        return []
    return (
        sorted({name for name in read if isinstance(name, str)}) if isinstance(read, list) else []
    )


def remember(state_dir: Path, name: str) -> None:
    """Note that this one's key lies there. Raises SettingsError."""
    _write(state_dir, [*names(state_dir), name])


def forget(state_dir: Path, name: str) -> None:
    """Note that it does not. Raises SettingsError."""
    _write(state_dir, [one for one in names(state_dir) if one != name])


def _write(state_dir: Path, found: list[str]) -> None:
    from tui.shared_files import replace_file

    file = state_dir / FILE
    try:
        replace_file(file, json.dumps(sorted(set(found))).encode())
    except OSError as error:
        raise SettingsError(f"cannot write {file}: {error.strerror}") from error


DEFAULT_KEY_ENV = "OPENAI_API_KEY"
_BY_PORT = ("ollama", "lmstudio")
"""Servers whose port on this machine is nobody else's: 8000 or 8080 may be anything."""

CLI_ENDPOINT = "cli"
"""The endpoint's name of ``--endpoint URL``."""


class Sources(Struct, frozen=True):
    """Where declarations come from."""

    settings: Settings
    environment: Mapping[str, str]
    providers_dir: Path | None = None
    """The user's own provider files."""
    flagged: dict[str, EndpointSettings] = field(default_factory=dict)
    """Endpoints that the command line declares, over those of the settings."""
    state_dir: Path | None = None
    """Where the names of the keys in the keyring are noted."""
    _known: dict[str, ProviderFacts | None] = field(default_factory=dict)

    def provider(self, name: str) -> ProviderFacts | None:
        """What is known of a provider; None: there is none of this name."""
        from tui.bridge.providers import provider_files

        if name not in self._known:
            there = name in provider_files.names(self.providers_dir)
            self._known[name] = provider_files.provider(name, self.providers_dir) if there else None
        return self._known[name]

    def same_tiers(self, spec: EndpointSpec, tier: str) -> SameTiers:
        """Names of service tiers that are one there; see `ProviderFacts.same_tiers`.

        Of one that only its address tells, all files are read: where a tier is asked for, only.
        """
        from tui.bridge.providers import provider_files

        known = self.provider(spec.provider) if spec.provider else None
        if known is None and tier:
            known = provider_files.of_url(provider_files.readable(self.providers_dir), spec.url)
        ours = spec.options.get("tiers")  # what we call otherwise is no other tier
        translated = tuple(ours.items()) if isinstance(ours, Mapping) else ()
        return (*known.same_tiers, *translated) if known is not None else translated

    def table(self, name: str) -> EndpointSettings:
        """What declares an endpoint: its table, or the provider of its name. Raises UsageError."""
        table = self.flagged.get(name) or self.settings.endpoints.get(name)
        if table is not None:
            return table
        if "/" in name or ":" in name:
            raise UsageError(
                "an address cannot be an endpoint's name: give it as url of [endpoints.NAME]"
            )
        if self.provider(name) is None:
            raise UsageError(f"there is no endpoint and no provider {name!r}{self.near(name)}")
        return EndpointSettings(provider=name)

    def near(self, name: str) -> str:
        """What there is instead of a name that is not known."""
        from tui.bridge.providers import provider_files

        names = {*self.flagged, *self.settings.endpoints, *provider_files.names(self.providers_dir)}
        return provider_files.near(name, sorted(names))


class Declared(Struct, frozen=True):
    """One endpoint with all that is known of it before it is asked."""

    spec: EndpointSpec
    origin: str
    """What the user wrote, for errors."""
    key_optional: bool = False
    """It may be asked without a key."""
    guessed: bool = False
    """Nobody said what it speaks: a WebSocket is worth a try."""

    @property
    def websocket(self) -> bool:
        """It is, or may be, spoken to by WebSocket without the bridge."""
        return self.guessed or self.spec.kind == "responses-ws"


def endpoint_specs(
    settings: Settings,
    environment: Mapping[str, str] = os.environ,
    providers_dir: Path | None = None,
) -> dict[str, EndpointSpec]:
    """All endpoints that the settings name: tables, the models' endpoints, and their fallbacks'.

    Raises UsageError, SettingsError or EndpointError: one of them cannot be.
    """
    folder = providers_dir or Paths.find(environment).providers_dir
    sources = Sources(settings, environment, folder)
    roles = [model for model in (settings.models.fast, settings.models.deep) if model]
    names = [*settings.endpoints, *(model.endpoint for model in roles if model.endpoint)]
    for model in roles:
        names += fallback_endpoints(model)
    for table in settings.endpoints.values():
        names += [
            place.partition("/")[0] for one in table.models.values() for place in one.fallbacks
        ]
    lone = next(iter(settings.endpoints)) if len(settings.endpoints) == 1 else ""
    told = dict.fromkeys(name for name in names if name != REHEARSAL)
    return {
        name: with_models(
            declared(name, sources).spec, [m for m in roles if (m.endpoint or lone) == name]
        )
        for name in told
    }


def fallback_endpoints(model: ModelSettings) -> list[str]:
    """The endpoints that a model's fallbacks are on."""
    return [place.partition("/")[0] for place in model.fallbacks]


def declared(name: str, sources: Sources) -> Declared:
    """One endpoint. Raises UsageError, SettingsError (a provider's file) or EndpointError."""
    from tui.bridge.endpoints import kinds
    from tui.bridge.endpoints.base import EndpointSpec

    table = sources.table(name)
    origin = "--endpoint" if name in sources.flagged else f"[endpoints.{name}] url"
    facts = _facts(name, table, sources, origin)
    if facts is None:
        base = EndpointSpec(_kind_at(table.url), table.url, key_env=_default_key(table))
    else:
        base = _of_provider(facts, table, sources.environment, origin)
    spec = msgspec.structs.replace(base, **_said(table, base))
    if wrong := kinds.unknown(spec.kind):
        raise UsageError(f"[endpoints.{name}] kind: {wrong}")
    if table.options:
        from tui.bridge.providers import provider_files  # loads what speaks to all providers

        if (wrong_option := provider_files.wrong_options(spec.kind, table.options)) is not None:
            raise UsageError(f"[endpoints.{name}.options] {wrong_option[0][-1]} {wrong_option[1]}")
    if table.model and spec.kind != "local":
        raise UsageError(
            f"[endpoints.{name}] model is the file of a model on this machine: name this server's "
            'under [models.fast], or set provider = "local"'
        )
    if spec.key_env and not is_variable(spec.key_env):
        raise UsageError(f"--key-env {NO_VARIABLE}")
    header = next((one for one in spec.headers if one.lower() == spec.key_header.lower()), None)
    if header is not None and table.key_env:
        raise UsageError(
            f"[endpoints.{name}] headers sets {spec.key_header}, where the key of {table.key_env} "
            "travels: remove it there, or name another key_header"
        )
    if header is not None:
        spec = msgspec.structs.replace(spec, key_env="")
    return Declared(
        spec,
        origin,
        key_optional=facts is not None and facts.key_optional and not table.key_env,
        guessed=table.kind in ("", "auto") and spec.kind == "auto",
    )


def with_models(spec: EndpointSpec, models: list[ModelSettings]) -> EndpointSpec:
    """The specification with what ``[models.fast]`` and ``[models.deep]`` say of its models."""
    known = dict(spec.models)
    for model in models:
        said = _table_facts(model)
        known[model.name] = said.over(known[model.name]) if model.name in known else said
    return msgspec.structs.replace(spec, models=known)


def _facts(
    name: str, table: EndpointSettings, sources: Sources, origin: str
) -> ProviderFacts | None:
    """The provider whose facts hold. Raises UsageError: it is named and there is none."""
    if table.provider:
        known = sources.provider(table.provider)
        if known is None:
            raise UsageError(
                f"[endpoints.{name}] names the provider {table.provider!r}, which is not known"
                f"{sources.near(table.provider)}"
            )
        return known
    if table.url:
        return None if table.kind else _at(table.url, sources)
    known = sources.provider(name)
    if known is None:
        raise UsageError(
            f"[endpoints.{name}] says neither url nor provider: "
            "add url = ADDRESS, or provider = NAME"
        )
    return known


def _at(url: str, sources: Sources) -> ProviderFacts | None:
    """The provider whose base URL this is; of a whole address its path says what it speaks."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return None  # said when it is dialled
    if parts.scheme not in ("http", "https") or parts.path.rstrip("/").endswith("/responses"):
        return None
    from tui.bridge.providers import provider_files

    folder = sources.providers_dir
    names = provider_files.names(folder)
    if is_loopback(host):
        own = {file.stem for file in folder.glob("*.toml")} if folder else set()
        names = [name for name in names if name in _BY_PORT or name in own]
    for name in names:
        known = provider_files.provider(name, folder)
        if known.serves(url) and known.kind != REHEARSAL:
            return known
    return None


def _of_provider(
    facts: ProviderFacts, table: EndpointSettings, environment: Mapping[str, str], origin: str
) -> EndpointSpec:
    """The provider's endpoint; its key is for its own hosts."""
    try:
        spec = facts.spec(environment, table.url)
    except EndpointError as error:
        raise UsageError(str(error)) from error
    if not table.url or facts.local or facts.serves(table.url) or table.key_env is not None:
        return spec
    host = urlsplit(table.url).hostname or ""
    if not is_loopback(host) and spec.key_env and not _writes(table, spec.key_header):
        raise UsageError(
            f"{origin}: {host} is not {facts.title}'s, whose key would go there: say key_env "
            '= "NAME" for the key that it takes, or key_env = "" for none'
        )
    return msgspec.structs.replace(spec, key_env="")


def _kind_at(url: str) -> str:
    """What an address lets expect, where nobody said what it speaks."""
    scheme, _, rest = url.strip().partition("://")
    if scheme.lower() not in ("http", "https"):
        return "responses-ws"
    with contextlib.suppress(ValueError):  # the address is refused later, in better words
        if urlsplit(f"//{rest}").path.endswith("/responses"):
            return "responses-ws"
    return "auto"


def _default_key(table: EndpointSettings) -> str:
    """The variable that holds the key where nobody said which."""
    try:
        host = urlsplit(table.url.strip()).hostname or ""
    except ValueError:
        return ""  # the address is refused later, in better words
    header = table.key_header or "Authorization"
    return "" if is_loopback(host) or _writes(table, header) else DEFAULT_KEY_ENV


def _writes(table: EndpointSettings, header: str) -> bool:
    return any(one.lower() == header.lower() for one in table.headers)


def _said(table: EndpointSettings, base: EndpointSpec) -> dict[str, Any]:
    """What a table says, for the fields of a specification."""
    said: dict[str, Any] = {
        "headers": {**base.headers, **table.headers},
        "query": {**base.query, **table.query},
        "options": {**base.options, **table.options, **_local(table)},
        # what this table says of the endpoint is stronger than what the provider says of a model
        "known_models": {
            name: msgspec.structs.replace(one, options=_others(one.options, table.options))
            for name, one in base.known_models.items()
        },
        "models": {name: _table_facts(one) for name, one in table.models.items()},
    }
    if (table.kind or base.kind) == "local":
        said["models"] = _local_models(table) | said["models"]
    if table.key_env is not None:
        said["key_env"] = table.key_env
    if table.key_header is not None:
        said["key_header"] = table.key_header
    if table.kind:
        said["kind"] = table.kind
    return said


def _local(table: EndpointSettings) -> dict[str, Any]:
    """The file of a model that runs on this machine: the bridge works in another folder."""
    return {"model": os.path.abspath(os.path.expanduser(table.model))} if table.model else {}


def _local_models(table: EndpointSettings) -> dict[str, ModelFacts]:
    """Those that this machine can run."""
    from tui.bridge.endpoints.base import ModelFacts
    from tui.bridge.local.model_file import model_names

    return {name: ModelFacts() for name in model_names(table.model)}


def _others(options: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """The options that are not said; of a table that is said in part, the rest of it."""
    rest: dict[str, Any] = {}
    for name, value in options.items():
        table = said.get(name)
        if isinstance(value, Mapping) and isinstance(table, Mapping):
            rest[name] = {key: one for key, one in value.items() if key not in table}
        elif name not in said:
            rest[name] = value
    return rest


def _table_facts(table: object) -> ModelFacts:
    from tui.bridge.endpoints.base import ModelFacts

    return typed(table, ModelFacts, from_attributes=True)


class ResolvedEndpoint(Struct, frozen=True):
    """A server with all that asking it takes."""

    name: str
    address: Address
    """Where it is. Dialled directly its headers hold the key, unless that is in the keyring."""
    spec: EndpointSpec
    """What the bridge is told of it."""
    key_env: str = ""
    """The variable that the key is in, empty: no key is sent."""
    transport: Transport = "auto"
    bridged: bool = False
    """It is spoken to through the bridge only."""
    in_keyring: bool = False
    """A direct address whose key is to be taken from the keyring when it is dialled."""

    def facts(self, model: str) -> ModelFacts:
        """What is known of one of its models before it is asked."""
        from tui.bridge.endpoints.base import Target

        return Target(self.name, self.spec, Address(self.spec.url)).facts(model)

    def keyed(self) -> Address:
        """The address with its key from the keyring, which may take a while.

        Raises EndpointError: it is gone.
        """
        from tui.bridge.targets import PATIENCE_S, stored_key

        key = stored_key((self.name, self.spec.provider), PATIENCE_S)
        if not key:
            raise EndpointError(
                f"The keyring has no key for {self.name}: duetto keys set {self.name}, "
                f"or set the environment variable {self.key_env}."
            )
        headers = {**self.address.headers, **_header(self.spec, key)}
        return Address(self.address.url, headers, self.address.compression)


def resolved_endpoint(
    name: str, sources: Sources, models: Sequence[ModelSettings], *, bridged: bool = False
) -> ResolvedEndpoint:
    """An endpoint with its key looked for; ``bridged``: in any case through the bridge.

    Raises UsageError, or SettingsError: a provider's file is wrong.
    """
    table, known = sources.table(name), declared(name, sources)
    spec = with_models(known.spec, list(models))
    bridged |= not known.websocket or any(model.fallbacks for model in models)
    url, loopback = checked_url(spec.url, spec.query, known.origin)
    if spec.key_env and not loopback and url.startswith("ws:"):
        host = urlsplit(url).hostname
        none = '--key-env ""' if name == CLI_ENDPOINT else 'key_env = ""'
        raise UsageError(
            f"{known.origin}: the key for {host} would travel in clear text: use https:// or wss://,"
            f" or {none} if it wants no key"
        )
    key = _key(name, known, sources, url)
    headers = {**spec.headers, **(_header(spec, key) if key and not bridged else {})}
    compression = None if table.compression == "auto" else table.compression
    try:
        address = checked(Address(url, headers, compression))
    except EndpointError as error:
        raise UsageError(f"{known.origin}: {error}") from error
    if bridged:
        address = with_query(spec)
    return ResolvedEndpoint(
        name,
        address,
        spec if bridged else _relayed(spec, known, address),
        spec.key_env,
        table.transport,
        bridged,
        in_keyring=bool(spec.key_env) and not key and not bridged and not known.key_optional,
    )


def with_query(spec: EndpointSpec) -> Address:
    """The base URL of a specification, with its query and its headers."""
    added = urlencode(spec.query, quote_via=quote)
    parts = urlsplit(spec.url)
    joined = "&".join(part for part in (parts.query, added) if part)
    return Address(urlunsplit(parts._replace(query=joined)), spec.headers)


def _relayed(spec: EndpointSpec, known: Declared, address: Address) -> EndpointSpec:
    """What the bridge is told of an endpoint that is asked by HTTP where the WebSocket fails."""
    if known.guessed:
        return spec
    return msgspec.structs.replace(spec, kind="openai-responses", url=address.url, query={})


def _header(spec: EndpointSpec, key: str) -> dict[str, str]:
    """The key's header: a bearer token in Authorization, bare elsewhere."""
    bearer = spec.key_header.lower() == "authorization"
    return {spec.key_header: f"Bearer {key}" if bearer else key}


def _key(name: str, known: Declared, sources: Sources, url: str) -> str:
    """The key in the environment; empty: none is needed, or the keyring has it.

    Raises UsageError: it is nowhere, or it is none.
    """
    spec, environment = known.spec, sources.environment
    if not spec.key_env:
        return ""
    key = environment.get(spec.key_env, "").strip()
    if not key:
        if known.key_optional or _in_keyring((name, spec.provider), sources):
            return ""
        raise UsageError(
            f"no key for {urlsplit(url).hostname}: set the environment variable {spec.key_env}"
            f"{_other_ways(name, spec)}"
        )
    if not key.isascii() or not key.isprintable() or " " in key:
        raise UsageError(f"the key in {spec.key_env} is not one: it has blanks or odd characters")
    return key


def _other_ways(name: str, spec: EndpointSpec) -> str:
    """Where else a key may be; an address of the command line has no name in the keyring."""
    place = spec.provider or ("" if name == CLI_ENDPOINT else name)
    if not place:
        return ', or name another one with --key-env ("" sends no key)'
    keyring = f"put it into the keyring: duetto keys set {place}"
    return f", name another one with --key-env, or {keyring}"


def _in_keyring(users: tuple[str, str], sources: Sources) -> bool:
    """Whether the keyring has a key; it is asked only where nobody noted that it does."""
    noted = names(sources.state_dir) if sources.state_dir else []
    if any(user in noted for user in users if user):
        return True
    from tui.bridge.targets import stored_key

    return bool(stored_key(users))


def checked_url(url: str, query: Mapping[str, str], origin: str) -> tuple[str, bool]:
    """A server's address with its query, and whether it is on this machine.

    Raises UsageError: not a server's address, no host, a password in it.
    """
    try:
        parts = urlsplit(checked(Address(url)).url)
    except EndpointError as error:
        raise UsageError(f"{origin}: {error}") from error
    if parts.username is not None or parts.password is not None:
        raise UsageError(
            f"{origin}: no user or password in the address: the key comes from the variable that"
            " key_env (or --key-env) names"
        )
    added = urlencode(query, quote_via=quote)
    joined = "&".join(part for part in (parts.query, added) if part)
    full = urlunsplit(parts._replace(query=joined, fragment=""))
    return full, is_loopback(parts.hostname or "")
