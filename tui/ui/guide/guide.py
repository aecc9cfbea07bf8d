"""The guide over a workbench: looks when something changed, and says one thing at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from rich.cells import cell_len
from textual.strip import Strip

from tui.engine.intents import Throttle
from tui.engine.notices import Notices
from tui.engine.session import Session
from tui.ui import theme
from tui.ui.guide.lesson import STEPS, Facts, Lesson, Step
from tui.ui.guide.pages import (
    REPEATED,
    SLOW_TOKENS_S,
    TO_MEND,
    TO_RUN,
    GuideContext,
    GuidePage,
    key_of,
    said,
    sentence,
    summary,
)
from tui.ui.prompt.box import PromptBox
from tui.ui.styled_text import Piece, clip, inert, make_strip, one_line, wrap
from tui.ui.widgets.painted import PaintedWidget
from tui.ui.widgets.panes import Panes

_LEAST_ROWS, _MOST_ROWS = 2, 7
_BAR = "▌ "
_ROWS_BESIDE = 3
"""Header, status line and footer."""


class GuidePanel(PaintedWidget):
    """Shows one page; how many rows it takes follows from the screen's height."""

    def __init__(self) -> None:
        super().__init__()
        self._said = GuidePage("", [])
        self._figures: Sequence[tuple[str, str]] = ()
        self._at: Step | None = STEPS[0]
        self._way_out = ""
        self._rows: list[list[Piece]] = []
        self._height = 0
        """The screen's height when the rows were made."""

    def say(
        self,
        said: GuidePage,
        at: Step | None,
        way_out: str,
        figures: Sequence[tuple[str, str]] = (),
    ) -> None:
        """Show this page; ``at`` is the step, None at the end; ``way_out`` how to leave."""
        page = (said, at, way_out, figures)
        if page != (self._said, self._at, self._way_out, self._figures):
            self._said, self._at, self._way_out, self._figures = page
            self.recolour()

    @property
    def text(self) -> str:
        """All that it shows, as plain text."""
        return "\n".join("".join(text for text, _ in row) for row in self._rows)

    def on_mount(self) -> None:
        """How many rows there are for it depends on the screen, not on its own size."""
        self.screen.screen_layout_refresh_signal.subscribe(self, lambda _: self._fit())

    def on_unmount(self) -> None:
        """Textual's signal would keep it."""
        self.screen.screen_layout_refresh_signal.unsubscribe(self)

    def on_resize(self) -> None:
        """Another width breaks lines elsewhere."""
        self.recolour()

    def recolour(self) -> None:
        """Make the rows anew, and take as much room as they need."""
        self._height = self.screen.size.height
        width = self.size.width or self.screen.size.width
        self._rows = self._made(max(width - len(_BAR) - 1, 8), self._most())
        if self.styles.height is None or self.styles.height.value != len(self._rows):
            self.styles.height = len(self._rows)
        self.refresh()

    def _fit(self) -> None:
        """After a layout: a taller or lower screen has room for more or less."""
        if self.screen.size.height != self._height:
            self.recolour()

    def render_line(self, y: int) -> Strip:
        """One row: a bar, and what is said."""
        palette = theme.active()
        base = palette.style("foreground", "panel")
        pieces = self._rows[y] if y < len(self._rows) else []
        bar = (_BAR, palette.style("accent"))
        return make_strip([bar, *pieces], self.size.width, base)

    def _most(self) -> int:
        """How many rows there is room for; the end may take more."""
        height = self.screen.size.height - _ROWS_BESIDE
        share = height // 2 if self._at is None else height // 4
        return max(min(share, _MOST_ROWS + len(self._figures)), _LEAST_ROWS)

    def _made(self, width: int, most: int) -> list[list[Piece]]:
        """What to do comes first, then where one is, then what happened, then why."""
        palette = theme.active()
        text, muted = palette.style("foreground"), palette.style("muted")
        key = palette.style("accent", more="bold")
        styles = {"text": text, "key": key}
        to_do = wrap([(one_line_of(part), styles[tone]) for part, tone in self._said.to_do], width)
        to_do = to_do[:most]
        room = most - len(to_do)
        title = [self._title(width)] if room > 0 else []
        room -= len(title)
        happened: list[list[Piece]] = []
        if self._said.happened and room > 0:
            sign, colour = ("✓", "success") if self._said.is_good else ("·", "warning")
            words = f"{sign} {one_line(self._said.happened)}"
            happened = wrap([(words, palette.style(colour))], width)[:room]
        room -= len(happened)
        more = self._table(width) if self._at is None else []
        if self._said.why:
            more = wrap([(one_line(self._said.why), muted)], width)
        if self._at is not None:
            more = more if len(more) <= room else []  # half a sentence explains nothing
            return [*title, *happened, *to_do, *more]
        return [*title, *happened, *more[: max(room, 0)], *to_do]

    def _title(self, width: int) -> list[Piece]:
        palette = theme.active()
        at = len(STEPS) if self._at is None else STEPS.index(self._at)
        pieces: list[Piece] = [("guide  ", palette.style("accent", more="bold"))]
        if width >= 44:
            dots = "●" * at + "◆" * (at < len(STEPS)) + "·" * (len(STEPS) - at - 1)
            pieces += [(f"{dots}  ", palette.style("accent"))]
        used = sum(cell_len(text) for text, _ in pieces)
        title = clip(self._said.title, width - used)
        pieces.append((title, palette.style("foreground")))
        room = width - used - cell_len(title)
        if self._way_out and room > cell_len(self._way_out) + 1:
            blank = " " * (room - cell_len(self._way_out))
            pieces.append((f"{blank}{self._way_out}", palette.style("faint")))
        return pieces

    def _table(self, width: int) -> list[list[Piece]]:
        """The figures, their names in a column."""
        palette = theme.active()
        column = max((cell_len(name) for name, _ in self._figures), default=0) + 2
        return [
            [
                (f"{name:<{column}}", palette.style("muted")),
                (clip(figure, max(width - column, 1)), palette.style("foreground", more="bold")),
            ]
            for name, figure in self._figures
        ]


