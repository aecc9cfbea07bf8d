"""The very first start: no settings, nothing remembered, nothing named on the command line."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

import msgspec

from tui.cli.open_app import FIRST_RUN, open_app
from tui.cli.options import ModelFlags
from tui.cli.practice import guided, rehearsed
from tui.cli.target import current_folder
from tui.core.programs import safe_path
from tui.errors import EXIT_OK, DuettoError, EndpointError
from tui.settings import Paths, Settings, parse
from tui.ui.first_run.port import FoundHere, Listed, ModelSource
from tui.ui.terminal import facts as terminal_facts

if TYPE_CHECKING:
    from tui.bridge.endpoints.base import EndpointSpec
    from tui.bridge.providers.provider_files import ProviderFacts
    from tui.cli.practice import Guided
    from tui.engine.session import SessionOptions
    from tui.ui.app import DuettoApp
    from tui.ui.first_run.port import Choice, FoundHere, Listed, ModelSource


_HEAD = """\
# Written by duetto's first start; docs/settings.md says what else can stand here
schema = 1
"""


def text_of(endpoint: str, fast: str, deep: str) -> str:
    """Settings with these two models; the endpoint is a provider that duetto knows."""
    tables = "".join(
        f"\n[models.{role}]\nname = {quoted(model)}\nendpoint = {quoted(endpoint)}\n"
        for role, model in (("fast", fast), ("deep", deep))
    )
    return _HEAD + tables


def quoted(text: str) -> str:
    """A string as TOML writes it: JSON's way is one of TOML's."""
    return json.dumps(text, ensure_ascii=False)


def write(file: Path, text: str) -> str:
    """Write it, never over another one or through a link; what is wrong, empty if it is written.

    The text is checked first, as it will be read.
    """
    if os.path.lexists(file):
        return f"{file} is there already: it was left as it is."
    try:
        parse(text, str(file))
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
                opened.write(text)
        except OSError:
            file.unlink(missing_ok=True)  # half of it would be wrong settings
            raise
    except OSError as error:
        return f"{file} cannot be written: {error.strerror}."
    except DuettoError as error:
        return str(error)
    return ""


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
Tell = Callable[[FoundHere], None]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where it is looked."""

    paths: Paths
    here: Path | None
    """The current folder, if it can be read."""
    environment: Mapping[str, str]


async def look(place: Surroundings, tell: Tell) -> tuple[ModelSource, ...]:
    """All of it, at the same time; servers of this machine come first. Never raises."""
    known = await asyncio.to_thread(_providers, place.paths)
    local = {name: one for name, one in known.items() if one.local}
    for name in SERVERS:
        if name in local:
            tell(FoundHere(local[name].title, "looking…", "looking"))
    keyed = _keyed(known, place.environment, tell)
    servers = [_server(name, one, place, tell) for name, one in sorted(local.items(), key=_order)]
    tell(FoundHere("terminal", _terminal(place.environment), "found"))
    rest = (_git(tell), _tests(place, tell))
    # not an except: what a stranger's server can break is not known beforehand
    found = await asyncio.gather(*servers, *rest, return_exceptions=True)
    for one in found:
        if isinstance(one, BaseException):
            log.warning("looking around: %s", type(one).__name__)
    return (*(one for one in found if isinstance(one, ModelSource)), *keyed)


async def models_of(source: ModelSource, place: Surroundings) -> Listed:
    """The list of somebody who was chosen, asked with the key. Never raises."""
    (found,) = await asyncio.gather(_models(source.name, place), return_exceptions=True)
    if isinstance(found, Listed):
        return found
    if not isinstance(found, DuettoError):
        log.warning("asking %s for its models: %s", source.name, type(found).__name__)
    return Listed((), str(found) or type(found).__name__)


async def _models(name: str, place: Surroundings) -> Listed:
    from tui.bridge.targets import key_of

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
    from tui.bridge.targets import target
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


