"""Where an endpoint is, and whether a key may travel there."""

from __future__ import annotations

import pytest

from tests.support.tables import each
from tui.core.wire.address import Address, checked, is_loopback, shown
from tui.errors import EndpointError

KEY = {"Authorization": "Bearer sk-1"}


@each(
    "given, dialled",
    [
        ("wss://api.openai.com/v1/responses", "wss://api.openai.com/v1/responses"),
        ("https://api.openai.com/v1/responses?a=b", "wss://api.openai.com/v1/responses?a=b"),
        ("http://127.0.0.1:8801/v1/responses", "ws://127.0.0.1:8801/v1/responses"),
        ("  WSS://h.example/x\n", "wss://h.example/x"),
    ],
)
def test_web_addresses_become_socket_addresses(given: str, dialled: str) -> None:
    assert checked(Address(given, KEY)).url == dialled


@each(
    "url",
    ["", "localhost:8801", "ftp://h/x", "wss://", "wss://h:99999/", "ws://[::1/", "h.example"],
)
def test_what_is_no_address_is_refused_with_a_hint(url: str) -> None:
    with pytest.raises(EndpointError):
        checked(Address(url))


@each(
    "host",
    ["localhost", "LOCALHOST.", "a.localhost", "127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"],
)
def test_loopback_takes_a_key_in_clear_text(host: str) -> None:
    assert is_loopback(host)
    name = f"[{host}]" if ":" in host else host
    assert checked(Address(f"ws://{name}:1/v1/responses", KEY))


@each(
    "host", ["192.168.0.1", "0.0.0.0", "10.0.0.1", "localhost.example", "::2", "127.0.0.1.example"]
)
def test_beyond_loopback_no_key_travels_in_clear_text(host: str) -> None:
    assert not is_loopback(host)
    name = f"[{host}]" if ":" in host else host
    url = f"ws://{name}/v1/responses"
    for address in (
        Address(url, KEY),
        Address(url, {"api-key": "x"}),
        Address(f"{url}?api-key=x"),
        Address(f"ws://me:secret@{name}/"),
    ):
        with pytest.raises(EndpointError, match="clear text"):
            checked(address)
    assert checked(Address(url, {"OpenAI-Beta": "x"}))
    assert checked(Address(url.replace("ws:", "wss:"), KEY))


@each("key", ["sk-1\n", "sk-1\r\nX-Evil: 1", "sk-\u2026", "\x1b[A"])
def test_a_key_that_cannot_be_a_header_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(EndpointError, match="check the key") as raised:
        checked(Address("wss://h.example/", {"Authorization": f"Bearer {key}"}))
    assert "sk-" not in str(raised.value)


def test_what_is_shown_holds_no_secret_and_no_control_character() -> None:
    url = "wss://me:secret@h.example:8443/v1/\x1b[31mresponses?api-key=secret"
    assert shown(url) == "wss://h.example:8443/v1/?[31mresponses"
    assert "secret" not in repr(Address(url, KEY))
    assert "sk-1" not in repr(Address(url, KEY))
    assert shown("ws://[::1]:9/x") == "ws://[::1]:9/x"
