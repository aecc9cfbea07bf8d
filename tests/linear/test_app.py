"""What is said, when, and what typed lines do."""

from __future__ import annotations

import pytest

from tests.support.fakes import World, settle
from tests.support.linear_stage import FILES, Heard, LinearStage
from tests.support.pictures import png
from tests.support.tables import case
from tui.cli.open_app import ring_ends
from tui.core.conversation import Block, BlockKind
from tui.core.document.hunk import Stage
from tui.core.programs import Edited
from tui.core.run_report import RunReport
from tui.core.wire.rate_limits import Limit
from tui.engine.intents import (
    Answer,
    Compact,
    Continue,
    EditSummary,
    Intent,
    Interrupt,
    MakeAttempts,
    Prompt,
    Queue,
    RunCommand,
    SetEffort,
    SetMode,
    StopAttempts,
    StopCommand,
    StopCompacting,
    StopTask,
    Switch,
    TakeAttempt,
    ToBackground,
    Verify,
)
from tui.engine.notices import Ask, TaskView, Trouble
from tui.engine.sessions import Onward
from tui.engine.slash import NO_SUMMARY, Command
from tui.linear.app import BELL, LinearApp
from tui.linear.command_table import LINEAR
from tui.settings import NotifySettings


@pytest.fixture
def stage() -> LinearStage:
    stage = LinearStage()
    stage.look()
    return stage


def answering(stage: LinearStage, turn: int = 1) -> Block:
    """A turn runs; its first block is open."""
    stage.session.status.busy = True
    return stage.session.state.add(Block(BlockKind.TEXT, turn, "", "fast"))


def test_the_whole_answer_at_its_end_if_that_is_wanted(stage: LinearStage) -> None:
    assert stage.enter("/pace whole") == "Answers are read whole, at their end.\n"
    block = answering(stage)
    stage.session.stream(block, "One line.\nAnother line.\n")
    assert "One line" not in stage.look()
    stage.session.state.close(block)
    assert stage.look() == "One line.\nAnother line.\n"


def test_typing_into_an_answer_redirects_it(stage: LinearStage) -> None:
    answering(stage)
    assert "Redirecting fast." in stage.enter("use a plain lock")
    assert stage.session.intents[-1] == Prompt("use a plain lock")


def test_a_run_says_what_it_ran_on_and_the_status_whether_that_still_holds(
    stage: LinearStage,
) -> None:
    stage.enter("/verify disk")
    assert stage.session.intents[-1] == Verify(disk=True)
    block = stage.session.state.add(Block(BlockKind.RUN, 0, "pytest -q"), "12 passed\n")
    left_out = "hunk 7, which changes what judges it"
    block.report = RunReport(ground="5 pending hunks and unsaved text", left_out=left_out)
    stage.session.state.close(block)
    assert stage.look().splitlines()[-3:] == [
        "12 passed",
        "This ran with 5 pending hunks and unsaved text.",
        "This ran without hunk 7, which changes what judges it.",
    ]
    status = stage.session.status
    status.verdict, status.outdated = "passed", True
    assert "The tests passed. The texts have changed since." in stage.enter("/status")


def test_what_was_typed_is_not_told_again_but_what_was_queued_is(stage: LinearStage) -> None:
    stage.enter("mine")
    stage.session.state.add(Block(BlockKind.USER, 1, state="done"), "mine")
    stage.session.state.add(Block(BlockKind.USER, 2, state="done"), "queued before")
    said = stage.look()
    assert "You: queued before" in said
    assert "mine" not in said


def test_a_question_has_numbers_and_a_number_answers(stage: LinearStage) -> None:
    ask = Ask(4, "Run pytest ?", "It comes from the workspace.", ("Run it", "Always", "No"))
    stage.session.status.asks = [ask]
    assert stage.look().splitlines() == [
        "Question: Run pytest ?",
        "It comes from the workspace.",
        "1. Run it",
        "2. Always",
        "3. No",
        "Type a number from 1 to 3.",
    ]
    assert stage.look() == "", "it is asked once"
    assert stage.enter("9") == "There are choices 1 to 3.\n"
    assert stage.enter("2") == "Chosen: Always\n"
    assert stage.session.intents[-1] == Answer(4, "Always")


def test_a_number_without_a_question_is_not_sent(stage: LinearStage) -> None:
    assert "No question is open." in stage.enter("2")
    assert stage.session.intents == []


