"""Endpoints as settings and flags declare them, as the data that the bridge is told.

A table of ``config.toml`` says what it wants to; the facts of its provider (`bridge.providers`)
say the rest. No key is read here: a specification names the variable that it is in.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from tui.core.tiers import SameTiers
from tui.core.wire.address import is_loopback
from tui.errors import EndpointError, UsageError
from tui.settings import NO_VARIABLE, EndpointSettings, ModelSettings, Paths, Settings, is_variable

if TYPE_CHECKING:
    from tui.bridge.endpoints.base import EndpointSpec, ModelFacts
    from tui.bridge.providers.facts import Provider

DEFAULT_KEY_ENV = "OPENAI_API_KEY"
REHEARSAL = "rehearsal"
"""The endpoint's name of the bridge's rehearsal engine."""
_BY_PORT = ("ollama", "lmstudio")
"""Servers whose port on this machine is nobody else's: 8000 or 8080 may be anything."""

CLI_ENDPOINT = "cli"
"""The endpoint's name of ``--endpoint URL``."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Where declarations come from."""

    settings: Settings
    environment: Mapping[str, str]
    providers_dir: Path | None = None
    """The user's own provider files."""
    flagged: dict[str, EndpointSettings] = field(default_factory=dict)
    """Endpoints that the command line declares, over those of the settings."""
    state_dir: Path | None = None
    """Where the names of the keys in the keyring are noted."""
    _known: dict[str, Provider | None] = field(default_factory=dict, compare=False)

    def provider(self, name: str) -> Provider | None:
        """What is known of a provider; None: there is none of this name."""
        from tui.bridge.providers import facts

        if name not in self._known:
            there = name in facts.names(self.providers_dir)
            self._known[name] = facts.provider(name, self.providers_dir) if there else None
        return self._known[name]

    def same_tiers(self, spec: EndpointSpec, tier: str) -> SameTiers:
        """Names of service tiers that are one where this endpoint is; see `Provider.same_tiers`.

        Of one that only its address tells, all files are read: where a tier is asked for, only.
        """
        from tui.bridge.providers import facts

        known = self.provider(spec.provider) if spec.provider else None
        if known is None and tier:
            known = facts.of_url(facts.readable(self.providers_dir), spec.url)
        ours = spec.options.get("tiers")  # what we call otherwise is no other tier
        translated = tuple(ours.items()) if isinstance(ours, Mapping) else ()
        return (*known.same_tiers, *translated) if known is not None else translated

    def table(self, name: str) -> EndpointSettings:
        """What declares an endpoint: its table, or the provider of its name. Raises UsageError."""
        table = self.flagged.get(name) or self.settings.endpoints.get(name)
        if table is not None:
            return table
        if "/" in name or ":" in name:
            raise UsageError("an address is no endpoint's name: give it as url of [endpoints.NAME]")
        if self.provider(name) is None:
            raise UsageError(f"there is no endpoint and no provider {name!r}{self.near(name)}")
        return EndpointSettings(provider=name)

    def near(self, name: str) -> str:
        """What there is instead of a name that is not known."""
        from tui.bridge.providers import facts

        names = {*self.flagged, *self.settings.endpoints, *facts.names(self.providers_dir)}
        return facts.near(name, sorted(names))


@dataclass(frozen=True, slots=True)
class Declared:
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
        said = _model_facts(model)
        known[model.name] = said.over(known[model.name]) if model.name in known else said
    return msgspec.structs.replace(spec, models=known)


def _facts(name: str, table: EndpointSettings, sources: Sources, origin: str) -> Provider | None:
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


def _at(url: str, sources: Sources) -> Provider | None:
    """The provider whose base URL this is; of a whole address its path says what it speaks."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return None  # said when it is dialled
    if parts.scheme not in ("http", "https") or parts.path.rstrip("/").endswith("/responses"):
        return None
    from tui.bridge.providers import facts

    folder = sources.providers_dir
    names = facts.names(folder)
    if is_loopback(host):
        own = {file.stem for file in folder.glob("*.toml")} if folder else set()
        names = [name for name in names if name in _BY_PORT or name in own]
    for name in names:
        known = facts.provider(name, folder)
        if known.serves(url) and known.kind != REHEARSAL:
            return known
    return None


def _of_provider(
    facts: Provider, table: EndpointSettings, environment: Mapping[str, str], origin: str
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
    return "responses-ws" if urlsplit(f"//{rest}").path.endswith("/responses") else "auto"


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
        "options": {**base.options, **table.options},
        # what this table says of the endpoint is stronger than what the provider says of a model
        "known_models": {
            name: msgspec.structs.replace(one, options=_others(one.options, table.options))
            for name, one in base.known_models.items()
        },
        "models": {name: _table_facts(one) for name, one in table.models.items()},
    }
    if table.key_env is not None:
        said["key_env"] = table.key_env
    if table.key_header is not None:
        said["key_header"] = table.key_header
    if table.kind:
        said["kind"] = table.kind
    return said


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

    return msgspec.convert(table, ModelFacts, from_attributes=True)


def _model_facts(model: ModelSettings) -> ModelFacts:
    from tui.bridge.endpoints.base import ModelFacts

    return ModelFacts(
        context_window=model.context_window,
        max_output_tokens=model.max_output_tokens,
        images=model.images,
        fallbacks=model.fallbacks,
    )
