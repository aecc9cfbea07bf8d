"""Bars, panes and rows of the workbench."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.strip import Strip

from tests.support.scripted_app import exercise, running, settled
from tests.support.scripted_session import ScriptedSession
from tests.support.tables import each
from tui.core.meter import Cost, MeterView, dollars
from tui.core.wire.rate_limits import PAUSE, Limit
from tui.engine.notices import Status
from tui.ui.app import DuettoApp
from tui.ui.widgets import figures
from tui.ui.widgets.bars import laid_out
from tui.ui.widgets.figures import Forms, StatusFacts
from tui.ui.widgets.line_template import (
    DEFAULT,
    FIELDS,
    MOST_CHARS,
    LineTemplate,
    default_template,
    template_of,
)
from tui.ui.widgets.painted import Bar, PaintedWidget


def row(app: DuettoApp, name: str) -> str:
    return app.bench.query_one(f"#{name}", Bar).render_line(0).text


async def test_the_header_lights_who_answers_and_says_rehearsal(session: ScriptedSession) -> None:
    session.status.rehearsal = True
    async with running(session) as (app, pilot):
        shown = row(app, "header")
        for part in (
            "duetto",
            "ledger/",
            "main*",
            "REHEARSAL",
            "fast rehearsal-fast · low",
            "deep rehearsal-deep",
        ):
            assert part in shown, part
        assert "▸ ↯ fast" in shown
        assert "▸ ◆" not in shown
        await pilot.press("f2")
        await settled(session, pilot)
        shown = row(app, "header")
        assert "▸ ◆ deep" in shown
        assert "▸ ↯" not in shown
    async with running(session, (80, 24)) as (app, _):
        assert "deep rehearsal-deep" in row(app, "header")
        assert "fast" not in row(app, "header")


def line(app: DuettoApp) -> str:
    return app.bench.status_line.render_line(0).text


async def test_a_limit_counts_down_while_nothing_else_happens_and_then_all_is_still() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        bar = app.bench.status_line
        assert not bar._counts(), "nothing in it goes on by itself"
        session.status.limits = (Limit("requests", 2, 60, session.now_s + 42),)
        await settled(session, pilot)
        assert "2 of 60 requests left, 42 s" in line(app)
        session.now_s += 30
        bar._look()
        assert "2 of 60 requests left, 12 s" in line(app)
        assert bar._counts()
        session.now_s += 12
        bar._look()
        assert "requests" not in line(app)
        assert not bar._counts()


class Rows(PaintedWidget):
    """Says which rows it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[int] = []

    def render_line(self, y: int) -> Strip:
        self.asked.append(y)
        return Strip([Segment(f"{len(self.asked):<{self.size.width}}")])


class OneWidget(App[None]):
    def compose(self) -> ComposeResult:
        yield Rows()


async def test_only_rows_that_changed_are_made_again() -> None:
    app = OneWidget()
    async with app.run_test(size=(20, 6)) as pilot:
        await pilot.pause()
        rows = app.query_one(Rows)
        whole = Region(0, 0, *rows.size)
        rows.render_lines(whole)
        rows.asked.clear()
        before = list(rows.render_lines(whole))
        assert rows.asked == []
        rows.refresh(Region(0, 2, 20, 2), Region(0, 5, 20, 9))
        assert list(rows.render_lines(whole))[:2] == before[:2]
        assert sorted(rows.asked) == [2, 3, 5]
        rows.asked.clear()
        rows.refresh()
        assert len(rows.render_lines(whole)) == 6
        assert sorted(rows.asked) == [0, 1, 2, 3, 4, 5]


