"""``duetto exec "/delegate PROMPT"``: what is delegated, followed to its end."""

from __future__ import annotations

import asyncio
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

from tests.engine.test_budget import spending
from tests.support.fakes import World
from tests.support.judged_runs import judged
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.stored_sessions import resumed, stored
from tests.support.turns import update
from tui.cli import practice
from tui.cli.exec import ExecTurn, asked_of, list_tasks
from tui.cli.exec_reports import DelegateStates, JsonReport, TextReport
from tui.core.session_record import AllDelegates, KeptDelegate, LeftDelegate
from tui.core.wire import events
from tui.engine.intents import Delegate
from tui.engine.notices import DelegateView
from tui.engine.ports import Caps, SessionArchive
from tui.engine.session import SessionOptions
from tui.errors import UsageError

ONE = update("a.py", "-x0 = 0\n+x0 = 1\n")


class Delegated:
    """A delegate that ``exec`` follows, and its model."""

    def __init__(self, options: SessionOptions | None = None, *, apply: bool = False) -> None:
        self.world, _ = judged(2, lambda files: [], options=options)
        self.out = io.StringIO()
        session = self.world.session
        self.turn = ExecTurn(session, JsonReport(session, self.out))
        self.playing = asyncio.create_task(self.turn.play("/delegate make it one", apply=apply))

    async def model(self) -> SteppedRehearsal:
        while not self.world.lanes:
            await asyncio.sleep(0)
        await self.world.lanes[0].request(1)
        model = SteppedRehearsal(self.world.lanes[0])
        model.begin("slow-1")
        return model

    async def ends(self) -> tuple[int, list[dict[str, Any]]]:
        """Its exit code, and the events."""
        code = await asyncio.wait_for(self.playing, 60)
        await self.world.session.close()
        return code, [json.loads(line) for line in self.out.getvalue().splitlines()]


def of(told: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in told if event["type"] == kind]


@pytest.mark.parametrize("apply", [False, True])
async def test_it_is_followed_to_its_end_and_comes_home(apply: bool) -> None:
    run = Delegated(apply=apply)
    before = dict(run.world.files.data)
    model = await run.model()
    model.patch(ONE, "c1")
    model.complete(100)
    await model.wire.request(2)
    model.answers("It is one now.")
    code, told = await run.ends()
    assert code == told[-1]["exit_code"] == 0
    assert (told[0]["type"], told[0]["model"]) == ("turn.started", "slow-1")
    assert told[-1]["type"] == "turn.completed"
    assert told[-1]["usage"]["output_tokens"] == 100
    assert "".join(event["delta"] for event in of(told, "text.delta")) == "It is one now."
    decisions = ["pending", "accepted"] if apply else ["pending"]
    assert [one["decision"] for one in of(told, "hunk")] == decisions
    assert of(told, "delegate")[-1]["message"] == "1 hunk in 1 file waits for you; judged: passes"
    assert (run.world.files.data == before) is not apply


async def test_nobody_is_there_to_answer_it() -> None:
    run = Delegated()
    model = await run.model()
    model.call("shell", {"command": "rm -r build"}, "c1")
    model.complete()
    await model.wire.request(2)
    model.answers("Then not.")
    code, told = await run.ends()
    assert code == 5
    assert of(told, "consent")[0]["command"] == "rm -r build"
    assert run.world.runner.commands == []


async def test_one_that_fails_ends_with_its_reason_and_waits_in_the_session() -> None:
    run = Delegated()
    model = await run.model()
    model.wire.give(events.ErrorEvent(400, "invalid_prompt", "this prompt is refused"))
    code, told = await run.ends()
    assert code == told[-1]["exit_code"] == 1
    assert any("this prompt is refused" in json.dumps(one) for one in of(told, "error"))
    assert of(told, "delegate")[-1]["state"] == "failed"


async def test_one_that_comes_to_a_limit_says_what_raises_it_here() -> None:
    out, err = io.StringIO(), io.StringIO()
    world = spending(Caps(session=0.0001))
    turn = ExecTurn(world.session, TextReport(world.session, out, err))
    assert await turn.play("/delegate make it one", apply=False) == 4
    said = err.getvalue()
    assert "for the session are left (--max-cost, --max-session-cost, --max-day-cost or" in said
    assert "/budget" not in said
    await world.session.close()


