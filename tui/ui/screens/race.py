"""A race: two sides at one prompt side by side, with clocks, while it runs and afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.content import Content

from tui.core.inert_text import inert
from tui.core.meter import MeterView
from tui.core.patches.bringing_home import difference
from tui.engine.attempts import AttemptView, clock_words, side_name
from tui.engine.intents import TakeAttempt
from tui.engine.notices import Notices
from tui.engine.session import Session
from tui.ui.keymap import way_out
from tui.ui.screens.attempts import COLOURS, TICK_S, AttemptScreen, said_by, stopped
from tui.ui.screens.status import Parts, StatusScreen
from tui.ui.styled_text import breaks, clip, one_line

_BETWEEN = " │ "
_LEAST_ROWS = 5
Row = tuple[str, str]
"""Words and the ``$token`` of their colour."""


class RaceScreen(StatusScreen):
    """It follows both while they run; Esc stops them first, `1` and `2` take a side's change.

    Left and right look into a side, which has the whole width then.
    """

    ABOUT: ClassVar[str] = "race"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c", "stop_or_leave", show=False, priority=True),
        Binding("1", "take(1)", show=False),
        Binding("2", "take(2)", show=False),
        Binding("left,h", "look_into(1)", show=False, priority=True),
        Binding("right,l", "look_into(2)", show=False, priority=True),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.box.border_title = f"race · {one_line(session.attempts.asked)}"

    def on_mount(self) -> None:
        """It is looked at more often than others: both stream."""
        super().on_mount()
        self.set_interval(TICK_S, self._follow)

    def sync(self, notices: Notices) -> None:
        """Something changed; called once a frame."""
        if notices.status:
            self.say_ways()
            self.look()

    def say_ways(self) -> None:
        """The keys of the screen itself."""
        runs = self._session.attempts.active
        ways = "Esc stops both · q back" if runs else f"c copies · {way_out(self)}"
        self.box.border_subtitle = f"1 / 2 take a side's change · ← → look into it · {ways}"

    def action_stop_or_leave(self) -> None:
        """Stop the answer, or the race, that runs; else leave."""
        if not stopped(self._session):
            self.dismiss(None)

    def action_take(self, number: int) -> None:
        """Bring the change of one side home."""
        self._session.submit(TakeAttempt(number))

    def action_look_into(self, number: int) -> None:
        """Have one side on the whole screen, with single hunks to take."""
        for row in self._session.attempts.rows[number - 1 : number]:
            self.app.push_screen(AttemptScreen(self._session, row))

    def _follow(self) -> None:
        if self._session.attempts.active:
            self.look()

    def report(self, width: int) -> Content:
        """Both in rows of ``width`` cells; while they run the end of what they write."""
        views = self._session.attempts.views()[:2]
        if not views:
            return Content(self._session.attempts.said or "no race yet: /race PROMPT begins one")
        room = (width - len(_BETWEEN)) // 2
        heads = [list(_head(view, room)) for view in views]
        rows = max(self.box.size.height - max(map(len, heads)) - 2, _LEAST_ROWS)
        texts = [
            _text(view, other, room, rows)
            for view, other in zip(views, reversed(views), strict=True)
        ]
        columns = [
            [*head, *[("", "")] * (max(map(len, heads)) - len(head)), *text]
            for head, text in zip(heads, texts, strict=True)
        ]
        parts: Parts = []
        for left, right in zip_longest(*columns, fillvalue=("", "")):
            parts.append((left[0] + " " * (room - cell_len(left[0])), left[1]))
            parts += [(_BETWEEN, "$faint"), (f"{right[0]}\n", right[1])]
        return Content.assemble(*parts).rstrip("\n")


def _head(view: AttemptView, room: int) -> Iterator[Row]:
    """Who it is, its state and its clocks."""
    row, result = view.attempt, view.attempt.result
    yield clip(f"{row.number}  {side_name(row)}", room), "bold $accent"
    colour = "$foreground" if row.state != "over" else "$success" if view.passes else "$muted"
    if result is not None and result.verdict in ("failed", "timeout"):
        colour = "$error"
    for words in _wrapped(one_line(view.words), room):
        yield words, colour
    yield clip(_rate(view.meter), room), "$muted"
    for name, at in clock_words(view):
        yield clip(f"{name:<11} {at:>9}", room), "$foreground"
    if view.added or view.removed:
        yield clip(f"{'lines':<11} {f'+{view.added} −{view.removed}':>9}", room), "$muted"
    for words in _wrapped(one_line(f"taken: {row.home}"), room) if row.home else ():
        yield words, "$success"
    yield "", ""


def _rate(meter: MeterView) -> str:
    """Tokens, and how fast they come."""
    about, guessed = "~" * meter.tokens_estimated, "~" * meter.estimated
    rate = "" if meter.tokens_s is None else f" · {guessed}{meter.tokens_s:,.0f} tok/s"
    return f"{about}{meter.tokens:,} tok{rate}" if meter.tokens else ""


def _text(view: AttemptView, other: AttemptView, room: int, rows: int) -> Sequence[Row]:
    """What it writes, with a mark where the other one would be in it."""
    row = view.attempt
    found: list[Row] = []
    for line in difference(view.changes):
        colour = COLOURS.get(line[:1], "$muted")
        found.append((clip(inert(line.removeprefix("=").expandtabs(4)), room), colour))
    for line in said_by(row).strip().split("\n"):
        found += [(words, "$foreground") for words in _wrapped(one_line(line), room)]
    if (share := view.ghost(other)) is not None:
        is_here = "is here" if other.attempt.lane is not None else "was here"
        mark = clip(f"◆ {side_name(other.attempt)} {is_here}", room)
        found.insert(int(len(found) * share), (mark, "$warning"))
    return found if row.lane is None else found[-rows:]


def _wrapped(words: str, room: int) -> Iterator[str]:
    for start, end in breaks(words, room):
        yield words[start:end]
