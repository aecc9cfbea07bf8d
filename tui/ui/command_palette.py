"""What the command palette offers: the slash commands, every key's action, the themes.

Whoever knows what they want and not its key finds both here: the key stands beside it. Over the
workbench it offers what can be done anywhere on it, over the review what can be done there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from textual import on
from textual.app import SystemCommand
from textual.await_complete import AwaitComplete
from textual.command import CommandPalette, Hit, Hits
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.system_commands import SystemCommandsProvider
from textual.widgets import OptionList

from tui.core.fuzzy import fit_words, folded, holds
from tui.engine.slash import COMMANDS
from tui.ui import theme
from tui.ui.keymap import rows, ways
from tui.ui.keys.table import SCOPE_TITLES, SCOPES, Key, Scope
from tui.ui.screens.workbench import Workbench
from tui.ui.theming.theme_manager import theme_manager_of

OVER: tuple[Scope, ...] = ("turn", "diff")
"""Scopes of the review, which lies over the workbench."""
KEYS_ONLY: dict[str, str] = {
    "interrupt": "it would close the palette",
    "cancel": "it would close the palette",
    "app.command_palette": "it is open",
    "app.leader": "its list is a palette too",
}
"""Actions that are not offered, and why."""
_ACTION_OF = {"undo": "undo_turn", "review": "review_turn", "help": "app.help", "quit": "app.quit"}
"""Slash commands whose key's action has another name."""


class Offered(SystemCommandsProvider):
    """Textual's, which names come first in: a sentence holds nearly any few letters."""

    async def search(self, query: str) -> Hits:
        """What has all words of the query."""
        words = folded(query).split()
        for title, words_below, act, *_ in self.app.get_system_commands(self.screen):
            if score := rank(words, title):
                content = Content(title)
                for offset in fit_words(words, title).offsets:
                    content = content.stylize(self.match_style or "", offset, offset + 1)
                yield Hit(score, content, act, help=words_below)


def rank(words: list[str], title: str) -> float:
    """How well a title fits words that are `folded`, from 0 (not) on; its name counts most."""
    low = folded(title).removeprefix("/")
    name = low.partition(":")[0]
    total = 0.0
    for word in words:
        if name.startswith(word):
            total += 5
        elif f" {word}" in name:
            total += 4
        elif word in name:
            total += 3
        elif f" {word}" in low:
            total += 2
        elif word in low:
            total += 1
        elif holds(word, name):
            total += 0.5
        else:
            return 0.0
    return total / len(words) + 0.1 / len(name) if words else 0.0


class ActionPalette(CommandPalette):
    """Textual's; what is chosen is done once, and it closes nothing but itself.

    A second Enter may be on its way when the first one has closed it.
    """

    def __init__(self) -> None:
        super().__init__(providers=[Offered])

    def dismiss(self, result: object = None) -> AwaitComplete:
        """Close it, if it is there still."""
        return super().dismiss() if self.is_current else AwaitComplete()

    @on(OptionList.OptionSelected)
    def _chosen(self, event: Message) -> None:
        """The second time it means nothing."""
        if not self.is_current:
            event.prevent_default()


def offers(
    bench: Workbench, screen: Screen[object], act: Callable[[Key], None]
) -> Iterator[SystemCommand]:
    """Everything that can be chosen; the palette sorts it by its first word."""
    over = set(getattr(screen, "scopes", ())) & set(OVER)
    said: set[str] = set()
    if not over:
        yield from _commands(bench, said)
    for key, title in titled(over, said):
        yield SystemCommand(title, ", ".join(ways(key)), lambda key=key: act(key))
    themes = "Choose a theme: the whole app tries it on"
    yield SystemCommand("Themes", themes, lambda: bench.slash.run("/theme"))
    for name in theme.theme_names():
        title, choose = theme.cached_theme(name).title, theme_manager_of(bench.app).choose
        yield SystemCommand(f"Theme: {title}", "Change the colours", partial(choose, name))


def _commands(bench: Workbench, said: set[str]) -> Iterator[SystemCommand]:
    """The slash commands, with the keys of the actions that they are; ``said`` gets those."""
    everywhere = {key.action: key for key in rows("global")}
    for command in COMMANDS:
        if command.argument:
            continue
        action = _ACTION_OF.get(command.name, command.name)
        key = everywhere.get(action)
        said.add(action)
        yield SystemCommand(
            f"/{command.name}",
            command.help + (f" ({', '.join(ways(key))})" if key is not None else ""),
            lambda name=command.name: bench.slash.run(f"/{name}"),
        )


def titled(over: set[Scope], said: set[str]) -> Iterator[tuple[Key, str]]:
    """The rows that can be done here, each with a title of its own; ``over``: the review's scopes.

    Those in ``said`` are not said again.
    """
    titles: set[str] = set()
    for scope in SCOPES:
        for key in rows(scope):
            own = key.action.startswith("app.")
            if over:
                fits = own if scope == "global" else scope in over and not own
            else:
                fits = scope not in OVER and not (scope == "global" and key.action in said)
            if not fits or key.action in KEYS_ONLY:
                continue
            # the action's name and its sentence, without what belongs to another key
            word = key.name.replace("_", " ").capitalize()
            title = f"{word}: {key.help.partition(';')[0].partition(' (')[0]}"
            if title in titles:
                title = f"{title} ({SCOPE_TITLES[scope].lower()})"
            titles.add(title)
            yield key, title
