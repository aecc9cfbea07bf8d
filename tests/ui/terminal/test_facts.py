"""What the environment says of the terminal, and what it does not."""

from __future__ import annotations

import pytest

from tui.ui.terminal.facts import Wishes, find

XTERM = {"TERM": "xterm-256color", "LANG": "en_GB.UTF-8"}


@pytest.mark.parametrize(
    ("colours", "environment"),
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


@pytest.mark.parametrize(
    ("glyphs", "environment"),
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


@pytest.mark.parametrize(
    ("dark", "environment"),
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
        Wishes("true", "unicode", "wide", "light"),
    )
    assert (facts.colours, facts.glyphs, facts.wide_ambiguous, facts.dark) == (
        "true",
        "unicode",
        True,
        False,
    )
    assert facts.why_colours == "[screen] colours"


def test_old_terminals_are_asked_nothing() -> None:
    assert not find({"TERM": "linux"}).answers
    assert not find({"TERM": "vt100"}).answers
    assert find(XTERM).answers
