"""Where the motions of vi lead: from a place in a text to another one. Places are 0-based."""

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
