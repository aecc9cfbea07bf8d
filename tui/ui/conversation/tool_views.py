"""What ran beside the answer: tool calls, one row each or in groups, and commands with output."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len

from tui.core.conversation import Block
from tui.core.run_report import FailedTest, ended_words
from tui.core.text.patterns import pattern
from tui.engine.notices import TaskView
from tui.ui import theme
from tui.ui.conversation.views import (
    FOLDED_ROWS,
    UNFOLDED_LINES,
    BlockView,
    ViewContext,
    duration,
    wait_words,
)
from tui.ui.keymap import shown
from tui.ui.styled_text import (
    Piece,
    RowTarget,
    StyledLine,
    clip,
    clip_left,
    cut,
    flat,
    inert,
    one_line,
    spread,
    wrap,
)

_PYTHON = pattern(r'File "([^"\n]+)", line (\d+)')
_COLONS = pattern(
    r"(?<![\w/.:@-])((?:[A-Za-z]:)?(?:\.{0,2}/)?(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.[A-Za-z]\w*)"
    r":(\d+)(?::(\d+))?"
)
_PYTEST = pattern(r"^(?:FAILED|ERROR)\s+((?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.py)(?:::\S+)?")


class Location(NamedTuple):
    """A place, and where in the text it is named (character offsets)."""

    start: int
    end: int
    path: str
    """Relative to the workspace where it lies in it."""
    line: int
    """0-based."""
    col: int


def find_location(text: str, root: str = "") -> Location | None:
    """The first place that one line of output names.

    Absolute paths are made relative to ``root``; those outside it are no place.
    """
    if match := _PYTHON.search(text):
        found = (match.start(1), match.end(2), match[1], int(match[2]), 1)
    elif match := _COLONS.search(text):
        found = (match.start(1), match.end(), match[1], int(match[2]), int(match[3] or 1))
    elif match := _PYTEST.search(text):
        found = (match.start(1), match.end(1), match[1], 1, 1)
    else:
        return None
    start, end, path, line, col = found
    prefix = root.rstrip("/") + "/"
    if root and path.startswith(prefix):
        path = path.removeprefix(prefix)
    path = path.removeprefix("./")
    if path.startswith(("/", "<", "../")) or re.match("[A-Za-z]:", path):
        return None
    return Location(start, end, path, max(line - 1, 0), max(col - 1, 0))


_FEW_FAILED = 8
"""Failed tests that are shown while a run is folded."""
_FEWEST = 3
"""So many calls under each other are folded into one row."""
_MOST_NAMES = 3
"""Tools that are named with their counts."""
_PROBE = 64
"""Characters of output by which it is seen that others stand there."""
_MOST_LIVE = 100
"""Lines that are shown of a command that is unfolded and still runs."""
_LONGEST = 2_000
"""Characters of a line."""


class CallGroup:
    """Calls of one speaker under each other, with nothing between them."""

    def __init__(self) -> None:
        self.calls: list[ToolView] = []
        self.version = 0
        """Counts what changes the rows of others than the first one."""

    @property
    def is_one(self) -> bool:
        """True if there are enough of them for one row."""
        return len(self.calls) >= _FEWEST

    @property
    def is_folded(self) -> bool:
        """True if only the first one has a row."""
        return self.is_one and self.calls[0].folded

    def add(self, call: ToolView) -> None:
        """One more at the end."""
        call.folded = not self.calls or self.calls[0].folded
        self.calls.append(call)
        self.version += len(self.calls) == _FEWEST

    def toggle(self) -> None:
        """Fold them, or unfold them."""
        folded = not self.calls[0].folded
        for call in self.calls:
            call.folded = folded
        self.version += 1

    @property
    def lasted(self) -> str:
        """How long they took together, from the first one's begin to the last one's end."""
        begun = [call.began_s for call in self.calls if call.began_s is not None]
        ended = [call.ended_s for call in self.calls if call.ended_s is not None]
        whole = bool(begun) and len(begun) == len(ended) == len(self.calls)
        return duration(max(ended) - min(begun)) if whole else ""

    def head(self, width: int, index: int) -> StyledLine:
        """The row that counts them; while they run it names the newest."""
        palette = theme.active()
        for call in self.calls:
            call.note_end()
        blocks = [call.block for call in self.calls]
        running = [block for block in blocks if block.state == "open"]
        failed = sum(block.state in ("failed", "cut") for block in blocks)
        names = Counter(one_line(block.title).partition(" ")[0] or "call" for block in blocks)
        most = [f"{count} {name}" for name, count in names.most_common(_MOST_NAMES)]
        said = " · ".join(most + ["…"] * (len(names) > _MOST_NAMES))
        if running:
            said = one_line(running[-1].title) or said
        sign = "▸" if self.is_folded else "▾"
        left: list[Piece] = [
            ("… " if running else "→ ", palette.style("accent")),
            (f"{len(blocks)} calls {sign} ", palette.style("muted", more="bold")),
            (said, palette.style("muted")),
        ]
        right: list[Piece] = []
        if failed:
            right.append((f"  {failed} failed", palette.style("error")))
        if running:
            right.append(("  running…", palette.style("warning")))
        elif lasted := self.lasted:
            right.append((f"  {lasted}", palette.style("faint")))
        return StyledLine(spread(left, right, width), target=RowTarget("fold", index))


class ToolView(BlockView):
    """A tool call and its result in brief; unfolded, all of it."""

    def __init__(
        self, block: Block, index: int, context: ViewContext, before: Block | None
    ) -> None:
        self.group = CallGroup()
        super().__init__(block, index, context, before)
        self.group.add(self)

    def follow(self, view: BlockView) -> None:
        """See `BlockView.follow`."""
        if isinstance(view, ToolView) and view.block.speaker == self.block.speaker:
            self.group = view.group
            self.group.add(self)

    @property
    def kin(self) -> Sequence[int]:
        """Those whose rows say something of this one."""
        return [call.index for call in self.group.calls[: _FEWEST - 1] if call is not self]

    @property
    def version(self) -> object:
        """What happens to the group is seen in all its rows."""
        return (self.context.version, self.group.version)

    @property
    def has_stops(self) -> bool:
        """A group can be unfolded, and a call that does not fit on a row."""
        return self._is_long or (self.group.is_one and self.group.calls[0] is self)

    @property
    def _is_long(self) -> bool:
        """True if it may not fit on a row."""
        said = self.block.length + len(self.block.title)
        return said + 12 > self.inner or "\n" in self.block.text.strip()

    def toggle(self, part: str = "") -> None:
        """Fold or unfold it, and all of its group."""
        self.group.toggle()

    def sync(self) -> int | None:
        """See `BlockView.sync`; the first one of a group tells what became of the others."""
        if self.group.is_one and self.group.calls[0] is self:
            self.pages[0].rows = None
        return super().sync()

    def _sync(self) -> int | None:
        if not self._changed():
            return None
        group = self.group
        first = group.calls[0] is self
        if group.is_folded:
            if first:
                return self._put([group.head(self.inner, self.index)])
            return self._hide()
        lines = [self._brief()] if self.folded or not self._is_long else self._full()
        if group.is_one and first:
            lines = [group.head(self.inner, self.index), *lines]
        return self._put(lines)

    def _hide(self) -> int:
        """It has no row of its own."""
        page = self.pages[0]
        page.rows, page.height, page.version = [], 0, self.version
        return 0

    def _brief(self) -> StyledLine:
        """All on one row; where something is left out, Enter shows it."""
        palette = theme.active()
        head, colour = self._head()
        result, lasted = one_line(self.block.text), self._lasted()
        pieces = [*head, (f" · {result}" if result else "", palette.style(colour))]
        right: list[Piece] = [(f"  {lasted}", palette.style("faint"))] if lasted else []
        whole = sum(len(text) for text, _ in [*pieces, *right])
        long = whole > self.inner or self._is_long
        target = RowTarget("fold", self.index) if long else None
        return StyledLine(spread(pieces, right, self.inner), target=target)

    def _full(self) -> list[StyledLine]:
        """The whole call, and the whole of its result."""
        palette = theme.active()
        head, colour = self._head()
        target = RowTarget("fold", self.index)
        lines = [StyledLine(row, target=target) for row in wrap(head, self.inner)]
        bar = ("│ ", palette.style("line"))
        text = self.block.text.strip()
        rows = wrap([(flat(inert(text)), palette.style(colour))], self.inner - 2) if text else []
        return lines + [StyledLine([bar, *row], target=target) for row in rows]

    def _head(self) -> tuple[list[Piece], str]:
        """Sign and call, and the colour of what follows."""
        palette = theme.active()
        failed = self.block.state in ("failed", "cut")
        glyph = {"open": "…", "done": "→"}.get(self.block.state, "✗")
        pieces: list[Piece] = [
            (f"{glyph} ", palette.style("error" if failed else "accent")),
            (clip(one_line(self.block.title), 4000), palette.style("muted")),
        ]
        if failed:
            pieces.append((" failed", palette.style("error")))
        return pieces, "error" if failed else "faint"


class RunView(BlockView):
    """A command, its output with places to jump to, and how it ended.

    Of the output only the end is looked at, however much of it comes.
    """

    _counted = _breaks = 0
    """Characters whose line breaks were counted, and how many those are."""
    _last = ""
    """The end of those characters, to see whether another text was said since."""
    _seen: object = None
    _below = ""
    """What it ran on, where the head has no room for that."""

    def _sync(self) -> int | None:
        self.note_end()
        seen = self._signature()
        if seen == self._seen and self.pages[0].fresh:
            return None
        self._seen = seen
        lines = [self._header()]
        if self._below:
            palette = theme.active()
            bar, muted = palette.style("line"), palette.style("muted")
            rows = wrap([(self._below, muted)], self.inner - 2)
            lines += [StyledLine([("│ ", bar), *row]) for row in rows]
        lines += self._told()
        output = self._output()
        if (left_out := self._count() - len(output)) > 0 and not (self._is_quiet and self.folded):
            style = theme.active().style("muted")
            noun = "line" if left_out == 1 else "lines"
            count = f"{left_out:,} more {noun}" if output else f"{left_out:,} {noun} of output"
            words = f"│ ⋯ {count} · Enter shows them" if self.folded else f"│ ⋯ {count}"
            lines.append(StyledLine([(words, style)], target=RowTarget("fold", self.index)))
        for text in output:
            lines += self._output_lines(flat(inert(text)))
        return self._put([*lines, *self._foot()])

    def _signature(self) -> tuple[object, ...]:
        """All that it shows; a text of the same length may have been said instead."""
        block = self.block
        end = block.text_since(block.length - _PROBE)
        left_out = "" if block.report is None else block.report.left_out
        ended = self._ending(), self._lasted(), block.outdated
        return (block.state, block.length, end, *ended, left_out)

    def _most_lines(self) -> int:
        """Lines of output that are shown; while more come, not so many that a frame feels it."""
        if not self.folded:
            return UNFOLDED_LINES if self.block.state != "open" else _MOST_LIVE
        return 0 if self._judged or self._is_quiet else FOLDED_ROWS

    @property
    def _is_quiet(self) -> bool:
        """All is well, and how well stands in the head: what was printed says no more."""
        report = self.block.report
        if report is None or self.block.state != "done":
            return False
        return report.noun != "test" or bool(ended_words(report))

    def _output(self) -> list[str]:
        """The last lines; of a long one the beginning, or what came last."""
        block, most = self.block, self._most_lines()
        longest = _LONGEST if not self.folded else 2 * self.inner
        start = max(block.length - (most + 1) * longest, 0)
        lines = block.text_since(start).removesuffix("\n").split("\n") if most else []
        if start and len(lines) > 1:
            del lines[0]  # not from its beginning
        if lines and self._is_footed:
            lines.pop()
        if not block.length or lines == [""]:
            return []
        live = block.state == "open"
        return [
            line
            if len(line) <= longest
            else f"…{line[-longest:]}"
            if live
            else f"{line[:longest]}…"
            for line in lines[-most:]
        ]

    def _count(self) -> int:
        """Lines of the whole output."""
        block = self.block
        if not block.length:
            return 0
        if block.text_between(self._counted - _PROBE, self._counted) != self._last:
            self._counted = self._breaks = 0
        self._breaks += block.text_since(self._counted).count("\n")
        self._counted = block.length
        self._last = block.text_since(block.length - _PROBE)
        return self._breaks + (not self._last.endswith("\n")) - self._is_footed

    @property
    def _is_footed(self) -> bool:
        """True if what the last line of the output says stands in the head."""
        return False

    def _foot(self) -> list[StyledLine]:
        """Rows under the output."""
        return []

    @property
    def _judged(self) -> bool:
        """True if what failed, or why nothing did, is told in the place of the output."""
        report = self.block.report
        return report is not None and bool(report.failed or report.known or report.fault)

    def _told(self) -> list[StyledLine]:
        """What is missing and the next step, or the failed tests."""
        report, palette = self.block.report, theme.active()
        if report is None:
            return []
        if report.fault:
            said = f"{report.fault[0].upper()}{report.fault[1:]}."
            rows = wrap([(flat(inert(said)), palette.style("warning"))], self.inner - 2)
            rows += wrap(
                [(f"→ {flat(inert(report.step))}", palette.style("foreground"))], self.inner - 2
            )
            return [StyledLine([("│ ", palette.style("line")), *row]) for row in rows]
        failed = report.failed or report.known
        sign = ("✗ ", "error") if report.failed else ("= ", "warning")
        most = _FEW_FAILED if self.folded else len(failed)
        lines = [line for one in failed[:most] for line in self._failed_test(one, sign)]
        if (left_out := len(failed) - most) > 0:
            words = f"│ ⋯ {left_out} more failed · Enter shows them"
            target = RowTarget("fold", self.index)
            lines.append(StyledLine([(words, palette.style("muted"))], target=target))
        return lines

    def _failed_test(self, one: FailedTest, sign: tuple[str, str]) -> list[StyledLine]:
        """Its name and place, and in the next row why it failed; Enter goes there."""
        palette = theme.active()
        target = RowTarget("place", 0, one.path, one.line) if one.path else None
        bar = ("│ ", palette.style("line"))
        link = palette.style("accent", more="underline")
        name = clip(one_line(inert(one.name)), self.inner - 4)
        place = clip_left(f"{one.path}:{one.line + 1}", self.inner - 4) if one.path else ""
        rows = [[bar, (sign[0], palette.style(sign[1])), (name, palette.style("foreground"))]]
        if cell_len(name) + cell_len(place) + 6 <= self.inner:
            rows[0] += [("  ", palette.style("muted")), (place, link)]
        elif place:
            rows.append([bar, ("  ", palette.style("muted")), (place, link)])
        if one.message:
            why = clip(one_line(inert(one.message)), self.inner - 4)
            rows.append([bar, (f"  {why}", palette.style("muted"))])
        return [StyledLine(row, target=target) for row in rows]

    def _header(self) -> StyledLine:
        palette = theme.active()
        words, colour = self._ending()
        left: list[Piece] = [
            ("$ ", palette.style("accent", more="bold")),
            (one_line(self.block.title), palette.style("foreground", more="bold")),
        ]
        style = palette.style(colour, more="bold")
        lasted = f" {self._lasted()} " if self._lasted() else ""
        report = self.block.report
        ground = f"with {report.ground}" if report is not None and report.ground else ""
        room = self.inner - sum(cell_len(text) for text, _ in left) - cell_len(lasted) - 3
        if self.block.outdated:
            words += " · out of date"
        words, *below = words.split(" · ")
        while below and cell_len(words) + cell_len(below[0]) + 3 <= room:
            words = f"{words} · {below.pop(0)}"
        right = [(f" {words} ", palette.style("muted") if self.block.outdated else style)]
        if ground and not below and cell_len(words) + cell_len(ground) + 3 <= room:
            right.append((f"· {ground} ", palette.style("muted")))
            ground = ""
        right = [(lasted, palette.style("muted")), *right]
        without = f"without {report.left_out}" if report is not None and report.left_out else ""
        self._below = " · ".join(filter(None, [*below, ground, without]))
        return StyledLine(spread(left, right, self.inner), target=RowTarget("fold", self.index))

    def _ending(self) -> tuple[str, str]:
        """How it ended, in words and a colour."""
        report = self.block.report
        if report is not None and report.fault:
            return "! no verdict" if report.is_empty else "! could not run", "warning"
        red = self.block.state == "failed"
        if report is not None and red and (words := ended_words(report, red=True)):
            return f"✗ {words}", "error"
        if report is not None and report.found:
            return f"→ {report.found}", "accent"
        if report is not None and self.block.state == "done" and (words := ended_words(report)):
            return (f"= {words}", "warning") if report.known else (f"✓ {words}", "success")
        if self.block.state == "open" and self.block.progress:
            return f"running {self.block.progress}", "warning"
        return {
            "open": ("running…", "warning"),
            "done": ("✓ ok", "success"),
            "failed": ("✗ failed", "error"),
        }.get(self.block.state, ("■ stopped", "warning"))

    def _output_lines(self, text: str) -> list[StyledLine]:
        palette = theme.active()
        style = palette.style(_output_colour(text))
        pieces: list[Piece] = [(text, style)]
        target = None
        if place := find_location(text, self.context.root):
            target = RowTarget("place", 0, place.path, place.line, place.col)
            link = style + palette.style("accent", more="underline")
            pieces = [
                *cut(pieces, 0, place.start),
                (text[place.start : place.end], link),
                *cut(pieces, place.end, len(text)),
            ]
        bar = ("│ ", palette.style("line"))
        rows = wrap(pieces, self.inner - 2)
        return [StyledLine([bar, *row], target=target) for row in rows]


def _output_colour(text: str) -> str:
    """A little colour for what matters in the output of tests."""
    if text.startswith(("E  ", "FAILED", "ERROR")) or " failed" in text:
        return "error"
    if text.startswith("PASSED") or " passed" in text:
        return "success"
    return "muted"


_LIVE_ROWS, _ENDED_ROWS = 6, 3
"""Lines of output of a folded card: while it runs, and where it ended well."""
_HEAD = 26
"""Cells of the head beside the command, about."""
_WORDS = 40
"""Cells of how it ended."""
_END = pattern(r"\[(?P<words>[^\[\]\n]*?)(?: after (?P<time>[\d.]+ s))?\]\n?$")
_END_CHARS = 200
ACTIONS = (("background", "background"), ("stop", "stop"))
"""Of the scope "command", and their words on the card."""


class CommandView(RunView):
    """A command of the model: it waits for the user, runs, or has ended."""

    @property
    def runs(self) -> bool:
        """True while it has not ended."""
        return self.block.state == "open"

    @property
    def task(self) -> TaskView | None:
        """What it is while it runs."""
        task = self.context.task(self.block.call_id) if self.runs else None
        return None if task is None or task.ended else task

    @property
    def actions(self) -> tuple[tuple[str, str], ...]:
        """See `BlockView.actions`."""
        if (task := self.task) is None:
            return ()
        return ACTIONS[task.background :]

    @property
    def _has_keys(self) -> bool:
        focus = self.context.focus
        return focus.has_keys and focus.block == self.index

    @property
    def _waits(self) -> bool:
        """The user is asked about it."""
        if not self.runs or self.block.length:
            return False
        title = one_line(self.block.title)
        return any(one_line(ask.command) == title for ask in self.context.asks() if ask.command)

    def _signature(self) -> tuple[object, ...]:
        return (*super()._signature(), self._has_keys, self.actions)

    def _most_lines(self) -> int:
        most = super()._most_lines()
        if not self.folded or self.block.state == "failed":
            return most
        return min(most, _LIVE_ROWS if self.runs else _ENDED_ROWS)

    @property
    def _is_footed(self) -> bool:
        return bool(self._end()[0])

    def _end(self) -> tuple[str, str]:
        """How it ended, and after how long, as its last line says; empty: it has not."""
        block = self.block
        if block.state == "open":
            return "", ""
        found = _END.search(block.text_since(block.length - _END_CHARS))
        return (found["words"], found["time"] or "") if found else ("", "")

    def _told(self) -> list[StyledLine]:
        """All of a long command, where it is unfolded."""
        palette, block = theme.active(), self.block
        if self.folded:
            return super()._told()
        bar, words = ("│ ", palette.style("line")), flat(inert(block.title))
        rows = wrap([(words, palette.style("foreground"))], self.inner - 2)
        whole = len(rows) == 1 and cell_len(words) < self.inner - _HEAD
        lines = [] if whole else [StyledLine([bar, *row]) for row in rows]
        return [*lines, *super()._told()]

    def _lasted(self) -> str:
        """Counts while it runs."""
        if (task := self.task) is not None:
            return wait_words(self.context.now() - task.began_s)
        return self._end()[1].removeprefix("0.0 s")

    def _ending(self) -> tuple[str, str]:
        if self._waits:
            return "? waits for you", "warning"
        if self.runs:
            task = self.task
            if task is None:
                return "…", "muted"
            return ("background", "accent") if task.background else ("running", "warning")
        words = clip(one_line(self._end()[0]), _WORDS)
        words = words or {"failed": "not run"}.get(self.block.state, "")
        glyph, colour = {"done": ("✓", "success"), "failed": ("✗", "error")}.get(
            self.block.state, ("■", "warning")
        )
        return f"{glyph} {words}".rstrip() if words else super()._ending()[0], colour

    def _foot(self) -> list[StyledLine]:
        """What can be done: by keys while they are here, by the mouse always."""
        palette, lit = theme.active(), self._has_keys
        if not (actions := self.actions):
            return []
        pieces: list[Piece] = [("╰ ", palette.style("line"))]
        if not lit:
            pieces.append((f"{shown('show_conversation')}: ", palette.style("faint")))
        for action, words in actions:
            key = shown(action, "command")
            pieces += [
                (key, palette.style("accent", more="bold") if lit else palette.style("muted")),
                (f" {words}", palette.style("muted" if lit else "faint")),
                ("   ", palette.style("faint")),
            ]
        return [StyledLine(pieces)]
