"""How long a server asks to be left alone, whichever way it says so."""

from __future__ import annotations

import json

from tests.support.tables import each
from tui.bridge.endpoints.openai_responses.stream import Retelling
from tui.bridge.upstream.sse import Message
from tui.core.wire.address import Address
from tui.core.wire.events import ErrorEvent, decode_server
from tui.core.wire.rate_limits import retry_after_s
from tui.core.wire.refusals import refusal
from tui.core.wire.server.protocol import ServerProtocol

NOON = "Sat, 21 Nov 2026 12:00:00 GMT"
LATER = "Sat, 21 Nov 2026 12:00:30 GMT"
SAID = [
    ({"Retry-After": "7"}, 7.0),
    ({"retry-after": " 1.5 "}, 1.5),
    ({"RETRY-AFTER": "0"}, 0.0),
    ({"Retry-After": LATER, "Date": NOON}, 30.0),
    ({"Retry-After": "Sat, 21 Nov 2026 11:00:00 GMT", "date": NOON}, 0.0),
    ({"Retry-After": "soon"}, None),
    ({"Retry-After": "-3"}, None),
    ({"Retry-After": "inf"}, None),
    ({"Retry-After": "nan"}, None),
    ({"Retry-After": ""}, None),
    ({"Date": NOON}, None),
    ({}, None),
]


@each("headers, seconds", SAID)
def test_every_reader_hears_the_same(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers) == seconds
    assert refusal(Address("wss://h.example/"), 429, b"", headers).retry_after_s == seconds
    lower = {name.lower(): value for name, value in headers.items()}
    assert ErrorEvent(429, headers=lower).retry_after_s == seconds
    server = ServerProtocol()
    server.receive_text('{"type":"response.create","model":"m","input":"hi"}')
    (run,) = server.accept()
    told = {"type": "error", "error": {"code": "rate_limit_exceeded", "headers": headers}}
    Retelling(run, Address("http://x/", {})).hear(Message("", json.dumps(told).encode()))
    passed = decode_server(server.data_to_send()[-1])
    assert isinstance(passed, ErrorEvent)
    assert passed.retry_after_s == seconds
