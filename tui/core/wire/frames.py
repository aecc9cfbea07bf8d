"""An event as the text that travels: the same for a client and for a server."""

from __future__ import annotations

import json
from typing import Any

import msgspec

_encode = msgspec.json.encode


def frame(event: dict[str, Any]) -> str:
    """An event as the text of one frame, be there half a surrogate pair in it."""
    try:
        return _encode(event).decode()
    except UnicodeEncodeError:
        return json.dumps(event)
