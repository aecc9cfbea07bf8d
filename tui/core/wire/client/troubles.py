"""Whose trouble an `error` event is, and what it ends (PROTOCOL sections 4, 6, 7 and 8).

Most errors bear no name. One that complains about a steer or an interrupt of ours ends nothing,
however late it comes and whatever its lane is called by now. Any other is the lane's that it can
only be about, which then knows that it ended. Where that is not certain the lanes that it may be
about are in doubt: one that goes on was not meant, and one that stays silent is over.
"""

from __future__ import annotations

import msgspec

from tui.core.wire.client.complaints import (
    LIMIT_REACHED,
    NOT_FOUND,
    STREAM_LIMIT,
    about_event_type,
    about_lane_names,
    is_refusal,
    is_vague,
    names,
    quotes,
    refuses_prewarm,
    tells,
)
from tui.core.wire.client.controls import KINDS, LATE_S, Control
from tui.core.wire.client.ladder import Ladder
from tui.core.wire.client.lane import DOUBT_S, Doubt, Lane, LaneState
from tui.core.wire.client.switchboard import Switchboard
from tui.core.wire.events import ErrorEvent, Failed


class Troubles:
    """Follows the errors of one connection."""

    def __init__(self, board: Switchboard, ladder: Ladder) -> None:
        self._board = board
        self._ladder = ladder

    def take(self, event: ErrorEvent, now: float) -> None:
        """An error came."""
        board = self._board
        if event.code == LIMIT_REACHED:
            self._limit(event)
            return
        named = event.stream_id in board.book.names
        known = board.lane_of(event)
        lanes = [known] if named and known is not None else self._blamed(event)
        lane = lanes[0] if len(lanes) == 1 else None
        if named:
            board.book.echo()
        if self._complains(event, lanes, now, named=named):
            return
        if lane is None:
            board.events.append(msgspec.structs.replace(event, stream_id=None))
            self.suspect(lanes, event, now)
        elif not self._unnameable(lane, event):
            self._end(lane, event)

    def suspect(
        self, lanes: list[Lane], event: ErrorEvent | Failed, now: float, response_id: str = ""
    ) -> None:
        """This may be the end of what one of these lanes does; see `Doubt`."""
        for lane in lanes:
            lane.suspect(Doubt(event, now + DOUBT_S, response_id))

    def steer_failed(self, response_id: str) -> None:
        """A steer of this response is answered: an error was not the answer to it."""
        for lane in self._board.book:
            if lane.doubt is not None and response_id and lane.doubt.response_id == response_id:
                self._end(lane, lane.doubt.event)

    def decide(self, lane: Lane) -> None:
        """Nothing came of a lane in doubt: it is over, and its socket cannot be relied on."""
        board, doubt = self._board, lane.doubt
        if doubt is None:
            return
        meant = [one for one in board.book if one.doubt and one.doubt.event is doubt.event]
        for one in meant:
            one.doubt = None
        if len(meant) > 1:
            board.part()
            return
        self._end(lane, doubt.event)
        if not any(other.busy for other in board.book):
            board.drop_reason = "the server did not say whether it had refused the request"

    def _end(self, lane: Lane, event: ErrorEvent | Failed) -> None:
        """It is about what this lane does, which is over."""
        board = self._board
        if lane.state is LaneState.STEERING:
            # The successor could not be made.
            board.give_back(lane, event.message or event.code or "no further answer began")
            lane.release()
            return
        if lane.prewarm and lane.working and refuses_prewarm(event):
            board.lessons.prewarm(False)
        if lane.error():
            board.give_back(lane, "the answer failed")
            board.hand_on(event, lane)

    def _blamed(self, event: ErrorEvent) -> list[Lane]:
        """The lanes that an error without a name can be about."""
        book = self._board.book
        if event.stream_id and (book.shared or self._foreign(event.stream_id)):
            return []
        if not book.shared:
            return [book.unnamed]
        if book.default.working:
            return [book.default]
        working = [lane for lane in book if lane.working]
        return [lane for lane in working if lane.state is LaneState.SENT] or working

    def _foreign(self, name: str) -> bool:
        """It is no lane of ours, not even in other letters, where we say the names of ours."""
        book = self._board.book
        ours = {one.casefold() for one in book.names}
        return bool(ours) and book.sole is None and name.casefold() not in ours

    def _complains(self, event: ErrorEvent, lanes: list[Lane], now: float, *, named: bool) -> bool:
        """Whether it complains about a control event of ours; if so, that is answered.

        ``lanes``: whose end it would be. Answers come in order, so the oldest one is meant.
        """
        controls = self._board.controls
        lane = lanes[0] if len(lanes) == 1 else None
        quoted = [kind for kind in KINDS if quotes(event, kind)]
        kinds = quoted or [kind for kind in KINDS if names(event, kind)] or KINDS
        mine = controls.open(lane if named else None)
        for control in mine or (controls.open() if quoted else []):
            if control.kind in kinds and (
                quoted or self._may_mean(event, control, lane, now, named=named)
            ):
                controls.settle(control)
                if not quoted:
                    self.suspect(lanes, event, now, control.response_id)
                self._refused(control, event)
                return True
        said_twice = any(controls.ever(kind) for kind in quoted)
        if said_twice:
            self.suspect(lanes, event, now)
        return said_twice

    def _may_mean(
        self, event: ErrorEvent, control: Control, lane: Lane | None, now: float, *, named: bool
    ) -> bool:
        """Whether this error can be the answer to a control event; ``lane``: or else its end."""
        if not is_refusal(event) or tells(event):
            return False
        in_time = control.awaited
        if not in_time and now - control.sent_at > LATE_S:
            return False
        waiting = lane if lane is not None and lane.state is LaneState.SENT else None
        if about_event_type(event, control.kind):
            # a request that has not begun may miss its parent
            return not (waiting and waiting.parent and event.code == NOT_FOUND)
        if waiting:
            return False
        if in_time and control.kind == "interrupt":
            return True
        if in_time:
            return is_vague(event) or (event.status is not None and not named)
        begun = lane is not None and lane.state in (LaneState.CREATED, LaneState.STREAMING)
        return is_vague(event) if begun else lane is None or lane.state is LaneState.IDLE

    def _refused(self, control: Control, event: ErrorEvent) -> None:
        """The server does not do what a control event asks for."""
        board, lane = self._board, control.lane
        words = event.message or event.code or f"the server does not know {control.kind}"
        if control.kind == "interrupt":
            if lane.state is LaneState.INTERRUPTING and lane.response_id == control.response_id:
                lane.stop.refuse(words)
                self._ladder.follow_up(lane)
            return
        news = lane.steers.refused(control.number, words)
        if news:
            board.events += news
            board.lessons.steer(lane.model, False)
            board.settle(lane)
        else:
            lane.steers.belated(control.response_id)

    def _unnameable(self, lane: Lane, event: ErrorEvent) -> bool:
        """The server minds the lane's name: the same create goes another way, unseen."""
        board = self._board
        if lane.state is not LaneState.SENT or lane.name is None:
            return False
        if event.code == STREAM_LIMIT:
            board.book.fill()
            board.book.evict(lane)
            return True
        if event.stream_id or not about_lane_names(event) or not board.book.alone(lane):
            return False
        board.book.adopt(lane)
        board.send_create(lane)
        return True

    def _limit(self, event: ErrorEvent) -> None:
        """The connection is too old: told to whoever waits, and left."""
        board = self._board
        board.limit_reached = True
        board.drop_reason = "the server's time limit for one connection was reached"
        board.book.evict_held()
        for lane in board.book:
            if lane.busy:
                board.give_back(lane, "the connection reached its time limit")
                lane.lost()
                board.events.append(msgspec.structs.replace(event, stream_id=lane.name))
