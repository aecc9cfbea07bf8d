"""The text of a freeform tool, read out of the JSON arguments of the function that stands for it.

It is read while it comes, cut at any character: what the model has written so far is with the
client at once. Models also err: the text may come bare, or in another property than ``input``.
"""

from __future__ import annotations

import json
import re
from typing import Any

from tui.bridge.endpoints.base import MOST_READ_CHARS, Unusable
from tui.core.wire.json_reading import mended

INPUT = "input"
"""The one property of a function that stands for a freeform tool."""
_SPACE = " \t\r\n"
_PLAIN = re.compile(r'[^"\\]+')
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "\\": "\\", "/": "/"}
_FEW_CHARS = 1000
_HEX = frozenset("0123456789abcdefABCDEF")
_HEAD = re.compile(r'[ \t\r\n]*\{[ \t\r\n]*"input"[ \t\r\n]*:[ \t\r\n]*"')
_UNSURE = re.compile(
    r"[ \t\r\n]*(?:\{[ \t\r\n]*"
    r'(?:"(?:i(?:n(?:p(?:u(?:t(?:"[ \t\r\n]*(?::[ \t\r\n]*)?)?)?)?)?)?)?)?)?\Z'
)
"""What may still become such a head."""
_MOST_HEAD_CHARS = 4096
MOST_AT_ONCE_CHARS = 2**20
"""Of a text in one event, which is read in some milliseconds."""
MOST_KEPT_CHARS = 2**20
"""Of arguments that are in no place where they can be told at once."""


class StringReader:
    """The text of one JSON string behind its opening quote; lenient where models err."""

    def __init__(self) -> None:
        self.over = False
        """Its closing quote has come."""
        self._escape = ""
        """What of an escape has come."""
        self._half = ""
        """The first half of a character that is escaped as two."""

    def feed(self, text: str) -> tuple[str, str]:
        """Take more of it; returns what it says, and what is behind its end."""
        said: list[str] = []
        at = self._most_of(text, said) if len(text) > _FEW_CHARS else 0
        while at < len(text) and not self.over:
            if self._escape:
                self._take(text[at], said)
                at += 1
            elif (run := _PLAIN.match(text, at)) is not None:
                self._say(run[0], said)
                at = run.end()
            else:
                self._escape = "\\" if text[at] == "\\" else ""
                self.over = not self._escape
                at += 1
        if self.over:
            self._say("", said)
        return "".join(said), text[at:]

    def _most_of(self, text: str, said: list[str]) -> int:
        """Say what of a long text can be read at once; returns how much of it that is."""
        if self._escape or self._half:
            return 0
        bare = text.replace("\\\\", "__").replace('\\"', "__")
        end = bare.find('"')
        if end < 0:
            # an escape, or the two of one character, may go on in what follows
            end = bare.find("\\", len(bare) - 2 * len("\\u0000"))
            end = len(text) if end < 0 else end
        try:
            words = json.loads(f'"{text[:end]}"', strict=False)
        except ValueError:
            return 0  # it has escapes that JSON has not
        if "\ud800" <= words[-1:] <= "\udbff":
            words, self._half = words[:-1], words[-1]
        said.append(mended(words))
        return end

    def end(self) -> str:
        """What is left where it was cut off: half a character, no half of an escape."""
        said: list[str] = []
        self._say("", said)
        self._escape = ""
        return "".join(said)

    def _take(self, char: str, said: list[str]) -> None:
        """One more character of an escape."""
        if len(self._escape) == 1 and char != "u":
            # an escape that JSON has not: the model meant a backslash
            self._say(_ESCAPES.get(char, "\\" + char), said)
            self._escape = ""
        elif len(self._escape) > 1 and char not in _HEX:
            self._say(self._escape, said)
            self._escape = "\\" if char == "\\" else ""
            self.over = char == '"'
            if not self._escape and not self.over:
                self._say(char, said)
        else:
            self._escape += char
            if len(self._escape) == len("\\u0000"):
                code, self._escape = int(self._escape[2:], 16), ""
                self._say_code(code, said)

    def _say_code(self, code: int, said: list[str]) -> None:
        if 0xDC00 <= code < 0xE000 and self._half:
            said.append(mended(self._half + chr(code)))
            self._half = ""
            return
        self._say("", said)
        if 0xD800 <= code < 0xDC00:
            self._half = chr(code)
        else:
            said.append(mended(chr(code)))

    def _say(self, text: str, said: list[str]) -> None:
        """Say this, behind half a character that stayed alone."""
        if self._half:
            said.append(mended(self._half))
            self._half = ""
        said.append(text)


