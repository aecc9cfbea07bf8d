"""Looks for files by some letters, through a part of all paths in each turn of the event loop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from tui.core.fuzzy import Sieve

SLICE = 1_000
"""Paths that are looked at in one turn of the event loop: less than a millisecond."""
_NARROW = 4_000
"""Found paths in which a letter more is looked for; more are as quick to look through anew."""


class FileSearch:
    """One search at a time; a letter more is looked for in what was found."""

    def __init__(self, found: Callable[[Sieve], None]) -> None:
        """``found`` is called when a search ends that did not end at once."""
        self._found = found
        self._sieve: Sieve | None = None
        self._paths: list[str] = []
        self._due: asyncio.Handle | None = None

    @property
    def busy(self) -> bool:
        """Not all paths were looked at."""
        return self._due is not None

    def begin(self, letters: str, paths: list[str]) -> Sieve | None:
        """Look for these letters; None: what is found comes later."""
        self.stop()
        sieve, before = Sieve(letters, paths), self._sieve
        if before is not None and before.done and before.count <= _NARROW:
            same = paths is self._paths or paths == self._paths
            if same and sieve.letters.startswith(before.letters):
                sieve = Sieve(letters, before.held)
        self._sieve, self._paths = sieve, paths
        if sieve.step(SLICE):
            return sieve
        self._go_on(sieve)
        return None

    def end(self) -> Sieve | None:
        """Look at all that is left now; None: nothing is."""
        sieve = self._sieve
        if not self.busy or sieve is None:
            return None
        self.stop()
        while not sieve.step(SLICE):
            pass
        return sieve

    def stop(self) -> None:
        """Nothing more is looked for."""
        if self._due is not None:
            self._due.cancel()
            self._due = None

    def forget(self) -> None:
        """What was found is of no use any more."""
        self.stop()
        self._sieve, self._paths = None, []

    def _go_on(self, sieve: Sieve) -> None:
        with contextlib.suppress(RuntimeError):  # no event loop: nobody waits for what comes later
            self._due = asyncio.get_running_loop().call_soon(self._slice, sieve)

    def _slice(self, sieve: Sieve) -> None:
        self._due = None
        if sieve.step(SLICE):
            self._found(sieve)
        else:
            self._go_on(sieve)
