"""The terminal: keys in and frames out, in the event loop itself.

Textual's own driver reads and writes in threads of its own. Its input thread looks for an overdue
ESC every 0.1 s whatever ESCDELAY says, a thread that writes needs Python's one lock while the loop
is busy with a model's tokens, and a terminal that takes nothing stops the loop, so that not even
Esc is read. Here the loop reads what is there and writes what the terminal takes (`OutputPipe`):
the rest goes out when it can. The terminal is opened anew for that: not to wait is a property of
the opened file, which the shell's must not get.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import select
import signal
import sys
import termios
import time
import tty
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from textual import events
from textual.driver import Driver
from textual.geometry import Size

from tui import kept_frame
from tui.core.stamping import Stamp, no_stamp
from tui.ui.key_decoder import KeyDecoder
from tui.ui.key_queue import KeyQueue, TypedKey
from tui.ui.terminal.input_stream import InputStream, Token
from tui.ui.terminal.terminal_app import ENDING

if TYPE_CHECKING:
    from textual.app import App
    from textual.message import Message


MOST_BYTES = 2**20
"""More than this is not kept for a terminal that takes nothing; it is painted anew later."""
_CANCEL = "\x18"
"""Ends a sequence of which the terminal has got the beginning only."""
_LAST_S = 0.1
_CHUNK_BYTES = 65536
_SHY_BYTES = 256
"""For a terminal that could only be had in the waiting way: so much it always has room for."""


class OutputPipe:
    """What is written goes out in order, as soon as the terminal takes it."""

    def __init__(self, fileno: int, stamp: Stamp = no_stamp) -> None:
        """``fileno`` is the terminal's; a running event loop is needed for what has to wait."""
        self.on_missed: Callable[[], None] = lambda: None
        """Called when there is room again after something was not kept."""
        self.on_drained: Callable[[], None] | None = None
        """Called once when all is written that the terminal did not take at first."""
        self.frames = 0
        """How often a flush was written through."""
        self._loop = asyncio.get_running_loop()
        self._stamp = stamp
        self._fd, self._patient = _opened(fileno)
        self._waiting = bytearray()
        self._written = self._taken = 0
        self._marks: list[int] = []
        """Where the flushes that wait end, in bytes taken."""
        self.behind = self._scheduled = self._missed = False
        """The terminal has not taken all yet: a frame painted now would only wait."""
        self.gone = False
        """The terminal was closed: nothing is written any more."""

    def write(self, text: str, *, must: bool = False) -> None:
        """Queue text; it goes out with the next `flush`, or at the end of this turn of the loop.

        ``must``: it is no picture, which is painted anew later where there is no room for it now.
        """
        if self.gone or self._fd < 0:
            return
        if len(self._waiting) > MOST_BYTES and not must:
            self._missed = True
            return
        data = text.encode("utf-8", "replace")
        self._waiting += data
        self._taken += len(data)
        if not (self._scheduled or self._loop.is_closed()):
            self._scheduled = True
            self._loop.call_soon(self._flush_late)

    def flush(self) -> None:
        """Write what the terminal takes now."""
        self._scheduled = False
        if self._taken > (self._marks[-1] if self._marks else self._written):
            self._marks.append(self._taken)
        if not self.behind:
            self._pump()

    def finish(self, deadline_s: float, last: str = "") -> None:
        """Write the rest and ``last``, waiting so many seconds at most; then nothing is queued.

        What the terminal has not taken by then is dropped, wherever it waits; ``last`` is not. A
        frame that waited for room is not painted: the terminal is no longer ours, nor the thread.
        """
        self.on_drained, self._missed = None, False
        self.write(last, must=True)
        self._drain(deadline_s)
        if self._waiting and not self.gone:
            with contextlib.suppress(termios.error, OSError):
                termios.tcflush(self._fd, termios.TCOFLUSH)
            self._waiting[:] = (_CANCEL + last).encode()
            self._drain(_LAST_S)
        self._waiting.clear()
        self._marks.clear()
        self._written = self._taken
        self._listen(False)

    def _drain(self, deadline_s: float) -> None:
        until = time.monotonic() + deadline_s
        while self._waiting and not self.gone and (left_s := until - time.monotonic()) > 0:
            with contextlib.suppress(OSError, ValueError):
                select.select([], [self._fd], [], min(left_s, 0.1))
            self._pump()

    def close(self) -> None:
        """Give the file back."""
        self._listen(False)
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def _flush_late(self) -> None:
        if self._scheduled:
            self.flush()

    def _pump(self) -> None:
        """Write until the terminal is full or nothing is left."""
        try:
            while self._waiting and self._fd >= 0:
                self._took(os.write(self._fd, self._chunk()))
        except BlockingIOError:
            self._listen(True)
            return
        except OSError:
            self.gone = True
            self._waiting.clear()
        self._listen(False)
        if self._missed and not self.gone:
            self._missed = False
            self.on_missed()
        if (call := self.on_drained) is not None:
            self.on_drained = None
            call()

    def _chunk(self) -> bytes:
        """As much as can be written without waiting. Raises BlockingIOError: nothing."""
        if self._patient:
            return bytes(self._waiting[:_CHUNK_BYTES])
        if not select.select([], [self._fd], [], 0)[1]:
            raise BlockingIOError
        return bytes(self._waiting[:_SHY_BYTES])

    def _took(self, size: int) -> None:
        del self._waiting[:size]
        self._written += size
        while self._marks and self._marks[0] <= self._written:
            del self._marks[0]
            self.frames += 1
            self._stamp("painted", str(self.frames))

    def _listen(self, wanted: bool) -> None:
        if wanted == self.behind:
            return
        self.behind = wanted
        if self._loop.is_closed():
            return
        if wanted:
            self._loop.add_writer(self._fd, self._pump)
        else:
            self._loop.remove_writer(self._fd)


