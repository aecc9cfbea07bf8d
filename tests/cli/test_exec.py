"""``duetto exec`` with a real bridge process: real sockets, real files."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.engine.test_budget import ended, spending
from tests.engine.test_inspecting import FakeGit
from tests.support.composed import composed
from tests.support.fakes import World, settle
from tests.support.judged_runs import judged
from tests.support.nasty_server import Nasty, nasty
from tests.support.nasty_steps import Close
from tests.support.pictures import jpeg, png
from tests.support.server_words import created, delta, error, spoken, turn
from tests.support.sse_upstream import completed as sse_completed
from tests.support.sse_upstream import message, opening, saying, serving
from tests.support.stand_in import stand_in
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.stored_sessions import stored
from tests.support.turns import begun
from tui.cli import practice
from tui.cli.exec import AttemptsTurn, ExecTurn, asked_of
from tui.cli.exec_reports import JsonReport, TextReport, WireNews
from tui.cli.options import ModelFlags
from tui.core.attempts import AttemptPlan
from tui.core.files import LINK_OUTSIDE
from tui.engine import recovery
from tui.engine.intents import MakeAttempts, Prompt, StopAttempts
from tui.engine.notices import Trouble
from tui.engine.ports import Caps, PatchFormat, RoleSpec
from tui.engine.requests import TurnLimits
from tui.engine.resuming import Resumption
from tui.engine.session import Session, SessionOptions
from tui.engine.turn import Countdown
from tui.errors import EXIT_OVER_BUDGET, UsageError
from tui.settings import Transport

pytestmark = pytest.mark.slow

PROMPT = "let slug take a max_length"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def root(home: Path) -> Path:
    return practice.ensure(home / "data")


@pytest.fixture
def environment(home: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("DUETTO_")}
    return {**kept, "DUETTO_HOME": str(home)}


@pytest.fixture
def free_port() -> Iterator[int]:
    """A port on which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def run(
    environment: dict[str, str], *arguments: str, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tui.cli", "exec", *arguments],
        env=environment,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
    )


