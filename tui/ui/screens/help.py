"""The help screen: all keys and commands, made from the tables that also make the bindings.

Where one was stands first. What is typed is looked for: rows that hold all of its words stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from tui.engine.slash import COMMANDS
from tui.ui.keymap import rows, way_out, ways
from tui.ui.keys.table import SCOPE_TITLES, SCOPES, Scope
from tui.ui.styled_text import breaks
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
