from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.client_playback import ClientPlayback
from tests.support.recordings import FOLDER, RecordedConnection, connections, names
from tests.support.tables import each
from tui.core.conversation import user_item
from tui.core.files import file_block
from tui.core.wire import events
from tui.core.wire.client.lane import LaneState
from tui.core.wire.client_events import Invalid, decode_client
from tui.core.wire.events import decode_server
from tui.core.wire.recording import (
    RecordedExchange,
    exchanges,
    foreground,
    prompt_of,
    quoted_files,
    read,
)


def line(direction: str, t: object, frame: dict[str, Any], connection: int = 1) -> bytes:
    return json.dumps({"dir": direction, "t": t, "conn": connection, "frame": frame}).encode()


def create(text: str, lane: str | None = None, **fields: Any) -> dict[str, Any]:
    named = {"stream_id": lane} if lane else {}
    return {"type": "response.create", "model": "m", "input": [user_item(text)], **named, **fields}


def event(kind: str, response_id: str = "", lane: str | None = None, **fields: Any) -> Any:
    named = {"stream_id": lane} if lane else {}
    whole = {"response": {"id": response_id}} if response_id else {}
    return {"type": f"response.{kind}", **whole, **named, **fields}


def played(*lines: bytes) -> list[RecordedExchange]:
    return exchanges(read(lines).entries)


def kinds(exchange: RecordedExchange) -> list[str]:
    return [json.loads(a.text)["type"] if a.kind == "frame" else a.kind for a in exchange.acts]


def test_broken_lines_are_counted_and_time_never_runs_back() -> None:
    frame = event("created", "r")
    recording = read(
        [
            b"",
            b"not json\n",
            b"[1]",
            b'{"dir":"c2s"}',
            b'{"dir":"up","frame":{}}',
            b"\xff\xfe",
            b"[" * 100_000,
            line("c2s", 2.0, create("hi")),
            line("s2c", 1.0, frame),
            line("s2c", "soon", frame),
            line("s2c", float("nan"), frame),
            b'{"dir":"s2c","frame":{"type":"x"}}',
        ]
    )
    assert recording.broken == 6
    assert [entry.t for entry in recording.entries] == [2.0] * 5
    assert recording.entries[-1].connection == 0
    assert recording.about == {}


KEYS = ["input", "role", "content", "text", "model", "response", "id", "status", "output", "item"]
KEYS += ["delta", "code", "reason", "sent_close", "previous_response_id", "error", "stream_id"]
KEYS += ["generate", "type", "roles", "incomplete_details", "steer", "_raw", "response_id"]
ODD = st.recursive(
    st.none() | st.booleans() | st.floats() | st.sampled_from([10**400, -1, "m", "user", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=12,
)
TYPES = [f"response.{name}" for name in ("create", "created", "completed", "steer", "interrupt")]
FRAME = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from([*TYPES, "error"]) | ODD,
        "_meta": st.sampled_from(["close", "recording", "abort"]) | ODD,
        **dict.fromkeys(KEYS, ODD),
    },
)
LINE = st.fixed_dictionaries(
    {"dir": st.sampled_from(["c2s", "s2c"]), "frame": FRAME | ODD},
    optional={"t": ODD, "conn": ODD | st.integers(0, 2)},
)


@settings(max_examples=10)
@given(st.lists(LINE, max_size=12))
def test_nothing_in_a_file_makes_it_raise(lines: list[dict[str, Any]]) -> None:
    recording = read(json.dumps(line).encode() for line in lines)
    times = [entry.t for entry in recording.entries]
    assert times == sorted(times)
    assert not [t for t in times if not 0 <= t < float("inf")]
    played, _ = foreground(exchanges(recording.entries))
    for exchange in played:
        assert isinstance(exchange.prompt, str)
        assert all(block.path for block in quoted_files(exchange.request))
    assert isinstance(recording.about, dict)


