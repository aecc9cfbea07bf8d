"""One prompt tried several times side by side, judged by the tests, and the best one home."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

import pytest

from tests.support.fakes import FakeShadow, FakeShadows, settle
from tests.support.judged_runs import Failing, Files, Judge, has, judged
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.turns import land, notes, outputs, texts, update
from tui.core.attempts import AttemptPlan, read_plan
from tui.core.conversation import BlockKind
from tui.core.document.hunk import Decision
from tui.core.price import Quote
from tui.core.wire import events
from tui.core.wire.events import Usage
from tui.core.wire.rate_limits import Limit
from tui.engine import attempts, intents, lane_session
from tui.engine.attempts import NO_VERIFIER, Attempts
from tui.engine.ports import Caps, FixRules, VerifyWhen
from tui.engine.session_options import SessionOptions
from tui.errors import EndpointError


@pytest.fixture(autouse=True)
def no_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has changed is looked at in the next turn of the event loop."""
    monkeypatch.setattr(lane_session, "FRAME_S", 0.0)
    monkeypatch.setattr(lane_session, "_STOP_S", 0.0)


def change(number: int, new: str = "1", path: str = "a.py") -> str:
    return update(path, f"-x{number} = 0\n+x{number} = {new}\n")


NEW_FILE = "*** Begin Patch\n*** Add File: new.py\n+n = 1\n*** End Patch\n"


def wrong(files: Files) -> list[str]:
    """The first line is to be 1, and the fifth is to stay."""
    failed = [] if has(files, 0) else ["test_first"]
    return failed + (["test_fifth"] if has(files, 4) else [])


class Stand:
    """A session, and the models that make its attempts."""

    def __init__(self, failing: Failing = wrong, options: SessionOptions | None = None) -> None:
        self.world, self.judge = judged(8, failing, options=options)
        self.session = self.world.session
        self.before = dict(self.world.files.data)

    @property
    def attempts(self) -> Attempts:
        return self.session.attempts

    async def asks(self, words: str) -> None:
        wanted = read_plan(words)
        assert isinstance(wanted, AttemptPlan)
        self.session.submit(intents.MakeAttempts(wanted))
        await settle()

    async def model(self, number: int) -> SteppedRehearsal:
        """The one that makes this attempt, its response begun."""
        wire = self.world.wires[f"main attempt-{number}"]
        await wire.request(1)
        model = SteppedRehearsal(wire)
        model.begin()
        return model

    async def answers(self, number: int, *patches: str) -> None:
        """An attempt is made: these patches in one call, and a word."""
        model = await self.model(number)
        for at, patch in enumerate(patches):
            model.patch(patch, f"c{number}_{at}")
            model.complete()
            await model.wire.request(at + 2)
            model.begin()
        model.finishes("Done.")
        await self.until(lambda: self.attempts.rows[number - 1].lane is None)

    async def until(self, there: Callable[[], bool]) -> None:
        async with asyncio.timeout(60):
            while not there():
                await asyncio.sleep(0)

    async def rests(self) -> None:
        await self.until(lambda: self.session.at_rest)
        await settle()
        assert self.world.files.data == self.before, "only an accept writes"
        made = [one for one in self.world.shadows.made if isinstance(one, FakeShadow)]
        assert all(shadow.closed for shadow in made)

    def order(self) -> list[tuple[int, str]]:
        return [(one.attempt.number, one.words) for one in self.attempts.views()]

    def said(self) -> str:
        """What the conversation says of them."""
        return next(one for one in reversed(notes(self.world)) if one[:1].isdigit())

    def text(self, path: str = "a.py") -> str:
        return self.session.workspace.buffers[path].text()


