"""The lines outside of edits: what is prose, what is wrapped around an edit, where one begins.

A line that may belong to an edit (a fence, a diff's header, a name inside a fence) is held
until a later one decides; what is held and turns out to be nothing is prose, byte for byte.
A fence or a heredoc (``apply_patch <<'EOF'``) around a patch is dropped; it can only be told
from prose by the line behind it.

A whole file in a fence, line by line, from the first line behind the opening fence. A fence
inside of it is content: it is shorter than the outer one, or it opens with an info string and a
bare one closes it (EDITS.md section 1; aider#22, aider#2106).

SEARCH/REPLACE blocks, line by line, from the line behind the first ``<<<<<<< SEARCH``. Markers
have 5 to 9 characters (aider), or are cline's ``-------`` and ``+++++++``; they count at column 0
or at the indent of the block's own first marker. Which of several dividers divides is for the
placement to decide: all are told.
"""

from __future__ import annotations

import re
from collections import deque
from itertools import takewhile
from typing import Literal

from msgspec import Struct

from tui.core.document.hunk import Kind
from tui.core.edit_stream.events import (
    Cut,
    Divider,
    EditGrammar,
    End,
    Ev,
    Failure,
    FileEnd,
    FileOp,
    Line,
    Notation,
    SectionEnd,
    SectionStart,
    whole,
)
from tui.core.edit_stream.naming import (
    Exists,
    is_output,
    listed,
    lone_path,
    maybe_name,
    name_of,
    near,
)
from tui.core.edit_stream.unified_diff import HEAD_STARTS, DiffGrammar, Head, is_head, starts_diff
from tui.core.edit_stream.v4a import BEGIN, END, HEADER_STARTS, Grammar, is_header

_RUN = re.compile(r"[ \t]*(`{3,}|~{3,})([^\n]*)", re.DOTALL)
_SEARCH = re.compile(r"[ \t]*(?:<{3,}|-{3,}) ?SEARCH>?\s*")


def nearly_search(line: str) -> bool:
    """The line is meant to be a SEARCH marker, whatever its length."""
    return len(line) <= 80 and _SEARCH.fullmatch(line) is not None


class ListingGrammar(EditGrammar):
    """One whole file."""

    def __init__(self, path: str, opening: str, sections: int, *, marked: bool = False) -> None:
        """``opening`` is the line of the fence; ``marked``: other formats' markers are errors."""
        super().__init__(sections)
        self._path = path
        stripped = opening.strip()
        self._char = stripped[0]
        self._length = len(stripped) - len(stripped.lstrip(self._char))
        self._indent = len(opening) - len(opening.lstrip(" \t"))
        self._inner: list[int] = []
        """Lengths of the fences that are open inside of the file."""
        self._marked = marked
        self._number = 0
        self._begun = False

    def take(self, text: str, ending: str, number: int, closing: bool) -> list[Ev]:
        """Read one whole line; see `reading.EditGrammar`."""
        self._number = number
        said = [] if self._begun else self._begin()
        if self._indent:
            text = self._dedented(text)
        if text.lstrip(" \t")[:1] == self._char and self._fences(text):
            self.ended = True
            return [*said, FileEnd(closed=True), End(explicit=True)]
        if self._marked and text[:3] in ("<<<", "---") and nearly_search(text):
            self.rest = [whole(text, ending)]
            return [*said, *self._fail("a SEARCH marker behind other lines of a whole file")]
        said.append(Line("+", text, ending))
        return said

    def partial(self, pending: str) -> str | None:
        """The unfinished line, unless it may become a fence."""
        text = pending.removesuffix("\r")
        if self._indent:
            text = self._dedented(text)
        return None if not text or text.lstrip(" \t")[:1] in ("`", "~", "") else text

    def over_at(self, pending: str) -> bool:
        """The closing fence is there, its newline is not."""
        text = pending.strip()
        return not self._inner and len(text) >= self._length and not text.strip(self._char)

    def close(self, explicit: bool) -> list[Ev]:
        """The input is complete though the fence is not closed."""
        said = [] if self._begun else self._begin()
        if self._inner:
            return [*said, *self._fail(f"the fence around '{self._path}' is not closed")]
        self.ended = True
        return [*said, FileEnd(closed=True), End(explicit=False)]

    def cut(self, pending: str) -> list[Ev]:
        """The stream was cut inside the file."""
        said = [] if self._begun else self._begin()
        self.ended = True
        return [*said, Cut(), FileEnd(closed=False)]

    def _begin(self) -> list[Ev]:
        self._begun = True
        return [FileOp(Kind.ADD, self._path, "whole_file")]

    def _dedented(self, text: str) -> str:
        """The line without the fence's indent, as far as it has one (CommonMark)."""
        blanks = len(text) - len(text.lstrip(" \t"))
        return text[min(blanks, self._indent) :]

    def _fences(self, text: str) -> bool:
        """The line closes the file; notes fences that open and close inside of it."""
        match = _RUN.fullmatch(text)
        if match is None or match[1][0] != self._char or len(match[1]) < self._length:
            return False
        if match[2].strip():
            if self._char not in match[2]:
                self._inner.append(len(match[1]))
            return False
        if self._inner and len(match[1]) >= self._inner[-1]:
            self._inner.pop()
            return False
        return not self._inner

    def _fail(self, message: str) -> list[Ev]:
        self.failed = self.ended = True
        return [Failure(self._number, message), FileEnd(closed=False)]


