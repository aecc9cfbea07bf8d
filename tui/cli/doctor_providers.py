"""The part of ``duetto doctor`` about providers: keys by name, models, windows."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from tui.cli import stored_keys
from tui.cli.finding import Finding, State
from tui.cli.options import ModelFlags
from tui.cli.resolution import named_models
from tui.cli.workplace import Workplace
from tui.effects.known_endpoints import KnownEndpoints
from tui.errors import EndpointError, SettingsError
from tui.settings import Paths, Settings

if TYPE_CHECKING:
    from tui.bridge.endpoints.base import EndpointSpec, Target
    from tui.bridge.providers.discovery import Discovery
    from tui.bridge.upstream.client import Upstream
    from tui.cli.dialled import ResolvedEndpoint

ANSWER_S = 15.0
"""A provider that has not said by then which models it has is not waited for."""
ENOUGH_TOKENS = 16_384
"""Instructions, tools, two open files and some turns; what is smaller is worth a word."""


def key_findings(settings: Settings, paths: Paths) -> Iterator[Finding]:
    """Which keys there are, by the names of their variables; a value is never shown."""
    from tui.bridge.providers import facts

    own = [endpoint.key_env for endpoint in settings.endpoints.values() if endpoint.key_env]
    try:
        known = facts.providers(paths.providers_dir)
    except SettingsError as error:
        yield Finding("providers", "fix", str(error))
        known = facts.providers(None)
    theirs = [name for one in known.values() for name in (one.key_env, *one.key_env_also) if name]
    found = [name for name in dict.fromkeys([*own, *theirs]) if os.environ.get(name, "").strip()]
    stored = stored_keys.names(paths.state_dir)
    words = [f"in the environment: {', '.join(found)}"] * bool(found)
    words += [f"in the keyring: {', '.join(stored)}"] * bool(stored)
    if words:
        yield Finding("keys", "ok", "; ".join(words))
    else:
        advice = "duetto keys set NAME stores one in the system's keyring"
        yield Finding("keys", "note", "none of the known ones in the environment", advice)


def outdated_findings(settings: Settings, flags: ModelFlags, paths: Paths) -> Iterator[Finding]:
    """Which of the models that settings, flags and fallbacks name are gone or legacy.

    Also where they cannot be asked, for a key is missing.
    """
    from tui.bridge.providers import facts

    known = facts.readable(paths.providers_dir)
    for name, spec, model in named_models(settings, flags, os.environ, paths):
        at = known.get(spec.provider) or facts.of_url(known, spec.url)
        entry = at.outdated(model) if at is not None else None
        if at is None or entry is None:
            continue
        words = facts.outdated_words(model, entry.state, "")
        read = f"read {entry.read}" if entry.read else "not verified"
        advice = f"use {entry.successor}" if entry.successor else "choose another one"
        state: State = "fix" if entry.state == "gone" else "note"
        source = f"{entry.source or at.title}, {read}"
        yield Finding(f"model of {name}", state, f"{words} ({source})", advice)


async def provider_findings(workplace: Workplace) -> list[Finding]:
    """Ask whom the bridge asks for us which models there are, all at the same time."""
    models = workplace.models
    specs = {
        name: one.spec
        for name, one in models.endpoints.items()
        if one.bridged or _refused_the_socket(one, workplace.paths)
    }
    specs |= models.fallbacks
    if not specs:
        return []
    from tui.bridge.upstream.client import Upstream

    upstream = Upstream()
    try:
        rows = await asyncio.gather(
            *(_examined(name, spec, upstream, workplace) for name, spec in specs.items())
        )
    finally:
        await upstream.close()
    return [finding for row in rows for finding in row]


def _refused_the_socket(endpoint: ResolvedEndpoint, paths: Paths) -> bool:
    """Whether only its address was told, and it was found not to speak by WebSocket."""
    known = KnownEndpoints(paths.state_dir).load(endpoint.address.url)
    return endpoint.spec.kind == "auto" and known.websocket is False


async def _examined(
    name: str, spec: EndpointSpec, upstream: Upstream, workplace: Workplace
) -> list[Finding]:
    """One endpoint: its list of models, then those in use."""
    from tui.bridge.endpoints.base import Broken, Refused
    from tui.bridge.keys import key_of
    from tui.bridge.providers.discovery import Discovery
    from tui.bridge.told_endpoints import target

    check = f"models of {name}"
    key = await asyncio.to_thread(key_of, name, spec, os.environ)
    try:
        discovery = Discovery(target(name, spec, key), upstream)
        async with asyncio.timeout(ANSWER_S):
            listed = await discovery.models()
    except TimeoutError:
        return [Finding(check, "unreachable", f"no answer within {ANSWER_S:.0f} s")]
    except EndpointError as error:
        return [Finding(check, "fix", str(error))]
    except Broken as error:
        return [Finding(check, "unreachable" if error.unreached else "note", str(error))]
    except Refused as error:
        if error.status not in (401, 403):
            return [Finding(check, "note", f"it gives no list of them: {error}")]
        place = f"the key in {spec.key_env}" if spec.key_env else "key_env"
        return [Finding(check, "fix", str(error), f"check {place}")]
    found = [_counted(check, spec, listed)]
    for model in _in_use(name, workplace):
        if listed and (wrong := _unknown(model, discovery.target, listed)):
            found.append(Finding(check, "fix", wrong))
        else:
            found += await _window(model, discovery)
    return found


def _counted(check: str, spec: EndpointSpec, listed: Mapping[str, object]) -> Finding:
    count = f"{len(listed)} model{'' if len(listed) == 1 else 's'}" if listed else "no list of them"
    return Finding(check, "ok", f"{count} ({spec.kind})")


def _in_use(name: str, workplace: Workplace) -> list[str]:
    """The models of an endpoint that roles or their fallbacks name."""
    models = workplace.models
    used = [spec.model for spec in models.roles.values() if spec.endpoint == name]
    for one in models.endpoints.values():
        for facts in one.spec.models.values():
            places = (place.partition("/") for place in facts.fallbacks)
            used += [model for endpoint, _, model in places if endpoint == name]
    return list(dict.fromkeys(used))


def _unknown(model: str, target: Target, listed: Mapping[str, object]) -> str:
    """Why a model is not one of those that the endpoint has; empty: it is, or may be."""
    from tui.bridge.providers.catalogue import near
    from tui.bridge.providers.ollama import same_model

    names = {model, target.route(model)}
    if any(same_model(one, name) for one in listed for name in names):
        return ""
    if any(one.rpartition("/")[2] == model for one in listed):
        return ""
    many = f"among its {len(listed)} models" if len(listed) > 1 else "the one model that it has"
    return f"{model!r} is not {many}{near(model, [*listed])}"


async def _window(model: str, discovery: Discovery) -> list[Finding]:
    """How much a model in use takes, and what to do where that is little."""
    from tui.bridge.providers import ollama

    await discovery.loaded(model)
    window = discovery.target.facts(model).context_window
    check, local = f"window of {model}", discovery.form == "ollama"
    if window is None:
        words = "not known until the model is loaded" if local else "not known"
        advice = "" if local else "set context_window for it in config.toml"
        return [Finding(check, "note", words, advice)]
    text = f"{window:,} tokens"
    if window >= ENOUGH_TOKENS:
        return [Finding(check, "ok", text)]
    if not local:
        return [Finding(check, "note", f"{text}: little for open files and a conversation")]
    trained = await ollama.trained_window(discovery.questions, model)
    advice = ollama.to_do(window, ENOUGH_TOKENS // 2, trained)
    return [Finding(check, "fix", f"{text} (num_ctx): longer requests are refused", advice)]
