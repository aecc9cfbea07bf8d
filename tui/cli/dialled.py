"""Where an endpoint is dialled: directly with its key, or through the bridge, which reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

import msgspec

from tui.cli import stored_keys
from tui.cli.endpoint_specs import CLI_ENDPOINT, Declared, Sources, declared, with_models
from tui.core.wire.address import Address, checked, is_loopback
from tui.errors import EndpointError, UsageError
from tui.settings import ModelSettings, Transport

if TYPE_CHECKING:
    from tui.bridge.endpoints.base import EndpointSpec, ModelFacts


@dataclass(frozen=True, slots=True)
class ResolvedEndpoint:
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

        Raises EndpointError: it is not there any more.
        """
        from tui.bridge.keys import PATIENCE_S, stored_key

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
    noted = stored_keys.names(sources.state_dir) if sources.state_dir else []
    if any(user in noted for user in users if user):
        return True
    from tui.bridge.keys import stored_key

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
