r"""A patch inside a function call's JSON arguments: unescaped while it streams.

A piece may end anywhere, inside ``\n``, ``\u00e9`` or between the halves of a surrogate pair:
nothing is said until it is decided, and nothing that was said is ever taken back.
"""

from __future__ import annotations

import re
from enum import Enum, auto

from tui.core.edit_stream.events import Cut, Ev, Failure
from tui.core.edit_stream.grammar import quoted
from tui.core.edit_stream.parser import EditParser, PatchParser

MEMBERS = ("input", "patch", "diff")
"""Names of the member that holds the patch."""

_BLANK = " \t\r\n"
_PLAIN = re.compile(r'[^"\\]+')
_ESCAPES = dict(zip('"\\/bfnrt', '"\\/\b\f\n\r\t', strict=True))
_FORM = 'the argument\'s form is wrong, it must be {"input": "*** Begin Patch..."}'


class _State(Enum):
    START = auto()
    KEY = auto()
    """A key, or the end of the object."""
    COLON = auto()
    VALUE = auto()
    COMMA = auto()
    DONE = auto()


class ArgumentText:
    """The patch text of a function call: the member input, patch or diff, or the only string."""

    def __init__(self) -> None:
        self.failure = ""
        """Why the argument is not such an object, in words; empty while it may be."""
        self.found = False
        """The member with the patch has begun."""
        self.plain = False
        """Inside the patch, and no escape is open: a delta without one is text as it is."""
        self._state = _State.START
        self._string: list[str] | None = None
        """The pieces of the key or value that is being read; None outside of strings."""
        self._escape = ""
        """The unfinished escape, with its backslash."""
        self._high = ""
        """The first half of a surrogate pair."""
        self._streaming = False
        self._done = False
        self._key = ""
        self._others: list[tuple[str, str]] = []
        """Strings under other names."""
        self._depth = 0
        """Inside a value that is an array or an object."""
        self._out: list[str] = []

    def feed(self, delta: str) -> str:
        """Read the next piece of JSON; returns what it adds to the patch text."""
        at = 0
        while at < len(delta) and not self.failure:
            at = self._outside(delta, at) if self._string is None else self._inside(delta, at)
        self.plain = self._streaming and not (self._escape or self._high or self.failure)
        return self._said()

    def finish(self, cut: bool) -> str:
        """The arguments are over; returns the last of the text. Sets `failure` if there is none.

        ``cut`` means that they are incomplete, which is then no failure.
        """
        if cut or self.failure:
            return self._said()
        if self._state is not _State.DONE:
            self.failure = "the argument is incomplete JSON"
        elif not self.found and len(self._others) == 1 and not self._others[0][0].isdigit():
            self.found = True
            self._out.append(self._others[0][1])
        elif not self.found:
            self.failure = _FORM
        return self._said()

    def _said(self) -> str:
        text = "".join(self._out)
        self._out.clear()
        return text

    def _outside(self, delta: str, at: int) -> int:
        """Read one character of JSON's structure."""
        char = delta[at]
        if char in _BLANK:
            return at + 1
        if self._depth:
            self._nested(char)
        elif self._state is _State.START:
            self._start(char)
        elif self._state is _State.KEY:
            self._key_or_end(char)
        elif self._state is _State.COLON and char == ":":
            self._state = _State.VALUE
        elif self._state is _State.VALUE:
            self._value(char)
        elif self._state is _State.COMMA and char in ",}":
            self._state = _State.KEY if char == "," else _State.DONE
        elif self._state is not _State.COMMA or not (char.isalnum() or char in "+-."):
            self._fail(char)
        return at + 1

    def _start(self, char: str) -> None:
        if char == "{":
            self._state = _State.KEY
        elif char == '"':
            self._key = MEMBERS[0]
            self._value(char)
            self._state = _State.DONE
        else:
            self._fail(char)

    def _key_or_end(self, char: str) -> None:
        if char == '"':
            self._string = []
        elif char == "}":
            self._state = _State.DONE
        else:
            self._fail(char)

    def _value(self, char: str) -> None:
        self._state = _State.COMMA
        if char == '"':
            self._string = []
            self._streaming = self._key in MEMBERS and not self.found
            self.found = self.found or self._streaming
        elif char in "[{":
            self._depth = 1
        elif not (char.isalnum() or char == "-"):
            self._fail(char)

    def _nested(self, char: str) -> None:
        if char == '"':
            self._string = []
        elif char in "[{":
            self._depth += 1
        elif char in "]}":
            self._depth -= 1

    def _inside(self, delta: str, at: int) -> int:
        """Read a piece of a string."""
        if self._escape:
            return self._escaped(delta, at)
        if match := _PLAIN.match(delta, at):
            self._put(match[0])
            return match.end()
        if delta[at] == "\\":
            self._escape = "\\"
        else:
            self._end_string()
        return at + 1

    def _escaped(self, delta: str, at: int) -> int:
        """Read one character of an escape."""
        self._escape += delta[at]
        kind = self._escape[1]
        if kind != "u":
            if kind in _ESCAPES:
                self._put(_ESCAPES[kind])
            else:
                self.failure = f"the argument holds the invalid JSON escape '\\{quoted(kind)}'"
            self._escape = ""
        elif len(self._escape) > 2 and delta[at] not in "0123456789abcdefABCDEF":
            self.failure = f"the argument holds the invalid JSON escape '{quoted(self._escape)}'"
        elif len(self._escape) == 6:
            self._unit(chr(int(self._escape[2:], 16)))
            self._escape = ""
        return at + 1

    def _unit(self, char: str) -> None:
        """Take a UTF-16 unit; a pair becomes one character, a lone half and NUL U+FFFD."""
        if self._high and "\udc00" <= char <= "\udfff":
            pair = (self._high + char).encode("utf-16-le", "surrogatepass").decode("utf-16-le")
            self._high = ""
            self._put(pair)
            return
        self._settle_high()
        if "\ud800" <= char <= "\udbff":
            self._high = char
        else:
            self._put("\ufffd" if "\udc00" <= char <= "\udfff" or char == "\0" else char)

    def _settle_high(self) -> None:
        if self._high:
            self._high = ""
            self._put("\ufffd")

    def _put(self, text: str) -> None:
        self._settle_high()
        if self._streaming:
            self._out.append(text)
        elif self._string is not None and not self._depth:
            self._string.append(text)

    def _end_string(self) -> None:
        self._settle_high()
        text = "".join(self._string or [])
        self._string = None
        if self._depth:
            return
        if self._state is _State.KEY:
            self._key = text
            self._state = _State.COLON
        elif self._streaming:
            self._streaming = False
        else:
            self._others.append((self._key, text))

    def _fail(self, char: str) -> None:
        if self._state is _State.START:
            self.failure = _FORM
        else:
            self.failure = f"the argument is broken JSON at '{quoted(char)}'; {_FORM}"


