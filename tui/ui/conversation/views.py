"""One view a block of the conversation: rows that are made once and grow at the end.

A view is synchronised, never rebuilt per frame: `BlockView.sync` reads what is new in its block
and says from which row on the screen must be painted again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from tui.core.edits.hunk import Hunk
from tui.core.edits.roster import FileTally
from tui.core.turn import Block, BlockKind
from tui.ui import theme
from tui.ui.conversation.hunk_card import Focus
from tui.ui.locations import find_location
from tui.ui.rows import (
    Line,
    Piece,
    Row,
    Target,
    cut,
    flat,
    inert,
    inner_width,
    one_line,
    spread,
    wrap,
)

_FOLDED_ROWS = 12
"""Rows of a command's output, or of a long message, that are shown while it is folded."""
_UNFOLDED_LINES = 2000
_LONG_CHARS = 20_000
"""Of a message: what is longer is wrapped only as far as it is shown."""
ROLE_GLYPHS = {"fast": "↯", "deep": "◆"}


@dataclass(slots=True)
class Scene:
    """What views need to know besides their block; one object, shared by all views."""

    width: int = 80
    """Cells of a row, margins included."""
    root: str = ""
    """The workspace's absolute path, to make paths in output relative."""
    version: int = 0
    """Counts changes of the width or the colours: all rows must be made again."""
    hunks: Callable[[str], Sequence[Hunk]] = lambda call_id: ()
    files: Callable[[str], dict[str, FileTally]] = lambda call_id: {}
    """The same by path, with their numbers."""
    now: Callable[[], float] = lambda: 0.0
    """Seconds of the session's clock."""
    reviews: Callable[[], int] = lambda: 0
    """Counts what the user decided."""
    focus: Focus = field(default_factory=Focus)
    behind: set[int] = field(default_factory=set)
    """Indexes of blocks with more text than was taken up: the rest waits for the next frame."""


def duration(seconds: float) -> str:
    """A time as people say it: ``0.4 s``, ``12 s``, ``2 min 5 s``; empty: too short to be felt."""
    if seconds < 0.1:
        return ""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


class Page:
    """Some rows of a block that lie under each other; most blocks have one page.

    A page that is out of sight keeps its height only; it is made again when it is looked at.
    """

    __slots__ = ("height", "number", "rows", "seen", "version", "view")

    def __init__(self, view: BlockView, number: int) -> None:
        self.view = view
        self.number = number
        """The how manieth of its view."""
        self.height = 1
        """Rows: as many as there were when it was made last, or a guess."""
        self.rows: list[Row] | None = None
        self.version: object = None
        """`BlockView.version` when it was made."""
        self.seen: object = None
        """Of a card, all that it showed then."""

    @property
    def fresh(self) -> bool:
        """True if ``rows`` are there, and as they should be."""
        return self.rows is not None and self.version == self.view.version

    @property
    def in_use(self) -> bool:
        """True if it still grows."""
        return self.view.block.state == "open" and self is self.view.pages[-1]


