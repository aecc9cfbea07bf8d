"""What is being typed at the cursor that can be completed: a command, its argument, a file.

Completion in the prompt: what is offered at the cursor, which of it is selected, taking it. Files
are looked through in slices of the event loop, so that a key is never held up by a large
workspace; a letter more is looked for in what was found with those before it.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Literal, NamedTuple

from textual.widgets import TextArea

from tui.core.attachments import EAST_ASIAN, MADE, mentions
from tui.core.files import counted, kind_by_name
from tui.core.fuzzy import FuzzyMatch, Sieve, fit, folded, holds
from tui.core.text.patterns import pattern
from tui.engine.notices import Status
from tui.engine.slash import COMMANDS, Command, find_command, split_command
from tui.ui import theme

if TYPE_CHECKING:
    from tui.engine.attachments import Attachments
    from tui.ui.file_search import FileSearch

_COMMAND = pattern(r"/([\w-]*)$")
_ARGUMENT = pattern(r"/([\w-]+)((?:[ \t]+\S+)*)[ \t]+(\S*)$")
_MENTION = pattern(
    rf"(?:^|[\s(\[{{<,;:=|&„“‚‘«‹「『（。，、：；！？'\"{EAST_ASIAN}])@(?:\"([^\"]*)|([^\s@\"]*))$"
)
_BEST = 3
"""Files that are offered before all else that has the letters."""
_LINES = pattern(r"\w:\d*(?:-\d*)?$")
"""Lines of a file are being named."""
_LONGEST = 1_000
"""Characters before the cursor that are looked at: a path that is longer is written by hand."""
_PLAIN = pattern(r"[\w./+~%#=-][\w./+~%#=:,-]*", re.ASCII)
"""A path that ends where a blank does, with nothing that prose takes for its own."""


class CompletionQuery(NamedTuple):
    """The part of a line that is to be completed."""

    kind: Literal["command", "argument", "file", "past"]
    letters: str
    start: int
    """Column in its line where it begins, its sign included."""
    end: int
    """Column behind it: that of the cursor, or the end of the word that the cursor is in."""
    command: str = ""
    """Whose argument it is."""
    before: tuple[str, ...] = ()
    """The arguments before it."""
    sign: str = ""
    """What stands before a path: ``@``, or nothing."""
    shell: bool = False
    """It stands in a command for the shell."""


def query_at(line: str, column: int, *, first: bool, alone: bool) -> CompletionQuery | None:
    """What can be completed at this column of a line.

    Args:
        line: the whole line of the draft.
        column: where the cursor is in it.
        first: it is the draft's first line.
        alone: it is the only one, as that of a command is.
    """
    before = line[:column]
    if first and alone and line.startswith("/"):
        return _of_command(line, before) if split_command(line) is not None else None
    skipped = max(column - _LONGEST, 0)
    found = _MENTION.search(before[skipped:])
    if found is None:
        return None
    letters = found[1] if found[1] is not None else found[2]
    if _LINES.search(letters):
        return None
    start = before.rindex("@")
    shell = first and line.startswith("!")
    return CompletionQuery("file", letters, start, len(before), sign="@", shell=shell)


def _of_command(line: str, before: str) -> CompletionQuery | None:
    if found := _COMMAND.match(before):
        behind = re.match(r"[\w-]*", line[len(before) :])
        end = len(before) + (behind.end() if behind else 0)
        return CompletionQuery("command", found[1], 0, end)
    found = _ARGUMENT.match(before)
    command = find_command(found[1].lower()) if found else None
    if found is None or command is None:
        return None
    letters, words = found[3], tuple(found[2].split())
    start = len(before) - len(letters)
    is_choice = any(one.startswith(letters.lower()) for one in choices(command, words))
    if "PATH" in placeholders(command, words) and not is_choice:
        sign = "@" if letters.startswith("@") else ""
        letters = letters.removeprefix("@")
        return CompletionQuery("file", letters, start, len(before), command.name, words, sign)
    return CompletionQuery("argument", letters, start, len(before), command.name, words)


def choices(command: Command, before: Sequence[str]) -> tuple[str, ...]:
    """The words that a command takes as they are behind these, from how its argument is written.

    ``[disk|head|turn] [PATH]`` has three at the first place, and none behind one of them.
    """
    return tuple(word for word in _words(command, before) if word == word.lower())


def placeholders(command: Command, before: Sequence[str]) -> tuple[str, ...]:
    """What stands for something else there: NAME, PATH. What may be left out lets the next in."""
    return tuple(word for word in _words(command, before) if word != word.lower())


def _words(command: Command, before: Sequence[str]) -> dict[str, None]:
    forms = _forms(command.argument.replace(", or ", "|"))
    for at, word in enumerate(before):
        same = [form for form in forms if form[at : at + 1] == (word.lower(),)]
        free = (form for form in forms if len(form) > at and form[at] != form[at].lower())
        forms = same or [*free]
    return dict.fromkeys(form[len(before)] for form in forms if len(form) > len(before))


@lru_cache(maxsize=64)
def _forms(argument: str) -> list[tuple[str, ...]]:
    """All ways to write an argument: ``[a|b X] Y`` is Y, a Y and b X Y."""
    found: list[tuple[str, ...]] = []
    for way in _apart(argument, "|"):
        forms: list[tuple[str, ...]] = [()]
        for part in _apart(way, " "):
            inner = [(), *_forms(part[1:-1])] if part.startswith("[") else [(part,)]
            forms = [form + more for form in forms for more in inner]
        found += forms
    return found


def _apart(text: str, sign: str) -> list[str]:
    """The parts of a text between signs that stand in no brackets."""
    parts, depth = [""], 0
    for char in text:
        depth += (char == "[") - (char == "]")
        if char == sign and not depth:
            parts.append("")
        else:
            parts[-1] += char
    return [part for part in parts if part]


def written(path: str, *, sign: str = "@", shell: bool = False) -> str:
    """A path as it is put into the draft: quoted where a blank or a quote would end it."""
    if shell:
        return shlex.quote(path)
    # letters of any writing, and nothing that ends a word
    plain = _PLAIN.fullmatch(path) or all(one.isalnum() or one in "./_-+~" for one in path)
    if plain and (not sign or [*map(str, mentions(f"@{path}"))] == [path]):
        return sign + path
    return sign + json.dumps(path, ensure_ascii=False)


MOST = 100
"""Files that are offered."""


class CompletionItem(NamedTuple):
    """One of them."""

    text: str
    """What is put in."""
    shown: str
    """What it is called in the list."""
    help: str = ""
    offsets: tuple[int, ...] = ()
    """Characters of ``shown`` that were typed."""
    more: bool = False
    """Something must follow: taking it is not enough."""


_WORDS: dict[tuple[str, str], str] = {
    ("effort", "low"): "answers soonest",
    ("effort", "xhigh"): "thinks longest",
    ("effort", "none"): "no thinking, if the model allows it",
    ("effort", "auto"): "more when tests fail, less while they pass",
    ("throttle", "off"): "at the model's own speed",
    ("tier", "off"): "ask for none",
    ("diff", "disk"): "what is not saved",
    ("diff", "head"): "since the last commit",
    ("diff", "turn"): "since the turn began",
    ("auto", "on"): "hunks that need no look",
    ("auto", "off"): "every hunk waits for you",
    ("rescue", "forget"): "remove what was kept",
    ("forget", "all"): "of every session",
}
_RATES = {"50": "a model to delegate to", "150": "a quick one", "1000": "one to work with"}
_TIERS = {
    "priority": "faster, where offered",
    "fast": "",
    "ultrafast": "the fastest and most expensive",
    "flex": "cheaper, and slower",
}


def command_items(letters: str) -> list[CompletionItem]:
    """Commands that have the letters; those that begin with them come first."""
    low = folded(letters)
    found: list[tuple[int, int, CompletionItem]] = []
    for number, command in enumerate(COMMANDS):
        if not holds(low, command.name):
            continue
        one = fit(low, command.name)
        offsets = tuple(offset + 1 for offset in one.offsets)
        needs = bool(command.argument) and not command.argument.startswith("[")
        name = f"/{command.name}"
        item = CompletionItem(name, name, command.help, offsets, needs)
        score = 1000 if command.name.startswith(low) else one.score
        found.append((-score, number, item))
    return [item for *_, item in sorted(found)]


def means(query: CompletionQuery, items: Sequence[CompletionItem]) -> bool:
    """True if the letters begin the first item and no other, and nothing else may be typed."""
    letters = folded(query.letters)
    if query.kind == "argument":
        command = find_command(query.command)
        if not letters or command is None or placeholders(command, query.before):
            return False
    else:
        letters = f"/{letters}"
    begun = [item for item in items if folded(item.text).startswith(letters)]
    exact = any(folded(item.text) == letters for item in begun)
    return not exact and begun[:1] == list(items[:1]) and len(begun) == 1


def argument_items(query: CompletionQuery, status: Status) -> list[CompletionItem]:
    """What an argument may be: the words of the table, and what is known of the rest."""
    command = find_command(query.command)
    if command is None:
        return []
    words = {word: _WORDS.get((command.name, word), "") for word in choices(command, query.before)}
    for placeholder in placeholders(command, query.before):
        if source := _SOURCES.get((command.name, placeholder)):
            words = source() | words
    words |= {word: said for word, said in _now(command.name, status).items() if word in words}
    low = folded(query.letters)
    fits = [fit(low, word) for word in words if holds(low, folded(word))]
    if low:
        fits.sort(key=lambda one: (not folded(one.text).startswith(low), -one.score))
    return [CompletionItem(one.text, one.text, words[one.text], one.offsets) for one in fits]


def file_items(
    query: CompletionQuery, fits: Sequence[FuzzyMatch], sizes: Mapping[str, int]
) -> list[CompletionItem]:
    """Paths as they are put in, with their tokens where these are known, else with their kind."""
    here = "" if query.shell else "./"
    return [
        CompletionItem(
            written(here * (one.text in MADE) + one.text, sign=query.sign, shell=query.shell),
            one.text,
            f"~{counted(sizes[one.text], 'token')}"
            if one.text in sizes
            else kind_by_name(one.text),
            one.offsets,
        )
        for one in fits
    ]


def first_files(paths: Sequence[str], opened: Sequence[str]) -> list[FuzzyMatch]:
    """Before a letter is typed: the open files, then all others."""
    known = set(opened)
    others = (path for path in paths if path not in known)
    return [FuzzyMatch(path, 0) for path in islice(chain(opened, others), MOST)]


_SOURCES: dict[tuple[str, str], Callable[[], dict[str, str]]] = {
    ("theme", "NAME"): lambda: (
        dict.fromkeys(theme.theme_names(), "") | {"auto": "as the terminal's background is"}
    ),
    ("throttle", "TOKENS/S"): lambda: _RATES,
    ("tier", "NAME"): lambda: _TIERS,
}


def _now(command: str, status: Status) -> dict[str, str]:
    """What is said of words that stand for something that can be seen now."""
    if command == "theme":
        return {theme.active().name: "now"}
    if command == "model":
        return {
            role: (name or "none") + (" · answers now" if role == status.role else "")
            for role, name in status.models.items()
        }
    if command == "effort":
        effort = status.efforts.get(status.role) or ""
        return {"auto": f"now: {effort}"} if status.role in status.auto else {effort: "now"}
    if command == "tier":
        return {tier: "now"} if (tier := status.tiers.get(status.role)) else {}
    if command == "auto":
        return {"on" if status.auto_accept else "off": "now"}
    return {}


class _Place(NamedTuple):
    """What the items depend on."""

    row: int
    column: int
    line: str
    lines: int


class Completer:
    """Items for one query at a time; `on_change` is told when they are others."""

    def __init__(
        self, draft: TextArea, paths: Callable[[], list[str]], status: Callable[[], Status]
    ) -> None:
        """``paths`` lists the workspace's files; ``status`` is the session's."""
        self.query: CompletionQuery | None = None
        self.items: list[CompletionItem] = []
        self.at = 0
        """The selected one."""
        self.total = 0
        """How many there are, of which some are offered."""
        self.on_change: Callable[[], None] = lambda: None
        self.attachables: Attachments | None = None
        """Says what may stand behind an @ beside files; None: nobody does."""
        self._draft, self._paths, self._status = draft, paths, status
        self._chosen = False
        """The user selected it: it is no more only the best guess."""
        self._seen: _Place | None = None
        self._silent: _Place | None = None
        """A text that nobody typed here: nothing is offered over it."""
        self._closed_at: tuple[int, int] | None = None
        """Row and column of what Esc closed the list over."""

    @cached_property
    def _files(self) -> FileSearch:
        from tui.ui.file_search import FileSearch  # after the first paint

        return FileSearch(self._found_later)

    @property
    def _searching(self) -> bool:
        return "_files" in self.__dict__ and self._files.busy

    def _forget(self) -> None:
        if "_files" in self.__dict__:
            self._files.forget()

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
        return self.query is not None and not self.items and not self._searching

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

    def step(self, rows: int) -> bool:
        """Select another one; behind the last is the first. False: nothing is offered."""
        self._end_search()
        if self.items:
            self.at = (self.at + rows) % len(self.items)
            self._chosen = True
            self.on_change()
        return bool(self.items)

    def take(self, at: int | None = None) -> CompletionItem | None:
        """Put in the selected item, or the one at this place; returns which it was."""
        self.look()
        self._end_search()
        if at is not None and at < len(self.items):
            self.at = at
        item, query = self.selected, self.query
        if item is None or query is None:
            return None
        self._put_in(item, query)
        self.look()
        return item

    def _end_search(self) -> None:
        """Have all that fits what is typed now: a key is about that, not about a list before."""
        if self.query is not None and self._searching and (sieve := self._files.end()) is not None:
            self._found(self.query, sieve)

    def show(self, query: CompletionQuery | None, items: list[CompletionItem], total: int) -> None:
        """Offer these; ``total`` counts those that are left out, too."""
        self._set(query, items, total)
        if query is None:
            self._forget()
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
            self._forget()

    def _search(self, query: CompletionQuery | None) -> None:
        if query is not None and query.kind == "file":
            self._search_files(query)
            return
        self._forget()
        items: list[CompletionItem] = []
        if query is not None and query.kind == "command":
            items = command_items(query.letters)
        elif query is not None:
            items = argument_items(query, self._status())
        self._set(query, items, len(items))

    def _search_files(self, query: CompletionQuery) -> None:
        paths = self._paths()
        if not query.letters.strip():
            self._forget()
            self._offer(query, first_files(paths, self._status().open_paths), len(paths))
        elif (sieve := self._files.begin(query.letters, paths)) is not None:
            self._found(query, sieve)
        else:
            self.query = query

    def _found_later(self, sieve: Sieve) -> None:
        if self.query is not None:
            self._found(self.query, sieve)
            self._drop_what_is_typed()
            self.on_change()

    def _found(self, query: CompletionQuery, found: Sieve) -> None:
        self._offer(query, found.best(MOST), found.count)

    def as_attached(self, pasted: str) -> str:
        """Pasted paths as they are attached; empty: it is something else.

        A terminal pastes the paths of what is dropped on it.
        """
        line = self._draft.document.get_line(0)
        if self.attachables is None or line.startswith(("!", "/")):
            return ""
        return "".join(f"{written(path)} " for path in self.attachables.pasted(pasted))

    def _offer(self, query: CompletionQuery, fits: Sequence[FuzzyMatch], total: int) -> None:
        """Offer files, and behind an @ what else can be attached."""
        known = (query.sign or query.command == "pin") and not query.shell
        attachables = self.attachables if known else None
        if attachables is None:
            self._set(query, file_items(query, fits, {}), total)
            return
        files = file_items(query, fits, attachables.sizes(one.text for one in fits))
        others: list[CompletionItem] = []
        if query.command in ("", "pin"):
            letters = query.letters
            others = [
                CompletionItem(written(name, sign=query.sign), name, said, (*range(len(letters)),))
                for name, said in attachables.offered(letters)
                if not query.command or name.endswith("/")
            ]
        named = [one for one in others if one.shown in (query.letters, f"{query.letters}/")]
        others = [one for one in others if one not in named]
        first = _BEST if query.letters else len(self._status().open_paths)
        items = [*named, *files[:first], *others, *files[first:]]
        self._set(query, items, total + len(named) + len(others))

    def _set(self, query: CompletionQuery | None, items: list[CompletionItem], total: int) -> None:
        if self._searching:
            self._files.stop()
        self.query, self.items, self.at, self.total = query, items, 0, total
        self._chosen = False
