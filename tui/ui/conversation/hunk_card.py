"""Cards of patches: what one patch did to each file, and the state of every hunk of it.

A card is folded file by file, and made anew when a hunk moves. While its patch comes, the newest
hunks have rows, whose making costs the same however many there are; at its end all have, on pages
of which only those in sight are made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from rich.cells import cell_len

from tui.core.document.hunk import (
    BLAMES,
    PLACED,
    REDOING,
    REDONE,
    REPLACED,
    TAKEN_BACK,
    UNDONE,
    UNPAINTED,
    Decision,
    Hunk,
    Kind,
    Stage,
    landing_lines,
    need_of,
)
from tui.core.document.hunk_list import HunksOfFile
from tui.ui import theme
from tui.ui.conversation.views import BlockView, Focus, ViewPage
from tui.ui.styled_text import (
    Piece,
    RowTarget,
    StyledLine,
    breaks,
    clip,
    clip_left,
    flat,
    inert,
    one_line,
    spread,
    wrap,
)

MINUS = "\N{MINUS SIGN}"
_MOST_CANDIDATES = 5
_MOST_STREAMED = 40
_MOST_REASON = 4
"""Rows of one reason, as long as its hunk is not opened."""
_ROOM_FOR_WHY = 62
_BLAMED = "✗"
CUT_KEYS = [("a", "keep"), ("e", "finish"), ("r", "take back")]
"""What the keys do to a hunk that was cut."""


class HunkLook(NamedTuple):
    """How a hunk's state is written."""

    glyph: str
    word: str
    colour: str


_DECIDED = {
    Decision.ACCEPTED: HunkLook("✓", "accepted", "hunk-accepted"),
    Decision.REJECTED: HunkLook("✗", "rejected", "hunk-struck"),
}
_STAGES = {
    Stage.READING: HunkLook("…", "reading", "muted"),
    Stage.CANDIDATES: HunkLook("?", "where?", "hunk-candidate"),
    Stage.LOCATED: HunkLook("…", "located", "hunk-landing"),
    Stage.LANDING: HunkLook("▸", "landing", "hunk-landing"),
    Stage.LANDED: HunkLook("●", "pending", "hunk-pending"),
    Stage.CUT: HunkLook("◐", "cut", "hunk-cut"),
    Stage.CONFLICT: HunkLook("!", "conflict", "hunk-conflict"),
    Stage.REFUSED: HunkLook("⊘", "refused", "hunk-struck"),
}


def look(hunk: Hunk) -> HunkLook:
    """The decision where there is one, else the stage."""
    rejected = hunk.decision is Decision.REJECTED
    if rejected and hunk.words == UNDONE:
        return HunkLook("↶", UNDONE, "hunk-struck")
    if rejected and hunk.reason == TAKEN_BACK:
        return HunkLook("↶", "cut", "hunk-struck")
    if (hunk.stage in PLACED or rejected) and hunk.decision in _DECIDED:
        return _DECIDED[hunk.decision]
    if hunk.is_redoing:
        return HunkLook("…", "redoing", "hunk-landing")
    if hunk.is_blamed:
        return HunkLook("●", "blamed", "hunk-blamed")
    if hunk.stage is Stage.LANDED and hunk.redone.startswith(REDONE):
        return HunkLook("●", "redone", "hunk-pending")
    return _STAGES[hunk.stage]


class FilePart(NamedTuple):
    """Hunks of one file that have rows of their own."""

    path: str
    tally: HunksOfFile
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


def empty_lines(cut: bool) -> list[StyledLine]:
    """A card without hunks."""
    words = "the patch stopped before naming a file" if cut else "reading the patch…"
    return [StyledLine([(f" ✎ {words}", theme.active().style("muted"))], "panel")]