async def test_the_best_that_passes_comes_home_as_pending_hunks() -> None:
    stand = Stand()
    await stand.asks("4 --all make it one")
    assert stand.session.status.running == "attempts · 0 of 4"
    begin = "4 attempts begin: make it one (/attempts show lists them, /attempts stop ends them)"
    assert notes(stand.world) == [begin]
    await stand.answers(1, change(4))
    await stand.answers(2, change(0) + change(2), change(3))
    await stand.answers(3, change(0))
    await stand.answers(4)
    await stand.rests()
    assert stand.order() == [
        (3, "passes"),
        (2, "passes, with 6 changed lines against 2"),
        (1, "breaks test_fifth and test_first still fails"),
        (4, "it changed nothing, and says: Done."),
    ]
    assert stand.text() == "x0 = 1\n" + "".join(f"x{n} = 0\n" for n in range(1, 8))
    (hunk,) = stand.session.workspace.hunks
    assert hunk.decision is Decision.PENDING
    assert stand.said().splitlines() == [
        "4 attempts: make it one · attempt 3 wins · pass@1 50 % (1 run) · pass@4 100 % (1 run)",
        "1. attempt 3: passes · +1 −1 · ~19 tokens",
        "2. attempt 2: passes, with 6 changed lines against 2 · +3 −3 · ~55 tokens",
        "3. attempt 1: breaks test_fifth and test_first still fails · +1 −1 · ~19 tokens",
        "4. attempt 4: it changed nothing, and says: Done. · ~1 token",
    ]
    assert stand.session.status.running == ""


async def test_each_is_asked_the_same_and_all_at_once_before_the_first_answers() -> None:
    stand = Stand()
    await stand.asks("3 --temperature 0.2,0.9 make it one")
    asked = [stand.world.wires[f"main attempt-{n}"].requests for n in (1, 2, 3)]
    assert [len(one) for one in asked] == [1, 1, 1]
    assert {texts(one[0])[-1] for one in asked} == {"make it one"}
    assert [one[0]["temperature"] for one in asked] == [0.2, 0.9, 0.2]
    assert "main" not in stand.world.wires or not stand.world.wire.requests
    stand.session.submit(intents.StopAttempts())
    await stand.rests()


async def test_the_first_green_one_ends_the_others() -> None:
    stand = Stand()
    await stand.asks("3 make it one")
    slow = await stand.model(1)
    slow.say(slow.open_text(), "Well")
    await stand.answers(2, change(0))
    await stand.rests()
    assert stand.order() == [
        (2, "passes"),
        (1, "stopped: another one passes"),
        (3, "stopped: another one passes"),
    ]
    assert stand.attempts.rows[0].said == "Well"
    assert stand.world.wires["main attempt-1"].state == "closed"
    assert stand.attempts.tally.at(1) == (1.0, 1)


async def test_what_waits_on_the_screen_and_what_was_typed_is_in_each() -> None:
    stand = Stand(
        lambda files: [] if has(files, 0) and b"mine" in (files["a.py"] or b"") else ["t"]
    )
    stand.session.submit(intents.OpenFile("a.py"))
    await settle()
    stand.session.workspace.edit("a.py", (7, 0), (7, 0), "mine = 1\n")
    await stand.asks("2 make it one")
    await stand.answers(1, change(0))
    await stand.rests()
    assert stand.order()[0] == (1, "passes")
    assert stand.text().startswith("x0 = 1\nx1 = 0\n")
    assert "mine = 1\n" in stand.text()


async def test_what_the_user_typed_meanwhile_stays() -> None:
    stand = Stand()
    stand.session.submit(intents.OpenFile("a.py"))
    await stand.asks("2 make it one")
    stand.session.workspace.edit("a.py", (8, 0), (8, 0), "mine = 1\n")
    stand.session.workspace.edit("a.py", (0, 0), (0, 2), "y0")
    await stand.answers(1, change(0))
    await stand.rests()
    (hunk,) = stand.session.workspace.hunks
    assert (hunk.base, hunk.agent) == ("y0 = 0\n", "x0 = 1\n")
    assert hunk.flags == ("replaces lines that were changed meanwhile",)
    stand.session.submit(intents.Reject())
    await stand.until(lambda: stand.session.at_rest)
    assert stand.text().startswith("y0 = 0\nx1 = 0\n")
    assert stand.text().endswith("\nmine = 1\n")


async def test_without_a_verifier_there_are_candidates_and_no_winner() -> None:
    stand = Stand()
    stand.world.verify = None
    await stand.asks("2 make it one")
    await stand.answers(1, change(0), change(2))
    await stand.answers(2, change(0))
    await stand.rests()
    assert stand.order() == [(2, "not judged"), (1, "not judged, with 4 changed lines against 2")]
    assert NO_VERIFIER in notes(stand.world)
    assert not stand.session.workspace.hunks
    assert "wins" not in stand.said()
    assert "pass@" not in stand.said()
    stand.session.submit(intents.TakeAttempt(1))
    await stand.rests()
    assert stand.text().startswith("x0 = 1\nx1 = 0\nx2 = 1\n")
    assert len(stand.session.workspace.hunks) == 2