class ArgumentPatches:
    """Reads a function call's arguments as a patch."""

    def __init__(self, patches: EditParser | None = None) -> None:
        """``patches`` reads the text that the arguments hold; apply_patch if none is given."""
        self._text = ArgumentText()
        self._patches = patches or PatchParser()
        self._over = False

    def feed(self, delta: str) -> list[Ev]:
        """Read the next piece of the arguments."""
        if self._text.plain and "\\" not in delta and '"' not in delta:
            return self._patches.feed(delta)
        if self._over:
            return []
        return self._checked(self._patches.feed(self._text.feed(delta)))

    def tail(self) -> list[Ev]:
        """The unfinished ``+`` line, for one frame."""
        return [] if self._over else self._patches.tail()

    def finish(self, cut: bool) -> list[Ev]:
        """The arguments are complete, or ``cut`` at this character."""
        if self._over:
            return []
        events = self._checked(self._patches.feed(self._text.finish(cut)))
        if not self._over:
            self._over = True
            events += self._patches.finish(cut)
        return events

    def _checked(self, events: list[Ev]) -> list[Ev]:
        """Broken arguments end the patch where they broke."""
        if self._text.failure:
            self._over = True
            ends = self._patches.finish(cut=True)
            failure = Failure(1, self._text.failure)
            events += [failure if isinstance(event, Cut) else event for event in ends]
            if failure not in events:
                events.append(failure)
        return events
