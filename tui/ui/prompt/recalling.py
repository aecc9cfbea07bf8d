"""A text area in which earlier prompts are looked for: what is typed are words that they have."""

from __future__ import annotations

from collections.abc import Sequence

from tui.core.fuzzy import folded
from tui.core.prompt_past import PastPrompt
from tui.ui.prompt.completing import CompletingText
from tui.ui.prompt.history import History
from tui.ui.prompt.offers import MOST, Offer
from tui.ui.prompt.wishes import Wish
from tui.ui.rows import one_line

_LOOKED_AT, _SHOWN = 4_000, 300
"""Characters of a prompt that are searched, and that are shown."""
_LONGEST_QUERY = 80
"""A draft that is longer is no search."""


class RecallingText(CompletingText):
    """Ctrl+R: the draft is put aside, and comes back with Esc."""

    past: History
    _aside: str | None = None
    """The draft; None: nothing is looked for."""
    _entries: Sequence[PastPrompt] = ()
    _folded: Sequence[str] = ()

    @property
    def searching(self) -> bool:
        """Earlier prompts are looked for: what stands here is no draft."""
        return self._aside is not None

    @property
    def aside(self) -> str:
        """The draft that waits meanwhile."""
        return self._aside or ""

    def write(self, text: str) -> None:
        """Have this text as the draft."""
        raise NotImplementedError

    def search_past(self) -> bool:
        """Look for earlier prompts, with the draft as the first words; again: the next one."""
        if self.searching:
            self.step_offers(1)
            return True
        self._entries = self.past.all()
        self._folded = [folded(entry.text[:_LOOKED_AT]) for entry in self._entries]
        draft = self.whole
        words = draft if len(draft) <= _LONGEST_QUERY and "\n" not in draft else ""
        self.write(words)
        self._aside = draft
        self.look(asked=True)
        return True

    def end_search(self, text: str | None = None) -> None:
        """Have this as the draft; None: the one that waited."""
        if self._aside is not None:
            draft, self._aside = self._aside, None
            self._entries, self._folded = (), ()
            self.write(draft if text is None else text)

    def look(self, *, asked: bool = False) -> None:
        """Those that have all the words; see `CompletingText`."""
        if self._aside is None:
            super().look(asked=asked)
            return
        words = folded(self.text).split()
        if (wish := self.completer.wish) is None or wish.letters != self.text or asked:
            found = self._found_with(words)
            offers = [_offer(entry, words) for entry in found[:MOST]]
            end = len(self.text)
            self.completer.show(Wish("past", self.text, 0, end), offers, len(found))
            self.on_offers()

    def take(self, at: int | None = None) -> Offer | None:
        """The lit prompt is the draft now; see `CompletingText`."""
        if self._aside is None:
            return super().take(at)
        self.look()
        if at is not None and at < len(self.completer.offers):
            self.completer.at = at
        offer = self.completer.lit
        if offer is not None:
            self.end_search(offer.text)
        return offer

    def close_offers(self) -> bool:
        """See `CompletingText`; the draft comes back."""
        if self._aside is None:
            return super().close_offers()
        self.end_search()
        return True

    def _found_with(self, words: Sequence[str]) -> list[PastPrompt]:
        pairs = zip(self._entries, self._folded, strict=True)
        return [entry for entry, text in pairs if all(word in text for word in words)]


def _offer(entry: PastPrompt, words: Sequence[str]) -> Offer:
    shown = one_line(entry.text[:_SHOWN])
    low = folded(shown)
    offsets = {
        place
        for word in words
        if (at := low.find(word)) >= 0
        for place in range(at, at + len(word))
    }
    place = "" if entry.here else f"in {one_line(entry.place)}"
    return Offer(entry.text, shown, place, tuple(sorted(offsets)))
