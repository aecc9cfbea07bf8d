"""Odd clipboards, and what a trace tells of a key, with the real binary."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path

from tests.support.terminal import Terminal

Start = Callable[..., Terminal]
EVIL = "one\x1b[31mtwo\x07\x1b]0;owned\x07three\x9b5D\0four\x1b[201~\x1b[2Jfive"


def test_a_paste_with_escapes_is_text_in_the_editor(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("first\n")
    term = start("notes.txt")
    term.wait_for("first")
    term.type("\x1b[17~")
    term.settle()
    before = len(term.output)
    term.paste(EVIL + "\nlast\n")
    term.wait_for("five")
    check_inert(term.output[before:])
    term.type("\x1a")  # one step
    term.wait_gone("five")
    assert "first" in term.text


def check_inert(painted: bytes) -> None:
    """Nothing of the clipboard got to the terminal as a command."""
    for command in (b"\x1b[31mtwo", b"\x1b]0;", b"\x07\x1b", b"\xc2\x9b", b"\x1b[2J", b"\x1b[201~"):
        assert command not in painted, command


def test_a_megabyte_pasted_into_the_editor_is_one_step(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "big.txt"
    file.write_text("first\n")
    term = start("big.txt")
    term.wait_for("first")
    term.type("\x1b[17~")
    term.settle()
    data = ("\x1b[200~" + "word = 1\r" * 116_000 + "the end\x1b[201~").encode()
    while data:
        data = data[term.offer(data[:4096]) :]
        term.pump(0)
    term.wait_for("the end")
    term.type("\x1a")
    term.wait_gone("the end")
    term.wait_for("first")


def test_the_clipboard_of_the_terminal(start: Start, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("é copy\n")
    term = start("notes.txt")
    term.wait_for("copy")
    term.type("\x1b[17~\x01\x03")
    term.wait_for(lambda _: b"\x1b]52;c;w6kgY29weQ" in term.output)


def test_a_trace_splits_an_esc(start: Start, tmp_path: Path) -> None:
    """Key, frozen, wire, painted: in this order, on the clock of whoever reads it."""
    trace = tmp_path / "trace.jsonl"
    (tmp_path / "home" / "config.toml").write_text("[rehearsal]\nfast_tokens_s = 15\n")
    term = start("practice", "--trace", trace)
    term.wait_for("send")
    term.type("make the cache safe for threads\r")
    term.wait_for(re.compile(r"ttft \d"))
    pressed_ns = time.monotonic_ns()
    term.type("\x1b")
    term.wait_for("stopped after")
    term.leave()
    stamps = [json.loads(line) for line in trace.read_text().splitlines()]
    assert {stamp["name"] for stamp in stamps} == {
        "key",
        "wire",
        "frozen",
        "painted",
        "frame",
        "late",
    }
    after = [stamp for stamp in stamps if stamp["t_ns"] >= pressed_ns]
    times = [
        next(stamp["t_ns"] for stamp in after if (stamp["name"], stamp["detail"]) == wanted)
        for wanted in (("key", "escape"), ("frozen", "main"), ("wire", "response.interrupt"))
    ]
    painted = next(s["t_ns"] for s in after if s["name"] == "painted" and s["t_ns"] > times[1])
    assert times == sorted(times)
    assert painted > times[0]
    typed = [stamp["detail"] for stamp in stamps if stamp["name"] == "key"]
    # that something was typed, not what
    assert typed.count("character") in (31, 32)
    assert set(typed) == {"character", "enter", "escape", "ctrl+q"}
    assert oct(trace.stat().st_mode & 0o777) == "0o600"
