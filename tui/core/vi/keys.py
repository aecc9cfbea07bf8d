"""The keys of vi: one at a time, with the text and the cursor as they are then.

Insert mode is the editor's own business: keys come here only in the other modes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

Reach = Literal["exclusive", "inclusive", "lines"]
"""What an operator takes with a motion: up to its end, with it, or whole lines."""


class Move(NamedTuple):
    """A place, and how far an operator reaches there."""

    to: int
    reach: Reach = "exclusive"


def line_start(text: str, at: int) -> int:
    """Of the line that a place is in."""
    return text.rfind("\n", 0, at) + 1


def line_end(text: str, at: int) -> int:
    """Behind the last character of its line."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def first_word(text: str, at: int) -> int:
    """The first character of its line that is no blank."""
    start, end = line_start(text, at), line_end(text, at)
    while start < end and text[start].isspace():
        start += 1
    return start


def _kind(text: str, at: int, big: bool) -> int:
    """0: blank, 1: of a word, 2: of another word."""
    if text[at].isspace():
        return 0
    return 1 if big or text[at].isalnum() or text[at] == "_" else 2


def word(text: str, at: int, big: bool) -> int:
    """The beginning of the next word."""
    end = len(text)
    if at < end and (kind := _kind(text, at, big)):
        while at < end and _kind(text, at, big) == kind:
            at += 1
    while at < end and text[at].isspace():
        at += 1
    return at


def word_back(text: str, at: int, big: bool) -> int:
    """The beginning of this word, or of the one before."""
    at -= 1
    while at > 0 and text[at].isspace():
        at -= 1
    while at > 0 and _kind(text, at - 1, big) == _kind(text, at, big):
        at -= 1
    return max(at, 0)


def word_end(text: str, at: int, big: bool) -> int:
    """The last character of this word, or of the next one."""
    last = len(text) - 1
    at += 1
    while at < last and text[at].isspace():
        at += 1
    while at < last and _kind(text, at + 1, big) == _kind(text, at, big):
        at += 1
    return max(min(at, last), 0)


def line_by(text: str, at: int, lines: int) -> int | None:
    """The same column some lines below, or above; None: there is no such line."""
    column, place = at - line_start(text, at), line_start(text, at)
    for _ in range(abs(lines)):
        if lines > 0:
            end = line_end(text, place)
            if end == len(text):
                return None
            place = end + 1
        elif place == 0:
            return None
        else:
            place = line_start(text, place - 1)
    return min(place + column, line_end(text, place))


def find(text: str, at: int, key: str, letter: str) -> int | None:
    """``f t F T``: on, or before, a letter of this line; None: there is none."""
    if key in "ft":
        found = text.find(letter, at + 1, line_end(text, at))
        return None if found < 0 else found - (key == "t")
    found = text.rfind(letter, line_start(text, at), at)
    return None if found < 0 else found + (key == "T")


_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}


def bracket(text: str, at: int) -> int | None:
    """``%``: the bracket that belongs to the one here, or to the next one of the line."""
    closing = {close: opening for opening, close in _PAIRS.items()}
    end = line_end(text, at)
    while at < end and text[at] not in "()[]{}":
        at += 1
    if at >= end:
        return None
    here = text[at]
    other, step = (_PAIRS[here], 1) if here in _PAIRS else (closing[here], -1)
    depth = 0
    while 0 <= at < len(text):
        depth += (text[at] == here) - (text[at] == other)
        if not depth:
            return at
        at += step
    return None


def thing(text: str, at: int, around: bool, name: str) -> tuple[int, int] | None:
    """A text object (``iw``, ``a"``, ``i(``): its start and its end; None: there is none here."""
    if name in "wW":
        return _word_here(text, at, around, name == "W") if at < len(text) else None
    if name in "\"'`":
        return _quoted(text, at, around, name)
    name = {"b": "(", "B": "{"}.get(name, name)
    opening = next((o for o, c in _PAIRS.items() if name in (o, c)), "")
    return _bracketed(text, at, around, opening) if opening else None


