"""Says of a change whether it looks made for the tests that failed, and not for what they test.

It is a guess from the words of both: a value that a test names is asked for, and the one that it
expects is returned; or the code looks who calls it. Small numbers are left out, since a rule may
well begin with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_LITERAL = re.compile(r"""(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])|"[^"\n]*"|'[^'\n]*'""")
_PLACE = re.compile(r"""^\s*File "|^\s*at |^\S*[\w/]\.\w+:\d+|^/\S+""")
_ASKS = re.compile(
    rf"(?:==|\.equals\(|\bis\b)\s*({_LITERAL.pattern})|(?:==|\bin)\s*[(\[{{]([^)\]}}\n]*)"
    r"|\bcase\s+([^:\n]+):"
)
_GIVES = re.compile(r"\breturn\b(.*)|(?:=>|->)(.*)|\)\s*\?(.*)|=(?!=)(.*)")
_PAIR = re.compile(rf"({_LITERAL.pattern})\s*(?::|=>|->)\s*({_LITERAL.pattern})")
_LOOKS = re.compile(
    r"PYTEST_CURRENT_TEST|\bimport (?:_?pytest|unittest)\b|\bfrom (?:_?pytest|unittest)\b"
    r"""|["'](?:_?pytest|unittest)["']|\b_getframe\b|\binspect\.(?:stack|currentframe)\b"""
    r"|\bjunitxml\b|\bos\._exit\b|JEST_WORKER_ID|import\.meta\.vitest|cfg!\(test\)"
    r"|\btesting\.Testing\(\)"
)
_EQUALS_ALL = re.compile(r"def __eq__\([^)]*\)[^:\n]*:\s*return True\b")
_NEAR = 4
"""Lines from what is asked to what is returned."""
_MOST_DETAIL = 4_000


def made_for_tests(before: str, after: str, details: Iterable[str]) -> str:
    """What of a change looks so, in words; empty: nothing does.

    ``details`` are what a runner said of each test that failed, with its lines.
    """
    old = set(map(str.strip, before.splitlines()))
    fresh = [line for line in after.splitlines() if line.strip() not in old]
    text = "\n".join(fresh)
    if (found := _LOOKS.search(text)) and found[0] not in before:
        return f"it asks for {found[0]}"
    if _EQUALS_ALL.search(text):
        return "it is equal to everything"
    cases = list(_cases(fresh, text))
    told = [_named(detail) for detail in details]
    if any(given not in set().union(*told) for given, _ in cases):
        return ""  # a table, of which the tests name some
    for given, result in cases:
        if given != result and any({given, result} <= named for named in told):
            return f"it returns {result} for {given}"
    return ""


def _named(detail: str) -> set[str]:
    """Values that a test names, but not those of places in files."""
    lines = detail[-_MOST_DETAIL:].splitlines()
    return _literals("\n".join(line for line in lines if not _PLACE.match(line)))


def _cases(fresh: Sequence[str], text: str) -> Iterable[tuple[str, str]]:
    """Pairs of a value that is asked for, and one that is given for it."""
    for one in _PAIR.finditer(text):
        sides = [_literals(side) for side in (one[1], one[2])]
        yield from ((given, result) for given in sides[0] for result in sides[1])
    for number, line in enumerate(fresh):
        asked = {one for asks in _ASKS.findall(line) for one in _literals(" ".join(asks))}
        if not asked:
            continue
        for behind in fresh[number : number + _NEAR]:
            for gives in _GIVES.finditer(behind):
                results = _literals(next(filter(None, gives.groups()), ""))
                yield from ((given, result) for given in asked for result in results)


def _literals(text: str) -> set[str]:
    """Values in it that are no usual ones, each as one way of writing them has it."""
    found = (one[0].replace('"', "'") for one in _LITERAL.finditer(text))
    return {one for one in found if one.lstrip("-") not in ("0", "1", "2", "''", "10", "100")}
