from __future__ import annotations

import base64
import json
import time
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each
from tui.core.wire.masking import MASK, MOST_HELD, Mask, SplitKeys

KEY = 'correct-horse/battery"staple'


def frame(mask: Mask, value: object) -> dict[str, object]:
    line = mask.frame(json.dumps(value))
    assert "\n" not in line
    decoded = json.loads(line)
    assert isinstance(decoded, dict)
    return decoded


@each(
    "text",
    [
        json.dumps({"type": "error", "error": {"message": f"bad key {KEY}!"}}),
        json.dumps({"a": [{"b": KEY}]}),
        json.dumps({KEY: 1}),
        json.dumps({"a": KEY}).replace("/", "\\/"),
        json.dumps({"a": KEY}).replace("c", "\\u0063"),
        json.dumps({"a": f"?k={KEY}".replace("/", "%2F").replace('"', "%22")}),
        json.dumps({"a": KEY}, indent=2),
        f"no json at all {KEY}",
        f'["{KEY[:13]}", 1, "correct-horse/battery\\"staple"]',
    ],
)
def test_a_key_is_masked_however_it_is_written(text: str) -> None:
    masked = Mask([KEY]).frame(text)
    for form in (KEY, json.dumps(KEY)[1:-1], "battery", "correct-horse%2F"):
        assert form not in masked
    assert MASK in masked
    assert "\n" not in masked
    assert isinstance(json.loads(masked), dict)


@each("key", ["aB3+xy/zz09==", "a b&c<d>'e'", "hunter2", "clé-de-tout-1"])
def test_a_key_is_masked_in_every_code_that_texts_go_through(key: str) -> None:
    """A URL, JSON within JSON, HTML, base64 wherever the key stands in what was encoded."""
    url = quote(key, safe="")
    escaped = "".join(rf"\u{ord(char):04x}" if char in "+/'&<>" else char for char in key)
    forms = [url, url.lower() if key.islower() else url, quote(key), key.replace(" ", "+"), escaped]
    forms += [json.dumps(json.dumps(key))[3:-3], key.replace("/", "\\/"), key.replace("+", "&#43;")]
    for prefix in ("", "u", "us", "user:"):
        coded = base64.b64encode(f"{prefix}{key} and more".encode()).decode()
        forms += [coded, coded.replace("+", "-").replace("/", "_")]
    for form in forms:
        masked = str(frame(Mask([key]), {"text": form})["text"])
        assert MASK[:4] in masked, form
        assert len(masked) == len(form)
        assert key not in json.dumps(masked)


@pytest.mark.slow
def test_masking_takes_no_longer_for_a_hostile_text() -> None:
    mask = Mask(['"/+ quoted/key+"', "\\backslashed"])
    began = time.process_time()
    for text in (
        "\\" * 200_000,
        "%2" * 100_000,
        "&#" * 100_000,
        "Bearer " * 50_000,
        "sk-" * 99_999,
    ):
        mask.frame(json.dumps({"a": text}))
    assert time.process_time() - began < 5


def test_headers_are_masked_by_their_names_and_addresses_too() -> None:
    meta = {
        "_meta": "handshake",
        "path": "/v1/responses?api-version=2&api-key=abc&x=longer-secret",
        "headers": {"api-key": "abc", "X-Team": "blue", "Cookie": "a=b", "X-Own": "longer-secret"},
    }
    masked = json.loads(Mask(["longer-secret"]).meta(meta))
    assert masked["path"] == "/v1/responses?api-version=2&api-key=[key]&x=[key]********"
    assert masked["headers"]["api-key"] == masked["headers"]["Cookie"] == MASK
    assert masked["headers"]["X-Team"] == "blue"
    assert "longer" not in json.dumps(masked)
    pairs = {"headers": [["Authorization", "Bearer x"], ["Host", "h"], "odd"]}
    masked = json.loads(Mask().meta(pairs))
    assert masked["headers"] == [["Authorization", MASK], ["Host", "h"], "odd"]


def test_short_secrets_and_deep_frames() -> None:
    assert frame(Mask(["blue", ""]), {"a": "blue"}) == {"a": "blue"}
    deep = '{"a":' + "[" * 100_000
    assert json.loads(Mask([KEY]).frame(deep)) == {"_raw": deep}
    assert "\\ud800" in Mask([KEY]).frame('{"a":"\\ud800' + KEY.replace('"', '\\"') + '"}')


KEY_SPLIT_KEYS = "sk-abcab-abcabc123"
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
    keys: SplitKeys[int] = SplitKeys(mask or Mask([KEY_SPLIT_KEYS]))
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
    keys: SplitKeys[int] = SplitKeys(Mask([KEY_SPLIT_KEYS]))
    assert [at for at, _ in keys.frame(1, 1, delta("plain"))] == [1]
    assert [at for at, _ in keys.frame(2, 1, delta(KEY_SPLIT_KEYS[:9]))] == []
    assert [at for at, _ in keys.other(3, "{}")] == []
    assert [at for at, _ in keys.frame(4, 2, "no json")] == []
    assert [at for at, _ in keys.frame(5, 1, '{"type":"response.output_text.done"}')] == [
        2,
        3,
        4,
        5,
    ]
    assert [at for at, _ in keys.frame(6, 1, delta(KEY_SPLIT_KEYS[:9]))] == []
    for at in range(MOST_HELD):
        settled = list(keys.frame(7 + at, 2, "{}"))
    assert settled[0][0] == 6


def test_what_holds_no_key_stays_byte_for_byte() -> None:
    frame = '{"type":"response.output_text.delta",  "delta":"sk-", "item_id":"m"}'
    assert list(SplitKeys[int](Mask()).frame(1, 1, frame)) == [(1, frame)]
    keys: SplitKeys[int] = SplitKeys(Mask([KEY_SPLIT_KEYS]))
    assert not list(keys.frame(1, 1, frame))
    assert list(keys.rest()) == [(1, frame)]
