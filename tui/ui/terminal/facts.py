"""What the terminal can show, as environment and settings have it.

Decided once before the first paint. What only the terminal itself knows (its background, how wide
it draws some characters) is asked for on the way in; `Replies` takes the answers, among the keys.
No key looks like one: reports of the cursor are asked for in the second row, for ``CSI 1 ; 2 R`` is
also Shift+F3.

An explicit setting wins; then ``NO_COLOR`` (no-color.org); then ``FORCE_COLOR`` and
``CLICOLOR_FORCE``; then what the terminal says of itself.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from tui.core.text.patterns import pattern

Colours = Literal["none", "16", "256", "true"]
Glyphs = Literal["unicode", "console", "ascii"]
"""``console``: letters as they are, and of the other signs those of a PC's text screen."""
Multiplexer = Literal["", "tmux", "screen"]


class ScreenOptions(NamedTuple):
    """``[screen]`` of the settings; ``auto`` everywhere: find out."""

    colours: Literal["auto", "none", "16", "256", "true"] = "auto"
    glyphs: Literal["auto", "unicode", "ascii"] = "auto"
    ambiguous: Literal["auto", "narrow", "wide"] = "auto"
    background: Literal["auto", "dark", "light"] = "auto"


class TerminalFacts(Struct, frozen=True):
    """What can be drawn with, and where each fact is from, in words."""

    colours: Colours = "true"
    glyphs: Glyphs = "unicode"
    wide_ambiguous: bool = False
    """Signs that Unicode leaves open (East Asian Ambiguous) take two cells here."""
    dark: bool | None = None
    """The background; None: not known."""
    multiplexer: Multiplexer = ""
    remote: bool = False
    """Over SSH."""
    answers: bool = True
    """It may be asked things: what it does not know it does not print."""
    why_colours: str = ""
    why_glyphs: str = ""
    why_ambiguous: str = "not asked"
    why_dark: str = "not told"

    @property
    def unicode(self) -> bool:
        """Whether letters beyond ASCII can be shown."""
        return self.glyphs != "ascii"


def find(environment: Mapping[str, str], wishes: ScreenOptions | None = None) -> TerminalFacts:
    """The facts of the terminal that this environment describes."""
    wishes = wishes or ScreenOptions()
    colours, why_colours = _colours(environment, wishes)
    glyphs, why_glyphs = _glyphs(environment, wishes)
    dark, why_dark = _background(environment, wishes)
    told = wishes.ambiguous != "auto"
    return TerminalFacts(
        colours=colours,
        glyphs=glyphs,
        wide_ambiguous=wishes.ambiguous == "wide",
        dark=dark,
        multiplexer=_multiplexer(environment),
        remote=any(environment.get(name) for name in ("SSH_CONNECTION", "SSH_TTY")),
        answers=_answers(environment),
        why_colours=why_colours,
        why_glyphs=why_glyphs,
        why_ambiguous="[screen] ambiguous" if told else "not asked",
        why_dark=why_dark,
    )


# -- colours