class BlockView:
    """Base: rows of one block, with an empty row and the speaker's label before them."""

    def __init__(self, block: Block, index: int, scene: Scene, before: Block | None) -> None:
        """``before`` is the block above, which decides on gap and label."""
        self.block = block
        self.index = index
        self.scene = scene
        self.folded = True
        self.pages = [Page(self, 0)]
        self.first = 0
        """Number of the first page among all pages of the conversation."""
        self._before = before
        self._read = 0
        """Characters of the block that were read."""
        self._state = ""
        self.began_s = scene.now() if block.state == "open" else None
        """When it was first seen; None: it was over by then, and how long it took is not known."""
        self.ended_s: float | None = None
        self.pages[0].height = self._guess()

    @property
    def inner(self) -> int:
        """Cells between the margins."""
        return inner_width(self.scene.width)

    @property
    def version(self) -> object:
        """Rows that were made under another version are not as they should be."""
        return self.scene.version

    @property
    def has_stops(self) -> bool:
        """True if something may be done on one of its rows."""
        return True

    def sync(self) -> int | None:
        """Read what is new; returns the first row that changed, None if none did."""
        if not self.pages[0].fresh:
            self._read, self._state = 0, ""
        return self._sync()

    def make(self, number: int) -> None:
        """Make the rows of a page."""
        self.sync()

    def source(self, number: int) -> str:
        """The text of which the rows of a page are made."""
        return self.block.text

    @property
    def kin(self) -> Sequence[int]:
        """Blocks whose rows depend on this one."""
        return ()

    def follow(self, view: BlockView) -> None:
        """This is the view above it."""

    def toggle(self, part: str = "") -> None:
        """Fold or unfold, or a part of it; `sync` must follow."""
        self.folded = not self.folded
        self.pages[0].rows = None

    def _sync(self) -> int | None:
        raise NotImplementedError

    def _guess(self) -> int:
        """About how many rows there will be."""
        return 3

    def _changed(self) -> bool:
        """True if the block has grown or ended since this was asked last."""
        before = (self._read, self._state)
        self._read, self._state = self.block.length, self.block.state
        self.note_end()
        return before != (self._read, self._state) or not self.pages[0].fresh

    def note_end(self) -> None:
        """Note when it ended, if it has."""
        if self.block.state != "open" and self.ended_s is None and self.began_s is not None:
            self.ended_s = self.scene.now()

    def _lasted(self) -> str:
        """How long it took, in words; empty: it is not known, or less than can be felt."""
        if self.began_s is None or self.ended_s is None:
            return ""
        return duration(self.ended_s - self.began_s)

    def _lead(self) -> list[Row]:
        """The rows before the block's own."""
        before, block = self._before, self.block
        rows: list[Row] = []
        if before is None or not before.kind is block.kind is BlockKind.TOOL:
            rows.append(self._row(Line([])))
        new_voice = before is None or before.kind in (BlockKind.USER, BlockKind.RUN)
        if block.speaker and (new_voice or (before and before.speaker != block.speaker)):
            rows.append(self._row(self._label()))
        return rows

    def _label(self) -> Line:
        role = self.block.speaker
        colour = role if role in ROLE_GLYPHS else "muted"
        glyph = ROLE_GLYPHS.get(role, "·")
        return Line([(f"{glyph} {one_line(role)}", theme.active().style(colour, more="bold"))])

    def _put(self, lines: Iterable[Line]) -> int:
        """Have these rows on the first page; returns the first one that changed."""
        page = self.pages[0]
        page.rows = [*self._lead(), *map(self._row, lines)]
        page.height, page.version = len(page.rows), self.version
        return 0

    def _row(self, line: Line) -> Row:
        return Row(line, self.scene.width)


