"""Completion in the prompt: what is offered at the cursor, which of it is selected, taking it.

Files are looked through in slices of the event loop, so that a key is never held up by a large
workspace; a letter more is looked for in what was found with those before it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from tui.core.fuzzy import Sieve
from tui.engine.notices import Status
from tui.engine.slash import find_command
from tui.ui.prompt.completion import (
    MOST,
    CompletionItem,
    CompletionQuery,
    argument_items,
    command_items,
    file_items,
    first_files,
    means,
    query_at,
    sieve,
)
from tui.ui.prompt.draft import Draft

SLICE = 1_000
"""Paths that are looked at in one turn of the event loop: less than a millisecond."""
_NARROW = 4_000
"""Found paths in which a letter more is looked for; more are as quick to look through anew."""


class _Place(NamedTuple):
    """What the items depend on."""

    row: int
    column: int
    line: str
    lines: int


class Completer:
    """Items for one query at a time; `on_change` is told when they are others."""

    def __init__(
        self, draft: Draft, paths: Callable[[], list[str]], status: Callable[[], Status]
    ) -> None:
        """``paths`` lists the workspace's files; ``status`` is the session's."""
        self.query: CompletionQuery | None = None
        self.items: list[CompletionItem] = []
        self.at = 0
        """The selected one."""
        self.total = 0
        """How many there are, of which some are offered."""
        self.on_change: Callable[[], None] = lambda: None
        self._draft, self._paths, self._status = draft, paths, status
        self._chosen = False
        """The user selected it: it is no more only the best guess."""
        self._seen: _Place | None = None
        self._silent: _Place | None = None
        """A text that nobody typed here: nothing is offered over it."""
        self._closed_at: tuple[int, int] | None = None
        """Row and column of what Esc closed the list over."""
        self._sieve: Sieve | None = None
        self._listed: list[str] = []
        """What was looked through last, for one letter more."""
        self._due: asyncio.Handle | None = None

    @property
    def selected(self) -> CompletionItem | None:
        """What would be taken."""
        return self.items[self.at] if self.items else None

    @property
    def sure(self) -> bool:
        """What is selected is what was meant: it was chosen, or nothing else can be meant.

        Else Enter would run something that was not typed: 1000 for 10, /clear for /clr.
        """
        if self.query is None or self.selected is None:
            return False
        return self._chosen or self.query.kind in ("file", "past") or means(self.query, self.items)

    @property
    def fits_nothing(self) -> bool:
        """Something stands here that would be completed, and there is no such thing."""
        return self.query is not None and not self.items and self._due is None

    @property
    def is_typed(self) -> bool:
        """What would be put in stands here already."""
        query, item = self.query, self.selected
        if query is None or item is None:
            return False
        line = self._draft.document.get_line(self._draft.cursor_location[0])
        return line[query.start : query.end] == item.text

    @property
    def names_a_command(self) -> bool:
        """The whole name of a command was typed."""
        query = self.query
        if query is None or query.kind != "command":
            return False
        return find_command(query.letters.lower()) is not None

    def look(self) -> None:
        """Offer what fits at the cursor now; what needs longer comes later."""
        seen = self._see()
        if seen == self._seen:
            return
        self._seen = seen
        query = None
        if not self._draft.selected_text and seen != self._silent:
            alone = seen.lines == 1
            query = query_at(seen.line, seen.column, first=not seen.row, alone=alone)
        if (None if query is None else (seen.row, query.start)) != self._closed_at:
            self._closed_at = None
        else:
            query = None
        self._search(query)
        self._drop_what_is_typed()
        self.on_change()

    def look_again(self) -> None:
        """All files were listed anew; a list in which the user chose one stays as it is."""
        if self.query is not None and self.query.kind == "file" and not self._chosen:
            self._search(self.query)
            self._drop_what_is_typed()
            self.on_change()

    def keep_silent(self) -> None:
        """What stands here now was not typed: the history's, a suggestion, an edit that ended."""
        self._silent = self._seen = self._see()
        self.show(None, [], 0)

    def close(self) -> bool:
        """Close the list over what is typed; it opens again over the next. False: there is none."""
        if not self.items or self.query is None:
            return False
        self._closed_at = (self._draft.cursor_location[0], self.query.start)
        self._seen = self._see()
        self.show(None, [], 0)
        return True

    def step(self, rows: int) -> None:
        """Select another one; behind the last is the first."""
        if self.items:
            self.at = (self.at + rows) % len(self.items)
            self._chosen = True
        self.on_change()

    def take(self, at: int | None = None) -> CompletionItem | None:
        """Put in the selected item, or the one at this place; returns which it was."""
        self.look()
        if self._due is not None and self.query is not None and self._sieve is not None:
            self._stop()
            while not self._sieve.step(SLICE):
                pass
            self._found(self.query, self._sieve)
        if at is not None and at < len(self.items):
            self.at = at
        item, query = self.selected, self.query
        if item is None or query is None:
            return None
        self._put_in(item, query)
        self.look()
        return item

    def show(self, query: CompletionQuery | None, items: list[CompletionItem], total: int) -> None:
        """Offer these; ``total`` counts those that are left out, too."""
        self._set(query, items, total)
        if query is None:
            self._sieve, self._listed = None, []
        self.on_change()

    def _put_in(self, item: CompletionItem, query: CompletionQuery) -> None:
        """With a blank behind it, unless something stands there."""
        row, end = self._draft.cursor_location[0], query.end
        line = self._draft.document.get_line(row)
        if line[query.start : query.start + 2] == '@"' and line[end : end + 1] == '"':
            end += 1
        behind = line[end : end + 1]
        text = item.text + ("" if behind else " ")
        self._draft.replace(text, (row, query.start), (row, end), maintain_selection_offset=False)
        if behind.isspace():
            self._draft.move_cursor((row, query.start + len(text) + 1))

    def _see(self) -> _Place:
        row, column = self._draft.cursor_location
        document = self._draft.document
        return _Place(row, column, document.get_line(row), document.line_count)

    def _drop_what_is_typed(self) -> None:
        """Offer nothing where what is typed would be put in, and nothing else can be chosen."""
        query = self.query
        if query is None or query.kind == "command" or not self.is_typed:
            return
        if query.kind == "file" or len(self.items) == 1:
            self._set(None, [], 0)
            self._sieve, self._listed = None, []

    def _search(self, query: CompletionQuery | None) -> None:
        self._stop()
        if query is not None and query.kind == "file":
            self._search_files(query)
            return
        self._sieve, items = None, list[CompletionItem]()
        if query is None:
            self._listed = []
        elif query.kind == "command":
            items = command_items(query.letters)
        else:
            items = argument_items(query, self._status())
        self._set(query, items, len(items))

    def _search_files(self, query: CompletionQuery) -> None:
        paths = self._paths()
        search, before = sieve(query, paths), self._sieve
        if not search.letters:
            self._sieve = None
            fits = first_files(paths, self._status().open_paths)
            self._set(query, file_items(query, fits), len(paths))
            return
        if before is not None and before.done and before.count <= _NARROW:
            same = paths is self._listed or paths == self._listed
            if same and search.letters.startswith(before.letters):
                search = sieve(query, before.held)
        self._listed, self._sieve = paths, search
        if search.step(SLICE):
            self._found(query, search)
        else:
            self.query = query
            self._go_on()

    def _go_on(self) -> None:
        try:
            self._due = asyncio.get_running_loop().call_soon(self._slice)
        except RuntimeError:  # nobody waits for slices
            self._due = None

    def _slice(self) -> None:
        self._due = None
        if self._sieve is None or self.query is None:
            return
        if self._sieve.step(SLICE):
            self._found(self.query, self._sieve)
            self._drop_what_is_typed()
            self.on_change()
        else:
            self._go_on()

    def _found(self, query: CompletionQuery, found: Sieve) -> None:
        self._set(query, file_items(query, found.best(MOST)), found.count)

    def _set(self, query: CompletionQuery | None, items: list[CompletionItem], total: int) -> None:
        self._stop()
        self.query, self.items, self.at, self.total = query, items, 0, total
        self._chosen = False

    def _stop(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None