def test_a_terminal_that_is_gone_while_it_is_asked_begins_no_other_session(
    stage: LinearStage,
) -> None:
    stage.app.onward = Onward("7f3k2m11")
    stage.app.end(129)
    assert stage.app.onward is None


def test_enter_alone_says_where_it_is(stage: LinearStage) -> None:
    assert stage.enter("") == "Nothing runs; fast answers your next prompt.\n"
    stage.session.status.busy = True
    assert "Waiting for fast" in stage.enter("") or "answering" in stage.enter("")
    stage.session.status.busy, stage.session.status.running = False, "pytest -q"
    assert stage.enter("") == "Running: pytest -q.\n"


def test_a_prompt_of_several_lines(stage: LinearStage) -> None:
    assert stage.enter("first \\") == ""
    assert stage.heard.now == "more"
    assert stage.app.draft == "first "
    stage.enter("second")
    assert stage.session.intents[-1] == Prompt("first \nsecond")
    stage.enter('"""', "/not a command", "", "end", '"""')
    assert stage.session.intents[-1] == Prompt("/not a command\n\nend")
    assert stage.heard.now == "ready"


def test_ctrl_c_drops_a_prompt_that_was_begun(stage: LinearStage) -> None:
    stage.enter("first \\")
    stage.app.interrupted(False)
    assert stage.heard.pieces[-1] == "Cleared what you typed.\n"
    assert stage.heard.now == "ready"


def test_ctrl_c_stops_what_runs_and_twice_leaves_when_nothing_does(stage: LinearStage) -> None:
    answering(stage)
    stage.app.interrupted(False)
    assert stage.session.intents[-1] == Interrupt()
    stage.session.status.running = "sleep 9"
    stage.app.interrupted(False)
    assert stage.session.intents[-1] == StopCommand()
    stage.session.status.running = ""
    stage.session.status.compacting = True
    stage.app.interrupted(False)
    assert stage.session.intents[-1] == StopCompacting()
    stage.session.status.compacting = False
    stage.app.interrupted(False)
    assert stage.heard.pieces[-1] == "Ctrl+C again leaves duetto.\n"
    assert not stage.app.is_over
    stage.session.now_s += 3
    stage.app.interrupted(False)
    assert not stage.app.is_over, "that was long ago"
    stage.app.interrupted(False)
    assert stage.app.is_over


def test_an_interruption_says_what_was_kept(stage: LinearStage) -> None:
    session = stage.session
    stage.session.status.busy = True
    session.state.add(Block(BlockKind.USER, 1, state="done"), "go")
    stage.look()
    session.hunk(Stage.LANDED, 3)
    session.hunk(Stage.CUT, 7)
    session.hunk(Stage.REFUSED)
    session.status.busy, session.status.outcome = False, "interrupted"
    session.state.note(1, "stopped after ~512 tokens, 0.3 ms", "cut")
    said = stage.look()
    assert "Stopped after about 512 tokens, 0.3 ms." in said
    cut = "1 hunk cut, as it stands: /accept NUMBER keeps it"
    assert f"1 hunk whole, {cut}, 1 hunk not applied." in said


def test_an_answer_that_was_cut_goes_on_in_lines_of_its_own(stage: LinearStage) -> None:
    session = stage.session
    session.status.busy = True
    block = session.state.add(Block(BlockKind.TEXT, 1, "", "fast"), "One lock. It is held in pu")
    stage.look()
    session.state.close(block, "cut")
    session.status.busy, session.status.outcome = False, "interrupted"
    session.status.can_continue = True
    said = stage.look()
    assert "It is held in pu\n(cut here)\n" in said
    assert "/continue goes on with it." in said
    stage.enter("/continue")
    assert session.intents[-1] == Continue()
    block.state = "open"
    session.state.append(block, "t and in get. Done.")
    session.state.close(block)
    assert stage.look() == "t and in get. Done.\n"


def test_silence_is_broken_now_and_then(stage: LinearStage) -> None:
    stage.session.status.busy = True
    stage.session.meter.start(stage.session.now_s, "m")
    stage.look()
    said = [stage.look(1.0) for _ in range(130)]
    assert [at + 1 for at, words in enumerate(said) if words] == [10, 30, 60, 120]
    assert said[9].startswith("Waiting for fast, ")