def snapshot(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def quiet_mistakes(home: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text("[rehearsal]\nmistakes = 0.0\nfast_tokens_s = 20000\n")


def test_text_goes_to_stdout_and_nothing_is_written(
    environment: dict[str, str], root: Path, home: Path
) -> None:
    quiet_mistakes(home)
    before = snapshot(root)
    done = run(environment, PROMPT, "-C", str(root))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert "*** Begin Patch" not in done.stdout
    assert "pending" in done.stderr
    assert snapshot(root) == before


def test_apply_writes_and_the_exercise_is_solved(
    environment: dict[str, str], root: Path, home: Path
) -> None:
    quiet_mistakes(home)
    exercise = next(e for e in practice.load_scripts() if e.prompt == PROMPT)
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", exercise.test]
    before = subprocess.run(tests, cwd=root, capture_output=True, timeout=60)
    assert before.returncode == 1
    done = run(environment, PROMPT, "-C", str(root), "--apply")
    assert done.returncode == 0, done.stderr
    after = subprocess.run(tests, cwd=root, capture_output=True, timeout=60)
    assert after.returncode == 0, after.stdout


def test_the_clocks_of_a_race_are_those_of_the_recording(
    environment: dict[str, str], root: Path, home: Path
) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text("[rehearsal]\nmistakes = 0.0\ndeep_tokens_s = 400\n")
    before, file = snapshot(root), home / "frames.jsonl"
    done = run(environment, f"/race {PROMPT}", "-C", str(root), "--record", str(file))
    sides = json.loads(done.stdout)["race"]
    assert [side["model"] for side in sides] == ["rehearsal-fast", "rehearsal-deep"]
    assert [side["verdict"] for side in sides] == ["passed", "passed"]
    assert snapshot(root) == before
    asked, first, last = dict[str, float](), dict[str, float](), dict[str, float]()
    for line in map(json.loads, file.read_text().splitlines()):
        frame, at_s, lane = line["frame"], line["t"], line["frame"].get("stream_id", "")
        if frame.get("type") == "response.create":
            asked.setdefault(lane, at_s)
        elif str(frame.get("type", "")).endswith(".delta"):
            first.setdefault(lane, at_s)
            last[lane] = at_s
    for side in sides:
        lane = f"attempt-{side['attempt']}"
        assert side["ttft_s"] == pytest.approx(first[lane] - asked[lane], abs=0.05)
        assert side["last_token_s"] == pytest.approx(last[lane] - asked[lane], abs=0.05)
        assert side["ttft_s"] < side["first_hunk_s"] <= side["last_token_s"] < side["judged_s"]


def test_attempts_are_a_table_and_only_apply_writes(
    environment: dict[str, str], root: Path, home: Path
) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text("[rehearsal]\nmistakes = 0.6\nfast_tokens_s = 20000\n")
    before = snapshot(root)
    done = run(environment, f"/attempts 4 --all {PROMPT}", "-C", str(root))
    assert done.returncode == 0, done.stderr
    table = json.loads(done.stdout)
    found = {one["attempt"]: one["verdict"] for one in table["attempts"]}
    assert sorted(found) == [1, 2, 3, 4]
    assert set(found.values()) == {"passed", "failed"}, "each has luck of its own"
    assert table["winner"] == table["attempts"][0]["attempt"]
    assert table["attempts"][0]["reason"] == "passes"
    green = list(found.values()).count("passed")
    assert table["pass@1"]["share"] == pytest.approx(green / 4)
    assert snapshot(root) == before
    done = run(environment, "--attempts", "4", PROMPT, "-C", str(root), "--apply")
    assert done.returncode == 0, done.stderr
    assert snapshot(root) != before


def git(root: Path, *arguments: str) -> None:
    who = ("-c", "user.name=x", "-c", "user.email=x@x", "-c", "protocol.file.allow=always")
    subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)


def odd_tree(root: Path, kind: str) -> None:
    """Make a checkout of this kind of the practice."""
    if kind == "plain":
        return
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "one")
    if kind == "detached":
        git(root, "commit", "-q", "--allow-empty", "-m", "two")
        git(root, "checkout", "-q", "HEAD~1")
    elif kind == "submodule":
        other = root.parent / "other"
        other.mkdir()
        (other / "x.py").write_text("x = 1\n")
        git(other, "init", "-q")
        git(other, "add", "-A")
        git(other, "commit", "-qm", "one")
        git(root, "submodule", "add", "-q", str(other), "vendor")
        git(root, "commit", "-qm", "with a submodule")
    elif kind == "sparse":
        (root / "heavy").mkdir()
        (root / "heavy" / "a.py").write_text("x = 1\n")
        git(root, "add", "-A")
        git(root, "commit", "-qm", "more")
        git(root, "sparse-checkout", "set", "ledger", "tests")
        assert not (root / "heavy").exists()
    elif kind == "10 GB":
        for number in range(10):
            with (root / f"disk-{number}.img").open("wb") as file:
                file.truncate(1 << 30)


def whole_tree(root: Path) -> dict[str, tuple[int, int, bytes]]:
    """All files, git's too, with their modes and sizes, and of those of a usual size the bytes."""
    found = {}
    for path in root.rglob("*"):
        about = path.lstat()
        data = path.read_bytes() if path.is_file() and about.st_size < 1 << 20 else b""
        found[str(path.relative_to(root))] = (about.st_mode, about.st_size, data)
    return found


@pytest.mark.parametrize("kind", ["plain", "detached", "submodule", "sparse", "10 GB"])
def test_attempts_in_an_odd_tree_change_nothing_of_it(
    environment: dict[str, str], root: Path, home: Path, kind: str
) -> None:
    quiet_mistakes(home)
    odd_tree(root, kind)
    before = whole_tree(root)
    done = run(environment, f"/attempts 2 --all {PROMPT}", "-C", str(root))
    assert done.returncode == 0, done.stderr
    table = json.loads(done.stdout)
    assert [one["verdict"] for one in table["attempts"]] == ["passed", "passed"]
    assert whole_tree(root) == before