def card_lines(
    parts: Iterable[FilePart], width: int, focus: Focus, block: int = 0
) -> list[StyledLine]:
    """The rows of these hunks on the card of a patch; ``block``: the index of its block."""
    lines: list[StyledLine] = []
    for part in parts:
        if part.headed:
            target = RowTarget("file", block, part.path)
            header = _header(part.path, part.tally, width, part.shut)
            lines.append(header._replace(target=target))
        if part.earlier and not part.shut:
            words = f"     ⋯ {part.first} earlier hunk{'s' if part.first > 1 else ''}"
            lines.append(StyledLine([(words, theme.active().style("faint"))], "panel"))
        numbers = landing_lines(part.hunks)
        for hunk in part.hunks:
            lines += _hunk_lines(hunk, width, focus, numbers.get(hunk.id))
    return lines


def _header(path: str, tally: HunksOfFile, width: int, shut: bool) -> StyledLine:
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
    return StyledLine(spread(left, right, width), "panel")


def _hunk_lines(hunk: Hunk, width: int, focus: Focus, line: int | None) -> list[StyledLine]:
    """Its rows; ``line``: while it lands.

    Its number is the one by which the model is told of it, and all else names it.
    """
    palette = theme.active()
    state = look(hunk)
    focused = hunk.id == focus.hunk_id
    target = RowTarget("hunk", hunk.id)
    where = f"L{line or hunk.start.line + 1}" if hunk.start is not None else _sought(hunk)
    where = "not painted yet" if hunk.reason == UNPAINTED else where
    left: list[Piece] = [
        (f" {hunk.id:>3} ", palette.style("faint")),
        (f"{state.glyph} {state.word:<9}", palette.style(state.colour)),
        (f"{where:<6}", palette.style("muted")),
    ]
    right = _keys(hunk, width) if focused and focus.has_keys else []
    if not right:
        right = [(f"+{hunk.added} {MINUS}{hunk.removed} ", palette.style("faint"))]
    lines = [StyledLine(spread(left, right, width), "panel", target)]
    if hunk.placeable:
        lines.append(StyledLine(_candidates(hunk, focus if focused else Focus()), "panel", target))
    moves = [f"→ {hunk.target}"] if hunk.kind is Kind.MOVE else []
    asks = "warning" if need_of(hunk) else "muted"
    opened = focused and focus.opened
    for reason in (*reasons(hunk), *moves):
        text = one_line(reason)
        style = palette.style("error" if need_of(hunk) and _BLAMED in text else asks)
        rows = breaks(text, width - 8)[: _MOST_STREAMED if opened else _MOST_REASON]
        said = [text[start:end] for start, end in rows[:-1]]
        said += [clip(text[start:], width - 8) for start, _ in rows[-1:]]
        lines += [StyledLine([("       ", style), (row, style)], "panel", target) for row in said]
    return lines + (_streamed(hunk, width) if opened else [])


def reasons(hunk: Hunk) -> list[str]:
    """Why it needs a look, why it is where it is, and what the user said."""
    known = hunk.reason in ("", UNPAINTED)
    signs = [_BLAMED if flag.startswith(BLAMES) else "⚑" for flag in hunk.flags]
    found = [f"{sign} {flag}" for sign, flag in zip(signs, hunk.flags, strict=True)]
    found += [] if known else [hunk.reason]
    if hunk.stage is Stage.CUT and hunk.decidable:
        found.append("yours to keep, finish or take back")
    if hunk.words and hunk.words != UNDONE:
        found.append(hunk.words if hunk.words == REPLACED else f"you said: {hunk.words}")
    if hunk.redone not in ("", REDOING):
        found.append(hunk.redone)
    return found


def _sought(hunk: Hunk) -> str:
    """How many places a hunk may have whose lines still come."""
    if hunk.stage is not Stage.CANDIDATES or hunk.reason:
        return ""
    count = len(hunk.candidates)
    several = f"{count} candidates" if count <= _MOST_CANDIDATES else "many candidates"
    words = "no place yet" if not count else "1 candidate" if count == 1 else several
    return f"{words}, reading context"


