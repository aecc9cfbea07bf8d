"""Screens of rows: what is chosen among, what is typed, and the rows that say it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, NamedTuple

from msgspec import Struct, field
from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen, ScreenResultType
from textual.strip import Strip

from tui.ui import theme
from tui.ui.styled_text import Piece, clip, clip_left, inert, make_strip, one_line, wrap
from tui.ui.stylesheets import sheet
from tui.ui.widgets.painted import PaintedWidget

Row = list[Piece]
_DIGITS = "123456789"


class Item(NamedTuple):
    """One row to choose."""

    key: str
    title: str
    words: str = ""


class Chooser(Struct):
    """What is chosen among; digits choose where letters do not filter."""

    items: Sequence[Item]
    filtered: bool = False
    """Letters cut the list down; else a digit chooses its row."""
    at: int = 0
    typed: str = ""
    shown: list[Item] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.shown = list(self.items)

    @property
    def chosen(self) -> Item | None:
        """The lit row; None: nothing is left."""
        return self.shown[self.at] if self.shown else None

    def step(self, rows: int) -> None:
        """Light another row; the ends stop it."""
        self.at = max(min(self.at + rows, len(self.shown) - 1), 0)

    def type(self, character: str) -> bool:
        """Take a character; True: it chose a row."""
        if self.filtered:
            self.filter(self.typed + character)
            return False
        row = _DIGITS.find(character)
        if not 0 <= row < len(self.shown):
            return False
        self.at = row
        return True

    def erase(self, *, all_of_it: bool = False) -> bool:
        """Take the last character back, or all; False: there is none."""
        typed = bool(self.typed)
        if typed:
            self.filter("" if all_of_it else self.typed[:-1])
        return typed

    def window(self, rows: int) -> range:
        """Which of the shown rows are seen in so many; the lit one is among them."""
        rows = max(rows, 1)
        first = max(0, min(self.at - rows // 2, len(self.shown) - rows))
        return range(first, min(first + rows, len(self.shown)))

    def filter(self, typed: str) -> None:
        """Show the rows that have all these words, in any order."""
        self.typed = inert(typed) if typed.strip() else ""
        words = self.typed.lower().split()
        self.shown = [item for item in self.items if all(w in item.title.lower() for w in words)]
        self.at = 0


class TypedField(Struct):
    """One line that is typed; of a secret only its length is ever shown."""

    label: str
    secret: bool = False
    text: str = ""

    def __repr__(self) -> str:
        return f"TypedField({self.label!r})"  # never what was typed

    def type(self, text: str) -> None:
        """What was typed or pasted, as one line."""
        self.text = (self.text + "".join(text.split("\n")).replace("\r", ""))[:_LONGEST]

    def erase(self, *, all_of_it: bool = False) -> None:
        """The last character, or all."""
        self.text = "" if all_of_it else self.text[:-1]

    def row(self, width: int) -> Row:
        """The label, and what was typed."""
        style = theme.active().style
        room = max(width - cell_len(self.label) - 6, 8)
        shown = clip_left(inert(self.text), room)
        about = ""
        if self.secret and self.text:
            count = len(self.text)
            about = f"  {count} characters"
            shown = "•" * min(count, max(room - cell_len(about), 4))
        return [
            (f"  {self.label}  ", style("foreground", more="bold")),
            (shown, style("accent")),
            (" ", style("foreground", more="reverse")),
            (about, style("muted")),
        ]


_LONGEST = 9000


class Room(NamedTuple):
    """How much there is to write on."""

    width: int
    height: int


def heading(words: str, room: Room) -> list[Row]:
    """The name, and what this page is for."""
    style, name = theme.active().style, "duetto"
    about = clip(f"  {words}", max(room.width - len(name), 0))
    return [[(name, style("accent", more="bold")), (about, style("muted"))], []]


def choices(chooser: Chooser, room: Room) -> list[Row]:
    """The rows to choose from, the lit one marked."""
    rows: list[Row] = []
    style = theme.active().style
    if chooser.filtered:
        typed = chooser.typed or "type to filter"
        rows.append(
            [("  ", style("muted")), (typed, style("accent" if chooser.typed else "faint"))]
        )
    window = chooser.window(room.height)
    column = _words_column(chooser, room.width)
    lines = [_choice(chooser, index, room.width, column) for index in window]
    if sum(map(len, lines)) > room.height:
        lines = [line[:1] for line in lines]  # what is below them is left out
    rows += [row for line in lines for row in line]
    if not chooser.shown:
        rows.append([("  no name has that in it", style("warning"))])
    hidden = len(chooser.shown) - len(window)
    if hidden:
        rows.append([(f"    {hidden} more", style("faint"))])
    return rows


def label(chooser: Chooser, index: int) -> str:
    """How a row begins: its digit, if digits choose, and what it is about."""
    title = one_line(chooser.shown[index].title)
    return title if chooser.filtered else f"{index + 1}  {title}"


def _words_column(chooser: Chooser, width: int) -> int:
    """Where the words beside the titles begin, so that as many as possible fit."""
    pairs = [
        (2 + cell_len(label(chooser, index)), cell_len(one_line(item.words)))
        for index, item in enumerate(chooser.shown)
    ]
    beside = [(used, words) for used, words in pairs if used + 3 + words <= width]
    title = max((used for used, _ in beside), default=0) + 3
    return max(title, min(34, width - max((words for _, words in beside), default=0)))


def _choice(chooser: Chooser, index: int, width: int, column: int) -> list[Row]:
    """One row to choose; its words go below where they do not fit beside it."""
    style = theme.active().style
    item, lit = chooser.shown[index], index == chooser.at
    mark = "▸ " if lit else "  "
    title = clip(label(chooser, index), width - 2)
    back = "selection" if lit else ""
    row: Row = [
        (mark, style("accent", back)),
        (title, style("foreground", back, "bold" if lit else "")),
    ]
    words, used = one_line(item.words), 2 + cell_len(title)
    beside = bool(words) and used + 3 + cell_len(words) <= width
    if beside:
        gap = max(column - used, 3) if column + cell_len(words) <= width else 3
        row += [(" " * gap, style("muted", back)), (words, style("muted", back))]
    if lit:
        filled = sum(cell_len(text) for text, _ in row)
        row.append((" " * max(width - filled, 0), style("muted", back)))
    if not words or beside:
        return [row]
    below = wrap([(words, style("muted"))], max(width - 5, 8))
    return [row, *([("     ", style("muted")), *line] for line in below)]


def words(text: str, room: Room, colour: str = "foreground") -> list[Row]:
    """A paragraph, and an empty row."""
    return [*wrap([(text, theme.active().style(colour))], room.width), []]


def key_rows(keys: Iterable[tuple[str, str]], room: Room) -> list[Row]:
    """The keys of the page."""
    style = theme.active().style
    rows: list[Row] = [[], []]
    used = 0
    for key, word in keys:
        cells = cell_len(f"{key} {word}")
        if used and used + cells > room.width:  # a key stays with its word
            rows.append([])
            used = 0
        rows[-1] += [(key, style("accent")), (f" {word}   ", style("muted"))]
        used += cells + 3
    return rows


class RowSheet(PaintedWidget):
    """Paints rows; what does not fit is cut off below, so pages are made for the room."""

    def __init__(self, page: Callable[[Room], Sequence[Row]]) -> None:
        """``page`` gives the rows for the room that there is."""
        super().__init__()
        self._page = page
        self._written: Sequence[Row] | None = None
        self._room = Room(0, 0)

    @property
    def rows(self) -> Sequence[Row]:
        """What is written, for the size of now."""
        room = Room(*self.size)
        if self._written is None or room != self._room:
            self._written, self._room = self._page(room), room
        return self._written

    def write(self) -> None:
        """The page says something else now."""
        self._written = None
        self.refresh()

    @property
    def text(self) -> str:
        """All that is written, as plain text."""
        return "\n".join("".join(text for text, _ in row) for row in self.rows)

    def render_line(self, y: int) -> Strip:
        """One row."""
        pieces = self.rows[y] if y < len(self.rows) else []
        return make_strip(pieces, self.size.width, theme.active().style("foreground", "background"))


class SheetScreen(ModalScreen[ScreenResultType]):
    """A screen of rows with something to choose, or to type."""

    AUTO_FOCUS = ""
    CSS_PATH = sheet("connect_sheet")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,shift+tab", "step(-1)", show=False),
        Binding("down,tab", "step(1)", show=False),
        Binding("pageup", "step(-8)", show=False),
        Binding("pagedown", "step(8)", show=False),
        Binding("home", "step(-9999)", show=False),
        Binding("end", "step(9999)", show=False),
        Binding("enter", "take", show=False),
        Binding("backspace", "erase", show=False),
        Binding("ctrl+u", "erase(True)", show=False),
        Binding("escape", "back", show=False),
        Binding("ctrl+c,ctrl+q", "leave", show=False),
    ]

    def __init__(self, items: Sequence[Item] = ()) -> None:
        super().__init__()
        self._sheet = RowSheet(self._rows_for)
        self._chooser = Chooser(items)
        self._field: TypedField | None = None
        """What is typed into; None: what is typed chooses."""

    @property
    def text(self) -> str:
        """What stands on the screen, as plain text."""
        return self._sheet.text

    def compose(self) -> ComposeResult:
        """One sheet."""
        yield self._sheet

    def recolour(self) -> None:
        """The theme changed: a terminal may say late that its background is light."""
        self._write()

    def on_key(self, event: events.Key) -> None:
        """A digit chooses; where there is much to choose from, what is typed filters."""
        if not (event.is_printable and event.character):
            return
        event.stop()
        if self._field is not None:
            self._field.type(event.character)
        elif self._chooser.type(event.character):
            self.action_take()
        self._write()

    def on_paste(self, event: events.Paste) -> None:
        """As if it were typed."""
        event.stop()
        if self._field is not None:
            self._field.type(event.text)
        elif self._chooser.filtered and (words := event.text.strip()[:80]):
            self._chooser.filter(self._chooser.typed + words)
        self._write()

    def on_click(self, event: events.Click) -> None:
        """A row that was clicked is chosen, as by its digit."""
        event.stop()
        row = self._sheet.rows[event.y] if event.y < len(self._sheet.rows) else []
        shown = "".join(text for text, _ in row)[2:].strip()
        for index in range(len(self._chooser.shown)):
            if label(self._chooser, index) == shown.partition("   ")[0]:
                self._chooser.at = index
                self.action_take()
                return

    def action_step(self, rows: int) -> None:
        """Light another row."""
        self._chooser.step(rows)
        self._write()

    def action_erase(self, all_of_it: bool = False) -> None:
        """Take back what was typed, or the last character of it."""
        (self._field or self._chooser).erase(all_of_it=all_of_it)
        self._write()

    def action_take(self) -> None:
        """What is lit, or typed."""

    def action_back(self) -> None:
        """The filter, then the page before, then out."""

    async def action_leave(self) -> None:
        """Out of here at once."""
        self.dismiss(None)

    def _write(self) -> None:
        """The page anew."""
        self._sheet.write()

    def _rows_for(self, room: Room) -> list[Row]:
        """The page, for the room that there is."""
        if room.width < 8:
            return []
        rows = self._head(room) if room.height >= 12 else []
        foot = key_rows(self._keys(), room)
        rows += self._body(room, len(rows) + len(foot))
        rows = rows[: room.height - len(foot)]
        above: list[Row] = [[] for _ in range((room.height - len(rows) - len(foot)) // 3)]
        return [*above, *rows, *foot]

    def _head(self, room: Room) -> list[Row]:
        """What the page is for."""
        return heading("", room)

    def _body(self, room: Room, used: int) -> list[Row]:
        """What the page is about; ``used`` rows are taken."""
        return choices(self._chooser, Room(room.width, room.height - used))

    def _keys(self) -> Sequence[tuple[str, str]]:
        """What the keys do."""
        return (("↑↓", "move"), ("Enter", "choose"), ("Esc", "back"))
