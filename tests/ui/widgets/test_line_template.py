"""A status line of one's own: what it can say, what is told of its mistakes, and that the rest is
shown all the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from rich.cells import cell_len

from tui.core.meter import Cost, MeterView
from tui.engine.notices import Status
from tui.ui.widgets.line_fields import DEFAULT, FIELDS, default_template, template_of
from tui.ui.widgets.line_layout import laid_out
from tui.ui.widgets.line_template import MOST_CHARS, Template
from tui.ui.widgets.standing import Scene

VIEW = MeterView("done", 990.0, False, 0.084, 512, False, 0.5, (1.0,), 0.7, 0.07, 9.5)
STATUS = Status(
    models={"fast": "gpt-5"}, connection="ready", round_trip_ms=3.0, active_path="ledger/cache.py"
)
SCENE = Scene(STATUS, VIEW, 100.0, "ledger", "main", "14:05")


def shown(text: str, width: int = 80, scene: Scene = SCENE) -> str:
    return "".join(part for part, _ in laid_out(template_of(text)[0], scene, width))


def complaints(text: str) -> list[str]:
    return [f"{one.line}: {one.words}" for one in template_of(text)[1]]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{rate}/s", "   990/s"),
        ("speed {rate}  first {ttft}", "speed    990  first 84 ms"),
        ("{tokens}   {seconds}", "512   0.5 s"),
        ("a [cost {cost}] b", "a  b"),
        ("[{tokens} tok, {cost}]", "512 tok, "),
        ("[{tokens} tok[, {cost}]]", "512 tok"),
        ("{{{tokens}}} [[x]] {cost}", "{512} [x]"),
        ("{tokens}\n{seconds}", "512  0.5 s"),
        ("{spark:4}", "···█"),
        ("{scale:plain}", "├─┴────◆──┤"),
        ("{branch}{fill}{clock}", "main" + " " * 69 + "14:05"),
        ("{ workspace } {path}", "ledger ledger/cache.py"),
        ("{role} {model} {trip} {transport}", "↯ fast gpt-5 3 ms WebSocket"),
    ],
)
def test_what_is_written_is_shown(text: str, line: str) -> None:
    assert complaints(text) == []
    assert shown(text).strip(" ") == line.strip(" ")
    assert len(shown(text)) == 80


@pytest.mark.parametrize(
    ("text", "told", "line"),
    [
        ("{ratee} {tokens}", "0: there is no field {ratee}; did you mean {rate}?", "512"),
        ("{zzz}  {tokens}", "0: there is no field {zzz}; docs/meter.md has all of them", "512"),
        ("{tokens} [x {nope}]", "0: there is no field {nope}", "512"),
        ("{tokens\n{seconds}", "0: a { stands alone; write {{ for the character", "{tokens  0.5 s"),
        ("{tokens} ]", "0: a ] stands alone; write ]] for the character", "512 ]"),
        ("{tokens} [{seconds}", "0: a [ has no ]", "512 0.5 s"),
        ("{tokens}[ here]", "0: between [ and ] is no field", "512 here"),
        ("{tokens}\n\n{spark:wide}{seconds}", "2: {spark} does not know 'wide'", "512  0.5 s"),
        ("{tokens:x}", "0: {tokens} does not know 'x'; it knows no option", "512"),
        ("{tokens}{fill}{fill}{seconds}", "0: {fill} stands there twice", None),
        ("{tokens}[{fill}{seconds}]", "0: {fill} stands within [ ]", None),
    ],
)
def test_a_mistake_is_told_and_the_rest_is_shown(text: str, told: str, line: str | None) -> None:
    (found, *_) = complaints(text)
    assert found.startswith(told)
    if line is not None:
        assert shown(text).replace("···········█", "").replace("·······█", "").strip() == line


@pytest.mark.parametrize("text", [" ", "[]", "x" * (MOST_CHARS + 1), "{nope}"])
def test_where_nothing_is_left_the_line_is_as_it_comes_with_duetto(text: str) -> None:
    template, told = template_of(text)
    assert told
    assert template.left == default_template().left


def test_a_half_of_which_nothing_is_left_is_the_default_one() -> None:
    template, _ = template_of("{tokens}{fill}{conection}")
    assert template.right == default_template().right
    assert len(template.left) == 1


def test_the_default_is_a_template_without_a_mistake() -> None:
    template, told = template_of(DEFAULT)
    assert told == []
    assert template == default_template() == template_of("")[0]


def test_where_there_is_no_room_own_words_go_first_and_what_is_marked_goes_last() -> None:
    text = "hello world  {rate}  {workspace!}"
    assert shown(text, 40).strip() == "hello world     990  ledger"
    assert shown(text, 18).strip() == "990  ledger"
    assert shown(text, 10).strip() == "ledger"


def test_foreign_text_in_it_is_inert() -> None:
    scene = SCENE._replace(branch="ma\x1b[31min\u202e", workspace="[b]led\nger")
    line = shown("\x1b[2J{branch}  {workspace}", 80, scene)
    assert "\x1b" not in line
    assert "\u202e" not in line
    assert "[b]led ger" in line


@given(
    st.text(st.sampled_from("{}[]: \n\tab!é✓漢" + "\x1b"), max_size=40)
    | st.lists(
        st.sampled_from(["{rate}", "[", "]", "  ", "{fill}", "{nope}", "x", "{cost:9}", "{path}"]),
        max_size=12,
    ).map("".join),
    st.integers(2, 250),
)
def test_any_template_fits_any_width(text: str, width: int) -> None:
    template, _ = template_of(text)
    assert isinstance(template, Template)
    line = shown(text, width)
    assert cell_len(line) == width
    assert "\n" not in line
    assert "\x1b" not in line


def test_a_line_for_every_field() -> None:
    status = Status(
        models={"fast": "gpt-5"}, efforts={"fast": "low"}, tiers={"fast": "priority"},
        served_model="mini", served_tier="flex", endpoint="openai", queued=["x"], throttle=50,
        connection="ready", round_trip_ms=3.0, active_path="a.py", verdict="passed",
        stopped="stopped after 9 tokens",
    )  # fmt: skip
    cost = Cost(0.1, 0.2)
    view = replace(VIEW, cost=cost)
    scene = Scene(status, view, 100.0, "ledger", "main", "14:05")
    silent = {"running", "limits", "reasoning", "context"}
    for name in FIELDS:
        line = shown(f"{{{name}}}", 200, scene).strip()
        assert line or name in silent, name


def test_brackets_within_each_other_have_an_end() -> None:
    assert shown("{tokens}  " + "[ " * 480).strip() == "512"
    deep = "[ " * 8 + "{tokens}" + " ]" * 8
    assert complaints(deep) == []
    told = complaints("[ " * 9 + "{tokens}" + " ]" * 9 + " {seconds}")
    assert told == ["0: more than 8 [ are within each other; take some away"]
