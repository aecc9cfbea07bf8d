"""``duetto exec`` with a model that runs commands: what is refused, and what is told."""

from __future__ import annotations

import asyncio
import io
import json
from typing import Any

import pytest
from click.testing import CliRunner

from tests.support.fakes import World
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.turns import outputs
from tui.cli.exec import ExecTurn, exec_command
from tui.cli.exec_reports import JsonReport, TextReport
from tui.core.wire.events import Failed
from tui.engine.model_commands import CommandRules
from tui.engine.session import SessionOptions
from tui.errors import EXIT_DECLINED, EXIT_FAILED, EXIT_OK, UsageError


async def play(
    world: World,
    report: JsonReport | TextReport,
    *commands: str,
    background: bool = False,
    ends: int = EXIT_OK,
) -> dict[str, str]:
    """A turn whose first response calls these; returns what the model was answered."""
    turn = asyncio.ensure_future(ExecTurn(world.session, report).play("go", apply=False))
    await world.wire.request(1)
    model = SteppedRehearsal(world.wire)
    model.begin()
    for number, command in enumerate(commands):
        call = {"command": command, "background": background}
        model.call("shell", call, f"call_{number}")
    model.complete()
    request = await world.wire.request(2)
    model.answers("Done.")
    assert await turn == ends
    return outputs(request)


async def test_what_is_not_allowed_is_refused_and_all_of_it_is_told() -> None:
    world = World(
        {"a.py": "one\n"}, options=SessionOptions(commands=CommandRules((("npm", "test"),)))
    )
    out = io.StringIO()
    report = JsonReport(world.session, out)
    answers = await play(world, report, "npm test -- -v", "rm -rf /", ends=EXIT_DECLINED)
    assert world.runner.commands == ["npm test -- -v"]
    assert "there is nobody to ask" in answers["call_1"]
    told: list[dict[str, Any]] = [json.loads(line) for line in out.getvalue().splitlines()]
    events = [event for event in told if event["type"].startswith(("tool.", "consent"))]
    assert [event["type"] for event in events if event.get("call_id") == "call_0"] == [
        "tool.call",
        "tool.result",
    ]
    (result,) = [e for e in events if e["type"] == "tool.result" and e["call_id"] == "call_0"]
    assert (result["kind"], result["title"]) == ("command", "npm test -- -v")
    assert result["state"] == "completed"
    assert "all good" in result["output"]
    assert "exit 0" in result["output"]
    (asked,) = [event for event in events if event["type"] == "consent"]
    assert (asked["command"], asked["answer"]) == ("rm -rf /", "Do not run it")
    assert told[-1]["exit_code"] == EXIT_DECLINED


async def test_text_says_each_command_and_how_it_ended() -> None:
    world = World({"a.py": "one\n"})
    out, err = io.StringIO(), io.StringIO()
    await play(world, TextReport(world.session, out, err), "git status", "make", ends=EXIT_DECLINED)
    said = err.getvalue().splitlines()  # that "make" is refused may be said before it has ended
    assert said.index("$ git status") < said.index("[exit 0 after 0.5 s] git status")
    assert "--allow PREFIX" in err.getvalue()
    assert "make: this command was declined" in err.getvalue()
    assert out.getvalue() == "Done.\n"


@pytest.mark.parametrize("as_json", [False, True])
async def test_an_error_in_an_answer_is_told_behind_what_came_of_it(as_json: bool) -> None:
    world = World()
    out = io.StringIO()
    session = world.session
    report = JsonReport(session, out) if as_json else TextReport(session, out, out)
    turn = asyncio.ensure_future(ExecTurn(session, report).play("go", apply=False))
    await world.wire.request(1)
    model = SteppedRehearsal(world.wire)
    model.begin()
    model.say(model.open_text(), "Hello there")
    world.wire.give(Failed({"error": {"code": "invalid_prompt", "message": "no"}}))
    assert await turn == EXIT_FAILED
    told = out.getvalue()
    assert told.index("there") < told.index("could not answer")
    assert as_json or told.startswith("Hello there\n")


async def test_a_private_file_that_is_not_sent_is_told_and_ends_with_the_same_code() -> None:
    world = World({".env": "KEY=1\n"})
    world.files.private = {".env": "it holds secrets"}
    out, err = io.StringIO(), io.StringIO()
    await play(world, TextReport(world.session, out, err), "cat .env", ends=EXIT_DECLINED)
    assert (
        "duetto: there is nobody to ask: Send .env to the model? Keep it private\n"
        in err.getvalue()
    )


async def test_a_command_that_goes_to_the_background_is_told_with_its_end() -> None:
    said = "Task 1 runs in the background and ends with duetto: npm test"
    rules = SessionOptions(commands=CommandRules((("npm", "test"),)))
    out, err = io.StringIO(), io.StringIO()
    for as_json in (False, True):
        world = World({"a.py": "one\n"}, options=rules)
        world.runner.hold = asyncio.Event()
        if as_json:
            report: JsonReport | TextReport = JsonReport(world.session, out)
        else:
            report = TextReport(world.session, io.StringIO(), err)
        await play(world, report, "npm test", background=True)
    assert err.getvalue().count(f"duetto: {said}\n") == 1
    events = [json.loads(line) for line in out.getvalue().splitlines()]
    (told,) = [event for event in events if event["type"] == "tool.background"]
    assert (told["call_id"], told["task"], told["message"]) == ("call_0", 1, said)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--allow", "  "],
        ["--allow", "a 'b"],
        ["--max-cost", "0"],
        ["--max-cost", "nan"],
        ["--mode", "yolo"],
    ],
)
def test_options_that_say_nothing_are_refused(arguments: list[str]) -> None:
    result = CliRunner().invoke(exec_command, ["go", *arguments])
    assert result.exit_code == 2 or isinstance(result.exception, UsageError)
