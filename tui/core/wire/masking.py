"""Keys and tokens out of text that is kept: recorded frames, headers, addresses.

A key inside a text is replaced by as many characters, so that what counts characters (a quoted
file's ``chars``) still adds up and a recording can be played back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote

MASK = "[key]"
SHORTEST = 6
"""Characters; a shorter secret would be found in every second word."""
_SECRET_NAMES = ("auth", "key", "token", "secret", "cookie", "password", "credential", "signature")
_NOT_SECRET = frozenset({"sec-websocket-key"})
_KEY_LIKE = (
    r"\b(?:sk|xai|gsk|csk)-(?=[\w-]*\d)[\w-]{8,}"
    r"|\b(?:sk|pk|rk|hf|gh[opsu]|nvapi|r8)[_-](?=[\w-]*\d)[\w-]{16,}"
    r"|(?<=[Bb]earer )(?=[\w.~+/-]*\d)[\w.~+/-]{16,}=*"
)
_HIDING = r"\\/|\\u00"
"""Escapes that JSON does not need: a key may be written with them."""
_QUERY = re.compile(r"(?P<name>[?&][^=&#\s]{1,64})=(?P<value>[^&#\s]+)")


class Mask:
    """Knows the secrets of a session."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """``secrets`` shorter than `SHORTEST` are left alone."""
        plain = {secret for secret in secrets if len(secret) >= SHORTEST}
        forms = {
            form
            for secret in plain
            for form in (secret, quote(secret, safe=""), json.dumps(secret)[1:-1])
        }
        ordered = [re.escape(form) for form in sorted(forms, key=len, reverse=True)]
        self._known = re.compile("|".join([*ordered, _KEY_LIKE]))
        self._suspect = re.compile("|".join([*ordered, _KEY_LIKE, _HIDING]))

    def text(self, text: str) -> str:
        """The text with every key in it replaced, as long as it was."""
        return self._known.sub(_covered, text)

    def frame(self, text: str) -> str:
        """A frame as one line of JSON; what is no JSON object is wrapped as ``_raw``."""
        if "\n" not in text and "\r" not in text and not self._suspect.search(text):
            if text.startswith("{") and _is_object(text):
                return text
            return _raw(text)
        try:
            value = json.loads(text)
            if isinstance(value, dict):
                return json.dumps(self._walked(value), separators=(",", ":"))
        except (ValueError, RecursionError):
            pass
        return _raw(self.text(text))

    def meta(self, meta: Mapping[str, object]) -> str:
        """What is no frame (a handshake, a close) as JSON, its headers masked by name too."""
        return json.dumps(self._walked(dict(meta)), separators=(",", ":"), default=str)

    def _walked(self, value: object, name: str = "") -> object:
        """The value with its strings masked; under "headers", those of a secret's name whole."""
        if isinstance(value, str):
            return _query_masked(self.text(value)) if name in ("path", "url") else self.text(value)
        if isinstance(value, dict):
            if name == "headers":
                return {str(key): self._header(str(key), item) for key, item in value.items()}
            return {self.text(str(key)): self._walked(item, key) for key, item in value.items()}
        if isinstance(value, list | tuple):
            if name == "headers":
                return [self._pair(item) for item in value]
            return [self._walked(item) for item in value]
        return value

    def _pair(self, item: object) -> object:
        if isinstance(item, list | tuple) and len(item) == 2:
            return [item[0], self._header(str(item[0]), item[1])]
        return self._walked(item)

    def _header(self, name: str, value: object) -> object:
        return MASK if is_secret_name(name) else self._walked(value)


def is_secret_name(name: str) -> bool:
    """Whether a header or a query parameter of this name holds a secret."""
    low = name.lower()
    return low not in _NOT_SECRET and any(word in low for word in _SECRET_NAMES)


def _query_masked(url: str) -> str:
    def masked(found: re.Match[str]) -> str:
        return f"{found['name']}={MASK}" if is_secret_name(found["name"]) else found[0]

    return _QUERY.sub(masked, url)


def _covered(found: re.Match[str]) -> str:
    length = len(found[0])
    return MASK.ljust(length, "*")[:length]


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _raw(text: str) -> str:
    return json.dumps({"_raw": text}, separators=(",", ":"))
