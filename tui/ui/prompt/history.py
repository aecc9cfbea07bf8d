"""What was sent or cleared before, in this run and in earlier ones: walking and searching."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from textual.widgets import TextArea

from tui.core.conversation import PastPrompt
from tui.core.fuzzy import folded
from tui.ui.prompt.completion import MOST, Completer, CompletionItem, CompletionQuery
from tui.ui.styled_text import one_line

_LONGEST = 500
_MOST_CHARS = 20_000_000
"""Characters kept of all entries of this run, unless the newest alone is longer."""
_LOOKED_AT, _SHOWN = 4_000, 300
"""Characters of a prompt that are searched, and that are shown."""
_LONGEST_QUERY = 80
"""A draft that is longer is no search."""


class PromptStore(Protocol):
    """What keeps prompts over runs; ``effects.prompt_history`` is one."""

    def load(self) -> list[PastPrompt]:
        """Those of earlier runs, oldest first; those of this workspace last."""

    def keep(self, text: str) -> None:
        """One more, without waiting for it."""


class DraftHistory:
    """Prompts, oldest first; walking in it never loses the draft.

    Those of earlier runs are loaded when somebody first asks for one.
    """

    def __init__(self) -> None:
        self.entries: list[str] = []
        """Those of this run."""
        self.store: PromptStore | None = None
        """What keeps prompts over runs; None: they are those of this run."""
        self._before: list[PastPrompt] | None = None
        """Those of earlier runs; None: not loaded."""
        self._at: int | None = None
        """Steps back from the draft; None: at the draft."""
        self._draft = ""

    @property
    def before(self) -> Sequence[PastPrompt]:
        """Those of earlier runs."""
        if self._before is None:
            self.fill(self.store.load() if self.store is not None else [])
        return self._before or ()

    def fill(self, before: list[PastPrompt]) -> None:
        """Those of earlier runs, unless they were loaded meanwhile."""
        if self._before is None:  # what was asked now is kept too
            now = set(self.entries)
            self._before = [entry for entry in before if entry.text not in now]

    def add(self, text: str) -> None:
        """Remember a text that was sent or cleared; the same one twice in a row counts once."""
        if text.strip() and (not self.entries or self.entries[-1] != text):
            self.entries.append(text)
            if self.store is not None:
                self.store.keep(text)
            del self.entries[:-_LONGEST]
            spare = sum(map(len, self.entries)) - _MOST_CHARS
            while spare > 0 and len(self.entries) > 1:
                spare -= len(self.entries.pop(0))
        self._at = None

    def older(self, shown: str) -> str | None:
        """The entry before; ``shown`` is what stands in the prompt now. None: no older one."""
        at = 0 if self._at is None else self._at
        text = self._back(at + 1)
        if text is None:
            return None
        if self._at is None:
            self._draft = shown
        self._at = at + 1
        return text

    def newer(self) -> str | None:
        """The entry behind, at last the draft; None at the draft."""
        if self._at is None:
            return None
        self._at -= 1
        if self._at:
            return self._back(self._at)
        self._at = None
        return self._draft

    def all(self) -> list[PastPrompt]:
        """Newest first, each text once; those of this run, of this workspace, of others."""
        found = dict.fromkeys(reversed(self.entries))
        entries = {text: PastPrompt(text) for text in found}
        for entry in reversed(self.before):
            entries.setdefault(entry.text, entry)
        return list(entries.values())

    def _back(self, steps: int) -> str | None:
        """So many steps from the draft."""
        if steps <= len(self.entries):
            return self.entries[-steps]
        steps -= len(self.entries)
        before = self.before
        # what was asked elsewhere helps where nothing was asked here
        here = [entry for entry in before if entry.here] or before
        return here[-steps].text if steps <= len(here) else None


class HistorySearch:
    """Ctrl+R: what is typed are words of an earlier prompt; Esc brings the draft back."""

    def __init__(
        self,
        draft: TextArea,
        history: DraftHistory,
        completer: Completer,
        write: Callable[[str], None],
    ) -> None:
        """``write`` has a text as the draft."""
        self._draft, self._history, self._completer = draft, history, completer
        self._write = write
        self._aside: str | None = None
        """The draft; None: nothing is looked for."""
        self._entries: Sequence[PastPrompt] = ()
        self._folded: Sequence[str] = ()

    @property
    def active(self) -> bool:
        """Earlier prompts are looked for: what stands in the prompt is no draft."""
        return self._aside is not None

    @property
    def aside(self) -> str:
        """The draft that waits meanwhile."""
        return self._aside or ""

    def begin(self, draft: str) -> None:
        """Look for earlier prompts, with the draft as the first words; again: the next one."""
        if self.active:
            self._completer.step(1)
            return
        self._entries = self._history.all()
        self._folded = [folded(entry.text[:_LOOKED_AT]) for entry in self._entries]
        self._write(draft if len(draft) <= _LONGEST_QUERY and "\n" not in draft else "")
        self._aside = draft
        self._show()

    def end(self, text: str | None = None) -> None:
        """Have this as the draft; None: the one that waited."""
        if self._aside is not None:
            draft, self._aside = self._aside, None
            self._entries, self._folded = (), ()
            self._write(draft if text is None else text)

    def look(self) -> None:
        """Offer those that have all the words that stand there now."""
        if (query := self._completer.query) is None or query.letters != self._draft.text:
            self._show()

    def take(self, at: int | None = None) -> CompletionItem | None:
        """The selected prompt, or that at a place of the list, is the draft now."""
        self.look()
        if at is not None and at < len(self._completer.items):
            self._completer.at = at
        item = self._completer.selected
        if item is not None:
            self.end(item.text)
        return item

    def _show(self) -> None:
        text = self._draft.text
        words = folded(text).split()
        pairs = zip(self._entries, self._folded, strict=True)
        found = [entry for entry, folds in pairs if all(word in folds for word in words)]
        query = CompletionQuery("past", text, 0, len(text))
        self._completer.show(query, [_item(one, words) for one in found[:MOST]], len(found))


def _item(entry: PastPrompt, words: Sequence[str]) -> CompletionItem:
    shown = one_line(entry.text[:_SHOWN])
    low = folded(shown)
    offsets = {
        place
        for word in words
        if (at := low.find(word)) >= 0
        for place in range(at, at + len(word))
    }
    place = "" if entry.here else f"in {one_line(entry.place)}"
    return CompletionItem(entry.text, shown, place, tuple(sorted(offsets)))
