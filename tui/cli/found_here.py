"""What there is on this machine for a first run: keys by name, servers that listen, git, tests.

Only this machine is asked: a key is looked for, never sent; a server on a loopback port is asked
for its list of models without one, and only if something listens there.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from tui.core.programs import safe_path
from tui.errors import DuettoError, EndpointError
from tui.settings import Paths, Settings
from tui.ui.first_run.port import Found, Listed, Source
from tui.ui.terminal import facts as terminal_facts

if TYPE_CHECKING:
    from tui.bridge.endpoints.base import EndpointSpec
    from tui.bridge.providers.facts import Provider

log = logging.getLogger("tui.cli")
KNOCK_S = 0.5
"""A port of this machine that has not taken a connection by then has nobody behind it."""
LIST_S = 2.0
"""A server on this machine that has not named its models by then is not waited for."""
ASK_S = 10.0
"""The same for a provider, which was chosen by then."""
GIT_S = 1.0
NO_MODEL = "It has no model that could answer."
SERVERS = ("ollama", "lmstudio", "llamacpp", "vllm")
"""Those that are named, too, if they are not there."""
_COLOURS = {"true": "all colours", "256": "256 colours", "16": "16 colours", "none": "no colours"}
_OTHERS = re.compile(
    r"embed|whisper|\btts\b|-tts|dall-e|moderation|transcri|rerank|image|realtime|audio|sora|guard"
)
_SIZE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)b(?![a-z])")
Tell = Callable[[Found], None]


@dataclass(frozen=True, slots=True)
class Place:
    """Where it is looked."""

    paths: Paths
    here: Path | None
    """The current folder, if it can be read."""
    environment: Mapping[str, str]


async def look(place: Place, tell: Tell) -> tuple[Source, ...]:
    """All of it, at the same time; servers of this machine come first. Never raises."""
    known = await asyncio.to_thread(_providers, place.paths)
    local = {name: one for name, one in known.items() if one.local}
    for name in SERVERS:
        if name in local:
            tell(Found(local[name].title, "looking…", "looking"))
    keyed = _keyed(known, place.environment, tell)
    servers = [_server(name, one, place, tell) for name, one in sorted(local.items(), key=_order)]
    tell(Found("terminal", _terminal(place.environment), "found"))
    rest = (_git(tell), _tests(place, tell))
    # not an except: what a stranger's server can break is not known beforehand
    found = await asyncio.gather(*servers, *rest, return_exceptions=True)
    for one in found:
        if isinstance(one, BaseException):
            log.warning("looking around: %s", type(one).__name__)
    return (*(one for one in found if isinstance(one, Source)), *keyed)


async def models_of(source: Source, place: Place) -> Listed:
    """The list of somebody who was chosen, asked with the key. Never raises."""
    (found,) = await asyncio.gather(_models(source.name, place), return_exceptions=True)
    if isinstance(found, Listed):
        return found
    if not isinstance(found, DuettoError):
        log.warning("asking %s for its models: %s", source.name, type(found).__name__)
    return Listed((), str(found) or type(found).__name__)


async def _models(name: str, place: Place) -> Listed:
    from tui.bridge.keys import key_of

    known = await asyncio.to_thread(_providers, place.paths)
    if name not in known:
        return Listed((), f"There is no provider {name!r} any more.")
    spec = known[name].spec(place.environment)
    return await listed(name, spec, key_of(name, spec, place.environment), ASK_S)


async def listed(name: str, spec: EndpointSpec, key: str, patience_s: float) -> Listed:
    """Ask an endpoint for its models; what goes wrong is said in words."""
    await asyncio.to_thread(_import_upstream)
    from tui.bridge.endpoints.base import Broken, Refused
    from tui.bridge.providers.discovery import Discovery
    from tui.bridge.told_endpoints import target
    from tui.bridge.upstream.client import Upstream

    upstream = Upstream()
    try:
        discovery = Discovery(target(name, spec, key), upstream)
        async with asyncio.timeout(patience_s):
            models = tuple(_that_chat(await discovery.models()))
    except TimeoutError:
        return Listed((), f"No answer within {patience_s:.0f} s.")
    except (EndpointError, Broken, Refused) as error:
        return Listed((), str(error))
    finally:
        with contextlib.suppress(OSError):
            await upstream.close()
    return Listed(models, "" if models else NO_MODEL)


def _that_chat(names: Iterable[str]) -> list[str]:
    """Without those whose names say that they do something else, unless nothing is left then."""
    found = sorted(names, key=_by_size)
    return [name for name in found if not _OTHERS.search(name.lower())] or found


def _terminal(environment: Mapping[str, str]) -> str:
    """What it shows, in words."""
    facts = terminal_facts.find(environment)
    signs = "Unicode" if facts.glyphs == "unicode" else "few signs beyond ASCII"
    words = [_COLOURS[facts.colours], signs if facts.unicode else "ASCII only"]
    words += [facts.multiplexer] * bool(facts.multiplexer) + ["over SSH"] * facts.remote
    return ", ".join(words)


def _import_upstream() -> None:
    """In a thread: it takes a while, and the screen is to go on."""
    for module in ("tui.bridge.providers.discovery", "tui.bridge.upstream.client"):
        import_module(module)


def _providers(paths: Paths) -> Mapping[str, Provider]:
    from tui.bridge.providers import facts

    return facts.readable(paths.providers_dir)


def _order(entry: tuple[str, object]) -> tuple[int, str]:
    """The well-known servers first, in the order in which they are named."""
    name = entry[0]
    return (SERVERS.index(name) if name in SERVERS else len(SERVERS), name)


def _by_size(model: str) -> tuple[float, str]:
    """Smaller models first, where the name says how large they are; then by name."""
    sizes = [float(size) for size in _SIZE.findall(model.lower())]
    return (max(sizes) if sizes else 0.0, model.lower())


def _keyed(
    known: Mapping[str, Provider], environment: Mapping[str, str], tell: Tell
) -> list[Source]:
    """The providers whose keys are in the environment: by the variables' names."""
    sources: list[Source] = []
    for name, one in known.items():
        variable = one.variable(environment)
        if one.local or not variable or not environment.get(variable, "").strip():
            continue
        try:
            host = urlsplit(one.address(environment)).hostname
        except (EndpointError, ValueError) as error:
            tell(Found(one.title, f"{variable} is set. {error}", "odd"))
            continue
        tell(Found(one.title, f"{variable} is set", "found"))
        asks = f"asks {host} for its models, with {variable}"
        sources.append(Source(name, one.title, f"{variable} is set", asks=asks))
    return sources