@pytest.mark.parametrize(
    ("line", "intent"),
    [
        ("!make all", RunCommand("make all")),
        ("/queue and then this", Queue("and then this")),
        ("/deep", Switch("deep")),
        ("/model deep", Switch("deep")),
        ("/effort high", SetEffort("high")),
        ("//comment", Prompt("//comment")),
        ("/usr/bin is a folder", Prompt("/usr/bin is a folder")),
    ],
)
def test_what_a_line_asks_for(stage: LinearStage, line: str, intent: object) -> None:
    stage.enter(line)
    assert stage.session.intents[-1] == intent


def test_what_cannot_be_done_is_said(stage: LinearStage) -> None:
    for line, said in (
        ("/efort", "There is no command /efort. Did you mean /effort?"),
        ("/theme", "There is no command /theme."),
        ("/effort huge", "Effort is one of none, minimal, low, medium, high, xhigh, max, auto."),
        ("/queue", "It needs an argument: /queue TEXT."),
        ("/again", "Nothing has been sent yet."),
        ("/output", "No command has run yet."),
        ("/last", "The model has not said anything yet."),
        ("/meter", "Nothing measured yet: the meter starts with your first prompt."),
    ):
        with case(line, said):
            assert stage.enter(line).startswith(said)


def test_a_prompt_that_was_not_sent_is_kept_and_can_be_sent_again(stage: LinearStage) -> None:
    stage.enter("make it safe")
    stage.session.status.unsent = "make it safe"
    assert "Not sent: make it safe. /again sends it." in stage.look()
    assert stage.app.draft == "make it safe"
    stage.enter("/again")
    assert stage.session.intents[-1] == Prompt("make it safe")


def test_trouble_says_what_why_and_what_next(stage: LinearStage) -> None:
    stage.session.state.trouble(Trouble("No reply", "the server hung up", "try again"))
    stage.session.state.trouble(Trouble("Told already", noted=True))
    assert stage.look() == "Problem: No reply: the server hung up. Next: try again.\n"
    stage.session.state.trouble(Trouble("Unreached", "nobody there: does it run?", "try again"))
    assert stage.look() == "Problem: Unreached: nobody there: does it run? Next: try again.\n"


def test_of_long_output_the_end_is_told_and_all_can_be_read(stage: LinearStage) -> None:
    output = "".join(f"line {number}\n" for number in range(100))
    stage.session.state.add(Block(BlockKind.RUN, 0, "pytest", state="failed"), output)
    said = stage.look().splitlines()
    assert said[:2] == ["Running: pytest", "85 lines before these: /output reads all."]
    assert said[-1] == "line 99"
    assert stage.enter("/output").startswith("Output of pytest:\nline 0\n")


def test_leaving_asks_when_something_would_be_left_behind(stage: LinearStage) -> None:
    stage.patched()
    said = stage.enter("/quit")
    assert "2 hunks undecided: not on disk, kept for duetto resume." in said
    assert "1. Save, then leave\n2. Leave\n3. Stay\n" in said
    assert stage.enter("3") == "Staying.\n"
    assert not stage.app.is_over
    stage.enter("/quit", "2")
    assert stage.app.is_over
    assert stage.app.left


def test_a_file_of_commands_waits_for_each_answer() -> None:
    stage = LinearStage(live=False)
    stage.session.status.busy = True
    stage.enter("first", "!ls")
    assert stage.session.intents == []
    stage.enter("/stop")
    assert stage.session.intents == [], "it waits behind the others, in its turn"
    stage.session.status.busy = False
    stage.look()
    assert stage.session.intents == [Prompt("first"), RunCommand("ls")]
    stage.app.ended()
    assert stage.app.is_over


def test_at_the_end_of_a_file_of_commands_a_question_is_refused() -> None:
    stage = LinearStage(live=False)
    stage.session.status.asks = [Ask(7, "Run it?", "", ("Run it", "Do not run it"))]
    stage.app.ended()
    assert Answer(7, "Do not run it") in stage.session.intents
    assert not stage.app.is_over, "what comes of it is waited for"
    stage.session.status.asks = []
    stage.look()
    assert stage.app.is_over


