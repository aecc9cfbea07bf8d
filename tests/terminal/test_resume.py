"""A person talks, decides, leaves, and comes back: by an ID, by the list, after a kill."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.patch_server import PatchServer, made
from tests.support.terminal import Terminal
from tests.terminal.conftest import Piped

BEFORE, AFTER, PATCH = made(2, 1)
ACCEPT_ALL, REVIEW = "\x1ba", "\x1bj"
FIRST = "line 0\nnew 1\nline 2\nline 3\n"


class Desk:
    """A workspace, a model that patches it once, and what starts duetto there."""

    def __init__(self, start: Callable[..., Terminal], folder: Path) -> None:
        self._start = start
        self.server = PatchServer(PATCH)
        self.folder = folder / "work"
        self.folder.mkdir()
        self.file = self.folder / "f00.txt"
        self.file.write_text(BEFORE["f00.txt"])

    def open(self, *arguments: str, size: tuple[int, int] = (120, 36)) -> Terminal:
        address = f"ws://127.0.0.1:{self.server.port}/v1/responses"
        models = ("--endpoint", address, "--fast", "m")
        term = self._start(*arguments, *models, size=size, cwd=self.folder)
        term.wait_for("send")
        return term

    def talked(self) -> Terminal:
        """The model has patched the file, and one of the two hunks is accepted."""
        term = self.open(".")
        term.type("make it new\r")
        term.wait_for("Done.")
        term.type(REVIEW)
        term.settle()
        term.type("a")
        term.wait_for("accepted")
        term.settle()
        return term

    def asked(self, term: Terminal, text: str) -> dict[str, Any]:
        """The request for one more prompt."""
        count = len(self.server.requests)
        term.type(f"{text}\r")
        term.wait_for(lambda _: len(self.server.requests) > count)
        return self.server.requests[-1]


@pytest.fixture
def desk(start: Callable[..., Terminal], tmp_path: Path) -> Desk:
    return Desk(start, tmp_path)


def words(request: dict[str, Any]) -> str:
    return "\n".join(str(item) for item in request["input"])


def check(request: dict[str, Any]) -> None:
    """All is said, each call is answered, each prompt stands there once."""
    assert "previous_response_id" not in request
    calls = [i["call_id"] for i in request["input"] if str(i["type"]).endswith("_call")]
    answers = [i["call_id"] for i in request["input"] if str(i["type"]).endswith("_output")]
    assert calls == answers
    assert words(request).count("make it new") == 1


def test_leave_come_back_decide_on_the_rest_ask_on(desk: Desk) -> None:
    term = desk.talked()
    assert desk.file.read_text() == FIRST
    term.leave()
    (name,) = re.findall(r"To go on: duetto resume (\w+)", term.text)
    term = desk.open("resume", name)
    term.wait_for("1 hunk waits for you again")
    term.type(ACCEPT_ALL)
    term.wait_for(lambda _: desk.file.read_text() == AFTER["f00.txt"])
    request = desk.asked(term, "and what now")
    check(request)
    assert "hunk 2 kept, accepted" in words(request)
    term.leave()


def test_after_a_kill_nothing_is_lost_and_nothing_twice(desk: Desk) -> None:
    term = desk.talked()
    asked = len(desk.server.requests)
    term.signal(signal.SIGKILL)
    term.wait_exit()
    desk.file.write_text(f"mine\n{FIRST}")
    term = desk.open("resume", "--last", size=(80, 24))
    term.wait_for("changed on the disk since")
    assert len(desk.server.requests) == asked
    term.type(ACCEPT_ALL)
    term.wait_for(lambda _: desk.file.read_text() == f"mine\n{AFTER['f00.txt']}")
    request = desk.asked(term, "go on")
    check(request)
    assert "+mine" in words(request)
    term.leave()


def test_an_answer_that_was_cut_goes_on_after_coming_back(desk: Desk, piped: Piped) -> None:
    half = PATCH[: PATCH.rindex("+new")]
    desk.server = PatchServer(half, stalls=True)
    term = desk.open(".")
    term.type("make it new\r")
    term.wait_for("landing  L4")
    term.type("\x1b")
    term.wait_for("stopped after")
    term.leave()
    asked = len(desk.server.requests)
    models = ("--endpoint", f"ws://127.0.0.1:{desk.server.port}/v1/responses", "--fast", "m")
    ran = piped("exec", "--last", "-C", "work", *models, "/continue")
    assert ran.stdout == "Done.\n", ran.stderr
    assert "hunk 2 left out: incomplete" in ran.stderr, "the model did not send the rest"
    assert len(desk.server.requests) == asked + 1
    assert "Your last answer was cut off by accident" in words(desk.server.requests[-1])
    ran = piped("exec", "--last", "-C", "work", *models, "/continue")
    assert ran.returncode == 2
    assert ran.stderr == "duetto: nothing to continue: the last answer is whole\n"


def test_from_the_list_by_a_word_and_forked(desk: Desk, piped: Piped) -> None:
    desk.talked().leave()
    term = desk.open(".")
    term.type("/resume\r")
    term.wait_for("Go on with a session")
    term.type("new")
    term.wait_for("1 session")
    term.wait_for("make it new")
    term.type("\r")
    term.wait_for("1 hunk waits for you again")
    term.type("/fork 1\r")
    term.wait_for("y  Leave")
    term.type("y")
    term.wait_for("a new session, from 1 turn of")
    check(desk.asked(term, "another way"))
    term.leave()
    told = piped("sessions").stdout
    assert told.count("make it new") >= 1
    assert "another way" in piped("sessions", "--json", "--search", "another").stdout


def test_what_cannot_go_on_is_a_sentence(desk: Desk, piped: Piped, tmp_path: Path) -> None:
    assert piped("resume", "--last", "--linear").stderr == (
        "duetto: there is no earlier session to go on with\n"
    )
    term = desk.talked()
    ran = piped("resume", "--linear", "nothing")
    assert (ran.returncode, ran.stderr) == (
        1,
        "duetto: no session is called 'nothing'; duetto sessions lists them\n",
    )
    name = piped("sessions").stdout.split()[0]
    ran = piped("resume", "--linear", name)
    assert ran.stderr.startswith(f"duetto: session {name} goes on in another duetto;")
    term.leave()
    desk.folder.rename(tmp_path / "moved")
    ran = piped("resume", "--linear", name)
    assert (ran.returncode, ran.stderr.count("\n")) == (2, 1)
    assert "is not there any more" in ran.stderr
    ran = piped("resume", "--linear", "--here", name, given="/quit\n")
    assert ran.returncode == 0
    assert "conflict: file not found" in ran.stdout


def test_without_a_screen(piped: Piped, tmp_path: Path) -> None:
    assert piped("exec", "hello").returncode == 0
    (tmp_path / "other").mkdir()
    ran = piped("exec", "--last", "-C", "other", "--apply", "more")
    assert (ran.returncode, ran.stdout) == (2, ""), "that one is of another folder"
    assert ran.stderr == "duetto: there is no earlier session of this folder to go on with\n"
    ran = piped("exec", "--last", "--json", "and more")
    events = [json.loads(line) for line in ran.stdout.splitlines()]
    told = [one for one in events if one["type"] == "text.delta"]
    (line,) = map(json.loads, piped("sessions", "--json").stdout.splitlines())
    assert (line["turns"], line["kind"], line["first_words"]) == (2, "exec", "hello")
    assert events[-1]["session"] == line["id"]
    assert "".join(one["delta"] for one in told).count("rehearsal model") == 1, "only the new turn"
    ran = piped("exec", "--resume", line["id"], "--last", "no")
    assert (ran.returncode, ran.stderr.count("\n")) == (2, 1)


def test_each_session_of_a_run_is_recorded_in_a_file_of_its_own(
    piped: Piped, tmp_path: Path
) -> None:
    told = ("--linear", "--record", "run.jsonl", "--trace", "trace.jsonl")
    ran = piped(*told, given="hello\n/fork\nand more\n/fork\n/quit\n")
    assert "Recorded to run-2.jsonl and trace-2.jsonl" in ran.stdout
    files = [tmp_path / f"run{number}.jsonl" for number in ("", "-2", "-3")]
    assert ["and more" in file.read_text() for file in files] == [False, True, False]
    assert (tmp_path / "trace-3.jsonl").exists()


def test_a_summary_without_a_screen_stands_for_the_first_turn(desk: Desk, piped: Piped) -> None:
    models = ("--endpoint", f"ws://127.0.0.1:{desk.server.port}/v1/responses", "--fast", "m")
    ran = piped("exec", "-C", "work", *models, "/compact")
    assert ran.stderr == "duetto: /compact needs a session to go on with: --resume ID or --last\n"
    desk.server.says = "Done, and so on. " * 100
    piped("exec", "-C", "work", *models, "make it new")
    desk.server.says = "Done."
    ran = piped("exec", "--last", "-C", "work", *models, "/compact")
    assert "Nothing to compact: the last turn is always sent as it was said" in ran.stderr
    assert ran.returncode == 1
    piped("exec", "--last", "-C", "work", *models, "go on")
    ran = piped("exec", "--last", "-C", "work", *models, "/compact the names")
    assert "up to turn 1 a summary is sent from now on" in ran.stderr
    assert ran.returncode == 0
    shown = piped("exec", "--last", "-C", "work", *models, "/compact show").stdout
    assert "turn 1: make it new" in shown
    piped("exec", "--last", "-C", "work", *models, "and now")
    first = words({"input": desk.server.requests[-1]["input"][:1]})
    assert '<compacted turns="1-1">' in first
    assert "turn 1: make it new" in first
