"""``duetto --linear``: the real binary by pipe and on a terminal, with the rehearsal's model."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.sources import ROOT
from tests.support.terminal import Terminal
from tests.terminal.conftest import DUETTO, Gate, Piped

Lines = Callable[[str], subprocess.CompletedProcess[str]]
Start = Callable[..., Terminal]
MOVES = re.compile(rb"\x1b\[[0-9;]*[A-HJKSTfm]|\x1b[78M]|\x1b\[\?(?:1049|25)[hl]")
"""What moves the cursor, erases, colours, or takes another screen."""


@pytest.fixture(autouse=True)
def quick(environment: dict[str, str]) -> None:
    """No mistakes, and no time lost."""
    settings = "[rehearsal]\nmistakes = 0.0\nfast_tokens_s = 5000\n"
    (Path(environment["DUETTO_HOME"]) / "config.toml").write_text(settings)


@pytest.fixture
def lines(piped: Piped) -> Lines:
    """Runs it with lines of a file."""
    return lambda given: piped("practice", "--linear", given=given)


def test_an_exercise_is_solved_through_a_pipe(lines: Lines, practice: Path) -> None:
    commands = "let slug take a max_length\n/review 1\n/accept all\n/verify\n/meter\n"
    done = lines(commands)
    assert done.returncode == 0, done.stderr
    said = done.stdout
    assert said.index("You: let slug take a max_length") < said.index("ledger/names.py: 2 hunks")
    assert said.index("fast is done: ") < said.index("Hunk 1: ledger/names.py, line 7,")
    assert "+ def slug(name: str, max_length: int | None = None) -> str:" in said
    assert "Accepted hunks 1 to 2.\nNo hunk is waiting.\n" in said
    assert "Running: pytest" in said
    assert "[exit 0 after " in said
    assert "At 50 tokens per second" in said
    assert "max_length" in (practice / "ledger/names.py").read_text()
    assert "\x1b" not in said


def test_a_stop_in_the_file_stops_the_answer_at_once(lines: Lines) -> None:
    done = lines("/throttle 20\nlet slug take a max_length\n/stop\n/status\n")
    assert "Stopping." in done.stdout
    assert "Stopped after " in done.stdout
    assert "Nothing runs; fast answers your next prompt." in done.stdout


def test_nobody_there_is_a_code_and_keeps_the_prompt(
    lines: Lines, environment: dict[str, str]
) -> None:
    environment |= {"DUETTO_ENDPOINT": "ws://127.0.0.1:9", "DUETTO_FAST": "m"}
    done = lines("hello\n")
    assert done.returncode == 3, done.stdout
    assert "Not sent: hello. /again sends it." in done.stdout
    assert "/rescue brings it back" in done.stderr
    again = lines("/rescue\n")
    assert "a draft: brought back" in again.stdout.lower()


def test_mistakes_in_keys_theme_and_status_line_are_told(
    lines: Lines, environment: dict[str, str]
) -> None:
    wrong = '[keys]\nzzz = "x"\n[meter]\nline = "{rat}"\n[editor]\ntheme = "noon"\n'
    Path(environment["DUETTO_HOME"], "config.toml").write_text(wrong)
    said = lines("/quit\n").stdout
    for words in ("not an action of [keys.global]", "no field {rat}", "asks for the theme 'noon'"):
        assert words in said


@pytest.mark.parametrize("how", ["environment", "settings"])
def test_it_is_chosen_for_good(lines: Lines, environment: dict[str, str], how: str) -> None:
    if how == "environment":
        environment["DUETTO_LINEAR"] = "1"
    else:
        file = Path(environment["DUETTO_HOME"]) / "config.toml"
        file.write_text("[screen]\nlinear = true\n")
    assert "linear mode" in lines("/quit\n").stdout


def ready(start: Start) -> Terminal:
    """One that takes lines."""
    term = start("practice", "--linear")
    term.wait_for("/quit leaves.")
    return term


def test_on_a_terminal_nothing_is_drawn_over(start: Start) -> None:
    term = ready(start)
    term.type("let slug take a max_length\r")
    term.wait_for("2 hunks wait for your decision")
    term.type("/accept 1\r")
    term.wait_for("1 hunk left.")
    term.type("/quit\r")
    term.wait_for("3. Stay")
    term.type("2\r")
    assert term.wait_exit() == 0
    assert MOVES.findall(term.output) == []
    assert term.trouble() == ""


def early(start: Start, *arguments: str) -> Terminal:
    """One that has only just begun: it has imported next to nothing."""
    term = start(*arguments)
    term.wait_for(lambda _: term.takes_long_lines)
    return term


def test_a_long_line_that_is_typed_while_it_starts_comes_whole(
    start: Start, tmp_path: Path
) -> None:
    term = early(start, "--linear")
    words = " ".join(f"w{number}" for number in range(2000))
    term.type(words)
    term.wait_for("/quit leaves.")
    term.wait_for("w1999")
    term.signal(signal.SIGTERM)
    term.wait_exit()
    (draft,) = (tmp_path / "home" / "state" / "rescue").glob("*/draft.txt")
    assert draft.read_text() == words
    assert term.trouble() == ""


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM), (signal.SIGHUP, -signal.SIGHUP)],
)
def test_ended_while_it_starts_it_gives_the_terminal_back(
    start: Start, gate: Gate, number: signal.Signals, code: int
) -> None:
    gate.shut()
    term = start("--linear")
    opener = gate.reached(term)
    assert term.takes_long_lines
    term.signal(number)
    assert term.wait_exit() == code
    os.close(opener)
    assert term.trouble() == ""


HELD_UP = """
import asyncio, os, threading
run = asyncio.run
def held_up(*arguments, **more):
    if threading.current_thread() is not threading.main_thread():
        open(os.environ["BEGIN"]).read()
    return run(*arguments, **more)