@pytest.mark.parametrize("command", LINEAR, ids=lambda command: command.name)
def test_every_command_does_something_of_its_own(stage: LinearStage, command: Command) -> None:
    slow = {
        "attempts",
        "race",
        "diff",
        "show",
        "compact",
        "compose",
        "model",
        "connect",
        "resume",
        "rewind",
        "image",
        "stats",
    }  # they look first
    if command.name in slow:  # they look first
        return
    said = stage.enter(f"/{command.name}")
    assert "There is no command" not in said
    if command.name not in ("tier", "effort", "quit"):
        assert said != stage.enter("/tier"), "it is not known"
    assert said or stage.session.intents or stage.app.is_over


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("/attempts 0 x", "Attempts are compared: ask for 2 to 256."),
        ("/attempts 500 x", "There are at most 256 attempts of one prompt."),
        ("/attempts take", "or take 2 hunks 1,3."),
        ("/attempts take 0", "or take 2 hunks 1,3."),
        ("/attempts stop 0", "or take 2 hunks 1,3."),
        ("/attempts show 0", "or take 2 hunks 1,3."),
        ("/attempts take 2 hunks", "or take 2 hunks 1,3."),
        ("/attempts take 2 hunks 0", "or take 2 hunks 1,3."),
        ("/attempts take 2 hunks 1-3", "or take 2 hunks 1,3."),
        ("/attempts 3 make it one", ""),
    ],
)
def test_attempts_are_asked_for_in_words(stage: LinearStage, typed: str, said: str) -> None:
    told = stage.enter(typed)
    assert said in told
    assert "attempts begin" not in told, "that is said when they do"
    begun = [one for one in stage.session.intents if isinstance(one, MakeAttempts)]
    assert [one.plan.count for one in begun] == [3] * (not said)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("take 2", TakeAttempt(2)),
        ("take 2 a.py", TakeAttempt(2, "a.py")),
        ("take 2 @a.py", TakeAttempt(2, "a.py")),
        ('take 2 "my file.py"', TakeAttempt(2, "my file.py")),
        ("take 2 hunks 1, 3", TakeAttempt(2, hunks=(1, 3))),
        ("take 2 hunk 4", TakeAttempt(2, hunks=(4,))),
        ("stop", StopAttempts()),
        ("stop 3", StopAttempts(3)),
    ],
)
def test_attempts_and_sides_of_a_race_are_taken_and_stopped_in_the_same_words(
    stage: LinearStage, words: str, wanted: Intent
) -> None:
    for command in ("attempts", "race"):
        stage.enter(f"/{command} {words}")
        assert stage.session.intents[-1] == wanted


@pytest.mark.parametrize(
    "prompt",
    [
        "stop the flicker",
        "stop 3 timers from leaking",
        "take care of None",
        "take 2 seconds off the start",
        "take 2 hunks out of a.py",
        "take two",
        "show more in the list",
        "show 2 columns",
    ],
)
def test_a_prompt_that_begins_like_a_command_is_a_prompt(stage: LinearStage, prompt: str) -> None:
    for command in ("attempts", "race"):
        stage.enter(f"/{command} {prompt}")
        made = stage.session.intents[-1]
        assert isinstance(made, MakeAttempts)
        assert made.plan.prompt == prompt


@pytest.mark.parametrize(("wanted", "minutes", "rung"), [(True, 1, 1), (True, 0, 0), (False, 1, 0)])
def test_the_bell_rings_once_when_a_long_turn_ends_and_nobody_typed(
    stage: LinearStage, wanted: bool, minutes: int, rung: int
) -> None:
    ring_ends(stage.app, NotifySettings(bell=wanted))
    stage.enter("do it")
    block = answering(stage)
    said = stage.look()
    stage.session.stream(block, "Done.")
    said += stage.look(60.0 * minutes + 1)
    stage.session.state.close(block)
    stage.session.status.busy, stage.session.status.outcome = False, "completed"
    said += stage.look() + stage.look() + stage.look()
    assert said.count(BELL) == rung


def test_why_to_stay_is_said_once_at_the_end_of_a_file() -> None:
    stage = LinearStage(live=False)
    stage.patched()
    stage.session.status.busy = False
    before = len(stage.heard.pieces)
    stage.app.ended()
    stage.look()
    assert "".join(stage.heard.pieces[before:]).count("undecided") == 1


def test_status_tells_the_limits_of_the_server(stage: LinearStage) -> None:
    stage.session.status.limits = (Limit("requests", 40, 60),)
    assert "Limit: 40 of 60 requests left." in stage.enter("/status")


def test_a_question_about_a_command_takes_a_number_and_words(stage: LinearStage) -> None:
    status = stage.session.status
    status.asks.append(Ask(7, "Run make ?", "In src.", ("Run it once", "No"), "make", True))
    said = stage.look()
    assert "Question: Run make ?" in said
    assert "Words behind 2 go to the model." in said
    stage.enter("2 use ninja")
    assert stage.session.intents[-1] == Answer(7, "No", "use ninja")


