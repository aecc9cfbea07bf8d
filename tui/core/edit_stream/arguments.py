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
from collections.abc import Generator
from typing import Any, TypeVar

from msgspec.structs import replace

from tui.core.edit_stream.events import Cut, Ev, Failure, FileOp, MoveTo, Prose
from tui.core.edit_stream.parser import EditParser, PatchParser, ProsePatches
from tui.core.edit_stream.v4a import quoted
from tui.core.wire.json_reading import mended

T = TypeVar("T")
MEMBERS = ("input", "patch", "diff")
"""Names of the member that holds the patch."""

_BLANKS, _NESTED = re.compile(r"[ \t\r\n]*"), re.compile(r'[^"\[\]{}]*')
_read_json = json.JSONDecoder(strict=False).raw_decode
_HEX = "[0-9a-fA-F]"
_HALF = rf"\\u[dD][89abAB]{_HEX}{{2}}"
"""The first half of a surrogate pair."""
_WRONG = rf"\\(?:[^\"\\/bfnrtu]|u{_HEX}{{0,3}}(?!{_HEX}).)"
"""An escape that there is not."""
_PIECE = re.compile(
    rf'(?:[^"\\]++|\\["\\/bfnrt]|{_HALF}\\u[dD][c-fC-F]{_HEX}{{2}}'
    rf"|(?!{_HALF})\\u{_HEX}{{4}}|{_HALF}(?=[^\\]|\\[^u]|\\u{_HEX}{{4}}|{_WRONG}))+",
    re.DOTALL,
)
"""What of a string is decided, whatever comes behind it."""
_BROKEN = re.compile(_WRONG, re.DOTALL)
_FORM = 'the argument\'s form is wrong, it must be {"input": "*** Begin Patch..."}'
Reading = Generator[None, None, T]
"""Stops where more is needed; returns what was read."""


class ArgumentText:
    """The patch text of a function call: the member input, patch or diff, or the only string."""

    def __init__(self) -> None:
        self.failure = ""
        """Why the argument is not such an object, in words; empty while it may be."""
        self.found = False
        """The member with the patch has begun."""
        self.plain = False
        """Inside the patch, and no escape is open: a delta without one is text as it is."""
        self._came, self._at = "", 0
        """The last delta, with what was undecided before it, and how far that is read."""
        self._done = False
        self._others: list[tuple[str, str]] = []
        """Strings under other names."""
        self._out: list[str] = []
        self._reading = self._whole()

    def feed(self, delta: str) -> str:
        """Read the next piece of JSON; returns what it adds to the patch text."""
        self._came, self._at = self._came[self._at :] + delta, 0
        try:
            next(self._reading, None)
        except ValueError as broken:
            self.failure = str(broken)
        return self._said()

    def finish(self, cut: bool) -> str:
        """The arguments are over; returns the last of the text. Sets `failure` if there is none.

        ``cut`` means that they are incomplete, which is then no failure.
        """
        if cut or self.failure:
            return self._said()
        if not self._done:
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

    def _whole(self) -> Reading[None]:
        """All of it; raises ValueError where it is broken."""
        sign = yield from self._sign()
        if sign == '"':
            self.found = self._done = True
            yield from self._string(told=True)
        elif sign == "{":
            yield from self._members()
            self._done = True
        else:
            raise ValueError(_FORM)
        raise _broken((yield from self._sign()))

    def _members(self) -> Reading[None]:
        while (sign := (yield from self._sign())) != "}":
            if sign != '"':
                raise _broken(sign)
            key = yield from self._string()
            if (sign := (yield from self._sign())) != ":":
                raise _broken(sign)
            yield from self._value(key)
            while (sign := (yield from self._sign())).isalnum() or sign in "+-.":
                pass  # a number or a word goes on
            if sign == "}":
                return
            if sign != ",":
                raise _broken(sign)

    def _value(self, key: str) -> Reading[None]:
        sign = yield from self._sign()
        if sign == '"':
            told = key in MEMBERS and not self.found
            self.found = self.found or told
            text = yield from self._string(told=told)
            self._others += [] if told else [(key, text)]
        elif not (sign in "[{-" or sign.isalnum()):
            raise _broken(sign)
        depth = int(sign in "[{")
        while depth:
            sign = yield from self._sign(_NESTED)
            if sign == '"':
                yield from self._string()
            depth += (sign in "[{") - (sign in "]}")

    def _sign(self, passed: re.Pattern[str] = _BLANKS) -> Reading[str]:
        """The next character behind blanks, or behind what else is passed over."""
        while True:
            found = passed.match(self._came, self._at)
            at = self._at if found is None else found.end()
            if at < len(self._came):
                self._at = at + 1
                return self._came[at]
            self._at = at
            yield

    def _string(self, *, told: bool = False) -> Reading[str]:
        """The rest of a string; one that is ``told`` is said as it comes."""
        parts = list[str]()
        while True:
            if found := _PIECE.match(self._came, self._at):
                self._at = found.end()
                (self._out if told else parts).append(_unescaped(found[0]))
            if self._at == len(self._came):
                self.plain = told
            elif self._came[self._at] == '"':
                self._at += 1
                return "".join(parts)
            elif wrong := _BROKEN.match(self._came, self._at):
                escape = quoted(wrong[0])
                raise ValueError(f"the argument holds the invalid JSON escape '{escape}'")
            yield
            self.plain = False


def _unescaped(piece: str) -> str:
    """What a piece of a JSON string says; half a character and NUL become U+FFFD."""
    if "\\" not in piece:
        return piece
    text: str = _read_json(f'"{piece}"')[0]
    return mended(text).replace("\0", "\ufffd")


def _broken(sign: str) -> ValueError:
    return ValueError(f"the argument is broken JSON at '{quoted(sign)}'; {_FORM}")


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
