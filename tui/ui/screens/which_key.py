"""What the next key does: the list behind the leader key, and behind the beginning of a chord."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.ui.keymap import behind, key_name, leader_keys, shown, way_out
from tui.ui.keys.spelling import LEADER
from tui.ui.keys.table import SCOPE_TITLES, Key, Scope
from tui.ui.styled_text import clip
from tui.ui.stylesheets import sheet

_COLUMN = 34
_MOST_COLUMNS = 4
_GAP = 2
_FRAME = 4
"""Cells of the border and the blanks beside the list."""

Part = tuple[str, str]
Found = Mapping[tuple[str, ...], Key]


class WhichKey(ModalScreen[None]):
    """Takes the keys that follow, and has done what they mean; Esc closes it."""

    CSS_PATH = sheet("which_key")

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
        self._show(self.app.size.width - _FRAME)
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
        words = _words(key)
        if len(presses) > 1:
            count = sum(others[0] == first for others in found)
            words = f"… {count} key{'s' if count > 1 else ''} behind it"
        heading = key.group or SCOPE_TITLES[key.scope]
        headed.setdefault(heading, []).append(_row(key_name(first), words, room))
    return [[[(heading, "bold $accent")], *rows] for heading, rows in headed.items()]


def _row(name: str, words: str, room: int) -> list[Part]:
    head = f"  {name:<5} "
    return [(head, "bold $foreground"), (clip(words, room - cell_len(head)), "$muted")]


def _words(key: Key) -> str:
    """A few words, or the sentence's first part."""
    return key.short or key.help.partition(";")[0].partition(":")[0].partition(" (")[0]