def _opened(fileno: int) -> tuple[int, bool]:
    """The terminal once more, and whether it can be written to without waiting."""
    flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    with contextlib.suppress(OSError):
        return os.open(os.ttyname(fileno), flags), True
    return os.dup(fileno), False


READ_BYTES = 65536
RESIZE_S = 1 / 60
"""Between two sizes that the app is told: dragging a window's edge sends hundreds a second."""
LAST_S = 1.0
"""So long the way out waits for a terminal that takes nothing."""
_KITTY_FLAGS = 1 | 4
"""Disambiguate (Esc is no longer the beginning of something) and other layouts' keys."""
_ENTER = (
    "\x1b[?1049h\x1b[?25l\x1b[?1000h\x1b[?1003h\x1b[?1006h\x1b[?1004h\x1b[?2004h\x1b[?7l"
    f"\x1b[>{_KITTY_FLAGS}u"
)
"""Other screen, no cursor, mouse, focus, paste, no wrapping, and the Kitty protocol: it belongs to
the screen, so it comes after its change."""
_ASK = "\x1b[>4;1m\x1b[0m\x1b[?u\x1b[?2026$p"
"""For keys as xterm and tmux tell them apart (what takes that for an attribute gets it taken back),
and whether the terminal knows the Kitty protocol and synchronized output."""
LEAVE = (
    "\x1b[?2026l\x1b[>4m\x1b[0m\x1b[<u\x1b[?2004l\x1b[?1004l\x1b[?1006l\x1b[?1003l\x1b[?1000l"
    "\x1b]22;\x07\x1b[?7h\x1b[?1049l\x1b[?25h"
)
"""Textual sets the shape of the mouse's pointer (22): empty is the terminal's own again."""
_SIGNALS = (signal.SIGWINCH, signal.SIGTSTP, signal.SIGCONT)