_OFF = ("0", "false", "no", "off", "never")
_FORCED: dict[str, Colours] = {"1": "16", "2": "256", "3": "true"}
_TRUE_TERMS = ("alacritty", "contour", "foot", "rio", "wezterm", "xterm-ghostty", "xterm-kitty")
_TRUE_PROGRAMS = frozenset(
    {"iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "rio", "Tabby", "WarpTerminal", "zed"}
)
_SIXTEEN_TERMS = (
    "ansi", "cygwin", "eterm", "konsole", "linux", "putty", "rxvt", "screen", "tmux", "xterm",
)  # fmt: skip
_NO_COLOUR_TERMS = ("vt1", "vt2", "vt3", "vt4", "vt5", "dumb", "unknown", "hurd", "sun", "wyse")


def _colours(environment: Mapping[str, str], wishes: ScreenOptions) -> tuple[Colours, str]:
    if wishes.colours != "auto":
        return wishes.colours, "[screen] colours"
    if environment.get("NO_COLOR"):
        return "none", "NO_COLOR"
    found, why = _of_terminal(environment)
    forced = environment.get("FORCE_COLOR", "").lower()
    if forced in _OFF:
        return "none", f"FORCE_COLOR={forced}"
    if forced in _FORCED:
        return _FORCED[forced], f"FORCE_COLOR={forced}"
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE"):
        if environment.get(name, "0").lower() not in ("", *_OFF):
            return ("16" if found == "none" else found), f"{name}, {why}"
    return found, why


def _of_terminal(environment: Mapping[str, str]) -> tuple[Colours, str]:
    """What the terminal says of itself, by names and, where they say nothing, by terminfo."""
    term = environment.get("TERM", "")
    words = f"TERM={term or '(not set)'}"
    if term.endswith(("-m", "-mono")) or term.startswith(_NO_COLOUR_TERMS):
        return "none", words
    if _multiplexer(environment) == "screen" and not term.endswith("-direct"):
        # it takes 16 million colours for attributes, whatever the terminal around it can
        return ("256" if "256" in term else "16"), f"{words} in GNU screen"
    if (depth := environment.get("COLORTERM", "").lower()) in ("truecolor", "24bit"):
        return "true", f"COLORTERM={depth}"
    if term.startswith(_TRUE_TERMS) or term.endswith("-direct"):
        return "true", words
    if not term.startswith(("tmux", "screen")) and (program := _true_program(environment)):
        return "true", program
    if "256" in term:
        apple = environment.get("TERM_PROGRAM") == "Apple_Terminal"
        return "256", "TERM_PROGRAM=Apple_Terminal" if apple else words
    if term.startswith(_SIXTEEN_TERMS) or not term:
        return "16", words
    return _of_terminfo(term), f"{words} in terminfo"


def _true_program(environment: Mapping[str, str]) -> str:
    """The program that the variables name, if it knows all colours."""
    program = environment.get("TERM_PROGRAM", "")
    if program in _TRUE_PROGRAMS:
        return f"TERM_PROGRAM={program}"
    if environment.get("WT_SESSION"):
        return "Windows Terminal"
    if environment.get("KONSOLE_VERSION"):
        return "Konsole"
    version = environment.get("VTE_VERSION", "")
    return f"VTE {version}" if version.isdigit() and int(version) >= 3600 else ""


def _of_terminfo(term: str) -> Colours:
    """As its entry says, of a terminal that is not known by name."""
    try:
        import curses  # not on Windows, and rarely needed
    except ImportError:
        return "16"
    try:
        curses.setupterm(term, 1)
    except curses.error:
        return "16"
    count = curses.tigetnum("colors")
    if count >= 2**24:
        return "true"
    return "256" if count >= 256 else "16" if count >= 8 else "none"


# -- signs

_CONSOLES = ("linux", "cons25", "wsvt25", "vt220-")
_OLD = ("vt1", "vt2", "vt3", "vt4", "vt5", "ansi", "cygwin")
_UTF_8 = ("utf-8", "utf8")


def _glyphs(environment: Mapping[str, str], wishes: ScreenOptions) -> tuple[Glyphs, str]:
    if wishes.glyphs != "auto":
        return wishes.glyphs, "[screen] glyphs"
    name, locale = _locale(environment)
    if locale and not locale.lower().endswith(_UTF_8):
        return "ascii", f"{name}={locale}"
    term = environment.get("TERM", "")
    if term.startswith(_CONSOLES):
        return "console", f"TERM={term}"
    if term.startswith(_OLD):
        return "ascii", f"TERM={term}"
    return "unicode", f"{name}={locale}" if locale else "no locale is set"


def _locale(environment: Mapping[str, str]) -> tuple[str, str]:
    """The variable that says how text is encoded, and its value; empty: none is set.

    Where the locale is C Python itself sets ``LC_CTYPE`` to ``C.UTF-8`` (PEP 538): beside a
    ``LANG`` that says C it is not what the user said.
    """
    language = environment.get("LANG", "")
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        value = environment.get(name, "")
        coerced = name == "LC_CTYPE" and value in ("C.UTF-8", "C.utf8", "UTF-8")
        if coerced and language in ("C", "POSIX") and sys.platform != "darwin":
            continue
        if value:
            return name, value.partition("@")[0]
    return "", ""


# -- background

_DARK_NUMBERS = frozenset({0, 1, 2, 3, 4, 5, 6, 8})
"""Of the 16 colours those that are a dark background."""


def _background(environment: Mapping[str, str], wishes: ScreenOptions) -> tuple[bool | None, str]:
    if wishes.background != "auto":
        return wishes.background == "dark", "[screen] background"
    number = environment.get("COLORFGBG", "").rpartition(";")[2]
    if number.isdigit() and int(number) < 16:
        return int(number) in _DARK_NUMBERS, f"COLORFGBG={environment['COLORFGBG']}"
    if environment.get("TERM", "").startswith("linux"):
        return True, "TERM=linux"
    return None, "not told"


def _multiplexer(environment: Mapping[str, str]) -> Multiplexer:
    """What lies between duetto and the terminal."""
    if environment.get("TMUX"):
        return "tmux"
    term = environment.get("TERM", "")
    inside = environment.get("STY") and term.startswith("screen")
    return "screen" if inside else ""


def _answers(environment: Mapping[str, str]) -> bool:
    """Old ones and the console print what they do not know, or answer nothing."""
    return not environment.get("TERM", "").startswith((*_CONSOLES, *_OLD, "dumb"))


_BACKGROUND = "\x1b]11;?\x07"
_TELL_CHANGES, _TELL_NO_MORE = "\x1b[?2031h", "\x1b[?2031l"
"""Some terminals say when their colours change from dark to light."""
_NAMED_256 = "TERM=xterm-256color"
"""The name that nearly all terminals give themselves, whatever they can."""
_SECOND_ROW = "\x1b[2;1H"
_MEASURE = "{0}\u00e2\x1b[6n{0}\u25cf\x1b[6n{0}\x1b[K"
"""Two signs and where the cursor is behind them: a letter that takes one cell wherever UTF-8 is
understood and two elsewhere, and a sign whose width Unicode leaves open."""
_ALL_COLOURS = "\x1b[48;2;1;2;3m\x1bP$qm\x1b\\\x1b[0m"
"""A colour of the 16 million, and which one it is: what COLORTERM says, but COLORTERM does not come
along over SSH."""
_COLOURED = pattern(r"\x1bP1\$r[0-9;:]*48[;:]2[;:]+1[;:]2[;:]3m\x1b\\")
_CURSOR = pattern(r"\x1b\[(\d+);(\d+)R")
_COLOUR = pattern(
    r"\x1b\]11;(?:rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})(?:/[0-9a-fA-F]+)?"
    r"|#([0-9a-fA-F]{2})([0-9a-fA-F]{2})([0-9a-fA-F]{2}))(?:\x07|\x1b\\)"
)
_SCHEME = pattern(r"\x1b\[\?997;([12])n")


class Replies:
    """Asks, and turns answers into facts."""

    def __init__(self, facts: TerminalFacts, told: Callable[[TerminalFacts], None]) -> None:
        """``told`` is called with facts that are other than before."""
        self.facts = facts
        self._told = told
        self._asked = self._listens = False
        self._measured: list[int] = []
        """Columns behind the signs that were measured."""

    def questions(self, where: str = _SECOND_ROW) -> str:
        """What to write when the terminal was taken; widths are asked for once.

        ``where`` takes the cursor to an empty row that is not the first.
        """
        facts = self.facts
        if not facts.answers:
            return ""
        asked = ""
        if not self._asked and facts.glyphs == "unicode" and facts.why_ambiguous == "not asked":
            asked, self._measured = _MEASURE.format(where), []
        if not self._asked and facts.why_colours == _NAMED_256:
            asked += _ALL_COLOURS
        self._asked = True
        if facts.multiplexer != "screen" and facts.why_dark != "[screen] background":
            self._listens = True
            asked += _BACKGROUND + _TELL_CHANGES
        return asked

    def goodbye(self) -> str:
        """What takes back that it tells of changes."""
        return _TELL_NO_MORE if self._listens else ""

    def take(self, sequence: str) -> bool:
        """Whether it was an answer; what it says is told."""
        if found := _COLOUR.fullmatch(sequence):
            digits = found.group(1, 2, 3) if found[1] else found.group(4, 5, 6)
            red, green, blue = (int(part, 16) / (16 ** len(part) - 1) for part in digits)
            self._background(0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.5)
        elif found := _SCHEME.fullmatch(sequence):
            self._background(found[1] == "1")
        elif _COLOURED.fullmatch(sequence):
            self._learn(replace(self.facts, colours="true", why_colours="it said so"))
        elif (found := _CURSOR.fullmatch(sequence)) and int(found[1]) > 1:
            self._measured.append(int(found[2]) - 1)
            self._measure()
        else:
            return False
        return True

    def _background(self, dark: bool) -> None:
        if self.facts.why_dark != "[screen] background":
            self._learn(replace(self.facts, dark=dark, why_dark="it said so"))

    def _measure(self) -> None:
        """Both signs have been measured."""
        if len(self._measured) != 2:
            return
        letter, sign = self._measured
        if letter != 1:
            self._learn(replace(self.facts, glyphs="ascii", why_glyphs="it does not take UTF-8"))
        else:
            wide = sign == 2
            self._learn(replace(self.facts, wide_ambiguous=wide, why_ambiguous="measured"))

    def _learn(self, facts: TerminalFacts) -> None:
        if facts != self.facts:
            self.facts = facts
            self._told(facts)
