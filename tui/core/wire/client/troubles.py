"""Whose trouble an `error` event is, and what it ends (PROTOCOL sections 4, 6 and 7)."""

from __future__ import annotations

import msgspec

from tui.core.wire.client.complaints import (
    LIMIT_REACHED,
    STREAM_LIMIT,
    about_event_type,
    about_lane_names,
    is_refusal,
    names,
    refuses_prewarm,
)
from tui.core.wire.client.ladder import Ladder
from tui.core.wire.client.lane import Lane, LaneState
from tui.core.wire.client.switchboard import Switchboard
from tui.core.wire.events import ErrorEvent


class Troubles:
    """Follows the errors of one connection."""

    def __init__(self, board: Switchboard, ladder: Ladder) -> None:
        self._board = board
        self._ladder = ladder

    def take(self, event: ErrorEvent) -> None:
        """An error came."""
        board = self._board
        if event.code == LIMIT_REACHED:
            self._limit(event)
            return
        named = event.stream_id in board.book.names
        lane = board.lane_of(event) if named else self._blamed(event)
        if lane is None:
            board.events.append(event)
            return
        if named:
            board.book.echo()
        if self._unnameable(lane, event) or self._about_steering(lane, event):
            return
        if lane.prewarm and lane.working and refuses_prewarm(event):
            board.lessons.prewarm(False)
        if lane.error(event):
            board.give_back(lane, "the answer failed")
            board.hand_on(event, lane)
        self._ladder.follow_up(lane)

    def _blamed(self, event: ErrorEvent) -> Lane | None:
        """The lane that an error without a name is about; None: the connection itself."""
        book = self._board.book
        if not book.shared:
            return book.unnamed
        asked = [lane for lane in book if lane.busy and lane.stop.unanswered]
        steered = [lane for lane in book if lane.steers.undecided]
        starting = book.default.state is LaneState.SENT
        words = ("steer", "interrupt")
        about_it = any(about_event_type(event, word) for word in words)
        if is_refusal(event) and (about_it or not starting):
            stop = not names(event, "steer") or names(event, "interrupt")
            chosen = (asked or steered) if stop else (steered or asked)
            if chosen:
                return chosen[0]
        if book.default.working:
            return book.default
        waiting = [lane for lane in book if lane.state is LaneState.SENT]
        return waiting[0] if len(waiting) == 1 else None

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

    def _about_steering(self, lane: Lane, event: ErrorEvent) -> bool:
        """Whether a steering text is what the server cannot make anything of."""
        board, steers = self._board, lane.steers
        if lane.state in (LaneState.IDLE, LaneState.SENT):
            return about_event_type(event, "steer") and steers.belated()
        words = event.message or event.code or "the server does not know steering"
        steering = lane.state is LaneState.STEERING
        named = lane.state is LaneState.INTERRUPTING and names(event, "steer")
        if steering or named or lane.state in (LaneState.CREATED, LaneState.STREAMING):
            meant = event.status is not None or about_event_type(event, "steer")
            if steers.undecided and is_refusal(event) and meant:
                board.events += steers.refused(words)
                board.lessons.steer(lane.model, False)
                board.settle(lane)
                return True
        if steering and not lane.stop.belated(event, idle=False):
            # The successor could not be made.
            board.give_back(lane, words)
            lane.release()
        return steering

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
