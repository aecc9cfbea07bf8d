"""Who answers, what is waited for, how it ended: said in words, and only as far as it was told."""

from __future__ import annotations

import pytest

from tui.core.meter import MeterView
from tui.core.wire.limits import PAUSE, Limit
from tui.engine.notices import Status
from tui.ui.widgets import standing
from tui.ui.widgets.meter import Forms
from tui.ui.widgets.standing import Scene

NOW = 100.0


def scene(**status: object) -> Scene:
    return Scene(Status(**status), MeterView(), NOW)  # any field of Status


def said(forms: Forms) -> list[str]:
    return ["".join(text for text, _ in form) for form in forms]


@pytest.mark.parametrize(
    ("asked", "served", "place", "words"),
    [
        ("gpt-5", "", "", []),
        ("gpt-5", "gpt-5-2026-03-05", "", ["gpt-5-2026-03-05"]),
        ("gpt-5", "openai/gpt-5", "", ["openai/gpt-5"]),
        ("gpt-5", "mini", "", ["gpt-5 → mini", "↪ mini", "↪ mini"]),
        ("gpt-5", "mini", "groq", ["gpt-5 → mini on groq", "↪ mini on groq", "↪ mini"]),
        ("gpt-5", "", "groq", ["gpt-5 → groq", "↪ groq", "↪ groq"]),
        ("", "mini", "", ["mini"]),
        ("a", "m\x1b[31m\n" + "x" * 60, "", None),
    ],
)
def test_asked_and_served(asked: str, served: str, place: str, words: list[str] | None) -> None:
    found = said(
        standing.served(scene(models={"fast": asked}, served_model=served, served_endpoint=place))
    )
    if words is not None:
        assert found == words
    assert not any("\x1b" in one or "\n" in one or len(one) > 70 for one in found)


@pytest.mark.parametrize(
    ("asked", "served", "words"),
    [
        ("priority", "default", "priority → default"),
        ("priority", "priority", "priority"),
        ("", "flex", "flex"),
        ("priority", "auto", None),
        ("priority", "", None),
        ("auto", "default", "default"),
    ],
)
def test_a_tier_is_told_when_the_server_told_it(asked: str, served: str, words: str | None) -> None:
    found = said(standing.tier(scene(tiers={"fast": asked}, served_tier=served)))
    assert found[:1] == ([] if words is None else [words])


@pytest.mark.parametrize(("asked", "served", "words"), [
    ("priority", "fast", "fast"),
    ("fast", "priority", "priority"),
    ("Priority", "Fast", "Fast"),
    ("priority", "default", "priority → default"),
    ("ultrafast", "fast", "ultrafast → fast"),
])  # fmt: skip
def test_two_names_of_one_tier_are_no_difference(asked: str, served: str, words: str) -> None:
    same = {"fast": [["fast", "priority"]]}
    here = scene(tiers={"fast": asked}, served_tier=served, same_tiers=same)
    assert said(standing.tier(here))[:1] == [words]


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (Limit("requests", 3, 60, NOW + 42), "3 of 60 requests left, 42 s"),
        (Limit("tokens", 0, None, NOW + 700), "no tokens left for 12 min"),
        (Limit("", 0), "no requests left"),
        (Limit("tokens", 900, 10_000), "900 of 10,000 tokens left"),
        (Limit("% of 5 h", 4, 100, NOW + 7200), "4% of 5 h left, 2.0 h"),
        (Limit("requests", 50, 60, NOW + 42), None),
        (Limit("requests", 0, 60, NOW), None),
        (Limit("requests", 1), None),
        (Limit(PAUSE, 0, None, NOW + 3600), "the server asks to wait 60 min"),
    ],
)
def test_limits_count_down_where_little_is_left(limit: Limit, words: str | None) -> None:
    found = said(standing.limits(scene(limits=(limit,)), ""))
    assert found[:1] == ([] if words is None else [words])


def test_all_limits_are_told_to_who_asks() -> None:
    plenty = scene(limits=(Limit("requests", 50, 60, NOW + 42),))
    assert said(standing.limits(plenty, "all"))[0] == "50 of 60 requests left, 42 s"


def test_while_it_is_tried_again_one_countdown_is_enough() -> None:
    waiting = scene(limits=(Limit("requests", 0, 60, NOW + 42),), retry_s=6.2)
    assert standing.limits(waiting, "") == []
    assert said(standing.connection(waiting)) == ["◌ again in 7 s · Esc cancels", *AGAIN]


AGAIN = ["◌ again in 7 s", "◌ 7 s"]


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ({"connection": "ready", "round_trip_ms": 3.2}, ["● 3 ms", "● ok", "●"]),
        ({"connection": "ready"}, ["● ready", "● ok", "●"]),
        ({"connection": "ready", "transport": "http"}, ["● http ready", "● http", "●"]),
        ({"connection": "connecting"}, ["◌ connecting"]),
        ({"connection": "lost"}, ["○ connection lost", "○ lost"]),
        ({"connection": "lost", "busy": True}, ["◌ connecting"]),
        ({"connection": "offline"}, ["○ offline"]),
    ],
)
def test_the_connection(status: dict[str, object], words: list[str]) -> None:
    assert said(standing.connection(scene(**status))) == words


def test_a_connection_that_was_there_before_is_told_so() -> None:
    lost = scene(connection="connecting")._replace(reached=True)
    assert said(standing.connection(lost)) == ["◌ reconnecting"]
    idle = scene(connection="offline")._replace(reached=True)
    assert said(standing.connection(idle)) == ["○ idle"]


def test_what_runs_goes_before_how_it_ended() -> None:
    both = scene(running="pytest -q", verdict="failed")
    assert said(standing.running(both))[0] == "$ pytest -q …"
    assert standing.verdict(both) == []
    assert said(standing.verdict(scene(verdict="timeout"))) == ["✗ tests timed out", "✗ timed out"]


def test_nothing_is_said_of_what_nobody_told() -> None:
    empty = scene()
    for forms in (
        *(standing.news, standing.running, standing.verdict, standing.throttle, standing.model),
        *(standing.effort, standing.endpoint, standing.served, standing.tier, standing.trip),
        *(standing.queue, standing.path, standing.workspace, standing.branch, standing.clock),
    ):
        assert forms(empty) == []
