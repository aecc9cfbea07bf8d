"""A question of the engine above the prompt: numbered choices, answered by a key.

What the model wants to run waits in one row and takes no key before the user goes there; then all
of it is shown, with a letter for each answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from textual import events

from tui.engine.intents import Answer
from tui.engine.notices import Ask
from tui.ui import theme
from tui.ui.keymap import shown
from tui.ui.messages import PromptWanted, RefusalWanted, Wanted
from tui.ui.styled_text import Piece, StyledLine, breaks, flat, inert, one_line, spread
from tui.ui.widgets.painted import RowsBox

_MOST_DETAIL_ROWS = 6
_LEAST_COMMAND = 3
"""Rows of a command that come before what is said of it."""
_LEAST_OVER = 2
"""Rows over the answers: of the question, and of the command."""
_SPARE = 3
"""Rows left over from which one stays empty, so that the answers are seen at once."""
_ROOMY = 60
"""Cells from which a row has whole sentences."""
_WORDS = "w"


class AnswerRow(NamedTuple):
    """A row that answers."""

    key: str
    words: str
    choice: int = -1
    """Its place among the question's; -1: the refusal, with words."""


def answers(ask: Ask) -> list[AnswerRow]:
    """The rows that answer, the safe refusal last: each by its letter, else by its number."""
    keys = list(ask.letters) or [str(at + 1) for at in range(len(ask.choices))]
    found = [AnswerRow(key, ask.choices[at], at) for at, key in enumerate(keys)]
    if ask.takes_words and ask.letters:
        found.insert(-1, AnswerRow(_WORDS, "Do not run it, and say why"))
    return found


