"""One view a block of the conversation: rows that are made once and grow at the end.

A view is synchronised, never rebuilt per frame: `BlockView.sync` reads what is new in its block
and says from which row on the screen must be painted again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from tui.core.hunk import Hunk
from tui.core.turn import Block, BlockKind
from tui.ui import theme
from tui.ui.conversation.hunk_card import Focus, card_lines
from tui.ui.conversation.markdown_stream import MarkdownStream
from tui.ui.locations import find_location
from tui.ui.rows import (
    Line,
    Piece,
    Row,
    Target,
    clip,
    clip_left,
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
_COMING = 100
"""Newest hunks of a patch that have rows while it comes; all have them at its end."""
ROLE_GLYPHS = {"fast": "↯", "deep": "◆"}


@dataclass(slots=True)
class Scene:
    """What views need to know besides their block; one object, shared by all views."""

    width: int = 80
    """Cells of a row, margins included."""
    root: str = ""
    """The workspace's absolute path, to make paths in output relative."""
    hunks: Callable[[str], Sequence[Hunk]] = lambda call_id: ()
    focus: Focus = field(default_factory=Focus)


class BlockView:
    """Base: rows of one block, with an empty row and the speaker's label before them."""

    def __init__(self, block: Block, index: int, scene: Scene, before: Block | None) -> None:
        """``before`` is the block above, which decides on gap and label."""
        self.block = block
        self.index = index
        self.scene = scene
        self.folded = True
        self.rows: list[Row] = []
        self._parts = 0
        self._state = ""
        if before is None or not before.kind is block.kind is BlockKind.TOOL:
            self.rows.append(self._row(Line([])))
        new_voice = before is None or before.kind in (BlockKind.USER, BlockKind.RUN)
        if block.speaker and (new_voice or (before and before.speaker != block.speaker)):
            self.rows.append(self._row(self._label()))
        self._lead = len(self.rows)

    @property
    def inner(self) -> int:
        """Cells between the margins."""
        return inner_width(self.scene.width)

    def sync(self) -> int | None:
        """Read what is new; returns the first row that changed, None if none did."""
        raise NotImplementedError

    def toggle(self) -> None:
        """Fold or unfold; `sync` must follow."""
        self.folded = not self.folded
        self._parts, self._state = 0, ""

    def _changed(self) -> bool:
        """True if the block has grown or ended since this was asked last."""
        before = (self._parts, self._state)
        self._parts, self._state = len(self.block.parts), self.block.state
        return before != (self._parts, self._state)

    def _label(self) -> Line:
        role = self.block.speaker
        colour = role if role in ROLE_GLYPHS else "muted"
        glyph = ROLE_GLYPHS.get(role, "·")
        return Line([(f"{glyph} {one_line(role)}", theme.active().style(colour, more="bold"))])

    def _put(self, at: int, lines: Iterable[Line]) -> int:
        """Replace the content rows from ``at`` on; returns the index of that row."""
        del self.rows[self._lead + at :]
        self.rows += [self._row(line) for line in lines]
        return self._lead + at

    def _row(self, line: Line) -> Row:
        return Row(line, self.scene.width)


class UserView(BlockView):
    """What the user said: a band with the user's bar."""

    def sync(self) -> int | None:
        """See `BlockView.sync`."""
        if not self._changed():
            return None
        palette = theme.active()
        text = flat(inert(self.block.text.rstrip()))
        rows = wrap([(text, palette.style("foreground"))], self.inner - 3)
        bar = ("▌ ", palette.style("you"))
        shown = rows if len(rows) <= _FOLDED_ROWS + 1 or not self.folded else rows[:_FOLDED_ROWS]
        lines = [Line([bar, *row], "panel") for row in shown]
        if left_out := len(rows) - len(shown):
            words = f"⋯ {left_out} more lines · Enter shows them"
            target = Target("fold", self.index)
            lines.append(Line([bar, (words, palette.style("muted"))], "panel", target))
        return self._put(0, lines)


class TextView(BlockView):
    """The model's Markdown; only its open end is rendered again."""

    def __init__(self, block: Block, index: int, scene: Scene, before: Block | None) -> None:
        super().__init__(block, index, scene, before)
        self._stream = MarkdownStream(self.inner)

    def sync(self) -> int | None:
        """See `BlockView.sync`."""
        if self.block.state == "failed":
            return self._void() if self._changed() else None
        done = self._state not in ("", "open")
        new = self.block.text_since(self._parts)
        if done or not self._changed():
            return None
        first = self._stream.feed(new)
        if self.block.state != "open":
            first = min(first, self._stream.finish())
        return self._put(first, self._stream.rows[first:])

    def _void(self) -> int:
        """It broke off and was asked for again: one row, out of the new answer's way."""
        faint, words = theme.active().style("faint"), "broke off"
        first = clip(one_line(self.block.text), self.inner - len(words) - 4)
        glyph = "⋯" if self.folded else "▾"
        row = spread([(f"{glyph} {first}", faint)], [(words, faint)], self.inner)
        lines = [Line(row, target=Target("fold", self.index))]
        if not self.folded:
            stream = MarkdownStream(self.inner)
            stream.feed(self.block.text)
            stream.finish()
            lines += stream.rows
        return self._put(0, lines)


