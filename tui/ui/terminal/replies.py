"""What is asked of the terminal on the way in, and what its answers say.

Nobody waits for an answer: the first picture is painted with what is known without. Answers come
among the keys, and no key looks like one: reports of the cursor are asked for in the second row,
for ``CSI 1 ; 2 R`` is also Shift+F3.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from tui.ui.terminal.facts import TerminalFacts

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
_COLOURED = re.compile(r"\x1bP1\$r[0-9;:]*48[;:]2[;:]+1[;:]2[;:]3m\x1b\\")
_CURSOR = re.compile(r"\x1b\[(\d+);(\d+)R")
_COLOUR = re.compile(
    r"\x1b\]11;(?:rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})(?:/[0-9a-fA-F]+)?"
    r"|#([0-9a-fA-F]{2})([0-9a-fA-F]{2})([0-9a-fA-F]{2}))(?:\x07|\x1b\\)"
)
_SCHEME = re.compile(r"\x1b\[\?997;([12])n")


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
            self._background(0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.5, "it said so")
        elif found := _SCHEME.fullmatch(sequence):
            self._background(found[1] == "1", "it said so")
        elif _COLOURED.fullmatch(sequence):
            self._learn(replace(self.facts, colours="true", why_colours="it said so"))
        elif (found := _CURSOR.fullmatch(sequence)) and int(found[1]) > 1:
            self._measured.append(int(found[2]) - 1)
            self._measure()
        else:
            return False
        return True

    def _background(self, dark: bool, why: str) -> None:
        if self.facts.why_dark != "[screen] background":
            self._learn(replace(self.facts, dark=dark, why_dark=why))

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
