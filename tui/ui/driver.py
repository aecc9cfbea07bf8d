"""Textual's terminal driver with an Esc key that does not wait, and Alt with every key.

Textual's own input thread looks for an overdue ESC byte every 0.1 s, whatever ESCDELAY says.
This one waits exactly that long, and only while an ESC byte is open. It leans on names of
Textual's (`LinuxDriver.fileno`, ``exit_event``, `XTermParser`): ``tests/ui/test_driver.py``
fails when Textual moves them.
"""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import signal
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol, TextIO

from textual import constants
from textual.drivers import linux_driver
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Key

from tui.core.trace import Stamp, no_stamp

if TYPE_CHECKING:
    from textual.app import App
    from textual.message import Message


class _Parser(Protocol):
    """Textual's parser of terminal input."""

    def feed(self, data: str) -> Iterable[Message]:
        """Take in what was read."""

    def tick(self) -> Iterable[Message]:
        """Look whether an open ESC byte is overdue."""


_new_parser: Callable[[], _Parser] = vars(linux_driver)["XTermParser"]

_POLL_S = 0.1
"""How soon the thread sees that the app has ended."""
_CHUNK_BYTES = 4096
_ESC = "\x1b"
_ALT = re.compile(r"\x1b([0-9ac-eg-z.,\r])")
"""Not b and f: terminals send those for Alt with an arrow, and Textual knows them."""
_OPEN_ALT = re.compile(r"\A[0-9ac-eg-z.,\r]")
_MODIFIED = re.compile(r"\x1b\[27;(\d+);(\d+)~")
"""What xterm's modifyOtherKeys and tmux's extended-keys send for a key with modifiers."""


class Losable:
    """The terminal as a file to write to; when it is gone, nothing is written.

    An error would end Textual's writer thread, and the app would wait for it for ever.
    """

    def __init__(self, file: TextIO, stamp: Stamp = no_stamp) -> None:
        self._file = file
        self._stamp = stamp
        self._frames = 0
        """How often something was written through."""

    def write(self, text: str) -> int:
        """Write what can be written."""
        with contextlib.suppress(OSError):
            self._file.write(text)
        return len(text)

    def flush(self) -> None:
        """See `write`."""
        with contextlib.suppress(OSError):
            self._file.flush()
        self._frames += 1
        self._stamp("painted", str(self._frames))

    def fileno(self) -> int:
        """The terminal's own."""
        return self._file.fileno()

    def isatty(self) -> bool:
        """The terminal's own."""
        return self._file.isatty()


class TerminalDriver(LinuxDriver):
    """`LinuxDriver` with its input loop replaced."""

    def __init__(
        self,
        app: App[object],
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
    ) -> None:
        """As Textual makes it; the loss of the terminal does not stop the app from ending."""
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._gone = self._suspended = False
        own = vars(self)
        self._stamp: Stamp = getattr(app, "stamp", no_stamp)
        own["_file"] = Losable(own["_file"], self._stamp)

    def suspend_application_mode(self) -> None:
        """Give the terminal back for a while."""
        self._suspended = True
        super().suspend_application_mode()

    def resume_application_mode(self) -> None:
        """Take it again, if it was given back.

        SIGCONT also comes with a hang-up: a second pair of threads would keep the process alive.
        """
        if self._suspended:
            self._suspended = False
            super().resume_application_mode()

    def run_input_thread(self) -> None:
        """Read keys and hand them to the app until it ends."""
        selector = selectors.DefaultSelector()
        selector.register(self.fileno, selectors.EVENT_READ)
        parser = _new_parser()
        decode = getincrementaldecoder("utf-8")("replace").decode
        wait_s, open_esc = _POLL_S, False
        try:
            while not self.exit_event.is_set():
                if selector.select(wait_s):
                    text = decode(self._read())
                    wait_s = wait_after(text)
                    self._process(parser.feed(spelled(text, open_esc=open_esc)) if text else ())
                    open_esc = text.endswith(_ESC)
                else:
                    wait_s, open_esc = _POLL_S, False
                self._process(parser.tick())
        finally:
            selector.close()

    def _read(self) -> bytes:
        """What was typed; the end of input means that the terminal is gone."""
        with contextlib.suppress(OSError):
            if data := os.read(self.fileno, _CHUNK_BYTES):
                return data
        if not self._gone:
            self._gone = True
            os.kill(os.getpid(), signal.SIGHUP)
        self.exit_event.wait(_POLL_S)
        return b""

    def _process(self, messages: Iterable[Message]) -> None:
        for message in messages:
            if isinstance(message, Key):
                self._stamp("key", "character" if message.is_printable else message.key)
            self.process_message(message)


def wait_after(text: str) -> float:
    """Seconds to wait for more input: short while an ESC byte may be a key of its own."""
    return constants.ESCAPE_DELAY + 0.001 if text.endswith(_ESC) else _POLL_S


def spelled(text: str, *, open_esc: bool = False) -> str:
    """Input with Alt+Enter, Alt+letter, Alt+digit, Alt+. and Alt+, in the long form.

    Textual takes the short form, ESC and the character, for a Mac's option key or for the
    character alone: Alt+Enter would be Enter, which stops the answer. Alt+letter it knows only
    when nothing comes behind it, but over a slow line several keys come at once. ``open_esc``: the
    ESC came with the input before this one, which is so over slow lines.
    """
    if open_esc:
        text = _OPEN_ALT.sub(lambda match: f"[{ord(match[0])};3u", text)
    if _ESC not in text:
        return text
    text = _MODIFIED.sub(rf"{_ESC}[\2;\1u", text)
    return _ALT.sub(lambda match: f"{_ESC}[{ord(match[1])};3u", text)
