"""``duetto exec "/delegate PROMPT"``: what is delegated, followed to its end."""

from __future__ import annotations

import asyncio
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.fakes import World
from tests.support.judged_runs import judged
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.turns import update
from tui.cli import practice
from tui.cli.exec import ExecTurn, asked_of
from tui.cli.exec_reports import JsonReport
from tui.core.wire import events
from tui.engine.intents import Delegate
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


async def test_ctrl_c_stops_it_where_it_is() -> None:
    run = Delegated()
    model = await run.model()
    run.turn._interrupt()
    model.interrupted(3)
    code, told = await run.ends()
    assert code == 130
    assert of(told, "delegate")[-1]["state"] == "paused"


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
