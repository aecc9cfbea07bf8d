"""The card of one patch in the conversation: folded file by file, made anew when a hunk moves.

While the patch comes, the newest hunks have rows, whose making costs the same however many there
are; at its end all have, on pages of which only those in sight are made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from tui.core.edits.hunk import Hunk
from tui.ui import theme
from tui.ui.conversation.hunk_card import Focus, Part, card_lines, empty_lines
from tui.ui.conversation.views import BlockView, Page
from tui.ui.rows import Line, flat, inert, wrap

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
    _made: Sequence[Page] = ()
    """The pages that were made last."""

    @property
    def version(self) -> object:
        """The user's decisions change cards anywhere."""
        return (self.scene.version, self.scene.reviews())

    def toggle(self, part: str = "") -> None:
        """Fold a file, or unfold it."""
        self._shut ^= {part}

    def open_up(self, wanted: Callable[[Hunk], bool]) -> bool:
        """Unfold the files of these hunks; True if one was folded."""
        files = self.scene.files(self.block.call_id)
        found = {path for path in self._shut & files.keys() if any(map(wanted, files[path].hunks))}
        before, self._shut = self._shut, self._shut - found
        return before != self._shut

    def hunks_on(self, number: int) -> Iterator[Hunk]:
        """The hunks that have rows on a page."""
        return (hunk for part in self._parts(number) for hunk in part.hunks)

    def lines(self, number: int) -> list[Line]:
        """The rows of a page as they are to be now."""
        hunks = self.scene.hunks(self.block.call_id)
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
            lines = [*lines, *(Line([("   ", style), *row], "panel") for row in rows)]
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
        if self.scene.hunks(self.block.call_id) and self._repage():
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
        coming, files = self.block.state == "open", self.scene.files(self.block.call_id)
        hunks = len(self.scene.hunks(self.block.call_id))
        paged = coming or (hunks, len(files), self._shut)
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
        self.pages = [Page(self, number) for number in range(len(begins))]
        for page, height in zip(self.pages, heights, strict=True):
            page.height = height
        return True

    def _parts(self, number: int) -> list[Part]:
        """What is on a page."""
        files = self.scene.files(self.block.call_id)
        if not self._paths:
            return self._newest()
        at, first = self._begins[number]
        last = number + 1 == len(self._begins)
        stop, end = (len(self._paths), 0) if last else self._begins[number + 1]
        parts: list[Part] = []
        for index in range(at, stop + bool(end)):
            path = self._paths[index]
            tally, begin = files[path], first if index == at else 0
            to = end if index == stop else tally.total
            parts.append(Part(path, tally, begin, to, not begin, path in self._shut))
        return parts

    def _newest(self) -> list[Part]:
        """The newest hunks, and the newest files."""
        files = self.scene.files(self.block.call_id)
        hunks = self.scene.hunks(self.block.call_id)
        shown: dict[int, int] = {}
        for hunk in hunks[-_COMING:]:
            shown[id(hunk.tally)] = shown.get(id(hunk.tally), 0) + 1
        parts: list[Part] = []
        for path in islice(reversed(files), _COMING):
            tally = files[path]
            first = tally.total - shown.get(id(tally), 0)
            earlier = first > 0
            parts.append(Part(path, tally, first, tally.total, True, path in self._shut, earlier))
        return parts[::-1]

    def _focus(self) -> Focus:
        """What the keys act on, if that is on this card."""
        focus = self.scene.focus
        hunks = self.scene.hunks(self.block.call_id)
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
    flags = (tuple(hunk.flags), hunk.reason, hunk.words, hunk.candidates)
    return (hunk.id, hunk.path, hunk.stage, hunk.decision, line, hunk.added, hunk.removed, flags)
