"""Thoughts that a server leaves in the text, between tags: cut out while the text comes."""

from __future__ import annotations

import re

_NAMES = ("think", "thinking", "thought")
_OPENING = re.compile(rf"\s*<({'|'.join(_NAMES)})>")
_OPENINGS = tuple(f"<{name}>" for name in _NAMES)
_CLOSING = re.compile(rf"</(?:{'|'.join(_NAMES)})>")
_CLOSINGS = tuple(f"</{name}>" for name in _NAMES)
_LONGEST = max(map(len, _CLOSINGS))
_MOST_BLANK_CHARS = 256
"""White space that may stand before a tag."""


class ThinkTags:
    """The text of one answer."""

    def __init__(self, *, begun: bool = False) -> None:
        """``begun``: the prompt has opened a tag already."""
        self._mode = "thought" if begun else "start"
        self._held = ""
        self._blank = True
        """Nothing but white space has come since the tag."""

    @property
    def over(self) -> bool:
        """From here on everything is text."""
        return self._mode == "text" and not self._held

    def feed(self, text: str) -> list[tuple[bool, str]]:
        """Take more; returns pieces, each with whether it is thought."""
        if self._mode == "text":
            return self._text(text)
        self._held += text
        if self._mode == "start":
            return self._start()
        return self._thought()

    def end(self) -> list[tuple[bool, str]]:
        """The text is over; returns what was held back."""
        held, self._held = self._held, ""
        return [(self._mode == "thought", held)] if held else []

    def _start(self) -> list[tuple[bool, str]]:
        opened = _OPENING.match(self._held)
        if opened is not None:
            self._held, self._mode = self._held[opened.end() :], "thought"
            return self._thought()
        begun = self._held.lstrip()
        short = len(self._held) <= _MOST_BLANK_CHARS
        if short and any(tag.startswith(begun) for tag in _OPENINGS):
            return []
        held, self._held, self._mode = self._held, "", "text"
        self._blank = False
        return [(False, held)]

    def _thought(self) -> list[tuple[bool, str]]:
        closed = _CLOSING.search(self._held)
        if closed is None:
            safe = len(self._held) - _tail(self._held)
            bare = len(self._held[:safe].rstrip())
            safe = bare if safe - bare <= _MOST_BLANK_CHARS else safe
            said, self._held = self._held[:safe], self._held[safe:]
            return self._blankless(True, said)
        said, rest = self._held[: closed.start()], self._held[closed.end() :]
        self._held = ""
        pieces = self._blankless(True, said.rstrip())
        self._mode, self._blank = "text", True
        return pieces + self._text(rest)

    def _text(self, text: str) -> list[tuple[bool, str]]:
        return self._blankless(False, text) if self._blank else [(False, text)]

    def _blankless(self, thought: bool, text: str) -> list[tuple[bool, str]]:
        """Without the empty lines that stand between a tag and what follows."""
        if self._blank:
            text = text.lstrip()
            self._blank = not text
        return [(thought, text)] if text else []


def _tail(text: str) -> int:
    """How many characters at the end may be the beginning of a closing tag."""
    at = text.rfind("<", max(0, len(text) - _LONGEST + 1))
    return len(text) - at if at >= 0 and any(c.startswith(text[at:]) for c in _CLOSINGS) else 0