class InputReader:
    """The arguments of one call of a function that stands for a freeform tool."""

    def __init__(self) -> None:
        self.sound = True
        """It was what was asked for, or something that can be taken for it; known at the end."""
        self._held = ""
        """What came before it was clear what it is."""
        self._pieces: list[str] = []
        """Arguments that can be read at the end only."""
        self._judged = 0
        """Pieces that were no whole value."""
        self._kept_chars = 0
        self._mode = "head"
        self._string = StringReader()

    @property
    def closed(self) -> bool:
        """The text has come to its end."""
        return self._mode == "over" or (self._mode == "other" and self._is_whole())

    def feed(self, text: str) -> str:
        """Take more of the arguments; returns what of the tool's text they bring.

        Raises Broken: it is far too much at once.
        """
        if len(text) > MOST_AT_ONCE_CHARS:
            most = f"{MOST_AT_ONCE_CHARS >> 20} MB"
            raise Unusable(f"The model wrote more than {most} of a tool's text at once.")
        if self._mode == "string":
            return self._in_string(text)
        if self._mode == "bare":
            return text
        if self._mode == "other":
            self._keep(text)
            return ""
        return self._head(text) if self._mode == "head" else ""

    def end(self) -> str:
        """The arguments are over; returns what of the text was held back."""
        mode, self._mode = self._mode, "over"
        if mode == "string":
            self.sound = False
            return self._string.end()
        if mode == "other":
            return self._other("".join(self._pieces))
        if mode == "head" and self._held.strip(_SPACE):
            return self._other(self._held)
        return ""

    def _head(self, text: str) -> str:
        self._held += text
        found = _HEAD.match(self._held)
        if found is not None:
            held, self._held, self._mode = self._held, "", "string"
            return self._in_string(held[found.end() :])
        if len(self._held) <= _MOST_HEAD_CHARS and _UNSURE.match(self._held):
            return ""
        held, self._held = self._held, ""
        start = held.lstrip(_SPACE)
        if start.startswith("{") and start[1:].lstrip(_SPACE)[:1] in ('"', "}"):
            self._mode = "other"
            self._keep(held)
            return ""
        if start.startswith('"'):
            self._mode = "string"
            return self._in_string(start[1:])
        self._mode = "bare"
        return held

    def _keep(self, text: str) -> None:
        """Hold arguments that can be read at the end only, as far as anybody would mean them."""
        self._kept_chars += len(text)
        if self._kept_chars <= MOST_KEPT_CHARS:
            self._pieces.append(text)
        else:
            self._mode, self._pieces, self.sound = "over", [], False

    def _is_whole(self) -> bool:
        if self._judged == len(self._pieces) or self._kept_chars > MOST_READ_CHARS:
            return False
        try:
            json.loads("".join(self._pieces), strict=False)
        except (ValueError, RecursionError):
            self._judged = len(self._pieces)
            return False
        return True

    def _in_string(self, text: str) -> str:
        said, _ = self._string.feed(text)
        if self._string.over:
            self._mode = "over"
        return said

    def _other(self, text: str) -> str:
        """Arguments of another form: ``input`` is not their first key, or it is no string."""
        try:
            value = json.loads(text, strict=False)
        except (ValueError, RecursionError):
            # an object that is none: a text that begins like one, or a part of an object
            self.sound = not text.lstrip(_SPACE).startswith('{"')
            return mended(text)
        return mended(_text_in(value, text))


def _text_in(value: Any, written: str) -> str:
    """The text that arguments hold, whatever their form; else they themselves are the text."""
    if isinstance(value, str):
        return value
    if not isinstance(value, dict):
        return written
    texts = [text for text in value.values() if isinstance(text, str)]
    chosen = value.get(INPUT, texts[0] if len(texts) == 1 else None)
    if chosen is None:
        return "" if not value or INPUT in value else written
    return chosen if isinstance(chosen, str) else json.dumps(chosen, ensure_ascii=False)
