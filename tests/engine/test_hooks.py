"""Hooks are told what happens, refuse with status 2, and hold nothing up however they fail."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.fakes import World, settle
from tests.support.seat import Seat
from tests.support.tables import each
from tests.support.turns import begun, land, notes, outputs, texts, update
from tui.cli.workspace_commands import find_hooks
from tui.core.conversation import BlockKind
from tui.core.programs import RunResult
from tui.effects.commands.runner import CommandRunner
from tui.engine import intents
from tui.engine.model_commands import CommandRules
from tui.engine.ports import HookEvent, VerifyCommand
from tui.engine.session import SessionOptions
from tui.engine.verification import ALLOW_ALWAYS, REFUSE
from tui.settings import HooksSettings, Settings

ALLOWED = SessionOptions(commands=CommandRules((("make",),)))


class Hooked(World):
    """A world with a hook for each of these events."""

    def __init__(self, hooks: Mapping[str, VerifyCommand], **files: str) -> None:
        super().__init__({f"{name}.py": text for name, text in files.items()}, options=ALLOWED)
        self.found = dict(hooks)
        self.ports.hooks = self._hooks
        self.session._hook_up()

    async def _hooks(self, event: HookEvent) -> Sequence[VerifyCommand]:
        return [self.found[event]] if event in self.found else []

    def told(self) -> list[dict[str, Any]]:
        return [json.loads(how.stdin) for how in self.runner.hows if how.stdin]


def hook(name: str = "check", **more: Any) -> VerifyCommand:
    return VerifyCommand((name,), "config.toml", **more)


async def made(world: World, command: str = "make all") -> str:
    """The model runs a command; returns what it is told."""
    model = await begun(world)
    model.call("shell", {"command": command}, "call_a")
    model.complete()
    request = await world.wire.request(len(world.wire.requests) + 1)
    model.answers("Done.")
    await settle()
    return outputs(request)["call_a"]


async def test_a_refused_command_does_not_run_and_user_and_model_are_told_why() -> None:
    world = Hooked({"before_command": hook()})
    world.runner.output, world.runner.result = ["not on\n \x1b[31mFridays\n"], RunResult(2, 0.1)
    assert await made(world) == "error: the hook before_command refused it: not on Fridays"
    assert world.runner.commands == [("check",)]
    (card,) = (b for b in world.session.transcript.blocks if b.kind is BlockKind.RUN)
    assert (card.state, "not on Fridays" in card.text) == ("failed", True)
    (told,) = world.told()
    assert told == {
        "version": 1,
        "event": "before_command",
        "workspace": "/workspace",
        "mode": "manual",
        "turn": 1,
        "command": "make all",
        "folder": ".",
    }


@each(
    "result, words",
    [
        (RunResult(1, 0.1), "failed (exit 1)"),
        (RunResult(None, 0.1, error="cannot start: no such file"), "could not be run"),
        (RunResult(-9, 30.0, timed_out=True), "was stopped at its deadline of 120 s"),
        (RunResult(2, 30.0, timed_out=True), "was stopped at its deadline of 120 s"),
    ],
)
async def test_a_hook_that_fails_holds_nothing_up_and_it_is_said_once(
    result: RunResult, words: str
) -> None:
    world = Hooked({"before_command": hook(), "turn_end": hook("other")})
    world.runner.result = result
    assert "hook" not in await made(world)
    assert world.runner.commands == [("check",), "make all", ("other",)]
    await made(world, "make again")
    said = [note for note in notes(world) if "before_command" in note]
    assert len(said) == 1
    assert words in said[0]


async def test_files_that_were_written_and_the_end_of_a_turn_are_told() -> None:
    world = Hooked({"after_edit": hook("lint"), "turn_end": hook("tests")}, a="x = 1\n")
    model = await begun(world, "mend it")
    model.patch(update("a.py", "-x = 1", "+x = 2"), "call_a")
    model.complete()
    await world.wire.request(2)
    world.runner.output, world.runner.result = ["line 1 is odd\n"], RunResult(2, 0.1)
    world.session.submit(intents.Accept())
    await settle()
    await settle()
    (told,) = world.told()
    assert (told["event"], told["paths"]) == ("after_edit", ["a.py"])
    assert "The hook after_edit refused a.py: line 1 is odd" in notes(world)[-1]
    model.answers("Done.")
    await settle()
    ended = world.told()[-1]
    assert ended["event"] == "turn_end"
    assert (ended["prompt"], ended["outcome"], ended["paths"]) == ("mend it", "completed", ["a.py"])
    assert world.session.status.can_go_on
    await begun(world, "go on")
    said = "\n".join(texts(world.wire.requests[-1]))
    assert said.count("The hook after_edit refused a.py: line 1 is odd") == 1
    assert said.count("The hook turn_end refused turn 1: line 1 is odd") == 1


async def test_a_hook_of_the_workspace_is_asked_about_once_for_what_it_does() -> None:
    mine = hook(needs_consent=True, content="1")
    world = Hooked({"turn_end": mine}, a="x\n")
    (await begun(world)).finishes("Fine.")
    await settle()
    assert world.session.hooks_run
    await world.answers(REFUSE)
    assert "was not allowed" in notes(world)[-1]
    (await begun(world)).finishes("Fine.")
    await settle()
    assert world.runner.commands == []
    assert not world.session.status.asks
    world.found["turn_end"] = hook(needs_consent=True, content="2")
    (await begun(world)).finishes("Fine.")
    await settle()
    await world.answers(ALLOW_ALWAYS)
    assert world.runner.commands == [("check",)]
    assert world.remembered == ["check #2"]
    assert not world.session.hooks_run


async def test_nothing_begins_when_duetto_ends_in_a_turn() -> None:
    world = Hooked({"turn_end": hook()})
    model = await begun(world)
    await world.session.close()
    model.interrupted()
    assert world.session.status.outcome == "interrupted"
    await settle()
    assert world.runner.commands == []


async def test_saved_files_are_told_together(tmp_path: Path) -> None:
    world = Hooked({"after_edit": hook(needs_consent=True)}, a="x\n", b="y\n")
    land(world, update("a.py", "-x", "+z"))
    world.session.submit(intents.Accept())
    await settle()
    for path in ("a.py", "b.py", "a.py"):
        world.session.submit(intents.OpenFile(path))
        world.session.workspace.edit(path, (0, 0), (0, 0), "# ")
        world.session.submit(intents.SaveFile(path))
    await world.answers(ALLOW_ALWAYS)
    await settle()
    assert [told["paths"] for told in world.told()] == [["a.py"], ["a.py", "b.py"]]


SCRIPT = {
    "hangs": "trap '' TERM; sleep 1000 & sleep 1000",
    "floods": "yes 'a long line of output that nobody wants'",
    "reads nothing": "exit 0",
    "refuses": 'grep -o \'"command": "[^"]*"\'; exit 2',
    "is gone": "",
}


@pytest.mark.slow
async def test_real_ones_that_hang_flood_or_are_gone_lose_no_turn(tmp_path: Path) -> None:
    answers = {}
    for name, text in SCRIPT.items():
        script = tmp_path / "hook.sh"
        script.write_text(f"#!/bin/sh\n{text}\n")
        script.chmod(0o755)
        if not text:
            script.unlink()
        deadline_s = 0.3 if name in ("hangs", "floods") else 60.0
        hook = VerifyCommand((str(script),), "config.toml", deadline_s=deadline_s)
        world = Hooked({"before_command": hook})
        world.ports.runner = CommandRunner(str(tmp_path))
        model = await begun(world)
        model.call("shell", {"command": f"echo {'x' * 900}"}, "call_a")
        model.complete()
        await Seat(world.session).until(lambda world=world: len(world.wire.requests) > 1)
        answers[name] = outputs(world.wire.requests[1])["call_a"]
    assert answers.pop("refuses").startswith(
        'error: the hook before_command refused it: "command": "echo xx'
    )
    assert {name for name, words in answers.items() if words.startswith("exit code 0")} == {
        *answers
    }


def test_the_users_come_first_and_the_workspaces_are_known_by_what_they_run(tmp_path: Path) -> None:
    (tmp_path / ".duetto").mkdir()
    (tmp_path / ".duetto/config.toml").write_text('[hooks]\nturn_end = "sh check.sh"\n')
    users = Settings(hooks=HooksSettings(turn_end=["notify"], deadline_s=5))
    assert find_hooks(tmp_path, users, "after_edit") == []
    mine, other = find_hooks(tmp_path, users, "turn_end")
    assert (mine.argv, mine.needs_consent, mine.deadline_s) == (("notify",), False, 5)
    assert (other.argv, other.needs_consent, other.content) == ("sh check.sh", True, "")
    contents = set()
    for text in ("exit 0", "exit 2"):
        (tmp_path / "check.sh").write_text(text)
        contents.add(find_hooks(tmp_path, Settings(), "turn_end")[0].content)
    assert len(contents | {""}) == 3
