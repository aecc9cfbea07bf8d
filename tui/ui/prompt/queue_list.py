"""What was sent and is not answered yet: steering texts, then the queue, numbered, under the keys.

Steering texts belong to the server and are only shown, with how far they are. A queued message
is edited in the prompt, sent now, or removed: by keys when the list has the focus, by a click.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace
from rich.cells import cell_len
from rich.style import Style
from textual import events

from tui.engine.intents import EditQueued, HoldQueued, Intent, Queue, Unqueue
from tui.engine.notices import Status, SteerFate
from tui.ui import theme
from tui.ui.keymap import actions, bindings, shown
from tui.ui.messages import PromptWanted, QueueActed
from tui.ui.prompt.prompt import PromptArea
from tui.ui.styled_text import Piece, StyledLine, clip, one_line, spread
from tui.ui.widgets.painted import RowsBox

FATES: dict[SteerFate, tuple[str, str]] = {
    "sent": ("steering · on its way", "on its way"),
    "accepted": ("steering · the server has it", "server has it"),
    "pending": ("steering · goes with the tool's answer", "with tool's answer"),
}
"""How far a steering text is, in words for wide and for narrow places."""
_WIDE = 64
"""Cells from which a place is a wide one."""
_MOST, _MOST_STEERING = 4, 2
"""Rows of the queue and of steering texts; of more the last row says how many."""
_LEAST_WORDS = 12
"""Cells that a text keeps beside what is said about it."""


def place_of(queued: Sequence[str], index: int, text: str) -> int | None:
    """Where a message stands now that stood at ``index``; None if it is not queued any more.

    The queue moves up when its first message is sent.
    """
    places = [place for place, other in enumerate(queued) if other == text]
    before = [place for place in places if place <= index]
    return max(before) if before else min(places, default=None)


class QueueList(RowsBox, can_focus=True):
    """Steering texts and queue, above the prompt."""

    BINDINGS = bindings("queue")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.chosen = 0
        """The message that the keys act upon, 0-based."""
        self.edited: int | None = None
        """The one whose text stands in the prompt."""
        self.room = _MOST + _MOST_STEERING
        """Rows that there is room for, at least 1."""
        self._queued: list[str] = []
        self._steering: list[tuple[str, SteerFate]] = []
        self._text = ""
        """The chosen message, to find it again when the queue moves."""

    @property
    def queued(self) -> int:
        """How many messages are shown, those beyond the last row included."""
        return len(self._queued)

    def show(
        self,
        queued: Sequence[str],
        steering: Sequence[str] = (),
        fates: Sequence[SteerFate] = (),
        edited: int | None = None,
    ) -> None:
        """Show these; ``edited`` is the message whose text stands in the prompt."""
        known: dict[int, SteerFate] = dict(enumerate(fates))
        self._steering = [(text, known.get(at, "sent")) for at, text in enumerate(steering)]
        self._queued, self.edited = list(queued), edited
        place = place_of(self._queued, self.chosen, self._text)
        self._choose(self.chosen if place is None else place)

    def fit(self, rows: int) -> None:
        """Have room for this many rows."""
        if rows != self.room:
            self.room = max(rows, 1)
            self._paint()

    def choose_last(self) -> None:
        """The one next to the prompt."""
        self._choose(len(self._queued) - 1)

    def watch_has_focus(self, has_focus: bool) -> None:
        """The chosen row is lit only while keys come here."""
        super().watch_has_focus(has_focus)
        self._paint()

    def on_key(self, event: events.Key) -> None:
        """What is typed here and is no key of the list belongs into the prompt."""
        if event.is_printable and event.character and event.key not in _KEYS:
            event.stop()
            event.prevent_default()
            self.post_message(PromptWanted(event.character))

    def on_click(self, event: events.Click) -> None:
        """Edit this one."""
        at = event.y - self._steering_rows() + self._first()
        if event.y >= self._steering_rows() and at < len(self._queued):
            self.post_message(QueueActed("edit", at))

    # -- actions of the scope "queue"

    def action_edit_queued(self) -> None:
        """Into the prompt with it."""
        self.post_message(QueueActed("edit", self.chosen))

    def action_send_queued(self) -> None:
        """Do not wait."""
        self.post_message(QueueActed("send", self.chosen))

    def action_remove_queued(self) -> None:
        """Not this one."""
        self.post_message(QueueActed("remove", self.chosen))

    def action_step_queued(self, rows: int) -> None:
        """Choose another one; below the last is the prompt."""
        if self.chosen + rows >= len(self._queued):
            self.post_message(PromptWanted())
        else:
            self._choose(self.chosen + rows)

    def action_prompt(self) -> None:
        """Back to the prompt."""
        self.post_message(PromptWanted())

    # -- rows

    def _choose(self, index: int) -> None:
        self.chosen = min(max(index, 0), max(len(self._queued) - 1, 0))
        self._text = self._queued[self.chosen] if self._queued else ""
        self._paint()

    def _first(self) -> int:
        """The first message in sight: the chosen one is."""
        if not self.has_focus:
            return 0
        most = self._most()
        ahead = 2 if most > 2 else 1
        return max(min(self.chosen - most + ahead, len(self._queued) - most), 0)

    def _most(self) -> int:
        """Rows of the queue."""
        return max(min(_MOST, self.room - self._steering_rows()), 1)

    def _steering_rows(self) -> int:
        free = self.room - bool(self._queued)
        return max(min(len(self._steering), _MOST_STEERING, free), 0)

    def _paint(self) -> None:
        first = self._first()
        shown = range(first, min(first + self._most(), len(self._queued)))
        lines = [self._steering_line(at) for at in range(self._steering_rows())]
        lines += [self._queue_line(at, last=at == shown[-1]) for at in shown]
        self.show_lines(lines)

    def _steering_line(self, at: int) -> StyledLine:
        palette = theme.active()
        text, fate = self._steering[at]
        hidden = len(self._steering) - self._steering_rows()
        more = f"+{hidden} more  " if hidden and at == self._steering_rows() - 1 else ""
        words = FATES[fate][self.size.width < _WIDE]
        said = palette.style("faint" if fate == "sent" else "accent")
        head: Piece = ("  ↳ ", palette.style("accent", more="bold"))
        return self._line(head, (text, palette.style("foreground")), (more + words, said))

    def _queue_line(self, at: int, *, last: bool) -> StyledLine:
        palette = theme.active()
        lit = self.has_focus and at == self.chosen
        faint = palette.style("foreground" if lit else "faint")
        hidden = len(self._queued) - at - 1 if last else 0
        said = f"+{hidden} more" if hidden else ""
        if at == self.edited:
            said = "in the prompt"
        elif last and not self.has_focus:
            said = f"{said or 'queued'} · {shown('queue')} edits"
        number: Piece = (f"{at + 1:>3} ", palette.style("accent", more="bold" if lit else ""))
        words = palette.style("foreground" if lit else "muted")
        return self._line(
            number, (self._queued[at], words), (said, faint), back="selection" if lit else ""
        )

    def _line(
        self, head: Piece, text: Piece, said: tuple[str, Style], back: str = ""
    ) -> StyledLine:
        """Head and text left, what is said about it flush right where there is room for it."""
        width = max(self.size.width - 2, 20)
        words, room = one_line(text[0]), width - cell_len(head[0])
        beside = room - cell_len(said[0]) - 2 if said[0] else room
        if beside < _LEAST_WORDS:
            return StyledLine([head, (clip(words, room), text[1])], back)
        left = [head, (clip(words, beside), text[1])]
        return StyledLine(spread(left, [said], width), back)


_KEYS = actions("queue")


class _Edit(Struct, frozen=True):
    """The message stays queued as it was until the edited text is put back."""

    index: int
    """Where it stood when the edit began, 0-based."""
    text: str
    """As it is queued."""
    aside: str
    """The draft; it comes back when the edit ends."""


class QueueEditing:
    """Which queued message stands in the prompt, if one does."""

    def __init__(
        self,
        prompt: PromptArea,
        status: Callable[[], Status],
        submit: Callable[[Intent], object],
        changed: Callable[[], None],
    ) -> None:
        """``changed`` is called when the list and the hint have to say something else."""
        self._prompt, self._status = prompt, status
        self._submit, self._changed = submit, changed
        self._edit: _Edit | None = None

    @property
    def active(self) -> bool:
        """A queued message stands in the prompt."""
        return self._edit is not None

    @property
    def aside(self) -> str:
        """The draft that waits."""
        return self._edit.aside if self._edit is not None else ""

    @property
    def place(self) -> int | None:
        """Where the message stands now; None: none is edited, or it was sent meanwhile."""
        if self._edit is None:
            return None
        return place_of(self._status().queued, self._edit.index, self._edit.text)

    def begin(self, index: int) -> None:
        """The message's text into the prompt; the draft waits."""
        self._prompt.search.end()
        text = self._status().queued[index]
        if self._edit is not None:
            place = self.place
            if place == index:
                return
            removed = not self._prompt.text.strip() and place is not None and place < index
            index -= removed
            self.put_back(self._prompt.whole.strip(), release=False)
        self._edit = _Edit(index, text, self._prompt.whole)
        self._submit(HoldQueued(index))
        self._prompt.editing = True
        self._prompt.write(text)
        self._changed()

    def leave(self) -> bool:
        """Leave the message as it was; what was typed is in the history. False: no edit."""
        if self._edit is None:
            return False
        self._prompt.search.end()
        self._prompt.past.add(self._prompt.whole)
        self._end()
        self._submit(HoldQueued(None))
        return True

    def put_back(self, text: str, *, release: bool = True) -> None:
        """The edited text to its place in the queue; nothing typed: the message goes.

        ``release``: no other message is edited next.
        """
        place = self.place
        self._end()
        if place is not None:
            self._submit(EditQueued(place, text))
        elif text:
            self._submit(Queue(text))
        if release:
            self._submit(HoldQueued(None))

    def take_out(self) -> None:
        """The message leaves the queue: its edited text goes another way."""
        place = self.place
        self._end()
        if place is not None:
            self._submit(Unqueue(place))

    def set_aside(self, text: str) -> None:
        """One more text for the draft that waits."""
        if self._edit is not None:
            both = "\n".join(filter(None, (text, self._edit.aside)))
            self._edit = replace(self._edit, aside=both)

    def sync(self, typed: Callable[[], str]) -> bool:
        """Take up what the queue is now; True: the message was sent, its edit is a draft.

        ``typed`` is what stands in the prompt, or in the external editor.
        """
        edit = self._edit
        if edit is None or self.place is not None:
            return False
        self._prompt.search.end()
        changed = self._prompt.whole.strip() not in ("", edit.text.strip())
        draft = "\n".join(filter(None, (typed(), edit.aside))) if changed else edit.aside
        self._edit = None
        self._prompt.editing = False
        self._prompt.write(draft)
        return changed

    def _end(self) -> None:
        """The draft that waited stands in the prompt again."""
        edit, self._edit = self._edit, None
        self._prompt.editing = False
        if edit is not None:
            self._prompt.write(edit.aside)
        self._changed()
