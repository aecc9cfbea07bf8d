"""Caps of money stop before they are passed: a request is not sent, an answer that streams ends."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.engine.test_model_choice import Catalogue
from tests.engine.test_recording import Memory
from tests.support.fakes import World, settle
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.stored_sessions import stored
from tests.support.turns import begun, notes
from tui.core.price import Price, Quote
from tui.core.wire import events
from tui.core.wire.events import Usage
from tui.effects.store import reading
from tui.engine import intents
from tui.engine.foreground import STAY
from tui.engine.intents import Role
from tui.engine.ports import Caps, SpentToday
from tui.engine.requests import TurnLimits
from tui.engine.resuming import Resumption
from tui.engine.session import SessionOptions
from tui.engine.slash import asked

PRICE = Price(100.0, 1000.0, 10.0)
"""Dear: a token of input is 0.01 cent."""


def spending(
    caps: Caps,
    limits: TurnLimits | None = None,
    price: Price | None = PRICE,
    resumed: Resumption | None = None,
    first_role: Role = "fast",
) -> World:
    options = SessionOptions(conversation="c", caps=caps, limits=limits or TurnLimits(), ask=True)
    options = replace(options, resumed=resumed, first_role=first_role)
    world = World({"a.py": "one\n"}, options=options)

    async def quote(endpoint: str, models: Sequence[str], usage: Usage, tier: str) -> Quote:
        return Quote(None if price is None else price.of(usage), unknown=price is None)

    world.ports.quote = quote
    return world


def troubles(world: World) -> list[str]:
    said = world.session.drain().troubles
    assert all(one.over_budget for one in said if one.severity == "error")
    return [f"{one.what}: {one.why}" for one in said]


async def ended(model: SteppedRehearsal, input_tokens: int, output_tokens: int = 10) -> None:
    model.text("Done.")
    usage = {"input_tokens": input_tokens, "output_tokens": output_tokens}
    model.wire.give(events.Completed({"id": "resp", "model": "quick-1", "usage": usage}))
    await settle()


@pytest.mark.parametrize(
    ("caps", "limits", "span"),
    [
        (Caps(session=0.001), TurnLimits(), "the session"),
        (Caps(day=0.001), TurnLimits(), "the day"),
        (Caps(), TurnLimits(usd=0.001), "the turn"),
    ],
)
async def test_what_costs_more_than_is_left_is_not_sent(
    caps: Caps, limits: TurnLimits, span: str
) -> None:
    world = spending(caps, limits)
    world.session.submit(intents.Prompt("make it safe"))
    await settle()
    assert world.wire.requests == []
    (said,) = troubles(world)
    assert said.startswith("The request was not sent: it costs at least $0.")
    assert said.endswith(f"of the $0.0010 for {span} are left")
    assert world.session.status.unsent == "make it safe"


async def test_an_answer_stops_at_the_cap_while_it_streams() -> None:
    world = spending(Caps(session=1.0))
    model = await begun(world)
    key = model.open_text()
    model.say(key, "word " * 20)
    world.session.drain()
    assert world.session.status.busy
    for _ in range(50):
        model.say(key, "word " * 20)
    world.session.drain()
    assert not world.session.status.busy
    assert world.wire.drops == 1
    assert "word" in world.session.transcript.blocks[-2].text
    assert notes(world)[-1].startswith(
        "The answer was stopped: the $1.00 for the session are spent"
    )


async def test_the_next_request_waits_for_the_price_of_the_last_one() -> None:
    world = spending(Caps(session=3.0))
    await ended(await begun(world), 25_000)
    assert world.session.meter.session_usd == pytest.approx(2.51)
    world.session.submit(intents.Prompt("and now"))
    await settle()
    model = SteppedRehearsal(world.wire)
    model.begin()
    await ended(model, 26_000, 300)
    world.session.submit(intents.Prompt("and again"))
    await settle()
    assert len(world.wire.requests) == 2
    assert troubles(world)[-1].endswith("$0.0000 of the $3.00 for the session are left")


async def test_the_day_counts_what_other_sessions_spent_and_begins_anew_at_midnight() -> None:
    world = spending(Caps(day=5.0))
    spent = SpentToday("1", own_usd=1.0, others_usd=3.999)

    async def today() -> SpentToday:
        return spent

    world.ports.spent_today = today
    world.session.submit(intents.Prompt("make it safe"))
    await settle()
    assert "of the $5.00 for the day are left" in troubles(world)[0]
    spent = SpentToday("2", own_usd=9.0, others_usd=0.5)
    await ended(await begun(world), 1000)
    world.session.submit(asked("budget", "", world.session.status))
    await settle()
    spent_words = "this session: $0.110, no limit; today: $0.610 of $5.00"
    assert notes(world)[-1].startswith(f"{spent_words}; /budget session 2 or /budget day 5 sets")


async def test_what_was_spent_is_told_before_the_session_rests() -> None:
    """So that lines from a file are answered one after the other."""
    world = spending(Caps())
    for usd in (5.0, None):
        world.session.submit(intents.SetBudget("day", usd))
        assert not world.session.at_rest
        await settle()
        assert world.session.at_rest
    assert [words.rpartition("today: ")[2] for words in notes(world)] == [
        "$0.0000 of $5.00",
        "$0.0000, no limit",
    ]


async def test_a_turn_that_was_killed_counts_for_the_day_as_far_as_is_known(tmp_path: Path) -> None:
    world, store = spending(Caps(day=5.0)), Memory()
    world.ports.store = lambda: store
    await world.runs()
    model = await begun(world)
    store.loaded(tmp_path / "asked")
    _, asked_for = reading.spent(tmp_path / "asked", 0, "")
    assert asked_for > 0.01
    count = len(world.wire.requests)
    model.call("read_file", {"path": "a.py"}, "call_1")
    usage = {"input_tokens": 1000, "output_tokens": 10}
    model.wire.give(events.Completed({"id": "resp", "model": "quick-1", "usage": usage}))
    await world.wire.request(count + 1)
    await settle()
    store.loaded(tmp_path / "both")
    _, both = reading.spent(tmp_path / "both", 0, "")
    assert both > 0.11 + 0.005, "the second request is under way"


async def test_a_model_without_a_price_is_asked_and_that_is_said_once() -> None:
    world = spending(Caps(session=1.0), price=None)
    (await begun(world)).answers("Done.")
    await settle()
    assert troubles(world) == ["A limit of money cannot stop quick-1: its price is not known"]


async def test_a_limit_is_raised_and_lifted() -> None:
    world = spending(Caps(session=0.001))
    for words in ("day", "day 0", "week 5", "day five"):
        assert isinstance(asked("budget", words, world.session.status), str)
    lift = asked("budget", "session off", world.session.status)
    assert lift == intents.SetBudget("session", None)
    world.session.submit(lift)
    await begun(world)
    assert len(world.wire.requests) == 1


async def test_a_switch_that_reads_anew_for_more_than_allowed_is_asked_about() -> None:
    world = spending(Caps(switch=0.01))
    await ended(await begun(world, "x" * 4000), 1000)
    world.session.submit(intents.Switch("deep"))
    await settle()
    (ask,) = world.session.status.asks
    assert ask.question.startswith("slow-1 reads the conversation anew, for about $0.0")
    await world.answers(STAY)
    assert world.session.status.role == "fast"
    world.session.submit(intents.Switch("deep"))
    await settle()
    await world.answers("Switch to slow-1")
    assert world.session.status.role == "deep"


async def test_one_switch_is_asked_about_at_a_time_and_the_stream_goes_on_meanwhile() -> None:
    world = spending(Caps(switch=0.01))
    await ended(await begun(world, "x" * 4000), 1000)
    model = await begun(world, "go on")
    for _ in range(2):
        world.session.submit(intents.Switch("deep"))
        await settle()
    assert len(world.session.status.asks) == 1
    world.ports.catalogue = Catalogue
    world.session.submit(intents.UseModel("fast", "main", "other-3"))
    await settle()
    (ask,) = world.session.status.asks
    assert ask.question.startswith("other-3 reads the conversation anew")
    model.text("still the same one")
    assert world.session.status.busy
    await world.answers("Switch to other-3")
    model.interrupted()
    await settle()
    assert world.wire.requests[-1]["model"] == "other-3"  # what streamed is handed over
    assert world.session.status.role == "fast"


async def test_a_switch_is_weighed_by_the_price_of_all_that_is_read() -> None:
    world = spending(Caps(switch=0.5))
    await ended(await begun(world, "x" * 400_000), 100_000)

    async def quote(endpoint: str, models: Sequence[str], usage: Usage, tier: str) -> Quote:
        return Quote(usage.input_tokens * (1e-5 if usage.input_tokens > 50_000 else 1e-6))

    world.ports.quote = quote  # above a limit the whole input costs more
    world.session.submit(intents.Switch("deep"))
    await settle()
    assert len(world.session.status.asks) == 1


async def test_what_is_sent_while_a_switch_is_weighed_waits_for_the_answer() -> None:
    for choice, model in (("Switch to slow-1", "slow-1"), (STAY, "quick-1")):
        world = spending(Caps(switch=0.5))
        await ended(await begun(world, "x" * 400_000), 100_000)
        world.session.submit(intents.Switch("deep"))
        world.session.submit(intents.Prompt("go on"))
        assert world.session.status.queued == ["go on"]
        assert not world.session.at_rest
        await settle()
        assert len(world.wire.requests) == 1
        await world.answers(choice)
        await settle()
        assert [one["model"] for one in world.wire.requests[1:]] == [model]
        assert world.session.status.queued == []


async def test_the_queue_waits_for_the_answer_to_a_switch() -> None:
    world = spending(Caps(switch=0.5))
    model = await begun(world, "x" * 400_000)
    world.session.submit(intents.Queue("and then"))
    world.session.submit(intents.Switch("deep"))
    await settle()
    await ended(model, 100_000)
    assert len(world.wire.requests) == 1
    await world.answers("Switch to slow-1")
    await settle()
    assert world.wire.requests[-1]["model"] == "slow-1"


@pytest.mark.parametrize("sent", [True, False])
async def test_a_session_that_goes_on_with_another_model_is_asked_about(sent: bool) -> None:
    world = spending(Caps(switch=0.5))
    await ended(await begun(world, "x" * 400_000), 100_000)
    goes_on = Resumption(stored(world), lambda sha: None)
    other = spending(Caps(switch=0.5), resumed=goes_on, first_role="deep")
    await other.runs()
    other.session.submit(intents.Prompt("go on"))
    await settle()
    (ask,) = other.session.status.asks
    assert ask.question.startswith("slow-1 reads the conversation anew, for about $8")
    assert not other.wire.requests
    await other.answers("Send it to slow-1" if sent else "Do not send it")
    await settle()
    assert len(other.wire.requests) == sent
    if not sent:
        assert other.session.status.unsent == "go on"
        (trouble,) = other.session.drain().troubles
        assert (trouble.over_budget, trouble.what) == (True, "The prompt was not sent")


async def stopped(world: World, words: int) -> None:
    """The user stops an answer after so many words, of which the server says no price."""
    model = await begun(world)
    key = model.open_text()
    model.say(key, "word " * words)
    world.session.drain()
    world.session.submit(intents.Interrupt())
    model.interrupted()
    await settle()


async def test_what_is_stopped_before_its_price_is_known_is_spent_all_the_same() -> None:
    world = spending(Caps(session=1.0))
    for _ in range(2):
        await stopped(world, 300)
    world.session.submit(asked("budget", "", world.session.status))
    await settle()
    assert notes(world)[-1].startswith("this session: at least $0.9")
    asked_for = len(world.wire.requests)
    world.session.submit(intents.Prompt("and again"))
    await settle()
    assert len(world.wire.requests) == asked_for
    assert troubles(world)[-1].endswith(" of the $1.00 for the session are left")


async def test_what_is_stopped_and_priced_is_counted_once() -> None:
    world = spending(Caps(session=5.0))
    model = await begun(world)
    key = model.open_text()
    model.say(key, "word " * 400)
    world.session.drain()
    world.session.submit(intents.Interrupt())
    usage = {"input_tokens": 1000, "output_tokens": 400}
    said = {"id": "resp", "incomplete_details": {"reason": "interrupted"}, "usage": usage}
    model.wire.give(events.Incomplete(said))
    await settle()
    world.session.submit(asked("budget", "", world.session.status))
    await settle()
    assert notes(world)[-1].startswith("this session: $0.500 of $5.00")


async def test_what_is_left_and_what_it_costs_do_not_look_the_same() -> None:
    world = spending(Caps(session=0.0001))
    world.session.submit(intents.Prompt("make it safe"))
    await settle()
    least = world.session.services.budget().least_usd
    world.session.submit(intents.SetBudget("session", least * 0.99999))
    world.session.submit(intents.Prompt("make it safe"))
    await settle()
    said = troubles(world)[-1]
    costs, left, _ = re.findall(r"\$([\d.]+)", said)
    assert float(costs) > float(left), said
