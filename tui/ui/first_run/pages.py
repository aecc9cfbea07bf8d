"""What is written on each page of the first run: rows of styled text, as wide as there is room."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from rich.cells import cell_len

from tui.ui import theme
from tui.ui.first_run.port import FoundHere, ModelSource, Port, State
from tui.ui.styled_text import Piece, clip, inert, one_line, wrap

_DIGITS = "123456789"


class Item(NamedTuple):
    """One row to choose."""

    key: str
    title: str
    words: str = ""


@dataclass(slots=True)
class Chooser:
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
            self._filter(self.typed + character)
            return False
        row = _DIGITS.find(character)
        if not 0 <= row < len(self.shown):
            return False
        self.at = row
        return True

    def erase(self) -> bool:
        """Take the last character back; False: there is none."""
        if not self.typed:
            return False
        self._filter(self.typed[:-1])
        return True

    def window(self, rows: int) -> range:
        """Which of the shown rows are seen in so many; the lit one is among them."""
        rows = max(rows, 1)
        first = max(0, min(self.at - rows // 2, len(self.shown) - rows))
        return range(first, min(first + rows, len(self.shown)))

    def _filter(self, typed: str) -> None:
        """All words have to be in the row, in any order."""
        self.typed = inert(typed) if typed.strip() else ""
        words = self.typed.lower().split()
        self.shown = [item for item in self.items if all(w in item.title.lower() for w in words)]
        self.at = 0


Row = list[Piece]
_SIGNS: dict[State, tuple[str, str]] = {
    "looking": ("…", "muted"),
    "found": ("●", "success"),
    "nothing": ("○", "faint"),
    "odd": ("▲", "warning"),
}
"""Sign and colour of each state; the words beside it say the same."""
_ORDER: dict[State, int] = {"found": 0, "looking": 1, "odd": 2, "nothing": 3}
_ROWS_BESIDE = 13
"""Rows of the first page besides what was found: heading, ways with their words, keys."""
_LEAST_TALL = 18
"""Rows: in fewer the findings are told in one sentence."""
NOTHING_SENT = "Nothing of it is used before you say so."


class Room(NamedTuple):
    """How much there is to write on."""

    width: int
    height: int


def heading(words: str, room: Room) -> list[Row]:
    """The name, and what this page is for."""
    style, name = theme.active().style, "duetto"
    about = clip(f"  {words}", max(room.width - len(name), 0))
    return [[(name, style("accent", more="bold")), (about, style("muted"))], []]


def findings(found: Sequence[FoundHere], room: Room) -> list[Row]:
    """What was looked for: a row each, or a sentence where there is no room."""
    style = theme.active().style
    if room.height < _LEAST_TALL:
        there = [one_line(one.name) for one in found if one.state in ("found", "odd")]
        looking = any(one.state == "looking" for one in found)
        words = "looking around…" if looking else "found nothing that could be connected"
        words = f"found: {', '.join(there)}" if there else words
        return [*_paragraph(words, room.width, "muted")[:2], []]
    found = _together(found)
    column = max((cell_len(one_line(one.name)) for one in found), default=0)
    column = min(column, max(room.width // 2 - 4, 8)) + 2
    rows: list[Row] = [[("On this machine", style("foreground", more="bold"))]]
    for one in found:
        sign, colour = _SIGNS[one.state]
        name = clip(one_line(one.name), column - 2)
        lines = wrap([(one_line(one.words), style("muted"))], max(room.width - column - 4, 8))
        blank = " " * (column - cell_len(name))
        front = "faint" if one.state == "nothing" else "foreground"
        rows.append([(f"  {sign} ", style(colour)), (f"{name}{blank}", style(front)), *lines[0]])
        rows += [[(" " * (column + 4), style("muted")), *line] for line in lines[1:]]
    if len(rows) > (most := max(room.height - _ROWS_BESIDE, 4)):
        rows = [*rows[: most - 1], [("    and more", style("muted"))]]
    promise = _paragraph(NOTHING_SENT, max(room.width - 2, 8), "faint")
    return [*rows, *([("  ", style("faint")), *line] for line in promise), []]


def _together(found: Sequence[FoundHere]) -> list[FoundHere]:
    """What is there first; those of whom the same is to be said share a row."""
    absent: dict[str, list[str]] = {}
    for one in found:
        if one.state == "nothing":
            absent.setdefault(one.words, []).append(one.name)
    there = sorted(
        (one for one in found if one.state != "nothing"), key=lambda one: _ORDER[one.state]
    )
    return [*there, *(FoundHere(", ".join(who), words, "nothing") for words, who in absent.items())]


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
    lines = [_choice(chooser, index, room.width) for index in window]
    if sum(map(len, lines)) > room.height:
        lines = [line[:1] for line in lines]  # what is below them is left out
    rows += [row for line in lines for row in line]
    if not chooser.shown:
        rows.append([("  none of them has that in its name", style("warning"))])
    hidden = len(chooser.shown) - len(window)
    if hidden:
        rows.append([(f"    {hidden} more", style("faint"))])
    return rows


def label(chooser: Chooser, index: int) -> str:
    """How a row begins: its digit, if digits choose, and what it is about."""
    title = one_line(chooser.shown[index].title)
    return title if chooser.filtered else f"{index + 1}  {title}"


def _choice(chooser: Chooser, index: int, width: int) -> list[Row]:
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
        gap = max(34 - used, 3) if 34 + cell_len(words) <= width else 3
        row += [(" " * gap, style("muted", back)), (words, style("muted", back))]
    if lit:
        filled = sum(cell_len(text) for text, _ in row)
        row.append((" " * max(width - filled, 0), style("muted", back)))
    if not words or beside:
        return [row]
    below = wrap([(words, style("muted"))], max(width - 5, 8))
    return [row, *([("     ", style("muted")), *line] for line in below)]


def settings(text: str, room: Room) -> list[Row]:
    """The text of a settings file, as it will be written."""
    style = theme.active().style
    rows: list[Row] = []
    for line in inert(text).splitlines():
        colour = "muted" if line.startswith("#") else "foreground"
        colour = "accent" if line.startswith("[") else colour
        rows += wrap([(f"  {line}", style(colour))], room.width)
    return [*rows, []]


def words(text: str, room: Room, colour: str = "foreground") -> list[Row]:
    """A paragraph, and an empty row."""
    return [*_paragraph(text, room.width, colour), []]


def footing(keys: Iterable[tuple[str, str]], room: Room) -> list[Row]:
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


def _paragraph(text: str, width: int, colour: str) -> list[Row]:
    return wrap([(text, theme.active().style(colour))], width)


Page = Literal["start", "sources", "waiting", "fast", "deep", "check", "how"]
TITLES: dict[Page, str] = {
    "start": "pair-programming, interruptible",
    "sources": "who shall answer?",
    "waiting": "one moment",
    "fast": "the fast model: it answers while you watch",
    "deep": "the deep model: it gets the hard questions",
    "check": "written when you say so",
    "how": "how to connect a model",
}
_BACK: dict[Page, Page] = {
    "sources": "start",
    "waiting": "start",
    "fast": "sources",
    "deep": "fast",
    "check": "deep",
    "how": "start",
}
HOW = (
    "Nobody who could answer was found: no key of a known provider in the environment, no server"
    " on this machine. Set a provider's variable (GROQ_API_KEY, ANTHROPIC_API_KEY...), or start a"
    " server (Ollama, LM Studio, llama.cpp, vLLM), then start duetto again; or name one at once:"
)
LINE = "duetto --endpoint NAME|URL --fast MODEL --deep MODEL"


def ways(port: Port, sources: Sequence[ModelSource] | None) -> Sequence[Item]:
    """The three ways to begin; ``sources`` is None while it is looked for them."""
    names = ", ".join(one.title for one in sources or ())
    connect = names or "nobody was found; how to"
    here = f"{port.here}, with the rehearsal" if port.here else "the practice, without the guide"
    return (
        Item("practice", "Practice, with a guide", "60 seconds; nothing leaves this machine"),
        Item("here", "This folder" if port.here else "Just look around", here),
        Item("connect", "Connect a model", "looking…" if sources is None else connect),
    )


def whom(sources: Sequence[ModelSource]) -> Sequence[Item]:
    """Who could answer, and what choosing them sends."""
    return [Item(one.name, one.title, one.asks or one.words) for one in sources]


def models(names: Sequence[str], fast: str) -> Sequence[Item]:
    """The models; for the deep one, ``fast`` first: one may be both."""
    others = [Item(name, name) for name in names if name != fast]
    return [Item(fast, fast, "the same one"), *others] if fast else others


def before(page: Page, sources: Sequence[ModelSource]) -> Page:
    """The page to go back to; who had no choice is not asked anew."""
    alone = len(sources) == 1 and not sources[0].asks
    back = _BACK.get(page, "start")
    return "start" if back == "sources" and alone else back


def keys(page: Page, fast: str) -> Sequence[tuple[str, str]]:
    """What the keys do on a page."""
    if page == "start":
        return (("↑↓ 1-3", "choose"), ("Enter", "begin"), ("Esc", "none of them"))
    if page == "check":
        return (("Enter", f"write it, start with {fast}"), ("Esc", "back"))
    if page in ("waiting", "how"):
        return (("Esc", "back"),)
    return (("↑↓", "choose"), ("Enter", "take it"), ("Esc", "back"))
