"""The policy of stopping a response: ask, wait, drop the socket or look away (PROTOCOL 8)."""

from __future__ import annotations

from tui.core.wire.client.lane import Lane, LaneState
from tui.core.wire.client.lanes import Lanes
from tui.core.wire.client.steers import SteerStage
from tui.core.wire.events import InterruptAccepted, InterruptFailed


class InterruptPolicy:
    """Stops the responses of one connection."""

    def __init__(self, lanes: Lanes) -> None:
        self._lanes = lanes

    def stop(self, lane: Lane, now: float) -> bool:
        """Begin; False if there is nothing to stop, or it is being done."""
        lanes = self._lanes
        lanes.care = True
        if lane.state is LaneState.HELD:
            lanes.leave(lane)
            lanes.give_back(lane, "it was stopped before it was sent")
            lanes.end(lane, "interrupted", "")
            lanes.pump()
            return True
        if not lane.interrupt(now):
            return False
        if lane.steers:
            lanes.give_back(lane, "the answer was stopped", SteerStage.WAITING)
        if lanes.learning.capabilities.interrupt.get(lane.model) is False:
            self._give_up(lane, "stopped: this endpoint stops only when the connection closes")
        else:
            self.ask(lane, now)
        return True

    def ask(self, lane: Lane, now: float) -> None:
        """Send the interrupt, if the response has an id by now."""
        if lane.state is LaneState.INTERRUPTING and lane.response_id:
            self._lanes.send_interrupt(lane, now)
            lane.stop.sent(now)

    def answered(self, event: InterruptAccepted | InterruptFailed) -> None:
        """Take the server's word about an interrupt."""
        lanes = self._lanes
        lanes.answered("interrupt", event.response_id)
        lane = lanes.by_response(event.response_id)
        if lane is None and not any(one.finished.knows(event.response_id) for one in lanes):
            # Relays that rewrite ids do not always map them back.
            asked = [other for other in lanes if other.stop.unanswered and other.busy]
            lane = asked[0] if len(asked) == 1 else None
        if lane is None:
            return
        lanes.answered("interrupt", lane.response_id)
        if lane.state is LaneState.INTERRUPTING:
            lane.stop.answered(event)
            lanes.hand_on(event, lane)
            if lane.stop.accepted:
                lanes.learning.learn_of("interrupt", lane.model, True)
        if lane.stop.refusal:
            self.refused(lane, lane.stop.refusal)

    def refused(self, lane: Lane, why: str) -> None:
        """Act on the server's refusal to stop a response."""
        self._lanes.learning.learn_of("interrupt", lane.model, False)
        self._give_up(lane, f"stopped: {why}")

    def tick(self, lane: Lane, now: float) -> None:
        """Notice an interrupt that goes unanswered."""
        lanes = self._lanes
        if lane.stop.deadline is None or now < lane.stop.deadline:
            return
        lane.stop.deadline = None
        if lane.state is LaneState.STEERING and not lane.steers.promised(lane.response_id):
            lanes.give_back(lane, "the answer was stopped")
            lane.release()
            return
        if lane.state is LaneState.INTERRUPTING and lane.stop.unanswered:
            lanes.learning.no_answer("interrupt", lane.model)
        self._give_up(lane, "stopped: the server did not answer the interrupt in time")

    def abandon(self, lane: Lane) -> None:
        """Look away from a lane: nothing of its response is handed on any more."""
        lanes = self._lanes
        lanes.care = True
        if lane.state is LaneState.HELD:
            lanes.leave(lane)
        elif lane.busy:
            lane.abandon(owed=lane.steers.undecided or lane.steers.promised(lane.response_id))
            if lanes.unproven:
                lanes.evict_held()
        lanes.give_back(lane, "the conversation moved on")

    def _give_up(self, lane: Lane, reason: str) -> None:
        """Drop the socket as the last resort, or only look away if others use it."""
        lanes = self._lanes
        if not any(other.working and other.busy for other in lanes if other is not lane):
            lanes.evict_held()
            lanes.drop_reason = reason
            return
        response_id = lane.response_id
        self.abandon(lane)
        lanes.end(lane, "abandoned", response_id)
