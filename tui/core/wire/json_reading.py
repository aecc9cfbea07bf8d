"""JSON of any size read without keeping an event loop waiting: weighed, read in steps, mended.

A text of 16 MB with long strings is read in some milliseconds; of empty lists it would take
seconds, and thirty times its length in memory. So whatever is longer than `UNWEIGHED_BYTES` is
weighed while it comes, piece by piece, without a step of Python per byte. msgspec reads most
messages in microseconds, but 16 MB of escapes in 40 ms, and half a character not at all: `read`
takes no step longer than 2 ms, whatever the text is; all of them together take several times as
long as msgspec. Mended is what JSON may escape but UTF-8 cannot hold.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Generator
from itertools import accumulate
from typing import Any, TypeVar


def mended(text: str) -> str:
    """Parted pairs joined, lone halves replaced."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def mended_json(value: Any) -> Any:
    """The same for every string inside a decoded JSON value."""
    if isinstance(value, str):
        return mended(value)
    if isinstance(value, list):
        return [mended_json(part) for part in value]
    if isinstance(value, dict):
        return {mended(str(key)): mended_json(part) for key, part in value.items()}
    return value


MOST_DEPTH = 128
"""Levels of lists and objects. The deepest real messages, with schemas of tools, have 30."""
MOST_VALUES = 50_000
"""In one message of a server: 4 ms to read. A response that repeats 300 tools of 20 parameters and
1,000 items of output has 30,000."""
MOST_REQUEST_VALUES = 200_000
"""In one message of a client, who may send a whole conversation: 20,000 items."""
UNWEIGHED_BYTES = 1024
"""Too short to be deep or crowded."""
PIECE_BYTES = 2**16
"""Weighed in 0.1 ms, at worst in 3 ms."""
_VALUE_BYTES = 120
_FEW = 100_000
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


class Scale:
    """Weighs one JSON text, wherever it is cut; pieces of at most `PIECE_BYTES`.

    Text that is not JSON is weighed, too: the decoder will refuse it later.
    """

    def __init__(self, most_values: int = MOST_VALUES) -> None:
        self._room = most_values
        self._most_values = most_values
        self._quotes = 0
        self._depth = 0
        self._escaped = False
        """The piece before ended in a backslash."""

    def too_heavy(self, piece: bytes | bytearray) -> str:
        """Take the next piece; how the text is too heavy, as the end of a sentence, or nothing."""
        if self._escaped and piece:
            piece, self._escaped = piece[1:], False
        if piece.endswith(b"\\"):
            self._escaped = bool((len(piece) - len(piece.rstrip(b"\\"))) % 2)
            piece = piece[: len(piece) - self._escaped]
        if b"\\" in piece:
            piece = piece.replace(b"\\\\", b"").replace(b'\\"', b"")
        inside, quotes = self._quotes % 2, piece.count(b'"')
        self._quotes += quotes
        if self._quotes > 4 * self._most_values:
            return self._crowded()
        outside = b"".join(piece.split(b'"')[inside::2]) if quotes or not inside else b""
        brackets = outside.translate(_STEPS, _NOT_BRACKETS)
        opened = brackets.count(1)
        self._room -= opened + outside.count(b",")
        if self._room < 0:
            return self._crowded()
        if self._depth + opened > MOST_DEPTH:
            steps = memoryview(brackets).cast("b")
            if max(accumulate(steps, initial=self._depth)) > MOST_DEPTH:
                return f"nested more than {MOST_DEPTH} levels deep"
        self._depth += 2 * opened - len(brackets)
        return ""

    @property
    def values(self) -> int:
        """How many have come."""
        return self._most_values - self._room

    def _crowded(self) -> str:
        return f"with more than {self._most_values:,} values"


def too_heavy(text: str | bytes, most_values: int = MOST_VALUES) -> str:
    """How a whole JSON text is too heavy, as the end of a sentence; empty: it is not."""
    if len(text) <= UNWEIGHED_BYTES:
        return ""
    scale = Scale(most_values)
    for at in range(0, len(text), PIECE_BYTES):
        piece = text[at : at + PIECE_BYTES]
        if words := scale.too_heavy(piece if isinstance(piece, bytes) else _encoded(piece)):
            return words
    return ""


def _encoded(text: str) -> bytes:
    return text.encode(errors="replace")


