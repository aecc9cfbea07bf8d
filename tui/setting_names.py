"""Names that a settings file may give: environment variables with keys, and headers."""

from __future__ import annotations

import re

from tui.core.wire.address import Address, checked
from tui.errors import EndpointError

_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OWN_HEADERS = frozenset({"host", "connection", "upgrade", "content-length", "transfer-encoding"})


def no_header(name: str) -> str:
    """Why this cannot be the name of a header that a user sets; empty if it can."""
    if not _HEADER_NAME.fullmatch(name):
        return 'is not the name of a header; write one like "api-key" or "Authorization"'
    if name.lower() in _OWN_HEADERS or name.lower().startswith("sec-websocket-"):
        return "is a header that the connection itself sets; remove it"
    return ""


def no_header_value(value: str) -> str:
    """Why this cannot be a header's value; empty if it can. The value is not in the text."""
    if value.isascii() and (value.isprintable() or not value):
        return ""
    return "holds a line break or a character that cannot be sent in a header"


def no_address(url: str) -> str:
    """Why this cannot be an endpoint's url; empty if it can."""
    try:
        checked(Address(url))
    except EndpointError as error:
        return f"is wrong: {error}"
    return ""


NO_VARIABLE = (
    "is not the name of an environment variable; set such a variable to the key, and give its"
    " name, never the key itself"
)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_KEY_LIKE = re.compile(r"(?:sk|pk|rk|gsk|csk|xai|hf|ghp|nvapi|tgp|fw|r8)_|(?=.*\d)(?=.*[a-z]).{20}")


def is_variable(name: str) -> bool:
    """Whether this can be a variable's name, and does not look like a key put in its place."""
    return bool(_VARIABLE.fullmatch(name)) and not _KEY_LIKE.match(name)
