"""Attempts while they run and afterwards: their table, one of them looked into, and a race.

A race is two sides at one prompt side by side, with clocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import ClassVar, Literal

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content

from tui.core.conversation import BlockKind
from tui.core.files import counted
from tui.core.inert_text import inert
from tui.core.meter import MeterView, dollars
from tui.core.patches.bringing_home import difference, hunk_count
from tui.engine.attempts import NONE_YET, Attempt, AttemptView, clock_words, said_in, side_name
from tui.engine.intents import Interrupt, StopAttempts, TakeAttempt
from tui.engine.notices import Notices
from tui.engine.session import Session
from tui.ui import theme
from tui.ui.finding.pick_list import KeyedScreen, PickList
from tui.ui.keymap import way_out
from tui.ui.screens.status import Parts, StatusScreen, paragraph
from tui.ui.styled_text import Piece, breaks, clip, one_line

TICK_S = 0.2
_STREAMED_LINES = 60
"""Of what an attempt changes, and of what its model says, while it goes on."""
_LEAST_WIDTH = 30
_FIGURES = 11, 12, 9, 9, 9
"""Cells of the difference, tokens, their rate, the price and the time."""
_NARROW = 80
"""Cells below which a row has no price."""


class AttemptRows(PickList[AttemptView]):
    """One a row: its place, its state or what it came to, and its figures."""

    def row(self, item: AttemptView, width: int) -> tuple[list[Piece], list[Piece]]:
        """Number and words left, figures right."""
        style = theme.active().style
        over = item.attempt.state == "over"
        sign, colour = ("✓", "success") if item.wins else ("·", "muted")
        if not over:
            sign, colour = ("●", "accent") if item.attempt.began_s else ("○", "faint")
        left = [
            (f"{sign} ", style(colour)),
            (f"{item.attempt.number:>2}  ", style("faint")),
            (one_line(item.words), style("foreground" if item.wins or not over else "muted")),
        ]
        return left, [(figures(item, width), style("muted" if over else "foreground"))]


def stopped(session: Session) -> bool:
    """Stop the answer that runs, else the attempts; False: none of them runs."""
    if session.status.busy:
        session.submit(Interrupt())
    elif session.attempts.active:
        session.submit(StopAttempts())
    else:
        return False
    return True


def what_esc_stops(session: Session, all_of_them: str) -> str:
    """With the sign before it; empty: it leads back."""
    if session.status.busy:
        return " · Esc stops the answer"
    return f" · Esc stops {all_of_them}" if session.attempts.active else ""


def figures(item: AttemptView, width: int) -> str:
    """Those of an attempt, each in its column, for a row of so many cells."""
    meter, usd = item.meter, item.meter.cost.turn_usd
    about = "~" * meter.tokens_estimated
    rate = "" if meter.tokens_s is None else f"{'~' * meter.estimated}{meter.tokens_s:,.0f}/s"
    said = (
        f"+{item.added} −{item.removed}" if item.added or item.removed else "",
        f"{about}{meter.tokens:,} tok" if meter.tokens else "",
        rate,
        dollars(usd) if usd else "",
        f"{item.seconds:.1f} s" if item.seconds else "",
    )
    cells = [f"{words:>{room}}" for words, room in zip(said, _FIGURES, strict=True)]
    if width < _NARROW:
        del cells[3]
    return "".join(cells) + " "


class AttemptsScreen(KeyedScreen[Attempt | None]):
    """Enter looks into one; it follows what happens, and Esc stops what runs first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c", "stop_or_leave", show=False, priority=True),
        Binding("space", "take", show=False, priority=True),
        Binding("t", "want('take')", show=False, priority=True),
        Binding("x", "want('stop')", show=False, priority=True),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._is_active = False
        self._best = 0
        """Number of the attempt that was lit without a key."""
        self._said = ""
        """What stands below the box."""
        self._list = AttemptRows()
        self._lit.display = True
        self._box.border_title = "attempts"
        self._status.id = "attempt-keys"

    def compose(self) -> ComposeResult:
        """The keys stand where those of the screen below would: none of these work now."""
        with self._box:
            yield self._list
            yield self._lit
        yield self._status

    def on_mount(self) -> None:
        """Figures move while they run."""
        self._take_up()
        self.set_interval(TICK_S, self._take_up)

    def action_stop_or_leave(self) -> None:
        """Stop the answer, or the attempts, that run; else leave the table."""
        if not stopped(self._session):
            self.dismiss(None)

    def action_take(self) -> None:
        """Look into the one that is lit."""
        if (chosen := self._list.chosen) is not None:
            self.app.push_screen(AttemptScreen(self._session, chosen.attempt))

    def action_want(self, what: Literal["take", "stop"]) -> None:
        """Have something done about it."""
        if (chosen := self._list.chosen) is not None:
            number = chosen.attempt.number
            self._session.submit(TakeAttempt(number) if what == "take" else StopAttempts(number))

    def _take_up(self) -> None:
        """All as they are now; at the end the best is lit, if no key has lit another."""
        chosen, views = self._list.chosen, self._session.attempts.views()
        number = chosen.attempt.number if chosen is not None else 0
        was_active, self._is_active = self._is_active, self._session.attempts.active
        by_key = number != self._best
        if was_active and not self._is_active and not by_key:
            number = 0
        found = (at for at, one in enumerate(views) if one.attempt.number == number)
        self.show(views, next(found, 0))
        if not by_key and (lit := self._list.chosen) is not None:
            self._best = lit.attempt.number
        said = one_line(self._session.attempts.said)
        if said != self._said:  # another title paints the whole box
            self._said = self._box.border_subtitle = said
        self.lit()

    def lit(self) -> None:
        """What there is no room for in the row, and what can be done."""
        chosen, attempts = self._list.chosen, self._session.attempts
        if chosen is None:
            self._status.update("q back")
            self._lit.update(one_line(attempts.said) or NONE_YET)
            return
        row = chosen.attempt
        told = [row.spec.model]
        told += [] if row.spec.temperature is None else [f"at {row.spec.temperature:g}"]
        told += [f"{len(row.denied)} denied"] if row.denied else []
        told += [f"taken: {row.home}"] if row.home else []
        words = one_line(f"{row.number}  {' · '.join(told)} · {chosen.words}")
        self._lit.update(clip(words, max(self._list.size.width, _LEAST_WIDTH)))
        take = " · t takes its change" if row.changes else ""
        stop = " · x stops it" if attempts.active and row.state != "over" else ""
        stop += what_esc_stops(self._session, "all")
        self._status.update(f"Enter looks into it{take}{stop} · q back")