def test_where_no_attempt_passes_exec_says_so(
    environment: dict[str, str], root: Path, home: Path
) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text("[rehearsal]\nmistakes = 1.0\nfast_tokens_s = 20000\n")
    before = snapshot(root)
    done = run(environment, "--attempts", "2", PROMPT, "-C", str(root), "--apply")
    assert done.returncode == 1
    assert json.loads(done.stdout)["winner"] is None
    assert snapshot(root) == before


def test_a_kill_with_sixteen_attempts_leaves_the_tree_as_it_was(
    environment: dict[str, str], root: Path, home: Path
) -> None:
    before = snapshot(root)
    arguments = ["exec", "--attempts", "16", PROMPT, "-C", str(root), "--role", "deep"]
    recording = home / "frames.jsonl"
    running = subprocess.Popen(
        [sys.executable, "-m", "tui.cli", *arguments, "--record", str(recording)],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while not recording.exists() or recording.read_text().count("response.create") < 16:
        assert running.poll() is None
        time.sleep(0.01)
    running.kill()
    running.wait(30)
    assert snapshot(root) == before


@pytest.mark.parametrize("count", [0, 1, 500])
def test_a_wrong_number_of_attempts_is_a_sentence(
    environment: dict[str, str], root: Path, count: int
) -> None:
    done = run(environment, "--attempts", str(count), PROMPT, "-C", str(root))
    assert done.returncode == 2
    assert done.stderr.startswith(f"duetto: --attempts {count}: ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--attempts", "3", "/race x"], "--attempts takes a prompt, not a command"),
        (["--attempts", "3", "/attempts 4 x"], "--attempts takes a prompt, not a command"),
        (["--attempts", "3", "/ask x"], "--attempts takes a prompt, not a command"),
        (["--attempts", "3", "/tasks"], "--attempts takes a prompt, not a command"),
        (["--apply", "/race x"], "a race changes no files"),
        (["--role", "fast", "/delegate x"], "/delegate asks the deep model"),
    ],
)
def test_attempts_races_and_delegates_do_not_ignore_what_is_asked(
    environment: dict[str, str], root: Path, arguments: list[str], said: str
) -> None:
    done = run(environment, *arguments, "-C", str(root))
    assert done.returncode == 2
    assert said in done.stderr


def test_attempts_may_name_any_model_of_the_endpoint_on_the_command_line(
    environment: dict[str, str], root: Path
) -> None:
    with stand_in(key="") as provider:
        place = ("--endpoint", provider.url, "--fast", "tiny-8b")
        asked = "/attempts 2 --models tiny-8b,large-32b count"
        done = run(environment, *place, asked, "-C", str(root))
        found = json.loads(done.stdout)["attempts"]
        assert sorted(one["model"] for one in found) == ["large-32b", "tiny-8b"], done.stderr


def test_attempts_at_an_endpoint_that_is_not_there_are_unreachable(
    environment: dict[str, str], root: Path
) -> None:
    place = ("--endpoint", "ws://127.0.0.1:9/v1", "--fast", "m")
    done = run(
        {**environment, "OPENAI_API_KEY": "k"}, *place, "--attempts", "2", "x", "-C", str(root)
    )
    assert done.returncode == 3
    assert done.stderr.count("The endpoint cannot be reached") == 1


async def test_the_cost_of_a_turn_is_that_of_all_attempts_together() -> None:
    options = SessionOptions(limits=TurnLimits(usd=0.5))
    world, _ = judged(8, lambda files: [], options=options)
    asked = MakeAttempts(AttemptPlan(2, "x"))
    playing = asyncio.create_task(AttemptsTurn(world.session).play(asked, apply=False))
    await settle()
    assert world.session.services.budget().caps.session == 0.5
    world.session.submit(StopAttempts())
    assert await playing == 1
    await world.session.close()