_OPENING = re.compile(r"[ \t]*(?:<{5,9} ?|-{5,9} )SEARCH>?\s*")
_DIVIDER = re.compile(r"={5,9}\s*")
_REPLACE = re.compile(r"(?:>{5,9}|\+{5,9}) ?REPLACE>?\s*")
_BLANKS = " \t"
_MARKS = frozenset("<>=+- \t")
_MAY_MARK = (">", "<", "=", "+", "-----")


def is_search(line: str) -> bool:
    """The line begins a block, at any indent."""
    return len(line) <= 80 and _OPENING.fullmatch(line) is not None


class BlockGrammar(EditGrammar):
    """The blocks of one file: one `FileOp`, a section each.

    Behind a block it is `ended` but its file is not: the next block may `resume` it, else
    `close` says that the file is over.
    """

    def __init__(self, path: str, others: tuple[str, ...], sections: int) -> None:
        super().__init__(sections)
        self.path = path
        self._others = others
        self._indent = ""
        self._indent_sure = False
        self._first = True
        self._op: Literal["-", "+"] = "-"
        self._open = False
        """Inside a block."""
        self._number = 0

    def resume(self, marker: str) -> list[Ev]:
        """A block begins: the line is its SEARCH marker."""
        self.ended = False
        self._indent = marker[: len(marker) - len(marker.lstrip(_BLANKS))]
        self._indent_sure = False
        self._op = "-"
        self._open = True
        self.sections += 1
        start = SectionStart(self.sections, self._first)
        if not self._first:
            return [start]
        self._first = False
        return [FileOp(Kind.EDIT, self.path, "search_replace", self._others), start]

    def take(self, text: str, ending: str, number: int, closing: bool) -> list[Ev]:
        """Read one whole line; see `reading.EditGrammar`."""
        self._number = number
        if self._indent:
            text = self._dedented(text)
        if text[:1] not in _MARKS or text[0] in _BLANKS:
            return [Line(self._op, text, ending)]
        if _REPLACE.fullmatch(text):
            return self._replace_marker(text, ending)
        if _DIVIDER.fullmatch(text):
            self._op = "+"
            return [Divider(text)]
        if is_search(text):
            self.rest = [whole(self._indent + text, ending)]
            return self._fail(f"expected '{self._expected}' before another SEARCH")
        return [Line(self._op, text, ending)]

    def partial(self, pending: str) -> str | None:
        """The unfinished line of a replacement, unless it may become a marker."""
        if self._op == "-":
            return None
        text = pending.removesuffix("\r")
        if self._indent:
            text = text.removeprefix(self._indent)
        return None if not text or text.startswith(_MAY_MARK) else text

    def over_at(self, pending: str) -> bool:
        """The last marker is there, its newline is not."""
        text = pending.removeprefix(self._indent)
        return self._op == "+" and _REPLACE.fullmatch(text) is not None

    def close(self, explicit: bool) -> list[Ev]:
        """The blocks are over; inside of one that is an error."""
        if self._open:
            return self._fail(f"expected '{self._expected}', the text ends before it")
        self.ended = True
        return [FileEnd(closed=True), End(explicit=True)]

    def cut(self, pending: str) -> list[Ev]:
        """The stream was cut inside a block."""
        return [Cut(), *self._abandoned()]

    @property
    def _expected(self) -> str:
        return "=======" if self._op == "-" else ">>>>>>> REPLACE"

    def _replace_marker(self, text: str, ending: str) -> list[Ev]:
        if self._op == "-":
            return self._fail(f"expected '=======' before '{text.strip()}'")
        self._open, self.ended = False, True
        return [SectionEnd(closed=True)]

    def _dedented(self, text: str) -> str:
        """The line without the indent of the first marker, if the block's lines have it."""
        if text.startswith(self._indent):
            self._indent_sure = self._indent_sure or not text.isspace()
            return text[len(self._indent) :]
        if text and not text.isspace() and not self._indent_sure:
            self._indent = ""
        return text

    def _fail(self, message: str) -> list[Ev]:
        self.failed = True
        return [Failure(self._number, message), *self._abandoned()]

    def _abandoned(self) -> list[Ev]:
        """Close what is open as not closed."""
        self.ended = True
        ends: list[Ev] = [SectionEnd(closed=False)] if self._open else []
        self._open = False
        return [*ends, FileEnd(closed=False)]