async def test_only_one_file_of_another_is_taken() -> None:
    stand = Stand()
    await stand.asks("2 --all make it one")
    await stand.answers(1, change(4), NEW_FILE)
    await stand.answers(2, change(0))
    await stand.rests()
    stand.session.submit(intents.TakeAttempt(1, "new.py"))
    await stand.rests()
    assert stand.text("new.py") == "n = 1\n"
    assert "x4 = 0" in stand.text()
    stand.session.submit(intents.UndoTurn())
    await stand.until(lambda: stand.session.at_rest)
    assert stand.text().startswith("x0 = 1\n"), "each that came home is a turn of its own"


async def test_only_some_hunks_of_one_are_taken() -> None:
    stand = Stand(options=SessionOptions(conversation="c"))
    stand.world.verify = None
    await stand.asks("2 make it one")
    await stand.answers(1, change(0), change(7))
    await stand.answers(2)
    await stand.rests()
    told = stand.attempts.words(only=1)
    assert "\na.py\n@@ -1,3 +1,3 @@ 1\n-x0 = 0\n+x0 = 1" in told
    assert "@@ -6,3 +6,3 @@ 2\n" in told
    stand.session.submit(intents.TakeAttempt(1, hunks=(2,)))
    await stand.rests()
    assert stand.text().endswith("x6 = 0\nx7 = 1\n")
    assert stand.text().startswith("x0 = 0\n")
    assert len(stand.session.workspace.hunks) == 1


@pytest.mark.parametrize(
    ("when", "verdict"), [("ask", ""), ("landed", "failed"), ("live", "failed")]
)
async def test_what_is_taken_is_judged_unasked_where_that_is_wanted_of_what_lands(
    when: VerifyWhen, verdict: str
) -> None:
    stand = Stand(options=SessionOptions(conversation="c", verify=when))
    await stand.asks("2 make it one")
    await stand.answers(1, change(4))
    await stand.answers(2)
    await stand.rests()
    stand.session.submit(intents.TakeAttempt(1))
    await stand.rests()
    assert stand.text().startswith("x0 = 0\n")
    assert stand.session.status.verdict == verdict


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (intents.TakeAttempt(9), "attempt 9"),
        (intents.TakeAttempt(1), "attempt 1"),
        (intents.TakeAttempt(2, "z.py"), "did not change z.py"),
        (intents.TakeAttempt(2, hunks=(1, 7)), "has no hunk 7"),
    ],
)
async def test_what_cannot_be_taken_is_said(wanted: intents.TakeAttempt, said: str) -> None:
    stand = Stand()
    await stand.asks("2 --all make it one")
    await stand.answers(1)
    await stand.answers(2, change(4))
    await stand.rests()
    stand.session.drain()
    stand.session.submit(wanted)
    (trouble,) = stand.session.drain().troubles
    assert said in trouble.what


async def test_changes_of_tests_do_not_count() -> None:
    def failing(files: Files) -> list[str]:
        return [] if b"t = 1" in (files["test_a.py"] or b"") else wrong(files)

    stand = Stand(failing)
    await stand.asks("2 --all make it one")
    await stand.answers(1, update("test_a.py", "-t = 0\n+t = 1\n"))
    await stand.answers(2, change(0))
    await stand.rests()
    assert stand.order() == [
        (2, "passes"),
        (
            1,
            "breaks nothing, mends nothing: 1 test fails as before,"
            " without its changes of test_a.py",
        ),
    ]


async def test_tests_that_do_not_run_any_more_break_it() -> None:
    stand = Stand()
    stand.judge.skipped = lambda files: 3 if has(files, 2) else 0
    await stand.asks("2 --all make it one")
    await stand.answers(1, change(0), change(2))
    await stand.answers(2, change(0))
    await stand.rests()
    assert stand.order() == [(2, "passes"), (1, "breaks 3 tests: skipped")]


async def test_a_model_that_says_nothing_or_cannot_be_reached_is_no_candidate() -> None:
    stand = Stand()
    stand.world._wire("main", "attempt-1").refusals = [EndpointError("no route to host")] * 9
    await stand.asks("3 --all make it one")
    model = await stand.model(2)
    model.complete()
    await stand.answers(3, change(0))
    for _ in range(40):
        stand.world.clock.advance(60)
        await settle()
    await stand.rests()
    assert stand.order()[0] == (3, "passes")
    told = dict(stand.order())
    assert told[2] == "the model answered nothing"
    assert "no route to host" in told[1]