async def _server(name: str, one: Provider, place: Place, tell: Tell) -> Source | None:
    """A server at the port that it chooses by itself; None: there is none that could answer."""
    where = f"127.0.0.1:{one.port}"
    if not await _listens(one.port or 0):
        if name in SERVERS:
            tell(Found(one.title, "nobody listens", "nothing"))
        return None
    spec = one.spec({}, f"http://{where}/v1")
    found = await listed(name, msgspec.structs.replace(spec, key_env=""), "", LIST_S)
    variable = one.variable(place.environment)
    if found.models:
        count = f"{len(found.models)} model{'s' * (len(found.models) > 1)} on {where}"
        tell(Found(one.title, count, "found"))
        return Source(name, one.title, count, found.models)
    if variable and place.environment.get(variable, "").strip():
        tell(Found(one.title, f"something on {where}, and {variable} is set", "found"))
        asks = f"asks {where} for its models, with {variable}"
        return Source(name, one.title, "", asks=asks)
    wrong = found.wrong
    if wrong == NO_MODEL and name == "ollama":
        wrong += " ollama pull NAME gets one."
    tell(Found(one.title, f"something on {where}, but: {wrong}", "odd"))
    return None


async def _listens(port: int) -> bool:
    """Whether somebody takes a connection; nothing is said to them."""
    try:
        async with asyncio.timeout(KNOCK_S):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
    except (OSError, TimeoutError):
        return False
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return True


async def _git(tell: Tell) -> None:
    """Whether git is here; it gets nothing of the environment but where programs are."""
    path = safe_path(os.environ, os.getcwd())
    program = shutil.which("git", path=path)
    if program is None:
        tell(Found("git", "not found: no states in the file tree, no diff against HEAD", "nothing"))
        return
    version = ""
    with contextlib.suppress(OSError, TimeoutError):
        running = await asyncio.create_subprocess_exec(
            program,
            "--version",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={"PATH": path, "LC_ALL": "C"},
        )
        try:
            async with asyncio.timeout(GIT_S):
                said, _ = await running.communicate()
            version = said.decode("utf-8", "replace").removeprefix("git version ").strip()
        finally:
            if running.returncode is None:
                running.kill()
    tell(Found("git", version[:24] or "found", "found"))


async def _tests(place: Place, tell: Tell) -> None:
    """Which command judges the current folder."""
    from tui.cli import verify_command

    if place.here is None:
        return
    try:
        command = await asyncio.to_thread(verify_command.find, place.here, Settings())
    except (DuettoError, OSError) as error:
        tell(Found("tests", str(error), "odd"))
        return
    if command is None:
        tell(Found("tests", "no test command found in this folder", "nothing"))
    else:
        tell(Found("tests", command.source, "found"))