class QuestionBox(RowsBox, can_focus=True):
    """Shows the oldest open question; nothing happens until it is answered."""

    _ask: Ask | None = None
    _behind = 0
    """Questions that wait behind it."""
    _answers: Sequence[AnswerRow] = ()
    _choice = 0
    _most = 99
    _top = 0
    """Rows of the command that are scrolled away."""
    _rows = 0
    """Rows of the command in sight."""
    _answering: Sequence[int] = ()
    """Of the last rows: the answer that each is of."""
    _was_answered: int | None = None
    """The question that was answered last: a second key is none for the next one."""
    _was_clicked = True
    """It got the keys by a click, which answers nothing."""

    @property
    def waits(self) -> bool:
        """True while a question is shown."""
        return self._ask is not None

    @property
    def takes_focus(self) -> bool:
        """False: whoever goes on typing must not answer it."""
        return self._ask is not None and not self._ask.command

    @property
    def keys(self) -> str:
        """The keys that answer, in a few cells."""
        if self._ask is None or not self._ask.command:
            return "1-9"
        return " ".join(answer.key for answer in self._answers)

    def show(self, asks: list[Ask]) -> bool:
        """Show the first of these; True if it is one that was not shown before."""
        ask = asks[0] if asks else None
        fresh = ask is not None and (self._ask is None or ask.id != self._ask.id)
        self._ask, self._behind = ask, max(len(asks) - 1, 0)
        if fresh and ask is not None:
            self._answers, self._top = answers(ask), 0
            # the safe refusal is chosen, so that a stray Enter allows nothing
            self._choice = len(self._answers) - 1
        self._paint()
        return fresh

    def fit(self, most: int) -> None:
        """Take no more rows than that, but always those of the answers and one of the question."""
        if most != self._most:
            self._most = most
            self._paint()

    def refusal(self, words: str = "") -> Answer | None:
        """The safe refusal, to be submitted; None: nothing is asked."""
        return None if self._ask is None else self._answer(len(self._ask.choices) - 1, words)

    def enter(self) -> None:
        """Take the keys, by a key."""
        self._was_clicked = False
        self.screen.set_focus(self)

    def watch_has_focus(self, has_focus: bool) -> None:
        """The chosen line is lit, and a command shown whole, only while keys come here."""
        super().watch_has_focus(has_focus)
        if not has_focus:
            self._was_clicked, self._top = True, 0
        self._paint()

    def on_key(self, event: events.Key) -> None:
        """Letters or digits answer, arrows choose, Enter takes it; text goes to the prompt."""
        if self._ask is None:
            return
        count = len(self._answers)
        pressed = [answer for answer in self._answers if answer.key == event.character]
        if pressed:
            self._take(pressed[0])
        elif event.key in ("up", "down"):
            self._choice = (self._choice + (1 if event.key == "down" else -1)) % count
            self._paint()
        elif event.key in ("pageup", "pagedown"):
            self._scroll(max(self._rows - 1, 1) * (1 if event.key == "pagedown" else -1))
        elif event.key == "enter":
            self._take(self._answers[self._choice])
        elif event.key in ("tab", "shift+tab"):
            self.post_message(PromptWanted())
        elif event.is_printable and event.character:
            self.post_message(PromptWanted(event.character))
        else:
            return
        event.stop()
        event.prevent_default()

    def on_click(self, event: events.Click) -> None:
        """A click on an answer answers; one on what waits in one row opens it."""
        if self._ask is None:
            return
        opened, self._was_clicked = self._was_clicked, False
        at = event.y - (len(self._lines) - len(self._answering))
        if at >= 0 and not (opened and self._ask.command):
            self._take(self._answers[self._answering[at]])

    def wheel(self, steps: int, *, sideways: bool) -> None:
        """Scroll a long command."""
        self._scroll(steps)

    def _scroll(self, rows: int) -> None:
        self._top = max(self._top + rows, 0)
        self._paint()

    def _take(self, answer: AnswerRow) -> None:
        if answer.choice < 0:
            self.post_message(RefusalWanted())
        elif (given := self._answer(answer.choice)) is not None:
            self.post_message(Wanted(given))
            if not self.has_focus:  # else who shows what is asked next says where the keys go
                self.post_message(PromptWanted())

    def _answer(self, choice: int, words: str = "") -> Answer | None:
        ask = self._ask
        if ask is None or ask.id == self._was_answered:
            return None
        self._was_answered = ask.id
        return Answer(ask.id, ask.choices[choice], words)

    # -- rows

    def _paint(self) -> None:
        ask = self._ask
        if ask is None:
            self.show_lines([])
        elif not ask.command:
            self.show_lines(self._plain(ask))
        elif self.has_focus:
            self.show_lines(self._command(ask))
        else:
            self.show_lines([self._folded(ask)])

    @property
    def _inner(self) -> int:
        return max(self.size.width - 4, 20)

    def _folded(self, ask: Ask) -> StyledLine:
        """One row: that a command waits, which one, and the key that goes there."""
        palette = theme.active()
        lit = palette.style("warning", more="bold")
        roomy = self._inner >= _ROOMY
        more = f"+{self._behind}{' more' * roomy}  " if self._behind else ""
        right: list[Piece] = [
            (f"  {more}", palette.style("muted")),
            (shown("question"), palette.style("accent", more="bold")),
            (" answers " if roomy else " ", palette.style("muted")),
        ]
        words = " a command waits  " if roomy else " run  "
        left: list[Piece] = [
            (" ?", lit),
            (words, lit),
            (one_line(ask.command), palette.style("foreground")),
        ]
        return StyledLine(spread(left, right, max(self.size.width, 20)), "panel")

    def _plain(self, ask: Ask) -> list[StyledLine]:
        """A question, what is said of it, its answers."""
        palette = theme.active()
        bold = palette.style("warning", more="bold")
        question = one_line(ask.question)
        lines = [
            StyledLine([(" ? " if not at else "   ", bold), (question[at:end], bold)], "panel")
            for at, end in breaks(question, self._inner)
        ]
        answers = self._choices()
        room = max(self._most - len(answers), 1)
        del lines[room:]
        return [*lines, *self._detail(ask, room - len(lines)), *answers]

    def _command(self, ask: Ask) -> list[StyledLine]:
        """What may run, as far as there is room, where, what it may touch, and the answers."""
        text = theme.active().style("foreground", more="bold")
        whole = [
            (flat(line)[start:end], text)
            for line in f"$ {inert(ask.command)}".split("\n")
            for start, end in breaks(flat(line), self._inner - 2)
        ]
        answers = self._choices(max(self._most - _LEAST_OVER, 1))
        room = max(self._most - len(answers), _LEAST_OVER)
        detail = self._detail(ask, room - 1 - min(len(whole), _LEAST_COMMAND))
        self._rows = min(len(whole), max(room - 1 - len(detail), 1))
        self._top = max(min(self._top, len(whole) - self._rows), 0)
        end = self._top + self._rows
        rows = [
            StyledLine([("   " if at == 0 else "     ", text), whole[at]], "panel")
            for at in range(self._top, end)
        ]
        below, said = len(whole) - end, ""
        if self._rows < _LEAST_COMMAND < len(whole):
            said = f"{end} of {len(whole)} rows: {'PgDn' if below else 'PgUp'}"
        elif below:
            rows[-1] = self._more(f"⋯ {below + 1} more rows of it: PgDn")
        elif self._top:
            rows[0] = self._more(f"⋯ {self._top + 1} rows before: PgUp")
        blank = room - 1 - len(detail) - len(rows) > _SPARE
        gap = [StyledLine([], "panel")] * blank
        return [self._head(said), *rows, *detail, *gap, *answers]

    def _more(self, words: str) -> StyledLine:
        return StyledLine([(f"   {words}", theme.active().style("warning"))], "panel")

    def _head(self, said: str) -> StyledLine:
        """What is asked, which names the command; at the right what is ``said``, or the count."""
        palette = theme.active()
        bold = palette.style("warning", more="bold")
        count = f" {said} " if said else f" 1 of {self._behind + 1} " if self._behind else ""
        left: list[Piece] = [(" ? ", bold), ("May the model run this?", bold)]
        right: list[Piece] = [(count, palette.style("muted"))]
        return StyledLine(spread(left, right, max(self.size.width, 20)), "panel")

    def _detail(self, ask: Ask, room: int) -> list[StyledLine]:
        """What is said of it, in so many rows."""
        muted = theme.active().style("muted")
        lines = [
            StyledLine([("   ", muted), (text[a:b], muted)], "panel")
            for text in (flat(inert(ask.detail)).split("\n") if ask.detail else [])
            for a, b in breaks(text, self._inner)
        ]
        room = min(room, _MOST_DETAIL_ROWS)
        if len(lines) > room > 0:
            hidden = len(lines) - room + 1
            lines[room - 1 :] = [StyledLine([(f"   … {hidden} more rows", muted)], "panel")]
        return lines[: max(room, 0)]

    def _choices(self, most: int = 99) -> list[StyledLine]:
        """The answers, each whole; where there is no room for all, those around the chosen one."""
        palette = theme.active()
        key, words = palette.style("accent", more="bold"), palette.style("foreground")
        rows: list[StyledLine] = []
        self._answering = []
        for index, answer in enumerate(self._answers):
            said, back = one_line(answer.words), "panel"
            if self.has_focus and index == self._choice:
                back = "selection"
            for start, stop in breaks(said, self._inner - 2):
                head = f"   {'' if start else answer.key:<{len(answer.key)}} "
                rows.append(StyledLine([(head, key), (said[start:stop], words)], back))
                self._answering.append(index)
        end = max(row for row, index in enumerate(self._answering) if index == self._choice)
        first = max(min(end - most + 1, len(rows) - most), 0)
        self._answering = self._answering[first : first + most]
        return rows[first : first + most]
