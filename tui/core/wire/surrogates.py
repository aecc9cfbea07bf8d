"""Half characters: a server that cuts its deltas in UTF-16 may part a surrogate pair.

Text inside duetto never holds a lone surrogate: it could not be written to a file. A first half
waits for the next delta of its item; a half that stays alone becomes U+FFFD.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from tui.core.wire.events import Delta
from tui.core.wire.mending import mended

_D = TypeVar("_D", bound=Delta)


class HalfCharacter:
    """What one lane's last delta ended with, if it was half a character."""

    def __init__(self) -> None:
        self._item_id = ""
        self.waiting = ""

    def clean(self, text: str) -> bool:
        """A delta with this text needs no mending: the short cut of the hot path."""
        return not self.waiting and text.isascii()

    def join(self, event: _D) -> _D | None:
        """The delta with whole characters only; None: nothing is left of it for now."""
        text = event.delta
        if self.waiting:
            text = self.waiting + text if event.item_id == self._item_id else text
            self.waiting = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            self._item_id, self.waiting, text = event.item_id, text[-1], text[:-1]
            if not text:
                return None
        text = mended(text)
        return event if text == event.delta else msgspec.structs.replace(event, delta=text)
