"""Hunk cards: what one patch did to each file, and how every hunk of it stands."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rich.cells import cell_len

from tui.core.edits.hunk import PLACED, UNDONE, Decision, Hunk, Kind, Stage, need_of
from tui.core.edits.roster import FileTally
from tui.ui import theme
from tui.ui.rows import Line, Piece, Target, breaks, clip, clip_left, flat, inert, one_line, spread

MINUS = "\N{MINUS SIGN}"
_MOST_CANDIDATES = 5
_MOST_STREAMED = 40
_ROOM_FOR_WHY = 62


class Look(NamedTuple):
    """How a hunk's state is written."""

    glyph: str
    word: str
    colour: str


_DECIDED = {
    Decision.ACCEPTED: Look("✓", "accepted", "hunk-accepted"),
    Decision.REJECTED: Look("✗", "rejected", "hunk-struck"),
}
_STAGES = {
    Stage.READING: Look("…", "reading", "muted"),
    Stage.CANDIDATES: Look("?", "where?", "hunk-candidate"),
    Stage.LOCATED: Look("…", "located", "hunk-landing"),
    Stage.LANDING: Look("▸", "landing", "hunk-landing"),
    Stage.LANDED: Look("●", "pending", "hunk-pending"),
    Stage.PARTIAL: Look("◐", "partial", "hunk-partial"),
    Stage.CONFLICT: Look("!", "conflict", "hunk-conflict"),
    Stage.REFUSED: Look("⊘", "refused", "hunk-struck"),
    Stage.DROPPED: Look("-", "dropped", "faint"),
}


def look(hunk: Hunk) -> Look:
    """The decision where there is one, else the stage."""
    rejected = hunk.decision is Decision.REJECTED
    if rejected and hunk.words == UNDONE:
        return Look("↶", UNDONE, "hunk-struck")
    if (hunk.stage in PLACED or rejected) and hunk.decision in _DECIDED:
        return _DECIDED[hunk.decision]
    return _STAGES[hunk.stage]


class Focus(NamedTuple):
    """What the keys of review are on, so that the card can say what they do."""

    hunk_id: int = 0
    candidate: int = 0
    """Which of an ambiguous hunk's candidates is chosen."""
    opened: bool = False
    """The text of a hunk that is not in the buffer is shown."""
    has_keys: bool = True
    """The keyboard is here: what the keys do is said."""


class Part(NamedTuple):
    """Hunks of one file that have rows of their own."""

    path: str
    tally: FileTally
    first: int
    last: int
    """Of the tally's hunks, without the last."""
    headed: bool = True
    """The file's own row is above them."""
    shut: bool = False
    """The file's hunks are folded away."""
    earlier: bool = False
    """Those before the first have one row together."""

    @property
    def hunks(self) -> list[Hunk]:
        """Those that have rows."""
        return [] if self.shut else self.tally.hunks[self.first : self.last]


def empty_lines(cut: bool) -> list[Line]:
    """A card without hunks."""
    words = "patch stopped before it named a file" if cut else "reading the patch…"
    return [Line([(f" ✎ {words}", theme.active().style("muted"))], "panel")]


def card_lines(parts: Iterable[Part], width: int, focus: Focus, block: int = 0) -> list[Line]:
    """The rows of these hunks on the card of a patch; ``block``: the index of its block."""
    lines: list[Line] = []
    for part in parts:
        if part.headed:
            target = Target("file", block, part.path)
            header = _header(part.path, part.tally, width, part.shut)
            lines.append(header._replace(target=target))
        if part.earlier and not part.shut:
            words = f"     ⋯ {part.first} earlier hunk{'s' if part.first > 1 else ''}"
            lines.append(Line([(words, theme.active().style("faint"))], "panel"))
        for hunk in part.hunks:
            lines += _hunk_lines(hunk, width, focus)
    return lines


def _header(path: str, tally: FileTally, width: int, shut: bool) -> Line:
    palette = theme.active()
    total = tally.total
    decided = total - tally.waiting
    verb = {Kind.ADD: "new file", Kind.DELETE: "deleted", Kind.MOVE: "moved"}.get(
        tally.hunks[0].kind, f"{total} hunk{'s' if total > 1 else ''}"
    )
    right: list[Piece] = [
        (f" {verb}  ", palette.style("muted")),
        (f"+{tally.added} ", palette.style("hunk-accepted")),
        (f"{MINUS}{tally.removed}", palette.style("hunk-struck")),
        (f"  {decided}/{total} ", palette.style("faint" if decided < total else "success")),
    ]
    room = width - sum(cell_len(text) for text, _ in right) - 3
    left: list[Piece] = [
        (" ▸ " if shut else " ✎ ", palette.style("accent")),
        (clip_left(one_line(path), max(room, 6)), palette.style("foreground", more="bold")),
    ]
    return Line(spread(left, right, width), "panel")


