"""What h2 knows of a connection, but for one rule: who says farewell still answers."""

from __future__ import annotations

from h2.connection import H2Connection
from h2.events import ConnectionTerminated, Event
from hyperframe.frame import Frame, GoAwayFrame


class H2State(H2Connection):
    """A connection to a server that may leave when it has answered.

    GOAWAY ends no stream up to the one that it names (RFC 9113, 6.8): load balancers say it to
    every connection in its time. h2 takes it for the end of the connection, and refuses whatever
    comes behind it.
    """

    def _receive_goaway_frame(self, frame: GoAwayFrame) -> tuple[list[Frame], list[Event]]:
        told = ConnectionTerminated()
        told.last_stream_id = frame.last_stream_id
        return [], [told]
