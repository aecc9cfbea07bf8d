"""When duetto is ended by force: what was typed is kept, and one sentence names the folder."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from contextlib import suppress

from tui.core.inert_text import inert
from tui.core.unsaved import Unsaved
from tui.effects.rescue import RescueFolders
from tui.errors import FileRefused

log = logging.getLogger("tui.cli")

_BROKEN = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What a screen raises that is half gone: what ends the app must not end its keeping, too."""


class LastWords:
    """Keeps once, says once."""

    def __init__(self, unsaved: Callable[[], Unsaved], folders: RescueFolders) -> None:
        """``unsaved`` tells what would be lost; it is asked at the end."""
        self._unsaved = unsaved
        self._folders = folders
        self._outlet = sys.stderr
        """As it was before the screen: while that is lent something else stands in its place."""
        self._kept = False
        self._words = ""

    def keep(self) -> None:
        """Write what would be lost to the state folder, or remove what is saved by now.

        The second call does nothing. It never raises: it stands between a signal and the end.
        """
        if self._kept:
            return
        self._kept = True
        try:
            unsaved = self._unsaved()
        except _BROKEN:
            log.exception("what would be lost is not known")
            self._words = "what was typed last may be lost; /rescue brings back what was kept"
            return
        try:
            folder, failed = self._folders.keep(unsaved, last=True)
        except FileRefused as error:
            if unsaved:
                self._words = f"{unsaved.words} could not be kept: {error}"
            return
        if not unsaved:
            return
        self._words = f"{unsaved.words} not saved: kept in {folder}; /rescue brings it back"
        if failed:
            self._words += f" (but not {', '.join(failed)})"
        log.warning("unsaved text is kept in %s", folder)

    def add(self, words: str) -> None:
        """Something else is left behind; nothing, if it is empty."""
        if words:
            self._words = "; ".join(filter(None, (self._words, words)))
            log.warning("%s", words)

    def say(self) -> None:
        """The last sentence on stderr, if there is something to say and somebody to hear it."""
        if self._words:
            with suppress(OSError, ValueError):
                print(f"duetto: {inert(self._words)}", file=self._outlet, flush=True)
