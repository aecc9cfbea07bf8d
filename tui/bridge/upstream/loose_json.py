"""JSON as providers write it: with lone halves of characters, and numbers that JSON has not."""

from __future__ import annotations

import json

import msgspec

from tui.bridge.endpoints.base import Unusable
from tui.core.wire.mending import mended_json
from tui.core.wire.weight import too_heavy


def value_of(data: bytes, *, mend: bool = False) -> object:
    """What a text of JSON says; of a list its first entry, as Google wraps its errors so.

    ``mend``: lone halves of characters are replaced; else they stay, for the other half may be in
    the next event.

    Raises:
        ValueError: it is no JSON.
        Broken: it is an object too deep or too crowded to be read.
    """
    if words := too_heavy(data):
        if data.lstrip().startswith(b"{"):
            raise Unusable(f"The endpoint sent a message {words}: it was not read.")
        raise ValueError(words)
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        try:
            value = json.loads(data)
        except RecursionError as error:
            raise ValueError(str(error)) from error
        value = mended_json(value) if mend else value
    return value[0] if isinstance(value, list) and value else value
