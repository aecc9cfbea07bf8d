"""The options that all commands share which talk to a model, and what they resolve to.

::

    @click.command()
    @model_options
    def command(flags: ModelFlags, ...): ...

    models = resolve(settings_for(flags, paths), flags)

Flags win over the environment (``DUETTO_ENDPOINT`` and so on), that over ``config.toml``; with
nothing at all the rehearsal answers.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

import click
import msgspec

from tui.core.wire.address import Address, checked, is_loopback
from tui.engine.intents import Role
from tui.engine.ports import RoleSpec
from tui.errors import EndpointError, UsageError
from tui.settings import (
    NO_VARIABLE,
    EndpointSettings,
    ModelSettings,
    Paths,
    Settings,
    Transport,
    is_variable,
    load,
)

REHEARSAL = "rehearsal"
"""The endpoint's name of the bridge's rehearsal engine."""
CLI_ENDPOINT = "cli"
"""The endpoint's name of ``--endpoint``."""
DEFAULT_KEY_ENV = "OPENAI_API_KEY"
ROLES: tuple[Role, ...] = get_args(Role)


@dataclass(frozen=True, slots=True)
class ModelFlags:
    """What the shared options say; None: not given."""

    endpoint: str | None = None
    fast: str | None = None
    deep: str | None = None
    key_env: str | None = None
    config: Path | None = None
    debug: bool = False


@dataclass(frozen=True, slots=True)
class ResolvedEndpoint:
    """A server with all that dialling it takes."""

    name: str
    address: Address
    """Its headers hold the key, if there is one."""
    key_env: str = ""
    """The variable that the key came from, empty: no key is sent."""
    transport: Transport = "auto"


@dataclass(frozen=True, slots=True)
class ResolvedModels:
    """Who answers for the roles, and where."""

    roles: dict[Role, RoleSpec]
    """At least one; ``deep`` is missing when only ``--fast`` was given, and the other way."""
    endpoints: dict[str, ResolvedEndpoint]
    """All that the roles name but the rehearsal, which the bridge serves."""
    rehearsal: bool
    """Whether a role is answered by the rehearsal."""

    @property
    def first_role(self) -> Role:
        """The role to begin with: fast, if there is one."""
        return "fast" if "fast" in self.roles else "deep"


R = TypeVar("R")
C = TypeVar("C", bound=Callable[..., Any])


def record_option(command: C) -> C:
    """Add ``--record FILE``; the command gets it as ``record``."""
    return click.option(
        "--record",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Write every frame, keys masked, to a new FILE, for: duetto replay FILE.",
    )(command)


def trace_option(command: C) -> C:
    """Add ``--trace FILE``; the command gets it as ``trace``."""
    return click.option(
        "--trace",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Write to a new FILE when keys, frames and events came and went, to measure by.",
    )(command)


def model_options(command: Callable[..., R]) -> Callable[..., R]:
    """Add the shared options; the command gets them as one argument, ``flags``."""

    @functools.wraps(command)
    def gathered(*args: Any, **kwargs: Any) -> R:
        found = {name: kwargs.pop(name) for name in ModelFlags.__slots__}
        kwargs["flags"] = ModelFlags(**found)
        return command(*args, **kwargs)

    for option in reversed(_OPTIONS):
        gathered = option(gathered)
    return gathered


_OPTIONS = (
    click.option(
        "--endpoint",
        metavar="URL",
        envvar="DUETTO_ENDPOINT",
        help="Server that speaks Responses WebSocket mode: wss://HOST/v1/responses.",
    ),
    click.option("--fast", metavar="MODEL", envvar="DUETTO_FAST", help="The fast model's name."),
    click.option("--deep", metavar="MODEL", envvar="DUETTO_DEEP", help="The deep model's name."),
    click.option(
        "--key-env",
        metavar="NAME",
        envvar="DUETTO_KEY_ENV",
        help=f"Environment variable that holds the key [default: {DEFAULT_KEY_ENV}].",
    ),
    click.option(
        "--config",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Read this config.toml instead of your own.",
    ),
    click.option("--debug", is_flag=True, help="Write more to the log file."),
)


def settings_for(flags: ModelFlags, paths: Paths) -> Settings:
    """The settings of ``--config``, else the user's own. Raises SettingsError."""
    if flags.config is not None:
        return load(flags.config, required=True)
    return load(paths.config_file)


def resolve(
    settings: Settings, flags: ModelFlags, environment: Mapping[str, str] = os.environ
) -> ResolvedModels:
    """Who answers for which role. Raises UsageError (no key, clear text and so on)."""
    chosen = {role: model for role in ROLES if (model := _model(settings, flags, role))}
    if not chosen:
        if flags.endpoint:
            raise UsageError("--endpoint needs to know a model: add --fast MODEL or --deep MODEL")
        chosen = {role: _rehearsal_model(role) for role in ROLES}
    endpoints: dict[str, ResolvedEndpoint] = {}
    _check_key_env(flags, {model.endpoint for model in chosen.values()} - {REHEARSAL})
    for model in chosen.values():
        if model.endpoint != REHEARSAL and model.endpoint not in endpoints:
            endpoints[model.endpoint] = _endpoint(model.endpoint, settings, flags, environment)
    return ResolvedModels(
        roles={role: _spec(role, model, settings) for role, model in chosen.items()},
        endpoints=endpoints,
        rehearsal=any(model.endpoint == REHEARSAL for model in chosen.values()),
    )


