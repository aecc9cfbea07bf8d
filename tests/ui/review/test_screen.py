"""The review screen in the app: keys, decisions, layouts, while it streams and after."""

from __future__ import annotations

import pytest

from tests.support.review_screen import reviewing, seen, whole
from tests.support.review_session import FILES
from tests.support.scripted_app import settled
from tui.engine.intents import Accept, RedoDecision, Reject, UndoDecision
from tui.engine.notices import Trouble
from tui.ui.review.screen import ReviewScreen
from tui.ui.screens.workbench import Workbench

LAST = ["pending", "pending", "pending", "pending", "refused", "pending", "pending", "pending"]


async def test_it_shows_all_files_their_hunks_and_what_stood_there() -> None:
    async with reviewing() as (session, screen, _):
        said = whole(screen)
        assert "last turn · 8 hunks · 7 pending" in said
        for path in FILES:
            assert path in said
        assert "ledger/lock.py  new file" in said
        assert "ledger/old.py  deleted" in said
        assert "│" in seen(screen)[4], "120 columns are enough for two"
        assert screen.view.hunk is session.workspace.hunk(1)
        assert any("5 + import threading" in row for row in seen(screen))


async def test_at_80_columns_there_is_one_column_with_both_numbers() -> None:
    async with reviewing((80, 24)) as (_, screen, pilot):
        screen.view.choose_hunk(3)
        rows = seen(screen)
        assert any("with self._lock:" in row and " + " in row for row in rows)
        assert not screen.split
        await pilot.press("s")
        assert screen.split
        assert any("with self._lock:" in row and "│" in row for row in seen(screen))


async def test_accepting_goes_to_the_next_that_waits() -> None:
    async with reviewing() as (session, screen, pilot):
        await pilot.press("a")
        await settled(session, pilot)
        assert session.states()[:2] == ["accepted", "landed"]
        assert screen.view.hunk is session.workspace.hunk(2)
        await pilot.press("r", "n", "a")
        await settled(session, pilot)
        assert session.states()[:4] == ["accepted", "rejected", "landed", "accepted"]
        assert "import threading" in session.files["ledger/cache.py"]
        assert "_lock = " not in session.files["ledger/cache.py"]


async def test_a_decision_moves_nothing_on_the_screen_but_its_state() -> None:
    """The words of each row stay; numbers, marks and states are others."""

    def words(rows: list[str]) -> list[str]:
        lines = [row.partition("│")[2].strip(" 0123456789+▌┃┊") for row in rows]
        return [line for line in lines if line]

    async with reviewing((120, 80)) as (session, screen, pilot):
        before = words(seen(screen))
        await pilot.press("r")
        screen.view.choose_hunk(3)
        await pilot.press("r")
        await settled(session, pilot)
        assert session.states()[:3] == ["rejected", "landed", "rejected"]
        assert words(seen(screen)) == before


async def test_a_file_and_all_that_is_shown() -> None:
    async with reviewing() as (session, screen, pilot):
        await pilot.press("f")
        await settled(session, pilot)
        assert session.asked[-1] == Accept((1, 2, 3, 4))
        assert screen.view.file is not None
        assert screen.view.file.path == "ledger/lock.py"
        await pilot.press("F")
        await settled(session, pilot)
        assert session.asked[-1] == Reject((6,))
        await pilot.press("R")
        await settled(session, pilot)
        assert session.asked[-1] == Reject((7, 8))
        assert "ledger/lock.py" not in session.files
        assert session.files["ledger/old.py"] == FILES["ledger/old.py"]


async def test_a_rejection_with_words() -> None:
    async with reviewing() as (session, screen, pilot):
        await pilot.press("w")
        await pilot.press(*"keep it", "enter")
        await settled(session, pilot)
        assert session.asked[-1] == Reject((1,), "keep it")
        assert session.workspace.hunk(1).words == "keep it"
        assert any("you said: keep it" in row for row in seen(screen))
        await pilot.press("w", "x", "escape")
        await settled(session, pilot)
        assert session.workspace.hunk(2).decidable


async def test_words_from_the_hunks_card() -> None:
    async with reviewing() as (session, _, pilot):
        await pilot.press("q")
        session.say("patch").call_id = "call_1"
        await settled(session, pilot)
        await pilot.press("alt+j", "w", *"no", "enter")
        await settled(session, pilot)
        assert session.asked[-1] == Reject((1,), "no")


