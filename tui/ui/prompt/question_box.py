"""A question of the engine above the prompt: numbered choices, answered by a key."""

from __future__ import annotations

from textual import events

from tui.engine.intents import Answer
from tui.engine.notices import Ask
from tui.ui import theme
from tui.ui.messages import PromptWanted, Wanted
from tui.ui.styled_text import StyledLine, breaks, flat, inert, one_line
from tui.ui.widgets.painted import RowsBox

_MOST_DETAIL_ROWS = 6


class QuestionBox(RowsBox, can_focus=True):
    """Shows the oldest open question; nothing happens until it is answered."""

    _ask: Ask | None = None
    _choice = 0
    _most = 99

    @property
    def waits(self) -> bool:
        """True while a question is shown."""
        return self._ask is not None

    def show(self, asks: list[Ask]) -> bool:
        """Show the first of these; True if it is one that was not shown before."""
        ask = asks[0] if asks else None
        fresh = ask is not None and (self._ask is None or ask.id != self._ask.id)
        self._ask = ask
        if fresh and ask is not None:
            # the safe refusal is chosen, so that a stray Enter allows nothing
            self._choice = len(ask.choices) - 1
        self._paint()
        return fresh

    def fit(self, most: int) -> None:
        """Take no more rows than that, but always those of the answers and one of the question."""
        if most != self._most:
            self._most = most
            self._paint()

    def refuse(self) -> None:
        """Answer with the safe refusal."""
        if self._ask is not None:
            self._answer(len(self._ask.choices) - 1)

    def watch_has_focus(self, has_focus: bool) -> None:
        """The chosen line is lit only while keys come here."""
        super().watch_has_focus(has_focus)
        self._paint()

    def on_resize(self) -> None:
        """Wrap anew."""
        self._paint()

    def on_key(self, event: events.Key) -> None:
        """Digits answer, arrows choose, Enter takes the chosen one; text goes to the prompt."""
        if self._ask is None:
            return
        count = len(self._ask.choices)
        if event.key.isdigit() and 1 <= int(event.key) <= count:
            self._answer(int(event.key) - 1)
        elif event.key in ("up", "down"):
            self._choice = (self._choice + (1 if event.key == "down" else -1)) % count
            self._paint()
        elif event.key == "enter":
            self._answer(self._choice)
        elif event.key in ("tab", "shift+tab"):
            self.post_message(PromptWanted())
        elif event.is_printable and event.character:
            self.post_message(PromptWanted(event.character))
        else:
            return
        event.stop()
        event.prevent_default()

    def on_click(self, event: events.Click) -> None:
        """A click on a choice answers."""
        if self._ask is not None:
            first = len(self._lines) - len(self._ask.choices)
            if event.y >= first:
                self._answer(event.y - first)

    def _answer(self, index: int) -> None:
        if self._ask is not None:
            self.post_message(Wanted(Answer(self._ask.id, self._ask.choices[index])))
            if not self.has_focus:  # else who shows what is asked next says where the keys go
                self.post_message(PromptWanted())

    def _paint(self) -> None:
        if self._ask is None:
            self.show_lines([])
            return
        palette = theme.active()
        width = max(self.size.width - 4, 20)
        bold, muted = palette.style("warning", more="bold"), palette.style("muted")
        question = one_line(self._ask.question)
        lines = [
            StyledLine([(" ? " if not at else "   ", bold), (question[at:end], bold)], "panel")
            for at, end in breaks(question, width)
        ]
        detail: list[StyledLine] = []
        for text in flat(inert(self._ask.detail)).split("\n") if self._ask.detail else []:
            detail += [
                StyledLine([("   ", muted), (text[a:b], muted)], "panel")
                for a, b in breaks(text, width)
            ]
        room = max(self._most - len(self._ask.choices), 1)
        del lines[room:]
        room = min(room - len(lines), _MOST_DETAIL_ROWS)
        if len(detail) > room > 0:
            hidden = len(detail) - room + 1
            detail[room - 1 :] = [StyledLine([(f"   … {hidden} more rows", muted)], "panel")]
        lines += detail[: max(room, 0)]
        for index, choice in enumerate(self._ask.choices):
            chosen = self.has_focus and index == self._choice
            back = "selection" if chosen else "panel"
            lines.append(
                StyledLine(
                    [
                        (f"   {index + 1} ", palette.style("accent", more="bold")),
                        (one_line(choice), palette.style("foreground")),
                    ],
                    back,
                )
            )
        self.show_lines(lines)
