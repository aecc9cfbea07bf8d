"""The help screen: all keys and commands, made from the tables that also make the bindings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.ui.commands import COMMANDS
from tui.ui.keymap import key_name, rows
from tui.ui.keys.key import SCOPE_TITLES, SCOPES, Scope
from tui.ui.rows import breaks

_KEYS_WIDTH = 22


class HelpScreen(ModalScreen[None]):
    """Keys by scope, then commands."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,q,alt+h", "dismiss", "Close", show=False),
        Binding("up,k", "scroll(-1)", show=False),
        Binding("down,j", "scroll(1)", show=False),
    ]

    def __init__(self, first: Sequence[Scope] = ()) -> None:
        """``first``: the scopes whose keys work now, the nearest first."""
        super().__init__()
        self._first = tuple(first)

    def compose(self) -> ComposeResult:
        """A box that scrolls."""
        with VerticalScroll(id="help-box"):
            yield Static(id="help-text")

    def on_mount(self) -> None:
        """Wrapping needs the width."""
        box = self.query_one("#help-box")
        box.border_title, box.border_subtitle = "duetto help", "↑↓ PgUp PgDn scroll · Esc closes"
        self.call_after_refresh(self._fill)

    def on_resize(self) -> None:
        """Wrap anew."""
        self.call_after_refresh(self._fill)

    def action_scroll(self, rows_down: int) -> None:
        """Scroll the box."""
        self.query_one("#help-box").scroll_relative(y=rows_down, animate=False)

    def _fill(self) -> None:
        text = self.query_one("#help-text", Static)
        text.update(help_content(max(text.size.width - 2, 30), self._first))


def help_content(width: int, first: Sequence[Scope] = ()) -> Content:
    """The help text, wrapped to ``width`` cells; the scopes of ``first`` come first."""
    parts: list[Content | str | tuple[str, str]] = []
    for scope in dict.fromkeys((*first, *SCOPES)):
        parts.append((f"{SCOPE_TITLES[scope]}\n", "bold $accent"))
        for key in rows(scope):
            names = "  ".join(key_name(name) for name in key.keys)
            parts += _entry(names, key.help, width)
        parts.append("\n")
    parts.append(("Commands\n", "bold $accent"))
    for command in COMMANDS:
        parts += _entry(f"/{command.name} {command.argument}", command.help, width)
    parts += _entry("!COMMAND", "Run a shell command in the workspace", width)
    parts += _entry("@FILE", "Name a file of the workspace; Tab completes it", width)
    return Content.assemble(*parts)


def _entry(left: str, words: str, width: int) -> list[Content | str | tuple[str, str]]:
    """Keys left, words right, both wrapped."""
    column = min(_KEYS_WIDTH, width // 2)
    lefts = [left[a:b] for a, b in breaks(left.strip(), column - 3)]
    rights = [words[a:b] for a, b in breaks(words, width - column)]
    parts: list[Content | str | tuple[str, str]] = []
    for row in range(max(len(lefts), len(rights))):
        head = lefts[row] if row < len(lefts) else ""
        tail = rights[row] if row < len(rights) else ""
        parts += [(f"  {head:<{column - 2}}", "$foreground"), (f"{tail}\n", "$muted")]
    return parts
