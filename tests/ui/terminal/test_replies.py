"""The terminal's answers become facts; keys never do."""

from __future__ import annotations

import pytest

from tui.ui.terminal.facts import TerminalFacts, Wishes, find
from tui.ui.terminal.replies import Replies


class Asked:
    """Replies, and the facts that they told."""

    def __init__(self, facts: TerminalFacts | None = None) -> None:
        self.told: list[TerminalFacts] = []
        self.replies = Replies(facts or TerminalFacts(), self.told.append)
        self.questions = self.replies.questions()


@pytest.mark.parametrize(
    ("answer", "dark"),
    [
        ("\x1b]11;rgb:1010/1010/1414\x07", True),
        ("\x1b]11;rgb:ffff/ffff/ffff\x1b\\", False),
        ("\x1b]11;rgb:fa/f8/f3\x07", False),
        ("\x1b]11;rgba:0000/2b2b/3636/ffff\x07", True),
        ("\x1b]11;#fdf6e3\x07", False),
        ("\x1b[?997;1n", True),
        ("\x1b[?997;2n", False),
    ],
)
def test_the_background_in_all_ways_of_saying_it(answer: str, dark: bool) -> None:
    asked = Asked()
    assert "\x1b]11;?" in asked.questions
    assert asked.replies.take(answer)
    assert [facts.dark for facts in asked.told] == [dark]
    assert asked.replies.take(answer)
    assert len(asked.told) == 1, "the same again is no news"


@pytest.mark.parametrize(
    "key", ["\x1b[1;2R", "\x1b[R", "\x1bOR", "\x1b[A", "\x1b[13;2~", "\x1b]11"]
)
def test_a_key_is_no_answer(key: str) -> None:
    asked = Asked()
    assert not asked.replies.take(key)
    assert asked.told == []


def test_widths_are_those_the_cursor_went() -> None:
    narrow, wide, bytewise = Asked(), Asked(), Asked()
    for answer in ("\x1b[2;2R", "\x1b[2;2R"):
        assert narrow.replies.take(answer)
    assert narrow.told[-1].why_ambiguous == "measured"
    assert not narrow.told[-1].wide_ambiguous
    for answer in ("\x1b[2;2R", "\x1b[2;3R"):
        assert wide.replies.take(answer)
    assert wide.told[-1].wide_ambiguous
    for answer in ("\x1b[2;3R", "\x1b[2;4R"):
        assert bytewise.replies.take(answer)
    assert bytewise.told[-1].glyphs == "ascii"


def test_what_is_set_is_not_asked_for_and_not_changed() -> None:
    set_by_hand = find({"TERM": "xterm"}, Wishes("auto", "ascii", "narrow", "dark"))
    asked = Asked(set_by_hand)
    assert asked.questions == ""
    assert asked.replies.take("\x1b]11;rgb:ffff/ffff/ffff\x07")
    assert asked.told == []


def test_after_a_stop_only_the_background_is_asked_for_again() -> None:
    asked = Asked()
    assert "\x1b[6n" in asked.questions
    assert "\x1b[6n" not in asked.replies.questions()


@pytest.mark.parametrize("term", ["linux", "vt100"])
def test_a_terminal_that_would_print_the_question_gets_none(term: str) -> None:
    assert Asked(find({"TERM": term})).questions == ""


def test_a_terminal_of_many_names_is_asked_whether_it_has_all_colours() -> None:
    """COLORTERM does not come along over SSH."""
    asked = Asked(find({"TERM": "xterm-256color", "LANG": "C.UTF-8"}))
    assert "\x1bP$qm\x1b\\" in asked.questions
    assert asked.replies.take("\x1bP1$r0;48:2::1:2:3m\x1b\\")
    assert asked.told[-1].colours == "true"
    for other in ({"TERM": "xterm"}, {"TERM": "xterm-256color", "NO_COLOR": "1"}):
        assert "$qm" not in Asked(find(other)).questions


def test_what_was_switched_on_is_switched_off() -> None:
    assert "\x1b[?2031l" in Asked().replies.goodbye()
    assert Asked(find({"TERM": "linux"})).replies.goodbye() == ""


def test_gnu_screen_keeps_colours_to_itself() -> None:
    assert "]11" not in Asked(find({"TERM": "screen", "STY": "1.x"})).questions
