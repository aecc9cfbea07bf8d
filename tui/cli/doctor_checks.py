"""What ``duetto doctor`` finds on this machine: terminal, tmux, keys, status line, themes."""

from __future__ import annotations

import asyncio
import os
import re
import select
import shutil
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from tui.cli import endpoints
from tui.cli.appearance import AUTO, line_complaints, place_of, unknown_theme, use_keys
from tui.cli.catalogue import STEP_S, Probing
from tui.cli.models import SessionSetup, named_models
from tui.cli.network import Network
from tui.cli.open_app import facts_for
from tui.cli.options import ModelFlags
from tui.core.files import counted
from tui.core.inert_text import inert
from tui.core.programs import safe_path
from tui.core.wire.address import AUTHORITY_VARIABLES, shown
from tui.core.wire.endpoint_facts import REHEARSAL
from tui.effects.known_endpoints import Fact, KnownEndpoints
from tui.effects.system import MonotonicClock
from tui.engine.ports import Wire
from tui.errors import EndpointError, SettingsError, WireError
from tui.settings import (
    PROJECT_FILE,
    NotifySettings,
    Paths,
    ProjectSettings,
    ScreenSettings,
    Settings,
    load_project,
)
from tui.ui.terminal.facts import Replies, TerminalFacts
from tui.ui.terminal.input_stream import InputStream
from tui.ui.terminal.notifying import way

if TYPE_CHECKING:
    from tui.bridge.endpoints.base import EndpointSpec, Target
    from tui.bridge.providers.discovery import Discovery
    from tui.bridge.upstream.client import Upstream
    from tui.cli.endpoints import ResolvedEndpoint


State = Literal["ok", "note", "fix", "unreachable"]
_MARKS: dict[State, str] = {"ok": "✓", "note": "·", "fix": "✗", "unreachable": "✗"}
_INDENT = " " * 21
_LEAST_COLUMNS = 50
"""In a narrower terminal there is no room beside the names: it breaks the lines itself."""


class CheckResult(Struct, frozen=True):
    """One line of the report."""

    check: str
    state: State
    text: str
    advice: str = ""
    """What to do, empty if nothing is to be done."""
    round_trip_ms: float | None = None
    facts: Mapping[str, object] | None = None
    """What is known of an endpoint, for programs."""

    def told(self, columns: int | None) -> str:
        """For people: what was found, and under it what to do, broken between words.

        ``columns`` of the terminal; None: it is none, and each is one line for grep.
        """
        told = _wrapped(f"{_MARKS[self.state]} {self.check:<18} ", inert(self.text), columns)
        advice = _wrapped(f"{_INDENT}→ ", inert(self.advice), columns) if self.advice else ""
        return f"{told}\n{advice}" if advice else told


def _wrapped(before: str, text: str, columns: int | None) -> str:
    if columns is None or columns < _LEAST_COLUMNS:
        return before + text
    return textwrap.fill(
        text,
        columns - 1,
        initial_indent=before,
        subsequent_indent=" " * max(len(before), len(_INDENT)),
        break_long_words=False,
        break_on_hyphens=False,
    )


ANSWER_S = 0.4
"""So long the terminal is waited for: also one at the other end of a slow line."""
_COLOURS = {"none": "none", "16": "16", "256": "256", "true": "16 million"}
_GLYPHS = {
    "unicode": "Unicode",
    "console": "letters, and the signs of a text console",
    "ascii": "ASCII only",
}
_UNUSABLE = ("", "dumb", "unknown")


