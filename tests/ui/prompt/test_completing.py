"""The list over the prompt: what it offers, and what its keys do."""

from __future__ import annotations

import pytest

from tests.support.prompt_rows import hint, keys, shown
from tests.support.scripted_app import running
from tests.support.scripted_session import FILES, ScriptedSession
from tui.engine.intents import Intent, Prompt, Queue, SetEffort, SetTier, Switch, Throttle
from tui.ui.prompt.offer_list import OfferList
from tui.ui.prompt.wishes import wish_at, written


async def test_files_are_listed_over_the_prompt_and_chosen_with_the_arrows() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        prompt = app.bench.prompt_box.prompt
        await pilot.press(*keys("see @ca"))
        assert shown(app)[0].split() == ["files", "1", "of", "2"]
        assert shown(app)[1:] == [" ▸ ledger/cache.py", "   tests/test_cache.py"]
        assert "take" in hint(app)
        await pilot.press("down", "enter")
        assert prompt.text == "see @tests/test_cache.py "
        assert shown(app) == []
        assert session.intents == []
        await pilot.press("enter")
        assert session.intents == [Prompt("see @tests/test_cache.py")]


async def test_the_conversation_stays_where_it_is() -> None:
    async with running(ScriptedSession()) as (app, pilot):
        before = app.bench.transcript.region
        await pilot.press("slash")
        await pilot.pause()
        rows = app.bench.query_one(OfferList)
        assert app.bench.transcript.region == before
        assert rows.region.bottom == app.bench.prompt_box.prompt.region.y
        assert rows.region.height == rows.rows > 1


async def test_esc_closes_it_and_the_next_word_opens_it_again() -> None:
    async with running(ScriptedSession()) as (app, pilot):
        await pilot.press(*keys("@ca"), "escape")
        assert shown(app) == []
        await pilot.press("c")
        assert shown(app) == []
        await pilot.press(*keys(" @re"))
        assert shown(app)[1] == " ▸ README.md"
        assert app.bench.prompt_box.prompt.text == "@cac @re"


async def test_esc_stops_an_answer_before_it_closes_anything() -> None:
    session = ScriptedSession()
    session.status.busy = True
    async with running(session) as (app, pilot):
        await pilot.press(*keys("@ca"), "escape")
        assert not session.status.busy
        assert shown(app)


async def test_a_command_is_run_by_enter_as_it_is_lit() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        await pilot.press(*keys("/de"))
        assert shown(app)[1].startswith(" ▸ /deep")
        assert "run" in hint(app)
        await pilot.press("enter")
        await pilot.pause()
        assert session.intents == [Switch("deep")]
        assert app.bench.prompt_box.prompt.text == ""


@pytest.mark.parametrize(
    ("typed", "ran"),
    [
        ("/throttle 15", [Throttle(15.0)]),
        ("/throttle 5", [Throttle(5.0)]),
        ("/throttle 10", [Throttle(10.0)]),
        ("/clr", []),
        ("/tier x", [SetTier("x")]),
        ("/effort h", [SetEffort("high")]),
        ("/fast", [Switch("fast")]),
    ],
)
async def test_enter_runs_what_was_typed_or_the_only_thing_that_it_can_mean(
    typed: str, ran: list[Intent]
) -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        await pilot.press(*keys(typed), "enter")
        await pilot.pause()
        assert session.intents == ran
        if not ran:
            assert app.bench.prompt_box.prompt.text == "/clear ", "completed, and not run"


async def test_enter_takes_what_was_lit_with_the_arrows() -> None:
    session = ScriptedSession()
    async with running(session) as (_, pilot):
        await pilot.press(*keys("/throttle 10"), "down", "up", "enter")
        await pilot.pause()
        assert session.intents == [Throttle(1000.0)]


async def test_arguments_are_offered_with_what_is_known_of_them() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        await pilot.press(*keys("/eff"), "tab")
        assert app.bench.prompt_box.prompt.text == "/effort "
        levels = ["low", "medium", "high", "xhigh", "none"]
        assert [row[3:].split()[0] for row in shown(app)[1:]] == levels
        assert "now" in shown(app)[1]
        await pilot.press("h", "enter")
        await pilot.pause()
        assert session.intents == [SetEffort("high")]


