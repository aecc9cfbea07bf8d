"""The foreground turn, stepped event by event: interrupt, redirect, queue, switch."""

from __future__ import annotations

from functools import partial

from tests.support.effort import lines_run
from tests.support.fakes import World, settle
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.tables import each
from tests.support.turns import CACHE, PATCH, begun, notes, outputs, texts
from tui.core.conversation import BlockKind
from tui.core.wire import events
from tui.engine import intents
from tui.engine.foreground import MOST_PROMPT
from tui.engine.ports import RoleSpec
from tui.errors import EndpointError, KeyRefused


async def test_a_model_that_is_gone_is_said_once_and_is_no_error() -> None:
    words = "old-1 is not served any more: use new-1"
    world = World(roles={"fast": RoleSpec("fast", "old-1", "main", outdated=words)})
    for number in range(2):
        model = await begun(world, f"hello {number}")
        model.complete()
        told = world.session.drain().troubles
        assert [(one.what, one.severity) for one in told] == [(words, "information")][number:]


async def test_esc_freezes_before_anything_else() -> None:
    world = World({"cache.py": CACHE})
    model = await begun(world)
    key = model.open_patch("call_1")
    cut = PATCH.index("         return")
    model.patch_delta(key, PATCH[:cut])
    world.session.submit(intents.Interrupt())
    frozen = world.session.workspace.buffers["cache.py"].text()
    assert world.wire.interrupts == 1
    assert world.session.status.stopped.startswith("stopped after ~")
    assert any(note.startswith("stopped after") for note in notes(world))
    model.patch_delta(key, PATCH[cut:])
    world.session.drain()
    assert world.session.workspace.buffers["cache.py"].text() == frozen
    model.interrupted(31)
    assert not world.session.status.busy
    assert world.session.status.outcome == "interrupted"
    assert "31 tokens" in world.session.status.stopped


@each("error", [EndpointError("nothing listening"), KeyRefused("bad key")])
async def test_an_unreachable_endpoint_gives_the_prompt_back(error: EndpointError) -> None:
    world = World()
    world.wire.refusals = [error]
    world.session.submit(intents.Prompt("hello"))
    await settle()
    await settle()
    status = world.session.status
    assert not status.busy
    assert status.unsent == "hello"
    assert world.session.drain().troubles[0].unreachable


async def test_switching_mid_stream_hands_the_instruction_over() -> None:
    world = World(
        roles={
            "fast": RoleSpec("fast", "quick-1", "main"),
            "deep": RoleSpec("deep", "slow-1", "other"),
        }
    )
    model = await begun(world, "sort it")
    model.reason("secret thoughts")
    key = model.open_text()
    model.say(key, "I would")
    world.session.submit(intents.Switch("deep"))
    assert world.session.status.role == "deep"
    assert world.wire.interrupts == 1
    stop, switch = notes(world)
    assert stop.startswith("stopped after ~6 tokens")
    assert switch == "switched to deep: slow-1"
    model.interrupted()
    other = world.wires["other"]
    request = await other.request(1)
    assert request["model"] == "slow-1"
    assert "previous_response_id" not in request
    assert texts(request)[-1] == "sort it"
    assert "reasoning" not in [item["type"] for item in request["input"]]
    users = [b for b in world.session.transcript.blocks if b.kind is BlockKind.USER]
    assert len(users) == 1
    SteppedRehearsal(other).answers("I would sort it by name.")
    assert blocks(world)[-1] == (
        "pace",
        "fast 0.0 s, ~6 tokens · deep 0.0 s, ~6 tokens · at 50 tok/s 0.1 s",
    )


async def test_what_nobody_has_begun_to_answer_is_handed_over_as_it_is(world: World) -> None:
    model = await begun(world, "sort it")
    world.session.submit(intents.Steer("by name"))
    world.wire.news("accepted")
    model.complete()
    world.wire.give(events.Created({"id": "resp_2"}))
    world.wire.news("used")
    world.session.submit(intents.Switch("deep"))
    model.interrupted()
    request = await world.wire.request(2)
    assert texts(request)[-1] == "sort it\n\nby name"
    assert len([text for text in texts(request) if "sort it" in text]) == 1


async def test_esc_before_anything_was_sent_gives_the_prompt_back(world: World) -> None:
    world.session.submit(intents.Prompt("hello"))
    world.session.submit(intents.Interrupt())
    assert not world.session.status.busy
    assert world.session.status.unsent == "hello"
    assert world.session.transcript.blocks[-1].text == "the model did not get this prompt"
    await settle()
    assert world.wire.requests == []


async def test_a_new_conversation_forgets(world: World) -> None:
    model = await begun(world, "one")
    model.text("first")
    world.session.submit(intents.NewConversation())
    model.interrupted()
    world.session.submit(intents.Prompt("two"))
    request = await world.wire.request(2)
    assert texts(request) == ["two"]
    assert "previous_response_id" not in request


async def test_a_role_without_a_model_is_explained() -> None:
    world = World(roles={"deep": RoleSpec("deep", "slow-1", "main")})
    assert world.session.status.role == "deep"
    world.session.submit(intents.Switch("fast"))
    assert "No fast model" in world.session.drain().troubles[0].what


