"""One view a block of the conversation: rows that are made once and grow at the end.

A view is synchronised, never rebuilt per frame: `BlockView.sync` reads what is new in its block
and says from which row on the screen must be painted again. The short kinds are here, too: what
the user said, notes, cards of failures, and the welcome of an empty conversation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from msgspec import Struct, field
from rich.cells import cell_len

from tui.core.conversation import Block, BlockKind
from tui.core.document.hunk import Hunk
from tui.core.document.hunk_list import HunksOfFile
from tui.core.files import counted
from tui.engine.notices import Ask, Status, TaskView, Trouble
from tui.ui import theme
from tui.ui.keymap import shown
from tui.ui.styled_text import (
    Piece,
    RowTarget,
    StyledLine,
    StyledRow,
    clip,
    flat,
    inert,
    inner_width,
    one_line,
    wrap,
)

FOLDED_ROWS = 12
"""Rows of a command's output, or of a long message, that are shown while it is folded."""
UNFOLDED_LINES = 2000
_LONG_CHARS = 20_000
"""Of a message: what is longer is wrapped only as far as it is shown."""
ROLE_GLYPHS = {"fast": "↯", "deep": "◆"}


class Focus(NamedTuple):
    """What the keys of review are on, so that the card can say what they do."""

    hunk_id: int = 0
    candidate: int = 0
    """Which of an ambiguous hunk's candidates is chosen."""
    opened: bool = False
    """The text of a hunk that is not in the buffer is shown."""
    has_keys: bool = True
    """The keyboard is here: what the keys do is said."""
    block: int = -1
    """Index of the block in which the selection is."""


class ViewContext(Struct):
    """What views need to know besides their block; one object, shared by all views."""

    width: int = 80
    """Cells of a row, margins included."""
    root: str = ""
    """The workspace's absolute path, to make paths in output relative."""
    version: int = 0
    """Counts changes of the width or the colours: all rows must be made again."""
    hunks: Callable[[str], Sequence[Hunk]] = lambda call_id: ()
    files: Callable[[str], dict[str, HunksOfFile]] = lambda call_id: {}
    """The same by path, with their numbers."""
    now: Callable[[], float] = lambda: 0.0
    """Seconds of the session's clock."""
    reviews: Callable[[], int] = lambda: 0
    """Counts what the user decided."""
    task: Callable[[str], TaskView | None] = lambda call_id: None
    """The command of a call, once it has begun."""
    asks: Callable[[], Sequence[Ask]] = lambda: ()
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


def wait_words(seconds: float) -> str:
    """A time that is still counted: ``0 s``, ``12 s``, ``2 min 5 s``; changes once a second."""
    return f"{seconds:.0f} s" if seconds < 60 else duration(seconds)


class ViewPage:
    """Some rows of a block that lie under each other; most blocks have one page.

    A page that is out of sight keeps its height only; it is made again when it is looked at.
    """

    __slots__ = ("height", "number", "rows", "seen", "version", "view")

    def __init__(self, view: BlockView, number: int) -> None:
        self.view = view
        self.number = number
        """Its index among the pages of its view."""
        self.height = 1
        """Rows: as many as there were when it was made last, or a guess."""
        self.rows: list[StyledRow] | None = None
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

    def __init__(
        self, block: Block, index: int, context: ViewContext, before: Block | None
    ) -> None:
        """``before`` is the block above, which decides on gap and label."""
        self.block = block
        self.index = index
        self.context = context
        self.folded = True
        self.pages = [ViewPage(self, 0)]
        self.first = 0
        """Number of the first page among all pages of the conversation."""
        self._before = before
        self._read = 0
        """Characters of the block that were read."""
        self._state = ""
        self.began_s = context.now() if block.state == "open" else None
        """When it was first seen; None: it was over by then, and how long it took is not known."""
        self.ended_s: float | None = None
        self.pages[0].height = self._guess()

    @property
    def inner(self) -> int:
        """Cells between the margins."""
        return inner_width(self.context.width)

    @property
    def runs(self) -> bool:
        """True of a command of the model that has not ended."""
        return False

    @property
    def task(self) -> TaskView | None:
        """What it is while it runs."""
        return None

    @property
    def actions(self) -> tuple[tuple[str, str], ...]:
        """Those of the scope "command" that can be done now, and their words on the card."""
        return ()

    def action_at(self, text: str, cell: int) -> str:
        """The action in a cell of a row of it, as it is said there; empty: none."""
        for action, words in self.actions:
            chip = f"{shown(action, 'command')} {words}"
            if 0 <= (start := text.find(chip)) <= cell < start + cell_len(chip):
                return action
        return ""

    @property
    def version(self) -> object:
        """Rows that were made under another version are not as they should be."""
        return self.context.version

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
            self.ended_s = self.context.now()

    def _lasted(self) -> str:
        """How long it took, in words; empty: it is not known, or less than can be felt."""
        if self.began_s is None or self.ended_s is None:
            return ""
        return duration(self.ended_s - self.began_s)

    def _lead(self) -> list[StyledRow]:
        """The rows before the block's own."""
        before, block = self._before, self.block
        rows: list[StyledRow] = []
        if before is None or not before.kind is block.kind is BlockKind.TOOL:
            rows.append(self._row(StyledLine([])))
        if block.speaker and (before is None or before.speaker != block.speaker):
            rows.append(self._row(self._label()))
        return rows

    def _label(self) -> StyledLine:
        role = self.block.speaker
        colour = role if role in ROLE_GLYPHS else "muted"
        glyph = ROLE_GLYPHS.get(role, "·")
        return StyledLine(
            [(f"{glyph} {one_line(role)}", theme.active().style(colour, more="bold"))]
        )

    def _put(self, lines: Iterable[StyledLine]) -> int:
        """Have these rows on the first page; returns the first one that changed."""
        page = self.pages[0]
        page.rows = [*self._lead(), *map(self._row, lines)]
        page.height, page.version = len(page.rows), self.version
        return 0

    def _row(self, line: StyledLine) -> StyledRow:
        return StyledRow(line, self.context.width)


