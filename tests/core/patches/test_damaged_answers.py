"""Real edits, told in each notation and damaged as models do: never silently wrong.

Right, flagged, or refused and said. What auto-accept would write is the file with some of its
edits made, each as it was meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from functools import cache
from itertools import combinations
from typing import NamedTuple

import pytest

from tests.support.notations import edited, told
from tests.support.patches import Disk, Edit
from tests.support.scenarios import CORPUS, LINK, Scenario
from tui.core.edit_stream.events import Notation

CONTEXT = 3
MOST_EDITS = 5
PREFIXED: tuple[Notation, ...] = ("apply_patch", "unified_diff")
ALL: tuple[Notation, ...] = (*PREFIXED, "search_replace")
ODD = set("\r\f\ufeff\ufffd")
CURLY = str.maketrans({"'": "\u2019", '"': "\u201d"})


class Change(NamedTuple):
    """What a scenario does to one of its files."""

    lines: list[str]
    edits: list[Edit]


@cache
def changes() -> list[Change]:
    """Each once, of all scenarios in which a file with whole lines changes."""
    seen = set[tuple[str, str]]()
    found: list[Change] = []
    for folder in sorted(CORPUS.glob("*/*/")):
        scenario = Scenario(folder)
        before, after = scenario.tree("input"), scenario.expected()
        for path in sorted(before.keys() & after.keys()):
            old, new = before[path], after[path]
            if old == new or LINK in (old[: len(LINK)], new[: len(LINK)]):
                continue
            texts = old.decode("utf-8", "replace"), new.decode("utf-8", "replace")
            if (
                all(text.endswith("\n") and not set(text) & ODD for text in texts)
                and texts not in seen
            ):
                seen.add(texts)
                lines, meant = (text.split("\n")[:-1] for text in texts)
                if can_be_told(lines, meant):
                    found.append(Change(lines, list(between(lines, meant))[:MOST_EDITS]))
    return found


def can_be_told(old: list[str], new: list[str]) -> bool:
    """No damage takes away all that says what is meant: blanks at ends, the only indentation."""
    stripped = [line.rstrip() for line in old], [line.rstrip() for line in new]
    deep = [any(line.startswith("  ") for line in lines) for lines in (old, new)]
    return stripped[0] != stripped[1] and any(stripped[0]) and deep[0] == deep[1]


def between(old: list[str], new: list[str]) -> Iterator[Edit]:
    """The edits, with enough lines between them that none quotes what another one writes."""
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT):
        changed = [code for code in group if code[0] != "equal"]
        (_, first, _, begin, _), (_, _, last, _, end) = changed[0], changed[-1]
        yield Edit(first, last, tuple(new[begin:end]))


def lines_of(change: Callable[[str], str | None]) -> Callable[[str], str]:
    """Change each line of a text; a line for which ``change`` gives None is left out."""
    return lambda text: "".join(
        f"{line}\n" for one in text.split("\n")[:-1] if (line := change(one)) is not None
    )


def indented(by: str) -> Callable[[str], str]:
    """All that is quoted stands deeper."""
    return lines_of(lambda line: line[0] + by + line[1:] if line[1:] and line[0] in " -+" else line)


def of_heads(change: Callable[[re.Match[str]], str]) -> Callable[[str], str]:
    """A damage to the headers of a unified diff's sections."""
    return lambda text: re.sub(r"(?m)^@@ -(\d+),(\d+) \+(\d+),(\d+) @@", change, text)


DAMAGES: dict[str, tuple[tuple[Notation, ...], Callable[[str], str]]] = {
    "none": (ALL, str),
    "blank context left out": (PREFIXED, lines_of(lambda line: None if line == " " else line)),
    "prefix forgotten": (PREFIXED, lines_of(lambda line: line.removeprefix(" "))),
    "both": (PREFIXED, lines_of(lambda line: None if line == " " else line.removeprefix(" "))),
    "some prefixes forgotten": (
        PREFIXED,
        lines_of(lambda line: line[1:] if line[:1] == " " and len(line) % 2 else line),
    ),
    "tabs for blanks": (ALL, lambda text: re.sub(r"(?m)^([ +-]?)    ", r"\1\t", text)),
    "blanks for tabs": (ALL, lambda text: text.replace("\t", "    ")),
    "trailing blanks cut": (ALL, lines_of(str.rstrip)),
    "trailing blanks put on": (
        ALL,
        lambda text: re.sub(r"(?m)^([ +-]?.*[^>=H\n])$", r"\1  ", text),
    ),
    "curly quotes": (
        PREFIXED,
        lines_of(lambda line: line if line[:1] == "+" else line.translate(CURLY)),
    ),
    "four deeper": (PREFIXED, indented("    ")),
    "one deeper": (PREFIXED, indented(" ")),
    "CRLF": (ALL, lambda text: text.replace("\n", "\r\n")),
    "no final newline": (ALL, lambda text: text.rstrip("\n")),
    "numbers wrong": (
        ("unified_diff",),
        of_heads(lambda m: f"@@ -{int(m[1]) + 7},{m[2]} +{int(m[3]) + 2},{m[4]} @@"),
    ),
    "counts wrong": (("unified_diff",), of_heads(lambda m: f"@@ -{m[1]},2 +{m[3]},9 @@")),
    "no numbers": (("unified_diff",), of_heads(lambda _: "@@ ... @@")),
    "no a/ and b/": (
        ("unified_diff",),
        lambda text: re.sub(r"(?m)^(---|\+\+\+) [ab]/", r"\1 ", text),
    ),
    "no envelope": (("apply_patch",), lines_of(lambda line: None if "Patch" in line else line)),
}
ORDERS: dict[str, Callable[[list[Edit]], list[Edit]]] = {
    "as it is": list,
    "out of order": lambda edits: edits[::-1],
    "twice": lambda edits: [*edits, edits[0]],
}


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_answer_is_right_flagged_or_refused(damage: str, order: str) -> None:
    notations, spoil = DAMAGES[damage]
    for lines, edits in changes()[len(order) % 3 :: 1 if order == "as it is" else 3]:
        states = [
            "".join(f"{line}\n" for line in edited(lines, some)).encode()
            for count in range(len(edits), -1, -1)
            for some in combinations(edits, count)
        ]
        for fmt in notations:
            place = Disk({"a.py": states[-1]})
            text = spoil(told(fmt, lines, ORDERS[order](edits), CONTEXT, "a.py"))
            landing = place.land(text, fmt=fmt)
            hunks, taken = landing.hunks, place.workspace.may_be_taken_as_read
            place.write(place.workspace.accept([hunk.id for hunk in hunks if taken(hunk)]))
            assert place.files["a.py"] in states, text
            silent = landing.placed_all and not any(hunk.flags for hunk in hunks)
            assert not silent or place.files["a.py"] == states[0], text
