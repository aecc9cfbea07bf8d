"""Whose an event is where the server leaves a name or an id out, or gives another one.

Relays rewrite ids, and some servers say the lane's name on some events only. Either alone is
enough, but never against the other; what may be of several responses is nobody's (PROTOCOL
section 6).
"""

from __future__ import annotations

from tui.core.wire.client.lane import End, Lane, LaneState
from tui.core.wire.client.lane_book import LaneBook
from tui.core.wire.events import Created, Event


def claimants(book: LaneBook, event: Created) -> list[Lane]:
    """Named lanes that a beginning without their names may belong to."""
    if event.stream_id in book.names or book.sole is not None:
        return []
    if book.default.state is LaneState.SENT or book.by_response(event.response_id):
        return []
    return [lane for lane in book if lane.name and lane.working and not lane.response_id]


def owner(book: LaneBook, event: End) -> Lane | None:
    """Whose end this is; None: nobody's."""
    name, lane = event.response_id, book.called(event.stream_id)
    if not name or lane is None or lane.began_as(name):
        return lane
    other = next((one for one in book if one.in_flight and one.began_as(name)), None)
    if other is not None:
        return None if event.stream_id in book.names else other
    return None if any(one.bygones.knows(name) for one in book if one is not lane) else lane


def ambiguous(book: LaneBook, event: Event, lane: Lane) -> bool:
    """The event is of one of several responses, and the server does not say of which."""
    if event.stream_id in book.names or lane is not book.default or lane.working:
        return False
    return book.shared and sum(one.working for one in book) > 1
