"""What was said in a session, searched by words or read whole: the answers of the tool `recall`.

All items count that ever stood in its history, those of which only a summary is sent any more
included; files that were quoted do not, as they are to be read as they are now.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple
from unicodedata import normalize

from msgspec import json

from tui.core.conversation import EntryKind, Item
from tui.core.files import counted
from tui.core.steps import Work, in_parts

FOUND = 20
"""Places in one answer."""
_AROUND = 200
"""Characters on either side of a place."""
_PLACES = 200
"""So many of a word are looked at in an item."""
WHOLE_CHARS = 24_000
"""Of an item in one answer."""
_WHAT: dict[EntryKind, str] = {
    "prompt": "the user",
    "note": "what happened",
    "output": "you",
    "answer": "the result of a call",
    "cut": "a call that was cut",
}
"""Who said it; what is not here is not found."""


class PastItem(NamedTuple):
    """An item that was sent or received."""

    id: str
    turn: int
    kind: EntryKind
    item: Item


class Recollection(NamedTuple):
    """What is looked for."""

    words: str = ""
    turn: int = 0
    """Only what was said in this turn; 0: in any."""
    item: str = ""
    """The id of an item that is wanted whole."""
    start: int = 1
    """Its first character that is wanted, counted from 1."""


def recalled(items: Iterable[PastItem], asked: Recollection) -> Work[str]:
    """The answer, as text for a model."""
    if asked.item:
        return (yield from _whole(items, asked))
    words = _folded(asked.words).split()
    if not words and not asked.turn:
        return "Say words to look for, a turn, or the id of an item."
    hits: list[tuple[int, PastItem, str, int]] = []
    elsewhere: list[tuple[int, PastItem, str, int]] = []
    """In other turns: a model may only guess in which one it was."""
    own = set[object]()
    """Its own calls, which are no memory."""
    for part in in_parts(items):
        for one in part:
            here = not asked.turn or one.turn == asked.turn
            if one.kind not in _WHAT or not (here or words):
                continue
            if one.item.get("name") == "recall":
                own.add(one.item.get("call_id"))
            if one.item.get("name") == "recall" or one.item.get("call_id") in own:
                continue
            text = said_in(one.item)
            folded = _folded(text)
            known = [word for word in words if word in folded]
            if text and (known or not words):
                hit = (len(known), one, text, _best_place(folded, known))
                (hits if here else elsewhere).append(hit)
            yield 1
        yield len(part)
    if elsewhere and not hits:
        found = _listed(elsewhere, words, asked._replace(turn=0))
        return f"Nothing in turn {asked.turn} has any of these words. In other turns: {found}"
    return _listed(hits, words, asked)


def _listed(
    hits: list[tuple[int, PastItem, str, int]], words: list[str], asked: Recollection
) -> str:
    """Places with their turns: those with the most of the words, the newest first."""
    where = f" in turn {asked.turn}" if asked.turn else ""
    if not hits:
        return f"Nothing that was said{where} has any of these words."
    most = max(count for count, *_ in hits)
    best = [hit for hit in hits if hit[0] == most]
    if words:
        best.reverse()
    whole = most == len(words)
    head = [f"{counted(len(best), 'item')}{where}"]
    head += [] if whole else [f"with {most} of the {len(words)} words (none has all)"]
    head += [f"the first {FOUND} of them"] * (len(best) > FOUND)
    lines = [", ".join(head) + "; item=ID gives the whole of one:"]
    for _, one, text, at in best[:FOUND]:
        lines.append(f"\nitem {one.id}, turn {one.turn}, {_WHAT[one.kind]}:")
        lines.append(_excerpt(text, _unfolded(text, at)))
    return "\n".join(lines)


def _folded(text: str) -> str:
    """As words are compared: without case, and in one spelling of accents."""
    return text.casefold() if text.isascii() else normalize("NFC", text).casefold()


def _unfolded(text: str, at: int) -> int:
    """Where a place of the folded text is in the text, which may be longer or shorter."""
    if text.isascii():
        return at
    return bisect_right(range(len(text) + 1), at, key=lambda end: len(_folded(text[:end]))) - 1


def _best_place(text: str, words: list[str]) -> int:
    """Where most of the words stand near each other."""
    best, place = 0, 0
    for word in words:
        at = text.find(word)
        for _ in range(_PLACES):
            if at < 0:
                break
            around = text[max(at - _AROUND, 0) : at + _AROUND]
            count = sum(one in around for one in words)
            if count > best:
                best, place = count, at
            if best == len(words):
                return place
            at = text.find(word, at + _AROUND)
    return place


def _excerpt(text: str, at: int) -> str:
    first, last = max(at - _AROUND, 0), at + _AROUND
    before, behind = "…" * (first > 0), "…" * (last < len(text))
    return f"{before}{text[first:last].strip()}{behind}"


def _whole(items: Iterable[PastItem], asked: Recollection) -> Work[str]:
    for part in in_parts(items):
        for one in part:
            if one.id == asked.item and one.kind in _WHAT:
                text, first = said_in(one.item), max(asked.start - 1, 0)
                rest = len(text) - first - WHOLE_CHARS
                go_on = f"\n({rest:,} more characters: start={first + WHOLE_CHARS + 1})"
                head = f"item {one.id}, turn {one.turn}, {_WHAT[one.kind]}:\n"
                return head + text[first : first + WHOLE_CHARS] + go_on * (rest > 0)
        yield len(part)
    return f"There is no item {asked.item}; search for words to find one."


def said_in(item: Item) -> str:
    """The text of an item: what a message says, what a call asks, what it was answered."""
    kind = str(item.get("type"))
    if kind.endswith("_output"):
        return _text(item.get("output"))
    if kind.endswith("_call"):
        asked = next(
            (
                item[name]
                for name in ("input", "arguments", "action", "operation")
                if item.get(name)
            ),
            "",
        )
        name = str(item.get("name") or kind.removesuffix("_call"))
        return f"{name} {_text(asked)}".rstrip()
    return _text(item.get("content") or item.get("summary"))


def _text(said: object) -> str:
    if isinstance(said, str):
        return said
    if isinstance(said, list):
        parts = (one.get("text") or one.get("refusal") for one in said if isinstance(one, dict))
        if texts := [one for one in parts if isinstance(one, str)]:
            return "\n".join(texts)
    try:
        return json.encode(said).decode() if said else ""
    except (TypeError, UnicodeError, OverflowError):
        return str(said)