class UserView(BlockView):
    """What the user said: a band with the user's bar."""

    @property
    def has_stops(self) -> bool:
        """Only what is long is folded; a row may hold a single word, of wide characters or tabs."""
        block = self.block
        if block.length > _LONG_CHARS:
            return True
        text = block.text
        if block.title:
            return not block.title.endswith(text.rstrip())
        return text.count("\n") + 8 * len(text) // max(self.inner - 3, 1) >= FOLDED_ROWS

    def _sync(self) -> int | None:
        if not self._changed():
            return None
        palette = theme.active()
        text = self.block.text.rstrip()
        bar = ("▌ ", palette.style("you"))
        rows, left_out = self._begin(text) if len(text) > _LONG_CHARS else self._fold(text)
        lines = [StyledLine([bar, *row], "panel") for row in rows]
        if left_out:
            shows = f"Enter shows {'it' if left_out.startswith('1 line ') else 'them'}"
            what = shows if self.folded else "not shown, but sent"
            words = f"⋯ {left_out} · {what}"
            target = RowTarget("fold", self.index)
            lines.append(StyledLine([bar, (words, palette.style("muted"))], "panel", target))
        return self._put(lines)

    def _fold(self, text: str) -> tuple[list[list[Piece]], str]:
        """The rows that are shown, and what is left out."""
        rows = self._wrapped(text)
        if title := self.block.title:
            if title.endswith(text):
                return self._wrapped(title), ""
            rows = [*self._wrapped(title), *(() if self.folded else rows)]
            lines = counted(text.count("\n") + 1, "line")
            return rows, f"{lines} sent with it" if self.folded else ""
        if not self.folded or len(rows) <= FOLDED_ROWS + 1:
            return rows, ""
        return rows[:FOLDED_ROWS], f"{len(rows) - FOLDED_ROWS} more lines"

    def _begin(self, text: str) -> tuple[list[list[Piece]], str]:
        """The same for a long text: it is wrapped only as far as it is shown."""
        most, at = FOLDED_ROWS if self.folded else UNFOLDED_LINES, 0
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


class FailureWords(NamedTuple):
    """The words of a trouble that the conversation tells."""

    what: str
    why: str
    next_step: str


def failure(text: str) -> FailureWords:
    """``what: why`` and below it the next step, as the engine notes a turn that failed."""
    head, _, step = text.strip().rpartition("\n")
    head, step = (head, step) if head else (step, "")
    what, _, why = head.partition(": ")
    return FailureWords(what.strip(), why.strip(), step.strip())


def card_words(trouble: Trouble) -> tuple[str, str]:
    """Title and words of a card that goes away by itself: what; why and the next step."""
    step = f"→ {trouble.next_step}" if trouble.next_step else ""
    rest = "\n".join(filter(None, (trouble.why, step)))
    return (inert(trouble.what), inert(rest)) if rest else ("", inert(trouble.what))


