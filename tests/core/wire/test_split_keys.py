"""A key that a model says in pieces is found, wherever it is cut and whatever comes between."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tui.core.wire.masking import MOST_HELD, Mask, SplitKeys

KEY = "sk-abcab-abcabc123"
PLAIN = "pw.abcab-abcabc"
"""Known only because it is: it looks like no key."""


def texts(key: str) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from([key, key[:7], key[5:], "abc", key[:3], "x "]), max_size=8)


SIZES = st.lists(st.integers(1, 9), min_size=1)


def delta(text: str, lane: str | None = None, item: str = "msg_1") -> str:
    event = {"type": "response.output_text.delta", "item_id": item, "delta": text}
    return json.dumps(event | ({"stream_id": lane} if lane else {}))


def masked(frames: list[str], mask: Mask | None = None) -> list[dict[str, Any]]:
    """All frames, in their order."""
    keys: SplitKeys[int] = SplitKeys(mask or Mask([KEY]))
    settled = [pair for at, text in enumerate(frames) for pair in keys.frame(at, 1, text)]
    settled += keys.rest()
    assert [at for at, _ in settled] == list(range(len(frames)))
    return [json.loads(text) for _, text in settled]


def cut(whole: str, sizes: list[int]) -> list[str]:
    pieces, at = [], 0
    while at < len(whole):
        size = sizes[len(pieces) % len(sizes)]
        pieces.append(whole[at : at + size])
        at += size
    return pieces


def told(key: str, pieces: list[str]) -> str:
    return "".join(event["delta"] for event in masked([delta(p) for p in pieces], Mask([key])))


@given(texts(PLAIN), SIZES)
def test_any_cut_is_as_the_whole(said: list[str], sizes: list[int]) -> None:
    whole = "".join(said)
    assert told(PLAIN, cut(whole, sizes)) == Mask([PLAIN]).text(whole)


def test_a_line_waits_no_longer_than_it_must() -> None:
    keys: SplitKeys[int] = SplitKeys(Mask([KEY]))
    assert [at for at, _ in keys.frame(1, 1, delta("plain"))] == [1]
    assert [at for at, _ in keys.frame(2, 1, delta(KEY[:9]))] == []
    assert [at for at, _ in keys.other(3, "{}")] == []
    assert [at for at, _ in keys.frame(4, 2, "no json")] == []
    assert [at for at, _ in keys.frame(5, 1, '{"type":"response.output_text.done"}')] == [
        2,
        3,
        4,
        5,
    ]
    assert [at for at, _ in keys.frame(6, 1, delta(KEY[:9]))] == []
    for at in range(MOST_HELD):
        settled = list(keys.frame(7 + at, 2, "{}"))
    assert settled[0][0] == 6


def test_what_holds_no_key_stays_byte_for_byte() -> None:
    frame = '{"type":"response.output_text.delta",  "delta":"sk-", "item_id":"m"}'
    assert list(SplitKeys[int](Mask()).frame(1, 1, frame)) == [(1, frame)]
    keys: SplitKeys[int] = SplitKeys(Mask([KEY]))
    assert not list(keys.frame(1, 1, frame))
    assert list(keys.rest()) == [(1, frame)]