LIMIT = 600
"""Characters; a longer line is prose, whatever it looks like."""

_FENCE = re.compile(r"(`{3,}|~{3,})[^`]*")
_FENCE_BEGINNING = re.compile(r"`{1,2}|~{1,2}|(?:`{3,}|~{3,})[^`]*")
_STARTS = ("<<", "apply_patch", "applypatch", "$ apply_patch", "cat <<", "cd ", "$ cd ")
_SHELLS = ("bash -lc", "bash -c", "sh -c", "sh -lc", "zsh -lc", "zsh -c")
_HEREDOC = re.compile(
    r"(?:(?:ba|z)?sh -l?c [\"'])?(?:\$ )?"
    r"(?:cd\s+(?:\"(?P<double>[^\"]+)\"|'(?P<single>[^']+)'|(?P<bare>[^\s\"'&|;<>]+))\s*&&\s*)?"
    r"(?:apply_patch|applypatch|cat)?\s*"
    r"<<-?\s*[\"'\\]?(?P<word>\w+)[\"']?"
)


def is_begin(line: str) -> bool:
    """The line is ``*** Begin Patch``, at any indent."""
    return len(line) <= LIMIT and line.strip() == BEGIN


def fence_of(line: str) -> str:
    """The fence that a line opens or closes (its run of backticks or tildes), else empty."""
    match = _FENCE.fullmatch(line.strip()) if len(line) <= LIMIT else None
    return match[1] if match else ""


def info_of(line: str) -> str:
    """The first word of a fence's info string, in small letters."""
    words = line.strip().lstrip("`~").split()
    return words[0].lower() if words else ""


def opens_after(lines: list[str]) -> list[str]:
    """What would close the fences and heredocs that are open behind these lines."""
    opened: list[str] = []
    for line in lines:
        if opened and closes(line, opened[-1]):
            opened.pop()
        elif closer := fence_of(line.rstrip("\r\n")) or heredoc_of(line.rstrip("\r\n")):
            opened.append(closer)
    return opened


def heredoc_of(line: str) -> str:
    """The word that will close the heredoc which a line opens, else empty."""
    match = _HEREDOC.fullmatch(line.strip()) if len(line) <= LIMIT else None
    return match["word"] if match else ""


def folder_of(line: str) -> str:
    """The folder that the line of a heredoc goes to first (``cd sub && ...``), else empty."""
    match = _HEREDOC.fullmatch(line.strip()) if len(line) <= LIMIT else None
    return (match["double"] or match["single"] or match["bare"] or "") if match else ""