async def test_ctrl_c_stops_it_where_it_is() -> None:
    run = Delegated()
    model = await run.model()
    run.turn._interrupt()
    model.interrupted(3)
    code, told = await run.ends()
    assert code == 130
    assert of(told, "delegate")[-1]["state"] == "paused"


class Waiting:
    """A delegate of an earlier start, which waits, in a session that ``exec`` goes on with."""

    def __init__(self, *, done: bool = False) -> None:
        self.done, self.out = done, io.StringIO()

    async def plays(self, words: str, *, apply: bool = False) -> None:
        """Its number is 1; it has changed a file, and was done or not."""
        change = ("a.py", b"x0 = 0\nx1 = 0\n", b"x0 = 1\nx1 = 0\n")
        kept = KeptDelegate(1, "make it one", "deep", files=(change,), said="So.", done=self.done)
        self.world, _ = judged(2, lambda files: [])
        session = self.world.session
        session.delegates.bring_back([kept])
        self.turn = ExecTurn(session, JsonReport(session, self.out))
        self.playing = asyncio.create_task(self.turn.play(words, apply=apply))

    async def model(self) -> SteppedRehearsal:
        return await Delegated.model(cast("Delegated", self))

    async def ends(self) -> tuple[int, list[dict[str, Any]]]:
        return await Delegated.ends(cast("Delegated", self))


@pytest.mark.parametrize("words", ["/tasks go d1", "/tasks tell d1 use a lock"])
async def test_one_that_waits_goes_on_and_is_followed_to_its_end(words: str) -> None:
    run = Waiting()
    await run.plays(words, apply=True)
    model = await run.model()
    assert ("use a lock" in json.dumps(model.wire.requests)) is ("tell" in words)
    model.patch(update("a.py", "-x1 = 0\n+x1 = 1\n"), "c1")
    model.complete()
    await model.wire.request(2)
    model.answers("Both are one now.")
    code, told = await run.ends()
    assert code == 0
    assert told[0]["model"] == "slow-1"
    assert "".join(event["delta"] for event in of(told, "text.delta")) == "Both are one now."
    assert run.world.files.data["a.py"] == b"x0 = 1\nx1 = 1\n"


@pytest.mark.parametrize("done", [False, True])
@pytest.mark.parametrize("apply", [False, True])
async def test_what_it_changed_so_far_is_taken_without_a_request(done: bool, apply: bool) -> None:
    run = Waiting(done=done)
    await run.plays("/tasks take d1", apply=apply)
    code, told = await run.ends()
    assert code == told[-1]["exit_code"] == 0
    assert told[-1]["type"] == "turn.completed"
    assert of(told, "delegate")[-1]["message"] == "1 hunk in 1 file waits for you"
    assert (run.world.files.data["a.py"] == b"x0 = 1\nx1 = 0\n") is apply
    assert not run.world.lanes


async def test_one_that_was_done_only_comes_home() -> None:
    run = Waiting(done=True)
    await run.plays("/tasks go d1")
    code, told = await run.ends()
    assert (code, of(told, "delegate")[-1]["state"]) == (0, "home")
    assert not run.world.lanes


async def test_one_that_is_stopped_waits_no_more() -> None:
    run = Waiting()
    await run.plays("/tasks stop d1")
    code, told = await run.ends()
    assert code == 0
    assert of(told, "delegate")[-1]["message"] == "stopped: what it changed is gone"


@pytest.mark.parametrize("ended", ["stopped", "ended by an internal error"])
async def test_only_what_one_had_changed_is_said_to_be_gone(ended: str) -> None:
    world = World({"a.py": "x\n"})
    states = DelegateStates(world.session)
    stopped = DelegateView(1, "make it one", "slow-1", 0.0, "stopped", ended=ended)
    world.session.status.delegates = [stopped]
    assert [*states.new()] == [(stopped, ended)]