def one_line_of(text: str) -> str:
    """`one_line`, with the blanks at its ends: it is a part of a sentence."""
    inner = one_line(text)
    head = " " if text[:1] == " " else ""
    tail = " " if text[-1:] == " " and inner else ""
    return f"{head}{inner}{tail}"


Ending = Literal["done", "left"]
_DRAFTS: Mapping[Step, str] = {"run": TO_RUN, "mend": TO_MEND}
_TOO_LATE_S = 1.5
"""An Esc that comes so soon after an answer's end was meant for the answer."""


class Guide:
    """One lesson on the screen, from `begin` to `leave`."""

    def __init__(
        self,
        session: Session,
        prompt_box: PromptBox,
        panes: Panes,
        on_end: Callable[[Ending], None],
    ) -> None:
        """``on_end`` is told once how it ended; nothing, if duetto is left before."""
        self.lesson = Lesson()
        self.running = False
        self._session, self._box, self._panes = session, prompt_box, panes
        self._facts = Facts(session)
        self._panel = GuidePanel()
        self._on_end = on_end
        self._slowed = False
        self._ended_s = -_TOO_LATE_S
        """When the last answer came to its end."""
        self._asked = False
        """The next Esc leaves the guide."""
        self._drafted: set[Step] = set()
        """Steps whose prompt was written."""
        self._told = False
        self._seen: object = None

    @property
    def text(self) -> str:
        """What the panel shows, as plain text."""
        return self._panel.text

    def begin(self) -> None:
        """Put the panel over the prompt; the model is slowed down until it was stopped."""
        self._panes.mount(self._panel, before=self._box)
        self.running = True
        self.lesson.begin(self._facts.look())
        if len(self._session.status.models) < 2:
            self.lesson.skipped.add("switch")  # there is no other one
        if not self._session.status.rehearsal:
            self.lesson.skipped.add("mend")  # a real one makes no mistake on purpose
        self._pace()
        self._box.focus_prompt()
        self._panes.call_after_refresh(self.look)

    def sync(self, notices: Notices) -> None:
        """Take up what changed; called once a frame."""
        if notices.status or notices.hunks or notices.transcript_from is not None:
            self.look()

    def look(self) -> None:
        """Look how far the user has come, and say what to do next if it changed."""
        if not self.running:
            return
        before, sight = self.lesson.sight, self._facts.look()
        self.lesson.look(sight)
        if before.busy and not sight.busy:
            self._ended_s = sight.now_s
        self._pace()
        self._draft()
        place = self._place()
        lesson = self.lesson
        seen = (
            *(lesson.step, lesson.missed, frozenset(lesson.skipped), lesson.figures.own_tokens_s),
            *(
                sight.asks,
                sight.ran,
                sight.busy,
                sight.outcome,
                sight.pending,
                sight.stopped,
                sight.accepted,
                sight.verifies,
                *(lesson.red, sight.blamed),
                lesson.away,
            ),
            *(place, self._asked),
        )
        if seen == self._seen:
            return
        if self._seen is not None and sight.busy:
            self._asked = False
        self._seen = seen
        self._say(place)
        if lesson.step is None and not self._told:
            self._told = True
            self._on_end("done")

    def leave(self) -> bool:
        """Put the guide away, at the second time of asking; the key is taken either way.

        False: it is gone.
        """
        if not self.running:
            return False
        over, now_s = self.lesson.step is None, self._session.now()
        if not over and self.lesson.step == "stop" and now_s - self._ended_s < _TOO_LATE_S:
            return True
        if not over and not self._asked:
            self._asked = True
            self._say(self._place())
            return True
        self.running = False
        self._pace()
        self._panel.remove()
        if not self._told:
            self._told = True
            self._on_end("left")
            words = f"The guide is hidden. {REPEATED} brings it back."
            self._panes.notify(words, timeout=6, markup=False)
        return True

    def _place(self) -> GuideContext:
        prompt = self._box.prompt
        offered = inert(prompt.suggestion_shown)
        return GuideContext(bool(prompt.text.strip()), offered, self._panes.narrow)

    def _say(self, place: GuideContext) -> None:
        lesson = self.lesson
        stop, page = key_of("interrupt"), said(lesson, place)
        way_out = f"{stop} {'closes' if lesson.step is None else 'leaves'}"
        if self._asked:
            page = page._replace(to_do=sentence("{} again leaves the guide.", stop), happened="")
        figures = summary(lesson.figures) if lesson.step is None else ()
        self._panel.say(page, lesson.step, "" if lesson.sight.busy else way_out, figures)

    def _draft(self) -> None:
        """For a step that none of the suggestions is for, once."""
        box, step = self._box.prompt, self.lesson.step
        words = _DRAFTS.get(step) if step is not None else None
        if step is None or words is None or step in self._drafted or box.busy or box.text:
            return
        if step == "run" or not self.lesson.away:
            self._drafted.add(step)
            box.write(words)

    def _pace(self) -> None:
        """Slow while there is something to stop; a pace that the user asked for is left alone."""
        wanted = self.lesson.slow and self.running
        if wanted != self._slowed:
            self._slowed = wanted
            if wanted or self._session.status.throttle == SLOW_TOKENS_S:
                self._session.submit(Throttle(SLOW_TOKENS_S if wanted else None))