Row = tuple[str, str]
"""Words and the ``$token`` of their colour."""
_COLOURS = {"+": "$success", "-": "$error", "=": "bold $accent"}


class LiveScreen(StatusScreen):
    """What attempts write, looked at more often than other reports: it may stream."""

    def on_mount(self) -> None:
        """Follow it."""
        self._states = self._now()
        self.set_interval(TICK_S, self._follow)

    def _follow(self) -> None:
        if self.streams:
            self.look()
        if (now := self._now()) != self._states:
            self._states = now
            self.say_ways()

    def _now(self) -> list[str]:
        return [row.state for row in self._session.attempts.rows]

    @property
    def streams(self) -> bool:
        """Something more may come."""
        return self._session.attempts.active


class AttemptScreen(LiveScreen):
    """One attempt: what it came to, what it changed, and what its model says."""

    ABOUT: ClassVar[str] = "attempt"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "take", show=False),
        *(Binding(f"{n}", f"take({n})", show=False) for n in range(1, 10)),
    ]

    def __init__(self, session: Session, attempt: Attempt) -> None:
        super().__init__(session)
        self._attempt, self._home = attempt, ""
        who, kind = one_line(attempt.spec.model), "attempt "
        if session.attempts.race:
            who, kind = side_name(attempt), ""
        self.box.border_title = f"{kind}{attempt.number} · {who}"

    def _follow(self) -> None:
        super()._follow()
        if self._home != self._attempt.home:
            self._home = self._attempt.home
            self.look()

    @property
    def streams(self) -> bool:
        """Its model has not ended."""
        return self._attempt.state != "over"

    def say_ways(self) -> None:
        """The keys of the screen itself."""
        hunks = min(hunk_count(self._attempt.changes), 9)
        takes = "t takes its change · " if self._attempt.changes else ""
        takes += f"1-{hunks} a hunk · " if hunks > 1 else ""
        self.box.border_subtitle = f"{takes}c copies · {way_out(self)}"

    def action_take(self, hunk: int = 0) -> None:
        """Bring its change home, or one hunk of it."""
        hunks = (hunk,) if hunk else ()
        self._session.submit(TakeAttempt(self._attempt.number, hunks=hunks))

    def report(self, width: int) -> Content:
        """What is shown in rows of ``width`` cells."""
        row = self._attempt
        views = self._session.attempts.views()
        words = next((one.words for one in views if one.attempt is row), row.state)
        parts: Parts = paragraph(one_line(words), "bold $foreground", width, "")
        if row.home:
            parts += paragraph(one_line(f"taken: {row.home}"), "$success", width, "")
        if row.result is not None:
            for name, tests in (("breaks", row.result.broke), ("fails", row.result.failed)):
                parts += [
                    (clip(f"  {name} {one_line(test)}", width) + "\n", "$error") for test in tests
                ]
        for command in row.denied:
            parts.append((clip(f"  not allowed: {one_line(command)}", width) + "\n", "$warning"))
        changed, said = self._end_of(_changed(row)), self._end_of(_said(row))
        blank = [("", "")] if said else []
        rows = [*_wrapped(changed, width), *blank, *_wrapped(said, width)]
        parts += [(f"{line}\n", colour) for line, colour in rows]
        return Content.assemble(*parts).rstrip("\n")

    def _end_of(self, lines: list[Row]) -> list[Row]:
        """All lines; the last ones as long as more come, for all are laid out anew each time."""
        left = len(lines) - _STREAMED_LINES
        if not self.streams or left <= 0:
            return lines
        return [(f"… {counted(left, 'more line')} when it is over", "$muted"), *lines[left:]]


