"""What a model found in a difference: read leniently from the lines of its answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from urllib.parse import quote, unquote

from tui.core.document.line_notes import Severity
from tui.core.text.diff import line_changes
from tui.core.text.patterns import pattern
from tui.core.text.rows import keep_ends

_SEVERITIES: dict[str, Severity] = {
    **dict.fromkeys(("error", "critical", "bug", "blocker", "high", "severe", "fatal"), "error"),
    **dict.fromkeys(("warning", "warn", "medium", "major", "moderate", "risk"), "warning"),
    **dict.fromkeys(("hint", "info", "note", "nit", "minor", "low", "style"), "hint"),
    "suggestion": "hint",
}
_FINDING = pattern(
    r"[\s>*\-•+]{0,12}(?:\d{1,3}[.)]\s{1,3})?[*\[(`\"]{0,4}"
    r"(?P<path>[^\s:`*|\",#]{1,400})[`*\]\"]{0,3}"
    r"(?::\s?(?:lines?\s{0,2}|L)?|[\s,(#]{1,4}(?:lines?\s{1,2}|L))"
    r"(?P<line>\d{1,9})(?!\w)(?:\s?[-–]\s?L?\d{1,9})?(?::\d{1,6})?"
    r"[`*\])\"]{0,4}\s{0,4}[:,\-–—]{0,3}\s{0,4}[\[(*`]{0,4}"
    rf"(?:(?P<severity>{'|'.join(_SEVERITIES)})\b"
    r"(?:[\])*`]{1,4}\s{0,4}[:\-–—]{0,3}|\s{0,4}[:\-–—]{1,3})[*`]{0,4}\s{0,4})?"
    r"(?P<text>\S.*)",
    re.IGNORECASE,
)
_ODD = pattern(r"[\s:`*|\",#]")
"""What a path has seldom, and what stands around one often."""
_MOST = 200
"""Findings of one answer."""
_MOST_CHARS = 2_000


class Finding(NamedTuple):
    """One of them."""

    path: str
    """As the model wrote it."""
    line: int
    """From 1."""
    severity: Severity
    text: str


def findings(answer: str, paths: Iterable[str] = ()) -> list[Finding]:
    """The findings in an answer: ``PATH:LINE: SEVERITY: TEXT``, with whatever stands around it.

    Lines behind one that are indented go on with it. ``paths`` are those that were inspected: one
    with blanks in it is known by that.
    """
    odd = sorted({path for path in paths if _ODD.search(path)}, key=len, reverse=True)
    found: list[Finding] = []
    goes_on = False
    for line in answer.splitlines():
        line = line[:_MOST_CHARS]
        named = min((path for path in odd if path in line), key=line.index, default="")
        said = _FINDING.fullmatch(line.replace(named, quote(named), 1) if named else line)
        if said is not None and (_is_path(said["path"]) or said["severity"]):
            severity = _SEVERITIES.get((said["severity"] or "").lower(), "warning")
            text = said["text"].strip().strip("*")
            path = unquote(said["path"]) if named else said["path"]
            found.append(Finding(path, int(said["line"]), severity, text))
            goes_on = True
        elif goes_on and line[:1].isspace() and line.strip():
            last = found.pop()
            found.append(last._replace(text=f"{last.text} {line.strip()}"[:_MOST_CHARS]))
        else:
            goes_on = False
    return list(dict.fromkeys(found))[:_MOST]


def _is_path(said: str) -> bool:
    """False for words that only stand before a number."""
    return "/" in said or "." in said.strip(".")


def meant(said: str, paths: Iterable[str]) -> str:
    """Which of the paths is meant; empty: none, or more than one."""
    known = list(paths)
    clean = said.replace("\\", "/")
    for one in (clean, clean.removeprefix("./"), clean[2:] if clean[:2] in ("a/", "b/") else clean):
        if one in known:
            return one
    ends = {path for path in known if path.endswith(f"/{clean}") or clean.endswith(f"/{path}")}
    return ends.pop() if len(ends) == 1 else ""


_AROUND = 3


def numbered_diff(old: str, new: str, most_chars: int) -> str:
    """What differs, each line that is there now with its number; cut where it is too long."""
    lines, parts, shown = keep_ends(new), list[str](), -1
    for change, (first, _), _ in line_changes(old, new).placed():
        added, gone = keep_ends(change.new_text), keep_ends(change.old_text)
        if shown < 0 or first - shown > 2 * _AROUND:
            parts += _rows(lines, shown, shown + _AROUND, " ") if shown >= 0 else []
            parts.append("@@")
            shown = first - _AROUND
        parts += _rows(lines, shown, first, " ")
        parts += [f"      -{line.rstrip(chr(10))}" for line in gone]
        shown = first + len(added)
        parts += _rows(lines, first, shown, "+")
    parts += _rows(lines, shown, shown + _AROUND, " ") if shown >= 0 else []
    text = "\n".join(parts)
    return (
        text if len(text) <= most_chars else f"{text[:most_chars]}\n(cut: read_file has the rest)"
    )


def _rows(lines: Sequence[str], first: int, last: int, sign: str) -> list[str]:
    rows = range(max(first, 0), min(last, len(lines)))
    return [f"{row + 1:>5} {sign}{lines[row].rstrip(chr(10))}" for row in rows]