def _word_here(text: str, at: int, around: bool, big: bool) -> tuple[int, int]:
    kind, first, end = _kind(text, at, big), at, at + 1
    while first > 0 and text[first - 1] != "\n" and _kind(text, first - 1, big) == kind:
        first -= 1
    while end < len(text) and text[end] != "\n" and _kind(text, end, big) == kind:
        end += 1
    if around:
        behind = end
        while behind < len(text) and text[behind] in " \t":
            behind += 1
        while behind == end and first > 0 and text[first - 1] in " \t":
            first -= 1
        end = behind
    return first, end


def _quoted(text: str, at: int, around: bool, quote: str) -> tuple[int, int] | None:
    start, end = line_start(text, at), line_end(text, at)
    places = [place for place in range(start, end) if text[place] == quote]
    for first, last in zip(places[::2], places[1::2], strict=False):
        if at <= last:
            return (first, last + 1) if around else (first + 1, last)
    return None


def _bracketed(text: str, at: int, around: bool, opening: str) -> tuple[int, int] | None:
    close, depth, first = _PAIRS[opening], 0, at
    while first >= 0:
        if first < len(text):
            depth += (text[first] == close and first != at) - (text[first] == opening)
        if depth < 0:
            break
        first -= 1
    last = bracket(text, first) if first >= 0 and opening != "<" else None
    if first < 0 or last is None:
        return None
    return (first, last + 1) if around else (first + 1, last)


def moved(key: str, text: str, at: int, count: int) -> Move | None:
    """Where a motion of one key leads, done so many times; None: it leads nowhere, or is none."""
    if key in "jk":
        to = line_by(text, at, count if key == "j" else -count)
        return None if to is None else Move(to, "lines")
    if key in _WORDS:
        for _ in range(count):
            at = _WORDS[key](text, at, key.isupper())
        return Move(at, "inclusive" if key in "eE" else "exclusive")
    start, end = line_start(text, at), line_end(text, at)
    places = {
        "h": max(at - count, start),
        "l": min(at + count, end),
        " ": min(at + count, len(text)),
        "0": start,
        "^": first_word(text, at),
        "_": first_word(text, at),
        "|": min(start + count - 1, end),
        "$": end,
    }
    if key == "%":
        to = bracket(text, at)
        return None if to is None else Move(to, "inclusive")
    return Move(places[key]) if key in places else None


_WORDS: dict[str, Callable[[str, int, bool], int]] = {
    "w": word,
    "W": word,
    "b": word_back,
    "B": word_back,
    "e": word_end,
    "E": word_end,
}
MOTIONS = frozenset("hl 0^_|$jkwWbBeE%")
"""The keys that `moved` knows."""


Mode = Literal["insert", "normal", "visual"]
Order = Literal["", "undo", "redo", "older", "newer"]
_MOST = 10_000
"""Of a count: a slip of the hand must not hold the screen up."""
_SHORT = {"x": "dl", "X": "dh", "D": "d$", "C": "c$", "s": "cl", "S": "cc", "Y": "yy"}


class Act(NamedTuple):
    """What a key does."""

    cursor: int
    mode: Mode = "normal"
    start: int = 0
    end: int = 0
    text: str | None = None
    """Takes the place of what is from start to end; None: nothing is changed."""
    order: Order = ""
    """What the editor does itself, ``times`` times."""
    times: int = 1


