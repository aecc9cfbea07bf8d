"""What tokens of the terminal mean: Textual's events.

Textual's tables name the keys; what they cannot read is respelled first. That is Alt with a
character in its short form, which Textual takes for a Mac's option key (Alt+Enter would be Enter,
which stops the answer); xterm's modifyOtherKeys; and of the Kitty protocol the other layouts' keys,
the locks and Shift with a character. It leans on names of Textual's:
``tests/ui/test_key_decoder.py`` fails when Textual moves them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from textual import events
from textual.drivers import linux_driver
from textual.keys import Keys
from textual.message import Message
from textual.messages import TerminalSupportsSynchronizedOutput

from tui.core.text.patterns import pattern
from tui.ui.terminal.input_stream import ESC, Token


class _Parser(Protocol):
    """Textual's parser of terminal input, of which two methods are used."""

    def parse_mouse_code(self, code: str) -> Message | None:
        """The event of a mouse report."""

    def _sequence_to_key_events(self, sequence: str) -> Iterable[events.Key]:
        """The keys of a character or a sequence."""


_new_parser: Callable[[], _Parser] = vars(linux_driver)["XTermParser"]
_KEPT_SHORT = frozenset({"b", "f", "\t", "\x7f"})
"""Terminals send these for Alt with an arrow, Shift+Tab and Ctrl+W, and Textual knows them."""
_OTHER_KEYS = pattern(r"\x1b\[27;(\d+);(\d+)~")
"""What xterm's modifyOtherKeys and tmux's extended-keys send for a key with modifiers."""
_KITTY = pattern(
    r"\x1b\[(?P<code>\d*)(?::(?P<shifted>\d*))?(?::(?P<base>\d*))?"
    r"(?:;(?P<modifiers>\d*)(?::(?P<event>\d+))?)?(?:;(?P<text>[\d:]*))?(?P<final>[u~ABCDEFHPQRS])"
)
_SYNC_REPORT = pattern(r"\x1b\[\?2026;([1-4])\$y")
_KITTY_REPORT = pattern(r"\x1b\[\?(\d+)u")
_KITTY_ESC = "\x1b[27u"
_RELEASED = "3"
_RUN_CHARS, _SAME_CHARS = 64, 256
"""Nobody types so many characters between two reads, nor so many by a key that is held down: that
is a paste of a terminal that does not mark it. As keys a megabyte would take minutes."""
_MOST_SAME_KEYS = 64
"""Repeats of one key that one read may bring; more were held down while the app was busy."""
_RUN = pattern(r"[^\x00-\x1f\x7f]+|.", re.DOTALL)
_SHIFT, _REAL = 1, 63
"""Bits of a modifier number less one; the two above `_REAL` are Caps Lock and Num Lock."""


class KeyDecoder:
    """Turns tokens into messages; keeps where the mouse was."""

    def __init__(self) -> None:
        self.on_kitty: Callable[[bool], None] = lambda on: None
        """Called when the terminal says, or shows, whether it speaks the Kitty protocol."""
        self.on_reply: Callable[[str], bool] = lambda sequence: False
        """Called with what may be the terminal's answer; True: it was one, and no key."""
        self._parser = _new_parser()

    def messages(self, tokens: Iterable[Token]) -> list[Message]:
        """The events of these tokens, in order.

        Of mouse moves on end, the last one; of the focus coming and going on end, too.
        """
        found: list[Message] = []
        same = 0
        for token in tokens:
            for message in self._of(token):
                same = same + 1 if _is_same_key(found, message) else 0
                if _is_same_move(found, message) or _is_focus_again(found, message):
                    found[-1] = message
                elif same < _MOST_SAME_KEYS:
                    found.append(message)
        return found

    def _of(self, token: Token) -> Iterator[Message]:
        kind, text = token
        if kind == "paste":
            yield _pasted(text)
        elif kind == "escape":
            yield events.Key("escape", ESC)
        elif kind == "sequence":
            try:
                yield from self._sequence(text)
            except (ValueError, OverflowError):
                return  # numbers that no terminal sends
        elif _is_joined(text):
            yield events.Paste(text)
        else:
            for run in _RUN.findall(text):
                if _is_long(run):
                    yield events.Paste(run)
                    continue
                for character in run:
                    yield from self._named(character)

    def _sequence(self, sequence: str) -> Iterator[Message]:
        if sequence == "\x1b[I":
            yield events.AppFocus()
        elif sequence == "\x1b[O":
            yield events.AppBlur()
        elif sequence.startswith("\x1b[<"):
            if (event := self._parser.parse_mouse_code(sequence)) is not None:
                yield event
        elif _SYNC_REPORT.fullmatch(sequence):
            yield TerminalSupportsSynchronizedOutput()
        elif report := _KITTY_REPORT.fullmatch(sequence):
            self.on_kitty(bool(int(report[1]) & 1))
        elif not self.on_reply(sequence):
            if sequence == _KITTY_ESC:
                self.on_kitty(True)
            for spelled in respelled(sequence):
                yield from self._named(spelled)

    def _named(self, sequence: str) -> Iterator[Message]:
        keys = self._parser._sequence_to_key_events(sequence)
        yield from (key for key in keys if key.key != Keys.Ignore)


