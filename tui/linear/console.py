"""Standard input and output of the linear mode, in the main thread.

The main thread waits for lines (readline edits them where there is a terminal); the event loop
runs in another one. What is to be said is written by the main thread, too, which a signal wakes:
so nothing is ever written into the middle of a line that is being typed. While something stands
in the line, what comes waits until it is entered or taken back.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from types import FrameType
from typing import Any

from msgspec import Struct

from tui.linear.app import Mode

MOST_BYTES = 8 * 1024 * 1024
"""A line that is longer is none."""
_CHUNK = 65_536
Complete = Callable[[str, str], Sequence[str]]
"""What a word could become, given the line up to it."""


class NotText(Exception):
    """A line that cannot be taken, in words."""


class PlainLines:
    """Whatever gives lines: a pipe, a file, a terminal that edits its lines itself."""

    edits = False
    """The line is edited here, not by the terminal."""

    def __init__(self, descriptor: int, *, live: bool = False, shows: bool = False) -> None:
        """``live``: stdin is a terminal; ``shows``: stdout is one, so prompts are printed, too."""
        self.live = live
        self.shows = shows
        self.ended = False
        self._descriptor = descriptor
        self._data = bytearray()
        self._looked, self._end = 0, -1
        self._too_long = False
        self._hidden = False

    @property
    def typed(self) -> str:
        """Not known before the line is entered."""
        return ""

    @property
    def entered(self) -> bool:
        """A line was entered, or the end of it all came behind the last one."""
        return self._end >= 0 or self._data.find(b"\n", self._looked) >= 0

    def wait(self, prompt: str) -> None:
        """Until a line was entered. Raises EOFError, and what a signal's handler raises."""
        while (end := self._data.find(b"\n", self._looked)) < 0:
            if len(self._data) > MOST_BYTES:
                self._too_long = True
                self._data.clear()
            self._looked = len(self._data)
            try:
                # In C alone: no signal's handler runs before what was read is kept.
                chunks = map(os.read, (self._descriptor,), (_CHUNK,))
                self._data.extend(chain.from_iterable(chunks))
            except OSError as error:  # the terminal is gone
                self.ended = True
                raise EOFError from error
            if len(self._data) == self._looked:
                if not self._data and not self._too_long:
                    # a terminal may go on after Ctrl+D, a pipe does not
                    self.ended = not self.live
                    raise EOFError
                end = len(self._data)
                break
        self._end = end

    def take(self) -> str:
        """The line that was entered. Raises NotText."""
        line, too_long = bytes(self._data[: self._end]), self._too_long
        del self._data[: self._end + 1]
        self._looked, self._end, self._too_long = 0, -1, False
        if too_long or len(line) > MOST_BYTES:
            raise NotText(f"a line of more than {MOST_BYTES >> 20} MB was left out")
        return _decoded(line)

    def drop(self) -> None:
        """Nothing is known of it."""

    def keep(self) -> None:
        """Nothing is known of it."""

    def hide(self, on: bool) -> None:
        """By the terminal's own means."""
        if on != self._hidden and self.live:
            _echo(self._descriptor, not on)
            self._hidden = on


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
        self._kept: deque[str] = deque()
        self._lines: deque[str] = deque()
        self._unseen = PlainLines(0, live=True)
        self._hidden = False
        for line in past:
            readline.add_history(line)
        readline.set_completer_delims(" \t\n")
        readline.set_completer(self._completion)
        # In C alone: what a signal's handler raises in a hook of Python's ends that hook unnoticed.
        begin = map(readline.insert_text, iter(self._kept.popleft, None))
        readline.set_startup_hook(partial(next, begin))
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
        """What stands in the line; of a hidden one nothing is known."""
        return "" if self._hidden else self._readline.get_line_buffer()

    @property
    def entered(self) -> bool:
        """A line was entered that nobody has taken yet."""
        return bool(self._lines) or self._unseen.entered

    def wait(self, prompt: str) -> None:
        """Write the prompt and wait until a line was entered.

        Raises EOFError or NotText, and what a signal's handler raises.
        """
        try:
            if self._hidden:
                self._wait_unseen(prompt)
            else:
                # In C alone: no signal's handler runs before the line that readline gives is kept.
                self._lines.extend(map(input, (prompt,)))
        except EOFError:
            with suppress(OSError):  # the terminal may be gone
                os.write(1, b"\n")
            raise
        except UnicodeDecodeError as error:
            raise NotText("that line was not UTF-8 and was left out") from error

    def take(self) -> str:
        """The line that was entered. Raises NotText."""
        if self._unseen.entered:
            return self._unseen.take()
        line = self._lines.popleft()
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
        self._kept.clear()
        self._kept.append(self.typed)

    def hide(self, on: bool) -> None:
        """Read without readline, which would show and keep it."""
        self._hidden = on

    def _wait_unseen(self, prompt: str) -> None:
        """As `getpass` does it, but what was typed ahead, before or behind the line, stays."""
        self._unseen.hide(True)
        try:
            os.write(1, prompt.encode())
            self._unseen.wait(prompt)
        finally:
            self._unseen.hide(False)
        os.write(1, b"\n")

    def _remember(self, line: str) -> None:
        length = self._readline.get_current_history_length()
        last = self._readline.get_history_item(length) if length else None
        if line.strip() and line != last:
            self._readline.add_history(line)

    def _completion(self, word: str, state: int) -> str | None:
        if state == 0:
            line = self._readline.get_line_buffer()[: self._readline.get_begidx()]
            self._found = self._complete(line, word)
        return self._found[state] if state < len(self._found) else None