def test_json_is_one_event_a_line(environment: dict[str, str], root: Path, home: Path) -> None:
    quiet_mistakes(home)
    done = run(environment, PROMPT, "-C", str(root), "--json", "--role", "fast")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [event["type"] for event in events]
    assert kinds[0] == "turn.started"
    assert kinds[-1] == "turn.completed"
    calls, turn = {"tool.call", "tool.result"}, {"turn.started", "turn.completed"}
    assert set(kinds) == {*turn, *calls, "text.delta", "hunk", "meter"}
    assert events[0]["model"] == "rehearsal-fast"
    assert events[0]["rehearsal"] is True
    assert events[-1]["usage"]["output_tokens"] > 50
    hunks = [event for event in events if event["type"] == "hunk"]
    assert {hunk["decision"] for hunk in hunks} == {"pending"}
    assert all(hunk["path"].endswith(".py") for hunk in hunks)


def test_the_prompt_may_come_from_stdin(environment: dict[str, str], tmp_path: Path) -> None:
    done = run(environment, "-", "-C", str(tmp_path), stdin="hello\n")
    assert done.returncode == 0
    assert "rehearsal" in done.stdout


def test_nobody_listens(environment: dict[str, str], tmp_path: Path, free_port: int) -> None:
    address = f"ws://127.0.0.1:{free_port}/v1/responses"
    flags = ("--endpoint", address, "--fast", "m", "-C", str(tmp_path))
    done = run(environment, "hello", *flags)
    assert done.returncode == 3
    assert "Nothing listens" in done.stderr
    assert "Traceback" not in done.stderr
    as_json = run(environment, "hello", "--json", *flags)
    assert as_json.returncode == 3
    assert [json.loads(line)["type"] for line in as_json.stdout.splitlines()][-1] == "error"