asyncio.run = held_up
"""


def test_ctrl_c_before_the_session_has_begun_ends_it(
    start: Start, environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text(HELD_UP)
    os.mkfifo(begin := tmp_path / "begin")
    environment |= {"BEGIN": str(begin), "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    term = start("practice", "--linear")
    with begin.open("w"):
        term.signal(signal.SIGINT)
        term.settle()
    assert term.wait_exit() == 130
    assert term.trouble() == ""


AS_IT_STARTS = """
import asyncio, os, signal, threading
start, run, wait = threading.Thread.start, asyncio.run, threading.Event.wait
here = threading.Event()
def runs(*arguments, **more):
    here.set()
    return run(*arguments, **more)
def waits(self, timeout=None):
    if threading.current_thread().name.startswith("session"):
        here.set()
    return wait(self, timeout)
asyncio.run, threading.Event.wait = runs, waits
def interrupted(self):
    start(self)
    if self.name.startswith("session"):
        os.kill(os.getpid(), signal.SIGINT)
        here.wait()  # the other thread runs: it could have heard it
threading.Thread.start = interrupted
"""


def test_ctrl_c_while_the_sessions_thread_starts_ends_it(
    start: Start, environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text(AS_IT_STARTS)
    environment |= {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    term = start("practice", "--linear")
    assert term.wait_exit() == 130
    assert term.trouble() == ""


@pytest.mark.parametrize("arguments", [["--nothing"], ["apply", "x"], ["no/such/folder/x/y"]])
def test_a_wrong_command_line_gives_the_terminal_back(start: Start, arguments: list[str]) -> None:
    term = start("practice", "--linear", *arguments)
    assert term.wait_exit() != 0
    assert term.trouble() == ""


def test_ctrl_c_stops_the_answer_and_what_is_typed_stays_in_the_line(start: Start) -> None:
    term = ready(start)
    term.type("/throttle 15\r")  # or it is over before the key comes
    term.wait_for("Throttled")
    term.type("let slug take a max_length\r")
    term.wait_for("Writing in ledger/names.py.")
    term.type("/que")
    term.wait_for(re.compile(r"^/que$", re.M))
    term.type("\x03")
    term.wait_for(re.compile(r"Stopped after .*\n(?:.*\n)+> /que$", re.M))
    term.type("ued\r")
    term.wait_for("Nothing is queued.")
    term.type("half a line")
    term.wait_for("> half a line")
    term.type("\x03")
    term.wait_for("Line dropped; the up arrow brings it back.")
    asked = 0
    while term.status is None:  # again counts for two seconds only
        term.type("\x03")
        asked += 1
        seen = f"(?:again leaves duetto[^~]*){{{asked}}}"
        term.wait_until(lambda seen=seen: term.status is not None or re.search(seen, term.text))
    assert asked > 1
    assert term.wait_exit() == 0


def test_pasted_lines_are_one_prompt(start: Start) -> None:
    term = ready(start)
    term.paste("first\n/quit\nthird")
    term.type("\r")
    term.wait_for("fast is done")
    term.type("/again\r")
    term.wait_for("Sending again: first /quit third")


def test_killed_it_keeps_what_stands_in_the_line(start: Start) -> None:
    term = ready(start)
    term.type("first \\\rsecond")
    term.wait_for("... second")
    term.signal(signal.SIGTERM)
    assert term.wait_exit() == 128 + signal.SIGTERM
    term.wait_for("a draft not saved: kept in")
    term = start("practice", "--linear")  # a window that closes hangs up more than once
    term.wait_for("/rescue brings it back")
    term.type("/rescue\r")
    term.wait_for("Not sent: first second. /again sends it.")
    while term.status is None:
        term.signal(signal.SIGHUP)
        term.pump(0.01)
    term.wait_for("a draft not saved: kept in")
    again = start("practice", "--linear")
    again.wait_for("/rescue brings it back")
    again.type("/rescue\r")
    again.wait_for("Not sent: first second. /again sends it.")


def test_a_dumb_terminal_edits_its_lines_itself(start: Start) -> None:
    term = start("practice", "--linear", kind={"TERM": "dumb"})
    term.wait_for(re.compile(r"^>$", re.M))
    term.type("/hunks\r")
    term.wait_for("No hunk is waiting for a decision.")
    term.type("\x04")
    assert term.wait_exit() == 0
    assert b"\x1b" not in term.output


def test_the_up_arrow_goes_through_earlier_runs(start: Start) -> None:
    term = ready(start)
    term.type("/hunks all\r")
    term.wait_for("No hunk is waiting")
    term.type("/quit\r")
    assert term.wait_exit() == 0
    again = ready(start)
    again.wait_for(re.compile(r"^>$", re.M))
    again.type("\x1b[A\x1b[A")
    again.wait_for("> /hunks all")


def test_a_prompt_is_written_in_the_users_editor(
    start: Start, environment: dict[str, str], tmp_path: Path
) -> None:
    editor = tmp_path / "editor.sh"
    editor.write_text('#!/bin/sh\necho open:\nread line\nprintf "%s\\nand more" "$line" > "$1"\n')
    editor.chmod(0o755)
    environment["VISUAL"] = str(editor)
    term = ready(start)
    term.type("/compose\r")
    term.wait_for("open:")
    term.type("written outside\r")
    term.wait_for("2 lines written: /again sends it, /compose goes on with it.")
    term.type("/again\r")
    term.wait_for("Sending again: written outside and more")


def test_what_is_said_may_go_elsewhere_while_somebody_types(
    environment: dict[str, str], tmp_path: Path
) -> None:
    """A speech program, a log: lines are still taken at once, not one after the other."""
    log = tmp_path / "said"
    command = ["sh", "-c", f"exec {' '.join(DUETTO)} --linear > {log}"]
    with Terminal(command, env=environment, cwd=tmp_path) as term:
        term.wait_for(lambda _: log.exists() and "/quit leaves." in log.read_text())
        term.type("!sleep 30\r")
        term.wait_for(lambda _: "Running: sleep 30" in log.read_text())
        term.type("/stop\r")
        term.wait_for(lambda _: "[stopped after" in log.read_text())
        term.type("/quit\r")
        assert term.wait_exit() == 0
