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
