"""Where a run takes place: the replay server, folders, and a client at work in its terminal."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

import tui
from tests.benchmarks import processes
from tests.benchmarks.screen.replay_server import MODEL
from tests.benchmarks.screen.replay_text import EDITED, Wanted, long_file
from tests.benchmarks.screen.terminal import ROWS, Emulator, Picture, PseudoTerminal
from tests.benchmarks.worker import Worker
from tui.errors import DuettoError

DUETTO = "duetto"
_OWN_FOLDER = Path(tui.__file__).resolve().parents[1]
_FOREIGN = re.compile(
    r"OPENAI|ANTHROPIC|CODEX|CLAUDE|GEMINI|DUETTO|PI_|npm_|COLUMNS$|LINES$|TMUX"
    r"|.*_(?:API_KEY|TOKEN|SECRET)$"
)
"""Variables of other programs: keys and settings of the user's that a client must not take."""


@dataclass(frozen=True, slots=True)
class Client:
    """One program, ready to be started, and its keys."""

    name: str
    command: tuple[str, ...]
    environment: dict[str, str] = field(repr=False)
    settle_s: float = 1.0
    """So much silence means that it is ready."""
    submit: bytes = b"\r"
    interrupt: bytes = b"\x1b"
    quits_with: bytes = b"\x03\x03"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a client is started."""

    port: int
    """Of the replay server."""
    home: Path
    """Its own folder, empty at first."""
    work: Path
    """The workspace."""


def duetto(place: Place, *arguments: str) -> Client:
    """Ourselves: the installed script beside this interpreter, else the module."""
    script = Path(sys.executable).with_name("duetto")
    runs = [str(script)] if os.access(script, os.X_OK) else [sys.executable, "-m", "tui.cli"]
    url = f"ws://127.0.0.1:{place.port}/v1/responses"
    models = ("--endpoint", url, "--fast", MODEL, "--deep", MODEL)
    path = os.pathsep.join(filter(None, (str(_OWN_FOLDER), os.environ.get("PYTHONPATH"))))
    own = {"DUETTO_HOME": str(place.home), "PYTHONPATH": path}
    # its cursor blinks twice a second
    return Client(DUETTO, (*runs, *models, *arguments), environment(own), 0.35, quits_with=b"\x11")


def rehearsed(place: Place) -> Client:
    """Ourselves in the guide, with the rehearsal."""
    whole = duetto(place)
    at = whole.command.index("--endpoint")
    return replace(whole, command=(*whole.command[:at], "practice", "--guide"))


def codex(place: Place, program: str) -> Client:
    """Codex CLI, on the replay server's WebSocket."""
    settings = f"""
model = "{MODEL}"
model_provider = "bench"
check_for_update_on_startup = false
[model_providers.bench]
name = "bench"
base_url = "http://127.0.0.1:{place.port}/v1"
wire_api = "responses"
supports_websockets = true
requires_openai_auth = false
[analytics]
enabled = false
[projects."{place.work}"]
trust_level = "trusted"
"""
    (place.home / "config.toml").write_text(settings)
    command = (program, "--dangerously-bypass-approvals-and-sandbox")
    own = {"HOME": str(place.home), "CODEX_HOME": str(place.home)}
    return Client("codex", command, environment(own))


def pi(place: Place, program: str) -> Client:
    """The pi coding agent, on Chat Completions."""
    model = {"id": MODEL, "name": "Replay", "contextWindow": 400_000, "maxTokens": 100_000}
    provider = {
        "baseUrl": f"http://127.0.0.1:{place.port}/v1",
        "api": "openai-completions",
        "apiKey": "none",
        "compat": {"supportsDeveloperRole": False, "supportsReasoningEffort": False},
        "models": [model],
    }
    (place.home / "models.json").write_text(json.dumps({"providers": {"bench": provider}}))
    command = (program, "--provider", "bench", "--model", MODEL, "--offline")
    own = {"HOME": str(place.home), "PI_CODING_AGENT_DIR": str(place.home)}
    return Client("pi", command, environment({**own, "PI_OFFLINE": "1", "PI_TELEMETRY": "0"}))


PEERS: dict[str, Callable[[Place, str], Client]] = {"codex": codex, "pi": pi}
"""The clients of another make, by their program's name."""