class UserView(BlockView):
    """What the user said: a band with the user's bar."""

    @property
    def has_stops(self) -> bool:
        """Only what is long is folded; a row may hold a single word, of wide characters or tabs."""
        block = self.block
        if block.length > _LONG_CHARS:
            return True
        text = block.text
        return text.count("\n") + 8 * len(text) // max(self.inner - 3, 1) >= _FOLDED_ROWS

    def _sync(self) -> int | None:
        if not self._changed():
            return None
        palette = theme.active()
        text = self.block.text.rstrip()
        bar = ("▌ ", palette.style("you"))
        rows, left_out = self._begin(text) if len(text) > _LONG_CHARS else self._fold(text)
        lines = [Line([bar, *row], "panel") for row in rows]
        if left_out:
            what = "Enter shows them" if self.folded else "not shown, but sent"
            words = f"⋯ {left_out} · {what}"
            target = Target("fold", self.index)
            lines.append(Line([bar, (words, palette.style("muted"))], "panel", target))
        return self._put(lines)

    def _fold(self, text: str) -> tuple[list[list[Piece]], str]:
        """The rows that are shown, and what is left out."""
        rows = self._wrapped(text)
        if not self.folded or len(rows) <= _FOLDED_ROWS + 1:
            return rows, ""
        return rows[:_FOLDED_ROWS], f"{len(rows) - _FOLDED_ROWS} more lines"

    def _begin(self, text: str) -> tuple[list[list[Piece]], str]:
        """The same for a long text: it is wrapped only as far as it is shown."""
        most, at = _FOLDED_ROWS if self.folded else _UNFOLDED_LINES, 0
        rows: list[list[Piece]] = []
        while at < len(text) and len(rows) < most:
            room = most - len(rows)
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            found = self._wrapped(text[at : min(end, at + room * self.inner)])
            rows += found[:room]
            if len(found) > room or end > at + room * self.inner:
                break
            at = end + 1
        if not (left := text.count("\n", at) + (at < len(text))):
            return rows, ""
        return rows, f"{left:,} more lines" if left > 1 else f"of {len(text) - at:,} characters"

    def _wrapped(self, text: str) -> list[list[Piece]]:
        style = theme.active().style("foreground")
        return wrap([(flat(inert(text)), style)], self.inner - 3)


class RunView(BlockView):
    """A command, its output with places to jump to, and how it ended."""

    def __init__(self, block: Block, index: int, scene: Scene, before: Block | None) -> None:
        super().__init__(block, index, scene, before)
        self._output: list[str] = [""]
        self._heard = 0

    def _sync(self) -> int | None:
        if not self._changed():
            return None
        if new := self.block.text_since(self._heard):
            self._heard = self.block.length
            head, *rest = inert(new).split("\n")
            self._output[-1] += head
            self._output += rest
        output = self._output[:-1] if not self._output[-1] else self._output
        shown = output[-(_FOLDED_ROWS if self.folded else _UNFOLDED_LINES) :]
        lines = [self._header()]
        if left_out := len(output) - len(shown):
            style = theme.active().style("muted")
            words = f"│ ⋯ {left_out} more lines · Enter shows them"
            lines.append(Line([(words, style)], target=Target("fold", self.index)))
        for text in shown:
            lines += self._output_lines(flat(text))
        return self._put(lines)

    def _header(self) -> Line:
        palette = theme.active()
        words, colour = {
            "open": ("running…", "warning"),
            "done": ("✓ ok", "success"),
            "failed": ("✗ failed", "error"),
        }.get(self.block.state, ("■ stopped", "warning"))
        left: list[Piece] = [
            ("$ ", palette.style("accent", more="bold")),
            (one_line(self.block.title), palette.style("foreground", more="bold")),
        ]
        right = [(f" {words} ", palette.style(colour, more="bold"))]
        if lasted := self._lasted():
            right = [(f" {lasted} ", palette.style("muted")), *right]
        return Line(spread(left, right, self.inner), target=Target("fold", self.index))

    def _output_lines(self, text: str) -> list[Line]:
        palette = theme.active()
        style = palette.style(_output_colour(text))
        pieces: list[Piece] = [(text, style)]
        target = None
        if place := find_location(text, self.scene.root):
            target = Target("place", 0, place.path, place.line, place.col)
            link = style + palette.style("accent", more="underline")
            pieces = [
                *cut(pieces, 0, place.start),
                (text[place.start : place.end], link),
                *cut(pieces, place.end, len(text)),
            ]
        bar = ("│ ", palette.style("line"))
        rows = wrap(pieces, self.inner - 2)
        return [Line([bar, *row], target=target) for row in rows]


def _output_colour(text: str) -> str:
    """A little colour for what matters in the output of tests."""
    if text.startswith(("E  ", "FAILED", "ERROR")) or " failed" in text:
        return "error"
    if text.startswith("PASSED") or " passed" in text:
        return "success"
    return "muted"