async def test_esc_ends_all_and_nothing_comes_home() -> None:
    stand = Stand()
    await stand.asks("3 make it one")
    await stand.answers(1, change(4))
    await stand.until(lambda: stand.attempts.rows[0].result is not None)
    model = await stand.model(2)
    stand.session.submit(intents.StopCommand())
    assert model.wire.interrupts == 1, "at once"
    await stand.rests()
    assert stand.order() == [
        (1, "breaks test_fifth and test_first still fails"),
        (2, "stopped"),
        (3, "stopped"),
    ]
    assert not stand.session.workspace.hunks
    assert stand.attempts.tally.at(3) == (0.0, 0), "what they would have come to is not known"


async def test_what_passed_before_esc_waits_to_be_taken() -> None:
    stand = Stand()
    await stand.asks("2 --all make it one")
    await stand.answers(1, change(0))
    await stand.until(lambda: stand.attempts.rows[0].result is not None)
    stand.session.submit(intents.StopCommand())
    await stand.rests()
    assert not stand.session.workspace.hunks, "nothing follows by itself"
    assert "attempt 1 wins: /attempts take 1" in stand.said()
    stand.session.submit(intents.TakeAttempt(1))
    await stand.rests()
    assert stand.text().startswith("x0 = 1\n")


async def test_while_others_run_nothing_is_said_of_those_before_them() -> None:
    stand = Stand()
    await stand.asks("2 make it one")
    await stand.answers(1, change(0))
    await stand.rests()
    await stand.asks("2 make it two")
    assert stand.attempts.words().splitlines()[0] == "2 attempts: make it two"
    stand.session.submit(intents.StopCommand())
    await stand.rests()
    wanted = read_plan("2 make it three")
    assert isinstance(wanted, AttemptPlan)
    stand.session.submit(intents.MakeAttempts(wanted))
    stand.session.submit(intents.StopCommand())
    await stand.rests()
    assert stand.attempts.words() == "stopped before one began: make it three"
    assert notes(stand.world)[-1] == stand.attempts.words()


async def test_one_is_stopped_and_the_others_go_on() -> None:
    stand = Stand()
    await stand.asks("2 make it one")
    stand.session.submit(intents.StopAttempts(1))
    await stand.answers(2, change(0))
    await stand.rests()
    assert stand.order() == [(2, "passes"), (1, "stopped")]


async def test_no_more_at_once_than_the_server_lets_ask() -> None:
    stand = Stand()
    stand.session.status.limits = (Limit("requests", 2.0, 100.0),)
    await stand.asks("3 make it one")
    first = stand.world.wires["main attempt-1"]
    assert "main attempt-3" not in stand.world.wires
    said = "2 at once: the server's rate limit leaves 2 more requests now"
    assert said in notes(stand.world)
    await stand.answers(1)
    await settle()
    third = stand.world.wires["main attempt-1"]
    assert third is not first, "a name that is free is used again"
    assert third.requests
    stand.session.submit(intents.StopAttempts())
    await stand.rests()


async def test_the_failure_of_the_last_verdict_is_what_is_tried() -> None:
    stand = Stand()
    stand.session.submit(intents.OpenFile("a.py"))
    stand.session.submit(intents.Verify())
    await stand.rests()
    await stand.asks("2")
    request = stand.world.wires["main attempt-1"].requests[0]
    assert "`pytest -q` failed (exit 1): 1 test" in texts(request)[-1]
    await stand.answers(1, change(0))
    await stand.rests()
    assert "2 attempts: Fix the failed test of pytest -q · attempt 1 wins" in stand.said()


async def test_the_failure_of_other_texts_is_not_tried() -> None:
    stand = Stand()
    stand.session.submit(intents.OpenFile("a.py"))
    stand.session.submit(intents.Verify())
    await stand.rests()
    stand.session.workspace.edit("a.py", (0, 0), (0, 2), "y0")
    stand.session.drain()
    await stand.asks("2")
    said = [trouble.what for trouble in stand.session.drain().troubles]
    assert said == ["The verdict is out of date"]
    assert not stand.attempts.active


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("2", "Nothing to try"),
        ("2 --models nobody x", "No attempt began"),
    ],
)
async def test_what_cannot_begin_is_said(words: str, said: str) -> None:
    stand = Stand()
    await stand.asks(words)
    await stand.rests()
    assert said in [trouble.what for trouble in stand.session.drain().troubles]
    assert not any("attempt" in name for name in stand.world.wires)