def _check_key_env(flags: ModelFlags, used: set[str]) -> None:
    """The key named on the command line must be the key of one endpoint only."""
    if flags.key_env is not None and CLI_ENDPOINT not in used and len(used) > 1:
        names = " or ".join(sorted(used))
        raise UsageError(
            f"--key-env: is it the key of {names}?"
            " Set key_env in their tables in config.toml, or add --endpoint URL"
        )


def _spec(role: Role, model: ModelSettings, settings: Settings) -> RoleSpec:
    known = settings.endpoints.get(model.endpoint)
    chaining = known.chaining if known is not None else True
    return RoleSpec(
        role,
        model.name,
        model.endpoint,
        effort=model.effort,
        context_window=model.context_window,
        patch_tool=model.patch_tool,
        chaining=chaining,
    )


def _rehearsal_model(role: Role) -> ModelSettings:
    return ModelSettings(name=f"rehearsal-{role}", endpoint=REHEARSAL)


def _model(settings: Settings, flags: ModelFlags, role: Role) -> ModelSettings | None:
    """The model of a role with its endpoint's name filled in, None if it has none."""
    named = flags.fast if role == "fast" else flags.deep
    own = settings.models.fast if role == "fast" else settings.models.deep
    if named is not None and not named.strip():
        raise UsageError(f"--{role} needs the name of a model")
    if named is None and own is None:
        return None
    if named is not None and (own is None or own.name != named):
        model = ModelSettings(name=named, endpoint=own.endpoint if own else "")
    else:
        assert own is not None
        model = own
    if not model.name.isprintable():
        raise UsageError(f"--{role}: {model.name!r} is no name of a model")
    name = _endpoint_name(settings, flags, model, named is not None)
    return ModelSettings(
        name=model.name,
        endpoint=name,
        effort=model.effort,
        context_window=model.context_window,
        patch_tool=model.patch_tool,
    )


def _endpoint_name(
    settings: Settings, flags: ModelFlags, model: ModelSettings, by_flag: bool
) -> str:
    if flags.endpoint and (by_flag or not model.endpoint):
        return CLI_ENDPOINT
    if model.name.partition("@")[0] in ("rehearsal-fast", "rehearsal-deep"):
        return REHEARSAL
    if model.endpoint:
        return model.endpoint
    if len(settings.endpoints) == 1:
        return next(iter(settings.endpoints))
    if settings.endpoints:
        names = ", ".join(settings.endpoints)
        raise UsageError(
            f"the model {model.name!r} does not say on which endpoint it is ({names}):"
            " add endpoint = NAME to its table in config.toml, or --endpoint URL"
        )
    raise UsageError(
        f"the model {model.name!r} needs a server: add --endpoint wss://HOST/v1/responses"
        " (or [endpoints.NAME] in config.toml)"
    )


def _endpoint(
    name: str, settings: Settings, flags: ModelFlags, environment: Mapping[str, str]
) -> ResolvedEndpoint:
    if name == CLI_ENDPOINT and flags.endpoint:
        declared = EndpointSettings(url=flags.endpoint, key_env=flags.key_env)
        origin = "--endpoint"
    else:
        declared = settings.endpoints[name]
        if flags.key_env is not None and not flags.endpoint:
            declared = msgspec.structs.replace(declared, key_env=flags.key_env)
        origin = f"[endpoints.{name}] url"
    url, loopback = checked_url(declared.url, declared.query, origin)
    headers = dict(declared.headers)
    key_env, header = declared.key_env, declared.key_header
    written = any(name.lower() == header.lower() for name in headers)
    if key_env is None:
        key_env = "" if loopback or written else DEFAULT_KEY_ENV
    if key_env and not is_variable(key_env):
        raise UsageError(f"--key-env {NO_VARIABLE}")
    if key_env and written:
        raise UsageError(
            f"[endpoints.{name}] headers sets {header}, where the key of {key_env} travels:"
            " remove it there, or name another key_header"
        )
    if key_env:
        key = _key(key_env, environment, url)
        headers[header] = f"Bearer {key}" if header.lower() == "authorization" else key
        if url.startswith("ws:") and not loopback:
            host = urlsplit(url).hostname
            raise UsageError(f"{origin}: the key for {host} would travel in clear text: use wss://")
    compression = None if declared.compression == "auto" else declared.compression
    try:
        address = checked(Address(url, headers, compression))
    except EndpointError as error:
        raise UsageError(f"{origin}: {error}") from error
    return ResolvedEndpoint(name, address, key_env, declared.transport)


def _key(key_env: str, environment: Mapping[str, str], url: str) -> str:
    key = environment.get(key_env, "").strip()
    if not key:
        raise UsageError(
            f"no key for {urlsplit(url).hostname}: set the environment variable {key_env},"
            " or name another one with --key-env"
        )
    if not key.isascii() or not key.isprintable() or " " in key:
        raise UsageError(f"the key in {key_env} is not one: it has blanks or odd characters")
    return key


def checked_url(url: str, query: Mapping[str, str], origin: str) -> tuple[str, bool]:
    """A server's address with its query, and whether it is on this machine.

    Raises UsageError: not a WebSocket address, no host, a password in it.
    """
    try:
        parts = urlsplit(checked(Address(url)).url)
    except EndpointError as error:
        raise UsageError(f"{origin}: {error}") from error
    if parts.username is not None or parts.password is not None:
        raise UsageError(f"{origin}: no user or password in the address: use --key-env NAME")
    added = urlencode(query, quote_via=quote)
    joined = "&".join(part for part in (parts.query, added) if part)
    full = urlunsplit(parts._replace(query=joined, fragment=""))
    return full, is_loopback(parts.hostname or "")