LineSource = PlainLines | EditedLines


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


def _echo(descriptor: int, on: bool) -> None:
    """Whether the terminal shows what is typed, line by line."""
    import termios

    with suppress(termios.error, OSError):
        modes = termios.tcgetattr(descriptor)
        modes[3] = modes[3] | termios.ECHO if on else modes[3] & ~termios.ECHO
        modes[3] |= termios.ICANON
        termios.tcsetattr(descriptor, termios.TCSADRAIN, modes)


def _decoded(line: bytes) -> str:
    try:
        text = line.removesuffix(b"\r").decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotText(f"a line was not UTF-8 (byte {error.start + 1}) and was left out") from error
    if "\0" in text:
        raise NotText("a line held a NUL character and was left out")
    return text


PROMPTS: dict[Mode, str] = {"ready": "> ", "more": "... ", "busy": "", "secret": "Key: "}
_WAKING = getattr(signal, "SIGRTMIN", getattr(signal, "SIGUSR1", None))
"""Python runs handlers in the order of the numbers: where several signals came at once this one is
the last, so it alone may raise."""
_ENDING = tuple(
    number for name in ("SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None
)


_PAUSE_S, _SETTLE_S = 0.1, 1.0
_Handler = Callable[[int, FrameType | None], Any] | int | signal.Handlers | None


class _Again(BaseException):
    """The line is read anew: another prompt, or it is over."""


class Listener(Struct, frozen=True):
    """Who is told, from the main thread; each returns at once."""

    line: Callable[[str, Callable[[], None]], None]
    """A line, and what to call when it was taken up."""
    interrupted: Callable[[bool, Callable[[], None]], None]
    ended: Callable[[], None]
    killed: Callable[[int], None]
    typing: Callable[[str], None]
    """What stands in the line that is being typed, now and then."""


class Console:
    """Ear and mouth; `serve` is called in the main thread, all else from any."""

    def __init__(self, source: LineSource, output: int, encoding: str = "utf-8") -> None:
        """``output`` is the file descriptor to write to. Called in the main thread."""
        self._encoding = encoding
        self._source = source
        self._output = output
        self._waiting: deque[str] = deque()
        self._mode: Mode = "busy"
        self._stoppable = False
        self._shown: Mode = "busy"
        """Whose prompt stands in the line."""
        self._reading = False
        self._hushed = self._asked = False
        self._pressed = self._restart = False
        """Ctrl+C is being looked at; the line is to be read anew."""
        self._ending = self._over = False
        """A signal has ended it; the session has ended, too."""
        self._bell = threading.Event()
        self.finished = threading.Event()
        """No line is read any more: `left_over` is what it will be."""
        self._main = threading.main_thread().ident
        self._settling: threading.Event | None = None
        self._seen = ""
        self.left_over = ""
        """What stood in the line when it was over."""
        if _WAKING is not None:
            # from now on, and to the end of the process: what wakes must never end it
            signal.signal(_WAKING, self._woken)
        self._listener: Listener | None = None
        self._before: dict[int, _Handler] = {}

    @property
    def holding(self) -> bool:
        """True while lines wait, or another prompt is due, since the user is typing."""
        return bool(self._waiting) or self._shown != self._mode

    @property
    def width(self) -> int | None:
        """Columns of the terminal; None: there is no terminal."""
        try:
            return os.get_terminal_size(self._output).columns or None
        except OSError:
            return None

    def say(self, text: str) -> None:
        """Whole lines."""
        self._waiting.append(text)
        self._ring()

    def look(self) -> bool:
        """Tell what is being typed; False: the look before this one still waits for its turn."""
        waits, self._asked = self._asked, True
        self._ring()
        return not waits

    def hush(self, on: bool) -> None:
        """Another program has the terminal: nothing is written, Ctrl+C is its own."""
        self._hushed = on

    def mode(self, mode: Mode, stoppable: bool) -> None:
        """What the next line will be."""
        self._mode, self._stoppable = mode, stoppable
        if self.holding:
            self._ring()

    def close(self) -> None:
        """It is over: `serve` returns."""
        self._over = True
        self._bell.set()
        self._ring()

    def finish(self, wait_s: float = math.inf) -> None:
        """Close, and wait until no line is read any more, or so long. Not for who serves.

        A signal between Python's last look for one and the call that waits for a line ends no
        wait: it is given until it is heard.
        """
        until_s = time.monotonic() + wait_s
        self.close()
        while not self.finished.wait(_PAUSE_S) and time.monotonic() < until_s:
            self._ring()

    def serve(self, listener: Listener) -> None:
        """Read lines and write what is said until `close`. Raises BrokenPipeError.

        Signals are still caught then: what is unsaved is being kept. `release` ends that.
        """
        self._listener = listener
        try:
            self._before = self._catch()
            while not self._over:
                self._settle()
                self._write()
                if self._source.ended or self._ending:
                    self._bell.wait(_PAUSE_S)
                else:
                    self._read()
        finally:
            self._over = True
            self._source.hide(False)
            self.finished.set()
        self._write()

    def release(self) -> None:
        """Signals mean again what they meant before."""
        for number, handler in self._before.items():
            signal.signal(number, handler)

    # inside: main thread only

    def _read(self) -> None:
        """One line, or a reason to begin anew."""
        listener = self._listener
        assert listener is not None
        self._shown = self._mode
        self._seen, self._restart = "", False
        try:
            self._reading = True
            try:
                if self._over or self._waiting:
                    return
                self._source.hide(self._shown == "secret")
                if not self._source.edits:
                    self._prompt()
                self._source.wait(PROMPTS[self._shown])
            finally:
                self._reading = False
            line = self._source.take()
        except _Again:
            return
        except SystemError as error:
            # Python runs the handlers of what came meanwhile while `_Again` is on its way
            if not isinstance(error.__cause__, _Again):
                raise
            if self._pressed:
                self._interrupted(signal.SIGINT, None)
            return
        except EOFError:
            listener.ended()
            return
        except NotText as why:
            self._waiting.append(f"Warning: {why}.\n")
            return
        if self._ending or self._over:
            self.left_over = line
            return
        taken = threading.Event()
        listener.line(line, taken.set)
        while not taken.wait(_PAUSE_S) and not self._over:
            self._write()

    def _ring(self) -> None:
        """Have the main thread look."""
        if _WAKING is not None and self._main is not None:
            with suppress(ProcessLookupError):
                signal.pthread_kill(self._main, _WAKING)

    def _woken(self, number: int, frame: FrameType | None) -> None:
        """In the main thread, between two keys; readline lets it in when it waits for one."""
        self._asked = False
        if not self._reading or self._source.entered:
            return
        if self._over or self._restart:
            raise _Again
        typed = self._source.typed
        if typed != self._seen and self._listener is not None:
            self._seen = typed
            self._listener.typing(typed)
        if typed or not self.holding:
            return
        self._write("\n" if self._source.shows and PROMPTS[self._shown] else "")
        if not self._source.edits:
            # no line may get lost that was read just now
            self._shown = self._mode
            self._source.hide(self._shown == "secret")
            self._prompt()
        elif self._shown == self._mode:
            self._prompt()
        else:
            raise _Again

    def _again(self) -> None:
        """In a handler: have the line read anew."""
        self._restart = True
        self._ring()

    def _prompt(self) -> None:
        if self._source.shows:
            self._put(PROMPTS[self._shown])

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        """Ctrl+C: what runs is stopped; else what stands in the line is dropped."""
        listener = self._listener
        if listener is None or self._over or self._hushed:
            return
        self._pressed = True
        source, taken = self._source, threading.Event()
        typed = self._reading and bool(source.typed)
        drop = typed and not self._stoppable
        if drop:
            source.drop()
        elif typed:
            source.keep()
        if typed or (source.shows and not source.edits):
            self._put("\n")  # behind what was typed, or the terminal's own ^C
        listener.interrupted(drop, taken.set)
        self._pressed = False
        if typed:
            self._settling = taken
            self._again()

    def _settle(self) -> None:
        """After Ctrl+C in a line: what became of it is heard before the line goes on."""
        taken, self._settling = self._settling, None
        if taken is None:
            return
        taken.wait(_SETTLE_S)
        tries = round(_SETTLE_S / _PAUSE_S)
        while self._stoppable and not self._over and tries:
            self._bell.wait(_PAUSE_S)
            tries -= 1

    def _killed(self, number: int, frame: FrameType | None) -> None:
        """The end by force: what stands in the line is kept with the rest."""
        self._ending = True
        typed = self._source.typed if self._reading else ""
        self.left_over = typed or self._seen
        if self._listener is not None:
            self._listener.killed(128 + number)
        if typed:
            self._again()
        # else nothing stands there, or a terminal that is gone hands it over as a whole line

    def _continued(self, number: int, frame: FrameType | None) -> None:
        """Back from the shell: the terminal is as the shell left it."""
        if self._reading and self._source.edits:
            self._source.keep()
            self._put("\n")
            self._again()

    def _catch(self) -> dict[int, _Handler]:
        handlers: dict[int, _Handler] = {
            signal.SIGINT: self._interrupted,
            **dict.fromkeys(_ENDING, self._killed),
        }
        if hasattr(signal, "SIGCONT"):
            handlers[signal.SIGCONT] = self._continued
        return {number: signal.signal(number, handler) for number, handler in handlers.items()}

    def _write(self, lead: str = "") -> None:
        """All that waits, on a line of its own."""
        if self._hushed:
            return
        if lead and not self._waiting:
            self._put(lead)
        while self._waiting:
            self._put(lead + self._waiting.popleft())
            lead = ""

    def _put(self, text: str) -> None:
        """Past Python's buffer: a signal may come in the middle of it. Raises BrokenPipeError."""
        data = text.encode(self._encoding, "backslashreplace")
        try:
            while data:
                data = data[os.write(self._output, data) :]
        except BrokenPipeError:
            raise
        except OSError:
            if not (
                self._over or self._ending
            ):  # else the terminal is gone, and nobody reads the last words
                raise
