"""Codex over an outage of its bridge: BINARY. One line a scenario (see checks.py).

The bridge is killed in the midst of an answer and started again at the same address, as late as
Codex tries: its thread goes on, by plain HTTP where Codex has given up the socket.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from checks import finish, scenario, want
from codex_home import Codex, codex_before, on_screen, until
from tap import Note

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import bridges

binary = sys.argv[1]
LONG = "rehearse 1500 tokens of prose"
CALL = 'rehearse call exec_command {"cmd": "echo hello-from-tool"}'


class Outage:
    """A bridge for a team: its users outlive it, and so does its port."""

    def __init__(self, folder: Path) -> None:
        self._users = folder / "users.json"
        self._log = folder / "log"
        self.port = bridges.free_port()
        command = [sys.executable, "-m", "tui.cli", "bridge", "token", "add", "anna"]
        added = subprocess.run(
            [*command, "--tokens", str(self._users)],
            cwd=bridges.ROOT, capture_output=True, text=True, check=True,
        )  # fmt: skip
        self.key = added.stdout.split()[0]
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self) -> None:
        listen = ["--listen", f"127.0.0.1:{self.port}", "--tokens", str(self._users)]
        play = ["--any-model", "--deep-rate", "150", "--log", str(self._log)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tui.cli", "bridge", *listen, *play],
            cwd=bridges.ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        bridges.answers(f"http://127.0.0.1:{self.port}/healthz")

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._process = None


@contextlib.contextmanager
def before_a_bridge() -> Iterator[tuple[Codex, Outage]]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        outage = Outage(Path(folder))
        outage.begin()
        try:
            with codex_before(binary, f"http://127.0.0.1:{outage.port}/v1", outage.key) as codex:
                yield codex, outage
        finally:
            outage.kill()


def asked(note: Note, method: str) -> bool:
    """Whether a connection begins with a request of this method."""
    return note.kind in ("open", "vain") and note.data.startswith(f"{method} /v1/responses")


def opened(codex: Codex, method: str, since: int = 0) -> int:
    """How many connections to the bridge began so."""
    return codex.tap.count(lambda n: n.kind == "open" and asked(n, method), since)


def gone_for_long(codex: Codex, outage: Outage) -> None:
    """Kill the bridge now, and let it come back when Codex has given up its socket."""
    since = len(codex.tap.notes)
    outage.kill()
    codex.tap.wait(lambda n: asked(n, "POST"), "a POST", 60, since)
    outage.begin()
    codex.tap.wait(lambda n: n.kind == "open" and asked(n, "POST"), "a POST", 60, since)


def at_exec() -> None:
    with before_a_bridge() as (codex, outage):
        with scenario("outage: exec goes on by HTTP when the bridge is back"):
            said: list[str] = []
            thread = threading.Thread(target=lambda: said.append(codex.exec(LONG, "gpt-5.5")))
            thread.start()
            codex.tap.wait(lambda n: n.says("response.output_text.delta"), "an answer")
            gone_for_long(codex, outage)
            thread.join(120)
            want(said, "exec did not end well")
            want("turn.completed" in said[0], said[0])
        with scenario("outage: exec's next thread is on a socket again"):
            since = len(codex.tap.notes)
            want("hello-from-tool" in codex.exec(CALL, "gpt-5.5"), "the tool did not run")
            want(opened(codex, "GET", since), "no socket")
            want(not opened(codex, "POST", since), "plain HTTP")


def on_terminal() -> None:
    with before_a_bridge() as (codex, outage), on_screen(codex, "-m", "gpt-5.5") as screen:
        with scenario("outage: the TUI's thread goes on by HTTP when the bridge is back"):
            codex.tap.wait(lambda n: n.says("response.completed"), "a prewarm")
            screen.say(LONG)
            create = codex.create(LONG)
            codex.then(create, "response.output_text.delta")
            gone_for_long(codex, outage)
            screen.wait("Rehearsed text", 60)
        with scenario("outage: the TUI's next turn, with a tool, is on HTTP"):
            until(lambda: "esc to interrupt" not in screen.text, "the end of the turn", 60)
            since = len(codex.tap.notes)
            screen.say(CALL)
            screen.wait("answered: ", 60)
            asks = [n for n in codex.creates(since) if CALL in str(n.data)]
            want(not asks, "it was asked on a socket")
        with scenario("outage: the TUI's next thread is on a socket again"):
            until(lambda: "esc to interrupt" not in screen.text, "the end of the turn", 60)
            since = len(codex.tap.notes)
            screen.say("/new")
            time.sleep(1)
            screen.say("PLAIN hello again")
            create = codex.create("PLAIN hello again", since)
            codex.then(create, "response.completed")


for part in (at_exec, on_terminal):
    with scenario(f"starting Codex for {part.__name__}", told=False):
        part()
finish()
