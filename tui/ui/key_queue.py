"""Keys take effect in the order in which they were typed.

Textual hands a key to the widget with the focus, and what that does not take climbs from parent to
parent to the app, where bindings are looked up: a turn of the event loop a step. Of two keys that
come in one read, as over a slow line, the second so overtakes the first: Left and ``x`` put the
``x`` where the cursor was. Here the next one waits until the one before has been taken, and until
what its taker has others do (Ctrl+F in the prompt: to open the search) has climbed to them. A key
that comes alone waits for nothing.

A turn of the loop and a repaint for each are too much where keys come by the hundred a second (a
script, a paste without brackets, a held key): who takes one may take those that wait behind it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial

from textual import events
from textual.app import App
from textual.dom import DOMNode
from textual.message import Message
from textual.message_pump import MessagePump

from tui.engine.session_state import InputFirst

_LOOK_S = 0.1
_MOST_LOOKS = 100
"""So often is looked, in turns of the event loop of their own, whether a key is still on its way.
Text behind Ctrl+F is for the find bar however slow the machine is; but a widget that waits for a
key while it takes one would never be done, and Ctrl+C would wait behind it for ever."""

_MOST_TURNS, _MOST_WAITS = 50, 10
"""So many turns of the event loop, then waits of `_LOOK_S`, may pass until all that a key set off
has been done: a widget that is busy with something else must not hold Ctrl+C up."""

_MOST_AT_ONCE = 200
"""Characters that are put in together."""


class TypedKey(events.Key):
    """A key that tells when it has been taken; see `KeyQueue`."""

    __slots__ = ("further", "holder", "on_taken", "origin")

    def __init__(self, key: events.Key) -> None:
        super().__init__(key.key, key.character)
        self.on_taken: Callable[[], None] = lambda: None
        self.holder: MessagePump | None = None
        """Who was handed it last."""
        self.origin: DOMNode | None = None
        """Who was handed it first."""
        self.further: Callable[[Callable[[TypedKey], bool]], TypedKey | None] = lambda _: None
        """The key that waits next, if it is such a one: whoever asks for it takes it now."""

    def typed(self, wanted: Callable[[TypedKey], bool]) -> str:
        """Its character, and those that wait behind it as long as they are such ones."""
        typed = [self.character or ""]
        while len(typed) < _MOST_AT_ONCE and (key := self.further(wanted)) is not None:
            typed.append(key.character or "")
        return "".join(typed)

    @property
    def lost(self) -> bool:
        """It was handed to a widget that is gone: nobody will take it."""
        holder = self.holder
        return holder is not None and not isinstance(holder, App) and not holder.is_attached

    def stop(self, stop: bool = True) -> TypedKey:
        """Textual's: a widget took it."""
        super().stop(stop)
        self.on_taken()
        return self

    def _bubble_to(self, widget: MessagePump) -> None:
        self.holder = widget
        super()._bubble_to(widget)


TypedKey.handler_name = events.Key.handler_name


class KeyQueue:
    """Posts messages of the driver, keys one at a time."""

    def __init__(self, post: Callable[[Message], object], loop: asyncio.AbstractEventLoop) -> None:
        self._post = post
        self._loop = loop
        self._waiting: deque[Message] = deque()
        self._open: TypedKey | None = None
        self._look: asyncio.TimerHandle | None = None
        self._before: DOMNode | None = None
        """Where what the last key set off begins to climb; None: nothing does any more."""
        self._settling = False
        """It is looked at again in a moment."""
        self.first = InputFirst()
        """Hears of the key that is being taken."""
        self._early: list[Message] | None = None
        """What was typed and is held back; None: nothing is any more."""

    def hold(self) -> None:
        """Nobody takes what is typed yet: keep it until `release`, however long that takes."""
        typed = [one for one in self._waiting if isinstance(one, TypedKey | events.Paste)]
        self._waiting = deque(one for one in self._waiting if one not in typed)
        self._early = [*(self._early or ()), *typed]

    def release(self) -> None:
        """Somebody takes it now."""
        early, self._early = self._early, None
        for typed in early or ():
            self.add(typed)

    def add(self, message: Message) -> None:
        """Post it now, or when the keys before it have been taken."""
        if self._early is not None and isinstance(message, TypedKey | events.Paste):
            self._early.append(message)
            return
        self._waiting.append(message)
        if self._open is None and not self._settling:
            self._next()

    def _next(self, turn: int = 0) -> None:
        self._settling = False
        while self._waiting and self._open is None:
            if self._settles(self._waiting[0], turn):
                return
            message = self._waiting.popleft()
            if isinstance(message, TypedKey):
                self._open = message
                self.first.came(message.key, self._loop)
                message.on_taken = self._taken
                message.further = partial(self._further, message)
                self._look_later(message, _MOST_LOOKS)
            self._post(message)

    def _settles(self, message: Message, turn: int) -> bool:
        """What was typed waits while what the last key set off is still on its way."""
        if self._before is None or not isinstance(message, TypedKey | events.Paste):
            return False
        climbing = self._before.is_attached and any(
            node.message_queue_size
            for node in self._before.ancestors_with_self
            if not isinstance(node, App)  # whose turn comes before that of this message
        )
        if not climbing or turn == _MOST_TURNS + _MOST_WAITS:
            self._before = None
            return False
        if not turn and isinstance(message, TypedKey):
            self.first.came(message.key, self._loop)
        self._settling = True
        if turn < _MOST_TURNS:
            self._loop.call_soon(self._next, turn + 1)
        else:
            self._loop.call_later(_LOOK_S, self._next, turn + 1)
        return True

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

    def _look_later(self, key: TypedKey, left: int) -> None:
        self._look = self._loop.call_later(_LOOK_S, self._look_at, key, left - 1)

    def _look_at(self, key: TypedKey, left: int) -> None:
        """It has not been taken yet: wait on, unless it never will be."""
        if left and not key.lost:
            self._look_later(key, left)
        else:
            self._done(key)

    def _done(self, key: TypedKey) -> None:
        if key is self._open:
            self._open, self._before = None, key.origin
            self.first.taken()
            if self._look is not None:
                self._look.cancel()
            self._next()
