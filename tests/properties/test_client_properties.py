"""What holds for a client whatever the server says, in whatever order."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.mischief import FACTS, LANES, STEPS, Play, Step
from tui.core.wire import events
from tui.core.wire.client.lane import LaneState
from tui.core.wire.client.protocol import ClientProtocol

Facts = dict[str, Any]


@given(FACTS, STEPS)
@settings(max_examples=50)
def test_no_order_of_events_raises_or_leaves_a_lane_busy_for_ever(
    facts: Facts, steps: list[Step]
) -> None:
    play = Play(facts)
    for step in steps:
        play.act(step)
    play.finish()
    assert not play.client.busy
    assert play.client.deadline() is None


@given(FACTS, STEPS)
@settings(max_examples=50)
def test_every_text_is_used_or_returned_once_and_sent_at_most_once(
    facts: Facts, steps: list[Step]
) -> None:
    play = Play(facts)
    for step in steps:
        play.act(step)
    play.lose()
    settled = Counter(number for number, fate in play.fates if fate in ("used", "returned"))
    assert settled == Counter(play.numbers)
    texts = [one["input"] for one in play.sent if one["type"] == "response.steer"]
    assert len(texts) == len(set(texts))
    for number in play.numbers:
        *before, last = [fate for one, fate in play.fates if one == number]
        assert last in ("used", "returned")
        # A server may say that a text waits, cut for it all the same, and say it again.
        told = [fate for fate, _ in itertools.groupby(before)]
        assert told in ([], ["accepted"], ["accepted", "pending"])


@given(FACTS, STEPS)
@settings(max_examples=50)
def test_nothing_of_a_response_lands_after_its_interrupt(facts: Facts, steps: list[Step]) -> None:
    play = Play(facts)
    for step in steps:
        shut = {lane for lane in LANES if is_shut(play.client, lane)}
        for event in play.act(step):
            if isinstance(event, events.Delta | events.ItemAdded):
                assert event.stream_id not in shut


def is_shut(client: ClientProtocol, lane: str | None) -> bool:
    """The user does not want to see anything of this lane's response any more."""
    here = client.lane(lane)
    return here.stopping or here.state in (LaneState.INTERRUPTING, LaneState.ABANDONED)


@given(FACTS, STEPS)
@settings(max_examples=50)
def test_what_is_handed_on_makes_whole_responses_lane_by_lane(
    facts: Facts, steps: list[Step]
) -> None:
    """A beginning, output, then one end: with an id that it began with, none, or one never seen."""
    play = Play(facts)
    running: dict[str | None, set[str]] = {}
    over: set[str] = set()
    for step in steps:
        sockets = play.sockets
        for event in play.act(step):
            lane = event.stream_id
            if isinstance(event, events.Created):
                running.setdefault(lane, set()).add(event.response_id)
            elif isinstance(event, events.Completed | events.Incomplete | events.Failed):
                name, began = event.response_id, running.pop(lane, set())
                assert not began or name in {"", *began} or name == "resp_0" not in over
                over.add(name)
            elif isinstance(event, events.ErrorEvent):
                running.pop(lane, None)
            elif isinstance(event, events.ItemDone):
                assert lane in running or lane in early(play.client)
        if play.sockets != sockets:
            running.clear()
            over.clear()


@given(FACTS, STEPS, st.sampled_from([2.5, 40.0]), st.integers(0, 2))
@settings(max_examples=50)
def test_a_late_error_about_a_steer_or_an_interrupt_of_ours_ends_nothing(
    facts: Facts, steps: list[Step], late_s: float, words: int
) -> None:
    play = Play(facts)
    for step in steps:
        play.act(step)
        if not play.controls:
            continue
        play.now += late_s
        play.client.tick(play.now)
        play.collect()
        if any(is_waited_for(play.client, lane) for lane in LANES):
            continue
        sockets, before = play.sockets, states(play.client)
        while play.controls:
            play.complain(words)
        assert play.collect() == []
        assert play.sockets == sockets
        assert states(play.client) == before


def states(client: ClientProtocol) -> list[LaneState]:
    """What the lanes do."""
    return [client.lane(lane).state for lane in LANES]


def is_waited_for(client: ClientProtocol, lane: str | None) -> bool:
    """An answer about this lane would be in time."""
    here = client.lane(lane)
    return here.steers.undecided or (here.stop.unanswered and here.state is LaneState.INTERRUPTING)


def early(client: ClientProtocol) -> set[str | None]:
    """Lanes whose response has not been named, which some servers never do."""
    return {lane for lane in LANES if not client.lane(lane).response_id}


@given(FACTS, STEPS, st.lists(st.integers(0, 5), min_size=70, max_size=70))
@settings(max_examples=30)
def test_unknown_events_between_all_others_change_nothing(
    facts: Facts, steps: list[Step], noise: list[int]
) -> None:
    plain, noisy = Play(facts), Play(facts)
    for step, choice in zip(steps, noise, strict=False):
        if choice < 3:
            noisy.say("response.some_future_event", LANES[choice], x=1)
        elif choice < 5:
            noisy.say("codex.keepalive")
        else:
            noisy.client.receive_text(b"this is not json", noisy.now)
        assert all(isinstance(one, events.Unknown) for one in noisy.client.events_received())
        assert noisy.act(step) == plain.act(step)
    assert noisy.sent == plain.sent
    assert noisy.facts == plain.facts
    for lane in LANES:
        assert noisy.client.lane(lane).state is plain.client.lane(lane).state
