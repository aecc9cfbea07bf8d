"""What an `error` event complains about, whose it is, and what it ends (PROTOCOL 4, 6, 7 and 8).

Hardly two servers say an error alike, and most errors bear no name. One that complains about a
steer or an interrupt of ours ends nothing, however late it comes and whatever its lane is called by
now. Any other is the lane's that it can only be about, which then knows that it ended. Where that
is not certain the lanes that it may be about are in doubt: one that goes on was not meant, and one
that stays silent is over.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from tui.core.wire.client.lane import DOUBT_S, Doubt, End, Lane, LaneState
from tui.core.wire.client.lanes import KINDS, LATE_S, Lanes, SentControl
from tui.core.wire.client.steers import SteerStage
from tui.core.wire.events import ErrorEvent, Failed, InterruptAccepted, InterruptFailed


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


LIMIT_REACHED = "websocket_connection_limit_reached"
"""The connection is too old; may come at any time."""
STREAM_LIMIT = "websocket_stream_limit_reached"
"""One lane name too many for this connection."""
NOT_FOUND = "response_not_found"
"""The response that is named is not there: one to steer, to stop or to go on from."""

_BAD_REQUEST = frozenset({None, 400, 404, 405, 422, 501})
_PASSING = frozenset(
    {LIMIT_REACHED, STREAM_LIMIT, "rate_limit_exceeded", "websocket_queue_full"}
    | {"previous_response_not_found", "invalid_api_key"}
)
"""Codes that can only mean a create or the connection."""
_VAGUE = frozenset({"", "invalid_request_error", "invalid_request", "bad_request", "error"})
_UNKNOWN_EVENT = frozenset({"unknown_event", "invalid_event", "unsupported_event", "unknown_type"})


def is_refusal(event: ErrorEvent) -> bool:
    """A status that says: I do not know this, or I do not do this."""
    return event.status in _BAD_REQUEST


def about_lane_names(event: ErrorEvent) -> bool:
    """The server does not want a `stream_id`."""
    if event.code == STREAM_LIMIT or not is_refusal(event):
        return False
    return event.code == "invalid_stream_id" or "stream_id" in event.param + event.message


def names(event: ErrorEvent, word: str) -> bool:
    """It says this very word, ``interrupt`` or ``steer``; "interrupted" is no complaint."""
    text = f"{event.code} {event.param} {event.message}".lower()
    return re.search(rf"{word}(?!ed)", text) is not None


def quotes(event: ErrorEvent, word: str) -> bool:
    """It says the full name of a control event; ``word``: ``interrupt`` or ``steer``."""
    return f"response.{word}" in f"{event.code} {event.param} {event.message}".lower()


def is_vague(event: ErrorEvent) -> bool:
    """A bad request, and not a word about which."""
    return event.status in _BAD_REQUEST - {None} and event.code in _VAGUE and not event.param


def about_event_type(event: ErrorEvent, word: str) -> bool:
    """The server does not know a control event; ``word``: ``interrupt`` or ``steer``."""
    if not is_refusal(event):
        return False
    message = event.message.lower()
    unknown = any(hint in message for hint in ("unknown", "unsupported", "invalid", "not support"))
    return (
        event.code in _UNKNOWN_EVENT
        or event.code == NOT_FOUND
        or event.param == "type"
        or names(event, word)
        or ("event" in message and unknown)
    )


def refuses_prewarm(event: ErrorEvent | Failed) -> bool:
    """Whether a prewarm that ended like this is refused for good, not only for now."""
    if event.code in _PASSING:
        return False
    return isinstance(event, Failed) or is_refusal(event)


class ErrorPolicy:
    """Follows the errors of one connection."""

    def __init__(self, lanes: Lanes, interrupts: InterruptPolicy) -> None:
        self.limit_reached = False
        """The server ends the connection for its age."""
        self._lanes = lanes
        self._interrupts = interrupts

    def take(self, event: ErrorEvent, now: float) -> None:
        """Take an error that came at ``now``, in seconds."""
        if event.code == LIMIT_REACHED:
            self._limit(event)
            return
        lanes = self._lanes
        named = event.stream_id in lanes.names
        known = lanes.called(event.stream_id)
        blamed = [known] if named and known is not None else self._blamed(event)
        if named:
            lanes.echo()
        if self._answers_control(event, blamed, now, named=named):
            return
        if len(blamed) != 1:
            lanes.events.append(replace(event, stream_id=None))
            self.suspect(blamed, event, now)
        elif not self._minds_name(blamed[0], event):
            self._end(blamed[0], event)

    def suspect(
        self, blamed: list[Lane], event: ErrorEvent | End, now: float, response_id: str = ""
    ) -> None:
        """Put lanes in doubt: this may be the end of what one of them does."""
        for lane in blamed:
            lane.suspect(Doubt(event, now + DOUBT_S, response_id))

    def steer_failed(self, response_id: str) -> None:
        """End the lane whose error was taken for the answer to a steer that is answered now."""
        for lane in self._lanes:
            if lane.doubt is not None and response_id and lane.doubt.response_id == response_id:
                self._end(lane, lane.doubt.event)

    def tick(self, lane: Lane, now: float) -> None:
        """Decide about a lane in doubt of which nothing came: it is over.

        Its socket cannot be relied on.
        """
        lanes, doubt = self._lanes, lane.doubt
        if doubt is None or now < doubt.deadline:
            return
        meant = [one for one in lanes if one.doubt and one.doubt.event is doubt.event]
        for one in meant:
            one.doubt = None
        if len(meant) > 1:
            lanes.part()
            return
        self._end(lane, doubt.event)
        if not any(other.busy for other in lanes):
            lanes.drop_reason = "the server did not say which request it had answered"

    def _end(self, lane: Lane, event: ErrorEvent | End) -> None:
        """End what the lane does: the event is about it."""
        lanes = self._lanes
        if isinstance(event, ErrorEvent | Failed):
            if lane.state is LaneState.STEERING:
                # The successor could not be made.
                lanes.give_back(lane, event.message or event.code or "no further answer began")
                lane.release()
                return
            if lane.prewarm and lane.working and refuses_prewarm(event):
                lanes.learning.learn("prewarm", False)
        if lane.error():
            lanes.give_back(lane, "the answer failed")
            lanes.hand_on(event, lane)

    def _blamed(self, event: ErrorEvent) -> list[Lane]:
        """The lanes that an error without a name can be about."""
        lanes, name = self._lanes, event.stream_id
        ours = {one.casefold() for one in lanes.names}
        # Not even in other letters, where we say the names of ours.
        foreign = bool(ours) and lanes.sole is None and (name or "").casefold() not in ours
        if name and (lanes.shared or foreign):
            return []
        if not lanes.shared:
            return [lanes.unnamed]
        if lanes.default.working:
            return [lanes.default]
        working = [lane for lane in lanes if lane.working]
        return [lane for lane in working if lane.state is LaneState.SENT] or working

    def _answers_control(
        self, event: ErrorEvent, blamed: list[Lane], now: float, *, named: bool
    ) -> bool:
        """Whether it complains about a control event of ours; if so, that is answered.

        ``blamed``: whose end it would be. Answers come in order, so the oldest one is meant.
        """
        lanes = self._lanes
        lane = blamed[0] if len(blamed) == 1 else None
        quoted = [kind for kind in KINDS if quotes(event, kind)]
        kinds = quoted or [kind for kind in KINDS if names(event, kind)] or KINDS
        mine = [one for one in lanes.controls if not named or one.lane is lane]
        for control in mine or (tuple(lanes.controls) if quoted else ()):
            if control.kind in kinds and (
                quoted or _may_answer(event, control, lane, now, named=named)
            ):
                lanes.controls.remove(control)
                if not quoted:
                    self.suspect(blamed, event, now, control.response_id)
                self._control_refused(control, event)
                return True
        said_twice = any(kind in lanes.kinds_sent for kind in quoted)
        if said_twice:
            self.suspect(blamed, event, now)
        return said_twice

    def _control_refused(self, control: SentControl, event: ErrorEvent) -> None:
        """Act on the server's refusal of a control event."""
        lanes, lane = self._lanes, control.lane
        words = event.message or event.code or f"the server does not know {control.kind}"
        if control.kind == "interrupt":
            if lane.state is LaneState.INTERRUPTING and lane.response_id == control.response_id:
                self._interrupts.refused(lane, words)
            return
        news = lane.steers.refused(control.number, words)
        if news:
            lanes.events += news
            lanes.learning.learn_of("steer", lane.model, False)
            lanes.settle(lane)
        else:
            lane.steers.take_overdue(control.response_id)

    def _minds_name(self, lane: Lane, event: ErrorEvent) -> bool:
        """Whether the server minds the lane's name: the same create goes another way, unseen."""
        lanes = self._lanes
        if lane.state is not LaneState.SENT or lane.name is None:
            return False
        if event.code == STREAM_LIMIT:
            lanes.full = True
            lanes.evict(lane)
            return True
        if event.stream_id or not about_lane_names(event) or not lanes.alone(lane):
            return False
        lanes.adopt(lane)
        lanes.send_create(lane)
        return True

    def _limit(self, event: ErrorEvent) -> None:
        """Leave a connection that is too old, and tell it to whoever waits."""
        lanes = self._lanes
        self.limit_reached = True
        lanes.drop_reason = "the server's time limit for one connection was reached"
        lanes.evict_held()
        for lane in lanes:
            if lane.busy:
                lanes.give_back(lane, "the connection reached its time limit")
                lane.lost()
                lanes.events.append(replace(event, stream_id=lane.name))


def _may_answer(
    event: ErrorEvent, control: SentControl, lane: Lane | None, now: float, *, named: bool
) -> bool:
    """Whether this error can be the answer to a control event; ``lane``: or else its end."""
    if not is_refusal(event) or event.code in _PASSING:
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