def _streamed(hunk: Hunk, width: int) -> list[StyledLine]:
    """What came of a hunk that is not in the buffer."""
    palette, target = theme.active(), RowTarget("hunk", hunk.id)
    removed, added = palette.style("hunk-struck"), palette.style("hunk-accepted")
    texts = [(MINUS, text, removed) for text in hunk.base.splitlines()]
    texts += [("+", text, added) for text in hunk.agent.splitlines()]
    lines = [
        StyledLine([(f"       {sign}{clip(flat(inert(text)), width - 9)}", style)], "panel", target)
        for sign, text, style in texts[:_MOST_STREAMED]
    ]
    if more := len(texts) - len(lines):
        words = f"       ⋯ {more} more {'line' if more == 1 else 'lines'}"
        lines.append(StyledLine([(words, palette.style("muted"))], "panel", target))
    return lines


def _keys(hunk: Hunk, width: int) -> list[Piece]:
    """What the review keys do to this hunk, as far as there is room."""
    palette = theme.active()
    keys: list[tuple[str, str]] = []
    if hunk.decidable and hunk.stage is Stage.CUT:
        keys = CUT_KEYS
    elif hunk.is_redoing:
        keys = [("a", "accept"), ("r", "reject"), ("x", "stop redoing")]
    elif hunk.decidable:
        why = [("w", "why")] if width >= _ROOM_FOR_WHY else []
        keys = [("a", "accept"), ("r", "reject"), *why, ("e", "edit")]
    elif hunk.placeable:
        keys = [("← →", "choose"), ("Enter", "places"), ("r", "reject")]
    elif hunk.reason == TAKEN_BACK:
        keys = [("u", "bring back"), ("e", "copy")]
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


_COMING = 100
"""Newest hunks (and files) of a patch that have rows while it comes."""
_PAGE_HUNKS = 50
_MOST_MADE = 8
"""Pages that keep their rows, which are compared in each frame."""