class TerminalDriver(Driver):
    """Runs a terminal for Textual on Linux and macOS."""

    def __init__(
        self,
        app: App[object],
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
    ) -> None:
        """As Textual makes it, in the running event loop."""
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self.fileno = _input_fileno()
        self._stamp: Stamp = getattr(app, "stamp", no_stamp)
        self._pipe = OutputPipe(_output_fileno(), self._stamp)
        self._pipe.on_missed = self._repaint
        self._order = KeyQueue(app.post_message, self._loop)
        if (session := getattr(app, "session", None)) is not None:
            self._order.first = session.input_first
        if (until_wanted := getattr(app, "hold_keys", None)) is not None:
            self._order.hold()
            until_wanted(self._order.release, self._order.hold)
        self._stream = InputStream()
        self._words = KeyDecoder()
        self._words.on_kitty = self._learn_kitty
        self._words.on_reply = getattr(app, "replied", self._words.on_reply)
        self._questions: Callable[[], str] = getattr(app, "questions", str)
        self._goodbye: Callable[[], str] = getattr(app, "goodbye", str)
        self._decode = getincrementaldecoder("utf-8")("replace").decode
        self._overdue: asyncio.TimerHandle | None = None
        self._resizing: asyncio.TimerHandle | None = None
        self._told_size: tuple[int, int] = (0, 0)
        self._cropped = False
        """The terminal had another size since it was looked at."""
        self._before: list[Any] | None = None
        self.entered = ""
        """What took the terminal, and asked it, at the start."""
        self._on = self._reading = self._suspended = self._gone = False
        for number in (*_SIGNALS, *ENDING):
            with contextlib.suppress(ValueError, RuntimeError):
                self._loop.add_signal_handler(number, self._signalled, number)

    @property
    def can_suspend(self) -> bool:
        """Ctrl+Z's signal, and programs that need the terminal for a while."""
        return True

    @property
    def behind(self) -> bool:
        """The terminal has not taken all yet: a frame painted now would only wait."""
        return self._pipe.behind

    def when_taken(self, call: Callable[[], None]) -> None:
        """Call this once the terminal has taken all; it replaces what was asked for before."""
        self._pipe.on_drained = call

    # -- what Textual asks for

    def write(self, data: str) -> None:
        """Send to the terminal, if it is ours now."""
        if self._on:
            self._pipe.write(data)

    def flush(self) -> None:
        """A frame ends here."""
        if self._on:
            self._pipe.flush()

    def start_application_mode(self) -> None:
        """Take the terminal."""
        if self._on:
            return
        self._on = _is_foreground(self.fileno)
        self._suspended = not self._on
        if self._suspended:
            return  # SIGCONT comes when it is ours
        before = _raw(self.fileno)
        ahead = _typed_ahead(self.fileno, before)
        atexit.register(self._last_resort)
        asked, shown = _entering() + self._questions(), kept_frame.take()
        self.entered = self.entered or asked
        if shown is not None:
            before, ahead = shown.before, shown.ahead + ahead
            asked = "" if asked == shown.entering else shown.leaving.decode() + asked
            self._pipe.write(shown.rest.decode("utf-8", "replace"), must=True)
            shown.close()
        self._before = before
        self._pipe.write(asked, must=True)
        self._pipe.flush()
        self._told_size = (0, 0)
        self._resized()
        self._reading = True
        self._deliver(self._stream.feed(self._decode(ahead), self._loop.time()))
        self._loop.add_reader(self.fileno, self._readable)

    def disable_input(self) -> None:
        """Read nothing more; what the terminal still sends is not left to the shell."""
        self._stop_reading()
        with contextlib.suppress(termios.error, OSError):
            termios.tcflush(self.fileno, termios.TCIFLUSH)

    def stop_application_mode(self) -> None:
        """Give the terminal back as it was."""
        if not self._on:
            kept_frame.leave()
            return
        self._stop_reading()
        self._on = False
        self._pipe.finish(LAST_S, self._goodbye() + LEAVE)
        self.disable_input()
        if self._before is not None:
            with contextlib.suppress(termios.error, OSError):
                termios.tcsetattr(self.fileno, termios.TCSANOW, self._before)
        atexit.unregister(self._last_resort)

    def close(self) -> None:
        """The app has ended."""
        self._stop_reading()
        for number in (*_SIGNALS, *ENDING):
            with contextlib.suppress(ValueError, RuntimeError):
                self._loop.remove_signal_handler(number)
        self._pipe.close()

    def suspend_application_mode(self) -> None:
        """Give the terminal back for a while."""
        self._suspended = True
        self.stop_application_mode()

    def resume_application_mode(self) -> None:
        """Take it again, if it was given back."""
        if self._suspended:
            self.start_application_mode()
            if self._on:
                self._repaint()

    def send_message(self, message: Message) -> None:
        """Hand on to the app, in whose loop this runs."""
        self._order.add(message)

    # -- keys

    def _readable(self) -> None:
        """Take what was typed."""
        data = self._read()
        if data is None:
            return
        self._deliver(self._stream.feed(self._decode(data), self._loop.time()))

    def _read(self) -> bytes | None:
        """What was typed; the end of input means that the terminal is gone."""
        try:
            data = os.read(self.fileno, READ_BYTES)
        except BlockingIOError:
            return None
        except OSError:
            data = b""
        if not data:
            self._stop_reading()
            if not self._gone:
                self._gone = True
                os.kill(os.getpid(), signal.SIGHUP)
            return None
        return data

    def _expire(self) -> None:
        self._overdue = None
        self._deliver(self._stream.expire(self._loop.time()))

    def _deliver(self, tokens: list[Token]) -> None:
        if self._overdue is not None:
            self._overdue.cancel()
            self._overdue = None
        if self._stream.deadline is not None and self._reading:
            self._overdue = self._loop.call_at(self._stream.deadline, self._expire)
        for message in self._words.messages(tokens):
            if isinstance(message, events.Key):
                self._stamp("key", "character" if message.is_printable else message.key)
                self.process_message(TypedKey(message))
            else:
                self.process_message(message)

    def _learn_kitty(self, on: bool) -> None:
        self._stream.sure = on

    def _stop_reading(self) -> None:
        if self._overdue is not None:
            self._overdue.cancel()
            self._overdue = None
        if self._reading:
            self._reading = False
            if not self._loop.is_closed():
                self._loop.remove_reader(self.fileno)

    # -- signals

    def _signalled(self, number: int) -> None:
        if number in ENDING:  # the app sees to these once it is mounted
            self.stop_application_mode()
            self._loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        elif number == signal.SIGWINCH:
            self._cropped = True
            if self._resizing is None and self._on:
                self._resized()
        elif number == signal.SIGTSTP:
            self._stop()
        elif self._auto_restart:
            self._continued()

    def _stop(self) -> None:
        """SIGTSTP: leave the terminal, then stop; SIGCONT comes when it is ours again."""
        if self._auto_restart:
            self.suspend_application_mode()
        os.kill(os.getpid(), signal.SIGSTOP)

    def _continued(self) -> None:
        """SIGCONT. It also comes with a hang-up, and after a SIGSTOP that nobody could notice."""
        if self._suspended:
            self.resume_application_mode()
            if self._on:
                self.send_message(self.SignalResume())
        elif self._on:
            _raw(self.fileno)
            self._pipe.write("\x1b[<u" + _entering(), must=True)
            self._repaint()

    def _resized(self) -> None:
        """Tell the app the size now, and once more when a row of changes has ended."""
        self._resizing = None
        size = _terminal_size(self.fileno)
        if not self._on:
            return
        if size != self._told_size:
            self._told_size = size
            told = Size(*size)
            self.send_message(events.Resize(told, told))
            self._resizing = self._loop.call_later(RESIZE_S, self._resized)
        elif self._cropped:
            # Of several sizes the app may have seen the last one only, which it had before: but
            # the terminal has lost what was cut off.
            self._cropped = False
            self._app.refresh()

    # -- the terminal's state

    def _repaint(self) -> None:
        """Whatever is on the screen is not what the app painted last."""
        self._resized()
        self._app.refresh(layout=True)

    def _last_resort(self) -> None:
        """The interpreter ends and nobody gave the terminal back."""
        with contextlib.suppress(Exception):
            self.stop_application_mode()