async def test_no_color_is_no_colour_at_all_also_in_pictures_of_the_screen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is chosen is in reverse, and nothing has a colour, greys among them."""
    monkeypatch.setenv("NO_COLOR", "1")
    session = ScriptedSession()
    exercise(session)
    async with running(session) as (app, pilot):
        await pilot.press("ctrl+p")
        await pilot.pause()
        await pilot.pause()
        styles = [
            segment.style
            for row in app.screen._compositor.render_strips()
            for segment in row
            if segment.style
        ]
        assert {style.color for style in styles} | {style.bgcolor for style in styles} == {None}
        assert any(style.reverse for style in styles)


NOW = 100.0


def scene(**status: object) -> StatusFacts:
    return StatusFacts(Status(**status), MeterView(), NOW)  # any field of Status


def said(forms: Forms) -> list[str]:
    return ["".join(text for text, _ in form) for form in forms]


@each(
    "asked, served, place, words",
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
        figures.served(scene(models={"fast": asked}, served_model=served, served_endpoint=place))
    )
    if words is not None:
        assert found == words
    assert not any("\x1b" in one or "\n" in one or len(one) > 70 for one in found)


@each(
    "asked, served, words",
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
    found = said(figures.tier(scene(tiers={"fast": asked}, served_tier=served)))
    assert found[:1] == ([] if words is None else [words])


@each("asked, served, words", [
    ("priority", "fast", "fast"),
    ("fast", "priority", "priority"),
    ("Priority", "Fast", "Fast"),
    ("priority", "default", "priority → default"),
    ("ultrafast", "fast", "ultrafast → fast"),
])  # fmt: skip
def test_two_names_of_one_tier_are_no_difference(asked: str, served: str, words: str) -> None:
    same = {"fast": [["fast", "priority"]]}
    here = scene(tiers={"fast": asked}, served_tier=served, same_tiers=same)
    assert said(figures.tier(here))[:1] == [words]


@each(
    "limit, words",
    [
        (Limit("requests", 3, 60, NOW + 42), "3 of 60 requests left, 42 s"),
        (Limit("tokens", 0, None, NOW + 700), "no tokens left for 12 min"),
        (Limit("", 0), "no requests left"),
        (Limit("tokens", 900, 10_000), "900 of 10,000 tokens left"),
        (Limit("% of 5 h", 4, 100, NOW + 7200), "4% of 5 h left, 2.0 h"),
        (Limit("requests", 50, 60, NOW + 42), None),
        (Limit("requests", 0, 60, NOW), None),
        (Limit("requests", 1), None),
        (Limit(PAUSE, 0, None, NOW + 3600), "the server says to wait 60 min"),
    ],
)
def test_limits_count_down_where_little_is_left(limit: Limit, words: str | None) -> None:
    found = said(figures.limits(scene(limits=(limit,)), ""))
    assert found[:1] == ([] if words is None else [words])


@each(
    "status, words",
    [
        ({"connection": "ready", "round_trip_ms": 3.2}, ["● 3 ms", "● ok", "●"]),
        ({"connection": "ready"}, ["● ready", "● ok", "●"]),
        ({"connection": "ready", "transport": "http"}, ["● http ready", "● http", "●"]),
        ({"connection": "connecting"}, ["◌ connecting"]),
        ({"connection": "lost"}, ["○ connection lost", "○ lost"]),
        ({"connection": "lost", "busy": True}, ["◌ connecting"]),
        ({"connection": "offline"}, ["○ offline"]),
        ({"connection": "starting"}, ["◌ starting"]),
    ],
)
def test_the_connection(status: dict[str, object], words: list[str]) -> None:
    assert said(figures.connection(scene(**status))) == words


def test_a_connection_that_was_there_before_is_told_so() -> None:
    lost = scene(connection="connecting")._replace(reached=True)
    assert said(figures.connection(lost)) == ["◌ reconnecting"]
    idle = scene(connection="offline")._replace(reached=True)
    assert said(figures.connection(idle)) == ["○ idle"]


def test_nothing_is_said_of_what_nobody_told() -> None:
    said_always = {"rate", "scale", "connection", "role", "transport"}
    for name in FIELDS.keys() - said_always:
        assert FIELDS[name].forms(scene(), "") == [], name


READY = Status(connection="ready", round_trip_ms=3.0)


def words(view: MeterView, width: int = 200, status: Status = READY) -> str:
    return "".join(
        text for text, _ in laid_out(default_template(), StatusFacts(status, view, 0), width)
    )


STREAMING = MeterView(
    "streaming",
    1043.0,
    True,
    0.084,
    512,
    True,
    0.5,
    (0.1, 0.5, 1.0),
    0.75,
    0.07,
    9.5,
    "counted",
    12_000,
    128_000,
)


@each(
    "width, there, gone",
    [
        (40, ("~1,043 tok/s", "~512 tok", "●"), ("ttft", "ghost")),
        (60, ("~1,043 tok/s", "~512 tok", "◆", "ghost 7%", "●"), ("reasoning", "ctx")),
        (
            80,
            ("◆", "ghost 7%", "ttft 84 ms", "~512 tok", "0.5 s", "● 3 ms"),
            ("collaborate", "ctx"),
        ),
        (120, ("+reasoning", "▁▄█", "9.5 s behind", "ctx 9%", "● 3 ms"), ("collaborate",)),
        (200, ("collaborate", "····", "9.5 s behind", "ctx 12k/128k"), ()),
    ],
)
def test_what_is_shown_at_a_width(
    width: int, there: tuple[str, ...], gone: tuple[str, ...]
) -> None:
    shown = words(STREAMING, width)
    assert len(shown) == width
    for part in there:
        assert part in shown, part
    for part in gone:
        assert part not in shown, part


@each("width", range(1, 251))
def test_a_line_is_as_wide_as_its_place_and_the_rate_is_last_to_go(width: int) -> None:
    busy = Status(connection="lost", verdict="failed", throttle=50, running="pytest -q " * 9)
    for status in (READY, busy, Status(stopped="stopped after 512 tokens, 3 ms", retry_s=7)):
        shown = words(STREAMING, width, status)
        assert len(shown) == max(width, 2)
        assert "~1,043 tok/s" in shown or width < 14 or (status.stopped and width < 40)


@each("width", range(56, 251))
def test_the_connection_is_said_in_words_before_details_come(width: int) -> None:
    shown = words(STREAMING, width)
    assert "● 3 ms" in shown or "● ok" in shown or not {"0.5 s", "reasoning"} & set(shown.split())


def test_a_wider_line_never_says_less() -> None:
    weights = sorted((field.weight, name) for name, field in FIELDS.items())
    assert weights[0] == (0, "news")
    before: set[str] = set()
    for width in range(40, 251):
        shown = words(STREAMING, width)
        found = {part for part in ("tok/s", "◆", "ghost", "ttft", "512", "ctx") if part in shown}
        assert before <= found, width
        before = found


def test_dollars_are_shown_where_they_are_known() -> None:
    def priced(cost: Cost) -> str:
        return words(MeterView("done", cost=cost), 200)

    assert "$" not in priced(Cost())
    assert "$0.0041  Σ $0.123" in priced(Cost(0.0041, 0.1234))
    assert "Σ $12.30+" in priced(Cost(None, 12.3, session_whole=False))
    assert "price unknown  Σ $12.30+" in priced(Cost(None, 12.3, False, unknown=True))
    assert "~$0.500  Σ $0.500" in priced(Cost(0.5, 0.5, estimated=True))


@each(
    "usd, words",
    [
        (0.0, "$0.0000"),
        (0.00001, "<$0.0001"),
        (0.00005, "$0.0001"),
        (0.0123, "$0.012"),
        (1234.5, "$1,234.50"),
    ],
)
def test_how_dollars_are_written(usd: float, words: str) -> None:
    assert dollars(usd) == words


VIEW = MeterView("done", 990.0, False, 0.084, 512, False, 0.5, (1.0,), 0.7, 0.07, 9.5)


STATUS = Status(
    models={"fast": "gpt-5"}, connection="ready", round_trip_ms=3.0, active_path="ledger/cache.py"
)


SCENE = StatusFacts(STATUS, VIEW, 100.0, "ledger", "main", "14:05")


def shown(text: str, width: int = 80, scene: StatusFacts = SCENE) -> str:
    return "".join(part for part, _ in laid_out(template_of(text)[0], scene, width))


def complaints(text: str) -> list[str]:
    return [f"{one.line}: {one.words}" for one in template_of(text)[1]]


@each(
    "text, line",
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


@each(
    "text, told, line",
    [
        ("{ratee} {tokens}", "0: there is no field {ratee}; did you mean {rate}?", "512"),
        ("{zzz}  {tokens}", "0: there is no field {zzz}; docs/meter.md has all of them", "512"),
        ("{tokens} [x {nope}]", "0: there is no field {nope}", "512"),
        ("{tokens\n{seconds}", "0: a { stands alone; write {{ for the character", "{tokens  0.5 s"),
        ("{tokens} ]", "0: a ] stands alone; write ]] for the character", "512 ]"),
        ("{tokens} [{seconds}", "0: a [ has no ]", "512 0.5 s"),
        ("{tokens}[ here]", "0: no field between [ and ]", "512 here"),
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


@each("text", [" ", "[]", "x" * (MOST_CHARS + 1), "{nope}"])
def test_where_nothing_is_left_the_line_is_as_it_comes_with_duetto(text: str) -> None:
    template, told = template_of(text)
    assert told
    assert template.left == default_template().left


def test_the_default_is_a_template_without_a_mistake() -> None:
    template, told = template_of(DEFAULT)
    assert told == []
    assert template == default_template() == template_of("")[0]


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
    assert isinstance(template, LineTemplate)
    line = shown(text, width)
    assert cell_len(line) == width
    assert "\n" not in line
    assert "\x1b" not in line


def test_brackets_within_each_other_have_an_end() -> None:
    assert shown("{tokens}  " + "[ " * 480).strip() == "512"
    deep = "[ " * 8 + "{tokens}" + " ]" * 8
    assert complaints(deep) == []
    told = complaints("[ " * 9 + "{tokens}" + " ]" * 9 + " {seconds}")
    assert told == ["0: more than 8 [ are within each other; take some away"]
