"""What holds for every stream of frames."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tui.core.wire import events
from tui.core.wire.client.lane import HalfCharacter
from tui.core.wire.client.protocol import ClientProtocol
from tui.core.wire.client_events import decode_client
from tui.core.wire.endpoint_facts import Capabilities
from tui.core.wire.events import decode_server
from tui.core.wire.server.protocol import ServerProtocol

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)
TYPES = st.sampled_from(
    [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.output_item.done",
        "response.output_text.delta",
        "response.reasoning_summary_text.delta",
        "response.completed",
        "response.incomplete",
        "response.failed",
        "response.interrupt.accepted",
        "response.interrupt.failed",
        "response.steer.failed",
        "response.create",
        "response.interrupt",
        "response.steer",
        "error",
    ]
) | st.text(max_size=12)
FIELDS = st.sampled_from(
    ["response", "delta", "item", "item_id", "output_index", "stream_id", "error", "status"]
) | st.sampled_from(["input", "headers", "response_id", "previous_response_id", "generate"])
FRAMES = st.builds(
    lambda kind, fields: json.dumps({"type": kind, **fields}),
    TYPES,
    st.dictionaries(FIELDS, JSON, max_size=5),
)
TEXTS = FRAMES | st.text() | JSON.map(json.dumps)


@given(TEXTS)
@settings(max_examples=40)
def test_decoding_never_raises(text: str) -> None:
    event = decode_server(text)
    client_event = decode_client(text)
    assert client_event is not None
    try:
        value = json.loads(text)
    except ValueError:
        return
    assert (event is not None) == isinstance(value, dict)


@given(st.lists(TEXTS, max_size=20))
@settings(max_examples=25)
def test_neither_side_ever_raises(texts: list[str]) -> None:
    client, server = ClientProtocol(), ServerProtocol()
    client.create({"model": "m"})
    for now, text in enumerate(texts):
        client.receive_text(text, float(now))
        client.events_received()
        client.interrupt(now=float(now))
        client.tick(float(now))
        server.receive_text(text, now)
        for run in server.accept():
            run.finish()
        for answer in server.data_to_send():
            assert isinstance(json.loads(answer), dict)


@given(
    st.text(min_size=1).filter(lambda kind: not kind.startswith("response.") and kind != "error"),
    st.dictionaries(st.sampled_from(["a", "b", "c"]), JSON),
)
@settings(max_examples=30)
def test_an_unknown_event_survives_whole(kind: str, fields: dict[str, Any]) -> None:
    event = decode_server(json.dumps({"type": kind, **fields}, allow_nan=True))
    assert isinstance(event, events.Unknown)
    assert event.type == kind
    assert event.raw.keys() == {"type", *fields}


def frames_of(words: list[str], response_id: str, lane: str | None) -> list[str]:
    """One whole response as a server says it."""
    server = ServerProtocol(response_id)
    server.receive_text(
        json.dumps({"type": "response.create", **({"stream_id": lane} if lane else {})})
    )
    (run,) = server.accept()
    index = run.item_added({"type": "message"})
    for word in words:
        run.delta(index, word)
    run.item_done(index)
    run.finish()
    return server.data_to_send()


def heard(client: ClientProtocol, frames: list[str]) -> list[events.Event]:
    found: list[events.Event] = []
    for text in frames:
        client.receive_text(text, 0.0)
        found += client.events_received()
    return found


@given(st.lists(st.lists(st.text(max_size=5), max_size=6), min_size=2, max_size=4), st.data())
@settings(max_examples=25)
def test_interleaved_lanes_are_as_separate_lanes(
    lanes: list[list[str]], data: st.DataObject
) -> None:
    names = [None if number == 0 else f"lane{number}" for number in range(len(lanes))]
    streams = [
        frames_of(words, f"{number}_", name)
        for number, (words, name) in enumerate(zip(lanes, names, strict=True))
    ]
    together = ClientProtocol(Capabilities(lanes=True))
    for name in names:
        together.create({"model": "m"}, name)
    left = [list(stream) for stream in streams]
    mixed: list[str] = []
    while any(left):
        index = data.draw(st.sampled_from([n for n, stream in enumerate(left) if stream]))
        mixed.append(left[index].pop(0))
    received = heard(together, mixed)
    for name, stream in zip(names, streams, strict=True):
        alone = ClientProtocol(Capabilities(lanes=True))
        alone.create({"model": "m"}, name)
        assert [e for e in received if e.stream_id == name] == heard(alone, stream)
    assert not together.busy


@given(st.lists(st.text(max_size=5), max_size=6), st.integers(0, 40))
def test_a_stream_that_breaks_anywhere_gives_its_beginning_and_frees_the_lane(
    words: list[str], cut: int
) -> None:
    frames = frames_of(words, "", None)
    whole, broken = ClientProtocol(), ClientProtocol()
    for client in (whole, broken):
        client.create({"model": "m"})
    expected = heard(whole, frames)
    got = heard(broken, frames[:cut])
    broken.connection_lost("the connection broke")
    got += heard(broken, frames[cut:])
    assert got == expected[: len(got)]
    assert not broken.busy


@given(st.text(alphabet="a\N{GRINNING FACE}\N{SNOWMAN}\ud83d\ude00", max_size=12), st.data())
@settings(max_examples=60)
def test_text_cut_anywhere_in_utf16_comes_out_whole(text: str, data: st.DataObject) -> None:
    units = text.encode("utf-16-le", "surrogatepass")
    half = HalfCharacter()
    out = ""
    at = 0
    while at < len(units):
        size = 2 * data.draw(st.integers(1, 4))
        piece = units[at : at + size].decode("utf-16-le", "surrogatepass")
        at += size
        event = half.join(events.TextDelta("i", piece))
        out += event.delta if event else ""
    whole = units.decode("utf-16-le", "replace")
    # A lone first half at the very end still waits for its other half.
    assert out in (whole, whole.removesuffix("\N{REPLACEMENT CHARACTER}"))