async def test_a_theme_is_completed() -> None:
    async with running(ScriptedSession()) as (app, pilot):
        await pilot.press(*keys("/theme emb"))
        assert shown(app)[1] == " ▸ ember"


async def test_a_command_that_needs_words_waits_for_them() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        await pilot.press(*keys("/steer"), "up", "down")
        await pilot.press("backspace", "enter")
        assert app.bench.prompt_box.prompt.text == "/steer "
        assert session.intents == []


async def test_what_the_history_brings_back_opens_no_list() -> None:
    """Up and Down go on walking in it."""
    async with running(ScriptedSession()) as (app, pilot):
        prompt = app.bench.prompt_box.prompt
        prompt.past.add("first")
        prompt.past.add("/help")
        await pilot.press("up")
        assert (prompt.text, shown(app)) == ("/help", [])
        await pilot.press("up")
        assert prompt.text == "first"


async def test_tab_queues_when_the_name_stands_there_already() -> None:
    session = ScriptedSession()
    session.status.busy = True
    async with running(session) as (_, pilot):
        await pilot.press(*keys("see @README.md"), "tab")
        assert session.intents == [Queue("see @README.md")]


@pytest.mark.parametrize(
    ("path", "typed", "taken"),
    [
        ("my notes.md", "@no", '@"my notes.md" '),
        ("my notes.md", '@"my no', '@"my notes.md" '),
        ('a"b.md', "@ab", '@"a\\"b.md" '),
        ("größe📦.md", "@gr", '@"größe📦.md" '),
        ("grün.md", "@gr", "@grün.md "),
        ("my notes.md", "!cat @no", "!cat 'my notes.md' "),
        ("it's.md", "!cat @its", "!cat 'it'\"'\"'s.md' "),
    ],
)
async def test_odd_names_are_quoted(path: str, typed: str, taken: str) -> None:
    session = ScriptedSession({**FILES, path: "x"})
    async with running(session) as (app, pilot):
        await pilot.press(*keys(typed), "tab")
        assert app.bench.prompt_box.prompt.text == taken


async def test_a_name_that_would_turn_the_row_round_is_shown_with_its_signs() -> None:
    session = ScriptedSession({"gpj\u202efdp.exe": "x"})
    async with running(session) as (app, pilot):
        await pilot.press("at", "g")
        assert "\u202e" not in shown(app)[1]
        assert "\ufffd" in shown(app)[1]


async def test_fifty_thousand_files_hold_no_key_up() -> None:
    session = ScriptedSession({f"package_{at % 97}/module_{at}.py": "" for at in range(50_000)})
    async with running(session) as (app, pilot):
        prompt = app.bench.prompt_box.prompt
        await pilot.press(*keys("@mod49999"), "enter")
        assert prompt.text == "@package_44/module_49999.py "
        await pilot.press(*keys("@zzz"))
        await pilot.pause(0.05)
        assert "no file has these letters" in hint(app)


async def test_a_click_takes_and_the_wheel_steps() -> None:
    async with running(ScriptedSession()) as (app, pilot):
        await pilot.press(*keys("@"))
        await pilot.pause()
        assert await pilot.click(OfferList, offset=(6, 2))
        assert app.bench.prompt_box.prompt.text == "@ledger/cache.py "


async def test_in_a_small_window_rows_and_prompt_are_in_sight() -> None:
    async with running(ScriptedSession(), (40, 12)) as (app, pilot):
        await pilot.press("slash")
        await pilot.pause()
        rows = app.bench.query_one(OfferList)
        assert rows.region.y >= 1
        assert rows.rows >= 2


@pytest.mark.parametrize("line", ["mail bob@cor", "/usr/bin", "//", "a / b", "@"])
def test_what_is_no_wish(line: str) -> None:
    wish = wish_at(line, len(line), first=True, alone=True)
    assert wish is None or line == "@"


def test_only_the_last_part_of_a_line_is_completed() -> None:
    wish = wish_at("see (@ca) and", 8, first=False, alone=False)
    assert wish is not None
    assert (wish.letters, wish.start, wish.end) == ("ca", 5, 8)


def test_a_path_is_an_argument_too() -> None:
    wish = wish_at("/diff head led", 14, first=True, alone=True)
    assert wish is not None
    assert (wish.kind, wish.letters, wish.sign) == ("file", "led", "")
    assert written("a b.py", sign="") == '"a b.py"'
