"""Keys and tokens out of text that is kept: recorded frames, headers, addresses.

A key inside a text is replaced by as many characters, so that what counts characters (a quoted
file's ``chars``) still adds up and a recording can be played back.
"""

from __future__ import annotations

import base64
import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, TypeVar
from urllib.parse import quote

import msgspec

from tui.core.text.patterns import pattern
from tui.core.typed_data import json_decoder

MASK = "[key]"
SHORTEST = 6
"""Characters; a shorter secret would be found in every second word."""
_SECRET_NAMES = ("auth", "key", "token", "secret", "cookie", "password", "credential", "signature")
_SHORT_NAMES = frozenset({"sig", "pass", "passwd", "pwd"})
_NOT_SECRET = frozenset({"sec-websocket-key"})
_KEY_LIKE = (
    r"\b(?:sk|xai|gsk|csk)-(?=[\w-]{0,99}\d)[\w-]{8,}"
    r"|\b(?:sk|pk|rk|hf|gh[opsu]|nvapi|r8)[_-](?=[\w-]{0,99}\d)[\w-]{16,}"
    r"|(?<=[Bb]earer )(?=[\w.~+/-]{0,99}\d)[\w.~+/-]{16,}=*"
)
_HIDING = r"\\/|\\u00"
"""Escapes that JSON does not need: a key may be written with them."""
_HIDING_PLACES = {"+": r"(?:\+|-|(?i:%2b))", "/": r"(?:\\{0,9}/|_|(?i:%2f))"}
"""What base64 may have in place of its two odd characters."""
_SHORTEST_CODED = 8
_QUERY = pattern(r"(?P<name>[?&][^=&#\s]{1,64})=(?P<value>[^&#\s]+)")


