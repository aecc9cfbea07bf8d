"""A race: two sides at one prompt, by the clock; nothing comes home by itself."""

from __future__ import annotations

import pytest

from tests.engine.test_attempts import Stand, change
from tests.support.fakes import settle
from tests.support.turns import notes
from tui.core.attempts import AttemptPlan, read_race
from tui.engine import intents, lane_session
from tui.engine.attempts import race_words
from tui.engine.slash import asked


@pytest.fixture(autouse=True)
def no_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane_session, "FRAME_S", 0.0)
    monkeypatch.setattr(lane_session, "_STOP_S", 0.0)


async def raced(words: str) -> Stand:
    stand = Stand()
    wanted = read_race(words)
    assert isinstance(wanted, AttemptPlan)
    stand.session.submit(intents.MakeAttempts(wanted))
    await settle()
    return stand


async def test_both_run_to_their_end_and_nothing_comes_home() -> None:
    stand = await raced("make it one")
    asked = [stand.world.wires[f"main attempt-{n}"].requests[0]["model"] for n in (1, 2)]
    assert asked == ["quick-1", "slow-1"]
    assert stand.session.status.running == "race · 0 of 2"
    await stand.answers(1, change(0))
    await stand.until(lambda: stand.attempts.rows[0].state == "over")
    assert stand.attempts.active
    await stand.answers(2, change(4))
    await stand.rests()
    assert not stand.session.workspace.hunks
    [said] = [note for note in notes(stand.world) if note.startswith("race: make it one")]
    assert said.splitlines()[1].startswith("1. quick-1: passes · ")
    assert "2. slow-1: breaks test_fifth and test_first still fails" in said
    assert stand.attempts.tally.at(1) == (0.0, 0)


async def test_one_side_or_both_are_kept() -> None:
    stand = await raced("make it one")
    await stand.answers(1, change(0))
    await stand.answers(2, change(0, "2") + change(4))
    await stand.rests()
    stand.session.submit(intents.TakeAttempt(2))
    await stand.rests()
    assert stand.text().startswith("x0 = 2\nx1 = 0\n")
    assert "x4 = 1\n" in stand.text()
    assert [one.home for one in stand.attempts.rows] == ["", "2 hunks in 1 file wait for you"]
    stand.session.submit(intents.TakeAttempt(1))
    await stand.rests()
    assert {hunk.turn for hunk in stand.session.workspace.hunks} == {1, 2}


async def test_the_clocks_are_those_of_the_frames() -> None:
    stand = await raced("make it one")
    clock, model = stand.world.clock, await stand.model(1)
    begun = clock.now()
    clock.advance(0.25)
    key = model.open_text()
    model.say(key, "I see. ")
    model.close_text(key, "I see. ")
    clock.advance(0.5)
    patch, call = change(0), model.open_patch("c1")
    at = patch.index("+")
    model.patch_delta(call, patch[:at])
    clock.advance(0.25)
    model.patch_delta(call, patch[at : at + 8])
    clock.advance(1.0)
    model.patch_delta(call, patch[at + 8 :])
    model.close_patch(call, "c1", patch)
    model.complete()
    await model.wire.request(2)
    model.begin()
    clock.advance(1.0)
    model.finishes("Done.")
    await stand.until(lambda: stand.attempts.rows[0].state == "over")
    view = stand.attempts.views()[0]
    clocks = view.clocks
    assert stand.attempts.rows[0].clocks.asked_s == begun
    assert clocks.ttft_s == 0.25
    assert clocks.hunk_s is not None
    assert 0.75 <= clocks.hunk_s <= 1.0
    assert clocks.last_s == 3.0
    assert clocks.judged_s is not None
    assert clocks.judged_s >= clocks.last_s
    assert "ttft 250 ms" in race_words(view)
    assert "verified " in race_words(view)
    stand.session.submit(intents.StopAttempts())
    await stand.rests()


async def test_efforts_tiers_and_rates_may_differ() -> None:
    stand = await raced("--effort low,high --tier flex,off --throttle off,50 make it one")
    asked = [stand.world.wires[f"main attempt-{n}"].requests[0] for n in (1, 2)]
    assert [one["model"] for one in asked] == ["quick-1", "quick-1"]
    efforts = [one["reasoning"]["effort"] for one in asked]
    assert efforts == ["low", "high"]
    assert [one.get("service_tier") for one in asked] == ["flex", None]
    assert [row.throttle for row in stand.attempts.rows] == [None, 50.0]
    lanes = [row.lane for row in stand.attempts.rows]
    assert [lane and lane.state.status.throttle for lane in lanes] == [None, 50.0]
    stand.session.submit(intents.StopAttempts())
    await stand.rests()


async def test_esc_stops_both() -> None:
    stand = await raced("make it one")
    stand.session.submit(intents.StopAttempts())
    await stand.rests()
    assert [view.words for view in stand.attempts.views()] == ["stopped", "stopped"]


async def test_what_a_side_had_changed_when_it_was_stopped_can_be_taken() -> None:
    stand = await raced("make it one")
    model = await stand.model(1)
    model.patch(change(0), "c1")
    model.complete()
    await model.wire.request(2)
    stand.session.submit(intents.StopAttempts())
    await stand.rests()
    one, other = stand.attempts.views()
    assert (one.words, one.added, one.removed) == ("stopped", 1, 1)
    assert (other.words, other.added, other.removed) == ("stopped", 0, 0)
    stand.session.submit(intents.TakeAttempt(1))
    await stand.rests()
    assert stand.text().startswith("x0 = 1\n")


async def test_what_is_refused_of_a_race_speaks_of_its_sides() -> None:
    stand = await raced("make it one")
    submit = stand.session.submit
    submit(intents.StopAttempts(3))
    submit(intents.TakeAttempt(1))
    submit(intents.MakeAttempts(AttemptPlan(2, "again")))
    await stand.answers(1)
    await stand.answers(2, change(0))
    await stand.rests()
    submit(intents.TakeAttempt(1))
    submit(intents.TakeAttempt(2, "b.py"))
    submit(intents.TakeAttempt(3))
    submit(intents.StopAttempts())
    assert [(one.what, one.why) for one in stand.session.drain().troubles] == [
        ("There is no side 3", "/race show lists them"),
        ("There is nothing to take of side 1", "it still answers"),
        ("A race is running", "wait for its end, or stop it with /race stop"),
        ("There is nothing to take of side 1", "it changed nothing"),
        ("Side 2 did not change b.py", "it changed 1 hunk of a.py"),
        ("There is nothing to take of side 3", "/race show lists them"),
        ("No race runs", "/race show has the last one"),
    ]
    assert stand.attempts.words(only=3) == "There is no side 3."
    for words in ("take", "take 0", "take 2 hunks -1"):
        said = asked("race", words, stand.session.status)
        assert str(said).startswith("Say which: /race show 2, stop 2")
