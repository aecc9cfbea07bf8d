"""Regular expressions that are compiled when they are first used.

Eighty are written down in modules of the first paint, which needs few of them; each takes a quarter
of a millisecond to be compiled.
"""

from __future__ import annotations

import re
from typing import Any, cast

_METHODS = ("match", "fullmatch", "search", "finditer", "findall", "split", "sub", "subn")


class _LatePattern:
    """Has the methods of the compiled one as its own from the first call on."""

    def __init__(self, text: str, flags: int) -> None:
        self._asked = text, flags

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(*self._asked)
        for method in _METHODS:
            self.__dict__[method] = getattr(compiled, method)
        return self.__dict__[name]


def pattern(text: str, flags: int | re.RegexFlag = 0) -> re.Pattern[str]:
    """A pattern whose methods can be called; as an argument of `re`'s functions it will not do."""
    return cast("re.Pattern[str]", _LatePattern(text, int(flags)))


HEAVIEST = 50_000
"""Items; about 10 ms and 10 MB to compile."""
_PIECE = pattern(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(\d*)(,?)(\d*)\}|.", re.S)


def pattern_weight(pattern: str) -> int:
    """Items of a pattern with its counted repeats written out; too many rather than too few."""
    sums, atom = [0], 0
    for piece in _PIECE.finditer(pattern):
        sign = piece[0]
        if sign == "(":
            sums.append(0)
            atom = 0
        elif sign == ")":
            atom = sums.pop() + 1 if len(sums) > 1 else 1
            if not sums:
                sums = [0]
            sums[-1] += atom
        elif sign[0] == "{" and (piece[1] or piece[3]):
            times = max(_number(piece[1]), _number(piece[3]), 1)
            sums[-1] += atom * (times - 1)
            atom *= times
        elif sign not in "*+?":
            atom = 1
            sums[-1] += 1
        if max(sums[-1], atom) > HEAVIEST:
            return HEAVIEST + 1
    return sum(sums)


def _number(digits: str) -> int:
    return int(digits[:9] or 0)