def closes(line: str, closer: str) -> bool:
    """The line closes a fence or a heredoc that `closer` stands for."""
    text = line.strip()
    if closer[0] in "`~":
        return text.startswith(closer) and not text.strip(closer[0])
    return text.rstrip("\"')") == closer


def may_be_special(beginning: str, closer: str = "") -> bool:
    """The line that begins like this may turn out to begin, wrap or close a patch."""
    if len(beginning) > LIMIT:
        return False
    text = beginning.lstrip()
    if any(one.startswith(text) or text.rstrip() == one for one in (BEGIN, END)):
        return True
    if _FENCE_BEGINNING.fullmatch(text):
        return True
    if any(start.startswith(text) or text.startswith(start) for start in (*_STARTS, *_SHELLS)):
        return True
    return bool(closer) and (closer.startswith(text) or closes(text, closer))


_DIFF_TAGS = frozenset(["", "diff", "patch", "udiff", "unidiff", "git", "gitdiff"])
_QUOTING = ("markdown", "md", "rst", "text", "txt", "plain", "plaintext", "console", "output")
"""Tags of fences in which a block behind other lines is a quotation."""


class Found(Struct):
    """An edit begins."""

    grammar: EditGrammar
    lines: list[str]
    """The first lines of the edit, to be read by the grammar."""
    marker: str = ""
    """SEARCH/REPLACE: the marker's line, with which the grammar begins or goes on."""