def program_of(peer: str, named: Path | None) -> str:
    """The peer's program: ``named`` or on PATH. Raises DuettoError: it is not there."""
    found = shutil.which(str(named) if named is not None else peer)
    if found is not None:
        return str(Path(found).absolute())
    if named is not None:
        raise DuettoError(f"{named} is no program: --peer-path names that of the one --peer")
    raise DuettoError(f"{peer} is not installed: no program of that name is on the PATH")


def environment(own: dict[str, str]) -> dict[str, str]:
    """Ours without what is meant for other programs, and a client's own."""
    kept = {name: value for name, value in os.environ.items() if not _FOREIGN.match(name)}
    return kept | own


START_S = 20.0
"""A client that was not quiet by then is measured as it is."""
PROMPT_GAP_S = 0.45
"""Between a prompt and Enter: some clients take what comes faster for a paste."""
HEARD_S, SUBMITS = 2.0, 4
"""A client that still starts may overhear Enter: it is pressed again."""
SAMPLE_S = 0.05
QUIET_S = 1.5
"""A client that writes nothing for so long has painted what it will."""
BEHIND_S = 0.35
"""What a client does in so long behind its last token belongs to the answer."""
_SEQUENCE = re.compile(rb"\x1b\[[0-9;:?<>=]*[ -/]*[@-~]")


class Sent(msgspec.Struct):
    """What the server sent of an answer (`server.Sent`)."""

    protocol: str
    asked_s: float
    first_s: float | None
    last_s: float | None
    tokens: int
    stopped_s: float | None
    stopped_by: str
    ended: bool
    late_p95_s: float | None = None


@dataclass(slots=True)
class Played:
    """One answer, from Enter to its painted end."""

    asked: Wanted
    submitted_s: float
    sent: Sent
    picture: Picture
    cpu_samples: list[tuple[float, float]]
    """Time, and the processor time of the client's processes up to then."""


class Seat:
    """A client that runs, and what a person does there."""

    def __init__(self, stand: Stand, client: Client, work: Path) -> None:
        self._stand = stand
        self.client = client
        self.work = work
        self.terminal = PseudoTerminal(client.command, client.environment, work, stand.rows)
        self.terminal.quits_with(client.quits_with)
        self._emulator = Emulator(stand.rows)

    def ready(self) -> None:
        """Wait until it has started. Raises DuettoError: it ended."""
        self.terminal.rest(0.4)
        self.terminal.quiet(self.client.settle_s, START_S)
        self.check()

    def check(self) -> None:
        """Raise DuettoError if it has ended."""
        if not self.terminal.runs:
            said = self.see().last.split("\n")
            words = next((line.strip() for line in reversed(said) if line.strip()), "no word")
            raise DuettoError(f"{self.client.name} has ended by itself: {words}")

    def see(
        self, words: Sequence[str] = (), mark: re.Pattern[str] | None = None, since_s: float = 0.0
    ) -> Picture:
        """What was painted since the last look."""
        return self._emulator.read(self.terminal.take(), words, mark, since_s)

    def look_away(self) -> None:
        """Let what was painted go unread; the screen is painted anew."""
        self.terminal.take()
        self._emulator = Emulator(self._stand.rows)
        self.terminal.repaint()

    def idle(self, within_s: float = 60.0) -> None:
        """Wait until it does nothing any more: its processes rest for half a second."""
        deadline, family = time.monotonic() + within_s, self.terminal.processes()
        used_s = processes.cpu_s(family)
        while time.monotonic() < deadline:
            self.terminal.rest(0.5)
            before_s, used_s = used_s, processes.cpu_s(family)
            if used_s - before_s <= 0.02:
                return

    def submit(self, asked: Wanted) -> float:
        """Ask for an answer; returns when Enter was pressed. Raises DuettoError: in vain."""
        self.terminal.write(asked.go_word.encode())
        self.terminal.rest(PROMPT_GAP_S)
        for _ in range(SUBMITS):
            pressed_s = self.terminal.write(self.client.submit)
            while time.monotonic() < pressed_s + HEARD_S:
                if self._stand.sent(asked, 0.0) is not None:
                    return pressed_s
                time.sleep(0.005)
        raise self._unasked(asked)

    def started(self, asked: Wanted) -> Sent:
        """Wait for the first token. Raises DuettoError: none was asked for."""
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            sent = self._stand.sent(asked, 0.0)
            if sent is not None and sent.first_s is not None:
                return sent
            time.sleep(0.005)
        raise self._unasked(asked)

    def played(self, asked: Wanted, submitted_s: float, words: tuple[str, ...] = ()) -> Played:
        """Wait for the end of an answer and of its painting."""
        family, cpu_s = self.terminal.processes(), processes.cpu_s
        samples = [(submitted_s, cpu_s(family))]
        sent = self._stand.sent(asked, START_S + asked.lasts_s)
        if sent is None or sent.first_s is None:
            raise self._unasked(asked)
        self._painted(asked, family, samples)
        deadline = time.monotonic() + BEHIND_S
        while time.monotonic() < deadline:
            samples.append((time.monotonic(), cpu_s(family)))
            time.sleep(SAMPLE_S)
        picture = self.see((asked.end, *words), asked.mark, submitted_s)
        return Played(asked, submitted_s, sent, picture, samples)

    def close(self) -> None:
        """Quit it."""
        self.terminal.close()

    def _painted(
        self, asked: Wanted, family: list[int], samples: list[tuple[float, float]]
    ) -> None:
        """Wait until the end of the answer was written, or nothing comes any more."""
        end, deadline = asked.end.encode(), time.monotonic() + START_S + asked.tokens / 1500
        while time.monotonic() < deadline and self.terminal.runs:
            now_s = time.monotonic()
            samples.append((now_s, processes.cpu_s(family)))
            latest = tuple(self.terminal.latest)
            if end in _SEQUENCE.sub(b"", b"".join(data for _, data in latest)):
                return
            if now_s - latest[-1][0] > QUIET_S:
                return
            time.sleep(SAMPLE_S)

    def _unasked(self, asked: Wanted) -> DuettoError:
        self.check()
        return DuettoError(f"{self.client.name} did not send the prompt {asked.go_word}")


