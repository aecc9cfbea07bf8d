"""Keys take effect in the order in which they were typed.

Textual hands a key to the widget with the focus, and what that does not take climbs from parent to
parent to the app, where bindings are looked up: a turn of the event loop a step. Of two keys that
come in one read, as over a slow line, the second so overtakes the first: Left and ``x`` put the
``x`` where the cursor was. Here the next one waits until the one before has been taken. A key that
comes alone waits for nothing.

A turn of the loop and a repaint for each are too much where keys come by the hundred a second (a
script, a paste without brackets, a held key): who takes one may take those that wait behind it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial

from textual import events
from textual.message import Message

PATIENCE_S = 0.1
"""A key that takes longer, because what it does takes longer, holds up the others no more."""

HELD_S = 3.0
"""Keys that were typed before there is a screen to take them wait for it, so long at most."""

_MOST_AT_ONCE = 200
"""Characters that are put in together."""


class TypedKey(events.Key):
    """A key that tells when it has been taken; see `KeyOrder`."""

    __slots__ = ("further", "on_taken")

    def __init__(self, key: events.Key) -> None:
        super().__init__(key.key, key.character)
        self.on_taken: Callable[[], None] = lambda: None
        self.further: Callable[[Callable[[TypedKey], bool]], TypedKey | None] = lambda _: None
        """The key that waits next, if it is such a one: whoever asks for it takes it now."""

    def typed(self, wanted: Callable[[TypedKey], bool]) -> str:
        """Its character, and those that wait behind it as long as they are such ones."""
        typed = [self.character or ""]
        while len(typed) < _MOST_AT_ONCE and (key := self.further(wanted)) is not None:
            typed.append(key.character or "")
        return "".join(typed)

    def stop(self, stop: bool = True) -> TypedKey:
        """Textual's: a widget took it."""
        super().stop(stop)
        self.on_taken()
        return self


TypedKey.handler_name = events.Key.handler_name


class KeyOrder:
    """Posts messages of the driver, keys one at a time."""

    def __init__(self, post: Callable[[Message], object], loop: asyncio.AbstractEventLoop) -> None:
        self._post = post
        self._loop = loop
        self._waiting: deque[Message] = deque()
        self._open: TypedKey | None = None
        self._patience: asyncio.TimerHandle | None = None
        self._early: list[TypedKey] | None = None
        """Keys that are held back; None: none is any more."""

    def hold(self) -> None:
        """Nobody takes keys yet: keep them until `release`."""
        self._early = []
        self._loop.call_later(HELD_S, self.release)

    def release(self) -> None:
        """Somebody takes keys now."""
        early, self._early = self._early, None
        for key in early or ():
            self.add(key)

    def add(self, message: Message) -> None:
        """Post it now, or when the keys before it have been taken."""
        if self._early is not None and isinstance(message, TypedKey):
            self._early.append(message)
            return
        self._waiting.append(message)
        if self._open is None:
            self._next()

    def _next(self) -> None:
        while self._waiting and self._open is None:
            message = self._waiting.popleft()
            if isinstance(message, TypedKey):
                self._open = message
                message.on_taken = self._taken
                message.further = partial(self._further, message)
                self._patience = self._loop.call_later(PATIENCE_S, self._done, message)
            self._post(message)

    def _further(self, key: TypedKey, wanted: Callable[[TypedKey], bool]) -> TypedKey | None:
        """The next one, if this one is being taken and nothing else came between."""
        if key is not self._open or not self._waiting:
            return None
        following = self._waiting[0]
        if not isinstance(following, TypedKey) or not wanted(following):
            return None
        self._waiting.popleft()
        return following

    def _taken(self) -> None:
        """What took the key goes on with it in this turn of the loop."""
        if self._open is not None:
            self._open.on_taken = lambda: None
            self._loop.call_soon(self._done, self._open)

    def _done(self, key: TypedKey) -> None:
        if key is self._open:
            self._open = None
            if self._patience is not None:
                self._patience.cancel()
            self._next()