def respelled(sequence: str) -> Iterator[str]:
    """A key's sequence (or the character it types) as Textual's tables know it; none: no key."""
    if len(sequence) == 2:
        yield _alt(sequence)
        return
    sequence = _OTHER_KEYS.sub(rf"{ESC}[\2;\1u", sequence)
    found = _KITTY.fullmatch(sequence)
    if found is None:
        yield sequence
    elif found["event"] != _RELEASED:
        yield _plain(found)


def _alt(sequence: str) -> str:
    """ESC and a character, in the long form: Alt (4: and Shift, 7: and Ctrl) and its code."""
    character = sequence[1]
    if character in _KEPT_SHORT:
        return sequence
    if character < " " and character != "\r":
        return f"{ESC}[{ord(character) + 96};7u"
    lower = character.lower()
    if lower != character and len(lower) == 1:
        return f"{ESC}[{ord(lower)};4u"
    return f"{ESC}[{ord(character)};3u"


def _plain(found: re.Match[str]) -> str:
    """A key of the Kitty protocol in two numbers, or the text that it types."""
    code, final = int(found["code"] or 1), found["final"]
    bits = (int(found["modifiers"] or 1) - 1) & _REAL
    if final != "u":
        return f"{ESC}[{code};{bits + 1}{final}" if bits else f"{ESC}[{found['code']}{final}"
    shifted, base = int(found["shifted"] or 0), int(found["base"] or 0)
    if found["text"] and not bits & ~_SHIFT:
        return "".join(chr(int(part)) for part in found["text"].split(":") if part)
    if code > 127 and 32 < base < 127:
        code, shifted = base, 0  # Ctrl+C is Ctrl+C on a Cyrillic keyboard too
    typed = 32 <= code < 57344 and code != 127
    if typed and not bits & ~_SHIFT:
        return (chr(shifted) if shifted else chr(code).upper()) if bits else chr(code)
    if typed and bits & _SHIFT and shifted and not chr(code).isalpha():
        code, bits = shifted, bits & ~_SHIFT  # Ctrl+Shift+- is Ctrl+_
    if code in (27, 127):
        bits &= ~_SHIFT  # Esc is Esc, Backspace is Backspace
    return f"{ESC}[{code};{bits + 1}u" if bits else f"{ESC}[{code}u"


def _pasted(text: str) -> events.Paste:
    """Terminals send a carriage return for every line's end; NUL is no text."""
    return events.Paste(text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", ""))


def _is_joined(text: str) -> bool:
    """Whether an input method typed what must not be taken apart: a family, a flag, a joiner."""
    return not text.isascii() and any(unicodedata.category(c) == "Cf" for c in text)


def _is_long(run: str) -> bool:
    """Whether so many characters cannot have been typed one by one."""
    return len(run) >= (_RUN_CHARS if run.count(run[0]) < len(run) else _SAME_CHARS)


def _is_same_key(found: list[Message], message: Message) -> bool:
    """Whether the key before was this one."""
    last = found[-1] if found else None
    return (
        isinstance(last, events.Key)
        and isinstance(message, events.Key)
        and (last.key == message.key)
    )


def _is_focus_again(found: list[Message], message: Message) -> bool:
    """Whether the window's focus has just changed, and changes again."""
    focus = (events.AppFocus, events.AppBlur)
    return bool(found) and isinstance(found[-1], focus) and isinstance(message, focus)


def _is_same_move(found: list[Message], message: Message) -> bool:
    """Whether the mouse has just moved on, with the same buttons and keys held."""
    if not (found and isinstance(message, events.MouseMove)):
        return False
    last = found[-1]
    return isinstance(last, events.MouseMove) and (
        (last.button, last.shift, last.meta, last.ctrl)
        == (message.button, message.shift, message.meta, message.ctrl)
    )
