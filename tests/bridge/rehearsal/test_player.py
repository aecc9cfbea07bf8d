from __future__ import annotations

from tui.bridge.rehearsal.player import CallPart, Player, PlaySpeed, ReasoningPart, TextPart


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
    ReasoningPart("Think first. " * 5),
    TextPart("Then talk. " * 9),
    CallPart("apply_patch", "*** x\n" * 7, True),
]


def test_nothing_comes_before_the_first_token_is_due() -> None:
    player, sink = Player([TextPart("hello")], PlaySpeed(10, 0.5), seed=1, now=0.0), Record()
    player.play(sink, 0.49)
    assert sink.items == []
    player.play(sink, 0.5)
    assert len(sink.deltas) == 1


def test_the_seed_decides_the_pieces_and_nothing_to_say_is_done_at_once() -> None:
    def pieces(seed: int) -> list[tuple[int, str]]:
        sink = Record()
        play_out(Player(BEATS, PlaySpeed(50), seed=seed, now=0.0), sink)
        return sink.deltas

    assert pieces(1) == pieces(1)
    assert pieces(1) != pieces(2)
    assert Player([TextPart("")], PlaySpeed(1), seed=1, now=0.0).done