async def test_plan_mode_asks_for_no_attempts() -> None:
    stand = Stand()
    stand.session.submit(intents.SetMode("plan"))
    await stand.asks("2 make it one")
    said = [trouble.what for trouble in stand.session.drain().troubles]
    assert "Nothing is changed in plan mode" in said
    assert not stand.attempts.active


async def test_a_second_run_waits_for_the_user_to_end_the_first() -> None:
    stand = Stand()
    await stand.asks("2 make it one")
    await stand.asks("2 make it two")
    assert "Attempts are running" in [one.what for one in stand.session.drain().troubles]
    stand.session.submit(intents.StopAttempts())
    await stand.rests()
    assert stand.attempts.asked == "make it one"


async def test_models_are_taken_in_turn() -> None:
    stand = Stand()
    await stand.asks("3 --models fast,deep make it one")
    asked = [stand.world.wires[f"main attempt-{n}"].requests[0]["model"] for n in (1, 2, 3)]
    assert asked == ["quick-1", "slow-1", "quick-1"]
    stand.session.submit(intents.StopAttempts())
    await stand.rests()


async def test_what_comes_home_waits_for_the_answer_that_streams() -> None:
    stand = Stand()
    await stand.asks("2 make it one")
    stand.session.submit(intents.Prompt("and now?"))
    await stand.world.wire.request(1)
    model = SteppedRehearsal(stand.world.wire)
    model.begin()
    await stand.answers(1, change(0))
    await settle()
    assert not stand.session.workspace.hunks
    model.finishes("Well.")
    await stand.rests()
    (hunk,) = stand.session.workspace.hunks
    assert hunk.turn == 2
    shown = [b.title for b in stand.session.transcript.blocks if b.kind is BlockKind.USER]
    assert shown == ["", "attempt 1 of 2: make it one"]


async def test_a_failed_request_is_said() -> None:
    stand = Stand()
    await stand.asks("2 --all make it one")
    model = await stand.model(1)
    model.wire.give(events.ErrorEvent(400, "invalid_prompt", "this prompt is refused"))
    await stand.answers(2, change(0))
    await stand.rests()
    assert "this prompt is refused" in dict(stand.order())[1]


async def risen() -> Stand:
    """A fix whose one try was in vain, with its attempts begun."""
    rules = FixRules("auto", tries=1, escalate=("attempts", "deep"))
    stand = Stand(options=SessionOptions(fix=rules))
    stand.session.submit(intents.OpenFile("a.py"))
    stand.session.submit(intents.Verify())
    await stand.world.wire.request(1)
    SteppedRehearsal(stand.world.wire).answers("I do not know.")
    await stand.until(lambda: "main attempt-5" in stand.world.wires)
    return stand


async def test_a_fix_in_vain_rises_to_attempts_and_the_green_one_ends_it() -> None:
    stand = await risen()
    assert "1 try in vain; next: 5 attempts" in notes(stand.world)
    await stand.answers(2, change(0))
    await stand.rests()
    assert "fixed by attempt 2" in notes(stand.world)
    assert stand.session.status.verdict == "passed", "the screen with its change was judged"
    assert stand.session.status.role == "fast"


async def test_where_no_attempt_passes_the_fix_rises_on() -> None:
    stand = await risen()
    for number in range(1, 6):
        await stand.answers(number)
    await stand.until(lambda: stand.session.status.role == "deep")
    assert "no attempt passes; next: the deep model, slow-1" in notes(stand.world)


async def test_esc_ends_a_fix_that_rose_to_attempts() -> None:
    stand = await risen()
    stand.session.submit(intents.StopCommand())
    await stand.rests()
    assert stand.session.status.role == "fast"
    assert not any("next: the deep" in note for note in notes(stand.world))


async def test_a_budget_that_is_too_small_ends_all_with_one_reason() -> None:
    stand = Stand(options=SessionOptions(caps=Caps(session=0.001)))

    async def quote(endpoint: str, models: Sequence[str], usage: Usage, tier: str) -> Quote:
        return Quote(usage.input_tokens * 0.01 + usage.output_tokens * 0.01)

    stand.world.ports.quote = quote
    await stand.asks("3 make it one")
    await stand.rests()
    assert not any(wire.requests for wire in stand.world.wires.values())
    said = [words for _, words in stand.order()]
    assert len(said) == 3
    assert all("The request was not sent" in words for words in said)
    assert not any("attempts begin" in words for words in notes(stand.world))
    assert not stand.session.workspace.hunks