class ViKeys:
    """The state between two keys."""

    def __init__(self) -> None:
        self.mode: Mode = "insert"
        self.anchor = 0
        """Where visual mode began."""
        self._count = ""
        self._operator = ""
        self._times = 1
        """The count before the operator."""
        self._prefix = ""
        """What waits for one key more: ``f``, ``r``, ``g``, or ``i`` of a text object."""
        self._found = ("", "")
        """The last ``f`` and its letter."""
        self._register = ""

    @property
    def waiting(self) -> str:
        """What was typed of a command that is not whole yet."""
        times = str(self._times) if self._operator and self._times > 1 else ""
        return times + self._operator + self._count + self._prefix

    def leave(self, text: str, at: int) -> Act:
        """Esc: back to normal mode; what was begun is forgotten."""
        back = self.mode == "insert" and at > line_start(text, at)
        self._forget()
        self.mode = "normal"
        return Act(_inside(text, at - back))

    def press(self, key: str, text: str, at: int) -> Act:
        """A character in normal or visual mode."""
        act = self._press(key, text, at)
        if act is None:
            return Act(at, self.mode)
        self._forget()
        self.mode = act.mode
        if act.mode == "normal" and not act.order:
            after = text if act.text is None else text[: act.start] + act.text + text[act.end :]
            act = act._replace(cursor=_inside(after, act.cursor))
        return act

    def _press(self, key: str, text: str, at: int) -> Act | None:
        """None: it goes on with the next key."""
        if self._prefix:
            return self._second(key, text, at)
        if key.isdigit() and (self._count or key != "0") and key.isascii():
            self._count += key
            return None
        visual = self.mode == "visual"
        if key in "fFtTg" or (key == "r" and not visual and not self._operator):
            self._prefix = key
            return None
        if key in "ia" and (self._operator or visual):
            self._prefix = key
            return None
        if key in ";,":
            return self._move(self._again(key, text, at), text, at)
        if key == "G":
            return self._move(_to_line(text, int(self._count or 0)), text, at)
        if key in MOTIONS and not (key in "jk" and self._at_edge(key, text, at)):
            return self._motion(key, text, at)
        if visual:
            return self._visual(key, text, at)
        return self._operated(key, text, at) if self._operator else self._normal(key, text, at)

    # -- motions

    def _motion(self, key: str, text: str, at: int) -> Act:
        operator = self._operator
        if operator == "c" and key in "wW" and at < len(text) and not text[at].isspace():
            key = {"w": "e", "W": "E"}[key]  # what vi always did
            at_end = at + 1 >= len(text) or text[at + 1].isspace()
            if at_end and self._total() == 1:
                return self._apply(at, at + 1, text)
        move = moved(key, text, at, self._total())
        if operator and key in "wW" and move is not None and move.to > line_end(text, at):
            move = Move(line_end(text, at))  # the last word of a line does not take the next line
        return self._move(move, text, at)

    def _again(self, key: str, text: str, at: int) -> Move | None:
        """``;`` and ``,``."""
        way, letter = self._found
        if not way:
            return None
        way = way.swapcase() if key == "," else way
        return self._find(way, letter, text, at, again=True)

    def _find(
        self, key: str, letter: str, text: str, at: int, *, again: bool = False
    ) -> Move | None:
        to = at
        for number in range(self._total()):
            nudge = {"t": 1, "T": -1}.get(key, 0) if again or number else 0
            found = find(text, to + nudge, key, letter)
            if found is None:
                return None
            to = found
        return Move(to, "inclusive" if key in "ft" else "exclusive")

    def _move(self, move: Move | None, text: str, at: int) -> Act:
        """Go there, or have the operator take what lies between."""
        if move is None:
            return Act(at, self.mode)
        if not self._operator:
            return Act(move.to, self.mode)
        start, end = sorted((at, move.to))
        if move.reach == "lines":
            return self._apply(line_start(text, start), line_end(text, end), text, lines=True)
        return self._apply(start, end + (move.reach == "inclusive"), text)

    def _at_edge(self, key: str, text: str, at: int) -> bool:
        """No line is above, or below: ``k`` and ``j`` walk in the history then."""
        edge = line_start(text, at) == 0 if key == "k" else line_end(text, at) == len(text)
        return edge and not self._operator and self.mode == "normal"

    # -- what waits for a second key

    def _second(self, key: str, text: str, at: int) -> Act | None:
        prefix, self._prefix = self._prefix, ""
        if prefix == "r":
            return self._replaced(key, text, at)
        if prefix == "g":
            if key == "g":
                return self._move(_to_line(text, int(self._count or 1)), text, at)
            return Act(at, self.mode)
        if prefix in "ia":
            found = thing(text, at, prefix == "a", key)
            if found is None:
                return Act(at, self.mode)
            if self.mode == "visual":
                self.anchor = found[0]
                return Act(max(found[1] - 1, found[0]), "visual")
            return self._apply(*found, text)
        self._found = (prefix, key)
        return self._move(self._find(prefix, key, text, at), text, at)

    def _replaced(self, key: str, text: str, at: int) -> Act:
        end = at + self._total()
        if end > line_end(text, at) or len(key) != 1:
            return Act(at)
        return Act(end - 1, "normal", at, end, key * (end - at))

    # -- operators

    def _operated(self, key: str, text: str, at: int) -> Act:
        """The second key of ``dd``, ``cc``, ``yy``; any other key ends it."""
        if key != self._operator:
            return Act(at)
        last = at
        for _ in range(self._total() - 1):
            last = min(line_end(text, last) + 1, len(text))
        return self._apply(line_start(text, at), line_end(text, last), text, lines=True)

    def _apply(self, start: int, end: int, text: str, *, lines: bool = False) -> Act:
        """Have the operator take this."""
        end = min(end, len(text))
        self._register = text[start:end] + ("\n" if lines else "")
        if self._operator == "y":
            return Act(start)
        if self._operator == "c":
            return Act(start, "insert", start, end, "")
        if lines and end < len(text):
            end += 1
        elif lines and start > 0:
            start -= 1
        after = text[:start] + text[end:]
        cursor = first_word(after, min(start, len(after)))
        return Act(cursor if lines else start, "normal", start, end, "")

    def _visual(self, key: str, text: str, at: int) -> Act:
        start, last = sorted((self.anchor, at))
        end = min(last + 1, len(text))
        if key in "dxcsy":
            self._operator = {"x": "d", "s": "c"}.get(key, key)
            return self._apply(start, end, text)
        if key == "o":
            self.anchor, at = at, self.anchor
            return Act(at, "visual")
        if key in "pP":
            return Act(start, "normal", start, end, self._register.removesuffix("\n"))
        if key == "~":
            return Act(start, "normal", start, end, text[start:end].swapcase())
        return Act(at, "normal" if key == "v" else "visual")

    # -- the rest of normal mode

    def _normal(self, key: str, text: str, at: int) -> Act | None:
        if key in "dcy":
            self._operator, self._times, self._count = key, self._total(), ""
            return None
        if key in _SHORT:
            self._operator, self._times, self._count = _SHORT[key][0], self._total(), ""
            return self._press(_SHORT[key][1], text, at)
        if key in "iIaAoO":
            return self._insert(key, text, at)
        if key in "pP":
            return self._put(key, text, at)
        if key == "v":
            self.anchor = at
            return Act(at, "visual")
        if key == "~":
            end = min(at + self._total(), line_end(text, at))
            return Act(end, "normal", at, end, text[at:end].swapcase())
        if key == "J":
            return _joined(text, at)
        orders: dict[str, Order] = {"u": "undo", "k": "older", "j": "newer"}
        return Act(at, "normal", order=orders.get(key, ""), times=self._total())

    def _insert(self, key: str, text: str, at: int) -> Act:
        start, end = line_start(text, at), line_end(text, at)
        if key == "o":
            return Act(end + 1, "insert", end, end, "\n")
        if key == "O":
            return Act(start, "insert", start, start, "\n")
        places = {"i": at, "I": first_word(text, at), "a": min(at + 1, end), "A": end}
        return Act(places[key], "insert")

    def _put(self, key: str, text: str, at: int) -> Act:
        """``p`` and ``P``."""
        what = self._register
        if not what or len(what) * self._total() > 1_000_000:
            return Act(at)
        if what.endswith("\n"):
            lines = what * self._total()
            if key == "P":
                start = line_start(text, at)
                return Act(start, "normal", start, start, lines)
            end = line_end(text, at)
            return Act(end + 1, "normal", end, end, "\n" + lines.removesuffix("\n"))
        start = min(at + (key == "p"), line_end(text, at))
        what *= self._total()
        return Act(start + len(what) - 1, "normal", start, start, what)

    def _total(self) -> int:
        return min(int(self._count[:6] or 1) * self._times, _MOST)

    def _forget(self) -> None:
        self._count, self._operator, self._times, self._prefix = "", "", 1, ""


def _inside(text: str, at: int) -> int:
    """A place that the cursor of normal mode can have: on a character, where there is one."""
    at = min(max(at, 0), len(text))
    return max(min(at, line_end(text, at) - 1), line_start(text, at))


def _to_line(text: str, number: int) -> Move:
    """A line by its number, from 1; 0: the last one."""
    start = 0
    count = text.count("\n") + 1
    for _ in range(min(number or count, count) - 1):
        start = line_end(text, start) + 1
    return Move(first_word(text, start), "lines")


def _joined(text: str, at: int) -> Act:
    end = line_end(text, at)
    if end == len(text):
        return Act(at)
    behind = end + 1
    while behind < len(text) and text[behind] in " \t":
        behind += 1
    return Act(end, "normal", end, behind, " ")
