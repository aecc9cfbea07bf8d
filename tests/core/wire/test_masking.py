from __future__ import annotations

import base64
import json
import time
from urllib.parse import quote

import pytest

from tests.support.tables import each
from tui.core.wire.masking import MASK, Mask

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
