"""The Textual app: themes, the frame, the screens, and a clean way out."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable
from pathlib import PurePath
from typing import TYPE_CHECKING, ClassVar, Self

from textual import events
from textual.actions import SkipAction
from textual.app import SystemCommand
from textual.binding import BindingType
from textual.driver import Driver
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, TextArea

from tui.core.stamping import Stamp, no_stamp
from tui.engine.intents import Interrupt, StopDeciding
from tui.engine.session import Session
from tui.ui import preload, theme
from tui.ui.key_queue import TypedKey
from tui.ui.keymap import app_bindings, behind, shown, stand_in
from tui.ui.keys.spelling import LEADER
from tui.ui.keys.table import Key, Scope
from tui.ui.leaving import Leaving
from tui.ui.prompt.queue_list import QueueList
from tui.ui.screens.workbench import Workbench
from tui.ui.stylesheets import at_start
from tui.ui.stylesheets import behind as sheets_behind
from tui.ui.terminal.notifying import Moment
from tui.ui.terminal.terminal_app import TerminalApp
from tui.ui.theming.theme_manager import ThemeManager
from tui.ui.tick import FrameTimer
from tui.ui.widgets.field import Field, tame

if TYPE_CHECKING:
    from tui.engine.connecting import ConnectPort


class DuettoApp(TerminalApp, inherit_bindings=False):
    """The Textual app around one session.

    Textual's own bindings are not taken over: what they do is in the keymap, where it can be
    changed.
    """

    TITLE = "duetto"
    CSS_PATH: ClassVar[list[str | PurePath]] = [*at_start()]
    BINDINGS: ClassVar[list[BindingType]] = app_bindings()
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = ""
    """The keymap has it."""

    def __init__(
        self,
        session: Session,
        *,
        theme_name: str = theme.DEFAULT_THEME,
        workspace: str = "",
        follow: bool = True,
    ) -> None:
        """Build the screen; no connection is made before the first paint.

        Args:
            session: runs in this app's event loop from the first paint on.
            theme_name: one of `theme.theme_names()`; SettingsError for any other.
            workspace: absolute path of the folder that is open.
            follow: whether the editor follows the landing edit from the start.
        """
        theme.activate(theme_name)
        super().__init__()
        self.session = session
        self.bench = Workbench(session, workspace=workspace)
        self.themes = ThemeManager(self, theme_name)
        self.on_background = self.themes.background_is
        self.leaving = Leaving(self, session, lambda: self.bench.prompt_box.draft)
        session.keeping.draft = lambda: self.bench.prompt_box.draft
        self.bench.editor.sides.follow.on = follow
        self.stamp: Stamp = no_stamp
        """For the driver: keys and frames."""
        self.copy_here: Callable[[str], bool] = lambda text: False
        """Copies by a program of this machine's desktop; False: there is none."""
        self.connecting: Callable[[], ConnectPort] | None = None
        """Gives what connecting a model needs of the outside; None: it cannot be done here."""
        self.on_mounted: Callable[[], object] = lambda: None
        """Called before the first picture, for a screen that covers the workbench in it."""
        self.on_begun: Callable[[], object] = lambda: None
        """Called when the first picture is on the screen and the session runs."""
        self.on_settled: Callable[[], None] = lambda: None
        """Called when all is loaded that the first answer needs."""
        self._frame: FrameTimer | None = None
        self._was_busy = self._stopped_first = False

    def reduce_motion(self) -> None:
        """Switch animations off, and have the meter count calmly; call it before the app runs."""
        self.animation_level = "none"

    def refresh_css(self, animate: bool = True) -> None:
        """Textual's; before there is a screen without parsing the rules twice."""
        if self.bench.is_attached:
            super().refresh_css(animate)
            if self.screen not in self.children:  # the palette: Textual leaves it as it was
                self.stylesheet.update(self.screen, animate=animate)
        else:
            self.stylesheet.set_variables(self.get_css_variables())
            self.stylesheet.update(self, animate=animate)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """No cursor blinks: while nothing happens nothing is painted.

        The command palette's field comes from Textual: it is tamed here.
        """
        if isinstance(event.widget, Input | TextArea):
            event.widget.cursor_blink = False
        if isinstance(event.widget, Input) and not isinstance(event.widget, Field):
            tame(event.widget)

    def get_default_screen(self) -> Screen[None]:
        """The workbench is the bottom screen."""
        return self.bench

    def get_driver_class(self) -> type[Driver]:
        """Textual's choice, with our input loop on Linux and macOS."""
        chosen = super().get_driver_class()
        if chosen.__name__ == "LinuxDriver":
            from tui.ui.terminal.driver import TerminalDriver

            return TerminalDriver
        return chosen

    def on_mount(self) -> None:
        """Wire the frame; the session starts when the first frame is on the screen."""
        self._frame = FrameTimer(self._paint, self.call_later)
        self._frame.stamp = self.stamp
        self.leaving.before = self._frame.stop
        first = self.session.input_first
        self._frame.waits = lambda: first.untaken
        self.session.on_wake = self._frame.wake
        self.theme_changed_signal.subscribe(self, lambda _: self._recolour())
        self.bench.call_later(
            self.leaving.catch_signals
        )  # until it is mounted the driver sees to them
        self.call_after_refresh(self._start)
        self.on_mounted()

    def refresh(
        self, *, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> Self:
        """All of the screen anew, also what the terminal should still be showing."""
        if repaint and self.is_running:
            self.bench.repaint_all()
        return super().refresh(repaint=repaint, layout=layout, recompose=recompose)

    def action_status(self) -> None:
        """Show models and sockets."""
        from tui.ui.screens.status import StatusScreen

        if not isinstance(self.screen, StatusScreen):
            self.push_screen(StatusScreen(self.session))

    def action_connect(self, wanted: str = "") -> None:
        """Connect a model, of the provider or server that was named."""
        self.connect_model(lambda done: None, wanted)

    def connect_model(self, then: Callable[[bool], None], wanted: str = "") -> None:
        """The same, and tell whether it was done."""
        from tui.ui.connect.screen import ConnectScreen, connected

        if self.connecting is None:
            self.notify("No model can be connected here.", severity="warning")
        elif not isinstance(self.screen, ConnectScreen):
            screen = ConnectScreen(self.connecting(), self.session.status, wanted)
            self.push_screen(screen, connected(screen, self.session, then))

    def action_model(self) -> None:
        """Choose the model of the current role."""
        from tui.ui.connect.screen import ModelScreen

        if not isinstance(self.screen, ModelScreen):
            self.push_screen(ModelScreen(self.session))

    async def on_event(self, event: events.Event) -> None:
        """Textual's; a key shows that somebody is there.

        One that no widget took has been taken when its bindings have run.
        """
        if isinstance(event, events.Key):
            self.herald.typed(asyncio.get_running_loop().time())
        if not isinstance(event, TypedKey):
            await super().on_event(event)
            return
        if not (climbed := event.is_forwarded):
            event.holder = event.origin = self.focused or self.screen
        await super().on_event(event)
        if climbed or not event.is_forwarded:
            event.on_taken()

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The command palette: slash commands, what has a key, themes."""
        from tui.ui.command_palette import offers

        yield from offers(self.bench, screen, self._act)

    def action_help(self) -> None:
        """Show all keys; on the help itself: close it."""
        from tui.ui.screens.help import HelpScreen

        if isinstance(self.screen, HelpScreen):
            self.screen.dismiss()
        else:
            self.push_screen(HelpScreen(self._scopes() or self.bench.scopes))

    def action_command_palette(self) -> None:
        """List all commands, once.

        Textual's gives it an id, and ends the app where another one is under the help, or not
        quite gone.
        """
        from tui.ui.command_palette import ActionPalette

        if not any(isinstance(screen, ActionPalette) for screen in self.screen_stack):
            self.push_screen(ActionPalette())

    def action_leader(self) -> None:
        """List what the next key does here. Raises SkipAction on a screen of its own keys."""
        self.action_chord(LEADER)

    def action_chord(self, first: str) -> None:
        """The first key of several. Raises SkipAction where no chord begins with it."""
        if not behind((first,), self._scopes()):
            raise SkipAction
        from tui.ui.screens.help import WhichKey

        self.push_screen(WhichKey((first,), self._scopes(), self._act))

    def _scopes(self) -> tuple[Scope, ...]:
        """The scopes whose keys work on this screen now; none: it has its own keys."""
        scopes: tuple[Scope, ...] = getattr(self.screen, "scopes", ())
        return scopes

    def _act(self, key: Key) -> None:
        """Do what a row of the keymap does in the app's own turn: what lies in front is gone."""
        self.call_later(_act, self, self.bench, key)

    def action_suspend(self) -> None:
        """Back to the shell that started duetto, until ``fg``."""
        from tui.ui.terminal.driver import has_shell

        if has_shell():
            self.action_suspend_process()
        else:
            self.notify(
                f"duetto was not started from a shell; {shown('app.quit')} quits.",
                severity="warning",
            )

    def copy_to_clipboard(self, text: str) -> None:
        """Onto the clipboard: duetto's own, the terminal's, and the desktop's if it is here."""
        from tui.ui.terminal.notifying import copying, too_long

        self._clipboard = text
        asking = copying(text, os.environ)
        if asking and self._driver is not None:
            self._driver.write(asking)
        if not self.copy_here(text) and not asking:
            self.notify(too_long(text), severity="warning", markup=False)

    def action_stop_first(self) -> None:
        """Whatever lies over the workbench: an answer is stopped before anything is closed.

        Raises SkipAction where the key means what the screen says.
        """
        if self.screen is self.bench or not self.stops_first:
            raise SkipAction
        answers = self.bench.turn_actions.stoppable and not self.session.status.stopping
        self.session.submit(Interrupt() if answers else StopDeciding())

    @property
    def stops_first(self) -> bool:
        """An answer streams, or hunks are decided on: Esc stops that before it closes anything."""
        status = self.session.status
        return (self.bench.turn_actions.stoppable and not status.stopping) or bool(status.deciding)

    async def action_quit(self) -> None:
        """Leave; ask first when something would be left behind."""
        await self.leaving.ask()

    def _start(self) -> None:
        """After the first paint: run the session."""
        self.release_keys()  # also where no widget has taken the focus
        self.run_worker(self.session.run(), name="session", group="session")
        if self._frame is not None:
            self._frame.wake()  # what was told before there was a screen
        self.run_worker(self._warm(), name="warming", group="warming")
        self.on_begun()

    async def _warm(self) -> None:
        """Load what the first answer needs, and the other themes; then look after those."""
        await asyncio.sleep(preload.AFTER_S)
        await asyncio.to_thread(preload.warm)
        self.themes.register_all()
        for path in sheets_behind():
            if not self.stylesheet.has_source(str(path)):
                self.stylesheet.read(path)
                self.stylesheet.parse()
                await asyncio.sleep(0)  # a key goes first
        preload.settle()
        self.on_settled()
        await self.themes.look_after()

    def _paint(self) -> None:
        """One frame: drain, and let the screen take it up."""
        bench = self.bench
        if bench.is_ending:
            return
        if not bench.is_mounted:
            if self._frame is not None:  # what is not drained wakes nothing again
                bench.call_later(self._frame.wake)
            return
        notices, behind = self.session.drain(), bench.transcript.rows.behind
        if behind is not None and notices.transcript_from is None:
            notices.transcript_from = behind
        if notices:
            bench.begin_frame()
            try:
                bench.sync(notices)
            finally:
                bench.paint_now()
        if bench.transcript.rows.behind is not None and self._frame is not None:
            self._frame.wake()
        busy = self.session.status.busy
        if self._was_busy and not busy:
            self.set_timer(preload.TIDY_S, preload.tidy)
        self._was_busy = busy
        if self._stopped_first != self.stops_first:
            self._stopped_first = self.stops_first
            for screen in self.screen_stack:  # those that name the way out say it anew
                if (say := getattr(screen, "say_ways", None)) is not None:
                    say()
        self.say_state(Moment(busy, bool(self.session.status.asks), self.session.status.outcome))

    def _recolour(self) -> None:
        """Textual's theme changed: whatever is on a screen is made anew, or painted anew."""
        if self.themes.recolour() is None or not self.bench.is_mounted:
            return
        for screen in self.screen_stack:
            for part in screen.walk_children(Widget):
                getattr(part, "recolour", part.refresh)()
        self.bench.refresh(layout=True)


async def _act(app: DuettoApp, bench: Workbench, key: Key) -> None:
    """Do what a row of the keymap does; the widget that does it gets the focus first."""
    if key.action.startswith("app."):
        await app.run_action(key.action)
    elif key.scope in ("turn", "diff"):
        await app.screen.run_action(key.action)
    elif key.scope == "global":
        await bench.action_command(key.action)
    elif key.scope == "prompt":
        prompt = bench.prompt_box.prompt
        if bench.focused is not prompt:
            bench.prompt_box.focus_prompt()
        prompt.post_message(events.Key(stand_in(key), None))
    else:
        await _act_in_pane(bench, key)


async def _act_in_pane(bench: Workbench, key: Key) -> None:
    """The keys go to the pane from now on."""
    if key.scope == "editor":
        bench.pane_actions.enter_editor()
        await bench.editor.run_action(key.action)
    elif key.scope == "files":
        if bench.focused is not bench.editor.dock.tree:
            await bench.action_command("tree")
        if (tree := bench.editor.dock.tree) is not None:
            await tree.run_action(key.action)
    elif key.scope == "queue":
        bench.pane_actions.queue()
        if isinstance(queue := bench.focused, QueueList):
            await queue.run_action(key.action)
    else:
        if bench.focused is not bench.transcript:
            bench.panes.show("conversation")
            bench.set_focus(bench.transcript)
        await bench.transcript.run_action(key.action)
