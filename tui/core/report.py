"""What a model is told of its patch: from the hunks as they stand, not from what it sent."""

from __future__ import annotations

from collections.abc import Sequence

from tui.core.hunk import PLACED, Decision, Hunk, Kind, Stage
from tui.core.ledger import Ledger
from tui.core.rows import rows_text

QUOTE_CHARS = 6000
"""About 1,500 tokens: what is quoted of the changed regions at most."""
_AROUND = 2
_IN = (Decision.PENDING, Decision.ACCEPTED)


def landing_report(ledger: Ledger, hunks: Sequence[Hunk], failure: str, was_cut: bool) -> str:
    """One line a hunk, and the current text where it is not what the patch says."""
    parts = [_headline(hunks, failure, was_cut)]
    path = ""
    for number, hunk in enumerate(hunks, 1):
        if hunk.path != path:
            path = hunk.path
            parts.append(f"{_shown(path)}:")
        parts.append(f"  hunk {number} {hunk_words(hunk)}")
    parts += _regions(ledger, hunks)
    kept = any(hunk.stage in PLACED and hunk.decision in _IN for hunk in hunks)
    if kept and (failure or was_cut or not _all_placed(hunks)):
        parts.append("Do not resend the hunks that are placed.")
    if any(hunk.stage is Stage.CANDIDATES for hunk in hunks):
        parts.append("Do not resend the hunks that the user is asked about.")
    return "\n".join(parts)


def hunk_words(hunk: Hunk) -> str:
    """A hunk in words: what became of it, and where it is now."""
    if hunk.decision is Decision.REJECTED:
        return f'rejected by the user: "{hunk.words}"' if hunk.words else "rejected by the user"
    if hunk.stage is Stage.CANDIDATES and hunk.candidates:
        return f"not applied yet, the user is asked where: {hunk.reason}"
    if hunk.stage is Stage.DROPPED and (hunk.added or hunk.removed):
        return f"NOT applied: {hunk.reason}, cut after -{hunk.removed}/+{hunk.added} lines"
    if hunk.stage not in PLACED:
        return f"NOT applied: {hunk.reason or hunk.stage.value}"
    state = "accepted" if hunk.decision is Decision.ACCEPTED else "placed, pending review"
    words = [state]
    if hunk.kind is Kind.MOVE:
        words.append(f"to {_shown(hunk.target)}")
    elif hunk.kind is not Kind.DELETE and hunk.start and hunk.end:
        words.append(_lines(hunk.start.line, hunk.end.line))
    words += hunk.flags
    if hunk.stage is Stage.PARTIAL:
        words.append(hunk.reason)
    return ", ".join(words)


def _headline(hunks: Sequence[Hunk], failure: str, was_cut: bool) -> str:
    count = len(hunks)
    placed = sum(hunk.stage in PLACED and hunk.decision in _IN for hunk in hunks)
    all_of = f"{count} hunk{'s' * (count != 1)}"
    if failure:
        head = f"the patch is not valid, {failure}; nothing behind that was read"
    elif was_cut:
        head = "the patch was interrupted"
    else:
        head = "the patch was read"
        if hunks and placed == count:
            return f"{head}: placed, pending review ({all_of})"
    return f"{head}: {placed} of {all_of} placed"


def _all_placed(hunks: Sequence[Hunk]) -> bool:
    return all(hunk.stage is Stage.LANDED for hunk in hunks)


def _lines(first: int, last: int) -> str:
    if last <= first:
        return f"before line {first + 1}"
    return f"line {last}" if last == first + 1 else f"lines {first + 1}-{last}"


def _regions(ledger: Ledger, hunks: Sequence[Hunk]) -> list[str]:
    """The current text where a hunk is placed loosely, in part, or was edited since."""
    parts: list[str] = []
    room = QUOTE_CHARS
    for hunk in hunks:
        record = ledger.records.get(hunk.path)
        if record is None or hunk.start is None or hunk.end is None or hunk.kind is not Kind.EDIT:
            continue
        first, last = hunk.start.line, hunk.end.line
        edited = rows_text(record.buffer, first, last) != hunk.agent
        if not (hunk.flags or edited or hunk.stage is Stage.PARTIAL):
            continue
        first, last = max(0, first - _AROUND), last + _AROUND
        text = rows_text(record.buffer, first, last)
        if text and len(text) <= room:
            room -= len(text)
            where = f"Current text of {_shown(hunk.path)}, {_lines(first, last)}"
            parts.append(f"{where}:\n{text.rstrip(chr(10))}")
    return parts


def _shown(path: str) -> str:
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in path)
