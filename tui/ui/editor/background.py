"""What a repaint of the editor had no time for: colours, far brackets, hunks, widths, the ghost.

All of it is done in slices by timers of the event loop, so that no key waits for it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

from textual.timer import Timer

from tui.core.text.change_set import Position
from tui.engine.session import Session
from tui.ui.editor.brackets import Brackets, next_bracket
from tui.ui.editor.overview import CALM_STEP_S, STEP_S, GutterGhost, HunkMarks
from tui.ui.editor.view import View
from tui.ui.editor.wrapping import measure_on

_IDLE_S = 0.03
"""Pause between two slices."""
_IDLE_BUDGET_S = 0.004
_COLOURS_S = 0.015
_BUSY_BUDGET_S = 0.002
"""For colours while an answer comes; else `_IDLE_BUDGET_S`, every `_COLOURS_S`."""
_BUSY_EVERY = 8
"""Once in so many times, then: what is in sight is coloured by its repaint anyway."""
_HUNKS_S = 0.1
"""How soon very many hunks are looked through again, if no frame comes."""
_JUMP_BUDGET_S, _JUMP_PAUSE_S = 0.004, 0.01
"""A slice of the search for a bracket's partner, and the pause between two."""


class Repeats:
    """Calls that are made again and again, each under a name, until they are stopped."""

    def __init__(self, set_interval: Callable[[float, Callable[[], None]], Timer]) -> None:
        self._set_interval = set_interval
        self._timers: dict[str, Timer] = {}

    def every(self, name: str, seconds: float, call: Callable[[], None]) -> None:
        """Call again and again, unless that is done already."""
        if name not in self._timers:
            self._timers[name] = self._set_interval(seconds, call)

    def stop(self, name: str) -> bool:
        """No more of these calls; False if there were none."""
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.stop()
        return timer is not None


class Canvas(Protocol):
    """What shows a view (`Editor`)."""

    view: View | None

    @property
    def height(self) -> int:
        """Rows on the screen."""

    def repaint(self) -> None:
        """Paint the rows that are not as the screen has them."""

    def coloured(self, first: int, last: int) -> None:
        """Lines have other colours now."""

    def tell_moved(self) -> None:
        """What is said of the view elsewhere is to be looked at again."""

    def go(self, position: Position) -> None:
        """The user goes there."""


class Background:
    """The slices of one editor."""

    def __init__(self, canvas: Canvas, session: Session, repeats: Repeats) -> None:
        self.hunks = HunkMarks()
        self.ghost = GutterGhost(session)
        self.twins: tuple[Canvas, ...] = ()
        """Other editors that may show the same buffer, with the same colours."""
        self._canvas = canvas
        self._session = session
        self._repeats = repeats
        self._passed = 0
        """Times for colours that came, those that were left to an answer counted."""

    def after_repaint(self, view: View, *, calm: bool) -> None:
        """Begin whatever is not done yet; ``calm``: who looks is disturbed by motion."""
        every = self._repeats.every
        if self.ghost.walks:
            self.ghost.calm = calm
            every("ghost", CALM_STEP_S if calm else STEP_S, self.walk)
        if view.colours.pending:
            every("colours", _COLOURS_S, self._colour)
        if view.brackets.pending:
            every("brackets", _IDLE_S, self._match)
        if self.hunks.late:
            every("hunks", _HUNKS_S, self._look)
        elif self._repeats.stop("hunks"):
            self._canvas.tell_moved()
        if measure_on(view.wrapping, view.shown(self._canvas.height), 0.0):
            every("measures", _IDLE_S, self._measure)

    def jump(self, view: View) -> bool:
        """Go to the partner of the bracket at the cursor; False if there surely is none."""
        at = next_bracket(view.buffer, view.cursor.position)
        if at is None:
            return False
        pair = Brackets(view.buffer, view.colours.spans)
        pair.look(at)
        self._repeats.stop("jump")  # one that is still looked for for an earlier key
        self._jump(view, pair, view.cursor.moves)
        if pair.pending:
            step = partial(self._jump, view, pair, view.cursor.moves)
            self._repeats.every("jump", _JUMP_PAUSE_S, step)
        return pair.pair is not None or pair.pending

    def _jump(self, view: View, pair: Brackets, moves: int) -> None:
        """Look on for the partner, and go there unless the user went elsewhere."""
        if view is not self._canvas.view or view.cursor.moves != moves:
            self._repeats.stop("jump")
            return
        if pair.advance(_JUMP_BUDGET_S) and pair.pair is not None:
            self._canvas.go(pair.pair[1])
        if not pair.pending:
            self._repeats.stop("jump")

    def walk(self) -> None:
        """The ghost goes on while nothing else may change; with its last step it is gone."""
        if self.ghost.look():
            self._canvas.repaint()
            self._canvas.tell_moved()
        elif not self.ghost.walks:
            self._repeats.stop("ghost")

    def _look(self) -> None:
        view = self._canvas.view
        if view is None or self.hunks.look(self._session.workspace, view):
            self._canvas.repaint()

    def _colour(self) -> None:
        view = self._canvas.view
        if view is None or not view.colours.pending:
            self._repeats.stop("colours")
            return
        if view.colours.wait_s:
            return
        busy = self._session.status.busy
        self._passed += 1
        if busy and view.colours.loaded and self._passed % _BUSY_EVERY:
            return
        if done := view.colours.idle(_BUSY_BUDGET_S if busy else _IDLE_BUDGET_S):
            for canvas in (self._canvas, *self.twins):
                if canvas.view is not None and canvas.view.colours is view.colours:
                    canvas.coloured(*done)

    def _measure(self) -> None:
        view = self._canvas.view
        if view is None or not measure_on(
            view.wrapping, view.shown(self._canvas.height), _IDLE_BUDGET_S
        ):
            self._repeats.stop("measures")

    def _match(self) -> None:
        """Look on for the partner of the bracket at the cursor."""
        view = self._canvas.view
        if view is None or not view.brackets.pending:
            self._repeats.stop("brackets")
        elif view.brackets.advance(_IDLE_BUDGET_S, idle=True):
            self._canvas.repaint()
