"""How large a regular expression becomes when it is compiled.

The `regex` package writes every counted repeat out: ``((a{1000}){1000}){1000}`` takes all memory
before its time limit can begin. So whoever compiles somebody's pattern weighs it first.
"""

from __future__ import annotations

import re

from tui.core.text.patterns import pattern

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
