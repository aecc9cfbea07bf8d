r"""A patch inside a call's JSON arguments: of a function (streamed) or of a shell (when whole).

A function's are unescaped while they stream. A piece may end anywhere, inside ``\n``,
``\u00e9`` or between the halves of a surrogate pair: nothing is said until it is decided, and
nothing that was said is ever taken back.

Models that were trained with a command of that name call a shell: ``{"command": ["apply_patch",
"*** Begin Patch..."]}`` or a heredoc in ``["bash", "-lc", "..."]`` or ``{"cmd": "..."}``
(EDITS.md section 1, channel e). What the paths are relative to (``workdir``) may stand behind
the patch and the command may go on behind it, so nothing is said before the arguments are
whole: a patch that starts in the wrong folder would edit another file.
"""

from __future__ import annotations

import json
import re
from enum import Enum, auto
from typing import Any

from msgspec.structs import replace

from tui.core.edit_stream.events import Cut, Ev, Failure, FileOp, MoveTo, Prose
from tui.core.edit_stream.parser import EditParser, PatchParser, ProsePatches
from tui.core.edit_stream.v4a import quoted
from tui.core.wire.json_reading import mended

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

    unnamed = 0

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


_COMMANDS = ("command", "cmd", "script", "commands", "input")
_FOLDERS = ("workdir", "cwd", "working_directory", "dir")
_SHELL = re.compile(
    r"(?:.*[/\\])?(?:ba|z|da|k)?sh(?:\.exe)?|(?:.*[/\\])?(?:powershell|pwsh)(?:\.exe)?"
)
_DIRECT = re.compile(
    r"(?P<lead>\s*(?:cd\s+[^&;|\n]+&&\s*)?)(?:apply_patch|applypatch)\s+"
    r"(?P<quote>[\"'])(?P<text>\s*\*\*\* Begin Patch.*)(?P=quote)\s*",
    re.DOTALL,
)
_BEGIN = "*** Begin Patch"
_NO_PATCH = (
    "the argument's form is wrong: call the apply_patch tool, or let the command be nothing but "
    "apply_patch with the patch"
)


class ShellPatches:
    """Reads a shell tool's arguments; that there is no patch in them is a failure."""

    unnamed = 0

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._over = False

    def feed(self, delta: str) -> list[Ev]:
        """Read the next piece of the arguments."""
        if not self._over:
            self._parts.append(delta)
        return []

    def tail(self) -> list[Ev]:
        """Nothing is painted before the arguments are whole."""
        return []

    def finish(self, cut: bool) -> list[Ev]:
        """The arguments are complete, or ``cut`` at this character."""
        if self._over:
            return []
        self._over = True
        text = "".join(self._parts)
        self._parts.clear()
        if cut:
            return [Cut()]
        if _BEGIN not in text:
            return [Failure(1, "no Begin Patch: the command does not call apply_patch")]
        try:
            arguments = json.loads(text)
        except (ValueError, RecursionError):
            return [Failure(1, "the argument is broken JSON")]
        return _events_of(arguments)


def _events_of(arguments: Any) -> list[Ev]:
    """The patch of whole arguments, relative to the folder that they name."""
    script = _script(arguments)
    if script is None:
        return [Failure(1, _NO_PATCH)]
    parser = ProsePatches()
    events = [*parser.feed(script), *parser.finish(cut=False)]
    if any(isinstance(event, Prose) and event.text.strip() for event in events):
        failures = [event for event in events if isinstance(event, Failure)]
        return [*failures[:1]] or [Failure(1, _NO_PATCH)]
    return [_moved(event, _folder(arguments)) for event in events if not isinstance(event, Prose)]


def _script(arguments: Any) -> str | None:
    """The text in which the patch stands; None if the command does something else with it."""
    value = arguments
    if isinstance(arguments, dict):
        value = next((arguments[name] for name in _COMMANDS if arguments.get(name)), None)
    if isinstance(value, list):
        words = [word if isinstance(word, str) else "" for word in value]
        if len(words) == 2 and words[0] in ("apply_patch", "applypatch"):
            return mended(words[1])
        if len(words) == 3 and _SHELL.fullmatch(words[0]) and words[1].startswith("-"):
            value = words[2]
        elif len(words) == 1:
            value = words[0]
    return _unwrapped(mended(value)) if isinstance(value, str) else None


def _unwrapped(script: str) -> str:
    """A patch that is quoted as one word of the command becomes the heredoc that it could be."""
    match = _DIRECT.fullmatch(script)
    if match is None:
        return script
    text = match["text"]
    if match["quote"] == "'":
        text = text.replace("'\\''", "'")
    else:
        text = re.sub(r"\\([\"$`\\])", r"\1", text)
    return (
        f"{match['lead'].strip()} apply_patch <<'DUETTO_END'\n{text.strip()}\nDUETTO_END\n".lstrip()
    )


def _folder(arguments: Any) -> str:
    if not isinstance(arguments, dict):
        return ""
    found = next((arguments[name] for name in _FOLDERS if arguments.get(name)), "")
    folder = found if isinstance(found, str) else ""
    return "" if folder in (".", "./") else mended(folder).rstrip("/") or folder


def _moved(event: Ev, folder: str) -> Ev:
    """The event with its path below the folder."""
    if not folder or not isinstance(event, FileOp | MoveTo) or event.path.startswith(("/", "~")):
        return event
    return replace(event, path=f"{folder.rstrip('/')}/{event.path}")
