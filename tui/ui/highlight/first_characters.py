"""Which rules of a lexer can match at a character, so that the others are not tried there.

A state of Python's lexer has 40 rules; five of them can match where a name begins. What a match can
begin with is read from the parsed expression, on the safe side: a rule that is left out surely
does not match. The parser is Python's own, by a private name: without it all rules are tried.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

try:
    sre: Any = import_module("re._parser")
except ImportError:  # another Python
    sre = None

ASCII = 128
_ALL = frozenset(range(ASCII))
_CATEGORIES = {
    "CATEGORY_DIGIT": r"\d",
    "CATEGORY_NOT_DIGIT": r"\D",
    "CATEGORY_SPACE": r"\s",
    "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w",
    "CATEGORY_NOT_WORD": r"\W",
}
_MEMBERS = {
    name: frozenset(code for code in _ALL if re.match(pattern, chr(code)))
    for name, pattern in _CATEGORIES.items()
}

_LONGEST = 2_000
"""Characters of an expression; longer ones, lists of words, take milliseconds to parse."""
Rule = tuple[Callable[..., Any], Any, Any]


ByCharacter = tuple[dict[str, Sequence[Rule]], Sequence[Rule]]
"""The rules of a state that can match at an ASCII character; all of them, for any other place."""


class ByState(dict[str, ByCharacter]):
    """The rules of each state of a lexer by character, made when they are asked for."""

    def __init__(self, states: Mapping[str, Sequence[Rule]]) -> None:
        super().__init__()
        self._states = states
        self._known: dict[object, frozenset[int]] = {}

    def __missing__(self, state: str) -> ByCharacter:
        """Those of a state; takes some milliseconds where it has many rules."""
        rules, known = self._states[state], self._known
        patterns = [getattr(match_at, "__self__", None) for match_at, _, _ in rules]
        known |= {one: _first(one) for one in patterns if one not in known}
        first = [known[one] for one in patterns]
        fitting = {code: tuple(code in codes for codes in first) for code in _ALL}
        kept = {
            fits: [rule for rule, fit in zip(rules, fits, strict=True) if fit]
            for fits in set(fitting.values())
        }
        made = self[state] = ({chr(code): kept[fits] for code, fits in fitting.items()}, rules)
        return made


def _first(pattern: object) -> frozenset[int]:
    """ASCII characters that a match can begin with; all of them, if that is not known."""
    if sre is None or not isinstance(pattern, re.Pattern) or len(pattern.pattern) > _LONGEST:
        return _ALL
    try:
        parsed = sre.parse(pattern.pattern, pattern.flags)
    except (re.error, RecursionError):
        return _ALL
    codes, empty = _of_sequence(parsed, bool(pattern.flags & re.IGNORECASE))
    return _ALL if empty else codes


def _of_sequence(items: Iterable[Any], folds: bool) -> tuple[frozenset[int], bool]:
    """What a sequence can begin with, and whether it can match nothing."""
    found: frozenset[int] = frozenset()
    for op, value in items:
        codes, empty = _of_item(str(op), value, folds)
        found |= codes
        if not empty:
            return found, False
    return found, True


def _of_item(op: str, value: Any, folds: bool) -> tuple[frozenset[int], bool]:
    if op in ("AT", "ASSERT", "ASSERT_NOT"):
        return frozenset(), True
    if op == "LITERAL":
        return _folded(frozenset({value}), folds), False
    if op == "NOT_LITERAL":
        return (_ALL if folds else _ALL - {value}), False
    if op == "IN":
        return _of_set(value, folds), False
    if op in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        codes, empty = _of_sequence(value[2], folds)
        return codes, empty or not value[0]
    if op == "ATOMIC_GROUP":
        return _of_sequence(value, folds)
    if op == "SUBPATTERN":
        return _of_sequence(value[3], folds or bool(value[1] & re.IGNORECASE))
    if op == "BRANCH":
        parts = [_of_sequence(part, folds) for part in value[1]]
        return frozenset().union(*(codes for codes, _ in parts)), any(e for _, e in parts)
    return _ALL, op != "ANY"  # what refers to a group may be empty


def _of_set(members: Sequence[tuple[Any, Any]], folds: bool) -> frozenset[int]:
    found: set[int] = set()
    for op, value in members:
        if str(op) == "LITERAL":
            found.add(value)
        elif str(op) == "RANGE":
            found.update(range(value[0], min(value[1], ASCII) + 1))
        elif str(op) == "CATEGORY":
            found |= _MEMBERS.get(str(value), _ALL)
    codes = _folded(frozenset(found), folds)
    if str(members[0][0]) == "NEGATE":
        return _ALL if folds else _ALL - codes
    return codes


def _folded(codes: frozenset[int], folds: bool) -> frozenset[int]:
    """With the other case of each; signs beyond ASCII may be another case of a letter."""
    if folds and any(code >= ASCII for code in codes):
        return _ALL
    if not folds:
        return codes & _ALL
    both = {ord(other) for code in codes for other in (chr(code).lower(), chr(code).upper())}
    return frozenset(both) & _ALL