def _providers(paths: Paths) -> Mapping[str, ProviderFacts]:
    from tui.bridge.providers import provider_files

    return provider_files.readable(paths.providers_dir)


def _order(entry: tuple[str, object]) -> tuple[int, str]:
    """The well-known servers first, in the order in which they are named."""
    name = entry[0]
    return (SERVERS.index(name) if name in SERVERS else len(SERVERS), name)


def _by_size(model: str) -> tuple[float, str]:
    """Smaller models first, where the name says how large they are; then by name."""
    sizes = [float(size) for size in _SIZE.findall(model.lower())]
    return (max(sizes) if sizes else 0.0, model.lower())


def _keyed(
    known: Mapping[str, ProviderFacts], environment: Mapping[str, str], tell: Tell
) -> list[ModelSource]:
    """The providers whose keys are in the environment: by the variables' names."""
    sources: list[ModelSource] = []
    for name, one in known.items():
        variable = one.variable(environment)
        if one.local or not variable or not environment.get(variable, "").strip():
            continue
        try:
            host = urlsplit(one.address(environment)).hostname
        except (EndpointError, ValueError) as error:
            tell(FoundHere(one.title, f"{variable} is set. {error}", "odd"))
            continue
        tell(FoundHere(one.title, f"{variable} is set", "found"))
        asks = f"asks {host} for its models, with {variable}"
        sources.append(ModelSource(name, one.title, f"{variable} is set", asks=asks))
    return sources


async def _server(
    name: str, one: ProviderFacts, place: Surroundings, tell: Tell
) -> ModelSource | None:
    """A server at the port that it chooses by itself; None: there is none that could answer."""
    where = f"127.0.0.1:{one.port}"
    if not await _listens(one.port or 0):
        if name in SERVERS:
            tell(FoundHere(one.title, "nobody listens", "nothing"))
        return None
    spec = one.spec({}, f"http://{where}/v1")
    found = await listed(name, msgspec.structs.replace(spec, key_env=""), "", LIST_S)
    variable = one.variable(place.environment)
    if found.models:
        count = f"{len(found.models)} model{'s' * (len(found.models) > 1)} on {where}"
        tell(FoundHere(one.title, count, "found"))
        return ModelSource(name, one.title, count, found.models)
    if variable and place.environment.get(variable, "").strip():
        tell(FoundHere(one.title, f"something on {where}, and {variable} is set", "found"))
        asks = f"asks {where} for its models, with {variable}"
        return ModelSource(name, one.title, "", asks=asks)
    wrong = found.wrong
    if wrong == NO_MODEL and name == "ollama":
        wrong += " ollama pull NAME gets one."
    tell(FoundHere(one.title, f"something on {where}, but: {wrong}", "odd"))
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
        tell(
            FoundHere(
                "git", "not found: no states in the file tree, no diff against HEAD", "nothing"
            )
        )
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
    tell(FoundHere("git", version[:24] or "found", "found"))


async def _tests(place: Surroundings, tell: Tell) -> None:
    """Which command judges the current folder."""
    from tui.cli import workspace_commands

    if place.here is None:
        return
    try:
        command = await asyncio.to_thread(workspace_commands.find_verify, place.here, Settings())
    except (DuettoError, OSError) as error:
        tell(FoundHere("tests", str(error), "odd"))
        return
    if command is None:
        tell(FoundHere("tests", "no test command found in this folder", "nothing"))
    elif not command.argv and command.reader is not None:
        tell(FoundHere("tests", command.reader("", False).fault, "odd"))
    else:
        tell(FoundHere("tests", command.source, "found"))


def remember(state_dir: Path, choice: str) -> None:
    """Keep that there was a first run; where it cannot be written it is asked again."""
    file = state_dir / FIRST_RUN
    fresh = file.with_name(f".{FIRST_RUN}.{os.getpid()}")
    try:
        fresh.write_text(json.dumps({"schema": 1, "choice": choice}) + "\n", encoding="utf-8")
        fresh.replace(file)
    except OSError:
        return


