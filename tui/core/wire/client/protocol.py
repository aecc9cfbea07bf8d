"""The client's side of the wire without any I/O: one connection, its lanes, steering, interrupts.

Its owner feeds `receive_text` with every text frame, takes `events_received` after each, writes
`data_to_send`, calls `tick` when `deadline` is reached, moves what `homeless` gives to another
socket, and drops this one once `should_drop`. Every event that is handed on bears the name of its
lane in `stream_id`, whether or not the server said it. A protocol lives as long as its socket;
`Capabilities` outlive it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec.structs import force_setattr

from tui.core.wire.client.lane import DOUBT_S, Doubt, End, Lane, LaneState
from tui.core.wire.client.lanes import (
    KINDS,
    LATE_S,
    Control,
    Lessons,
    Switchboard,
    ambiguous,
    claimants,
    owner,
)
from tui.core.wire.client.steers import NO_ANSWER, SteerStage
from tui.core.wire.endpoint_facts import Capabilities as Capabilities
from tui.core.wire.events import (
    UNUSUAL,
    AnyDelta,
    Completed,
    Created,
    Delta,
    ErrorEvent,
    Event,
    Failed,
    Incomplete,
    InjectCreated,
    InjectFailed,
    InProgress,
    InterruptAccepted,
    InterruptFailed,
    Progress,
    Queued,
    SteerAccepted,
    SteerFailed,
    SteerPending,
    SummaryDelta,
    ToolDelta,
    Unknown,
    decode_in_steps,
    decode_typed,
    decode_unusual,
    told,
)
from tui.errors import WireError


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
        board.give_back(lane, "the answer was stopped", SteerStage.WAITING)
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


def tells(event: ErrorEvent) -> bool:
    """Its code can only mean a create or the connection."""
    return event.code in _PASSING


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


NO_STEERING = "steering_not_supported"


class Reception:
    """Takes the events of one connection."""

    def __init__(self, board: Switchboard, ladder: Ladder) -> None:
        self._board = board
        self._ladder = ladder
        self._troubles = Troubles(board, ladder)

    def take(self, event: Event, now: float) -> None:
        """Take an event that came at ``now``, in seconds, and is no piece of text."""
        board = self._board
        if isinstance(event, SteerAccepted | SteerPending | SteerFailed):
            self._steered(event, now)
        elif isinstance(event, InterruptAccepted | InterruptFailed):
            self._ladder.answered(event)
        elif isinstance(event, ErrorEvent):
            self._troubles.take(event, now)
        elif isinstance(event, Unknown | InjectCreated | InjectFailed):
            self._pass(event)
        else:
            self._response(event, now)
        board.pump()

    def take_delta(self, lane: Lane, event: AnyDelta, now: float) -> None:
        """Take a piece of text that the short cut does not take."""
        begun = lane.begun
        if ambiguous(self._board.book, event, lane):
            self._board.part()
            self._board.care = True
            return
        if lane.receive(event):
            whole = event if lane.half.clean(event.delta) else lane.half.join(event)
            if whole is not None:
                self._board.hand_on(whole, lane)
        if not begun or lane.prewarm:
            self._stop_prewarm(lane, now)
            self._board.pump()

    def tick(self, lane: Lane, now: float) -> None:
        """Notice what the server did not say in time."""
        board = self._board
        late = lane.steers.expire(now)
        if late:
            board.events += late
            if any(news.why == NO_ANSWER for news in late):
                board.lessons.silence(board.lessons.capabilities.steer, lane.model)
            board.settle(lane, promised=any(news.why != NO_ANSWER for news in late))
        self._ladder.tick(lane, now)
        if lane.doubt is not None and now >= lane.doubt.deadline:
            self._troubles.decide(lane)

    def _pass(self, event: Unknown | InjectCreated | InjectFailed) -> None:
        """Hand on what changes nothing, with its lane's name if it has one."""
        lane = self._board.lane_of(event)
        if lane is None:
            self._board.events.append(event)
        else:
            self._board.hand_on(event, lane)

    def _response(self, event: Event, now: float) -> None:
        """An event of a response."""
        lane = self._lane_of(event)
        if lane is None:
            self._unclaimed(event, now)
            return
        if event.stream_id and event.stream_id == lane.name:
            self._board.book.echo()
        parent = lane.response_id or lane.parent
        stopping = lane.state is LaneState.INTERRUPTING
        if not lane.receive(event):
            self._unclaimed(event, now)
            if isinstance(event, Created):
                self._unwanted(lane, now)
        elif isinstance(event, Created):
            self._created(lane, event, now, parent=parent)
        elif isinstance(event, Completed | Incomplete | Failed):
            self._ended(lane, event, now, stopping=stopping)
        else:
            self._board.hand_on(event, lane)
        self._stop_prewarm(lane, now)

    def _unclaimed(self, event: Event, now: float) -> None:
        """A failure under the id of an ended response may still be that of the next one."""
        lane = self._board.lane_of(event)
        if isinstance(event, Failed) and lane is not None:
            self._troubles.suspect([lane], event, now)

    def _lane_of(self, event: Event) -> Lane | None:
        """Whose event of a response this is; None: nobody's."""
        board = self._board
        lane = board.lane_of(event)
        if isinstance(event, Created):
            lane = self._claimed(event, lane)
        elif isinstance(event, Completed | Incomplete | Failed):
            lane = owner(board.book, event)
        elif isinstance(event, InProgress | Queued | Progress):
            return lane
        if lane is not None and ambiguous(board.book, event, lane):
            board.part()
            return None
        return lane

    def _claimed(self, event: Created, lane: Lane | None) -> Lane | None:
        """Whose response this is; a missing echo is noticed here (PROTOCOL section 6)."""
        book = self._board.book
        found = claimants(book, event)
        if not found:
            return lane
        if len(found) == 1 and (book.echoed or book.alone(found[0])):
            if not book.echoed:
                book.adopt(found[0])
            return found[0]
        self._board.part()
        return None

    def _created(self, lane: Lane, event: Created, now: float, *, parent: str) -> None:
        """A response of ours began: by itself, it is the successor of a steered one."""
        used = lane.steers.succeeded(parent) if parent else []
        if used:
            self._board.lessons.steer(lane.model, True)
        self._board.events += used
        self._board.hand_on(event, lane)
        if lane.state is LaneState.INTERRUPTING:
            self._ladder.ask(lane, now)
        else:
            self._board.send_steers(lane, now)

    def _unwanted(self, lane: Lane, now: float) -> None:
        """A response that nobody waits for began: stop it where that is known to work."""
        works = self._board.lessons.capabilities.interrupt.get(lane.model)
        if works and lane.state is LaneState.ABANDONED and lane.response_id:
            self._board.send_interrupt(lane, now)

    def _ended(self, lane: Lane, event: End, now: float, *, stopping: bool) -> None:
        """A response of ours is over; its steering texts may have a successor coming."""
        reason = event.reason if isinstance(event, Incomplete) else ""
        if lane.prewarm:
            event = self._prewarmed(lane, event)
        if isinstance(event, Failed) or reason == "interrupted":
            self._board.give_back(lane, "the answer was stopped" if reason else "the answer failed")
        else:
            parent, steered = lane.response_id, reason == "steered"
            if lane.ghosts.expected:
                # This server does answer, if late: the cut was for a text that was given back
                # already, and one without an answer by now came too late for it.
                why = "the answer was cut for an earlier text"
                self._board.events += lane.steers.give_back(why, SteerStage.SENT)
            news = lane.steers.ended(parent, steered=steered, calls=lane.calls)
            if any(one.fate == "accepted" for one in news):
                self._board.lessons.steer(lane.model, True)
            self._board.events += news
            if lane.steers.owed(parent):
                lane.await_successor(now, stopping=stopping)
        self._board.hand_on(event, lane)

    def _prewarmed(self, lane: Lane, event: End) -> End:
        """The end of a prewarm; one that generated something is no prewarm, and no parent."""
        if lane.generated or event.response.get("output"):
            self._board.lessons.prewarm(False)
            words = "the endpoint generated an answer where none was wanted"
            error = {"code": "prewarm_generated", "message": words}
            return Failed({"id": event.response_id, "status": "failed", "error": error})
        if isinstance(event, Completed):
            self._board.lessons.prewarm(True)
        elif isinstance(event, Failed) and refuses_prewarm(event):
            self._board.lessons.prewarm(False)
        return event

    def _stop_prewarm(self, lane: Lane, now: float) -> None:
        """One that generates is stopped like any answer."""
        if lane.prewarm and lane.generated and lane.busy:
            self._board.lessons.prewarm(False)
            self._ladder.stop(lane, now)

    def _steered(self, event: SteerAccepted | SteerPending | SteerFailed, now: float) -> None:
        """The server's word about a steering text."""
        parent = event.steer.get("previous_response_id")
        parent = parent if isinstance(parent, str) else ""
        known = (lane for lane in self._board.book if lane.steers.knows(parent))
        lane = (
            next(known, None) or self._board.book.by_response(parent) or self._board.lane_of(event)
        )
        if lane is None:
            return
        refused = isinstance(event, SteerFailed)
        current = "" if lane.state is LaneState.STEERING else lane.response_id
        news = lane.steers.answered(event, current if lane.busy else "", now)
        self._board.controls.steered(news, parent)
        self._board.events += news
        if not refused and news:
            self._board.lessons.steer(lane.model, True)
        elif isinstance(event, SteerFailed):
            if event.error.get("code") == NO_STEERING:
                self._board.lessons.steer(lane.model, False)
            self._troubles.steer_failed(parent)
        if news:
            self._board.settle(lane)
        elif lane.steers.belated(parent):
            self._belated(lane, parent, refused=refused)
        elif refused:
            lane.unhaunt()

    def _belated(self, lane: Lane, parent: str, *, refused: bool) -> None:
        """An answer about a text that was given back: accepted, it has a successor anyway."""
        if refused:
            return
        self._board.lessons.steer(lane.model, True)
        running = lane.response_id == parent and lane.in_flight
        over = lane.state in (LaneState.IDLE, LaneState.HELD, LaneState.SENT)
        if running or (over and not lane.steers.stalled(parent)):
            lane.haunt()


