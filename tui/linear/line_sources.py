"""Where lines come from: a terminal with readline, one without, or a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Protocol

MOST_BYTES = 8 * 1024 * 1024
"""A line that is longer is none."""
_CHUNK = 65_536
Complete = Callable[[str, str], Sequence[str]]
"""What a word could become, given the line up to it."""


class NotText(Exception):
    """A line that cannot be taken, in words."""


class LineSource(Protocol):
    """One line at a time."""

    live: bool
    """Somebody types."""
    shows: bool
    """Prompts are shown: what is said goes to a terminal, too."""
    edits: bool
    """The line is edited here, not by the terminal."""
    ended: bool

    @property
    def typed(self) -> str:
        """What stands in the line now, as far as that can be known."""

    def read(self, prompt: str) -> str:
        """The next line, without its end; who edits it writes the prompt, too.

        Raises EOFError or NotText.
        """

    def drop(self) -> None:
        """What stands in the line goes into the history."""

    def keep(self) -> None:
        """What stands in the line will stand in the next one."""


class PlainLines:
    """Whatever gives lines: a pipe, a file, a terminal that edits its lines itself."""

    edits = False

    def __init__(self, descriptor: int, *, live: bool = False, shows: bool = False) -> None:
        self.live = live
        self.shows = shows
        self.ended = False
        self._descriptor = descriptor
        self._data = bytearray()
        self._looked = 0

    @property
    def typed(self) -> str:
        """Not known before the line is entered."""
        return ""

    def read(self, prompt: str) -> str:
        """The next line. Raises EOFError or NotText."""
        too_long = False
        while (end := self._data.find(b"\n", self._looked)) < 0:
            if len(self._data) > MOST_BYTES:
                too_long = True
                self._data.clear()
            self._looked = len(self._data)
            try:
                chunk = os.read(self._descriptor, _CHUNK)
            except OSError as error:  # the terminal is gone
                self.ended = True
                raise EOFError from error
            self._data += chunk
            if not chunk:
                if not self._data and not too_long:
                    # a terminal may go on after Ctrl+D, a pipe does not
                    self.ended = not self.live
                    raise EOFError
                end = len(self._data)
                break
        line = bytes(self._data[:end])
        del self._data[: end + 1]
        self._looked = 0
        if too_long or len(line) > MOST_BYTES:
            raise NotText(f"a line of more than {MOST_BYTES >> 20} MB was left out")
        return _decoded(line)

    def drop(self) -> None:
        """Nothing is known of it."""

    def keep(self) -> None:
        """Nothing is known of it."""


class EditedLines:
    """A terminal with readline: history, the user's own keys, completion, pasted lines."""

    live = True
    shows = True
    edits = True
    ended = False

    def __init__(self, complete: Complete, past: Iterable[str], *, vi: bool = False) -> None:
        """``past``: what was entered in earlier runs, oldest first."""
        import readline

        self._readline = readline
        self._complete = complete
        self._found: Sequence[str] = ()
        self._kept = ""
        for line in past:
            readline.add_history(line)
        readline.set_completer_delims(" \t\n")
        readline.set_completer(self._completion)
        readline.set_startup_hook(self._begin)
        readline.set_auto_history(False)
        if vi:
            readline.parse_and_bind("set editing-mode vi")
        readline.parse_and_bind("tab: complete")
        # many lines that are pasted are one prompt
        readline.parse_and_bind("set enable-bracketed-paste on")
        readline.parse_and_bind("set enable-active-region off")
        # a question in the middle of a list would stand in the way of a voice
        readline.parse_and_bind("set completion-query-items 0")
        readline.parse_and_bind("set page-completions off")

    @property
    def typed(self) -> str:
        """What stands in the line."""
        return self._readline.get_line_buffer()

    def read(self, prompt: str) -> str:
        """The next line. Raises EOFError or NotText."""
        try:
            line = input(prompt)
        except EOFError:
            with suppress(OSError):  # the terminal may be gone
                os.write(1, b"\n")
            raise
        except UnicodeDecodeError as error:
            raise NotText("that line was not UTF-8 and was left out") from error
        try:
            line.encode()
        except UnicodeEncodeError as error:
            raise NotText("that line was not UTF-8 and was left out") from error
        self._remember(line)
        return line

    def drop(self) -> None:
        """What stands in the line goes into the history."""
        self._remember(self.typed)

    def keep(self) -> None:
        """What stands in the line will stand in the next one."""
        self._kept = self.typed

    def _remember(self, line: str) -> None:
        length = self._readline.get_current_history_length()
        last = self._readline.get_history_item(length) if length else None
        if line.strip() and line != last:
            self._readline.add_history(line)

    def _begin(self) -> None:
        kept, self._kept = self._kept, ""
        if kept:
            self._readline.insert_text(kept)

    def _completion(self, word: str, state: int) -> str | None:
        if state == 0:
            line = self._readline.get_line_buffer()[: self._readline.get_begidx()]
            self._found = self._complete(line, word)
        return self._found[state] if state < len(self._found) else None


def source_of(complete: Complete, past: Iterable[str], *, vi: bool = False) -> LineSource:
    """What fits this process's standard input; ``past``: what was entered in earlier runs.

    ``vi``: the line has the keys of vi.
    """
    stdin, stdout = sys.stdin, sys.stdout
    if not stdin.isatty():
        return PlainLines(stdin.fileno())
    if stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        try:
            return EditedLines(complete, past, vi=vi)
        except ImportError:
            pass
    return PlainLines(stdin.fileno(), live=True, shows=stdout.isatty())


def _decoded(line: bytes) -> str:
    try:
        text = line.removesuffix(b"\r").decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotText(f"a line was not UTF-8 (byte {error.start + 1}) and was left out") from error
    if "\0" in text:
        raise NotText("a line held a NUL character and was left out")
    return text