def test_sigint_interrupts(environment: dict[str, str], root: Path, home: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text("[rehearsal]\nfast_tokens_s = 20\n")
    before = snapshot(root)
    process = subprocess.Popen(
        [sys.executable, "-m", "tui.cli", "exec", PROMPT, "-C", str(root), "--json", "--apply"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if json.loads(line)["type"] == "text.delta":
                break
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, errors
    last = json.loads(rest.splitlines()[-1])
    assert last["type"] == "error"
    assert last["message"].startswith("stopped after")
    assert snapshot(root) == before


TEXT = "one\ntwo\nthree\nfour\n"


def patch(old: str, new: str, anchor: str = "@@") -> str:
    return f"*** Begin Patch\n*** Update File: a.py\n{anchor}\n-{old}\n+{new}\n*** End Patch\n"


async def played(
    world: World, *patches: str, apply: bool, dial_s: float = 0.0, text: str = "do it"
) -> tuple[int, list[dict[str, Any]]]:
    """The exit code and the events of a turn in which the model calls with these patches."""
    out = io.StringIO()
    turn = asyncio.create_task(
        ExecTurn(world.session, JsonReport(world.session, out)).play(text, apply=apply)
    )
    await asyncio.sleep(0)
    world.clock.advance(dial_s)
    await world.wire.request(1)
    model = SteppedRehearsal(world.wire)
    model.begin()
    for number, edit in enumerate(patches):
        world.clock.advance(0.3)
        model.patch(edit, f"call_{number}")
    model.complete(100)
    if patches:
        await world.wire.request(2)
        model.begin()
        world.clock.advance(0.3)
        model.complete(10)
    code = await asyncio.wait_for(turn, 60)
    await world.session.close()
    return code, [json.loads(line) for line in out.getvalue().splitlines()]


@pytest.mark.parametrize("linked", [False, True])
async def test_a_hard_link_that_leads_elsewhere_is_written_only_with_the_option(
    linked: bool,
) -> None:
    world = World({"a.py": TEXT}, options=SessionOptions(linked=linked))
    world.files.links["a.py"] = LINK_OUTSIDE
    code, events = await played(world, patch("two", "TWO"), apply=True)
    new = TEXT.replace("two", "TWO") if linked else TEXT
    assert world.files.data["a.py"] == new.encode()
    assert code == (0 if linked else 1)
    assert ("hard link" in json.dumps(events)) is not linked


@pytest.mark.case("I07")
@pytest.mark.parametrize(
    ("form", "flagged", "plain"),
    [
        (
            "search_replace",
            "a.py\n<<<<<<< SEARCH\n=======\nfive\n>>>>>>> REPLACE\n",
            "a.py\n<<<<<<< SEARCH\nfour\n=======\nFOUR\n>>>>>>> REPLACE\n",
        ),
        (
            "unified_diff",
            "--- a/a.py\n+++ b/a.py\n@@ -1,9 +1,9 @@\n-one\n+ONE\n two\n",
            "--- a/a.py\n+++ b/a.py\n@@ -4,1 +4,1 @@\n-four\n+FOUR\n",
        ),
        ("apply_patch", patch("two", "TWO", "@@\none"), patch("four", "FOUR")),
    ],
)
async def test_flagged_hunks_of_other_formats_are_left_out(
    form: PatchFormat, flagged: str, plain: str
) -> None:
    world = World(
        {"a.py": TEXT}, roles={"fast": RoleSpec("fast", "quick-1", "main", patch_format=form)}
    )
    code, events = await played(world, flagged, plain, apply=True)
    assert world.session.workspace.hunks[0].flags
    assert world.files.data["a.py"] == TEXT.replace("four", "FOUR").encode()
    assert (code, events[-1]["left_out"]) == (1, [1])


async def test_a_change_of_lines_waits_until_it_is_known_whether_the_file_is_private() -> None:
    world = World({"a.py": TEXT})
    code, _ = await played(world, patch("two", "TWO"), apply=True, text="/change a.py:2 shout")
    assert code == 0
    assert world.files.data["a.py"] == TEXT.replace("two", "TWO").encode()


def test_a_command_that_only_a_session_has_is_not_sent_as_words() -> None:
    status = World({"a.py": TEXT}).session.status
    for words in ("/context", "/effort high", "/rewind 1"):
        with pytest.raises(UsageError, match=r"exec has only /ask, .*/compact, /continue"):
            asked_of(words, status)
    for words in ("/usr/bin is full", "/nonsense it is", "please /context"):
        assert asked_of(words, status) == Prompt(words)


async def test_refused_hunks_fail_the_run_whether_or_not_it_writes() -> None:
    for apply in (True, False):
        world = World({"a.py": TEXT})
        code, events = await played(world, patch("nothing like it", "x"), apply=apply)
        assert (code, events[-1]["left_out"]) == (1, [1])


async def test_the_meters_seconds_never_go_down_and_done_is_said_once() -> None:
    world = World({"a.py": TEXT})
    _, events = await played(world, patch("two", "TWO"), apply=True, dial_s=0.7)
    meters = [event for event in events if event["type"] == "meter"]
    seconds = [meter["seconds"] for meter in meters]
    assert seconds == sorted(seconds)
    assert seconds[-1] >= 1.3
    assert [meter["state"] for meter in meters].count("done") == 1
    assert meters[-1]["state"] == "done"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("please", "no edit in it: line 1: no Begin Patch"),
        (patch("two", "TWO").replace("*** End Patch", "*** Tweak File: b"), "broke off: line 6:"),
    ],
)
async def test_a_patch_that_cannot_be_read_is_told(text: str, why: str) -> None:
    code, events = await played(World({"a.py": TEXT}), text, apply=False)
    (told,) = [event for event in events if event["type"] == "error"]
    assert (told["severity"], told["message"]) == ("warning", "A patch could not be read")
    assert told["why"].startswith(why)
    assert code == events[-1]["exit_code"] == 1


FINE = turn(1, *spoken("fine"))
CLOSED = [Close(1011)]
BUSY = [error(503, "server_error", "down")]


@asynccontextmanager
async def session_over(
    folder: Path, url: str, transport: Transport = "websocket"
) -> AsyncIterator[Session]:
    flags = ModelFlags(endpoint=url, fast="m")
    async with composed(folder, flags=flags, transport=transport) as (seat, _):
        yield seat.session


async def played_over_wire(
    session: Session, out: io.StringIO | None = None
) -> tuple[int, list[dict[str, Any]]]:
    out = out or io.StringIO()
    code = await ExecTurn(session, JsonReport(session, out)).play("go", apply=False)
    return code, [json.loads(line) for line in out.getvalue().splitlines()]


def of_kind(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in events if event["type"] == kind]


HALF = [created(), delta("half of"), Close(1011, "broken")]
NONE_BEGINS = [error(400, "invalid_request_error", "bad")]


class Terminal(io.StringIO):
    """A terminal's stdout."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("script", "out", "said"),
    [
        ([HALF, FINE], io.StringIO(), "fine\n"),
        ([HALF, HALF, FINE], io.StringIO(), "fine\n"),
        ([HALF], io.StringIO(), "half of\n"),
        ([HALF, NONE_BEGINS], io.StringIO(), "half of\n"),
        ([HALF, FINE], Terminal(), "half of\nfine\n"),
    ],
)
async def test_what_is_piped_has_one_answer_whatever_broke_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: list[Any], out: io.StringIO, said: str
) -> None:
    monkeypatch.setattr(recovery, "FIRST_WAIT_S", 0.001)
    err = io.StringIO()
    async with nasty(Nasty(script)) as url, session_over(tmp_path, url) as session:
        await ExecTurn(session, TextReport(session, out, err)).play("go", apply=False)
    assert out.getvalue() == said
    assert err.getvalue().count("trying again (1 of 5)") == 1


async def test_what_broke_off_is_void_in_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "FIRST_WAIT_S", 0.001)
    server = Nasty([HALF, HALF, FINE])
    async with nasty(server) as url, session_over(tmp_path, url) as session:
        _, events = await played_over_wire(session)
    text = ""
    for event in events:
        text = text[: -event["chars"]] if event["type"] == "text.void" else text
        text += event["delta"] if event["type"] == "text.delta" else ""
    assert text == "fine"
    assert [event["chars"] for event in of_kind(events, "text.void")] == [7, 7]


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ([CLOSED], 3),
        ([BUSY], 3),
        ([[Close(1008)]], 3),
        ([[error(400, "invalid_request_error", "bad")]], 1),
        ([[error(401, "invalid_api_key", "no")]], 3),
        ([[created(), delta("half"), Close(1011)]], 1),
        ([[created(), delta("half"), Close(1011)], CLOSED], 1),
        ([CLOSED, FINE], 0),
    ],
)
async def test_a_server_that_only_fails_is_as_good_as_unreachable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: list[Any], code: int
) -> None:
    monkeypatch.setattr(recovery, "FIRST_WAIT_S", 0.001)
    async with nasty(Nasty(script)) as url, session_over(tmp_path, url) as session:
        ended, events = await played_over_wire(session)
    assert ended == events[-1]["exit_code"] == code


async def test_every_retry_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery, "FIRST_WAIT_S", 0.1)
    out = io.StringIO()

    async def until_told(seconds: float) -> None:
        """On a busy machine the wait may be over before anybody has looked."""
        told = out.getvalue().count("retry")
        while out.getvalue().count("retry") == told:
            await asyncio.sleep(0.001)

    monkeypatch.setattr("tui.engine.turn.Countdown", lambda state, _: Countdown(state, until_told))
    server = Nasty([CLOSED, CLOSED, BUSY, FINE])
    async with nasty(server) as url, session_over(tmp_path, url) as session:
        code, events = await played_over_wire(session, out)
    assert code == 0
    retries = of_kind(events, "retry")
    assert [event["why"].partition(": trying")[0] for event in retries] == [
        "the server had an internal error",
        "down",
    ]
    assert all(0.1 < event["in_s"] < 1 for event in retries)
    assert of_kind(events, "reconnected")[-1]["count"] == server.connections - 1 == 3
    assert of_kind(events, "transport") == of_kind(events, "steer") == []


async def test_another_transport_is_told(tmp_path: Path) -> None:
    answer = saying(opening() + message("hello") + sse_completed())
    async with serving(answer) as upstream:
        url = upstream.address.url.replace("http", "ws", 1)
        async with session_over(tmp_path, url, "auto") as session:
            code, events = await played_over_wire(session)
    assert code == 0, events
    (told,) = of_kind(events, "transport")
    assert told["transport"] == "http"
    assert upstream.upgrades == 1


async def test_a_retry_says_why_when_the_note_came_a_frame_before(tmp_path: Path) -> None:
    async with nasty(Nasty([FINE])) as url, session_over(tmp_path, url) as session:
        news = WireNews(session)
        session.warn(Trouble("The server is down", noted=True))
        assert list(news.new()) == []
        session.status.retry_s = 0.2
        assert list(news.new()) == [("retry", {"in_s": 0.2, "why": "The server is down"})]


async def test_steering_is_told_once_a_step(tmp_path: Path) -> None:
    async with nasty(Nasty([FINE])) as url, session_over(tmp_path, url) as session:
        news, status = WireNews(session), session.status
        assert list(news.new()) == []
        status.steering, status.steering_fates = ["shorter"], []
        assert list(news.new()) == [("steer", {"text": "shorter", "fate": "sent"})]
        assert list(news.new()) == []
        status.steering_fates = ["accepted"]
        assert list(news.new()) == [("steer", {"text": "shorter", "fate": "accepted"})]
        status.steering, status.steering_fates = [], []
        assert list(news.new()) == []


def test_images_are_named_by_an_option_and_sent_with_the_prompt(
    environment: dict[str, str], root: Path, home: Path, tmp_path: Path
) -> None:
    quiet_mistakes(home)
    (tmp_path / "my shot.png").write_bytes(png(64, 48))
    (root / "own.jpg").write_bytes(jpeg(8, 6))
    given = ["--image", str(tmp_path / "my shot.png"), "--image", str(root / "own.jpg")]
    done = run(environment, "what are these?", *given, "-C", str(root))
    assert done.returncode == 0, done.stderr
    assert "my shot.png: PNG, 64x48" in done.stdout
    assert "own.jpg: JPEG, 8x6" in done.stdout
    assert "Attached: my shot.png 64x48" in done.stderr
    done = run(environment, "see", "--image", str(root / "gone.png"), "-C", str(root))
    assert done.returncode == 2
    assert "there is no such file" in done.stderr
    (tmp_path / "notes.txt").write_text("no image")
    done = run(environment, "see", "--image", str(tmp_path / "notes.txt"), "-C", str(root))
    assert (done.returncode, done.stdout) == (2, ""), "it does not go without it"
    assert "notes.txt: its name is not that of an image" in done.stderr


@pytest.mark.parametrize(("refused", "code"), [("", 0), ("git knows no commit 'HEAD' here", 1)])
async def test_an_inspection_with_nothing_to_inspect_is_no_failure(refused: str, code: int) -> None:
    world, out = World({"a.py": TEXT}), io.StringIO()
    git = FakeGit(a_py=TEXT)
    git.refused = refused
    world.ports.git = lambda: git
    report = JsonReport(world.session, out)
    assert await ExecTurn(world.session, report).play("/inspect", apply=False) == code
    last = json.loads(out.getvalue().splitlines()[-1])
    assert (last["type"], last["exit_code"]) == ("error" if code else "turn.completed", code)
    assert world.wire.requests == []


async def test_another_model_that_would_read_too_much_anew_is_not_sent_it_unasked() -> None:
    world, out = spending(Caps(switch=0.5)), io.StringIO()
    await ended(await begun(world, "x" * 400_000), 100_000)
    goes_on = Resumption(stored(world), lambda sha: None)
    other = spending(Caps(switch=0.5), resumed=goes_on, first_role="deep")
    report = TextReport(other.session, out, out)
    assert await ExecTurn(other.session, report).play("go on", apply=False) == EXIT_OVER_BUDGET
    assert other.wire.requests == []
    assert "The prompt was not sent: slow-1 reads the conversation anew, for about $8" in (
        out.getvalue()
    )