def read_in_steps(text: str | bytes | bytearray) -> Generator[None, None, int]:
    """About how many bytes a JSON text takes when it was read; each step takes milliseconds."""
    signs = [b",", b"[", b"{"] if isinstance(text, bytes | bytearray) else [",", "[", "{"]
    count = 0
    for at in range(0, len(text), PIECE_BYTES):
        piece: Any = text[at : at + PIECE_BYTES]
        count += sum(map(piece.count, signs))
        yield
    if count <= _FEW:
        return len(text)
    scale = Scale(len(text))
    for at in range(0, len(text), PIECE_BYTES):
        piece = text[at : at + PIECE_BYTES]
        scale.too_heavy(_encoded(piece) if isinstance(piece, str) else piece)
        yield
    return len(text) + scale.values * _VALUE_BYTES


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


class StringPieces(list[str]):
    """A string as it was read, piece by piece; a character may be parted between two of them."""


def read(data: bytes | bytearray, *, mends: bool = True, pieced: str = "") -> Reading:
    """Read a text of JSON in UTF-8; deeper or more crowded than `Scale` allows it must not be.

    ``mends``: half a character becomes U+FFFD, else it stays. ``pieced``: the key of a string of
    the outermost object that is returned as `StringPieces`, not mended, if it is long.

    Raises ValueError while it is read: it is no JSON, has numbers of 400 digits, or 64 kB of blanks
    in one place.
    """
    return _JsonReader(data, mends).value(pieced)


_WIDENED = 2**20
"""Characters that take a millisecond or two to be copied with more bytes for each."""


def _is_wider(text: str, whole: str) -> bool:
    """Whether its characters take more bytes than those of the whole before it."""
    if text.isascii():
        return False
    each = sys.getsizeof(whole) // len(whole)
    return each < 4 and ord(max(text)) >= (0x80 if whole.isascii() else 0x100**each)


def _joined(pieces: list[str]) -> Generator[None, None, str]:
    """One text of pieces whose characters take unlike numbers of bytes.

    Python widens a text in one call, which takes 15 to 30 ms for 14 MB. So it is made as wide as it
    must be and then filled, by the calls that C has for it.
    """
    if sys.implementation.name != "cpython":
        return "".join(pieces)
    from ctypes import c_ssize_t, c_uint32, c_void_p, cast, py_object, pythonapi

    new, copy = pythonapi.PyUnicode_New, pythonapi.PyUnicode_CopyCharacters
    new.restype, new.argtypes = c_void_p, (c_ssize_t, c_uint32)
    copy.restype = c_ssize_t
    copy.argtypes = (c_void_p, c_ssize_t, py_object, c_ssize_t, c_ssize_t)
    widest = "\0"
    for piece in pieces:
        widest = widest if piece.isascii() else max(widest, max(piece))
        yield
    place, at = new(sum(map(len, pieces)), ord(widest)), 0
    try:
        for piece in pieces:
            for start in range(0, len(piece), _WIDENED // 4):
                at += copy(place, at, piece, start, _WIDENED // 4)
                yield
        text: str = cast(place, py_object).value
    finally:
        pythonapi.Py_DecRef(c_void_p(place))
    return text


class _JsonReader:
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
            blank = self._data[self._at : self._at + STEP_BYTES + 1]
            if len(blank) > STEP_BYTES and not bytes(blank).strip(b" \t\r\n"):
                raise ValueError(f"more than {STEP_BYTES:,} blanks in a row at byte {self._at}")
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
        """A short string without escapes; empty if this is another one, or an empty one."""
        found = _SHORT.match(self._data, self._at)
        if found is None:
            return ""
        text = found[0][:-1].decode()
        self._at = found.end() if text else self._at
        return text

    def _long(self, *, apart: bool = False) -> Reading:
        """Any string."""
        pieces, whole, half, size = StringPieces(), "", "", _FIRST_BYTES
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
            if apart or pieces:
                pieces.append(text)
            elif len(whole) > _WIDENED and _is_wider(text, whole):
                pieces += (whole, text)
                whole = ""
            else:
                whole += text  # to join all at the end would take long
            self._at += cut
            if end >= 0:
                self._at += 1
                if pieces and not apart:
                    return (yield from _joined(pieces))
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
