"""A section that is the whole new text of a file that is there."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tui.core.document.documents import Documents
from tui.core.document.file_record import FileRecord
from tui.core.document.hunk import Hunk
from tui.core.patches.checks import is_placeholder
from tui.core.patches.diff_section import DiffSection, Fit, LineDiff, difference
from tui.core.patches.painter import Painter, RegionPainter
from tui.core.patches.placement import Miss, Spot
from tui.core.patches.section import GHOST_LINES, MERGED, merge_whole, show_both
from tui.core.text.buffer import Buffer
from tui.core.text.rows import file_rows, keep_ends, whole_text
from tui.errors import EditRefused

_BEFORE = "the file was changed after the model had seen it, where its new text differs"


def _lines(text: str) -> list[str]:
    """The lines of a text as a patch counts them."""
    buffer = Buffer("", text)
    return buffer.lines[: file_rows(buffer)]


class WholeSection(DiffSection):
    """The new text of a file that is there.

    It is what becomes of the text as the model was sent it. What was changed since, before the
    new text came or while it does, is merged with it at its end (EDITS.md section 5).
    """

    in_parts = False

    def __init__(
        self, documents: Documents, record: FileRecord, new_hunk: Callable[[int], Hunk]
    ) -> None:
        super().__init__(documents, record, new_hunk)
        sent = record.sent()
        self._sent = keep_ends(sent)
        """The lines as the model was sent them, with their endings."""
        self.old = _lines(sent)
        self._begin(Fit(Spot(0), LineDiff(self.old)))
        if self.painter is not None and sent != whole_text(record.buffer):
            self.painter.trouble = _BEFORE

    def place_at(self, row: int) -> None:
        """The user takes the text that was held (its only place is the whole file).

        Raises:
            EditRefused: it and what was changed since do not fit together.
        """
        fit = Fit(Spot(0, flags=("placed by hand",)), LineDiff(self.old))
        decided = [one for line in self.new for one in fit.diff.take(line)]
        merged = self._merged([*decided, *fit.diff.rest()])
        if merged is None:
            raise EditRefused("the file was changed since, where the held text is another one")
        self.hunks[0].reason = ""
        self._land_merged(fit, merged)

    def ghost(self) -> tuple[int, list[str]] | None:
        """The new lines, where they are not painted but merged at their end."""
        lines = [*self.new[-GHOST_LINES:], *([self.unfinished] if self.unfinished else [])]
        if not (self.painter and self.painter.trouble) or not lines:
            return None
        return self.record.buffer.line_count - 1, lines[-GHOST_LINES:]

    def _new_painter(self, spot: Spot) -> Painter:
        rows = file_rows(self.record.buffer)
        return RegionPainter(self._documents, self.record, spot, rows, self)

    def _finish(self) -> None:
        fit = self._fit
        assert fit is not None
        if reason := self._doubt():
            self._take_back()
            self._refuse(Miss(f"{reason}; held, the file is as it was", (0,)))
        elif self.painter is not None and self.painter.trouble:
            self._merge(fit)
        else:
            self._complete(fit)

    def _merge(self, fit: Fit) -> None:
        """Land the new text with what others changed, where both fit; else show both."""
        painter = self.painter
        assert painter is not None
        self._emit(fit.diff.rest())
        painter.take_back()
        merged = self._merged([(op, text) for op, text, _ in self.ops])
        if merged is None:
            show_both(self._documents, self, painter)
        else:
            self._land_merged(fit, merged)

    def _merged(self, ops: Iterable[tuple[str, str]]) -> str | None:
        """The new text with what others changed; None if they changed the same lines.

        Lines that stay have the endings that they had.
        """
        newline, seen, theirs = self.record.buffer.newline, 0, list[str]()
        for op, text in ops:
            if op != "-":
                if theirs and not theirs[-1].endswith("\n"):
                    theirs[-1] += newline
                theirs.append(self._sent[seen] if op == "=" else text + newline)
            seen += op != "+"
        return merge_whole("".join(self._sent), whole_text(self.record.buffer), "".join(theirs))

    def _land_merged(self, fit: Fit, merged: str) -> None:
        mine = whole_text(self.record.buffer)
        if mine != "".join(self._sent):
            self.flags.append(MERGED)
        self._take_back()
        now = _lines(mine)
        self._begin(Fit(fit.spot, LineDiff(now)))
        self._emit(difference(now, _lines(merged)))
        self._land_all(fit)

    def _doubt(self) -> str:
        """Why it is held: a part of the file would be lost that nobody wanted to lose (E03)."""
        known = set(self.old)
        shorter = len(self.new) < len(self.old)
        for number, line in enumerate(self.new, 1):
            if line not in known and is_placeholder(line, shorter=shorter):
                return f"placeholder: line {number} says that the rest is elsewhere"
        if 2 * len(self.new) < len(self.old):
            lines = f"{len(self.new)} lines for a file of {len(self.old)}"
            return f"shrink: {lines}, under half the lines"
        return ""
