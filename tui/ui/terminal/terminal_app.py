"""The part of the app that knows its terminal: colours, signs, what it answers, who is looking."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import events
from textual.app import App
from textual.filter import Monochrome, NoColor
from textual.screen import Screen

from tui.ui import theme
from tui.ui.painting.ink import ink
from tui.ui.painting.screen import PartsUpdate, WholeUpdate, update_bytes, write_frame
from tui.ui.terminal.facts import Replies, TerminalFacts
from tui.ui.terminal.notifying import Moment, Notifier, NotifyOptions

if TYPE_CHECKING:
    from rich.console import RenderableType


_NAMES = (
    *("SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGPROF"),
    *("SIGXCPU", "SIGIO", "SIGPWR", "SIGSTKFLT", "SIGTRAP", "SIGSYS", "SIGABRT"),
)
"""Not SIGKILL, which nobody sees; not SIGPIPE and SIGXFSZ, which Python ignores, so that a write
without room (`ulimit -f`) fails and is told; not SIGVTALRM, the alarm over
lexers; and not those of a fault in the machine's code, after which no handler of Python's runs."""
ENDING: tuple[signal.Signals, ...] = tuple(
    signal.Signals[name] for name in _NAMES if name in signal.Signals.__members__
)


_FOCUS_S = 1.0
"""So long keys wait at most for a widget that is to have the focus."""


class TerminalApp(App[int]):
    """Draws in what the terminal has, and speaks to it beside the picture."""

    def __init__(self) -> None:
        """For a terminal with everything, but for colours where ``NO_COLOR`` is set."""
        super().__init__()
        self.herald = Notifier(NotifyOptions(), os.environ)
        self.on_background: Callable[[bool | None], None] = lambda dark: None
        """Called when the terminal has said whether it is dark."""
        self.release_keys: Callable[[], None] = lambda: None
        """The widget that keys are held for has the focus."""
        self._hold_keys: Callable[[], None] = lambda: None
        self._reminds = False
        """A timer looks whether a question still waits."""
        self.draw_on(TerminalFacts(colours="none" if self.no_color else "true"))

    def draw_on(self, facts: TerminalFacts) -> None:
        """The terminal is this one; called before the app runs."""
        self.replies = Replies(facts, self._learn)
        self._drawn = _ink_of(facts)
        self.no_color = facts.colours == "none"
        self._filters[:] = [
            kept for kept in self._filters if not isinstance(kept, Monochrome | NoColor)
        ]
        if self.no_color:
            from tui.ui.painting.ink import WithoutColours

            self._filters.append(WithoutColours())
        self._mix_ink()

    def notify_by(self, choices: NotifyOptions, place: str, prompt: Callable[[], str]) -> None:
        """How it is said that a turn has ended, in which workspace, and what its prompt was."""
        self.herald = Notifier(choices, os.environ, place)
        self.herald.prompt = prompt

    def hold_keys(
        self, release: Callable[[], None], hold: Callable[[], None] = lambda: None
    ) -> None:
        """For the driver: what is typed before a widget has the focus is for the first one.

        Keys are held now, and whenever the focus is on its way (`focus_comes`).
        """
        self.release_keys, self._hold_keys = release, hold

    def focus_comes(self) -> None:
        """What is typed from now on is for the widget that gets the focus next."""
        self._hold_keys()
        self.set_timer(_FOCUS_S, self.release_keys)

    def questions(self) -> str:
        """For the driver: what to ask when it has taken the terminal."""
        return self.replies.questions()

    def replied(self, sequence: str) -> bool:
        """For the driver: whether this is an answer."""
        return self.replies.take(sequence)

    def goodbye(self) -> str:
        """For the driver: what to take back when it gives the terminal back."""
        return f"{self.herald.goodbye()}{self.replies.goodbye()}"

    def say_state(self, moment: Moment) -> None:
        """Tell whoever is not looking."""
        now_s = asyncio.get_running_loop().time()
        self._say(self.herald.state(moment, now_s))
        if not self._reminds and (again_s := self.herald.again_s(now_s)):
            self._reminds = True
            self.set_timer(again_s, self._remind)

    def _remind(self) -> None:
        """A question may still be waiting; a key since then puts it off."""
        now_s = asyncio.get_running_loop().time()
        self._say(self.herald.remind(now_s))
        if again_s := self.herald.again_s(now_s):
            self.set_timer(again_s, self._remind)
        else:
            self._reminds = False

    def _say(self, said: str) -> None:
        if said and self._driver is not None and not self.is_headless:
            self._driver.write(said)

    def on_mount(self) -> None:
        """The ink follows the theme."""
        self.theme_changed_signal.subscribe(self, lambda _: self._mix_ink())

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """A widget takes keys."""
        self.release_keys()

    def on_app_focus(self) -> None:
        """Somebody is looking."""
        self.herald.looking(True)

    def on_app_blur(self) -> None:
        """The window is not looked at."""
        self.herald.looking(False)

    def _mix_ink(self) -> None:
        facts, palette = self.replies.facts, theme.active()
        dark = palette.dark if facts.dark is None else facts.dark
        ink().set_colours(facts.colours, palette.colours, dark=dark)
        ink().set_signs(facts.glyphs, wide_ambiguous=facts.wide_ambiguous)

    def _learn(self, facts: TerminalFacts) -> None:
        """The terminal has answered; what is on the screen already is painted anew."""
        before, self._drawn = self._drawn, _ink_of(facts)
        self._mix_ink()
        if before != self._drawn:
            self.call_later(self._repaint_rows)
        self.call_later(self.on_background, facts.dark)

    def _repaint_rows(self) -> None:
        """As after a change of the theme: rows keep their bytes otherwise."""
        self.refresh_css(animate=False)
        self.theme_changed_signal.publish(self.current_theme)
        self.refresh(layout=True)

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        """Textual's way to the terminal, for the screens that it puts together itself."""
        update: object = renderable
        if not isinstance(update, PartsUpdate | WholeUpdate) or self.is_headless:
            super()._display(screen, renderable)
        elif not self._batch_count:
            cursor = self.screen.outer_size.clamp_offset(self.cursor_position)
            write_frame(self, update_bytes(update), cursor)


def _ink_of(facts: TerminalFacts) -> tuple[object, ...]:
    """What of the facts is seen in the bytes of a row."""
    dark = facts.dark if facts.colours == "16" else None
    return facts.colours, facts.glyphs, facts.wide_ambiguous, dark