_STEERABLE = (
    LaneState.HELD,
    LaneState.SENT,
    LaneState.CREATED,
    LaneState.STREAMING,
    LaneState.STEERING,
)


class ClientProtocol:
    """One connection, seen from the client."""

    def __init__(self, capabilities: Capabilities | None = None) -> None:
        self.capabilities = Capabilities() if capabilities is None else capabilities
        """What is learnt goes in here."""
        self.closed = False
        self.unreadable = 0
        """Frames that held no JSON object: skipped, but signs of life."""
        self.lessons = Lessons(self.capabilities)
        """Its ``news`` tells that `capabilities` changed; the owner resets it."""
        self._board = Switchboard(self.lessons)
        self._ladder = Ladder(self._board)
        self._reception = Reception(self._board, self._ladder)
        self._book = self._board.book
        self._lanes = self._book.lanes
        self._numbers = itertools.count(1)

    @property
    def should_drop(self) -> bool:
        """The socket has to go: only that stops the response, or the server wants it."""
        return bool(self._board.drop_reason)

    @property
    def drop_reason(self) -> str:
        """Why the socket is to be dropped, in words; empty: it is not."""
        return self._board.drop_reason

    @property
    def limit_reached(self) -> bool:
        """The server ends this connection for its age."""
        return self._board.limit_reached

    @property
    def needs_care(self) -> bool:
        """Something is to be written, moved, waited for or dropped; `data_to_send` resets it."""
        return self._board.care

    @property
    def busy(self) -> bool:
        """Someone waits for a response on some lane; abandoned lanes do not count."""
        return any(lane.busy for lane in self._book)

    @property
    def working(self) -> bool:
        """The server works for some lane, abandoned ones too."""
        return any(lane.working for lane in self._book)

    @property
    def lanes_used(self) -> tuple[str, ...]:
        """Names used on this socket; the default lane has none."""
        return self._book.names

    def lane(self, name: str | None = None) -> Lane:
        """The lane of this name; made when it is first asked for."""
        return self._book.lane(name)

    def takes(self, lane: str | None) -> bool:
        """Whether a create on this lane can go out on this socket."""
        return not self.closed and not self.should_drop and self._book.takes(lane)

    def create(self, request: Mapping[str, Any], lane: str | None = None, now: float = 0.0) -> None:
        """Queue a `response.create`; ``request`` is without the envelope but for ``generate``.

        It may be held here until it can go out, or become homeless. Raises WireError if the lane
        is busy or abandoned, if it has no usable name, or if the connection is gone.
        """
        if self.closed or self.should_drop:
            raise WireError("The connection is closed: open it again, then send.")
        place = self._book.admit(lane, dict(request))
        if place is not None:
            self._board.events += place.steers.strand(place.parent)
        self._board.pump()
        if place is not None:
            self._book.forks.hold_back(place, now)

    def steer(self, text: str, lane: str | None = None, now: float = 0.0) -> int | None:
        """Add input to the lane's response; its number in the `SteerNews` that follow.

        Before the response has an id the text waits for it. None: there is nothing to steer, or
        the model is known not to be steered; nothing is sent then.
        """
        place = self._lanes.get(lane)
        if self.closed or self.should_drop or place is None or place.state not in _STEERABLE:
            return None
        unknown = place.state in (LaneState.CREATED, LaneState.STREAMING) and not place.response_id
        if unknown or place.prewarm or place.stopping:
            return None
        if self.capabilities.steer.get(place.model) is False:
            return None
        number = next(self._numbers)
        place.steers.add(number, text)
        if place.state is not LaneState.STEERING:
            self._board.send_steers(place, now)
        self._board.care = True
        return number

    def interrupt(self, lane: str | None = None, now: float = 0.0) -> bool:
        """Stop what the lane streams: no delta of it passes from now on.

        A create that is held here is answered at once. A lane at rest is left alone, and so is
        one that is being interrupted (returns False).
        """
        place = self._lanes.get(lane)
        return place is not None and self._ladder.stop(place, now)

    def throttle(self, tokens_s: float | None, lane: str | None = None) -> None:
        """Have what the lane streams come at this rate; None: as it comes.

        Our own bridge's event: whoever else is at the other end does not know it.
        """
        place = self._lanes.get(lane)
        if not self.closed and place is not None:
            self._board.send_throttle(place, tokens_s)

    def abandon(self, lane: str | None = None) -> None:
        """Look away: nothing of the lane's response is handed on, and it takes no new create."""
        place = self._lanes.get(lane)
        if place is not None:
            self._ladder.abandon(place)
            self._board.pump()

    def forsaken(self, lane: str | None = None) -> None:
        """The server ends the connection, or has been waited for long enough.

        A prewarm that is in flight on this lane went unanswered.
        """
        place = self._lanes.get(lane)
        if place is not None and place.prewarm and place.working and not self.limit_reached:
            self.lessons.unwarmed()

    def homeless(self) -> list[tuple[str | None, dict[str, Any]]]:
        """Lane and request of creates that this socket cannot carry; taken away by the call.

        They were never answered, and are to be made on another socket before this one is dropped.
        """
        found, self._book.homeless = self._book.homeless, []
        return found

    def receive_text(self, data: str | bytes | bytearray, now: float) -> None:
        """Take one text frame that came at ``now``, in seconds. Never raises."""
        try:
            event: Event | SummaryDelta | ToolDelta | None = decode_typed(data)
        except UNUSUAL:
            event = decode_unusual(data)
        if isinstance(event, Delta):
            name = event.stream_id
            lane = self._lanes.get(name) if name else self._book.unnamed
            if lane is None:
                lane = self._book.called(name)
                if lane is None:
                    return
            if lane.name is not name and lane.name != name:
                force_setattr(event, "stream_id", lane.name)
            if lane.flowing and not lane.half.waiting and event.delta.isascii():
                self._board.events.append(event)
            else:
                self._reception.take_delta(lane, event, now)
        elif isinstance(event, SummaryDelta):
            self._take_delta(event.told, now)
        elif isinstance(event, ToolDelta):
            self._take_progress(event, now)
        elif event is None:
            self.unreadable += 1
        elif not self.closed:
            self._reception.take(event, now)

    def receive_long(self, data: bytes | bytearray, now: float) -> Iterator[None]:
        """Take one text frame of any length in steps; after each there may be events."""
        readable = False
        for event in decode_in_steps(data):
            readable = readable or event is not None
            if isinstance(event, Delta):
                self._take_delta(event, now)
            elif event is not None and not self.closed:
                self._reception.take(event, now)
            yield
        self.unreadable += not readable

    def refuse(self, why: str) -> None:
        """Take note that the server sent what no endpoint of ours sends; ``why`` in words."""
        self._board.care = True
        self._board.drop_reason = why

    def connection_lost(self, reason: str) -> None:
        """The socket is gone: nothing is in flight any more, nothing can be sent.

        `events_received` gives the steering texts back after it.
        """
        board = self._board
        self.closed = True
        board.drop_reason = board.drop_reason or reason
        board.frames.clear()
        self._book.clear()
        for lane in self._book:
            board.give_back(lane, reason)
            lane.lost()

    def events_received(self) -> list[Event]:
        """Events since the last call, in order."""
        board = self._board
        events, board.events = board.events, []
        return events

    def data_to_send(self) -> list[str]:
        """Text frames to write, in order."""
        board = self._board
        board.care = False
        frames, board.frames = board.frames, []
        return frames

    def deadline(self) -> float | None:
        """When `tick` is due, in seconds; None: never."""
        times = [time for lane in self._book for time in lane.deadlines]
        fork = self._book.forks.deadline
        return min(times if fork is None else [*times, fork], default=None)

    def tick(self, now: float) -> None:
        """Notice interrupts, steering texts and forks that were waited for long enough."""
        self._book.forks.tick(now)
        for lane in self._book:
            self._reception.tick(lane, now)
        self._board.pump()

    def _take_progress(self, event: ToolDelta, now: float) -> None:
        """A tool of the server's own is at work: nothing changes while an answer streams."""
        lane, progress = self._book.called(event.stream_id), told(event)
        if lane is not None and lane.flowing:
            self._board.hand_on(progress, lane)
        elif not self.closed:
            self._reception.take(progress, now)

    def _take_delta(self, delta: AnyDelta, now: float) -> None:
        """A piece of text that does not come by the short cut."""
        lane = self._board.lane_of(delta)
        if lane is not None:
            self._reception.take_delta(lane, delta, now)
