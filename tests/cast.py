"""One asciicast of the first minute: the real program in a terminal, its bytes with their times.

Made by ``python -m tests.pictures`` with the pictures; played by anything that plays asciicast v2
(``asciinema play docs/pictures/first-minute.cast``).
"""

from __future__ import annotations

import codecs
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.support.terminal import Terminal

SIZE = (110, 32)
FIRST = "make the cache safe for threads"
SECOND = "make the cache safe for threads, with a plain Lock"
TYPING_S, READING_S = 0.045, 1.6
"""Between two keys, and what somebody needs to take in what they see."""
_ASKED = re.compile(
    r"\x1b\[\?(?:100[0-6]|2004)[hl]|\x1b\[[<>=?]\d*u|\x1b\[>4(?:;\d)?m|\x1b\[\?\d+\$p"
    r"|\x1b\[\d*[cn]|\x1b\](?:22|1[0-2]);[^\x07\x1b]*(?:\x07|\x1b\\)"
)
"""What asks something of a terminal, or turns its mouse and keyboard on: no matter of a film."""
_PRIVATE = ("TMUX", "STY", "SSH_CONNECTION")


class Recorder(Terminal):
    """A terminal that remembers when what came."""

    def __init__(self, command: list[str], env: dict[str, str]) -> None:
        self.began_s = time.monotonic()
        self.heard: list[tuple[float, bytes]] = []
        self.markers: list[tuple[float, str]] = []
        super().__init__(command, env=env, size=SIZE)

    def mark(self, words: str) -> None:
        """A step of the story begins here."""
        self.markers.append((time.monotonic() - self.began_s, words))

    def write(self, text: str) -> None:
        """Type it as somebody does who thinks."""
        for key in text:
            self.type(key)
            self.watch(TYPING_S)

    def watch(self, seconds: float) -> None:
        """Look at it for a while."""
        deadline_s = time.monotonic() + seconds
        while (left_s := deadline_s - time.monotonic()) > 0:
            self.pump(left_s)

    def _take(self, data: bytes) -> None:
        self.heard.append((time.monotonic() - self.began_s, data))
        super()._take(data)


def cast_lines(term: Recorder, title: str) -> Iterator[str]:
    """The lines of the file: a header, then what was shown and the markers, in order."""
    env = {"TERM": "xterm-256color", "SHELL": "/bin/sh"}
    width, height = SIZE
    yield json.dumps({"version": 2, "width": width, "height": height, "title": title, "env": env})
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    shown = [(at, "o", _ASKED.sub("", decode(data))) for at, data in term.heard]
    events = sorted([*shown, *((at, "m", words) for at, words in term.markers)])
    for at, kind, text in events:
        yield json.dumps([round(at, 4), kind, text], ensure_ascii=False)


def make(target: Path) -> None:
    """Play the first minute and write it down. Raises AssertionError: something did not come."""
    with tempfile.TemporaryDirectory() as home:
        (Path(home) / "config.toml").write_text(
            'schema = 1\n[verify]\ncommand = "pytest -q tests/test_cache.py"\n', encoding="utf-8"
        )
        kept = {name: value for name, value in os.environ.items() if name not in _PRIVATE}
        path = f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"
        env = {**kept, "DUETTO_HOME": home, "PATH": path}
        command = [sys.executable, "-m", "tui.cli", "practice"]
        with Recorder(command, env) as term:
            _play(term)
            term.type("\x11")
            term.wait_exit()
            text = "\n".join(cast_lines(term, "duetto: stop, redirect, accept, green"))
    target.write_text(text + "\n", encoding="utf-8")


def _play(term: Recorder) -> None:
    term.wait_for("●")
    term.watch(READING_S)
    term.mark("ask")
    term.write(FIRST)
    term.type("\r")
    term.wait_for("landing")
    term.watch(0.12)
    term.mark("stop it")
    term.type("\x1b")
    term.wait_for("stopped")
    term.watch(2 * READING_S)
    term.mark("redirect")
    term.write(SECOND)
    term.type("\r")
    term.wait_for("Done.")
    term.watch(READING_S)
    term.mark("accept, and run the tests")
    term.type("\x1ba")
    term.watch(READING_S)
    term.type("\x1bv")
    term.wait_for("tests passed")
    term.watch(READING_S)
    term.mark("the deep model")
    term.type("\x1bm")
    term.watch(READING_S)