async def test_esc_costs_the_same_however_many_hunks_the_patch_has() -> None:
    cost = []
    for count in (20, 1000):
        world = World({"a.txt": "".join(f"{number}\n" for number in range(2 * count))})
        model = await begun(world)
        key = model.open_patch("call_1")
        model.patch_delta(key, "*** Begin Patch\n*** Update File: a.txt\n")
        for number in range(0, 2 * count, 2):
            model.patch_delta(key, f"@@\n-{number}\n+new {number}\n")
        model.patch_delta(key, "@@\n-1")
        cost.append(lines_run(partial(world.session.submit, intents.Interrupt())))
        assert world.wire.interrupts == 1
        assert len(world.session.workspace.hunks) == count, "the one that was cut is no hunk"
    assert cost[1] < cost[0] + 200, cost


def blocks(world: World) -> list[tuple[str, str]]:
    """Kind and text of all blocks."""
    return [(b.kind.value, b.text) for b in world.session.transcript.blocks]


def said(world: World) -> list[str]:
    """The user's messages on the screen."""
    return [b.text for b in world.session.transcript.blocks if b.kind is BlockKind.USER]


async def test_a_steered_answer_goes_on_and_the_text_stands_where_it_was_used(world: World) -> None:
    model = await begun(world, "write it")
    model.text("First part.")
    world.session.submit(intents.Steer("keep it small"))
    status = world.session.status
    assert world.wire.steers == ["keep it small"]
    assert world.wire.interrupts == 0
    assert (status.steering, status.steering_fates) == (["keep it small"], ["sent"])
    world.wire.news("accepted")
    assert status.steering_fates == ["accepted"]
    assert said(world) == ["write it"]
    model.cut_short("steered")
    assert status.busy
    world.wire.news("used")
    assert status.steering == []
    model.answers("Small part.")
    assert status.outcome == "completed"
    assert blocks(world) == [
        ("user", "write it"),
        ("text", "First part."),
        ("user", "keep it small"),
        ("text", "Small part."),
        ("pace", "0.0 s, ~6 tokens · at 50 tok/s 0.1 s"),
    ]
    assert len(world.wire.requests) == 1


async def test_a_successor_may_come_in_one_burst_with_its_own_end(world: World) -> None:
    """What arrives in one read is handed on after all of it was taken in: nothing is busy then."""
    model = await begun(world, "write it")
    world.session.submit(intents.Steer("keep it small"))
    with world.wire.burst():
        model.finishes("One.")
        world.wire.news("used")
        model.answers("Two.")
    assert [text for kind, text in blocks(world) if kind == "text"] == ["One.", "Two."]
    assert world.session.status.outcome == "completed"
    assert len(world.wire.requests) == 1


async def test_a_text_that_comes_back_after_the_end_is_sent_then(world: World) -> None:
    model = await begun(world, "write it")
    world.session.submit(intents.Steer("keep it small"))
    model.finishes("Done.")
    assert world.session.status.busy
    await settle()
    assert len(world.wire.requests) == 1
    world.wire.news("returned", why="the server was silent")
    assert texts(await world.wire.request(2)) == ["keep it small"]


async def test_several_texts_that_come_back_go_together_in_their_order(world: World) -> None:
    model = await begun(world, "write it")
    for text in ("one", "two", "three"):
        world.session.submit(intents.Steer(text))
    world.wire.news("accepted", 2)
    assert world.session.status.steering_fates == ["sent", "accepted", "sent"]
    model.finishes("Done.")
    world.wire.news("used", 2)
    model.begin()
    world.wire.news("returned", 1)
    world.wire.news("returned", 3)
    model.finishes("Two it is.")
    assert texts(await world.wire.request(2)) == ["one\n\nthree"]


async def test_with_calls_the_text_waits_for_their_answers() -> None:
    world = World({"a.py": "one\n"})
    model = await begun(world, "read it")
    world.session.submit(intents.Steer("only the head"))
    world.wire.news("accepted")
    model.call("read_file", {"path": "a.py"}, "call_a")
    model.complete()
    world.wire.news("pending")
    assert world.session.status.steering_fates == ["pending"]
    request = await world.wire.request(2)
    assert "one" in outputs(request)["call_a"]
    assert texts(request) == []
    assert request["previous_response_id"] == "resp_1"
    world.wire.news("used")
    model.answers("It says one.")
    assert said(world) == ["read it", "only the head"]
    assert world.session.status.outcome == "completed"
    world.session.submit(intents.Prompt("next"))
    assert texts(await world.wire.request(3)) == ["next"]