def terminal_findings(
    environment: Mapping[str, str], screen: ScreenSettings, notify: NotifySettings
) -> Iterator[CheckResult]:
    """Size, colours, signs, background, and how the end of a turn is told."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        advice = "without one: duetto --linear, or duetto exec"
        yield CheckResult("terminal", "note", "stdin or stdout is not a terminal", advice)
        return
    facts = asked(facts_for(screen, environment))
    yield _size(environment, facts)
    yield CheckResult("signs", "ok", signs(facts))
    yield CheckResult("background", "ok", background(facts))
    yield _told(environment, notify)


def _size(environment: Mapping[str, str], facts: TerminalFacts) -> CheckResult:
    from tui.ui.screens.workbench import SMALLEST  # the whole screen: only doctor needs it here

    columns, rows = os.get_terminal_size(sys.stdout.fileno())
    term = environment.get("TERM", "")
    around = "".join(f", in {name}" for name in (facts.multiplexer,) if name)
    text = (
        f"{columns}x{rows}, TERM={term or '(not set)'}{around}{', over SSH' * facts.remote},"
        f" colours: {_COLOURS[facts.colours]} ({facts.why_colours})"
    )
    if columns < SMALLEST[0] or rows < SMALLEST[1]:
        return CheckResult("terminal", "fix", text, "enlarge it to {}x{} or more".format(*SMALLEST))
    if term in _UNUSABLE:
        return CheckResult("terminal", "fix", text, "set TERM to what your terminal is")
    return CheckResult("terminal", "ok", text)


def signs(facts: TerminalFacts) -> str:
    """What can be drawn with, in words."""
    wide = "two cells wide" if facts.wide_ambiguous else "one cell wide"
    ambiguous = f"; signs of open width are {wide} ({facts.why_ambiguous})"
    if facts.why_ambiguous == "not asked":
        ambiguous = ""
    return f"{_GLYPHS[facts.glyphs]} ({facts.why_glyphs}){ambiguous}"


def background(facts: TerminalFacts) -> str:
    """Dark or light, and who says so."""
    if facts.dark is None:
        return "not known: taken to be dark ([screen] background says it)"
    return f"{'dark' if facts.dark else 'light'} ({facts.why_dark})"


def _told(environment: Mapping[str, str], notify: NotifySettings) -> CheckResult:
    kind = way(notify.desktop, environment)
    extras = [name for name in ("bell", "title") if getattr(notify, name)]
    ways = [*([f"desktop notification ({kind})"] if kind != "off" else []), *extras]
    if not ways:
        text = "nothing tells you of a long turn's end outside duetto"
        return CheckResult("notification", "ok", text)
    text = f"after {notify.after_s:g} s, when nobody looks: {', '.join(ways)}"
    return CheckResult("notification", "ok", text)


def asked(facts: TerminalFacts) -> TerminalFacts:
    """The facts with what the terminal itself says within `ANSWER_S`."""
    try:
        import termios
        import tty
    except ImportError:  # Windows
        return facts
    replies = Replies(facts, lambda news: None)
    question = replies.questions(where="\r")
    if not question:
        return facts
    fd = sys.stdin.fileno()
    try:
        before = termios.tcgetattr(fd)
        tty.setcbreak(fd, termios.TCSADRAIN)
    except termios.error:
        return facts
    after = termios.TCSADRAIN
    try:
        if select.select([fd], [], [], 0)[0]:
            return facts  # somebody types to the shell already: those keys are not ours to read
        sys.stdout.write(f"{question}{replies.goodbye()}\x1b[c")
        sys.stdout.flush()
        if not _listen(fd, replies):
            after = termios.TCSAFLUSH  # what it answers later is not for the shell
    finally:
        with suppress(termios.error):
            termios.tcsetattr(fd, after, before)
    return replies.facts


def _listen(fd: int, replies: Replies) -> bool:
    """Until the answer to the last question, which every terminal knows; False: it did not come."""
    stream, until = InputStream(), time.monotonic() + ANSWER_S
    while (left_s := until - time.monotonic()) > 0:
        if not select.select([fd], [], [], left_s)[0]:
            break
        data = os.read(fd, 4096).decode("utf-8", "replace")
        for token in stream.feed(data, time.monotonic()):
            if not replies.take(token.text) and token.text.endswith("c"):
                return True
    return False


SLOW_ESC_MS = 50
_WAIT_S = 2.0
Ask = Callable[[str], str]
"""The value of a setting, empty if it cannot be had."""


def tmux_findings(environment: Mapping[str, str], ask: Ask | None = None) -> Iterator[CheckResult]:
    """What was found, none outside tmux; ``ask`` is tmux itself, unless given."""
    if not environment.get("TMUX"):
        return
    ask = ask or _value
    escape_ms, keys = ask("escape-time"), ask("extended-keys")
    clipboard, through = ask("set-clipboard"), ask("allow-passthrough")
    if not escape_ms:
        return
    text = f"escape-time {escape_ms} ms, extended-keys {keys}, set-clipboard {clipboard}"
    steps = []
    if not escape_ms.isdigit() or int(escape_ms) > SLOW_ESC_MS:
        steps.append("set -s escape-time 10 (Esc waits that long)")
    if keys == "off":
        steps.append("set -s extended-keys on (Shift+Enter is Enter without)")
    if ask("focus-events") == "off":
        steps.append("set -g focus-events on (who looks is guessed from the keys without)")
    if clipboard != "on" and through not in ("on", "all"):
        steps.append("set -s set-clipboard on (copying stays in duetto without)")
    if steps:
        yield CheckResult("tmux", "note", text, f"in tmux.conf: {'; '.join(steps)}")
    else:
        yield CheckResult("tmux", "ok", text)


def _value(name: str) -> str:
    program = shutil.which("tmux", path=safe_path(os.environ, os.getcwd()))
    scope = "-gqv" if name in ("allow-passthrough", "focus-events") else "-sqv"
    if program is None:
        return ""
    try:
        asked = subprocess.run(
            [program, "show-options", scope, name],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_WAIT_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return asked.stdout.decode("utf-8", "replace").strip()[:40]


def own_key_findings(settings: Settings, file: Path) -> Iterator[CheckResult]:
    """What ``duetto doctor`` says of them; nothing where there are none."""
    if not settings.keys:
        return
    complaints = use_keys(settings, file)
    for complaint in complaints:
        yield CheckResult("keyboard", "fix", complaint, "docs/keys.md names all actions")
    from tui.ui.keymap import KEYMAP, key_name, rows
    from tui.ui.keys.spelling import needs_kitty
    from tui.ui.keys.table import SCOPES

    changed = [key for scope in SCOPES for key in rows(scope) if key not in KEYMAP]
    if not complaints:
        plural = "s have keys" if len(changed) != 1 else " has keys"
        yield CheckResult("keyboard", "ok", f"{len(changed)} action{plural} of your own")
    for key in changed:
        if key.keys and all(map(needs_kitty, key.keys)):
            names = ", ".join(map(key_name, key.keys))
            words = f"{names} ({key.name}) comes only from terminals with the Kitty protocol"
            yield CheckResult("keyboard", "note", words, "give it another key too, for the others")


def own_line_findings(settings: Settings, file: Path) -> Iterator[CheckResult]:
    """What ``duetto doctor`` says of it; nothing where there is none."""
    if settings.meter.line == "":
        return
    complaints = line_complaints(settings, file)
    for complaint in complaints:
        yield CheckResult("status line", "fix", complaint, "docs/meter.md names all fields")
    if not complaints:
        yield CheckResult("status line", "ok", "a template of your own")


def own_theme_findings(
    settings: Settings, folder: Path, paths: Paths, config: Path
) -> Iterator[CheckResult]:
    """What ``duetto doctor`` says of themes; nothing where all is well."""
    from tui.ui import theme

    try:
        project = load_project(folder)
    except SettingsError:  # said of the workspace
        project = ProjectSettings()

    theme.library.own_folder(paths.themes_dir)
    editor, names = settings.editor, ", ".join(theme.theme_names())
    asked = project.editor.theme
    if asked and (why := unknown_theme(asked)):
        yield CheckResult(
            "theme", "note", f"{folder / PROJECT_FILE} {why}", f"there are {names}; yours is used"
        )
    for key, name in (
        ("theme", editor.theme or AUTO),
        ("theme_light", editor.theme_light),
        ("theme_dark", editor.theme_dark),
    ):
        if why := unknown_theme(name, auto=key == "theme"):
            yield CheckResult(
                "theme", "fix", f"{place_of(config, key)} {why}", f"there are {names}"
            )
    for complaint in theme.library.complaints():
        name = Path(complaint.file).stem
        advice = f"the rest of it is used; duetto theme check {name} says more"
        yield CheckResult("theme", "fix", str(complaint), advice)
    for odd in theme.library.odd_names():
        text = f"{paths.themes_dir / odd} is not used: that cannot be a theme's name"
        yield CheckResult("theme", "note", text, "letters, digits, . _ - and at most 40")


PONG_TIMEOUT_S = 3.0
LOOK_S = 0.005
PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "WSS_PROXY", "WS_PROXY", "SOCKS_PROXY", "ALL_PROXY")
_SCHEME = re.compile(r"[a-z][\w+.-]*://", re.IGNORECASE)
REFUSED = "check the model's name, and that the address ends as its maker says (/v1/responses)"
_WORDS = {True: "yes", False: "no", None: "not known"}


def surroundings(environment: Mapping[str, str]) -> Iterator[CheckResult]:
    """The proxies and certificate authorities that the environment names; no secrets."""
    named = [
        f"{name}={_without_user(value)}"
        for name, value in environment.items()
        if name.upper() in PROXIES and value
    ]
    if named:
        none = [v for name, v in environment.items() if name.upper() == "NO_PROXY" and v]
        named += [f"NO_PROXY={value}" for value in none[:1]]
        yield CheckResult("proxies", "note", f"{', '.join(named)} (never for this machine)")
    files = {name: environment[name] for name in AUTHORITY_VARIABLES if environment.get(name)}
    if not files:
        return
    text = ", ".join(f"{name}={path}" for name, path in files.items())
    missing = [name for name, path in files.items() if not os.access(path, os.R_OK)]
    if missing:
        yield CheckResult("certificates", "fix", text, f"{', '.join(missing)}: no such file")
    else:
        yield CheckResult("certificates", "note", text)


def _without_user(value: str) -> str:
    """Where a proxy is: what stands before the last ``@`` may be a password, however odd."""
    scheme = _SCHEME.match(value)
    place = value[scheme.end() if scheme else 0 :].rpartition("@")[2]
    return shown(f"{scheme[0] if scheme else 'http://'}{place}")


async def endpoint_findings(setup: SessionSetup, *, probe: bool) -> list[CheckResult]:
    """Dial every endpoint that a role uses, at the same time; ``probe`` tries what it can do."""
    network = Network(setup, MonotonicClock(), forget=probe)
    names = list(setup.models.endpoints) + [REHEARSAL] * setup.models.rehearsal
    try:
        rows = await asyncio.gather(*(_examined(name, network, setup, probe) for name in names))
    finally:
        await network.close()
    return [finding for row in rows for finding in row]


async def _examined(
    name: str, network: Network, setup: SessionSetup, probe: bool
) -> list[CheckResult]:
    """One endpoint: reached or not, then what is known of it."""
    wire = network.wire(name)
    found: list[CheckResult] = []
    try:
        reached = await _dialled(name, wire, network, setup)
        found.append(reached)
        if probe and reached.state != "unreachable":
            found.append(await _probed(name, network, setup))
    finally:
        await wire.close()
    if name != REHEARSAL and not network.bridged(name):
        found.append(_known(name, network, advise=not probe))
    return found


async def _lists(name: str, setup: SessionSetup) -> bool:
    """Whether an endpoint answers by HTTP: asked for its models it says more than its fault."""
    from tui.bridge.endpoints.base import Broken, Refused
    from tui.bridge.providers.discovery import Discovery
    from tui.bridge.targets import key_of, target
    from tui.bridge.upstream.client import Upstream

    spec, upstream = setup.models.endpoints[name].spec, Upstream()
    try:
        key = await asyncio.to_thread(key_of, name, spec, os.environ)
        async with asyncio.timeout(MODEL_ANSWER_S):
            await Discovery(target(name, spec, key), upstream).models()
    except Refused as error:
        return error.status not in (502, 503, 504, 529)
    except (EndpointError, Broken, TimeoutError):
        return False
    finally:
        await upstream.close()
    return True


async def _dialled(name: str, wire: Wire, network: Network, setup: SessionSetup) -> CheckResult:
    """Dial one endpoint and measure the round trip of a ping."""
    check, clock = f"endpoint {name}", MonotonicClock()
    began = clock.now()
    try:
        await wire.open()
    except EndpointError as error:
        return CheckResult(check, "unreachable", str(error))
    dial_ms = (clock.now() - began) * 1000
    where = network.shown_address(name)
    if name != REHEARSAL and network.bridged(name):
        own = network.is_local(name)
        through = "the bridge" if own else f"{where} through the bridge, which"
        return CheckResult(check, "ok", f"{through} is up in {dial_ms:.0f} ms")
    if wire.transport == "http":
        doubt = network.endpoint(name).transport_choice.doubt
        if doubt and not await _lists(name, setup):
            return CheckResult(check, "unreachable", f"{doubt}.")
        text = doubt or f"{where} refuses the WebSocket"
        return CheckResult(check, "note", f"{text}: it is spoken to by HTTP+SSE through the bridge")
    for _ in range(int(PONG_TIMEOUT_S / LOOK_S)):
        if wire.round_trip_s is not None:
            break
        await asyncio.sleep(LOOK_S)
    if wire.round_trip_s is None:
        return CheckResult(check, "note", f"{where} answers no ping (dial {dial_ms:.0f} ms)")
    trip_ms = round(wire.round_trip_s * 1000, 2)
    text = f"{where} reached in {dial_ms:.0f} ms, round trip {trip_ms:.1f} ms"
    return CheckResult(check, "ok", text, round_trip_ms=trip_ms)


async def _probed(name: str, network: Network, setup: SessionSetup) -> CheckResult:
    """Try prewarm, lanes, steering and interrupt with every model of the endpoint."""
    check = f"probe {name}"
    specs = setup.models.roles.values()
    models = list(dict.fromkeys(spec.model for spec in specs if spec.endpoint == name))
    wire = network.wire(name, "probe")
    probing = Probing(wire)
    silent: list[str] = []
    try:
        await probing.prewarm(models[0])
        for model in models:
            await probing.answer(model)
            if probing.refusal and not probing.streams:
                text = f"{model} gives no answer: {probing.refusal}"
                return CheckResult(check, "fix", text, REFUSED)
            silent += [model] * (not probing.streams)
        parts = [able_words(wire, model) for model in models]
    except (EndpointError, WireError) as error:
        return CheckResult(check, "note", f"could not be tried: {error}")
    finally:
        await wire.close()
    able = wire.abilities(models[0])
    shared = f"lanes {_WORDS[able.lanes]}, prewarm {_WORDS[able.prewarm]}"
    cost = f"asked {len(models)} model{'s' * (len(models) > 1)} for one short answer each"
    text = f"{shared}; {'; '.join(parts)} ({cost})"
    if silent:
        return CheckResult(
            check, "note", f"{', '.join(silent)} said nothing within {STEP_S:.0f} s; {text}"
        )
    return CheckResult(check, "ok", text)


def able_words(wire: Wire, model: str) -> str:
    """What was learnt of a model."""
    able = wire.abilities(model)
    return f"{model}: interrupt {_WORDS[able.interrupt]}, steer {_WORDS[able.steer]}"


def _known(name: str, network: Network, *, advise: bool) -> CheckResult:
    """What is remembered of an endpoint, and since when; ``advise`` how to learn it."""
    facts = network.facts(name)
    check = f"known of {name}"
    if not facts:
        advice = "duetto doctor --probe tries what it can do" if advise else ""
        return CheckResult(check, "note", "nothing yet", advice)
    words = [f"{fact} {_fact_words(fact, known)}" for fact, known in sorted(facts.items())]
    told = {
        fact: {"value": known.value, "since": _date(known.since).isoformat(timespec="seconds")}
        for fact, known in facts.items()
    }
    return CheckResult(check, "ok", "; ".join(words), facts=told)


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


LOADING_S = 60.0
"""A model that this machine loads and tries."""
MODEL_ANSWER_S = 15.0
"""A provider that has not said by then which models it has is not waited for."""
ENOUGH_TOKENS = 16_384
"""Instructions, tools, two open files and some turns; what is smaller is worth a word."""


def key_findings(settings: Settings, paths: Paths) -> Iterator[CheckResult]:
    """Which keys there are, by the names of their variables; a value is never shown."""
    from tui.bridge.providers import provider_files

    own = [endpoint.key_env for endpoint in settings.endpoints.values() if endpoint.key_env]
    try:
        known = provider_files.providers(paths.providers_dir)
    except SettingsError as error:
        yield CheckResult("providers", "fix", str(error))
        known = provider_files.providers(None)
    theirs = [name for one in known.values() for name in (one.key_env, *one.key_env_also) if name]
    found = [name for name in dict.fromkeys([*own, *theirs]) if os.environ.get(name, "").strip()]
    stored = endpoints.names(paths.state_dir)
    words = [f"in the environment: {', '.join(found)}"] * bool(found)
    words += [f"in the keyring: {', '.join(stored)}"] * bool(stored)
    if words:
        yield CheckResult("keys", "ok", "; ".join(words))
    else:
        advice = "duetto keys set NAME stores one in the system's keyring"
        yield CheckResult("keys", "note", "none of the known ones in the environment", advice)


def outdated_findings(settings: Settings, flags: ModelFlags, paths: Paths) -> Iterator[CheckResult]:
    """Which of the models that settings, flags and fallbacks name are gone or legacy.

    Also where they cannot be asked, for a key is missing.
    """
    from tui.bridge.providers import provider_files

    known = provider_files.readable(paths.providers_dir)
    for name, spec, model in named_models(settings, flags, os.environ, paths):
        at = known.get(spec.provider) or provider_files.of_url(known, spec.url)
        entry = at.outdated(model) if at is not None else None
        if at is None or entry is None:
            continue
        words = provider_files.outdated_words(model, entry.state, "")
        read = f"read {entry.read}" if entry.read else "not verified"
        advice = f"use {entry.successor}" if entry.successor else "choose another one"
        state: State = "fix" if entry.state == "gone" else "note"
        source = f"{entry.source or at.title}, {read}"
        yield CheckResult(f"model of {name}", state, f"{words} ({source})", advice)


async def provider_findings(setup: SessionSetup) -> list[CheckResult]:
    """Ask whom the bridge asks for us which models there are, all at the same time."""
    models = setup.models
    specs = {
        name: one.spec
        for name, one in models.endpoints.items()
        if one.bridged or _refused_the_socket(one, setup.paths)
    }
    specs |= models.fallbacks
    if not specs:
        return []
    from tui.bridge.upstream.client import Upstream

    upstream = Upstream()
    try:
        rows = await asyncio.gather(
            *(_asked(name, spec, upstream, setup) for name, spec in specs.items())
        )
    finally:
        await upstream.close()
    return [finding for row in rows for finding in row]


def _refused_the_socket(endpoint: ResolvedEndpoint, paths: Paths) -> bool:
    """Whether only its address was told, and it was found not to speak by WebSocket."""
    known = KnownEndpoints(paths.state_dir).load(endpoint.address.url)
    return endpoint.spec.kind == "auto" and known.websocket is False


async def _asked(
    name: str, spec: EndpointSpec, upstream: Upstream, setup: SessionSetup
) -> list[CheckResult]:
    """One endpoint: its list of models, then those in use."""
    from tui.bridge.endpoints.base import Broken, Refused
    from tui.bridge.providers.discovery import Discovery
    from tui.bridge.targets import key_of, target

    check = f"models of {name}"
    if spec.kind == "local":
        models = _in_use(name, setup) or [""]
        return [await _measured(check, model, spec, upstream) for model in models]
    key = await asyncio.to_thread(key_of, name, spec, os.environ)
    try:
        discovery = Discovery(target(name, spec, key), upstream)
        async with asyncio.timeout(MODEL_ANSWER_S):
            listed = await discovery.models()
    except TimeoutError:
        return [CheckResult(check, "unreachable", f"no answer within {MODEL_ANSWER_S:.0f} s")]
    except EndpointError as error:
        return [CheckResult(check, "fix", str(error))]
    except Broken as error:
        return [CheckResult(check, "unreachable" if error.unreached else "note", str(error))]
    except Refused as error:
        if error.code == "endpoint_redirects":
            return [CheckResult(check, "fix", str(error), f"set {spec.url} to where it leads")]
        if error.code != "invalid_api_key":
            return [CheckResult(check, "note", f"it gives no list of them: {error}")]
        place = f"the key in {spec.key_env}" if spec.key_env else "key_env"
        return [CheckResult(check, "fix", str(error), f"check {place}")]
    found = [_counted(check, spec, listed)]
    for model in _in_use(name, setup):
        if listed and (wrong := _unknown(model, discovery.target, listed)):
            found.append(CheckResult(check, "fix", wrong))
        else:
            found += await _window(model, discovery)
    return found


async def _measured(check: str, model: str, spec: EndpointSpec, upstream: Upstream) -> CheckResult:
    """A model of this machine, empty: the first one: how fast it is here."""
    from tui.bridge.endpoints.base import Broken, Refused
    from tui.bridge.local.endpoint import LocalEndpoint
    from tui.bridge.targets import target

    endpoint = LocalEndpoint(target("local", spec, ""), upstream)
    try:
        async with asyncio.timeout(LOADING_S):
            server = await endpoint.server(model)
            speed = await server.speed(upstream)
    except TimeoutError:
        return CheckResult(check, "note", f"no answer within {LOADING_S:.0f} s")
    except (Broken, Refused) as error:
        return CheckResult(check, "fix", str(error))
    finally:
        await endpoint.close()
    file = server.file
    text = (
        f"{file.name} ({file.architecture}, {file.size_bytes / 1e6:.0f} MB): ready in "
        f"{speed.ready_s:.1f} s, here it reads {speed.read_tokens_s:.0f} and writes "
        f"{speed.written_tokens_s:.0f} tokens/s"
    )
    return CheckResult(check, "ok", text)


def _counted(check: str, spec: EndpointSpec, listed: Mapping[str, object]) -> CheckResult:
    count = counted(len(listed), "model") if listed else "no list of them"
    return CheckResult(check, "ok", f"{count} ({spec.kind})")


def _in_use(name: str, setup: SessionSetup) -> list[str]:
    """The models of an endpoint that roles or their fallbacks name."""
    models = setup.models
    used = [spec.model for spec in models.roles.values() if spec.endpoint == name]
    for one in models.endpoints.values():
        for facts in one.spec.models.values():
            places = (place.partition("/") for place in facts.fallbacks)
            used += [model for endpoint, _, model in places if endpoint == name]
    return list(dict.fromkeys(used))


def _unknown(model: str, target: Target, listed: Mapping[str, object]) -> str:
    """Why a model is not one of those that the endpoint has; empty: it is, or may be."""
    from tui.bridge.providers.catalogue import near
    from tui.bridge.providers.discovery import same_model

    names = {model, target.route(model)}
    if any(same_model(one, name) for one in listed for name in names):
        return ""
    if any(one.rpartition("/")[2] == model for one in listed):
        return ""
    many = f"among its {len(listed)} models" if len(listed) > 1 else "the one model that it has"
    return f"{model!r} is not {many}{near(model, [*listed])}"


async def _window(model: str, discovery: Discovery) -> list[CheckResult]:
    """How much a model in use takes, and what to do where that is little."""
    from tui.bridge.providers.discovery import ollama_advice, ollama_trained_window

    await discovery.loaded(model)
    window = discovery.target.facts(model).context_window
    check, local = f"window of {model}", discovery.form == "ollama"
    if window is None:
        words = "not known until the model is loaded" if local else "not known"
        advice = "" if local else "set context_window for it in config.toml"
        return [CheckResult(check, "note", words, advice)]
    text = f"{window:,} tokens"
    if window >= ENOUGH_TOKENS:
        return [CheckResult(check, "ok", text)]
    if not local:
        return [CheckResult(check, "note", f"{text}: little for open files and a conversation")]
    trained = await ollama_trained_window(discovery.questions, model)
    advice = ollama_advice(window, ENOUGH_TOKENS // 2, trained)
    return [CheckResult(check, "fix", f"{text} (num_ctx): longer requests are refused", advice)]