def _hunk_lines(hunk: Hunk, width: int, focus: Focus) -> list[Line]:
    """Its rows; its number is the one by which the model is told of it, and all else names it."""
    palette = theme.active()
    state = look(hunk)
    focused = hunk.id == focus.hunk_id
    target = Target("hunk", hunk.id)
    where = f"L{hunk.start.line + 1}" if hunk.start is not None else _sought(hunk)
    left: list[Piece] = [
        (f" {hunk.id:>3} ", palette.style("faint")),
        (f"{state.glyph} {state.word:<9}", palette.style(state.colour)),
        (f"{where:<6}", palette.style("muted")),
    ]
    right = _keys(hunk, width) if focused and focus.has_keys else []
    if not right:
        right = [(f"+{hunk.added} {MINUS}{hunk.removed} ", palette.style("faint"))]
    lines = [Line(spread(left, right, width), "panel", target)]
    if hunk.placeable:
        lines.append(Line(_candidates(hunk, focus if focused else Focus()), "panel", target))
    reasons = [*(f"⚑ {flag}" for flag in hunk.flags), *([hunk.reason] if hunk.reason else [])]
    if hunk.words and hunk.words != UNDONE:
        reasons.append(f"you said: {hunk.words}")
    if hunk.kind is Kind.MOVE:
        reasons.append(f"→ {hunk.target}")
    style = palette.style("warning" if need_of(hunk) else "muted")
    for reason in reasons:
        text = one_line(reason)
        lines += [
            Line([("       ", style), (text[start:end], style)], "panel", target)
            for start, end in breaks(text, width - 8)[:4]
        ]
    return lines + (_streamed(hunk, width) if focused and focus.opened else [])


def _sought(hunk: Hunk) -> str:
    """How many places a hunk may have whose lines still come."""
    if hunk.stage is not Stage.CANDIDATES or hunk.reason:
        return ""
    count = len(hunk.candidates)
    several = f"{count} candidates" if count <= _MOST_CANDIDATES else "many candidates"
    words = "no place yet" if not count else "1 candidate" if count == 1 else several
    return f"{words}, reading context"


def _streamed(hunk: Hunk, width: int) -> list[Line]:
    """What came of a hunk that is not in the buffer."""
    palette, target = theme.active(), Target("hunk", hunk.id)
    removed, added = palette.style("hunk-struck"), palette.style("hunk-accepted")
    texts = [(MINUS, text, removed) for text in hunk.base.splitlines()]
    texts += [("+", text, added) for text in hunk.agent.splitlines()]
    lines = [
        Line([(f"       {sign}{clip(flat(inert(text)), width - 9)}", style)], "panel", target)
        for sign, text, style in texts[:_MOST_STREAMED]
    ]
    if more := len(texts) - len(lines):
        words = f"       ⋯ {more} more lines"
        lines.append(Line([(words, palette.style("muted"))], "panel", target))
    return lines


def _keys(hunk: Hunk, width: int) -> list[Piece]:
    """What the review keys do to this hunk, as far as there is room."""
    palette = theme.active()
    keys: list[tuple[str, str]] = []
    if hunk.decidable:
        why = [("w", "why")] if width >= _ROOM_FOR_WHY else []
        keys = [("a", "accept"), ("r", "reject"), *why, ("e", "edit")]
    elif hunk.placeable:
        keys = [("← →", "choose"), ("Enter", "places"), ("r", "reject")]
    elif hunk.is_out:
        keys = [("Enter", "text"), ("e", "copy")]
        if need_of(hunk):
            keys.append(("r", "reject"))
    pieces: list[Piece] = []
    for key, word in keys:
        pieces += [
            (key, palette.style("accent", more="bold")),
            (f" {word}  ", palette.style("muted")),
        ]
    return pieces


def _candidates(hunk: Hunk, focus: Focus) -> list[Piece]:
    palette = theme.active()
    count = len(hunk.candidates)
    words = f"       {count} candidate{'s' if count > 1 else ''}: "
    pieces: list[Piece] = [(words, palette.style("warning"))]
    now = focus.candidate % count if focus.hunk_id else -1
    first = max(0, min(now - _MOST_CANDIDATES + 2, count - _MOST_CANDIDATES))
    for index in range(first, min(first + _MOST_CANDIDATES, count)):
        line, chosen = hunk.candidates[index], index == now
        name = f"L{line + 1}"
        pieces.append(
            (
                clip(f"[{name}]" if chosen else f" {name} ", 9),
                palette.style(
                    "hunk-candidate" if chosen else "muted", more="bold" if chosen else ""
                ),
            )
        )
    return pieces