async def test_decisions_are_undone_on_the_hunks_card_too() -> None:
    async with reviewing() as (session, _, pilot):
        await pilot.press("q")
        session.say("patch").call_id = "call_1"
        await settled(session, pilot)
        await pilot.press("alt+j", "a", "u")
        await settled(session, pilot)
        assert session.workspace.hunk(1).decidable
        await pilot.press("U")
        await settled(session, pilot)
        assert session.states()[0] == "accepted"


async def test_decisions_are_undone_and_done_again() -> None:
    async with reviewing() as (session, _, pilot):
        text = session.files["ledger/cache.py"]
        await pilot.press("a", "u")
        await settled(session, pilot)
        assert session.asked[-1] == UndoDecision()
        assert session.states()[0] == "landed"
        assert session.files["ledger/cache.py"] == text
        await pilot.press("U")
        await settled(session, pilot)
        assert session.asked[-1] == RedoDecision()
        assert session.states()[0] == "accepted"


async def test_an_undone_decision_is_led_to_and_said_in_the_title() -> None:
    async with reviewing((80, 24)) as (session, screen, pilot):
        await pilot.press("a", "a", "n")
        await settled(session, pilot)
        assert screen.view.hunk is not session.workspace.hunk(2)
        await pilot.press("u")
        session.board.trouble(Trouble("Taken back: accepting hunk 2", severity="information"))
        await settled(session, pilot)
        assert screen.view.hunk is session.workspace.hunk(2)
        assert "Taken back: accepting hunk 2" in whole(screen)
        assert not pilot.app.screen.query("Toast"), "it would cover what is looked at"
        await pilot.press("U")
        await settled(session, pilot)
        assert screen.view.hunk is session.workspace.hunk(2)


async def test_editing_leads_to_the_editor_and_back_to_a_decision() -> None:
    async with reviewing() as (session, _, pilot):
        await pilot.press("n", "e")
        await settled(session, pilot)
        bench = pilot.app.screen
        assert isinstance(bench, Workbench)
        assert bench.in_editor(bench.focused)
        await pilot.press("alt+y")
        await settled(session, pilot)
        assert session.asked[-1] == Accept((2,))
        again = pilot.app.screen
        assert isinstance(again, ReviewScreen), "back to where e was pressed"
        await pilot.pause(0.1)
        assert again.view.hunk is session.workspace.hunk(3)


async def test_it_is_live_while_the_turn_streams() -> None:
    async with reviewing(begin=False) as (session, screen, pilot):
        assert "No model has changed a file yet" in " ".join(seen(screen))
        session.begin()
        said = []
        while session.streams:
            session.feed(60)
            await settled(session, pilot)
            said.append(whole(screen))
        assert any("landing…" in one for one in said)
        assert any("▸ landing" in one for one in said)
        await pilot.pause(0.2)
        await settled(session, pilot)
        assert "8 hunks · 7 pending" in whole(screen)


async def test_a_landed_hunk_is_accepted_while_others_land() -> None:
    async with reviewing(begin=False) as (session, screen, pilot):
        session.begin()
        while len(session.workspace.hunks) < 3:
            session.feed(20)
        await settled(session, pilot)
        await pilot.pause(0.1)
        assert screen.view.hunk is session.workspace.hunk(1)
        await pilot.press("a")
        while session.streams:
            session.feed(200)
        await settled(session, pilot)
        assert session.states()[0] == "accepted"
        assert "import threading" in session.files["ledger/cache.py"]


async def test_what_is_chosen_stays_where_it_is_while_more_lands_above() -> None:
    async with reviewing(begin=False) as (session, screen, pilot):
        session.begin()
        while "Cache(size=2)" not in session.workspace.open("tests/test_cache.py").text():
            session.feed(30)
        await settled(session, pilot)
        await pilot.pause(0.1)
        await pilot.press("G")
        hunk = screen.view.hunk
        session.workspace.edit("ledger/cache.py", (0, 0), (0, 0), "# one\n# two\n# three\n")
        session.board.touched("ledger/cache.py")
        while session.streams:
            session.feed(300)
        await settled(session, pilot)
        await pilot.pause(0.1)
        assert screen.view.hunk is hunk


