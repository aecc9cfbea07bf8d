from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.bridge.rehearsal.beats import Call, Reason, Say, function_call
from tui.bridge.rehearsal.player import MOST_LAG_S, Pace, Player


class Record:
    """A sink that keeps all it was told."""

    def __init__(self) -> None:
        self.items: list[dict[str, str]] = []
        self.deltas: list[tuple[int, str]] = []
        self.ended: list[int] = []

    def item_added(self, item: dict[str, str]) -> int:
        self.items.append(item)
        return len(self.items) - 1

    def delta(self, index: int, text: str) -> None:
        self.deltas.append((index, text))

    def item_done(self, index: int) -> None:
        self.ended.append(index)

    def text(self, index: int) -> str:
        return "".join(text for at, text in self.deltas if at == index)


def play_out(player: Player, sink: Record) -> float:
    """Play every token at its very deadline; returns the time of the last one."""
    now = 0.0
    while not player.done:
        now = player.due_s()
        player.play(sink, now)
    return now


BEATS = [
    Reason("Think first. " * 5),
    Say("Then talk. " * 9),
    Call("apply_patch", "*** x\n" * 7, True),
]


@given(st.floats(1, 20_000), st.integers(0, 50), st.lists(st.floats(0, 0.2), max_size=40))
def test_any_timer_gives_the_same_text(tokens_s: float, seed: int, steps: list[float]) -> None:
    player, sink, now = Player(BEATS, Pace(tokens_s, 0.1), seed=seed, now=5.0), Record(), 5.0
    for step in steps:
        now += step
        player.play(sink, now)
    while not player.done:
        now = max(now, player.due_s())
        player.play(sink, now)
    assert [sink.text(index) for index in range(3)] == [beat.text for beat in BEATS]
    assert sink.ended == [0, 1, 2]
    assert [item["type"] for item in sink.items] == ["reasoning", "message", "custom_tool_call"]


@pytest.mark.parametrize("tokens_s", [1, 50, 1000, 20_000])
def test_the_rate_is_exact_however_the_timer_lags(tokens_s: float) -> None:
    one_by_one = Player([Say("x" * 4000)], Pace(tokens_s, 2.0), seed=1, now=10.0)
    last_s = play_out(one_by_one, Record())
    assert one_by_one.output_tokens == pytest.approx(1000, abs=1)
    assert last_s == pytest.approx(12.0 + (one_by_one.output_tokens - 1) / tokens_s)
    lagging, sink = Player([Say("x" * 4000)], Pace(1000), seed=1, now=0.0), Record()
    lagging.play(sink, 0.1)
    assert lagging.output_tokens == 101
    assert len(sink.deltas) == 1


def test_nothing_comes_before_the_first_token_is_due() -> None:
    player, sink = Player([Say("hello")], Pace(10, 0.5), seed=1, now=0.0), Record()
    player.play(sink, 0.49)
    assert sink.items == []
    player.play(sink, 0.5)
    assert len(sink.deltas) == 1


def test_a_long_stall_is_not_caught_up() -> None:
    player, sink = Player([Say("x" * 40_000)], Pace(1000), seed=1, now=0.0), Record()
    player.play(sink, 0.0)
    player.play(sink, 8.0)
    assert player.output_tokens <= 1000 * MOST_LAG_S + 2
    assert player.due_s() == pytest.approx(8.0, abs=0.01)


def test_while_words_are_held_back_next_to_nothing_is_caught_up() -> None:
    """What is held was given out for its usage, but is on nobody's screen when Esc is pressed."""
    player, sink = Player([Say("x" * 40_000)], Pace(1000), seed=1, now=0.0), Record()
    while sink.deltas == [] or player.output_tokens < 200:
        told = player.output_tokens  # 50 tokens a second are let through
        player.play(sink, told / 50, held=True)
        assert player.output_tokens <= told + 12


def test_usage_is_what_was_really_given_out() -> None:
    player, sink = Player(BEATS, Pace(100), seed=1, now=0.0), Record()
    for step in range(21):
        player.play(sink, step / 100)
    usage = player.usage(50, 40)
    assert usage.output_tokens == player.output_tokens == 21
    assert usage.reasoning_tokens == pytest.approx(len(BEATS[0].text) / 4, abs=1)
    assert (usage.input_tokens, usage.cached_tokens) == (50, 40)
    assert sum(len(text) for _, text in sink.deltas) == pytest.approx(21 * 4, abs=3)


def test_one_item_stops_at_its_end() -> None:
    player, sink = Player(BEATS, Pace(20_000), seed=1, now=0.0), Record()
    player.play(sink, 0.1, one_item=True)
    assert sink.ended == [0]
    assert player.at_boundary
    assert not player.done


def test_the_seed_decides_the_pieces_and_nothing_to_say_is_done_at_once() -> None:
    def pieces(seed: int) -> list[tuple[int, str]]:
        sink = Record()
        play_out(Player(BEATS, Pace(50), seed=seed, now=0.0), sink)
        return sink.deltas

    assert pieces(1) == pieces(1)
    assert pieces(1) != pieces(2)
    assert Player([Say("")], Pace(1), seed=1, now=0.0).done


def test_arguments_are_json() -> None:
    import json

    beat = function_call("read_file", path='a "b"\n.py')
    assert json.loads(beat.text) == {"path": 'a "b"\n.py'}
    assert beat.item() == {"type": "function_call", "name": "read_file"}