async def test_an_answer_without_end_is_no_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    deadlines, timeout = list[asyncio.Timeout](), asyncio.timeout

    def noted(seconds: float) -> asyncio.Timeout:
        made = timeout(seconds)
        deadlines.extend([made] * (seconds == attempts.DEADLINE_S))
        return made

    monkeypatch.setattr(asyncio, "timeout", noted)
    stand = Stand()
    await stand.asks("2 make it one")
    for number in (1, 2):
        model = await stand.model(number)
        model.say(model.open_text(), "and then ")
    for deadline in deadlines:
        deadline.reschedule(0.0)
    await stand.rests()
    assert stand.order() == [(n, "no end of the answer in 900 s") for n in (1, 2)]
    assert all(stand.world.wires[f"main attempt-{n}"].interrupts for n in (1, 2))


async def test_a_full_disk_judges_nothing_and_the_change_can_be_taken() -> None:
    stand = Stand()
    await stand.asks("2 --all make it one")
    stand.world.shadows.refusal = "there is no room for a copy"
    await stand.answers(1, change(0))
    await stand.answers(2)
    await stand.rests()
    assert stand.order()[0] == (1, "could not be judged (there is no room for a copy)")
    assert not stand.session.workspace.hunks
    assert "wins" not in stand.said()
    stand.session.submit(intents.TakeAttempt(1))
    await stand.rests()
    assert stand.text().startswith("x0 = 1\n")


async def test_what_the_user_decides_meanwhile_stays() -> None:
    stand = Stand()
    land(stand.world, change(6))
    await stand.asks("2 make it one")
    stand.session.submit(intents.Reject())
    await stand.answers(1, change(0))
    await stand.until(lambda: stand.session.at_rest)
    assert stand.text().startswith("x0 = 1\n")
    assert "x6 = 0\n" in stand.text(), "rejected while the attempt still had it"


async def test_the_end_of_the_session_ends_all_of_them() -> None:
    stand = Stand()
    await stand.asks("3 make it one")
    model = await stand.model(1)
    model.say(model.open_text(), "Well")
    await stand.session.close()
    await settle()
    lanes = [wire for name, wire in stand.world.wires.items() if "attempt" in name]
    assert len(lanes) == 3
    assert all(wire.state == "closed" for wire in lanes)
    assert all(shadow.closed for shadow in stand.world.shadows.made)
    assert stand.world.files.data == stand.before


async def test_commands_that_may_not_run_are_named() -> None:
    stand = Stand()
    await stand.asks("2 --all make it one")
    model = await stand.model(1)
    model.call("exec_command", {"cmd": "make install"}, "c1")
    model.complete()
    await model.wire.request(2)
    assert "declined" in outputs(model.wire.requests[1])["c1"]
    model.begin()
    model.patch(change(0), "c2")
    model.complete()
    await model.wire.request(3)
    model.answers("Done.")
    await stand.answers(2)
    await stand.rests()
    assert stand.attempts.rows[0].denied == ("make install",)
    assert "1 command not allowed" in stand.said()


def priced(stand: Stand, usd: float | None) -> None:
    """US dollars a token; None: the price is not known."""

    async def quote(endpoint: str, models: Sequence[str], usage: Usage, tier: str) -> Quote:
        tokens = usage.input_tokens + usage.output_tokens
        return Quote(None if usd is None else tokens * usd, unknown=usd is None)

    stand.world.ports.quote = quote


async def test_no_more_are_asked_at_once_than_the_limit_of_money_pays() -> None:
    stand = Stand()
    priced(stand, 0.01)
    stand.session.submit(intents.SetBudget("session", 1e6))
    await stand.asks("2 make it one")
    await stand.until(lambda: len(stand.session.lanes.open) == 2)
    least = stand.session.lanes.open[0].session.services.budget().least_usd
    assert least
    stand.session.submit(intents.StopAttempts())
    await stand.rests()

    stand = Stand(options=SessionOptions(caps=Caps(session=2.5 * least)))
    priced(stand, 0.01)
    await stand.asks("5 make it one")
    await stand.until(lambda: sum(row.state == "over" for row in stand.attempts.rows) == 3)
    asked = [name for name, wire in stand.world.wires.items() if wire.requests]
    assert asked == ["main attempt-1", "main attempt-2"]
    await stand.answers(1, change(4))
    await stand.answers(2, change(0))
    await stand.rests()
    assert stand.order()[0] == (2, "passes"), "what was paid for goes on"
    assert all("The request was not sent" in words for _, words in stand.order()[2:])


