"""The ladder of stopping a response: ask, wait, drop the socket or look away (PROTOCOL 8)."""

from __future__ import annotations

from tui.core.wire.client.lane import Lane, LaneState
from tui.core.wire.client.steers import Stage
from tui.core.wire.client.switchboard import Switchboard
from tui.core.wire.events import InterruptAccepted, InterruptFailed


class Ladder:
    """Stops the responses of one connection."""

    def __init__(self, board: Switchboard) -> None:
        self._board = board

    def stop(self, lane: Lane, now: float) -> bool:
        """Begin; False if there is nothing to stop, or it is being done."""
        board = self._board
        board.care = True
        if lane.state is LaneState.HELD:
            board.book.leave(lane)
            board.give_back(lane, "it was stopped before it was sent")
            board.end(lane, "interrupted", "")
            board.pump()
            return True
        if not lane.interrupt(now):
            return False
        board.give_back(lane, "the answer was stopped", Stage.WAITING)
        if board.lessons.capabilities.interrupt.get(lane.model) is False:
            self._give_up(lane, "stopped: this endpoint stops only when the connection closes")
        else:
            self.ask(lane, now)
        return True

    def ask(self, lane: Lane, now: float) -> None:
        """Send the interrupt, if the response has an id by now."""
        if lane.state is LaneState.INTERRUPTING and lane.response_id:
            self._board.send_interrupt(lane, now)
            lane.stop.sent(now)

    def answered(self, event: InterruptAccepted | InterruptFailed) -> None:
        """The server's word about an interrupt."""
        board = self._board
        board.controls.stopped(event.response_id)
        lane = board.book.by_response(event.response_id)
        if lane is None and not any(other.bygones.knows(event.response_id) for other in board.book):
            # Relays that rewrite ids do not always map them back.
            asked = [other for other in board.book if other.stop.unanswered and other.busy]
            lane = asked[0] if len(asked) == 1 else None
        if lane is None:
            return
        board.controls.stopped(lane.response_id)
        if lane.answered(event):
            board.hand_on(event, lane)
            if lane.stop.accepted:
                board.lessons.interrupt(lane.model, True)
        self.follow_up(lane)

    def follow_up(self, lane: Lane) -> None:
        """Act on a refusal, if there was one."""
        if lane.stop.refusal:
            self._board.lessons.interrupt(lane.model, False)
            self._give_up(lane, f"stopped: {lane.stop.refusal}")

    def tick(self, lane: Lane, now: float) -> None:
        """Notice an interrupt that goes unanswered."""
        board = self._board
        if lane.stop.deadline is None or now < lane.stop.deadline:
            return
        lane.stop.deadline = None
        if lane.state is LaneState.STEERING and not lane.steers.promised(lane.response_id):
            board.give_back(lane, "the answer was stopped")
            lane.release()
            return
        if lane.state is LaneState.INTERRUPTING and lane.stop.unanswered:
            board.lessons.silence(board.lessons.capabilities.interrupt, lane.model)
        self._give_up(lane, "stopped: the server did not answer the interrupt in time")

    def abandon(self, lane: Lane) -> None:
        """Look away from a lane: nothing of its response is handed on any more."""
        board = self._board
        board.care = True
        if lane.state is LaneState.HELD:
            board.book.leave(lane)
        elif lane.busy:
            owed = lane.steers.undecided or lane.steers.promised(lane.response_id)
            lane.abandon(owed=owed)
            if board.book.unproven:
                board.book.evict_held()
        board.give_back(lane, "the conversation moved on")

    def _give_up(self, lane: Lane, reason: str) -> None:
        """The last resort: drop the socket, or only look away if others use it."""
        book = self._board.book
        if not any(other.working and other.busy for other in book if other is not lane):
            book.evict_held()
            self._board.drop_reason = reason
            return
        response_id = lane.response_id
        self.abandon(lane)
        self._board.end(lane, "abandoned", response_id)