@dataclass(slots=True)
class Stand:
    """The replay server and the folders of one benchmark."""

    server: Worker
    folder: Path
    rows: int = ROWS
    """Of every terminal."""
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1001))
    _homes: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def wanted(self, rate: int, tokens: int, **kind: Any) -> Wanted:
        """An answer with a number of its own."""
        return Wanted(rate, tokens, next(self._numbers), **kind)

    def place(self, lines: int = 0) -> Place:
        """New folders for a client; with ``lines``, a file of so many in the workspace."""
        base = self.folder / str(next(self._homes))
        home, work = base / "home", base / "work"
        home.mkdir(parents=True)
        work.mkdir()
        if lines:
            (work / EDITED).write_text(long_file(lines))
        return Place(int(self.server.greeting["port"]), home, work)

    @contextlib.contextmanager
    def seat(self, client: Client, work: Path) -> Iterator[Seat]:
        """A client in its terminal, until the block ends."""
        seat = Seat(self, client, work)
        try:
            yield seat
        finally:
            seat.close()

    @contextlib.contextmanager
    def duetto(self, *arguments: str, lines: int = 0) -> Iterator[Seat]:
        """Ourselves; opens the file of so many lines, if any are given."""
        place = self.place(lines)
        target = str(place.work / EDITED) if lines else str(place.work)
        with self.seat(duetto(place, *arguments, target), place.work) as seat:
            yield seat

    def sent(self, asked: Wanted, within_s: float) -> Sent | None:
        """What the server sent, once it is over or the time is; None: it was not asked for."""
        answer = self.server.ask(number=asked.number, within_s=within_s)["sent"]
        return None if answer is None else msgspec.convert(answer, Sent)

    def answered(self, asked: Wanted) -> int:
        """How many requests the server has answered by now, whatever they asked for."""
        return int(self.server.ask(number=asked.number, within_s=0.0)["answered"])


@contextlib.contextmanager
def stand(rows: int = ROWS) -> Iterator[Stand]:
    """A stand, whose terminals have so many rows, and its end."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        server = Worker("tests.benchmarks.screen.replay_server")
        try:
            yield Stand(server, Path(folder).resolve(), rows)
        finally:
            server.close()