async def test_all_pending_hunks_of_all_turns() -> None:
    async with reviewing() as (session, screen, pilot):
        session.turn_of("*** Begin Patch\n*** Add File: b.py\n+b = 1\n*** End Patch\n")
        await settled(session, pilot)
        await pilot.pause(0.2)
        assert "last turn · 1 hunk · 1 pending · 7 from before, t shows them" in whole(screen)
        await pilot.press("t")
        await settled(session, pilot)
        assert "all pending · 8 hunks" in whole(screen)
        await pilot.press("A")
        await settled(session, pilot)
        assert session.files["b.py"] == "b = 1\n"
        await pilot.pause(0.2)
        assert "No hunk waits for a decision" in " ".join(seen(screen))


async def test_the_whole_file_and_back() -> None:
    async with reviewing((120, 60)) as (_, screen, pilot):
        assert any("⋯" in row for row in seen(screen))
        await pilot.press("c")
        assert not any("⋯" in row for row in seen(screen))
        await pilot.press("c")
        assert any("⋯" in row for row in seen(screen))


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 40), (200, 60)])
async def test_no_row_is_wider_or_narrower_than_the_screen(size: tuple[int, int]) -> None:
    async with reviewing(size) as (_, screen, pilot):
        for key in ("s", "c", "G", "right", "s"):
            await pilot.press(key)
            for name in ("title", "files", "diff", "keys"):
                widget = screen.query_one(f"#review-{name}")
                for y in range(widget.size.height):
                    width = widget.size.width
                    assert widget.render_line(y).cell_length == width, (key, name, y)


async def test_scrolling_takes_the_choice_along() -> None:
    async with reviewing((80, 24)) as (session, screen, pilot):
        await pilot.press("pagedown", "pagedown")
        hunk = screen.view.hunk
        assert hunk is not None
        assert hunk.id > 1
        await pilot.press("tab")
        assert screen.view.file is not None
        assert screen.view.file.path == "ledger/lock.py"
        await pilot.press("shift+tab")
        assert screen.view.hunk is session.workspace.hunk(1)


async def test_esc_stops_the_answer_first_then_closes() -> None:
    async with reviewing(begin=False) as (session, screen, pilot):
        session.begin()
        session.feed(200)
        await settled(session, pilot)
        assert "Esc stop" in whole(screen)
        await pilot.press("escape")
        assert pilot.app.screen is screen
        assert not session.status.busy
        await pilot.press("escape")
        assert pilot.app.screen is not screen


async def test_hostile_text_does_not_reach_the_screen() -> None:
    async with reviewing(begin=False) as (session, screen, pilot):
        session.turn_of(
            "*** Begin Patch\n*** Add File: a.py\n+\x1b]0;owned\x07[bold]x\u202e\n*** End Patch\n"
        )
        await settled(session, pilot)
        await pilot.pause(0.1)
        text = whole(screen)
        assert not {"\x1b", "\x07", "\u202e"} & set(text)
        assert "[bold]x" in text


async def test_colours_come_from_the_language() -> None:
    async with reviewing((120, 60)) as (_, screen, pilot):
        await pilot.pause(0.4)
        view = screen.view
        row = next(y for y, text in enumerate(seen(screen)) if "+ import threading" in text)
        styles = {segment.text: segment.style for segment in view.render_line(row)}
        assert styles["import"] != styles["threading"]


async def test_the_title_says_that_hunks_are_accepted_by_themselves() -> None:
    async with reviewing(size=(80, 24)) as (session, screen, pilot):
        session.status.auto_accept = True
        session.board.restated()
        await settled(session, pilot)
        assert "last turn · auto-accept · 8 hunks" in whole(screen)


async def test_the_mouse_chooses_opens_folds_and_goes_to_files() -> None:
    def row(words: str) -> int:
        return next(y for y, text in enumerate(seen(screen)) if words in text)

    async with reviewing((80, 60)) as (session, screen, pilot):
        await pilot.click("#review-diff", offset=(20, row(" 2 ● pending")))
        assert screen.view.hunk is session.workspace.hunk(2)
        fold = row("⋯")
        await pilot.click("#review-diff", offset=(10, fold))
        assert "⋯" not in seen(screen)[fold]
        await pilot.click("#review-files", offset=(6, 1))
        assert screen.view.file is not None
        assert screen.view.file.path == "ledger/lock.py"