class ReasoningView(BlockView):
    """One row with the live tail; unfolded, the whole text."""

    def sync(self) -> int | None:
        """See `BlockView.sync`."""
        if not self._changed():
            return None
        palette = theme.active()
        style = palette.style("muted", more="italic")
        target = Target("fold", self.index)
        still = self.block.state == "open"
        head = "∴ thinking" if still else "∴ thought"
        if not self.folded:
            rows = wrap([(flat(inert(self.block.text.strip())), style)], self.inner - 2)
            bar = ("▎ ", palette.style("line"))
            body = [Line([bar, *row]) for row in rows]
            return self._put(0, [Line([(f"{head} ▾", style)], target=target), *body])
        text = self.block.text if len(self.block.parts) < 64 else self.block.text_since(-64)
        shown = one_line(text)
        room = self.inner - len(head) - 4
        tail = clip_left(shown, room) if still else clip(one_line(self.block.text), room)
        pieces = [(f"{head} ▸ ", style), (tail, palette.style("faint", more="italic"))]
        return self._put(0, [Line(pieces, target=target)])


class ToolView(BlockView):
    """A tool call and its result in brief, on one row."""

    def sync(self) -> int | None:
        """See `BlockView.sync`."""
        if not self._changed():
            return None
        palette = theme.active()
        failed = self.block.state in ("failed", "cut")
        glyph = {"open": "…", "done": "→"}.get(self.block.state, "✗")
        result = one_line(self.block.text)
        pieces: list[Piece] = [
            (f"{glyph} ", palette.style("error" if failed else "accent")),
            (one_line(self.block.title), palette.style("muted")),
        ]
        if result:
            pieces.append((f" · {result}", palette.style("error" if failed else "faint")))
        return self._put(0, [Line(spread(pieces, [], self.inner))])


class NoteView(BlockView):
    """What happened, in words."""

    def sync(self) -> int | None:
        """See `BlockView.sync`."""
        if not self._changed():
            return None
        colour = {"cut": "warning", "failed": "error"}.get(self.block.state, "muted")
        palette = theme.active()
        text = "\n".join(filter(None, (self.block.title, self.block.text.strip())))
        rows = wrap([(flat(inert(text)), palette.style(colour))], self.inner - 2)
        lead = ["╌ ", *["  "] * (len(rows) - 1)]
        faint = palette.style(colour)
        lines = [Line([(mark, faint), *row]) for mark, row in zip(lead, rows, strict=True)]
        return self._put(0, lines)


class PatchView(BlockView):
    """A hunk card."""

    _seen: object = None

    def sync(self) -> int | None:
        """See `BlockView.sync`; reads the hunks, not the block."""
        hunks = self.scene.hunks(self.block.call_id)
        skip = max(0, len(hunks) - _COMING) if self.block.state == "open" else 0
        ids = {hunk.id for hunk in hunks[skip:]}
        focus = self.scene.focus if self.scene.focus.hunk_id in ids else Focus()
        stopped = self.block.state in ("cut", "failed")
        news = [_signature(hunk) for hunk in hunks[skip:]]
        seen = (focus, stopped, skip, news, self.block.text)
        if seen == self._seen:
            return None
        self._seen = seen
        lines = card_lines(hunks, self.inner, focus, stopped, skip)
        if not hunks and stopped and self.block.text:
            style = theme.active().style("warning")
            rows = wrap([(flat(inert(self.block.text.strip())), style)], self.inner - 4)
            lines = [Line([("   ", style), *row], "panel") for row in rows]
        return self._put(0, lines)


def _signature(hunk: Hunk) -> tuple[object, ...]:
    """All that a card shows of a hunk."""
    line = None if hunk.start is None else hunk.start.line
    flags = (tuple(hunk.flags), hunk.reason, hunk.words, hunk.candidates)
    return (hunk.id, hunk.path, hunk.stage, hunk.decision, line, hunk.added, hunk.removed, flags)


class RunView(BlockView):
    """A command, its output with places to jump to, and how it ended."""

    def __init__(self, block: Block, index: int, scene: Scene, before: Block | None) -> None:
        super().__init__(block, index, scene, before)
        self._output: list[str] = [""]
        self._read = 0

    def sync(self) -> int | None:
        """See `BlockView.sync`."""
        if not self._changed():
            return None
        if new := self.block.text_since(self._read):
            self._read = len(self.block.parts)
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
        return self._put(0, lines)

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


VIEWS: dict[BlockKind, type[BlockView]] = {
    BlockKind.USER: UserView,
    BlockKind.TEXT: TextView,
    BlockKind.REASONING: ReasoningView,
    BlockKind.TOOL: ToolView,
    BlockKind.PATCH: PatchView,
    BlockKind.NOTE: NoteView,
    BlockKind.RUN: RunView,
}