def _changed(row: Attempt) -> list[Row]:
    """What it has made of files, up to now."""
    return [
        (inert(line.removeprefix("=").expandtabs(4)), _COLOURS.get(line[:1], "$muted"))
        for line in difference(row.changes if row.lane is None else row.lane.changes)
    ]


def _said(row: Attempt) -> list[Row]:
    """What its model has said, up to now."""
    said = (row.said if row.lane is None else said_in(row.lane)).strip()
    return [(one_line(line), "$foreground") for line in said.split("\n")] if said else []


def _wrapped(rows: Iterable[Row], room: int) -> Iterator[Row]:
    for words, colour in rows:
        yield from ((words[start:end], colour) for start, end in breaks(words, room))


_BETWEEN = " │ "
_LEAST_ROWS = 5
_MOST_HEIGHT = 94
"""Hundredths of the screen that the box may have, as its style says."""


class RaceScreen(LiveScreen):
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

    def sync(self, notices: Notices) -> None:
        """Something changed; called once a frame."""
        if notices.status:
            self.say_ways()
            self.look()

    def say_ways(self) -> None:
        """The keys of the screen itself."""
        stops, rows = what_esc_stops(self._session, "both"), self._session.attempts.rows
        changed = [str(row.number) for row in rows if row.changes]
        takes = f"{changed[0]} takes its change · " if changed else ""
        takes = "1 / 2 take a side's change · " if len(changed) > 1 else takes
        ways = f"{stops} · q back" if stops else f" · c copies · {way_out(self)}"
        look = "← → look into it" if rows else ""
        self.box.border_subtitle = f"{takes}{look}{ways}".removeprefix(" · ")

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

    def report(self, width: int) -> Content:
        """Both in rows of ``width`` cells; while they run the end of what they write."""
        views = self._session.attempts.views()[:2]
        if not views:
            return Content(self._session.attempts.said or "no race yet: /race PROMPT begins one")
        room = (width - len(_BETWEEN)) // 2
        heads = [list(_head(view, room)) for view in views]
        most = self.size.height * _MOST_HEIGHT // 100 - self.box.gutter.height
        rows = max(most - max(map(len, heads)), _LEAST_ROWS)
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
    yield from _wrapped([(one_line(view.words), colour)], room)
    yield clip(_rate(view.meter), room), "$muted"
    for name, at in clock_words(view):
        yield clip(f"{name:<11} {at:>9}", room), "$foreground"
    if view.added or view.removed:
        yield clip(f"{'lines':<11} {f'+{view.added} −{view.removed}':>9}", room), "$muted"
    if row.home:
        yield from _wrapped([(one_line(f"taken: {row.home}"), "$success")], room)
    yield "", ""


def _rate(meter: MeterView) -> str:
    """Tokens, and how fast they come."""
    about, guessed = "~" * meter.tokens_estimated, "~" * meter.estimated
    rate = "" if meter.tokens_s is None else f" · {guessed}{meter.tokens_s:,.0f} tok/s"
    return f"{about}{meter.tokens:,} tok{rate}" if meter.tokens else ""


def _text(view: AttemptView, other: AttemptView, room: int, rows: int) -> Sequence[Row]:
    """What it writes, with a mark where the other one would be in it.

    While it goes on the end of it is shown: what is written now.
    """
    row = view.attempt
    changed = [(clip(words, room), colour) for words, colour in _changed(row)]
    said = [*_wrapped(_said(row), room)]
    blocks = [] if row.lane is None else row.lane.state.transcript.blocks
    edits = bool(blocks) and blocks[-1].kind is BlockKind.PATCH
    found = [*said, *changed] if edits else [*changed, *said]
    if (share := view.ghost(other)) is not None:
        is_here = "is here" if other.attempt.lane is not None else "was here"
        mark = clip(f"◆ {side_name(other.attempt)} {is_here}", room)
        found.insert(int(len(found) * share), (mark, "$warning"))
    return found if row.lane is None else found[-rows:]