class NoteView(BlockView):
    """A note, or the card of a failure."""

    @property
    def has_stops(self) -> bool:
        """The keys act on a card."""
        return self._is_card

    @property
    def _is_card(self) -> bool:
        """True if it failed; what was only cut short has a next step if it is a trouble."""
        block = self.block
        return block.state == "failed" or (block.state == "cut" and "\n" in block.text.strip())

    def _sync(self) -> int | None:
        if not self._changed():
            return None
        text = "\n".join(filter(None, (self.block.title, self.block.text.strip())))
        return self._put(self._card(failure(text)) if self._is_card else self._note(text))

    def _note(self, text: str) -> list[StyledLine]:
        colour = {"cut": "warning", "failed": "error"}.get(self.block.state, "muted")
        style = theme.active().style(colour)
        rows = wrap([(flat(inert(text)), style)], self.inner - 2)
        lead = ["╌ ", *["  "] * (len(rows) - 1)]
        return [StyledLine([(mark, style), *row]) for mark, row in zip(lead, rows, strict=True)]

    def _card(self, said: FailureWords) -> list[StyledLine]:
        """The sign and the word tell how bad it is, without the colour."""
        palette = theme.active()
        failed = self.block.state == "failed"
        colour, glyph = ("error", "✗") if failed else ("warning", "!")
        head = palette.style(colour, more="bold")
        text, muted = palette.style("foreground"), palette.style("muted")
        lines = self._part(f" {glyph} ", [(one_line(said.what), head)])
        if said.why:
            lines += self._part("   ", [(flat(inert(said.why)), text)])
        if said.next_step:
            step = (one_line(said.next_step), palette.style("accent"))
            lines += self._part(" → ", [("next: ", muted), step])
        return lines + self._part("   ", [(_ways(), muted)])

    def _part(self, lead: str, pieces: list[Piece]) -> list[StyledLine]:
        """Rows of the card; the sign stands before the first one."""
        style = pieces[-1][1]
        target = RowTarget("card", self.index)
        rows = wrap(pieces, max(self.inner - len(lead) - 1, 1))
        leads = [lead, *["   "] * (len(rows) - 1)]
        return [
            StyledLine([(mark, style), *row], "panel", target)
            for mark, row in zip(leads, rows, strict=True)
        ]


class PaceView(BlockView):
    """How long the answer above took, and would have taken at 50 tokens/s."""

    @property
    def has_stops(self) -> bool:
        """There is nothing to do with it."""
        return False

    def _sync(self) -> int | None:
        if not self._changed():
            return None
        style = theme.active().style("muted")
        rows = wrap([(flat(inert(self.block.text)), style)], self.inner)
        return self._put(StyledLine(row) for row in rows)

    def _lead(self) -> list[StyledRow]:
        """It belongs to what is above."""
        return []


def _ways() -> str:
    """What helps after most failures, and the keys that do it."""
    ways = (
        (shown("switch"), "the other model"),
        ("/status", "the connection"),
        (shown("copy_block", "conversation"), "copies this card"),
    )
    return " · ".join(f"{key} {words}" for key, words in ways if key)


_ABOUT = "pair-programming, interruptible"


def welcome_lines(status: Status, width: int) -> list[StyledLine]:
    """Rows for an empty conversation, at most ``width`` cells wide."""
    palette = theme.active()
    text, muted = palette.style("foreground"), palette.style("muted")
    accent = palette.style("accent")
    name: Piece = ("duetto", palette.style("accent", more="bold"))
    lines = [
        StyledLine([]),
        StyledLine([name, (f"  {clip(_ABOUT, width - 8)}", muted)]),
        StyledLine([]),
    ]
    keys = _keys()
    column = max(cell_len(key) for key, _ in keys) + 2
    room = width - column
    for key, words in keys:
        blank = " " * (column - cell_len(key))
        said: list[Piece] = [(f"{key}{blank}", accent), (clip(words, room), muted)]
        lines.append(StyledLine(said))
    if status.rehearsal:
        lines.append(StyledLine([]))
        lines.append(StyledLine([("This is a rehearsal", palette.style("warning", more="bold"))]))
        words = "Scripted answers at real speeds, no model. /connect connects one."
        lines += [StyledLine(row) for row in wrap([(words, text)], width)]
        words = "duetto practice --guide teaches all of this in a minute."
        lines += [StyledLine([]), *(StyledLine(row) for row in wrap([(words, muted)], width))]
    elif status.endpoint:
        lines += [
            StyledLine([]),
            StyledLine([("endpoint ", muted), (one_line(status.endpoint), text)]),
        ]
    return lines


def _keys() -> list[tuple[str, str]]:
    """The keys of the first minute, and what they do."""
    accept, reject = shown("accept_hunk", "review"), shown("reject_hunk", "review")
    return [
        (shown("send", "prompt"), "sends the prompt below"),
        (shown("interrupt"), "stops it; what landed stays"),
        (f"{shown('review')} {shown('review_turn')}", f"reviews: {accept} accept, {reject} reject"),
        (shown("switch", most=2), "fast model ↔ deep model"),
        (shown("verify", most=2), "runs the tests"),
        (shown("app.help", most=2), "all keys and commands"),
    ]