def test_the_mode_and_the_tasks_are_said(stage: LinearStage) -> None:
    status = stage.session.status
    assert "asked about" in stage.enter("/mode")
    assert "one of manual, sandbox, plan" in stage.enter("/mode fast")
    stage.enter("/plan")
    assert stage.session.intents[-1] == SetMode("plan")
    assert "no command of the model runs" in stage.enter("/tasks")
    status.tasks = [TaskView(3, "npm run dev", "call_1", 0.0, background=True)]
    status.tasks += [TaskView(4, "make", "call_2", 0.0)]
    said = "Task 3 runs in the background and ends with duetto: npm run dev\n"
    assert said in stage.look()
    assert said not in stage.look()
    listed = stage.enter("/tasks").splitlines()
    assert listed[0].startswith("3  npm run dev  running for")
    assert listed[1].startswith("4  make  running for")
    stage.enter("/tasks stop 3")
    assert stage.session.intents[-1] == StopTask(3)
    stage.enter("/background")
    assert stage.session.intents[-1] == ToBackground()


def test_a_command_of_the_model_is_told_when_it_is_known(stage: LinearStage) -> None:
    answering(stage)
    block = stage.session.state.add(Block(BlockKind.RUN, 1, "", "fast"))
    assert "command" not in stage.look()
    block.title = "pytest -q"
    stage.session.state.changed(block)
    assert "The model's command: pytest -q" in stage.look()
    stage.session.state.append(block, "2 passed\n[exit 0 after 0.5 s]\n")
    stage.session.state.close(block)
    assert "2 passed\n[exit 0 after 0.5 s]" in stage.look()


async def test_notes_on_lines_are_put_listed_changed_and_dropped() -> None:
    world, heard = World(FILES), Heard()
    app = LinearApp(world.session, heard, live=True)
    said = []
    for line in (
        "/note slug.py:5 keep umlauts",
        "/note slug.py:1 why re?",
        "/notes edit 1 keep sharp s, too",
        "/notes",
        "/note slug.py",
        "/notes send-it",
        "/notes drop 1, 2",
    ):
        before = len(heard.pieces)
        app.line(line)
        said.append("".join(heard.pieces[before:]))
    assert said[0] == "1. slug.py:5 keep umlauts (goes with the next request)\n"
    assert [line[:6] for line in said[1].splitlines()] == ["2. slu", "1. slu"], "a line each"
    assert said[1].startswith("2. slug.py:1 why re?")
    assert "keep sharp s, too" in said[2]
    assert "umlauts" not in said[3]
    assert "Say where, and what" in said[4]
    assert "/notes lists them" in said[5]
    assert said[6] == "There are no notes.\n"


async def test_an_image_gets_the_name_by_which_a_prompt_sends_it() -> None:
    world, heard = World({"docs/my shot.png": png(64, 48)}), Heard()
    app = LinearApp(world.session, heard, live=True)
    app.line('/image "docs/my shot.png"')
    await settle()
    app.line("/image")
    await settle()
    said = "".join(heard.pieces)
    assert "docs/my shot.png 64x48 · " in said
    assert 'name it in your prompt as @"docs/my shot.png".' in said
    assert "No image was taken: there is no clipboard here." in said


async def test_the_summary_is_read_or_edited() -> None:
    stage = LinearStage()
    assert stage.enter("/compact show") == f"{NO_SUMMARY}\n"
    assert stage.enter("/compact keep the names") == ""
    assert stage.session.intents == [Compact("keep the names")]
    stage.session.summary.text = "What is certain\nand what was said"
    given: list[str] = []

    async def editor(text: str) -> Edited:
        given.append(text)
        return Edited(None, "vim ended with exit code 1.") if given[1:] else Edited("shorter")

    stage.app.editor = editor
    stage.enter("/compact show")
    await stage.app.settled()
    assert given == [stage.session.summary.text]
    shorter = EditSummary("shorter", stage.session.summary.text)
    assert stage.session.intents[-1] == shorter
    said = len(stage.heard.pieces)
    stage.enter("/compact show")  # what comes of no edit changes nothing
    await stage.app.settled()
    assert stage.session.intents[1:] == [shorter]
    assert stage.heard.pieces[said:] == ["vim ended with exit code 1.\n"]
    piped = LinearStage(live=False)
    piped.session.summary.text = stage.session.summary.text
    assert piped.enter("/compact show") == f"{stage.session.summary.text}\n"