def test_a_steered_successor_belongs_to_its_request() -> None:
    steer = {"type": "response.steer", "previous_response_id": "r1", "input": "shorter"}
    (found,) = played(
        line("c2s", 0, create("story")),
        line("s2c", 1, event("created", "r1")),
        line("c2s", 2, steer),
        line("s2c", 3, event("incomplete", "r1")),
        line("s2c", 3, event("created", "r2")),
        line("c2s", 4, {"type": "response.interrupt", "response_id": "r2"}),
        line("s2c", 5, event("incomplete", "r2")),
    )
    assert kinds(found)[1:] == [
        "steer",
        "response.incomplete",
        "response.created",
        "interrupt",
        "response.incomplete",
    ]
    assert found.acts[1].text == "shorter"


@each(
    "meta, code, by_user",
    [
        ({"_meta": "close", "code": 1011, "reason": "oops"}, 1011, False),
        ({"_meta": "abrupt_tcp_abort"}, None, False),
        ({"_meta": "close", "code": None, "reason": "stopped: no answer"}, None, True),
    ],
)
def test_what_is_open_on_a_socket_is_lost_with_it(
    meta: dict[str, Any], code: int | None, by_user: bool
) -> None:
    first, second = played(
        line("c2s", 0, create("one")),
        line("s2c", 1, event("created", "r1")),
        line("s2c", 2, meta),
        line("c2s", 3, create("one"), 2),
        line("s2c", 4, event("created", "r2"), 2),
        line("s2c", 5, event("completed", "r2"), 2),
        line("s2c", 6, meta, 2),
    )
    assert kinds(first) == ["response.created", "lost"]
    assert (first.acts[-1].code, first.acts[-1].by_user) == (code, by_user)
    assert kinds(second) == ["response.created", "response.completed"]


def test_titles_and_prewarms_are_not_the_conversation() -> None:
    found = played(
        line("c2s", 0, create("", generate=False, prompt_cache_key="a")),
        line("c2s", 1, create("hello", prompt_cache_key="a")),
        line("c2s", 2, create("a title", prompt_cache_key="b"), 2),
        line("c2s", 3, create("more")),
    )
    kept, elsewhere = foreground(found)
    assert [exchange.prompt for exchange in kept] == ["hello", "more"]
    assert elsewhere == 1


def test_the_prompt_is_what_the_user_typed_last() -> None:
    output = {"type": "function_call_output", "call_id": "c", "output": "done"}
    answer = {"type": "message", "role": "assistant", "content": []}
    files = user_item("Open files, as they stand in the editor now:\n...")
    assert prompt_of({"input": "plain"}) == "plain"
    assert prompt_of({"input": [user_item("one"), answer, files, user_item("two")]}) == "two"
    assert prompt_of({"input": [user_item("one"), output]}) == ""
    assert prompt_of({"input": [output, user_item("The user edited meanwhile:\n-a")]}) == ""
    assert prompt_of({"input": [user_item("one"), answer]}) == ""
    assert prompt_of({"input": [{"role": "user", "content": "easy"}, None, 5]}) == "easy"
    assert prompt_of({"input": [{"role": "user", "content": "easy"}]}) == "easy"
    assert prompt_of({}) == ""
    cut = user_item("Your last answer was interrupted by the user after 3 characters.")
    steered = [user_item("one"), cut, files, user_item("two"), user_item("and three")]
    assert prompt_of({"input": steered}) == "two\n\nand three"


def test_files_are_found_in_messages_and_in_outputs() -> None:
    whole = file_block("a.py", "one\n", state="active")
    part = file_block("b.py", "two\n", from_="3", to="4")
    output = {"type": "function_call_output", "output": file_block("c.py", "three\n")}
    request = {"input": [user_item(f"{whole}\n{part}"), output]}
    assert [block.path for block in quoted_files(request)] == ["a.py", "c.py"]


@each("name", names())
def test_every_recording_of_other_clients_is_understood(name: str) -> None:
    recording = read((FOLDER / name).read_bytes().splitlines())
    assert recording.broken == 0
    kept, _ = foreground(exchanges(recording.entries))
    assert bool(kept) != ("handshake_4" in name or "handshake_5" in name)
    assert all(exchange.ended for exchange in kept)
    assert kept == [] or kept[0].prompt


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