class Mask:
    """Knows the secrets of a session."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """``secrets`` shorter than `SHORTEST` are left alone."""
        plain = {secret for secret in secrets if len(secret) >= SHORTEST}
        ordered = sorted(plain, key=len, reverse=True)
        forms = [_written(secret) for secret in ordered]
        forms += [
            "".join(_HIDING_PLACES.get(char, char) for char in core)
            for one in ordered
            for core in _cores(one)
        ]
        self._known = re.compile("|".join([*forms, _KEY_LIKE]))
        self._suspect = re.compile("|".join([*forms, _KEY_LIKE, _HIDING]))
        self.literal = {form for one in ordered for form in (one, json.dumps(one)[1:-1])}
        """The secrets as they are most often written, letter by letter."""

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
                return json.dumps(self.value(value), separators=(",", ":"))
        except (ValueError, RecursionError):
            pass
        return _raw(self.text(text))

    def meta(self, meta: Mapping[str, object]) -> str:
        """What is no frame (a handshake, a close) as JSON, its headers masked by name too."""
        return json.dumps(self.value(dict(meta)), separators=(",", ":"), default=str)

    def value(self, value: object, name: str = "") -> object:
        """A decoded value with its strings masked; in "headers" some by their name."""
        if isinstance(value, str):
            return _query_masked(self.text(value)) if name in ("path", "url") else self.text(value)
        if isinstance(value, dict):
            if name == "headers":
                return {str(key): self._header(str(key), item) for key, item in value.items()}
            return {self.text(str(key)): self.value(item, key) for key, item in value.items()}
        if isinstance(value, list | tuple):
            if name == "headers":
                return [self._pair(item) for item in value]
            return [self.value(item) for item in value]
        return value

    def _pair(self, item: object) -> object:
        if isinstance(item, list | tuple) and len(item) == 2:
            return [item[0], self._header(str(item[0]), item[1])]
        return self.value(item)

    def _header(self, name: str, value: object) -> object:
        return MASK if is_secret_name(name) else self.value(value)


def is_secret_name(name: str) -> bool:
    """Whether a header or a query parameter of this name holds a secret."""
    low = name.lower()
    sure = any(word in low for word in _SECRET_NAMES) or low in _SHORT_NAMES
    return sure and low not in _NOT_SECRET


def _written(secret: str) -> str:
    """A pattern for a secret in whatever a text may be: plain, JSON in JSON, a URL, HTML."""
    return "".join(_escaped(char) for char in secret)


def _escaped(char: str) -> str:
    if char.isascii() and (char.isalnum() or char in "-_.~"):
        return re.escape(char)
    code = ord(char)
    blank = r"|\+" if char == " " else ""
    slashes = r"\\{1,9}" if char == "\\" else r"\\{0,9}" + re.escape(char)
    hidden = rf"(?i:{quote(char, safe='')}|\\{{1,9}}u{code:04x}|&#(?:{code}|x{code:x});)"
    return rf"(?:{slashes}|{hidden}{blank})"


def _cores(secret: str) -> Iterator[str]:
    """What a secret is in base64 at each of the three places where it may begin in a text."""
    data = secret.encode("utf-8", "replace")
    for shift in range(3):
        coded = base64.b64encode(bytes(shift) + data).decode()
        core = coded[-(-shift * 8 // 6) : (shift + len(data)) * 8 // 6]
        if len(core) >= _SHORTEST_CODED:
            yield core


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


MOST_HELD = 2000
"""Lines; a lane that falls silent amid what may be a key does not hold the others for ever."""
T = TypeVar("T")


class _Delta(msgspec.Struct):
    """Of an event what says whose text it continues."""

    type: str = ""
    delta: str | None = None
    item_id: str = ""
    stream_id: str | None = None


_DECODER = json_decoder(_Delta, strict=False)
_Key = tuple[int, str | None, str, str]


class _MaskedLine(Generic[T]):
    """A line that waits, or that others wait for."""

    __slots__ = ("about", "delta", "frame", "is_masked", "masked", "open", "text")

    def __init__(self, about: T, frame: str, *, is_masked: bool = False) -> None:
        self.about, self.frame, self.is_masked = about, frame, is_masked
        self.delta = self.masked = ""
        self.text = ""
        """The delta, masked but for what may be the beginning of a key."""
        self.open = False


class SplitKeys(Generic[T]):
    """Masks keys that come in pieces: a model that repeats one says it in several deltas.

    A delta that ends like the beginning of a key is held back until the next ones of its item have
    shown what it is; with it, whatever came later: frames come out in the order in which they went
    in. ``T`` is what belongs to a frame.
    """

    def __init__(self, mask: Mask) -> None:
        self.know(mask)
        self._lines: deque[_MaskedLine[T]] = deque()
        self._open: dict[_Key, list[_MaskedLine[T]]] = {}

    def know(self, mask: Mask) -> None:
        """Mask by this from now on."""
        self._mask = mask
        self._longest = max(map(len, mask.literal), default=1) - 1
        self._beginnings = {form[:end] for form in mask.literal for end in range(1, len(form))}

    def frame(self, about: T, connection: int, text: str) -> Iterator[tuple[T, str]]:
        """Take a frame of a server; gives what is settled now."""
        line = _MaskedLine(about, text)
        self._lines.append(line)
        try:
            event = _DECODER.decode(text) if self._beginnings else _Delta()
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            event = _Delta()
        if event.delta is not None and event.type.endswith(".delta"):
            line.delta = line.text = event.delta
            self._continue((connection, event.stream_id, event.item_id, event.type), line)
        else:
            self._close(connection, event.stream_id)
        return self._settled()

    def other(self, about: T, text: str) -> Iterator[tuple[T, str]]:
        """Take what is masked already: it only keeps its place."""
        self._lines.append(_MaskedLine(about, text, is_masked=True))
        return self._settled()

    def rest(self) -> Iterator[tuple[T, str]]:
        """Give all that waits."""
        self._open.clear()
        while self._lines:
            yield self._out(self._lines.popleft())

    def _continue(self, key: _Key, line: _MaskedLine[T]) -> None:
        """Look for keys in what its pieces make together; only the end stays open."""
        pieces = [*self._open.pop(key, ()), line]
        whole = "".join(piece.text for piece in pieces)
        masked, sure = self._mask.text(whole), len(whole) - self._begun(whole)
        partly, at = masked[:sure] + whole[sure:], 0
        for piece in pieces:
            end = at + len(piece.text)
            piece.text, piece.masked, piece.open = partly[at:end], masked[at:end], end > sure
            at = end
        if waiting := [piece for piece in pieces if piece.open]:
            self._open[key] = waiting

    def _begun(self, text: str) -> int:
        """How many characters at its end may be the beginning of a key."""
        for length in range(min(self._longest, len(text)), 0, -1):
            if text[-length:] in self._beginnings:
                return length
        return 0

    def _close(self, connection: int, stream_id: str | None) -> None:
        """Another event of the lane: its texts have ended."""
        for key in [key for key in self._open if key[:2] == (connection, stream_id)]:
            for line in self._open.pop(key):
                line.open = False

    def _settled(self) -> Iterator[tuple[T, str]]:
        while self._lines and (not self._lines[0].open or len(self._lines) > MOST_HELD):
            yield self._out(self._lines.popleft())

    def _out(self, line: _MaskedLine[T]) -> tuple[T, str]:
        if line.is_masked:
            return line.about, line.frame
        if line.masked != line.delta:
            event = json.loads(line.frame)
            line.frame = json.dumps({**event, "delta": line.masked}, separators=(",", ":"))
        return line.about, self._mask.frame(line.frame)