class FirstRun:
    """Over this folder, or over the practice workspace: shows the screen, then goes on."""

    def __init__(self, paths: Paths, guided: Guided | None, reopen: Reopen) -> None:
        """``guided`` lies under the screen; None: the current folder does, which is work."""
        self.under: Literal["practice", "here"] = "practice" if guided else "here"
        self.again: Callable[[], int] | None = None
        """What comes when this app has ended; None: nothing."""
        self.config_file = _short(paths.config_file)
        folder = _current()
        self.here = "" if folder is None else _short(folder)
        self._folder = folder
        self._paths, self._guided, self._reopen = paths, guided, reopen
        self._choice: Choice | None = None

    def options(self, options: SessionOptions) -> SessionOptions:
        """As for the guide, where the practice lies under the screen."""
        return options if self._guided is None else self._guided.options(options)

    def begin(self, app: DuettoApp) -> None:
        """Put the screen up; called when the first picture is there."""
        from tui.ui.first_run.screen import FirstRunScreen

        app.push_screen(FirstRunScreen(self, lambda: self.go_on(app)))

    async def look(self, tell: Callable[[FoundHere], None]) -> tuple[ModelSource, ...]:
        """See `Port`."""
        return await look(self._place(), tell)

    async def models(self, source: ModelSource) -> Listed:
        """See `Port`."""
        return await models_of(source, self._place())

    def config(self, source: ModelSource, fast: str, deep: str) -> str:
        """See `Port`."""
        return text_of(source.name, fast, deep)

    def write(self, text: str) -> str:
        """See `Port`."""
        return write(self._paths.config_file, text)

    def choose(self, choice: Choice) -> None:
        """See `Port`."""
        self._choice = choice
        remember(self._paths.state_dir, choice)

    def _place(self) -> Surroundings:
        return Surroundings(self._paths, self._folder, os.environ)

    def go_on(self, app: DuettoApp) -> None:
        """The screen is gone: the guide, another folder, or what lies here."""
        choice, lesson = self._choice, self._guided
        if choice == "practice" and lesson is not None:
            lesson.begin(app)
            return
        if lesson is not None:
            lesson.is_over = True
        if choice in ("connected", "here", "practice"):
            self.again = partial(self._reopen, choice)
            app.call_later(app.action_quit)


Reopen = Callable[["Choice"], int]
"""Opens what was chosen, when the app with the first screen has ended."""


def open_first(flags: ModelFlags) -> int:
    """Open this folder, if it is work, else the practice, with the first-run screen over it.

    Then what was chosen there. Raises UsageError: the practice workspace cannot be made.
    """
    paths = Paths.find()
    work = current_folder(sources=True)
    lesson = guided(paths.data_dir, datetime.now()) if work is None else None

    def reopen(choice: Choice) -> int:
        if choice == "practice":
            guide = guided(paths.data_dir, datetime.now())
            return open_app([str(guide.root)], rehearsed(flags), beginning=guide)
        return open_app([os.curdir], rehearsed(flags) if choice == "here" else flags)

    first = FirstRun(paths, lesson, reopen)
    root = os.curdir if lesson is None else str(lesson.root)
    code = open_app([root], rehearsed(flags), beginning=first)
    return code if code != EXIT_OK or first.again is None else first.again()


def _current() -> Path | None:
    """The current folder, if it can be opened."""
    try:
        folder = Path.cwd()
    except OSError:
        return None
    return folder if os.access(folder, os.R_OK | os.X_OK) else None


def _short(path: Path) -> str:
    """A path as people write it: the home folder is ``~``."""
    try:
        return f"~/{path.relative_to(Path.home()).as_posix()}".removesuffix("/.")
    except (ValueError, RuntimeError, OSError):
        return str(path)