async def test_one_that_is_not_there_is_refused() -> None:
    run = Waiting()
    await run.plays("/tasks go d7")
    code, told = await run.ends()
    assert code == 1
    assert of(told, "error")[0]["message"] == "There is no delegate d7"


@pytest.mark.parametrize("words", ["pause d1", "yes d1", "no d1", "stop 3", "go", "hello"])
def test_what_no_delegate_that_waits_takes_is_refused(words: str) -> None:
    status = World({"a.py": "x\n"}).session.status
    with pytest.raises(UsageError, match=r"exec has only /tasks, and /tasks go, take, stop and"):
        asked_of(f"/tasks {words}", status)


class LeftHere:
    """Sessions of the folder: one has a delegate that waits, one has one that was done."""

    async def left(self, folder: str) -> list[LeftDelegate]:
        waits = [LeftDelegate("s1", 2, "make it\none", False), LeftDelegate("s2", 1, "so", True)]
        return waits if folder else []


async def test_what_waits_in_sessions_of_the_folder_is_listed_with_the_way_on() -> None:
    world = World({"a.py": "x\n"})
    out, err = io.StringIO(), io.StringIO()
    assert await list_tasks(world.session, TextReport(world.session, out, err)) == 0
    assert err.getvalue() == "duetto: no delegate waits in a session of this folder\n"
    world.ports.archive = lambda: cast("SessionArchive", LeftHere())
    await list_tasks(world.session, TextReport(world.session, out, err))
    assert out.getvalue().splitlines() == [
        'd2  make it one: duetto exec --resume s1 "/tasks go d2" goes on with it',
        'd1  so (done): duetto exec --resume s2 "/tasks go d1" goes on with it',
    ]
    out.truncate(0)
    await list_tasks(world.session, JsonReport(world.session, out))
    told = [json.loads(line) for line in out.getvalue().replace("\0", "").splitlines()]
    assert [(one["session"], one["delegate"], one["state"]) for one in told] == [
        ("s1", 2, "paused"),
        ("s2", 1, "done"),
    ]


@pytest.mark.parametrize("is_fork", [False, True])
async def test_what_waits_in_the_session_that_goes_on_is_listed_too(is_fork: bool) -> None:
    kept = stored(World({"a.py": "x\n"}))
    waits = AllDelegates((KeptDelegate(4, "make it two", "deep"),))
    world = await resumed(World({"a.py": "x\n"}), replace(kept, delegates=waits), is_fork=is_fork)
    world.ports.archive = lambda: cast("SessionArchive", LeftHere())
    out, err = io.StringIO(), io.StringIO()
    await list_tasks(world.session, TextReport(world.session, out, err))
    said = out.getvalue().splitlines()
    own = f'd4  make it two: duetto exec --resume {kept.line.id} "/tasks go d4" goes on with it'
    assert (own in said, len(said)) == (not is_fork, 2 if is_fork else 3)
    await world.session.close()


def test_without_words_nothing_could_be_delegated() -> None:
    status = World({"a.py": "x\n"}).session.status
    assert asked_of("/delegate make it one", status) == Delegate("make it one")
    with pytest.raises(UsageError, match="/delegate needs a prompt here"):
        asked_of("/delegate", status)


@pytest.mark.slow
def test_the_rehearsal_does_a_job_and_its_change_is_written(tmp_path: Path) -> None:
    kept = {name: at for name, at in os.environ.items() if not name.startswith("DUETTO_")}
    root = practice.ensure(tmp_path / "data")
    words = "[rehearsal]\nmistakes = 0.0\ndeep_tokens_s = 2000\n"
    (tmp_path / "config.toml").write_text(words)
    command = ["exec", "/delegate let slug take a max_length", "-C", str(root), "--apply"]
    done = subprocess.run(
        [sys.executable, "-m", "tui.cli", *command],
        env={**kept, "DUETTO_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "duetto: delegate d1 (rehearsal-deep): " in done.stderr
    assert "judged: passes" in done.stderr
    assert "max_length" in (root / "ledger" / "names.py").read_text()
