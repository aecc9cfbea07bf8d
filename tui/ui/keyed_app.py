"""The app's part about keys: what works over every screen, and keys that others follow."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual.actions import SkipAction
from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.screen import Screen

from tui.ui.keymap import app_bindings, behind
from tui.ui.keys.spelling import LEADER
from tui.ui.keys.table import Key
from tui.ui.screens.workbench import Workbench


class KeyedApp(App[int], inherit_bindings=False):
    """Help, palette, leader key and chords; `DuettoApp` adds the session.

    Textual's own bindings are not taken over: what they do is in the keymap, where it can be
    changed.
    """

    BINDINGS: ClassVar[list[BindingType]] = app_bindings()
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = ""
    """The keymap has it."""

    bench: Workbench

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The command palette: slash commands, what has a key, themes."""
        from tui.ui.palette import offers

        yield from offers(self, self.bench, screen)

    def action_help(self) -> None:
        """Show all keys; on the help itself: close it."""
        from tui.ui.keys.dispatch import scopes_of
        from tui.ui.screens.help import HelpScreen

        if isinstance(self.screen, HelpScreen):
            self.screen.dismiss()
        else:
            self.push_screen(HelpScreen(scopes_of(self.screen) or scopes_of(self.bench)))

    def action_command_palette(self) -> None:
        """List all commands, once.

        Textual's gives it an id, and ends the app where another one is under the help, or not
        quite gone.
        """
        from tui.ui.palette import Palette

        if not any(isinstance(screen, Palette) for screen in self.screen_stack):
            self.push_screen(Palette())

    def action_leader(self) -> None:
        """List what the next key does here. Raises SkipAction on a screen of its own keys."""
        self._list((LEADER,))

    def action_chord(self, first: str) -> None:
        """The first key of several. Raises SkipAction where no chord begins with it."""
        self._list((first,))

    def _list(self, begun: tuple[str, ...]) -> None:
        from tui.ui.keys.dispatch import scopes_of

        scopes = scopes_of(self.screen)
        if not behind(begun, scopes):
            raise SkipAction
        from tui.ui.screens.which_key import WhichKey

        self.push_screen(WhichKey(begun, scopes, self.acting()))

    @property
    def stops_first(self) -> bool:
        """An answer streams, which Esc stops before it closes anything."""
        return False

    def say_ways(self) -> None:
        """It is another thing than before: the screens that name it say so."""
        for screen in self.screen_stack:
            if (say := getattr(screen, "say_ways", None)) is not None:
                say()

    def acting(self) -> Callable[[Key], None]:
        """What does a row of the keymap, in the app's own turn: what lies in front is gone."""
        from tui.ui.keys.dispatch import act

        def later(key: Key) -> None:
            self.call_later(act, self, self.bench, key)

        return later