@contextlib.contextmanager
def _stopped_by(number: signal.Signals) -> Iterator[None]:
    """Stop the process when this signal comes."""
    before = signal.signal(number, lambda *_: os.kill(os.getpid(), signal.SIGSTOP))
    try:
        yield
    finally:
        signal.signal(number, before)


def has_shell() -> bool:
    """Whether somebody is there who could continue this process once it is stopped."""
    parent = os.getppid()
    with contextlib.suppress(OSError):
        return parent > 1 and os.getsid(parent) == os.getsid(0)
    return False


def _entering() -> str:
    """What takes the terminal; Apple's shows the last letter of what it does not know."""
    return _ENTER if os.environ.get("TERM_PROGRAM") == "Apple_Terminal" else _ENTER + _ASK


def _input_fileno() -> int:
    return 0 if sys.__stdin__ is None else sys.__stdin__.fileno()


def _output_fileno() -> int:
    return 2 if sys.__stderr__ is None else sys.__stderr__.fileno()


def _terminal_size(fileno: int) -> tuple[int, int]:
    """Columns and rows."""
    for candidate in (fileno, _output_fileno()):
        with contextlib.suppress(OSError):
            columns, rows = os.get_terminal_size(candidate)
            if columns and rows:
                return columns, rows
    return 80, 25


def _raw(fileno: int) -> list[Any] | None:
    """No echo, no lines, no signals by keys; the state before."""
    try:
        before: list[Any] = termios.tcgetattr(fileno)
        now: list[Any] = termios.tcgetattr(fileno)
    except (termios.error, OSError):
        return None
    now[tty.LFLAG] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG)
    now[tty.IFLAG] &= ~(
        termios.IXON | termios.IXOFF | termios.ICRNL | termios.INLCR | termios.IGNCR
    )
    now[tty.CC][termios.VMIN] = 1
    now[tty.CC][termios.VTIME] = 0
    with contextlib.suppress(termios.error, OSError):
        termios.tcsetattr(fileno, termios.TCSANOW, now)
    return before


def _typed_ahead(fileno: int, before: list[Any] | None) -> bytes:
    """What was typed before the terminal was taken, while it made Enter a line feed."""
    if before is None or not before[tty.IFLAG] & termios.ICRNL:
        return b""  # it is read as it is, with the rest
    with contextlib.suppress(OSError, ValueError):
        if select.select([fileno], [], [], 0)[0]:
            return os.read(fileno, READ_BYTES).replace(b"\n", b"\r")
    return b""


def _is_foreground(fileno: int) -> bool:
    """Whether the terminal may be changed; in the background the process is stopped again."""
    with _stopped_by(signal.SIGTTOU), _stopped_by(signal.SIGTTIN):
        try:
            termios.tcsetattr(fileno, termios.TCSANOW, termios.tcgetattr(fileno))
        except (termios.error, OSError):
            return False
    return True
