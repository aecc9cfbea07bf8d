"""What travels is JSON that the other side can read."""

from __future__ import annotations

import json

from tui.core.wire.client.protocol import ClientProtocol


def test_half_a_character_that_a_user_pasted_is_valid_json() -> None:
    client = ClientProtocol()
    client.create({"model": "m", "input": [{"text": "caf\udce9 \ud83d"}]})
    (text,) = client.data_to_send()
    assert "\\u" not in text
    assert json.loads(text)["input"] == [{"text": "caf\ufffd \ufffd"}]
