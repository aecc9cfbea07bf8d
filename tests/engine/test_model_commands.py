"""The model's commands: what is asked, what runs, and what the model is told of it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.support.fakes import World, settle
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.tables import each
from tests.support.turns import CACHE, PATCH, begun, notes, outputs
from tui.core.conversation import BlockKind
from tui.core.price import Quote
from tui.core.programs import Confinement, RunResult, Sandbox
from tui.core.wire.events import Usage
from tui.engine import intents
from tui.engine.command_consent import ONCE, READING, REFUSE
from tui.engine.intents import Mode
from tui.engine.model_commands import CommandRules
from tui.engine.requests import TurnLimits
from tui.engine.response_items import ShellCall, shell_call
from tui.engine.results import SIDE_BY_SIDE
from tui.engine.session import SessionOptions, reasons_to_stay
from tui.engine.slash import task_words
from tui.engine.tools import CallError

BOX = Sandbox(works=True, words="bubblewrap")


def shell(model: SteppedRehearsal, command: str, call_id: str = "call_a", **more: object) -> None:
    model.call("shell", {"command": command, **more}, call_id)


def cards(world: World) -> list[tuple[str, str, str]]:
    blocks = world.session.transcript.blocks
    return [(b.title, b.text, b.state) for b in blocks if b.kind is BlockKind.RUN]


async def answered(world: World, number: int = 2) -> dict[str, str]:
    return outputs(await world.wire.request(number))


async def test_a_command_that_reads_runs_unasked_and_its_output_goes_back() -> None:
    world = World({"cache.py": CACHE})
    model = await begun(world)
    shell(model, "git status")
    model.complete()
    answer = (await answered(world))["call_a"]
    assert answer == "exit code 0 after 0.5 s\noutput:\nall good"
    world.session.drain()
    assert cards(world) == [("git status", "all good\n[exit 0 after 0.5 s]\n", "done")]
    assert world.runner.commands == ["git status"]
    assert world.runner.hows[0].keys is False


async def test_git_that_the_repository_has_run_programs_is_asked_about() -> None:
    world = World({"cache.py": CACHE})
    world.runner.git_setting = "diff.external"
    model = await begun(world)
    shell(model, "ls | grep a", "call_a")
    shell(model, "git diff", "call_b")
    model.complete()
    await settle()
    (ask,) = world.session.status.asks
    assert ask.command == "git diff"
    assert "diff.external" in ask.detail
    assert [(how.reads, how.keys) for how in world.runner.hows] == [(True, False)]
    await world.answers(REFUSE)
    await answered(world)


async def test_any_other_is_asked_about_and_once_is_once() -> None:
    world = World({"cache.py": CACHE})
    model = await begun(world)
    shell(model, "rm -rf build", workdir="src", justification="it is stale")
    model.complete()
    await settle()
    (ask,) = world.session.status.asks
    assert ask.command == "rm -rf build"
    assert "In src" in ask.detail
    assert "it is stale" in ask.detail
    assert world.runner.commands == []
    await world.answers(ONCE)
    assert "exit code 0" in (await answered(world))["call_a"]
    assert world.runner.hows[0].folder == "src"
    model.begin()
    shell(model, "rm -rf build", "call_b", workdir="src")
    model.complete()
    await settle()
    assert len(world.session.status.asks) == 1


async def test_a_refusal_goes_to_the_model_with_the_users_words() -> None:
    world = World({"cache.py": CACHE})
    model = await begun(world)
    shell(model, "npm install left-pad")
    model.complete()
    await settle()
    await world.answers(REFUSE, "use the standard library")
    answer = (await answered(world))["call_a"]
    assert "declined" in answer
    assert "use the standard library" in answer
    assert world.runner.commands == []
    assert cards(world)[0][2] == "failed"


async def test_where_a_redirection_leads_is_shown_and_what_was_allowed_is_for_there_only() -> None:
    world = World({"cache.py": CACHE})
    model = await begun(world)
    shell(model, "echo x >out.txt")
    model.complete()
    await settle()
    await world.answers(1)
    await answered(world)
    assert world.runner.hows[0].places
    world.runner.leads["out.txt"] = "/home/me/.bashrc"
    model.begin()
    shell(model, "echo x >out.txt", "call_b")
    model.complete()
    await settle()
    (ask,) = world.session.status.asks
    assert "it writes to out.txt (out.txt leads to /home/me/.bashrc)" in ask.detail
    assert len(world.runner.commands) == 1


@each("choice, remembered", [(1, 0), (2, 1)])
async def test_a_prefix_is_allowed_for_the_session_or_the_project(
    choice: int, remembered: int
) -> None:
    world = World({"cache.py": CACHE})
    model = await begun(world)
    shell(model, "npm run test -- --watch=false")
    model.complete()
    await settle()
    await world.answers(choice)
    await answered(world)
    model.begin()
    shell(model, "npm run test -- cache", "call_b")
    model.complete()
    assert "exit code 0" in (await answered(world, 3))["call_b"]
    assert len(world.remembered) == remembered
    if remembered:
        again = World({"cache.py": CACHE})
        again.ports.consents.update(world.remembered)
        again.session = type(again.session)(again.ports, again.roles)
        model = await begun(again)
        shell(model, "npm run test")
        model.complete()
        assert "exit code 0" in (await answered(again))["call_a"]


@each(
    "mode, works, command, how",
    [
        ("manual", True, "ls", READING),
        ("manual", False, "ls", None),
        ("sandbox", True, "make", Confinement()),
        ("sandbox", True, "ls", READING),
        ("plan", True, "ls", READING),
    ],
)
async def test_what_confines_a_command(
    mode: Mode, works: bool, command: str, how: Confinement | None
) -> None:
    world = World({"cache.py": CACHE}, options=SessionOptions(mode=mode))
    world.runner.box = BOX if works else Sandbox()
    model = await begun(world)
    shell(model, command)
    model.complete()
    await answered(world)
    assert world.runner.hows[0].confined == how


@each(
    "mode, works, more",
    [("sandbox", False, {}), ("sandbox", True, {"unsandboxed": True}), ("manual", True, {})],
)
async def test_where_nothing_confines_it_a_command_is_asked_about(
    mode: Mode, works: bool, more: dict[str, object]
) -> None:
    world = World({"cache.py": CACHE}, options=SessionOptions(mode=mode))
    world.runner.box = BOX if works else Sandbox()
    model = await begun(world)
    shell(model, "make", **more)
    model.complete()
    await settle()
    assert [ask.command for ask in world.session.status.asks] == ["make"]


async def test_plan_mode_offers_no_patches_runs_nothing_and_lands_nothing() -> None:
    world = World({"cache.py": CACHE}, options=SessionOptions(mode="plan"))
    model = await begun(world)
    request = await world.wire.request(1)
    assert "apply_patch" not in {tool.get("name") for tool in request["tools"]}
    assert "Plan mode" in request["instructions"]
    model.text(f"Like this:\n{PATCH}")
    model.patch(PATCH, "call_p")
    shell(model, "make", "call_m")
    shell(model, f"apply_patch <<'EOF'\n{PATCH}EOF", "call_s")
    model.complete()
    answers = await answered(world)
    assert all("plan mode" in answers[call] for call in ("call_p", "call_m", "call_s"))
    assert list(world.session.workspace.hunks) == []
    assert world.runner.commands == []
    assert world.session.status.asks == []


async def test_a_failure_in_the_sandbox_says_what_is_empty_there() -> None:
    world = World({"cache.py": CACHE}, options=SessionOptions(mode="sandbox"))
    world.runner.box = Sandbox(works=True, emptied=("/tmp", "/run"))
    world.runner.result = RunResult(2, 0.1)
    model = await begun(world)
    await settle()
    shell(model, "make -f /tmp/x.mk")
    shell(model, "make scripts/run/all", "call_b")
    model.complete()
    answers = await answered(world)
    assert "in the sandbox /tmp is an empty folder" in answers["call_a"]
    assert "empty folder" not in answers["call_b"]


async def test_a_question_that_plan_mode_forbids_is_taken_back_and_no_mode_answers_one() -> None:
    world = World({"cache.py": CACHE})
    world.runner.box = BOX
    model = await begun(world)
    shell(model, "make")
    model.complete()
    await settle()
    world.session.submit(intents.SetMode("sandbox"))
    await settle()
    (ask,) = world.session.status.asks
    world.session.submit(intents.SetMode("plan"))
    world.session.submit(intents.Answer(ask.id, ONCE))
    assert "plan mode" in (await answered(world))["call_a"]
    assert world.session.status.asks == []
    assert world.runner.commands == []


async def test_private_files_are_asked_for_and_others_outside_too() -> None:
    world = World({".env": "KEY=1\n"})
    world.files.private = {".env": "it holds secrets"}
    world.runner.box = BOX
    model = await begun(world)
    shell(model, "cat .env")
    shell(model, "cat /etc/hosts", "call_b")
    world.runner.leads["link"] = "/etc/hosts"
    shell(model, "cat link", "call_c")
    model.complete()
    await settle()
    asks = {ask.question: ask for ask in world.session.status.asks}
    assert sorted(asks) == ["Run cat /etc/hosts ?", "Run cat link ?", "Send .env to the model?"]
    for ask in asks.values():
        world.session.submit(intents.Answer(ask.id, ask.choices[-1]))
    answers = await answered(world)
    assert "declined" in answers["call_a"]
    assert world.runner.commands == []


async def test_esc_ends_what_the_answer_started_and_the_next_request_is_valid() -> None:
    world = World({"cache.py": CACHE})
    world.runner.hold = asyncio.Event()
    model = await begun(world)
    shell(model, "git log")
    model.complete()
    await settle()
    world.session.submit(intents.Interrupt())
    await settle()
    assert world.runner.ended == ["git log"]
    world.session.submit(intents.Prompt("go on"))
    answer = (await answered(world))["call_a"]
    assert answer.startswith("stopped by the user")
    assert "all good" in answer
    assert cards(world)[0][2] == "cut"


async def test_a_command_that_is_being_stopped_is_no_reason_to_stay() -> None:
    world = World({"cache.py": CACHE})
    world.runner.hold, world.runner.lingers = asyncio.Event(), asyncio.Event()
    model = await begun(world)
    shell(model, "git log")
    model.complete()
    await settle()
    world.session.submit(intents.Interrupt())
    await settle()
    assert world.runner.ended == reasons_to_stay(world.session, "") == []
    assert "being stopped" in task_words(world.session.status, 0.0)
    world.runner.lingers.set()
    await settle()
    assert world.runner.ended == ["git log"]


async def test_a_command_goes_to_the_background_survives_esc_and_is_read_later() -> None:
    world = World({"cache.py": CACHE})
    world.runner.hold = asyncio.Event()
    model = await begun(world)
    shell(model, "git log")
    model.complete()
    await settle()
    world.session.submit(intents.ToBackground())
    answer = (await answered(world))["call_a"]
    assert "in the background as task 1" in answer
    assert "all good" in answer
    model.begin()
    world.session.submit(intents.Interrupt())
    model.interrupted()
    await settle()
    (task,) = world.session.status.tasks
    assert (task.number, task.background, task.ended) == (1, True, "")
    model = await begun(world, "and now?")
    model.call("shell_output", {"task": 1, "wait_s": 60}, "call_b")
    model.complete()
    await settle()
    world.runner.hold.set()
    answers = await answered(world, len(world.wire.requests) + 1)
    assert answers["call_b"].startswith("exit code 0")
    assert "all good" not in answers["call_b"]
    assert "Ended in the background" not in str(world.wire.requests[-1]["input"])
    assert cards(world)[0][2] == "done"
    assert world.session.status.tasks[0].ended


async def test_the_end_of_a_background_command_is_told_with_the_next_request() -> None:
    world = World({"cache.py": CACHE})
    model = await begun(world)
    shell(model, "git log", background=True)
    model.complete()
    await answered(world)
    model.answers("It runs.")
    await settle()
    await begun(world, "and now?")
    said = str(world.wire.requests[-1]["input"])
    assert "Ended in the background: task 1 (git log)" in said


async def test_a_task_is_stopped_by_the_user_or_the_model() -> None:
    world = World({"cache.py": CACHE})
    world.runner.hold = asyncio.Event()
    model = await begun(world)
    shell(model, "git log", background=True)
    shell(model, "ls", "call_b", background=True)
    model.complete()
    await answered(world)
    world.session.submit(intents.StopTask(1))
    model.begin()
    model.call("shell_output", {"task": 2, "stop": True}, "call_c")
    model.call("shell_output", {"task": 9}, "call_d")
    model.complete()
    answers = await answered(world, 3)
    assert "stopped" in answers["call_c"]
    assert "no task 9" in answers["call_d"]
    assert world.runner.ended == ["git log", "ls"]
    world.session.drain()
    world.session.submit(intents.StopTask(9))
    assert [trouble.what for trouble in world.session.drain().troubles] == ["No task 9 runs"]


async def test_reading_calls_run_side_by_side_and_writing_ones_in_order() -> None:
    world = World({"a.py": "one\n"}, options=SessionOptions(commands=CommandRules((("make",),))))
    hold = world.runner.hold = asyncio.Event()
    model = await begun(world)
    for number, command in enumerate(["git log", "pwd", "make one", "ls", "make two"]):
        shell(model, command, f"call_{number}")
    model.complete()
    await settle()
    assert world.runner.commands == ["git log", "pwd"]
    hold.set()
    await answered(world)
    assert world.runner.commands[2:] == ["make one", "ls", "make two"]


async def test_of_very_many_reading_calls_only_some_run_at_once() -> None:
    world = World({"a.py": "one\n"})
    hold = world.runner.hold = asyncio.Event()
    model = await begun(world)
    for number in range(60):
        shell(model, "pwd", f"call_{number}")
    model.complete()
    await settle()
    assert len(world.runner.commands) == SIDE_BY_SIDE
    hold.set()
    assert len(await answered(world)) == 60


async def test_the_model_is_told_what_was_not_on_disk() -> None:
    world = World({"cache.py": CACHE})
    model = await begun(world)
    model.patch(PATCH, "call_p")
    shell(model, "git status")
    model.complete()
    answer = (await answered(world))["call_a"]
    assert "not on disk when it ran: 1 pending hunk in cache.py" in answer


async def test_a_command_can_run_on_what_the_screen_shows() -> None:
    world = World({"cache.py": CACHE})
    model = await begun(world)
    model.patch(PATCH, "call_p")
    shell(model, "git status", screen=True)
    model.complete()
    answer = (await answered(world))["call_a"]
    assert "what it wrote is gone" in answer
    assert "not on disk" not in answer
    (shadow,) = world.shadows.made
    assert world.runner.hows[0].shadow is shadow
    assert shadow.texts == {"cache.py": world.session.workspace.buffers["cache.py"].text().encode()}
    assert shadow.closed


async def test_the_question_says_that_it_is_a_copy() -> None:
    world = World({"cache.py": CACHE})
    model = await begun(world)
    shell(model, "make", screen=True)
    model.complete()
    await settle()
    (ask,) = world.session.status.asks
    assert "a throw-away copy of the workspace as the screen shows it" in ask.detail
    await world.answers(ONCE)
    await answered(world)
    assert world.shadows.made[0].closed


async def test_where_there_is_no_copy_nothing_runs() -> None:
    world = World({"cache.py": CACHE})
    world.shadows.refusal = "there is no shadow here"
    model = await begun(world)
    shell(model, "git status", screen=True)
    model.complete()
    assert "there is no shadow here" in (await answered(world))["call_a"]
    assert not world.runner.commands


async def test_the_copy_of_a_command_in_the_background_stays_until_its_end() -> None:
    world = World({"cache.py": CACHE})
    world.runner.hold = asyncio.Event()
    model = await begun(world)
    shell(model, "git log", screen=True, background=True)
    model.complete()
    await answered(world)
    (shadow,) = world.shadows.made
    assert not shadow.closed
    world.runner.hold.set()
    await settle()
    assert shadow.closed


@each(
    "item, call",
    [
        ({"name": "shell", "arguments": '{"command": "ls"}'}, ShellCall("ls")),
        (
            {"name": "shell", "arguments": '{"command": ["bash", "-lc", "a | b"]}'},
            ShellCall("a | b", ("bash", "-lc", "a | b")),
        ),
        (
            {"name": "shell", "arguments": '{"command": ["ls", "a b"], "workdir": "x"}'},
            ShellCall("ls 'a b'", ("ls", "a b"), folder="x"),
        ),
        (
            {"name": "exec_command", "arguments": '{"cmd": "ls", "tty": true}'},
            ShellCall("ls", pty=True),
        ),
        ({"name": "bash", "arguments": {"command": "ls", "timeout": 5000}}, "5 s"),
        (
            {
                "type": "local_shell_call",
                "action": {"type": "exec", "command": ["ls"], "timeout_ms": 5000},
            },
            "5 s",
        ),
        (
            {"type": "shell_call", "action": {"commands": ["ls", "pwd"], "timeout_ms": None}},
            ShellCall("ls\npwd"),
        ),
        ({"name": "shell", "arguments": "{}"}, "empty"),
        ({"name": "shell", "arguments": '{"command": '}, "not JSON"),
        ({"name": "shell", "arguments": '{"command": 3}'}, "string"),
        ({"name": "shell", "arguments": '{"command": "a\\u0000b"}'}, "NUL"),
        ({"name": "shell", "arguments": '{"command": "ls", "timeout_ms": "soon"}'}, "number"),
        ({"type": "local_shell_call"}, "no action"),
    ],
)
def test_all_ways_to_call_a_shell(item: dict[str, Any], call: ShellCall | str) -> None:
    item = {"type": "function_call", **item}
    if isinstance(call, ShellCall):
        assert shell_call(item) == call
    elif call == "5 s":
        assert shell_call(item) == ShellCall("ls", deadline_s=5.0)
    else:
        with pytest.raises(CallError, match=call):
            shell_call(item)


@each("kind", ["local_shell_call", "shell_call"])
async def test_built_in_shells_are_answered_in_their_own_form(kind: str) -> None:
    world = World({"cache.py": CACHE})
    world.runner.result = RunResult(3, 0.5)
    model = await begun(world)
    action = {"type": "exec", "command": ["ls"], "commands": ["ls"]}
    model.item({"type": kind, "id": "sh_1", "call_id": "call_a", "action": action})
    model.complete()
    request = await world.wire.request(2)
    (output,) = [item for item in request["input"] if item.get("call_id") == "call_a"]
    assert output["type"] == f"{kind}_output"
    if kind == "shell_call":
        assert output["output"][0]["outcome"] == {"type": "exit", "exit_code": 3}
    else:
        assert "exit code 3" in output["output"]


async def test_very_much_output_is_cut_in_the_middle_with_a_count() -> None:
    world = World({"cache.py": CACHE})
    world.runner.output = ["first\n", "x" * 79 + "\n", *["y" * 79 + "\n"] * 5000, "last\n"]
    model = await begun(world)
    shell(model, "git log")
    model.complete()
    answer = (await answered(world))["call_a"]
    assert len(answer) < 50_000
    assert "output:\nfirst" in answer
    assert answer.endswith("last")
    assert "left out" in answer


@each(
    "limits, said",
    [
        (TurnLimits(seconds=60), "60 s"),
        (TurnLimits(tokens=10), "the limit is 10"),
        (TurnLimits(rounds=1), "1 round of calls"),
    ],
)
async def test_a_limit_stops_the_turn_and_says_how_to_go_on(limits: TurnLimits, said: str) -> None:
    world = World({"a.py": "one\n"}, options=SessionOptions(limits=limits))
    model = await begun(world)
    model.text("word " * 40)
    world.clock.advance(61)
    shell(model, "ls")
    model.complete(50)
    await settle()
    assert world.session.status.can_go_on
    assert any(said in note and "go on" in note for note in notes(world))
    world.session.submit(intents.Prompt("go on"))
    assert not world.session.status.can_go_on
    assert "call_a" in await answered(world)


async def test_a_limit_of_dollars_counts_what_is_known_and_says_where_it_cannot_hold() -> None:
    world = World({"a.py": "one\n"}, options=SessionOptions(limits=TurnLimits(usd=0.75)))
    prices = [None, 0.5, 0.5]

    async def quote(endpoint: str, models: object, usage: Usage, tier: str) -> Quote:
        return Quote(prices.pop(0) if usage.output_tokens == 12 else None)

    world.ports.quote = quote
    model = await begun(world)
    for number in (1, 2, 3):
        shell(model, "ls", f"call_{number}")
        model.complete(12)
        if number < 3:
            await answered(world, number + 1)
            model.begin()
    await settle()
    said = "the limit of $0.750 cannot stop this turn: not all prices are known"
    assert next(note for note in notes(world) if "limit" in note) == said
    assert "it cost $1.00, the limit is $0.750" in notes(world)[-1]


async def test_tool_time_is_counted_apart() -> None:
    world = World({"a.py": "one\n"})
    hold = world.runner.hold = asyncio.Event()
    model = await begun(world)
    model.text("word " * 40)
    shell(model, "ls")
    model.complete(50)
    await settle()
    world.clock.advance(30)
    hold.set()
    await answered(world)
    view = world.session.meter.view(world.clock.now())
    assert view.tool_s == pytest.approx(30)
    assert view.tokens_s is None or view.tokens_s > 50


@each(
    "name, arguments, said",
    [
        ("shell", "no json", "the arguments are not JSON"),
        ("shell", '{"command": "ls"', "the arguments are not JSON"),
        ("shell", "[1]", "the arguments are not a JSON object"),
        ("shell", "[" * 100_000, "the arguments are nested too deeply"),
        ("shell", {}, "the command is empty"),
        ("shell", {"command": " \n"}, "the command is empty"),
        ("shell", {"command": []}, "the command is empty"),
        ("shell", {"command": 5}, "the argument 'command' must be a string or a list of strings"),
        ("shell", {"command": ["ls", 5]}, "must be a string or a list of strings"),
        ("shell", {"command": "x" * 1_000_000}, "longer than 100,000 characters"),
        ("shell", {"command": "ls\0"}, "cannot hold a NUL character"),
        ("shell", {"command": "ls", "workdir": "a\0b"}, "cannot hold a NUL character"),
        ("shell", {"command": "ls", "workdir": "/etc"}, "/etc is outside the workspace"),
        ("shell", {"command": "ls", "workdir": "../.."}, "is outside the workspace"),
        ("shell", {"command": "ls", "workdir": 5}, "the argument 'workdir' must be a string"),
        ("shell", {"command": "ls", "timeout_ms": -1}, "a timeout cannot be negative"),
        ("shell", {"command": "ls", "timeout_s": "soon"}, "must be a number"),
        ("shell_output", {"task": 9}, "there is no task 9"),
        ("shell_output", {"task": "x"}, "must be a whole number"),
        ("no_such_tool", {}, "no_such_tool"),
    ],
)
async def test_a_malformed_call_is_told_in_one_sentence_and_the_turn_goes_on(
    name: str, arguments: dict[str, Any] | str, said: str
) -> None:
    world = World({"a.py": "one\n"})
    model = await begun(world)
    model.call(name, arguments, "call_a")
    shell(model, "ls", "call_b")
    model.complete()
    answers = await answered(world)
    assert said in answers["call_a"]
    assert answers["call_a"].startswith("error: ")
    assert answers["call_a"].count("\n") == 0
    assert len(answers["call_a"]) < 300
    assert "exit code 0" in answers["call_b"]
    assert world.runner.commands == ["ls"]
    blocks = world.session.transcript.blocks
    shown = next(block for block in blocks if block.call_id == "call_a")
    assert shown.state == "failed"
    assert said in shown.text


@each(
    "result, words",
    [
        (RunResult(3, 1.0), "3 after 1.0 s"),
        (RunResult(-9, 1.0), "ended by signal 9 after 1.0 s"),
        (RunResult(None, 1.0, stopped=True), "stopped"),
        (RunResult(None, 131.0, timed_out=True), "stopped at its deadline of 120 s"),
        (RunResult(None, 0.0, error="cannot start 'x': no"), "cannot start 'x': no"),
    ],
)
async def test_an_end_has_the_same_words_for_the_model_and_the_user(
    result: RunResult, words: str
) -> None:
    world = World({"a.py": "one\n"})
    world.runner.result = result
    model = await begun(world)
    shell(model, "ls")
    model.complete()
    assert words in (await answered(world))["call_a"]
    assert words in cards(world)[0][1]


async def test_calls_of_one_id_each_have_their_own_output() -> None:
    world = World({"a.py": "one\n"})
    model = await begun(world)
    shell(model, "ls", "call_a")
    shell(model, "pwd", "call_a")
    model.complete()
    request = await world.wire.request(2)
    calls = [i["call_id"] for i in request["input"] if "output" not in i and "call_id" in i]
    ids = [item["call_id"] for item in request["input"] if "output" in item]
    assert len(ids) == len(set(ids)) == 2
    assert set(calls) <= set(ids)
    assert sorted(world.runner.commands) == ["ls", "pwd"]


async def test_ten_calls_at_once_and_malformed_ones_each_have_one_output() -> None:
    world = World({"a.py": "one\n"})
    model = await begun(world)
    for number in range(8):
        shell(model, "ls", f"call_{number}")
    model.call("shell", "no json", "call_8")
    model.call("no_such_tool", {}, "call_9")
    model.complete()
    request = await world.wire.request(2)
    answers = [item["call_id"] for item in request["input"] if "output" in item]
    assert sorted(answers) == [f"call_{number}" for number in range(10)]
    assert json.dumps(request)
