"""What is offered at the cursor, and which of it is lit: the state behind the list.

Files are looked through in slices of the event loop, so that a key is never held up by a large
workspace; a letter more is looked for in what was found with those before it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from tui.core.fuzzy import Fit, Sieve
from tui.engine.notices import Status
from tui.ui.prompt.offers import (
    MOST,
    Offer,
    argument_offers,
    command_offers,
    file_offers,
    first_files,
    means,
    sieve,
)
from tui.ui.prompt.wishes import Wish

SLICE = 1_000
"""Paths that are looked at in one turn of the event loop: less than a millisecond."""
_NARROW = 4_000
"""Found paths in which a letter more is looked for; more are as quick to look through anew."""


class Completer:
    """Offers for one wish at a time."""

    def __init__(self, paths: Callable[[], list[str]], status: Callable[[], Status]) -> None:
        """``paths`` lists the workspace's files; ``status`` is the session's."""
        self.wish: Wish | None = None
        self.offers: list[Offer] = []
        self.at = 0
        """The lit one."""
        self.chosen = False
        """The user lit it: it is no more only the best guess."""
        self.total = 0
        """How many there are, of which some are offered."""
        self.on_found: Callable[[], None] = lambda: None
        """Called when what was looked for in slices was found."""
        self._paths = paths
        self._status = status
        self._sieve: Sieve | None = None
        self._listed: list[str] = []
        """What was looked through last, for one letter more."""
        self._due: asyncio.Handle | None = None

    @property
    def lit(self) -> Offer | None:
        """What would be taken."""
        return self.offers[self.at] if self.offers else None

    @property
    def looking(self) -> bool:
        """Not all files were looked at yet: what is offered is that of the letters before."""
        return self._due is not None

    def look(self, wish: Wish | None) -> None:
        """Offer what fits this; what needs longer comes with `on_found`."""
        self._stop()
        if wish is None:
            self.forget()
        elif wish.kind == "file":
            self._look_for_files(wish)
        else:
            self._sieve = None
            status = self._status()
            found = (
                command_offers(wish.letters)
                if wish.kind == "command"
                else argument_offers(wish, status)
            )
            self.show(wish, found, len(found))

    def look_again(self) -> None:
        """All files were listed anew; a list in which the user chose one stays as it is."""
        if self.wish is not None and self.wish.kind == "file" and not self.chosen:
            self.look(self.wish)
            self.on_found()

    def settle(self) -> None:
        """Have it all now: it is about to be taken."""
        if self._due is not None and self.wish is not None and self._sieve is not None:
            self._stop()
            while not self._sieve.step(SLICE):
                pass
            self._found(self.wish, self._sieve)

    def step(self, rows: int) -> None:
        """Light another one; behind the last is the first."""
        if self.offers:
            self.at = (self.at + rows) % len(self.offers)
            self.chosen = True

    @property
    def sure(self) -> bool:
        """What is lit is what was meant: it was chosen, or the letters can mean nothing else.

        Else Enter would run something that was not typed: 1000 for 10, /clear for /clr.
        """
        if self.wish is None or self.lit is None:
            return False
        return self.chosen or self.wish.kind in ("file", "past") or means(self.wish, self.offers)

    def forget(self) -> None:
        """Offer nothing."""
        self._stop()
        self.wish, self.offers, self.at, self.total = None, [], 0, 0
        self.chosen = False
        self._sieve, self._listed = None, []

    def _look_for_files(self, wish: Wish) -> None:
        paths = self._paths()
        looking = sieve(wish, paths)
        if not looking.letters:
            self._sieve = None
            fits = first_files(paths, self._status().open_paths)
            self.show(wish, file_offers(wish, fits), len(paths))
            return
        before = self._sieve
        if before is not None and self._narrows(before, looking, paths):
            looking = sieve(wish, before.held)
        self._listed, self._sieve = paths, looking
        if looking.step(SLICE):
            self._found(wish, looking)
        else:
            self.wish = wish
            self._go_on()

    def _narrows(self, before: Sieve, now: Sieve, paths: Sequence[str]) -> bool:
        if not before.done or before.count > _NARROW:
            return False
        same = paths is self._listed or paths == self._listed
        return same and now.letters.startswith(before.letters)

    def _go_on(self) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # nobody waits for slices
            self._due = None
            return
        self._due = loop.call_soon(self._slice)

    def _slice(self) -> None:
        self._due = None
        if self._sieve is None or self.wish is None:
            return
        if self._sieve.step(SLICE):
            self._found(self.wish, self._sieve)
            self.on_found()
        else:
            self._go_on()

    def _found(self, wish: Wish, found: Sieve) -> None:
        fits: list[Fit] = found.best(MOST)
        self.show(wish, file_offers(wish, fits), found.count)

    def show(self, wish: Wish, offers: list[Offer], total: int) -> None:
        """Offer these; ``total`` counts those that are left out, too."""
        self._stop()
        self.wish, self.offers, self.at, self.total = wish, offers, 0, total
        self.chosen = False

    def _stop(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None
