"""What was sent or cleared before, in this run and in earlier ones, and the draft meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tui.core.prompt_past import PastPrompt

_LONGEST = 500
_MOST_CHARS = 20_000_000
"""Of all entries of this run together, unless the newest alone is longer."""


class PastPrompts(Protocol):
    """What keeps prompts over runs; ``effects.prompt_history`` is one."""

    def load(self) -> list[PastPrompt]:
        """Those of earlier runs, oldest first; those of this workspace last."""

    def keep(self, text: str) -> None:
        """One more, without waiting for it."""


class NothingKept:
    """Prompts are those of this run."""

    def load(self) -> list[PastPrompt]:
        """None."""
        return []

    def keep(self, text: str) -> None:
        """Not at all."""


class History:
    """Prompts, oldest first; walking in it never loses the draft.

    Those of earlier runs are loaded when somebody first asks for one.
    """

    def __init__(self, kept: PastPrompts | None = None) -> None:
        self.entries: list[str] = []
        """Those of this run."""
        self.kept: PastPrompts = kept or NothingKept()
        self._before: list[PastPrompt] | None = None
        """Those of earlier runs; None: not loaded."""
        self._at: int | None = None
        """Steps back from the draft; None: at the draft."""
        self._draft = ""

    @property
    def before(self) -> Sequence[PastPrompt]:
        """Those of earlier runs."""
        if self._before is None:
            self.fill(self.kept.load())
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
            self.kept.keep(text)
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
