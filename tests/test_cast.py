"""The asciicast in the docs: it plays, it tells the story, and it holds nothing of the machine."""

from __future__ import annotations

import json
import re
from typing import Any

import pyte
import pytest

from tests.support.sources import ROOT
from tests.support.terminal import COLON_SGR, UNSUPPORTED

Cast = tuple[dict[str, Any], list[tuple[float, str, str]]]
CAST = ROOT / "docs" / "pictures" / "first-minute.cast"


@pytest.fixture(scope="module")
def cast() -> Cast:
    head, *events = CAST.read_text(encoding="utf-8").splitlines()
    return json.loads(head), [tuple(json.loads(line)) for line in events]


def test_it_is_an_asciicast_of_less_than_a_minute(cast: Cast) -> None:
    head, events = cast
    assert head["version"] == 2
    times = [at for at, _, _ in events]
    assert times == sorted(times)
    assert times[-1] < 60
    assert {kind for _, kind, _ in events} == {"o", "m"}


def test_it_shows_each_step(cast: Cast) -> None:
    """At each marker stands what the step before has brought about."""
    head, events = cast
    screen = pyte.Screen(head["width"], head["height"])
    stream = pyte.ByteStream(screen)
    seen: dict[str, str] = {}
    for _, kind, text in events:
        if kind == "m":
            seen[text] = "\n".join(screen.display)
        else:
            data = UNSUPPORTED.sub(b"", text.encode())
            stream.feed(COLON_SGR.sub(b"", data))
    assert list(seen) == [
        "ask",
        "stop it",
        "redirect",
        "accept, and run the tests",
        "the deep model",
    ]
    assert "landing" in seen["stop it"]
    assert "stopped" in seen["redirect"]
    assert "pending" in seen["accept, and run the tests"]
    assert "tests passed" in seen["the deep model"]
    assert "\x1b[?1049l" in events[-2][2], "the screen is given back"
    assert re.fullmatch(r"To go on: duetto resume \w+\r\n", events[-1][2])


def test_it_holds_nothing_of_the_machine_that_made_it(cast: Cast) -> None:
    text = "".join(text for _, kind, text in cast[1] if kind == "o")
    assert re.findall(r"/(?:tmp|home|root|Users|work)/\S*", text) == []
    assert re.findall(r"\x1b\[\?100[0-6]h|\x1b\[[?>]\d*u", text) == [], "no mouse, no questions"