class Outside:
    """The state between the edits of one stream."""

    def __init__(self, formats: frozenset[Notation], exists: Exists) -> None:
        """``exists`` says whether a name is that of a file of the workspace."""
        self.prose: list[str] = []
        """Text that is no edit; who reads it takes it."""
        self.closers: list[str] = []
        """What closes the wrappers of the last edit, innermost last."""
        self.sections = 0
        self.unnamed = 0
        """Blocks of code passed over because no line says which file they are."""
        self.idle: BlockGrammar | None = None
        """Behind a SEARCH/REPLACE block: the next one may be of the same file."""
        self._formats = formats
        self._strict = len(formats) == 1
        self._fence = ""
        """The open fence that is prose."""
        self._tag = ""
        """Its info string."""
        self._held: list[str] = []
        self._opened: int | None = None
        """Which of the held lines opens the fence that is open there."""
        self._exists = exists
        self._listing: str | None = None
        """The file that the held fence holds whole, if its first line does not say else."""
        self._head: Head | None = None
        """The diff header that the last held lines are."""
        self._head_at = 0
        self._recent: deque[str] = deque(maxlen=10)
        """Prose since the last edit."""
        self._path = ""
        """Of the last SEARCH/REPLACE block."""
        self._folder = ""

    def take(self, line: str) -> Found | None:
        """Decide what a whole line is; returns the edit that begins with it."""
        text = line.rstrip("\r\n")
        if len(text) > LIMIT and not self.must_wait:
            self._say(line)
            return None
        if is_begin(text) and "apply_patch" in self._formats:
            return self._begin_patch(text)
        if self._strict and is_header(text) and "apply_patch" in self._formats:
            found = self._begin_patch(text)
            found.lines.append(line)
            return found
        if self._head is not None:
            return self._in_head(line, text)
        if is_search(text) and self._may_search():
            return self._begin_block(line)
        if self._listing is not None and self._opened is not None:
            return self._in_listing(line, text)
        self._outside(line, text)
        return None

    def finish(self) -> Found | None:
        """The input is complete: what is held is an edit after all, or prose."""
        if self._head is not None and self._head.complete:
            return self._begin_diff("")
        self.release()
        return None

    def may_be_special(self, beginning: str) -> bool:
        """The line that begins like this may be no prose."""
        if self.must_wait:
            return True
        if len(beginning) > LIMIT:
            return False
        if self.idle is not None or self._opened is not None:
            return True
        text = beginning.lstrip(_BLANKS)
        if self._strict and any(s.startswith(text) or text.startswith(s) for s in HEADER_STARTS):
            return True
        if may_be_special(beginning, self.closers[-1] if self.closers else ""):
            return True
        marks = text[0] in "<-" and "SEARCH>".startswith(text.lstrip("<-").strip())
        if marks and "search_replace" in self._formats:
            return True
        starts = (
            (*HEAD_STARTS, "@@") if self._head is not None else ("--- ", "diff ", "Index: ", "@@ -")
        )
        return "unified_diff" in self._formats and any(
            start.startswith(text) or text.startswith(start) for start in starts
        )

    @property
    def must_wait(self) -> bool:
        """No line is prose before it is whole, however long it is."""
        head = self._head
        return self._listing is not None or (head is not None and (head.complete or head.full))

    def release(self) -> None:
        """What was held is prose after all."""
        held, self._held = self._held, []
        self._opened, self._listing, self._head = None, None, None
        for line in held:
            self._put(line)

    # What begins.

    def _begin_patch(self, text: str) -> Found:
        opened = opens_after(self._held)
        if opened or not self.closers:
            folders = [folder_of(line) for line in self._held]
            self._folder = next((folder for folder in reversed(folders) if folder), "")
        indent = text[: len(text) - len(text.lstrip())]
        self._enter(opened)
        return Found(Grammar(indent, self.sections, self._folder), [])

    def _begin_block(self, line: str) -> Found:
        above = [*reversed(self._held), *reversed(self._recent)]
        path, others, claimed = near(above, self._exists)
        idle = self.idle
        if not path and not claimed:
            path = self._path
        if idle is not None and path == idle.path:
            self.idle = None
            self._enter(opens_after(self._held))
            self.idle = idle
            return Found(idle, [], line)
        self._enter(opens_after(self._held))
        self._path = path
        return Found(BlockGrammar(path, others, self.sections), [], line)

    def _begin_diff(self, line: str) -> Found:
        lines = [*self._held[self._head_at :], line] if line else self._held[self._head_at :]
        first = lines[0]
        indent = first[: len(first) - len(first.lstrip(_BLANKS))]
        self._enter(opens_after(self._held[: self._head_at]))
        fenced = bool(self.closers)
        strict = self._strict
        return Found(
            DiffGrammar(self.sections, self._exists, indent=indent, fenced=fenced, strict=strict),
            lines,
        )

    def _begin_listing(self, line: str) -> Found:
        assert self._opened is not None
        assert self._listing is not None
        opening = self._held[self._opened].rstrip("\r\n")
        lines = [*self._held[self._opened + 1 :], line]
        grammar = ListingGrammar(
            self._listing, opening, self.sections, marked=len(self._formats) > 1
        )
        self._enter([])
        self.closers = []
        return Found(grammar, lines)

    def _enter(self, opened: list[str]) -> None:
        """An edit begins: what is held is wrapped around it, or is it."""
        if self.idle is not None and not self.closers:
            for line in takewhile(str.isspace, self._held):
                self._put(line)  # they only waited for another block
        self.closers = opened or self.closers
        self._held.clear()
        self._recent.clear()
        self._opened, self._listing, self._head = None, None, None

    def _may_search(self) -> bool:
        if "search_replace" not in self._formats:
            return False
        return not self._fence or self._strict or self._tag not in _QUOTING

    # What is held.

    def _in_head(self, line: str, text: str) -> Found | None:
        """A line behind a diff's header lines."""
        head = self._head
        assert head is not None
        first = self._held[self._head_at]
        text = text.removeprefix(first[: len(first) - len(first.lstrip(_BLANKS))])
        if text.startswith("@@") and (head.full or head.complete):
            return self._begin_diff(line)
        if head.full and text[:1] in ("+", "-", " ") and self._bare_lines(text):
            return self._begin_diff(line)
        if is_head(text) and self._goes_on(head, text):
            head.take(text)
            self._held.append(line)
            return None
        if head.complete:
            return self._begin_diff(line)
        if self._listing is not None:
            self._head = None
            return self._begin_listing(line)
        self.release()
        return self.take(line)

    def _goes_on(self, head: Head, text: str) -> bool:
        """The header line belongs behind those that are held."""
        if head.old is not None and head.new is None:
            return text.startswith("+++ ")
        if starts_diff(text):
            return text.startswith("--- ") and head.old is None
        return not head.full

    def _bare_lines(self, text: str) -> bool:
        """Lines may follow the header without an ``@@``."""
        if is_head(text):
            return False
        tag = info_of(self._held[self._opened]) if self._opened is not None else ""
        return self._strict or tag in ("diff", "patch", "udiff")

    def _in_listing(self, line: str, text: str) -> Found | None:
        """A line in the fence of a file that may be written whole."""
        assert self._opened is not None
        body = self._held[self._opened + 1 :]
        if not self._strict and nearly_search(text):
            self._say(line)
            return None
        if not self._strict and not body and (starts_diff(text) or name_of(text)):
            if starts_diff(text):
                self._head, self._head_at = Head(), len(self._held)
                self._head.take(text)
            self._held.append(line)
            return None
        return self._begin_listing(line)

    def _outside(self, line: str, text: str) -> None:
        """A line that begins no edit yet."""
        if self.closers and text.strip() and closes(text, self.closers[-1]):
            if all(map(str.isspace, self._held)):
                self._held.clear()  # between the edit and its fence
            self.release()
            self.closers.pop()
        elif self._fence:
            self._say(line)
        elif self._opens_diff(text):
            self._head, self._head_at = Head(), len(self._held)
            self._head.take(text.lstrip(_BLANKS))
            self._held.append(line)
        elif self._opened is not None and closes(text, fence_of(self._held[self._opened]) or "\0"):
            self._close_held(line)
        elif fence_of(text) or heredoc_of(text):
            self._open(line, text)
        elif self._is_held(text):
            self._held.append(line)
        else:
            self._say(line)

    def _opens_diff(self, text: str) -> bool:
        """A diff's header may begin with this line."""
        if "unified_diff" not in self._formats or not starts_diff(text.lstrip(_BLANKS)):
            return False
        if self._opened is None:
            code = not self._strict and text.startswith(("    ", "\t"))
            return not code or bool(self.closers)
        if any(line.strip() for line in self._held[self._opened + 1 :]):
            return False
        return self._strict or info_of(self._held[self._opened]) in _DIFF_TAGS

    def _open(self, line: str, text: str) -> None:
        """A fence or a heredoc opens."""
        if self._opened is not None and fence_of(text) and info_of(text):
            self.release()
            self._put(line)
            return
        if self.closers and info_of(text):
            self.closers.clear()
        bare = text.strip()
        heading = not self._strict and not bare.strip("~") and len(bare) > 4  # rst underlines so
        if "whole_file" in self._formats and fence_of(text) and not heading:
            above = [*reversed(self._held), *reversed(self._recent)]
            info = text.strip().lstrip("`~")
            self._listing = listed(above, info, self._exists, strict=self._strict)
            if self._strict and self._listing is None and not is_output(info_of(text)):
                self.unnamed += 1
        self._opened = len(self._held)
        self._held.append(line)

    def _close_held(self, line: str) -> None:
        """The held fence closes: only a name was in it, or nothing."""
        assert self._opened is not None
        body = [text for text in self._held[self._opened + 1 :] if text.strip()]
        self._held.append(line)
        self._opened, self._listing = None, None
        if len(body) != 1 or not name_of(body[0]):
            self.release()

    def _is_held(self, text: str) -> bool:
        """The line is blank, or names the file of a block that may follow."""
        if not text.strip():
            return bool(self._held or self.closers) or self.idle is not None
        if "search_replace" not in self._formats:
            return False
        if self._opened is not None:
            if any(line.strip() for line in self._held[self._opened + 1 :]):
                return False
            named = name_of(text) or (self._strict and maybe_name(text))
            return bool(named or lone_path(text, self._exists))
        return self.idle is not None and name_of(text) == self.idle.path

    def _say(self, line: str) -> None:
        self.release()
        self._put(line)

    def _put(self, line: str) -> None:
        """A line of prose."""
        self.prose.append(line)
        self.passed(line)

    def passed(self, line: str) -> None:
        """A line of prose was said, whole."""
        self._recent.append(line)
        if self._fence:
            if closes(line, self._fence):
                self._fence = ""
        elif fence := fence_of(line.rstrip("\r\n")):
            self._fence, self._tag = fence, info_of(line)
