"""JSON read in steps, for texts that would keep an event loop waiting if read in one call.

msgspec reads most messages in microseconds, but 16 MB of escapes in 40 ms, and half a character not
at all. Here no step takes more than 2 ms, whatever the text is; all of them together take several
times as long as msgspec.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from typing import Any, TypeVar

from tui.core.wire.mending import mended

SHORT_BYTES = 2**15
"""A text that is no longer takes no time to speak of, whatever it is."""
AT_ONCE_BYTES = 2**18
"""A text that is no longer takes msgspec some milliseconds at most."""
STEP_BYTES = 2**16
"""Of one string, or of what lies between two steps."""
STEP_VALUES = 500
_TOKEN = re.compile(rb"[ \t\r\n]{0,%d}([\[\]{}:,\"]|[-+.\w]{1,400})" % STEP_BYTES)
_SHORT = re.compile(rb'[^"\\\x00-\x1f]{0,64}"')
_NUMBER = re.compile(rb"-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?")
_WORDS = {b"true": True, b"false": False, b"null": None}
_LONGEST_ESCAPE = 6
_FIRST_BYTES = STEP_BYTES // 16**2
"""Of a string that may be short."""

_Result = TypeVar("_Result")
Reading = Generator[None, None, Any]
"""Yields after each step; returns what was read."""


class Pieces(list[str]):
    """A string as it was read, piece by piece; a character may be parted between two of them."""


def read(data: bytes | bytearray, *, mends: bool = True, pieced: str = "") -> Reading:
    """Read a text of JSON in UTF-8; deeper or more crowded than `weight` allows it must not be.

    ``mends``: half a character becomes U+FFFD, else it stays. ``pieced``: the key of a string of
    the outermost object that is returned as `Pieces`, not mended, if it is long.

    Raises ValueError while it is read: it is no JSON, has numbers of 400 digits, or 64 kB of blanks
    in one place.
    """
    return _Reader(data, mends).value(pieced)


class _Reader:
    """One text, and how far it was read."""

    def __init__(self, data: bytes | bytearray, mends: bool) -> None:
        self._data, self._mends = data, mends
        self._at = 0

    def value(self, pieced: str) -> Reading:
        """The value of the whole text."""
        within: list[tuple[Any, Any]] = []
        """What is open, each with the key of what is read now."""
        count, begun_at = 0, 0
        while True:
            count += 1
            if count > STEP_VALUES or self._at - begun_at > STEP_BYTES:
                count, begun_at = 0, self._at
                yield
            token = self._token()
            value: Any
            if token in (b"[", b"{"):
                value = [] if token == b"[" else {}
                if not self._closes(b"]" if token == b"[" else b"}"):
                    within.append((value, (yield from self._key(value))))
                    continue
            elif token == b'"':
                apart = bool(pieced) and len(within) == 1 and within[0][1] == pieced
                value = self._short() or (yield from self._long(apart=apart))
            else:
                value = self._scalar(token)
            while within:
                outer, key = within.pop()
                if key is None:
                    outer.append(value)
                else:
                    outer[key] = value
                token, value = self._token(), outer
                if token == b",":
                    within.append((outer, (yield from self._key(outer))))
                    break
                if token != (b"]" if key is None else b"}"):
                    raise ValueError(f"a comma or an end is missing at byte {self._at}")
            else:
                while rest := bytes(self._data[self._at : self._at + STEP_BYTES]):
                    if rest.strip(b" \t\r\n"):
                        raise ValueError(f"more than one value at byte {self._at}")
                    self._at += len(rest)
                    yield
                return value

    def _token(self) -> bytes:
        found = _TOKEN.match(self._data, self._at)
        if found is None:
            raise ValueError(f"a value is missing at byte {self._at}")
        self._at = found.end()
        return found[1]

    def _closes(self, sign: bytes) -> bool:
        """Whether this comes next, and pass it then."""
        begun_at = self._at
        if self._token() != sign:
            self._at = begun_at
        return self._at != begun_at

    def _key(self, outer: object) -> Generator[None, None, str | None]:
        """The key with its colon; None: this holds values without keys."""
        if not isinstance(outer, dict):
            return None
        if self._token() != b'"':
            raise ValueError(f"a key is missing at byte {self._at}")
        key: str = self._short() or (yield from self._long())
        if self._token() != b":":
            raise ValueError(f"a colon is missing at byte {self._at}")
        return key

    def _short(self) -> str:
        """A string of few characters without escapes; empty: it is none, or empty."""
        found = _SHORT.match(self._data, self._at)
        if found is None:
            return ""
        text = found[0][:-1].decode()
        self._at = found.end() if text else self._at
        return text

    def _long(self, *, apart: bool = False) -> Reading:
        """Any string."""
        pieces, whole, half, size = Pieces(), "", "", _FIRST_BYTES
        while True:
            window = bytes(self._data[self._at : self._at + size])
            bare = window.replace(b"\\\\", b"__").replace(b'\\"', b"__")
            end = cut = bare.find(b'"')
            if end < 0 and size < STEP_BYTES:
                size *= 16
                continue
            if end < 0:
                cut = self._cut(window, bare)
            text: str = half + json.loads(f'"{window[:cut].decode()}"')
            half = ""
            if self._mends and not apart:
                if end < 0 and "\ud800" <= text[-1:] <= "\udbff":
                    text, half = text[:-1], text[-1]
                text = mended(text)
            if apart:
                pieces.append(text)
            else:
                whole += text  # to join all at the end would take long
            self._at += cut
            if end >= 0:
                self._at += 1
                return pieces if len(pieces) > 1 else whole or "".join(pieces)
            yield

    def _cut(self, window: bytes, bare: bytes) -> int:
        """Where a string that does not end in a window can be parted: not within a sign."""
        if len(window) < STEP_BYTES:
            raise ValueError("a string has no end")
        cut = bare.find(b"\\", len(window) - _LONGEST_ESCAPE)
        cut = len(window) if cut < 0 else cut
        following = self._data[self._at + cut : self._at + cut + 1]
        while cut and following and following[0] & 0xC0 == 0x80:
            cut -= 1
            following = window[cut : cut + 1]
        return cut

    def _scalar(self, token: bytes) -> Any:
        """A number, or one of three words."""
        if token in _WORDS:
            return _WORDS[token]
        found = _NUMBER.fullmatch(token)
        if found is None:
            raise ValueError(f"no value at byte {self._at - len(token)}")
        return float(token) if found[1] or found[2] else int(token)
