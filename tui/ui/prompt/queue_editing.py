"""A queued message is edited in the prompt, and put back; the draft waits meanwhile."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from tui.engine.intents import EditQueued, HoldQueued, Intent, Queue, Unqueue
from tui.engine.notices import Status
from tui.ui.prompt.prompt import PromptArea
from tui.ui.prompt.queue_list import place_of


class _Edit(Struct, frozen=True):
    """The message stays queued as it was until the edited text is put back."""

    index: int
    """Where it stood when the edit began, 0-based."""
    text: str
    """As it is queued."""
    aside: str
    """The draft; it comes back when the edit ends."""


class QueueEditing:
    """Which queued message stands in the prompt, if one does."""

    def __init__(
        self,
        prompt: PromptArea,
        status: Callable[[], Status],
        submit: Callable[[Intent], object],
        changed: Callable[[], None],
    ) -> None:
        """``changed`` is called when the list and the hint have to say something else."""
        self._prompt, self._status = prompt, status
        self._submit, self._changed = submit, changed
        self._edit: _Edit | None = None

    @property
    def active(self) -> bool:
        """A queued message stands in the prompt."""
        return self._edit is not None

    @property
    def aside(self) -> str:
        """The draft that waits."""
        return self._edit.aside if self._edit is not None else ""

    @property
    def place(self) -> int | None:
        """Where the message stands now; None: none is edited, or it was sent meanwhile."""
        if self._edit is None:
            return None
        return place_of(self._status().queued, self._edit.index, self._edit.text)

    def begin(self, index: int) -> None:
        """The message's text into the prompt; the draft waits."""
        self._prompt.search.end()
        text = self._status().queued[index]
        if self._edit is not None:
            place = self.place
            if place == index:
                return
            removed = not self._prompt.text.strip() and place is not None and place < index
            index -= removed
            self.put_back(self._prompt.whole.strip(), release=False)
        self._edit = _Edit(index, text, self._prompt.whole)
        self._submit(HoldQueued(index))
        self._prompt.editing = True
        self._prompt.write(text)
        self._changed()

    def leave(self) -> bool:
        """Leave the message as it was; what was typed is in the history. False: no edit."""
        if self._edit is None:
            return False
        self._prompt.search.end()
        self._prompt.past.add(self._prompt.whole)
        self._end()
        self._submit(HoldQueued(None))
        return True

    def put_back(self, text: str, *, release: bool = True) -> None:
        """The edited text to its place in the queue; nothing typed: the message goes.

        ``release``: no other message is edited next.
        """
        place = self.place
        self._end()
        if place is not None:
            self._submit(EditQueued(place, text))
        elif text:
            self._submit(Queue(text))
        if release:
            self._submit(HoldQueued(None))

    def take_out(self) -> None:
        """The message leaves the queue: its edited text goes another way."""
        place = self.place
        self._end()
        if place is not None:
            self._submit(Unqueue(place))

    def set_aside(self, text: str) -> None:
        """One more text for the draft that waits."""
        if self._edit is not None:
            both = "\n".join(filter(None, (text, self._edit.aside)))
            self._edit = replace(self._edit, aside=both)

    def sync(self, typed: Callable[[], str]) -> bool:
        """Take up what the queue is now; True: the message was sent, its edit is a draft.

        ``typed`` is what stands in the prompt, or in the external editor.
        """
        edit = self._edit
        if edit is None or self.place is not None:
            return False
        self._prompt.search.end()
        changed = self._prompt.whole.strip() not in ("", edit.text.strip())
        draft = "\n".join(filter(None, (typed(), edit.aside))) if changed else edit.aside
        self._edit = None
        self._prompt.editing = False
        self._prompt.write(draft)
        return changed

    def _end(self) -> None:
        """The draft that waited stands in the prompt again."""
        edit, self._edit = self._edit, None
        self._prompt.editing = False
        if edit is not None:
            self._prompt.write(edit.aside)
        self._changed()
