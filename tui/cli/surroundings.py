"""What there is around duetto: providers with a key, servers on this machine, git, tests."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import socket
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from tui import own_process
from tui.cli.catalogue import NO_MODEL, ModelList, listed
from tui.cli.endpoints import names
from tui.core.programs import safe_path
from tui.engine.connecting import FoundHere, ModelSource
from tui.engine.ports import ModelOffer, project_tests
from tui.errors import DuettoError, EndpointError
from tui.settings import Paths, Settings
from tui.ui.terminal import facts as terminal_facts

if TYPE_CHECKING:
    from tui.bridge.providers.provider_files import ProviderFacts

log = logging.getLogger("tui.cli")
KNOCK_S = 0.5
"""A port of this machine that has not taken a connection by then has nobody behind it."""
LIST_S = 2.0
"""A server on this machine that has not named its models by then is not waited for."""
GIT_S = 1.0
SERVERS = ("ollama", "lmstudio", "llamacpp", "vllm")
"""Those that are named, too, if they are not there."""
_COLOURS = {"true": "all colours", "256": "256 colours", "16": "16 colours", "none": "no colours"}
Tell = Callable[[FoundHere], None]


class Surroundings(Struct, frozen=True):
    """Where it is looked."""

    paths: Paths
    here: Path | None
    """The current folder, if it can be read."""
    environment: Mapping[str, str]


async def look_around(place: Surroundings, tell: Tell) -> tuple[ModelSource, ...]:
    """What a first start shows: those who could answer, the terminal, git, tests.

    Returns the first of these. Never raises.
    """
    tell(FoundHere("terminal", _terminal(place.environment), "found"))
    tell(FoundHere("git", "looking…", "looking"))
    if place.here is not None:
        tell(FoundHere("tests", "looking…", "looking"))
    looking = asyncio.create_task(look_for_sources(place, tell))
    await _all((looking, _git(tell), _tests(place, tell)))
    return await looking


async def look_for_sources(place: Surroundings, tell: Tell) -> tuple[ModelSource, ...]:
    """Who could answer, and what each of them needs; servers of this machine come first.

    Never raises.
    """
    known = await asyncio.to_thread(_providers, place.paths)
    local = {name: one for name, one in known.items() if one.local}
    for name in SERVERS:
        if name in local:
            tell(FoundHere(local[name].title, "looking…", "looking"))
    distant = _distant(known, place, tell)
    asked = (_server(name, one, place, tell) for name, one in sorted(local.items(), key=_order))
    found = [one for one in await _all(asked) if isinstance(one, ModelSource)]
    sources = [*(one for one in found if one.ready), *distant]
    sources += [one for one in found if not one.ready]
    return (*(one for one in sources if one.ready), *(one for one in sources if not one.ready))


async def _all(work: Iterable[Awaitable[object]]) -> list[object]:
    """All of it, at the same time."""
    # not an except: what a stranger's server can break is not known beforehand
    found = await asyncio.gather(*work, return_exceptions=True)
    for one in found:
        if isinstance(one, BaseException):
            log.warning("looking around: %s", type(one).__name__)
    return list(found)


def _terminal(environment: Mapping[str, str]) -> str:
    """What it shows, in words."""
    facts = terminal_facts.find(environment)
    signs = "Unicode" if facts.glyphs == "unicode" else "few signs beyond ASCII"
    words = [_COLOURS[facts.colours], signs if facts.unicode else "ASCII only"]
    words += [facts.multiplexer] * bool(facts.multiplexer) + ["over SSH"] * facts.remote
    return ", ".join(words)


def _providers(paths: Paths) -> Mapping[str, ProviderFacts]:
    from tui.bridge.providers import provider_files

    return provider_files.readable(paths.providers_dir)


def _order(entry: tuple[str, object]) -> tuple[int, str]:
    """The well-known servers first, in the order in which they are named."""
    name = entry[0]
    return (SERVERS.index(name) if name in SERVERS else len(SERVERS), name)


def _distant(
    known: Mapping[str, ProviderFacts], place: Surroundings, tell: Tell
) -> list[ModelSource]:
    """The providers: those whose keys are here, by the variables' and the notes' names, first."""
    stored = names(place.paths.state_dir)
    sources: list[ModelSource] = []
    for name, one in known.items():
        if one.local or one.kind == "rehearsal":
            continue
        variable = one.variable(place.environment)
        is_set = bool(variable and place.environment.get(variable, "").strip())
        has = f"{variable} is set" if is_set else "its key is in the keyring"
        here = is_set or name in stored
        try:
            host = urlsplit(one.address(place.environment)).hostname
        except (EndpointError, ValueError) as error:
            if here:
                tell(FoundHere(one.title, f"{has}. {error}", "odd"))
            words = f"{has}; needs an address" if here else "needs an address and a key"
            sources.append(
                ModelSource(
                    name, one.title, words, needs_key=not here, needs_address=True, ready=False
                )
            )
            continue
        if here:
            tell(FoundHere(one.title, has, "found"))
            whence = f"with {variable}" if is_set else "with the key from the keyring"
            asks = f"asks {host} for its models, {whence}"
            sources.append(ModelSource(name, one.title, has, asks=asks))
        else:
            needs = bool(variable) and not one.key_optional
            words = "needs a key" if needs else ""
            sources.append(ModelSource(name, one.title, words, needs_key=needs, ready=False))
    return sources


async def _server(
    name: str, one: ProviderFacts, place: Surroundings, tell: Tell
) -> ModelSource | None:
    """A server at the port that it chooses by itself; None: there is none that could answer."""
    where = f"127.0.0.1:{one.port}"
    if not await asyncio.to_thread(_listens, one.port or 0):
        if name not in SERVERS:
            return None
        tell(FoundHere(one.title, "nothing listening", "nothing"))
        return ModelSource(name, one.title, f"nothing listening on {where}", ready=False)
    spec = one.spec({}, f"http://{where}/v1")
    found = await listed(name, msgspec.structs.replace(spec, key_env=""), "", LIST_S)
    variable = one.variable(place.environment)
    if found.facts:
        count = f"{len(found.facts)} model{'s' * (len(found.facts) > 1)} on {where}"
        tell(FoundHere(one.title, count, "found"))
        return ModelSource(name, one.title, count, offers_of(name, found))
    if variable and place.environment.get(variable, "").strip():
        tell(FoundHere(one.title, f"something on {where}, and {variable} is set", "found"))
        asks = f"asks {where} for its models, with {variable}"
        return ModelSource(name, one.title, "", asks=asks)
    wrong = found.wrong
    if wrong == NO_MODEL and name == "ollama":
        wrong += " ollama pull NAME gets one."
    tell(FoundHere(one.title, f"something on {where}, but: {wrong}", "odd"))
    return ModelSource(
        name, one.title, f"on {where}: {wrong}", needs_key=found.key_refused, ready=False
    )


def offers_of(endpoint: str, found: ModelList) -> tuple[ModelOffer, ...]:
    """The models of a list, as they are shown."""
    return tuple(
        ModelOffer(endpoint, model, facts.context_window) for model, facts in found.facts.items()
    )


def _listens(port: int) -> bool:
    """Whether a server takes a connection; nothing is said to it.

    In a thread: while the first picture is made the event loop has no time for an answer.
    """
    try:
        socket.create_connection(("127.0.0.1", port), KNOCK_S).close()
    except OSError:
        return False
    return True


async def _git(tell: Tell) -> None:
    """Whether git is here; it gets nothing of the environment but where programs are."""
    path = safe_path(os.environ, os.getcwd())
    program = shutil.which("git", path=path)
    if program is None:
        tell(
            FoundHere(
                "git", "not found: no states in the file tree, no diff against HEAD", "nothing"
            )
        )
        return
    version = ""
    with contextlib.suppress(OSError, TimeoutError):
        running = await own_process.spawned(
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
    tell(FoundHere("git", version[:24] or "found", "found"))


async def _tests(place: Surroundings, tell: Tell) -> None:
    """Which command judges the current folder."""
    from tui.cli import workspace_commands

    if place.here is None:
        return
    try:
        found = await asyncio.to_thread(workspace_commands.find_verifiers, place.here, Settings())
    except (DuettoError, OSError) as error:
        tell(FoundHere("tests", str(error), "odd"))
        return
    command = project_tests(found)
    if command is None:
        tell(FoundHere("tests", "no test command found in this folder", "nothing"))
    elif not command.argv and command.reader is not None:
        tell(FoundHere("tests", command.reader("", False).fault, "odd"))
    else:
        tell(FoundHere("tests", command.source, "found"))


def current_directory() -> Path | None:
    """The current folder, if it can be opened."""
    try:
        folder = Path.cwd()
    except OSError:
        return None
    return folder if os.access(folder, os.R_OK | os.X_OK) else None


def short_path(path: Path) -> str:
    """A path as people write it: the home folder is ``~``."""
    try:
        return f"~/{path.relative_to(Path.home()).as_posix()}".removesuffix("/.")
    except (ValueError, RuntimeError, OSError):
        return str(path)