async def test_a_request_that_says_all_takes_the_texts_along() -> None:
    """The server would use them only for a continuation of what it knows."""
    spec = RoleSpec("fast", "quick-1", "main", chaining=False)
    world = World({"a.py": "one\n"}, roles={"fast": spec})
    model = await begun(world, "read it")
    world.session.submit(intents.Steer("only the head"))
    world.wire.news("accepted")
    model.call("read_file", {"path": "a.py"}, "call_a")
    model.complete()
    request = await world.wire.request(2)
    assert texts(request) == ["read it", "only the head"]
    assert request["input"][-2]["type"] == "function_call_output"
    world.wire.news("returned")
    model.answers("one")
    await settle()
    assert said(world) == ["read it", "only the head"]
    assert len(world.wire.requests) == 2


async def test_it_does_not_matter_whether_the_news_comes_after_the_loss(world: World) -> None:
    await begun(world, "write it")
    world.session.submit(intents.Steer("keep it small"))
    world.wire.lose()
    world.wire.give(events.SteerNews(1, "returned", "keep it small", "the connection broke"))
    assert texts(await world.wire.request(2)) == ["write it", "keep it small"]
    assert world.session.status.queued == []


async def test_a_loss_while_a_successor_is_owed_makes_it_a_turn_of_its_own(world: World) -> None:
    model = await begun(world, "write it")
    world.session.submit(intents.Steer("keep it small"))
    world.wire.news("accepted")
    model.finishes("All of it.")
    world.wire.lose()
    request = await world.wire.request(2)
    assert texts(request) == ["write it", "keep it small"]
    assert request["input"][1]["role"] == "assistant"
    assert said(world) == ["write it", "keep it small"]


async def test_cut_for_a_text_that_comes_back_all_the_same_goes_on_with_it(world: World) -> None:
    model = await begun(world, "write it")
    world.session.submit(intents.Steer("keep it small"))
    model.text("A part.")
    model.cut_short("steered")
    world.wire.news("returned", why="successor_creation_failed")
    request = await world.wire.request(2)
    assert request["previous_response_id"] == "resp_1"
    assert texts(request) == ["keep it small"]
    assert notes(world) == []


async def test_esc_takes_the_texts_back_into_the_queue(world: World) -> None:
    model = await begun(world, "write it")
    world.session.submit(intents.Queue("later"))
    world.session.submit(intents.Steer("keep it small"))
    world.wire.news("accepted")
    world.session.submit(intents.Interrupt())
    model.interrupted()
    world.wire.give(events.SteerNews(1, "returned", "keep it small", "interrupted"))
    await settle()
    status = world.session.status
    assert (status.steering, status.queued) == ([], ["keep it small", "later"])
    assert not status.busy
    assert len(world.wire.requests) == 1


async def test_esc_while_a_successor_is_owed_stops_it_too(world: World) -> None:
    model = await begun(world, "write it")
    world.session.submit(intents.Steer("keep it small"))
    model.finishes("All.")
    world.session.submit(intents.Interrupt())
    assert world.wire.interrupts == 1
    assert world.session.status.stopping
    world.wire.news("used")
    model.begin()
    model.say(model.open_text(), "never seen")
    model.interrupted()
    assert not world.session.status.busy
    assert said(world) == ["write it", "keep it small"]
    assert "never seen" not in str(blocks(world))


async def test_a_redirect_says_what_was_steered_first(world: World) -> None:
    model = await begun(world, "write it")
    world.session.submit(intents.Steer("keep it small"))
    world.session.submit(intents.Prompt("no, as a class"))
    model.interrupted()
    request = await world.wire.request(2)
    assert texts(request)[-1] == "keep it small\n\nno, as a class"
    assert world.session.status.queued == []


async def test_what_nobody_answered_comes_back_whole(world: World) -> None:
    await begun(world, "write it")
    world.session.submit(intents.Steer("keep it small"))
    world.wire.lose()
    await world.wire.request(2)
    world.wire.give(events.ErrorEvent(400, "invalid_prompt", "no"))
    assert world.session.status.unsent == "write it\n\nkeep it small"
    world.session.submit(intents.Prompt("once more"))
    assert texts(await world.wire.request(3)) == ["once more"]


async def test_the_label_follows_what_runs(world: World) -> None:
    assert world.session.alt_label() == "queue"
    model = await begun(world, "write it")
    assert world.session.alt_label() == "steer"
    world.session.submit(intents.Interrupt())
    assert world.session.alt_label() == "queue"
    model.interrupted()
    assert world.session.alt_label() == "queue"


async def test_a_text_given_while_it_dials_goes_along(world: World) -> None:
    world.session.submit(intents.Prompt("hello"))
    world.session.submit(intents.Steer("be brief"))
    assert texts(await world.wire.request(1)) == ["hello", "be brief"]
    assert said(world) == ["hello", "be brief"]


async def test_a_prompt_that_is_too_long_to_be_sent_comes_back() -> None:
    text = "x" * (MOST_PROMPT + 1)
    for asked in (intents.Prompt(text), intents.Queue(text), intents.Steer(text)):
        world = World()
        world.session.submit(asked)
        await settle()
        assert (world.wire.requests, world.session.last_turn) == ([], 0)
        assert (world.session.status.unsent, world.session.status.queued) == (text, [])
        (trouble,) = world.session.drain().troubles
        assert trouble.why == "it has 4,194,305 characters, and at most 4,194,304 are sent"
