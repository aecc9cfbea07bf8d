"""What the environment and the terminal's answers say of it."""

from __future__ import annotations

from tests.support.tables import each
from tui.ui.terminal.facts import Replies, ScreenOptions, TerminalFacts, find

XTERM = {"TERM": "xterm-256color", "LANG": "en_GB.UTF-8"}


@each(
    "colours, environment",
    [
        ("256", {}),
        ("true", {"COLORTERM": "truecolor"}),
        ("true", {"COLORTERM": "24bit"}),
        ("true", {"TERM": "xterm-kitty"}),
        ("true", {"TERM": "alacritty"}),
        ("true", {"TERM": "xterm-direct"}),
        ("true", {"TERM_PROGRAM": "iTerm.app"}),
        ("true", {"WT_SESSION": "1"}),
        ("true", {"VTE_VERSION": "7600"}),
        ("256", {"VTE_VERSION": "3409"}),
        ("256", {"TERM_PROGRAM": "Apple_Terminal"}),
        ("16", {"TERM": "xterm"}),
        ("16", {"TERM": "linux"}),
        ("16", {"TERM": "screen"}),
        ("16", {"TERM": ""}),
        ("none", {"TERM": "vt100"}),
        ("none", {"TERM": "xterm-mono"}),
        ("256", {"TERM": "tmux-256color", "TMUX": "/tmp/t,1,0"}),
        ("true", {"TERM": "tmux-256color", "TMUX": "/tmp/t,1,0", "COLORTERM": "truecolor"}),
        # what the variables of the terminal around it say holds for what tmux hands through only
        ("256", {"TERM": "screen-256color", "TERM_PROGRAM": "vscode"}),
        # GNU screen takes 38;2;... for attributes
        ("256", {"TERM": "screen-256color", "STY": "1.pts", "COLORTERM": "truecolor"}),
        ("none", {"COLORTERM": "truecolor", "NO_COLOR": "1"}),
        ("true", {"COLORTERM": "truecolor", "NO_COLOR": ""}),
        ("none", {"NO_COLOR": "1", "FORCE_COLOR": "3"}),
        ("true", {"FORCE_COLOR": "3"}),
        ("256", {"FORCE_COLOR": "2", "COLORTERM": "truecolor"}),
        ("16", {"TERM": "vt100", "FORCE_COLOR": "1"}),
        ("16", {"TERM": "vt100", "CLICOLOR_FORCE": "1"}),
        ("256", {"CLICOLOR_FORCE": "1"}),
        ("none", {"FORCE_COLOR": "0"}),
        ("256", {"FORCE_COLOR": "true"}),
    ],
)
def test_colours(colours: str, environment: dict[str, str]) -> None:
    assert find(XTERM | environment).colours == colours


def test_a_terminal_that_only_terminfo_knows() -> None:
    assert find({"TERM": "no-such-terminal"}).colours == "16"
    assert find({"TERM": "no-such-terminal"}).why_colours.endswith("in terminfo")


@each(
    "glyphs, environment",
    [
        ("unicode", {}),
        ("unicode", {"LANG": "de_DE.utf8@euro"}),
        ("ascii", {"LANG": "C"}),
        ("ascii", {"LANG": "de_DE.ISO-8859-1"}),
        ("ascii", {"LC_ALL": "POSIX"}),
        ("unicode", {"LC_ALL": "C.UTF-8", "LANG": "C"}),
        # Python sets this one by itself where the locale is C (PEP 538)
        ("ascii", {"LC_CTYPE": "C.UTF-8", "LANG": "C"}),
        ("unicode", {"LC_CTYPE": "C.UTF-8", "LANG": ""}),
        ("unicode", {"LANG": ""}),
        ("console", {"TERM": "linux"}),
        ("ascii", {"TERM": "linux", "LANG": "C"}),
        ("ascii", {"TERM": "vt100"}),
    ],
)
def test_signs(glyphs: str, environment: dict[str, str]) -> None:
    assert find(XTERM | environment).glyphs == glyphs


@each(
    "dark, environment",
    [
        (None, {}),
        (True, {"COLORFGBG": "15;0"}),
        (False, {"COLORFGBG": "0;15"}),
        (False, {"COLORFGBG": "0;default;15"}),
        (None, {"COLORFGBG": "default;default"}),
        (True, {"TERM": "linux"}),
    ],
)
def test_the_background(dark: bool | None, environment: dict[str, str]) -> None:
    assert find(XTERM | environment).dark is dark


def test_a_setting_wins_over_everything() -> None:
    facts = find(
        {"NO_COLOR": "1", "LANG": "C", "COLORFGBG": "15;0"},
        ScreenOptions("true", "unicode", "wide", "light"),
    )
    assert (facts.colours, facts.glyphs, facts.wide_ambiguous, facts.dark) == (
        "true",
        "unicode",
        True,
        False,
    )
    assert facts.why_colours == "[screen] colours"


class Asked:
    """Replies, and the facts that they told."""

    def __init__(self, facts: TerminalFacts | None = None) -> None:
        self.told: list[TerminalFacts] = []
        self.replies = Replies(facts or TerminalFacts(), self.told.append)
        self.questions = self.replies.questions()


@each(
    "answer, dark",
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


@each("key", ["\x1b[1;2R", "\x1b[R", "\x1bOR", "\x1b[A", "\x1b[13;2~", "\x1b]11"])
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
    set_by_hand = find({"TERM": "xterm"}, ScreenOptions("auto", "ascii", "narrow", "dark"))
    asked = Asked(set_by_hand)
    assert asked.questions == ""
    assert asked.replies.take("\x1b]11;rgb:ffff/ffff/ffff\x07")
    assert asked.told == []


@each("term", ["linux", "vt100"])
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
