"""The help screen: all keys and commands, made from the tables that also make the bindings.

Where one was stands first. What is typed is looked for: rows that hold all of its words stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from tui.engine.slash import COMMANDS
from tui.ui.keymap import behind, key_name, leader_keys, rows, shown, way_out, ways
from tui.ui.keys.spelling import LEADER
from tui.ui.keys.table import SCOPE_TITLES, SCOPES, Key, Scope
from tui.ui.styled_text import breaks, clip
from tui.ui.stylesheets import sheet
from tui.ui.widgets.field import Field

SIGNS: tuple[tuple[str, str], ...] = (
    ("▌ left of a line", "landing: a model is writing it"),
    ("▍ in a line", "the model's pen: what comes next lands here"),
    ("┃ left of a line", "it landed and waits for your decision: pending"),
    ("╏ left of a line", "the answer ended inside it: keep it, finish it or take it back: cut"),
    ("│ left of a line", "you accepted it"),
    ("╌ left of a line", "it is removed, with - for its number, until you decide: struck"),
    ("! left of a line", "two changes of the same lines: conflict"),
    ("┆ left of a line", "a place where a hunk fits: candidate"),
    ("┊ left of a line", "it is coming, and its place is not known yet"),
    ("▹ left of a line", "a model at 50 tokens/s would be writing here now"),
    ("● behind a name", "what you typed in this file is not saved"),
    ("! behind a name", "you and another program changed this file: saving asks"),
    ("✎ before a name", "a model is writing in this file"),
    ("▸ before a name", "the editor follows the model into this file"),
    ("▸ before fast or deep", "at the top: the role that answers what you send"),
    ("M A D U ?", "in the file tree, of git: modified, added, deleted, in conflict, new to git"),
    ("•", "in the file tree: something in this folder is not as committed"),
    ("● ◌ ○", "at the right of the status line: connected, connecting, not connected"),
    ("~", "before a figure: an estimate, until the server has counted"),
)
"""Where a sign stands, and what it says; the same signs where a terminal has no Unicode."""


_KEYS_WIDTH = 26
_LEAST_WIDTH = 30
_PAGE = 12
_WIDEST, _FRAME = 84, 9
"""Cells: of the box, and of its border, blanks and scrollbar."""
COMMANDS_TITLE = "Commands"

Part = tuple[str, str]


class HelpEntry(NamedTuple):
    """One row of the help."""

    keys: str
    words: str
    also: str = ""
    """What else it is found by."""


class HelpScreen(ModalScreen[None]):
    """Keys by scope, then commands; a field above them."""

    CSS_PATH = sheet("help")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False, priority=True),
        Binding("up", "scroll(-1)", show=False, priority=True),
        Binding("down", "scroll(1)", show=False, priority=True),
        Binding("pageup", f"scroll({-_PAGE})", show=False, priority=True),
        Binding("pagedown", f"scroll({_PAGE})", show=False, priority=True),
    ]

    def __init__(self, first: Sequence[Scope] = ()) -> None:
        """``first``: the scopes whose keys work now, the nearest first."""
        super().__init__()
        self._first = tuple(first)
        self._field = Field(placeholder="type to search", id="help-field")
        self._text = Static(id="help-text", markup=False)
        self._scroll = VerticalScroll(self._text, id="help-scroll", can_focus=False)

    def compose(self) -> ComposeResult:
        """A field, and what scrolls below it."""
        box = Vertical(id="help-box")
        box.border_title = "duetto help"
        self._fill(min(_WIDEST, self.app.size.width * 24 // 25) - _FRAME)
        with box:
            yield self._field
            yield self._scroll

    def say_ways(self) -> None:
        """The keys of the screen itself."""
        box = self.query_one("#help-box")
        box.border_subtitle = f"↑↓ PgUp PgDn scroll · {way_out(self)}"

    def on_mount(self) -> None:
        """What is typed is looked for."""
        self.say_ways()
        self._field.focus()

    def on_resize(self) -> None:
        """Wrap anew."""
        self.call_after_refresh(self._fill)

    @on(Input.Changed)
    def _look_for(self, event: Input.Changed) -> None:
        event.stop()
        self._fill()
        self._scroll.scroll_home(animate=False)

    def action_scroll(self, rows_down: int) -> None:
        """Scroll what is below the field."""
        self._scroll.scroll_relative(y=rows_down, animate=False)

    def action_leave(self) -> None:
        """First what was looked for, then the screen."""
        if self._field.value:
            self._field.value = ""
        else:
            self.dismiss()

    def _fill(self, width: int = 0) -> None:
        """What there is, wrapped to ``width`` cells or to those that there are."""
        width = max(width or self._text.size.width - 2, _LEAST_WIDTH)
        self._text.update(help_content(width, self._first, self._field.value))


def help_content(width: int, first: Sequence[Scope] = (), wanted: str = "") -> Content:
    """The help text, wrapped to ``width`` cells; the scopes of ``first`` come first.

    Only rows with all words of ``wanted``, if there are any.
    """
    words = wanted.casefold().split()
    parts: list[Content | str | Part] = []
    for title, entries in sections(first):
        found = [entry for entry in entries if _holds(entry, title, words)]
        if found:
            parts += [("\n", "")] if parts else []
            parts.append((f"{title}\n", "bold $accent"))
        for entry in found:
            parts += _row(entry, width)
    if not parts:
        return Content.assemble(("Nothing found. Esc shows everything.", "$muted"))
    content = Content.assemble(*parts)
    for word in words:
        content = content.highlight_regex(re.compile(re.escape(word), re.I), style="bold $accent")
    return content


def sections(first: Sequence[Scope] = ()) -> Iterator[tuple[str, list[HelpEntry]]]:
    """Headings and what stands below them."""
    for scope in dict.fromkeys((*first, *SCOPES)):
        yield (
            SCOPE_TITLES[scope],
            [HelpEntry("  ".join(ways(key)), key.help, key.name) for key in rows(scope)],
        )
    commands = [
        HelpEntry(f"/{command.name} {command.argument}".strip(), command.help)
        for command in COMMANDS
    ]
    commands.append(HelpEntry("!COMMAND", "Run a shell command in the workspace"))
    commands.append(HelpEntry("@FILE", "Name a file of the workspace; Tab completes it"))
    yield COMMANDS_TITLE, commands
    yield "Signs", [HelpEntry(sign, words) for sign, words in SIGNS]


def _holds(entry: HelpEntry, title: str, words: Sequence[str]) -> bool:
    text = " ".join((entry.keys, entry.words, entry.also, title)).casefold()
    return all(word in text for word in words)


def _row(entry: HelpEntry, width: int) -> list[Part]:
    """Keys left, words right, both wrapped."""
    left, words = entry.keys or "no key", entry.words
    column = min(_KEYS_WIDTH, width // 2)
    lefts = [left[a:b] for a, b in breaks(left, column - 3)]
    rights = [words[a:b] for a, b in breaks(words, width - column)]
    parts: list[Part] = []
    for row in range(max(len(lefts), len(rights))):
        head = lefts[row] if row < len(lefts) else ""
        tail = rights[row] if row < len(rights) else ""
        parts += [(f"  {head:<{column - 2}}", "$foreground"), (f"{tail}\n", "$muted")]
    return parts


_COLUMN = 34
_MOST_COLUMNS = 4
_GAP = 2
_KEY_FRAME = 4
"""Cells of the border and the blanks beside the list."""

Found = Mapping[tuple[str, ...], Key]


class WhichKey(ModalScreen[None]):
    """Takes the keys that follow, and has done what they mean; Esc closes it."""

    CSS_PATH = sheet("help")

    def __init__(
        self, begun: tuple[str, ...], scopes: Sequence[Scope], act: Callable[[Key], None]
    ) -> None:
        """``begun``: what was pressed; ``scopes``: whose keys work, the nearest first."""
        super().__init__()
        self._begun = begun
        self._least = len(begun)
        self._scopes = tuple(scopes)
        self._act = act
        self._said = ""
        self._is_over = False
        self._box = VerticalScroll(id="which-key-box", can_focus=False)
        self._list = Static(id="which-key-list", markup=False)

    def compose(self) -> ComposeResult:
        """A sheet at the bottom, full from the first frame on."""
        self._show(self.app.size.width - _KEY_FRAME)
        with self._box:
            yield self._list

    def on_resize(self) -> None:
        """As many columns as fit."""
        self.call_after_refresh(self._show)

    def say_ways(self) -> None:
        """An answer has begun, or is over: Esc does something else."""
        self._show()

    def on_key(self, event: events.Key) -> None:
        """One of the list, or a key of the list itself."""
        event.stop()
        event.prevent_default()
        if self._is_over:  # the key came while the one before closed the list
            self.app.post_message(events.Key(event.key, event.character))
            return
        found = behind(self._begun, self._scopes)
        press = _meant(event.key, found)
        if press:
            self._take(press, found)
        elif event.key in ("escape", "ctrl+c", *leader_keys()):
            self._close()
        elif event.key == "backspace":
            self._back()
        elif event.key in ("pageup", "pagedown", "up", "down"):
            step = {"pageup": -8, "pagedown": 8, "up": -1, "down": 1}[event.key]
            self._box.scroll_relative(y=step, animate=False)
        else:
            self._said = f"{key_name(event.key)} does nothing here"
            self._show()

    def _take(self, press: str, found: Found) -> None:
        """Go on, or do it."""
        if (key := found.get((press,))) is not None:
            self._close()
            self._act(key)
        else:
            self._begun, self._said = (*self._begun, press), ""
            self._show()

    def _back(self) -> None:
        if len(self._begun) > self._least:
            self._begun, self._said = self._begun[:-1], ""
            self._show()
        else:
            self._close()

    def _close(self) -> None:
        self._is_over = True
        self.dismiss()

    def _show(self, width: int = 0) -> None:
        """What can follow, for ``width`` cells, or for those that there are."""
        pressed = key_name(" ".join(self._begun))
        if self._begun == (LEADER,):
            pressed = key_name(leader_keys()[0])
        self._box.border_title = f"{pressed} and then"
        ways = f"{way_out(self)} · {shown('help')} all keys"
        self._box.border_subtitle = f"{self._said} · {ways}" if self._said else ways
        found = behind(self._begun, self._scopes)
        room = max(width or self._list.size.width, 20)
        self._list.update(list_content(found, self._scopes, room))


def _meant(key: str, found: Found) -> str:
    """The key of the list that was pressed, also with Alt still held, or Caps Lock on."""
    alone = key.removeprefix("alt+")
    for press in (key, alone, alone.lower()):
        if any(presses[0] == press for presses in found):
            return press
    return ""


def list_content(found: Found, scopes: Sequence[Scope], width: int) -> Content:
    """The keys and what they do, by groups, in as many columns as ``width`` cells have room for."""
    columns = max(min(width // _COLUMN, _MOST_COLUMNS), 1)
    room = (width - _GAP * (columns - 1)) // columns
    blocks = _blocks(found, scopes, room)
    filled: list[list[list[Part]]] = [[] for _ in range(columns)]
    for block in blocks:
        shortest = min(filled, key=len)
        shortest += ([[]] if shortest else []) + block
    parts: list[Content | str | Part] = []
    for row in range(max(map(len, filled))):
        for at, column in enumerate(filled):
            line = column[row] if row < len(column) else []
            parts += line
            if at < columns - 1:
                used = sum(cell_len(text) for text, _ in line)
                parts.append(" " * (room + _GAP - used))
        parts.append("\n")
    return Content.assemble(*parts[:-1])


def _blocks(found: Found, scopes: Sequence[Scope], room: int) -> list[list[list[Part]]]:
    """Rows by heading: what is about the place where one is, then the groups of the table."""
    headed: dict[str, list[list[Part]]] = {}
    begun: set[str] = set()
    order = sorted(found.items(), key=lambda item: scopes.index(item[1].scope))
    for presses, key in order:
        first = presses[0]
        if len(presses) > 1 and first in begun:
            continue
        begun.add(first)
        # a few words, or the sentence's first part
        words = key.short or key.help.partition(";")[0].partition(":")[0].partition(" (")[0]
        if len(presses) > 1:
            count = sum(others[0] == first for others in found)
            words = f"… {count} key{'s' if count > 1 else ''} behind it"
        heading = key.group or SCOPE_TITLES[key.scope]
        headed.setdefault(heading, []).append(_key_row(key_name(first), words, room))
    return [[[(heading, "bold $accent")], *rows] for heading, rows in headed.items()]


def _key_row(name: str, words: str, room: int) -> list[Part]:
    head = f"  {name:<5} "
    return [(head, "bold $foreground"), (clip(words, room - cell_len(head)), "$muted")]
