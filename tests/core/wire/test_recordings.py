"""Every recorded frame of real clients and servers through both protocols."""

from __future__ import annotations

from tests.support.client_playback import ClientPlayback
from tests.support.recordings import RecordedConnection, connections, names
from tests.support.tables import each
from tui.core.wire import events
from tui.core.wire.client.lane import LaneState
from tui.core.wire.client_events import Invalid, decode_client
from tui.core.wire.events import decode_server

CONNECTIONS = [pair for name in names() for pair in connections(name)]


def test_the_corpus_is_there() -> None:
    assert len(names()) > 40
    assert sum(len(pair.frames) for pair in CONNECTIONS) > 3000


@each("recorded", CONNECTIONS)
def test_the_client_is_in_the_right_state_after_every_frame(recorded: RecordedConnection) -> None:
    playback = ClientPlayback()
    for frame in recorded.frames:
        playback.play(frame)
    assert playback.checks >= len([frame for frame in recorded.frames if not frame.meta])
    states = playback.table.states.values()
    waits = [state for state in states if state not in (LaneState.IDLE, LaneState.ABANDONED)]
    assert playback.client.busy == bool(waits)
    if playback.gone:
        assert (waits, playback.client.deadline()) == ([], None)
        assert playback.client.data_to_send() == []


@each("recorded", CONNECTIONS)
def test_every_recorded_frame_has_a_type_that_we_know(recorded: RecordedConnection) -> None:
    strange = {"response.some_future_event", "codex.rate_limits"}
    for frame in recorded.frames:
        if frame.meta or "_raw" in frame.body:
            continue
        if frame.from_client:
            client_event = decode_client(frame.text)
            invalid = " " in frame.body.get("stream_id", "")
            assert isinstance(client_event, Invalid) == invalid
        else:
            event = decode_server(frame.text)
            assert event is not None
            assert isinstance(event, events.Unknown) == (frame.body["type"] in strange)
