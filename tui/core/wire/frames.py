"""An event as the text that travels: the same for a client and for a server."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from tui.core.wire.mending import mended_json

_encode = msgspec.json.encode


def frame(event: dict[str, Any]) -> str:
    """An event as the text of one frame, be there half a surrogate pair in it."""
    try:
        return _encode(event).decode()
    except UnicodeEncodeError:
        return json.dumps(event)


def request(event: dict[str, Any]) -> str:
    """The same of what is asked: a user may paste half a character, which no server takes."""
    try:
        return _encode(event).decode()
    except UnicodeEncodeError:
        return _encode(mended_json(event)).decode()
