"""The find bar at work in the editor."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from tests.support.fake_session import FakeSession
from tests.ui.editor.test_pane import FILES, count_of, cursor_of, pane, session_of
from tui.ui.editor.pane import EditorPane

LINES = "one two\nTwo twofold\n\nthree two\n"
FILES["find.py"] = LINES
FILES["big.py"] = "value = 1\n" * 20_000 + "needle\n"
FAR = 30_000
FILES["far.py"] = "value = 1\n" * FAR + "needle\n"


def text_of(p: EditorPane) -> str:
    session = p.session
    assert isinstance(session, FakeSession)
    return session.workspace.buffers[p.active].text()


def label_of(p: EditorPane) -> str:
    return str(p.find_bar.query_one(".label").render()).strip()


async def until(pilot: Pilot[None], what: str, p: EditorPane) -> None:
    """Wait for a count."""
    for _ in range(200):
        if count_of(p) == what:
            return
        await pilot.pause(0.02)
    assert count_of(p) == what


async def test_switches() -> None:
    async with pane("find.py") as (p, pilot):
        await pilot.press("ctrl+f", *"two")
        assert count_of(p) == "1 of 4"
        await pilot.press("alt+w")
        assert (count_of(p), label_of(p)) == ("1 of 3", "Find |ab|")
        await pilot.press("alt+c")
        assert (count_of(p), label_of(p)) == ("1 of 2", "Find Aa |ab|")
        await pilot.press("alt+c", "alt+w", "alt+x", "end", ".", "$")
        assert (count_of(p), label_of(p)) == ("not found", "Find .*")
        await pilot.press("backspace", "backspace", "(")
        assert count_of(p) == "not a pattern: missing ), unterminated subpattern at 4"
        await pilot.press("enter", "shift+enter")
        assert text_of(p) == LINES


async def test_replace_one_by_one_and_all() -> None:
    async with pane("find.py") as (p, pilot):
        await pilot.press("ctrl+r", *"two", "tab", *"2")
        assert p.find_bar.query_one("#find-replacement", Input).has_focus
        await pilot.press("enter")
        assert text_of(p) == LINES.replace("two", "2", 1)
        assert count_of(p) == "1 of 3"
        assert cursor_of(p) == (1, 3)
        await pilot.press("alt+enter")
        assert text_of(p) == "one 2\n2 2fold\n\nthree 2\n"
        assert count_of(p) == "3 replaced in 2 lines · Ctrl+Z takes it back"
        await pilot.press("tab", "shift+tab", "ctrl+z")
        assert text_of(p) == LINES.replace("two", "2", 1)
        await pilot.press("ctrl+z")
        assert text_of(p) == LINES
        assert p.close_open()


async def test_a_pattern_with_groups() -> None:
    async with pane("find.py") as (p, pilot):
        await pilot.press("ctrl+r", "alt+x", *r"(\w+) (two)$", "tab", *"$2-$1", "alt+enter")
        assert text_of(p) == "two-one\nTwo twofold\n\ntwo-three\n"
        await pilot.press("ctrl+z", "end", *"$3", "alt+enter")
        assert count_of(p) == "the pattern has no group 3"
        assert text_of(p) == LINES


async def test_a_read_only_file_is_searched_and_left(monkeypatch: pytest.MonkeyPatch) -> None:
    async with pane("find.py") as (p, pilot):
        monkeypatch.setattr(session_of(p).workspace, "read_only", lambda path: "It is locked.")
        await pilot.press("ctrl+r", *"two", "tab", "x", "enter")
        assert count_of(p) == "It is locked."
        await pilot.press("alt+enter")
        assert (count_of(p), text_of(p)) == ("It is locked.", LINES)


async def test_in_the_selection() -> None:
    async with pane("find.py") as (p, pilot):
        await pilot.press("down", "shift+down", "shift+down", "ctrl+r", *"two")
        assert label_of(p) == "Find in selection"
        assert count_of(p) == "1 of 2"
        await pilot.press("tab", *"2", "alt+enter")
        assert text_of(p) == "one two\n2 2fold\n\nthree two\n"
        await pilot.press("alt+i")
        assert (label_of(p), count_of(p)) == ("Find", "2 of 2")
        p.close_open()
        await pilot.press("ctrl+f", "alt+i")
        assert (label_of(p), count_of(p)) == ("Find", "select some lines first")


async def test_empty_matches_are_replaced_once_each() -> None:
    async with pane("find.py") as (p, pilot):
        await pilot.press("ctrl+r", "alt+x", "$", "tab", ";", "enter", "enter", "enter")
        assert text_of(p) == "one two;\nTwo twofold;\n;\nthree two\n"


async def test_a_long_file_is_searched_while_keys_work() -> None:
    async with pane("big.py") as (p, pilot):
        await pilot.press("ctrl+f", *"needle")
        await until(pilot, "1 of 1", p)
        assert cursor_of(p) == (20_000, 6)
        await pilot.press("ctrl+f", *"value")
        await until(pilot, "1 of 20000", p)
        await pilot.press("ctrl+r", "tab", *"v", "alt+enter")
        await until(pilot, "20000 replaced in 20000 lines · Ctrl+Z takes it back", p)
        assert text_of(p) == "v = 1\n" * 20_000 + "needle\n"
        await pilot.press("ctrl+z")
        assert text_of(p) == FILES["big.py"]


async def test_all_are_replaced_while_a_model_writes() -> None:
    async with pane("big.py") as (p, pilot):
        await pilot.press("ctrl+r", *"value")
        assert p.editor.view is not None
        p._replace_all(p.editor.view, "v")
        assert count_of(p) == "replacing…"
        p.sync(session_of(p).land("big.py", 5, "value = 2\n"))
        await until(pilot, "20001 replaced in 20001 lines · Ctrl+Z takes it back", p)
        assert text_of(p) == "v = 1\n" * 5 + "v = 2\n" + "v = 1\n" * 19_995 + "needle\n"


async def test_who_goes_to_another_file_is_left_where_they_are() -> None:
    async with pane("find.py", "m.py", "a.py") as (p, pilot):
        await pilot.press("ctrl+f", *"pass")
        p.editor.focus()
        await pilot.pause()
        p.choose("m.py")
        await pilot.pause()
        assert (cursor_of(p), count_of(p)) == ((0, 0), "120 found")
        assert p.editor.view is not None
        assert p.editor.view.search.on_line(1) == [(4, 8, "match")]


async def test_counting_goes_on_while_a_model_writes() -> None:
    async with pane("find.py") as (p, pilot):
        await pilot.press("ctrl+f", *"two")
        p.sync(session_of(p).land("find.py", 3, "two two\n"))
        await until(pilot, "1 of 6", p)


async def test_lines_from_here_and_the_number_of_lines() -> None:
    async with pane("a.py") as (p, pilot):
        await pilot.press("alt+g")
        assert count_of(p) == "of 101"
        await pilot.press(*"+10", "enter", "alt+g", *"-3", "enter")
        assert cursor_of(p) == (7, 0)
        await pilot.press("alt+g", *("9" * 30), "enter")
        assert cursor_of(p) == (100, 0)


async def test_keys_of_lines_and_comments() -> None:
    async with pane("find.py") as (p, pilot):
        await pilot.press("ctrl+underscore", "ctrl+d", "alt+down", "alt+down")
        assert text_of(p) == "# one two\nTwo twofold\n\n# one two\nthree two\n"
        await pilot.press("ctrl+slash", "alt+up", "alt+up", "alt+up")
        assert text_of(p) == "one two\n# one two\nTwo twofold\n\nthree two\n"
        await pilot.press("ctrl+x", "ctrl+end", "ctrl+v")
        assert text_of(p) == "# one two\nTwo twofold\n\nthree two\none two\n"
        await pilot.press(*["ctrl+z"] * 10)
        assert text_of(p) == LINES


async def test_a_language_without_comments_says_so() -> None:
    FILES["notes.txt"] = "x\n"
    async with pane("notes.txt") as (p, pilot):
        await pilot.press("ctrl+underscore")
        assert text_of(p) == "x\n"


@pytest.mark.parametrize("size", [(20, 5), (40, 10), (300, 80)])
async def test_every_size(size: tuple[int, int]) -> None:
    async with pane("find.py") as (p, pilot):
        await pilot.resize_terminal(*size)
        await pilot.press("ctrl+r", *"two", "tab", "x", "enter", "escape")
        p.close_open()
        await pilot.press("alt+g", "2", "enter", "ctrl+t", "down", "escape")
        assert text_of(p) == LINES.replace("two", "x", 1)
        assert cursor_of(p) == (1, 0)


async def test_a_late_match_takes_the_cursor_of_nobody_who_went_on_in_the_text() -> None:
    async with pane("far.py") as (p, pilot):
        await pilot.press("ctrl+f", "alt+x")
        p.find_bar.query_one("#find-needle", Input).value = "n..dle"
        p._sought(p.find_bar.Sought(p.find_bar.query_wanted))
        assert count_of(p).endswith("…")
        p.editor.focus()
        p.editor.go((3, 0))
        await pilot.press("x")
        await until(pilot, "1 found", p)
        await pilot.press("x")
        lines = session_of(p).workspace.buffers["far.py"].lines
        assert (lines[3], lines[-2], cursor_of(p)) == ("xxvalue = 1", "needle", (3, 2))


async def test_a_late_match_is_gone_to_by_who_waits_in_the_bar() -> None:
    async with pane("far.py") as (p, pilot):
        await pilot.press("ctrl+f", "alt+x", *"n..dle")
        await until(pilot, "1 of 1", p)
        assert cursor_of(p) == (FAR, 6)


async def test_a_key_that_comes_while_all_are_replaced_has_the_last_word() -> None:
    async with pane("far.py") as (p, pilot):
        await pilot.press("ctrl+r", *"value", "tab")
        bar = p.find_bar
        for text in ("OLD", "NEW"):
            p._replace_wanted(bar.ReplaceWanted(text, everything=True))
            assert count_of(p) == "replacing…"
        await until(pilot, f"{FAR} replaced in {FAR} lines · Ctrl+Z takes it back", p)
        lines = session_of(p).workspace.buffers["far.py"].lines
        assert {lines[0], lines[FAR - 1]} == {"NEW = 1"}