class PatchView(BlockView):
    """A hunk card."""

    _shut: frozenset[str] = frozenset()
    """Files whose hunks are folded away."""
    _paged: object = None
    """What the pages were cut for."""
    _paths: Sequence[str] = ()
    """All files, while the hunks have pages."""
    _begins: Sequence[tuple[int, int]] = ()
    """Each page's first file, and which of its hunks is the first."""
    _made: Sequence[ViewPage] = ()
    """The pages that were made last."""

    @property
    def version(self) -> object:
        """The user's decisions change cards anywhere."""
        return (self.context.version, self.context.reviews())

    def toggle(self, part: str = "") -> None:
        """Fold a file, or unfold it."""
        self._shut ^= {part}

    def open_up(self, wanted: Callable[[Hunk], bool]) -> bool:
        """Unfold the files of these hunks; True if one was folded."""
        files = self.context.files(self.block.call_id)
        found = {path for path in self._shut & files.keys() if any(map(wanted, files[path].hunks))}
        before, self._shut = self._shut, self._shut - found
        return before != self._shut

    def hunks_on(self, number: int) -> Iterator[Hunk]:
        """The hunks that have rows on a page."""
        return (hunk for part in self._parts(number) for hunk in part.hunks)

    def lines(self, number: int) -> list[StyledLine]:
        """The rows of a page as they are to be now."""
        hunks = self.context.hunks(self.block.call_id)
        stopped = self.block.state in ("cut", "failed")
        parts = self._parts(number)
        lines = card_lines(parts, self.inner, self._focus(), self.index)
        why = self.block.text.strip()
        words = why.partition(": ")[2]
        if not hunks:
            lines = empty_lines(stopped)
        if not (stopped and why) or number < len(self.pages) - 1:
            return lines
        if not any(words in hunk.reason for hunk in hunks[-_COMING:]):
            style = theme.active().style("warning")
            rows = wrap([(flat(inert(why)), style)], self.inner - 4)
            lines = lines if hunks else []
            lines = [*lines, *(StyledLine([("   ", style), *row], "panel") for row in rows)]
        return lines

    def source(self, number: int) -> str:
        """See `BlockView.source`."""
        rows = ("".join(text for text, _ in line.pieces) for line in self.lines(number))
        return "\n".join(rows)

    def make(self, number: int) -> None:
        """Make the rows of a page."""
        page = self.pages[number]
        lines = [*([] if number else self._lead()), *map(self._row, self.lines(number))]
        page.rows, page.height, page.version = lines, len(lines), self.version
        page.seen = self._seen(number)
        *older, _ = self._made = (*(one for one in self._made if one is not page), page)
        if len(self._made) > _MOST_MADE:
            older[0].rows, self._made = None, self._made[1:]

    def _sync(self) -> int | None:
        if self.context.hunks(self.block.call_id) and self._repage():
            if len(self.pages) == 1:
                self.make(0)
            return 0
        if len(self.pages) == 1:
            if self.pages[0].fresh and self.pages[0].seen == self._seen(0):
                return None
            self.make(0)
            return 0
        stale = [page for page in self._made if page.seen != self._seen(page.number)]
        for page in stale:
            page.version = None  # made when it is in sight
        first = min((page.number for page in stale), default=None)
        return None if first is None else sum(page.height for page in self.pages[:first])

    def _repage(self) -> bool:
        """Cut pages, if hunks, files or what is folded are others than before."""
        coming, files = self.block.state == "open", self.context.files(self.block.call_id)
        hunks = len(self.context.hunks(self.block.call_id))
        paged = coming or (hunks, tuple(files), self._shut)
        if paged == self._paged:
            return False
        self._paged, self._paths, begins = paged, () if coming else tuple(files), [(0, 0)]
        room, heights = _PAGE_HUNKS, [0]
        for at, path in enumerate(self._paths):
            left = 1 if path in self._shut else files[path].total
            begin = 0
            while left:
                if not room:
                    begins.append((at, begin))
                    heights.append(0)
                    room = _PAGE_HUNKS
                taken = min(room, left)
                heights[-1] += taken + (not begin)
                room, left, begin = room - taken, left - taken, begin + taken
        self._begins, self._made = begins, ()
        self.pages = [ViewPage(self, number) for number in range(len(begins))]
        for page, height in zip(self.pages, heights, strict=True):
            page.height = height
        return True

    def _parts(self, number: int) -> list[FilePart]:
        """What is on a page."""
        files = self.context.files(self.block.call_id)
        if not self._paths:
            return self._newest()
        at, first = self._begins[number]
        last = number + 1 == len(self._begins)
        stop, end = (len(self._paths), 0) if last else self._begins[number + 1]
        parts: list[FilePart] = []
        for index in range(at, stop + bool(end)):
            path = self._paths[index]
            tally, begin = files[path], first if index == at else 0
            to = end if index == stop else tally.total
            parts.append(FilePart(path, tally, begin, to, not begin, path in self._shut))
        return parts

    def _newest(self) -> list[FilePart]:
        """The newest hunks, and the newest files."""
        files = self.context.files(self.block.call_id)
        hunks = self.context.hunks(self.block.call_id)
        shown: dict[int, int] = {}
        for hunk in hunks[-_COMING:]:
            shown[id(hunk.tally)] = shown.get(id(hunk.tally), 0) + 1
        parts: list[FilePart] = []
        for path in islice(reversed(files), _COMING):
            tally = files[path]
            first = tally.total - shown.get(id(tally), 0)
            earlier = first > 0
            parts.append(
                FilePart(path, tally, first, tally.total, True, path in self._shut, earlier)
            )
        return parts[::-1]

    def _focus(self) -> Focus:
        """What the keys act on, if that is on this card."""
        focus = self.context.focus
        hunks = self.context.hunks(self.block.call_id)
        ours = bool(hunks) and hunks[0].id <= focus.hunk_id <= hunks[-1].id
        return focus if ours else Focus()

    def _seen(self, number: int) -> object:
        """All that a page shows."""
        parts = self._parts(number)
        news = [_signature(hunk) for part in parts for hunk in part.hunks]
        heads = [
            (part.path, *part.tally.needs, part.tally.added, part.tally.removed, part.first)
            for part in parts
            if part.headed
        ]
        return self._focus(), self.block.state, news, heads, self.block.text, self._shut


def _signature(hunk: Hunk) -> tuple[object, ...]:
    """All that a card shows of a hunk."""
    line = None if hunk.start is None else hunk.start.line
    flags = (tuple(hunk.flags), hunk.reason, hunk.words, hunk.redone, hunk.candidates)
    return (hunk.id, hunk.path, hunk.stage, hunk.decision, line, hunk.added, hunk.removed, flags)