async def test_a_price_that_nobody_knows_is_no_price() -> None:
    stand = Stand()
    priced(stand, None)
    await stand.asks("2 make it one")
    model = await stand.model(1)
    model.complete(output_tokens=9)
    await stand.answers(2, change(0))
    await stand.rests()
    cost = stand.session.meter.view(stand.world.clock.now()).cost
    assert cost.session_usd is None


async def test_esc_stops_them_behind_a_run_of_the_tests_that_ended_meanwhile() -> None:
    stand = Stand()
    await stand.asks("2 make it one")
    await stand.until(lambda: len(stand.session.lanes.open) == 2)
    stand.session.submit(intents.Verify())
    await stand.until(lambda: stand.session.status.verdict == "failed")
    await settle()
    assert stand.session.status.running == "attempts · 0 of 2"
    stand.session.submit(intents.StopCommand())
    await stand.rests()
    assert stand.session.status.running == ""


async def test_what_cannot_be_stopped_is_said() -> None:
    stand = Stand()
    stand.session.submit(intents.StopAttempts())
    await stand.asks("2 make it one")
    await stand.until(lambda: len(stand.attempts.rows) == 2)
    stand.session.submit(intents.StopAttempts(99))
    said = [trouble.what for trouble in stand.session.drain().troubles]
    assert said == ["No attempts run", "There is no attempt 99"]
    stand.session.submit(intents.StopAttempts())
    await stand.rests()


class Workers(FakeShadows):
    """Other machines, on which commands end with an error, if there is one."""

    def __init__(self, judge: Judge) -> None:
        super().__init__()
        self.judge = judge
        self.asked = 0
        self.error = ""

    async def make(self, texts: Mapping[str, bytes | None]) -> FakeShadow:
        self.asked += 1
        await asyncio.sleep(0)
        shadow = await super().make(texts)
        self.judge.errors[id(shadow)] = self.error
        return shadow


def with_workers() -> tuple[Stand, Workers]:
    stand = Stand()
    workers = Workers(stand.judge)
    stand.world.ports.workers = lambda: workers
    return stand, workers


async def makes_two(stand: Stand) -> None:
    await stand.asks("2 --all make it one")
    await stand.answers(1, change(0))
    await stand.answers(2, change(4))
    await stand.rests()


async def test_a_cluster_that_is_not_there_is_no_reason_not_to_judge() -> None:
    stand, workers = with_workers()
    workers.refusal = "no Dask scheduler answers at tcp://10.0.0.5:8786"
    await makes_two(stand)
    assert stand.order()[0] == (1, "passes")
    said = f"Judged on this machine, not on the cluster: {workers.refusal}"
    assert notes(stand.world).count(said) == 1
    assert workers.asked == 1, "it is not waited for again and again"


async def test_a_cluster_that_goes_on_the_way_leaves_the_rest_to_this_machine() -> None:
    stand, workers = with_workers()
    await stand.asks("2 --all make it one")
    await stand.until(lambda: len(workers.made) == 1)
    workers.error = "on the cluster: no such program: pytest"
    await stand.answers(1, change(0))
    await stand.until(lambda: stand.attempts.rows[0].result is not None)
    workers.refusal = "the scheduler is gone"
    await stand.answers(2, change(4))
    await stand.rests()
    assert stand.order() == [(1, "passes"), (2, "breaks test_fifth and test_first still fails")]
    told = [one for one in notes(stand.world) if one.startswith("Judged on this machine")]
    assert [one.rpartition(": ")[2] for one in told] == ["pytest", "the scheduler is gone"]


async def test_who_wants_no_tests_on_this_machine_gets_none() -> None:
    stand, workers = with_workers()
    workers.refusal = "no Dask scheduler answers"
    stand.world.ports.workers_only = True
    await makes_two(stand)
    assert {words for _, words in stand.order()} == {
        "could not be judged (no Dask scheduler answers)",
        "could not be judged (no Dask scheduler answers), the same size as 1, which came first",
    }
    assert not stand.judge.seen
