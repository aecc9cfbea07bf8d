"""The part of ``duetto doctor`` that is about the way to the models and what they can do."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator, Mapping
from datetime import datetime

from tui.cli.endpoint_specs import REHEARSAL
from tui.cli.finding import Finding
from tui.cli.network import Network
from tui.cli.probing import STEP_S, Probing
from tui.cli.workplace import Workplace
from tui.core.wire.address import AUTHORITY_VARIABLES, shown
from tui.effects.known_endpoints import Fact
from tui.effects.system import MonotonicClock
from tui.engine.ports import Wire
from tui.errors import EndpointError, WireError

PONG_TIMEOUT_S = 3.0
LOOK_S = 0.005
PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "WSS_PROXY", "WS_PROXY", "SOCKS_PROXY", "ALL_PROXY")
_SCHEME = re.compile(r"[a-z][\w+.-]*://", re.IGNORECASE)
REFUSED = "check the model's name, and that the address ends as its maker says (/v1/responses)"
_WORDS = {True: "yes", False: "no", None: "not known"}


def surroundings(environment: Mapping[str, str]) -> Iterator[Finding]:
    """The proxies and certificate authorities that the environment names; no secrets."""
    named = [
        f"{name}={_without_user(value)}"
        for name, value in environment.items()
        if name.upper() in PROXIES and value
    ]
    if named:
        none = [v for name, v in environment.items() if name.upper() == "NO_PROXY" and v]
        named += [f"NO_PROXY={value}" for value in none[:1]]
        yield Finding("proxies", "note", f"{', '.join(named)} (never for this machine)")
    files = {name: environment[name] for name in AUTHORITY_VARIABLES if environment.get(name)}
    if not files:
        return
    text = ", ".join(f"{name}={path}" for name, path in files.items())
    missing = [name for name, path in files.items() if not os.access(path, os.R_OK)]
    if missing:
        yield Finding("certificates", "fix", text, f"{', '.join(missing)}: no such file")
    else:
        yield Finding("certificates", "note", text)


def _without_user(value: str) -> str:
    """Where a proxy is: what stands before the last ``@`` may be a password, however odd."""
    scheme = _SCHEME.match(value)
    place = value[scheme.end() if scheme else 0 :].rpartition("@")[2]
    return shown(f"{scheme[0] if scheme else 'http://'}{place}")


async def endpoint_findings(workplace: Workplace, *, probe: bool) -> list[Finding]:
    """Dial every endpoint that a role uses, at the same time; ``probe`` tries what it can do."""
    network = Network(workplace, MonotonicClock(), forget=probe)
    names = list(workplace.models.endpoints) + [REHEARSAL] * workplace.models.rehearsal
    try:
        rows = await asyncio.gather(*(_examined(name, network, workplace, probe) for name in names))
    finally:
        await network.close()
    return [finding for row in rows for finding in row]


async def _examined(
    name: str, network: Network, workplace: Workplace, probe: bool
) -> list[Finding]:
    """One endpoint: reached or not, then what is known of it."""
    wire = network.wire(name)
    found: list[Finding] = []
    try:
        reached = await _dialled(name, wire, network)
        found.append(reached)
        if probe and reached.state != "unreachable":
            found.append(await _probed(name, network, workplace))
    finally:
        await wire.close()
    if name != REHEARSAL and not network.bridged(name):
        found.append(_known(name, network, advise=not probe))
    return found


async def _dialled(name: str, wire: Wire, network: Network) -> Finding:
    """Dial one endpoint and measure the round trip of a ping."""
    check, clock = f"endpoint {name}", MonotonicClock()
    began = clock.now()
    try:
        await wire.open()
    except EndpointError as error:
        return Finding(check, "unreachable", str(error))
    dial_ms = (clock.now() - began) * 1000
    where = network.shown_address(name)
    if name != REHEARSAL and network.bridged(name):
        return Finding(check, "ok", f"{where} through the bridge, which is up in {dial_ms:.0f} ms")
    if wire.transport == "http":
        text = f"{where} refuses the WebSocket: it is spoken to by HTTP+SSE through the bridge"
        return Finding(check, "note", text)
    for _ in range(int(PONG_TIMEOUT_S / LOOK_S)):
        if wire.round_trip_s is not None:
            break
        await asyncio.sleep(LOOK_S)
    if wire.round_trip_s is None:
        return Finding(check, "note", f"{where} answers no ping (dial {dial_ms:.0f} ms)")
    trip_ms = round(wire.round_trip_s * 1000, 2)
    text = f"{where} reached in {dial_ms:.0f} ms, round trip {trip_ms:.1f} ms"
    return Finding(check, "ok", text, round_trip_ms=trip_ms)


async def _probed(name: str, network: Network, workplace: Workplace) -> Finding:
    """Try prewarm, lanes, steering and interrupt with every model of the endpoint."""
    check = f"probe {name}"
    specs = workplace.models.roles.values()
    models = list(dict.fromkeys(spec.model for spec in specs if spec.endpoint == name))
    wire = network.wire(name, "probe")
    probing = Probing(wire)
    silent: list[str] = []
    try:
        await probing.prewarm(models[0])
        for model in models:
            await probing.answer(model)
            if probing.refusal:
                text = f"{model} gives no answer: {probing.refusal}"
                return Finding(check, "fix", text, REFUSED)
            silent += [model] * (not probing.streams)
        parts = [able_words(wire, model) for model in models]
    except (EndpointError, WireError) as error:
        return Finding(check, "note", f"could not be tried: {error}")
    finally:
        await wire.close()
    able = wire.abilities(models[0])
    shared = f"lanes {_WORDS[able.lanes]}, prewarm {_WORDS[able.prewarm]}"
    cost = f"asked {len(models)} model{'s' * (len(models) > 1)} for one short answer each"
    text = f"{shared}; {'; '.join(parts)} ({cost})"
    if silent:
        return Finding(
            check, "note", f"{', '.join(silent)} said nothing within {STEP_S:.0f} s; {text}"
        )
    return Finding(check, "ok", text)


def able_words(wire: Wire, model: str) -> str:
    """What was learnt of a model."""
    able = wire.abilities(model)
    return f"{model}: interrupt {_WORDS[able.interrupt]}, steer {_WORDS[able.steer]}"


def _known(name: str, network: Network, *, advise: bool) -> Finding:
    """What is remembered of an endpoint, and since when; ``advise`` how to learn it."""
    facts = network.facts(name)
    check = f"known of {name}"
    if not facts:
        advice = "duetto doctor --probe tries what it can do" if advise else ""
        return Finding(check, "note", "nothing yet", advice)
    words = [f"{fact} {_fact_words(fact, known)}" for fact, known in sorted(facts.items())]
    told = {
        fact: {"value": known.value, "since": _date(known.since).isoformat(timespec="seconds")}
        for fact, known in facts.items()
    }
    return Finding(check, "ok", "; ".join(words), facts=told)


def _fact_words(name: str, fact: Fact) -> str:
    since = f"since {_date(fact.since):%Y-%m-%d %H:%M}"
    if name == "max_age_s":
        return f"{fact.value:.0f} ({since})"
    return f"{_WORDS[bool(fact.value)]} ({since})"


def _date(unix_s: float) -> datetime:
    """Local time; a broken number is the beginning of time."""
    try:
        return datetime.fromtimestamp(unix_s).astimezone()
    except (OverflowError, OSError, ValueError):
        return datetime.fromtimestamp(0).astimezone()
