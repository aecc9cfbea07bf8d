"""What a client does about each event of the server: responses and steering.

`core.wire.client.protocol` is the door in front of it, `troubles` takes the errors and
`ladder` the interrupts.
"""

from __future__ import annotations

from tui.core.wire.client.attribution import ambiguous, claimants, owner
from tui.core.wire.client.complaints import refuses_prewarm
from tui.core.wire.client.ladder import Ladder
from tui.core.wire.client.lane import End, Lane, LaneState
from tui.core.wire.client.steers import NO_ANSWER, Stage
from tui.core.wire.client.switchboard import Switchboard
from tui.core.wire.client.troubles import Troubles
from tui.core.wire.deltas import AnyDelta
from tui.core.wire.events import (
    Completed,
    Created,
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
    Unknown,
)

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
                self._board.events += lane.steers.give_back(why, Stage.SENT)
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
