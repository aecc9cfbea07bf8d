r"""A unified diff: the header lines of each file, then its hunks, line by line.

From git's ``apply.c`` and GNU patch: names are C-quoted with octal escapes when they hold
unusual characters, ``a/`` and ``b/`` (or git's mnemonic letters) stand before them, a tab and a
timestamp may stand behind them, a name in ``diff --git`` may hold spaces. The counts of a hunk
are a hint: it goes on to the next header.
"""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from tui.core.document.hunk import Kind
from tui.core.edit_stream.events import (
    Anchor,
    Cut,
    EditGrammar,
    End,
    Ev,
    Failure,
    FileEnd,
    FileOp,
    Line,
    MoveTo,
    NoNewline,
    Refusal,
    SectionEnd,
    SectionStart,
    whole,
)
from tui.core.edit_stream.naming import Exists
from tui.core.edit_stream.v4a import no_prefix, quoted

HEAD_STARTS = (
    "diff ", "index ", "old mode ", "new mode ", "new file mode ", "deleted file mode ",
    "similarity index ", "dissimilarity index ", "rename from ", "rename to ", "rename old ",
    "rename new ", "copy from ", "copy to ", "--- ", "+++ ", "Binary files ", "Files ",
    "GIT binary patch", "Index: ", "=====", "mode ", "Only in ",
)  # fmt: skip
"""How lines of a header begin."""
NULL = "/dev/null"

_DIFF = re.compile(r"diff (?:--git |--cc |--combined |-[A-Za-z]).*", re.DOTALL)
_RANGE = re.compile(r"@@\s*-(\d+)(?:,(\d+))?\s+\+(\d+)(?:,(\d+))?\s*@@")
_NUMBERS = re.compile(r"[-+]\S*\s+[-+]|[-+]?\d")
_STAMP = re.compile(
    r"(?:\t.*|\s+\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d.*"
    r"|\s+\((?:revision \d+|working copy|nonexistent)\)"
    r"|\s+(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? (?:\d\d? )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct"
    r"|Nov|Dec) .*)$",
    re.DOTALL,
)
_DAYS = {
    (1969, 12, 30): -2, (1969, 12, 31): -1, (1970, 1, 1): 0, (1970, 1, 2): 1, (1970, 1, 3): 2,
}  # fmt: skip
"""Those near the epoch, counted from it."""
_ISO = re.compile(r"\b(?P<year>\d{4})[-/](?P<month>\d\d?)[-/](?P<day>\d\d?)(?!\d)")
_AMERICAN = re.compile(r"\b(?P<month>\d\d?)/(?P<day>\d\d?)/(?P<year>\d{4})\b")
_WORDS = re.compile(r"\b(?P<month>Jan|Dec)[a-z]*\b")
_YEAR, _DAY = re.compile(r"\b(?:1969|1970)\b"), re.compile(r"\b\d\d?\b(?!:)(?<!:\d)(?<!:\d\d)")
_TIME = re.compile(
    r"(?P<hours>\d\d?):(?P<minutes>\d\d)(?::[\d.]+)?"
    r"(?:[^-+]*(?P<ahead>[-+]\d\d?):?(?P<more>\d\d)?\b)?"
)
_NO_FILE_H = (-25, 26)
"""Hours from the epoch: what GNU patch takes for the date of no file, whatever the time zone."""
_PREFIX = re.compile(r"[abciow12]/(?=.)")
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|.)", re.DOTALL)
_LETTERS = dict(zip(b"abfnrtv", b"\a\b\f\n\r\t\v", strict=True))
_BINARY = re.compile(r"(?:literal|delta) \d+|[A-Za-z](?:[0-9A-Za-z!#$%&()*+;<=>?@^_`{|}~-]{5})+")
_MODES = {"120000": "it is a symlink", "160000": "it is a submodule"}


def is_head(line: str) -> bool:
    """The line may be one of a header."""
    return line.startswith(HEAD_STARTS)


def starts_diff(line: str) -> bool:
    """The line may be the first of a diff: ``diff ...``, ``Index: x`` or ``--- x``."""
    if line.startswith("--- "):
        return bool(line[4:].strip())
    if line.startswith("Index: "):
        return bool(line[7:].strip())
    return line.startswith("diff ") and _DIFF.fullmatch(line) is not None


def is_binary(line: str) -> bool:
    """The line is one of a binary patch of git."""
    return _BINARY.fullmatch(line) is not None


def counts_of(header: str) -> tuple[int | None, int | None, int | None]:
    """``@@ -l,n +l,n @@`` -> first old row (0-based), old and new line counts; None if bare."""
    match = _RANGE.match(header)
    if match is None:
        return None, None, None
    old = int(match[2]) if match[2] is not None else 1
    new = int(match[4]) if match[4] is not None else 1
    first = int(match[1])
    return (first if old == 0 else max(0, first - 1)), old, new


def place_of(header: str) -> str:
    """``@@ def f(): @@`` -> ``def f():``: what models write where the numbers belong."""
    text = header[2:].strip().removesuffix("@@").strip()
    said = any(map(str.isalpha, text)) and not _NUMBERS.match(text)
    return text if said else ""


def unquoted(name: str) -> str:
    r"""A name as git writes it: ``"a\303\251\t.txt"`` is C-quoted."""
    if len(name) < 2 or name[0] != '"':
        return name
    end = name.rfind('"')
    if end == 0:
        return name

    def plain(match: re.Match[bytes]) -> bytes:
        part = match[1]
        if part.isdigit():
            return bytes([int(part, 8) & 0xFF])
        return bytes([_LETTERS.get(part[0], part[0])])

    return _ESCAPE.sub(plain, name[1:end].encode()).decode("utf-8", "replace")


def named(text: str) -> str:
    """The name in what stands behind ``---`` or ``+++``: no timestamp, unquoted."""
    text = text.lstrip(" ")
    if text.startswith('"'):
        return unquoted(text.rstrip())
    return _STAMP.sub("", text).rstrip()


def is_gone(line: str) -> bool:
    """The date of a file that is not there: the epoch in any form and time zone, or svn's word."""
    match = _STAMP.search(line)
    if match is None:
        return False
    stamp = match[0].strip()
    if stamp in ("(nonexistent)", "(revision 0)"):
        return True
    hours = _hours_from_epoch(stamp)
    return hours is not None and _NO_FILE_H[0] < hours < _NO_FILE_H[1]


def _hours_from_epoch(stamp: str) -> float | None:
    """How far a date is from the epoch; None: by days, or it is no date. No zone counts as UTC."""
    date = _ISO.search(stamp) or _AMERICAN.search(stamp)
    if date is not None:
        day = _DAYS.get((int(date["year"]), int(date["month"]), int(date["day"])))
    else:
        month, year, number = _WORDS.search(stamp), _YEAR.search(stamp), _DAY.search(stamp)
        if month is None or year is None or number is None:
            return None
        day = _DAYS.get((int(year[0]), 1 if month[0].startswith("Jan") else 12, int(number[0])))
    if day is None:
        return None
    time = _TIME.search(stamp)
    if time is None:
        return 24.0 * day
    hours = int(time["hours"]) + int(time["minutes"]) / 60
    ahead, more = int(time["ahead"] or 0), int(time["more"] or 0) / 60
    return 24 * day + hours - ahead - (-more if (time["ahead"] or "").startswith("-") else more)


def git_names(line: str) -> tuple[str, str]:
    """The two names of ``diff --git a/x b/x``; empty if they cannot be told apart."""
    text = line.removeprefix("diff --git ").strip()
    if text.endswith('"') or text.startswith('"'):
        match = re.fullmatch(r'("(?:[^"\\]|\\.)*"|\S+)\s+("(?:[^"\\]|\\.)*"|.+)', text)
        return (unquoted(match[1]), unquoted(match[2])) if match else ("", "")
    middle = len(text) // 2
    if len(text) % 2 and text[middle] == " ":
        old, new = text[:middle], text[middle + 1 :]
        if _PREFIX.sub("", old, count=1) == _PREFIX.sub("", new, count=1):
            return old, new
    parts = text.split(" ")
    return (parts[0], parts[1]) if len(parts) == 2 else ("", "")


class Head(Struct):
    """What the header lines of one file said so far."""

    lines: int = 0
    old_gone: bool = False
    """The old side's date says that there was no such file."""
    new_gone: bool = False
    old: str | None = None
    """Behind ``---``."""
    new: str | None = None
    """Behind ``+++``."""
    git: tuple[str, str] = ("", "")
    renamed: tuple[str, str] = ("", "")
    added: bool = False
    deleted: bool = False
    index: str = ""
    """The name behind svn's ``Index:``."""
    refusal: str = ""
    combined: bool = False
    """It has several old sides."""
    mode: bool = False
    """The file's mode changes."""
    done: bool = False
    """Something was said that needs no hunk: a rename, an empty file, a mode, a binary."""

    def take(self, line: str) -> None:
        """Read one header line."""
        self.lines += 1
        self.done = self.done or self.combined
        if line.startswith("--- "):
            self.old, self.old_gone = named(line[4:]), is_gone(line)
        elif line.startswith("+++ "):
            self.new, self.new_gone = named(line[4:]), is_gone(line)
        elif line.startswith("diff "):
            self._diff(line)
        elif line.startswith(("rename from ", "rename old ")):
            self.renamed = (unquoted(line[12:].strip()), self.renamed[1])
        elif line.startswith(("rename to ", "rename new ")):
            self.renamed = (self.renamed[0], unquoted(line.split(" ", 2)[2].strip()))
            self.done = True
        elif line.startswith("copy "):
            self.done = True
            self.refusal = "copies are not made: add the new file with its text"
        elif line.startswith("Index: "):
            self.index = named(line[7:])
        else:
            self._mode(line)

    def over_at(self, line: str) -> bool:
        """A line that may begin a diff is the first one of another file."""
        if self.lines == 0:
            return True
        if line.startswith("--- "):
            return self.old is not None or (self.done and not self._is_own(named(line[4:])))
        return not (line.startswith("diff ") and bool(self.index) and self.old is None)

    def _is_own(self, name: str) -> bool:
        """A name behind ``---`` is one of this file's, or may be, as none was said."""
        said = [one for one in (*self.renamed, *self.git) if one]
        known = {NULL, *said, *(_PREFIX.sub("", one, count=1) for one in said)}
        return not said or name in known or _PREFIX.sub("", name, count=1) in known

    @property
    def complete(self) -> bool:
        """It is a file operation of its own, without hunks."""
        return self.done and bool(self.target()[1])

    @property
    def full(self) -> bool:
        """Both names were said."""
        return self.old is not None and self.new is not None

    def target(self) -> tuple[Kind, str, str, tuple[str, ...]]:
        """Kind, path, where it goes (empty: nowhere), other names that it may have.

        The path is empty if no name can be told.
        """
        old, new = self._names()
        if old == NULL or self.added:
            return Kind.ADD, self._stripped(new, NULL), "", ()
        if new == NULL or self.deleted:
            path = self._stripped(old, NULL)
            return Kind.DELETE, path, "", self._others(path, old)
        if self.renamed[0] and self.renamed[1]:
            return Kind.EDIT, self.renamed[0], self.renamed[1], ()
        old_path, new_path = self._stripped(old, new), self._stripped(new, old)
        if new_path.startswith(("/", "../")) and not old_path.startswith(("/", "../")):
            old_path, new_path = new_path, old_path
        return Kind.EDIT, new_path, "", self._others(new_path, old_path, new, old)

    def _diff(self, line: str) -> None:
        if line.startswith("diff --git "):
            self.git = git_names(line)
        elif line.startswith(("diff --cc ", "diff --combined ")):
            name = unquoted(line.split(" ", 2)[2].strip())
            self.git = (name, name)
            self.refusal = "a combined diff of a merge cannot be applied"
            self.combined = True

    def _mode(self, line: str) -> None:
        mode = line.rsplit(" ", 1)[-1].strip()
        if line.startswith(("Binary files ", "GIT binary patch")) or (
            line.startswith("Files ") and line.rstrip().endswith(" differ")
        ):
            self.refusal = "it is a binary file, text edits only"
            self.done = True
            return
        if line.startswith(("new file mode ", "deleted file mode ", "old mode ", "new mode ")):
            self.added = self.added or line.startswith("new file")
            self.deleted = self.deleted or line.startswith("deleted")
            self.mode = self.mode or line.startswith(("old mode", "new mode"))
            self.done = True
        if mode in _MODES and line.startswith(("new ", "old ", "deleted ", "index ")):
            self.refusal = f"{_MODES[mode]}, text edits only"

    def _names(self) -> tuple[str, str]:
        old = self.old if self.old is not None else self.git[0] or self.index
        new = self.new if self.new is not None else self.git[1] or self.index
        return old, new

    def _stripped(self, name: str, other: str) -> str:
        """A name without ``a/`` or ``b/``, if both have such letters and not the same."""
        match = _PREFIX.match(name)
        if match is None:
            return name
        bare = name[match.end() :]
        plain = _PREFIX.match(other)
        if other in (NULL, bare) or self.git != ("", ""):
            return bare
        return bare if plain is not None and other[0] != name[0] else name

    def _others(self, path: str, *names: str) -> tuple[str, ...]:
        found = dict.fromkeys(name for name in names if name not in ("", NULL, path))
        return tuple(found)


WRONG_COUNTS = "line counts are wrong"
LOST_MODE = "the change of the file's mode is left out"
_OPS: dict[str, Literal["=", "-", "+"]] = {" ": "=", "-": "-", "+": "+"}
_ITEM = re.compile(r"[-+] \S")


class DiffGrammar(EditGrammar):
    """The files of one diff."""

    def __init__(
        self, sections: int, exists: Exists, *, indent: str, fenced: bool, strict: bool
    ) -> None:
        """``fenced``: something closes around it; ``strict``: nothing else may stand behind."""
        super().__init__(sections)
        self._exists = exists
        self._indent = indent
        self._fenced = fenced
        self._strict = strict
        self._head = Head()
        self._kind: Kind | None = None
        """Of the open file; None between files."""
        self._path = ""
        self._in_file = 0
        """Sections of the open file."""
        self._hunk = False
        """Behind an ``@@``."""
        self._section = False
        """Its first line was told."""
        self._told = False
        """A line of the hunk came."""
        self._said_line = False
        """The last event is a `Line`: one ``\\ No newline`` may follow it."""
        self._hint: int | None = None
        self._place = ""
        """What a header without numbers says instead."""
        self._old: int | None = None
        """Old lines to come; None without counts."""
        self._new: int | None = None
        self._op: Literal["=", "-", "+"] = "="
        self._flags: list[str] = []
        self._held: list[tuple[str, str, int]] = []
        """Blank lines and ``---``/``+++`` that the next line decides on."""
        self._skipping = False
        """The lines of what is refused."""
        self._number = 0
        self._out: list[Ev] = []

    def take(self, text: str, ending: str, number: int, closing: bool) -> list[Ev]:
        """Read one whole line; see `reading.EditGrammar`."""
        self._number = number
        line = text
        if self._indent:
            text = text.removeprefix(self._indent)
        if closing and text[:1] not in _OPS:
            self._close(explicit=True)
            self.wrapper_closed = not self.failed
        elif self._hunk:
            self._in_hunk(text, ending, number)
        else:
            self._in_head(text, ending, number)
        if self.failed and not self.rest:
            self.rest = [whole(line, ending)]
        out, self._out = self._out, []
        return out

    def partial(self, pending: str) -> str | None:
        """The unfinished ``+`` line inside a hunk that is not complete."""
        if self._indent:
            pending = pending.removeprefix(self._indent)
        if not pending.startswith("+") or not self._hunk or self._complete or self._held:
            return None
        return pending[1:].removesuffix("\r")

    def over_at(self, pending: str) -> bool:
        """Nothing marks the end of a diff."""
        return False

    def close(self, explicit: bool) -> list[Ev]:
        """The input is complete, or the fence was closed."""
        self._close(explicit)
        out, self._out = self._out, []
        return out

    def cut(self, pending: str) -> list[Ev]:
        """The stream was cut; a hunk whose counts are complete is whole."""
        if self._section and self._complete and not pending.startswith((" ", "+")):
            self._end_section(closed=True)
        self._out.append(Cut())
        self._abandon()
        out, self._out = self._out, []
        return out

    @property
    def _complete(self) -> bool:
        """The counts say that all lines of the hunk came."""
        return self._old is not None and self._old <= 0 and (self._new or 0) <= 0

    # Between hunks.

    def _in_head(self, text: str, ending: str, number: int) -> None:
        if text.startswith("@@") and (self._kind is not None or self._head.full or self._head.done):
            self._held.clear()
            self._open_file(text)
            if not self.ended:
                self._begin_hunk(text)
        elif not text.strip():
            self._held.append((text, ending, number))
        elif is_head(text):
            self._held.clear()
            if starts_diff(text) and (self._kind is not None or self._head.over_at(text)):
                self._close_file()
                self._head = Head()
            self._head.take(text)
        elif self._refused() and is_binary(text):
            self._held.clear()
        elif self._kind is None and self._head.full and text[0] in _OPS:
            self._open_file()
            if not self.ended:
                self._begin_hunk("@@")
                self._in_hunk(text, ending, number)
        else:
            self._finish_before(text, ending)

    def _refused(self) -> bool:
        """The file is one that cannot be edited: what it holds is read over."""
        if self._kind is None and self._head.refusal and self._head.complete:
            self._open_file()
        return self._skipping

    def _open_file(self, hunk: str = "") -> None:
        """Tell the file, if it was not told yet; ``hunk``: its first ``@@`` follows."""
        if self._kind is not None:
            return
        kind, path, target, others = self._head.target()
        if not path:
            self._fail("the diff names no file")
            return
        if kind is Kind.EDIT and not target:
            row, old, new = counts_of(hunk)
            if self._head.new_gone and new == 0:
                kind = Kind.DELETE
            elif (self._head.old_gone and not old) or (row == old == 0 and not self._exists(path)):
                kind = Kind.ADD
        self._kind, self._path, self._in_file = kind, path, 0
        self._flags = []
        self._out.append(FileOp(kind, path, "unified_diff", others))
        if target:
            self._out.append(MoveTo(target))
        refusal = self._head.refusal
        if self._head.mode and not refusal and not self._head.full and not target:
            refusal = "a change of the file's mode is not made"
        if refusal:
            self._out.append(Refusal(refusal))
        self._skipping = bool(refusal)

    def _close_file(self, *, sure: bool = True) -> None:
        """Close the open file operation, or one that consists of its header."""
        if self._kind is None:
            if not self._head.done:
                return
            self._open_file()
            if self.ended:
                return
        if self._kind is Kind.DELETE and not sure:
            self._fail(f"the diff ends inside of the delete of '{quoted(self._path)}'")
            return
        self._out.append(FileEnd(closed=True))
        self._kind, self._skipping = None, False
        self._head = Head()

    def _begin_hunk(self, header: str) -> None:
        self._hint, self._old, self._new = counts_of(header)
        self._place = place_of(header) if self._hint is None else ""
        self._hunk = True
        self._section = self._told = self._said_line = False
        self._held.clear()
        if self._head.mode and LOST_MODE not in self._flags:
            self._flags.append(LOST_MODE)

    # Inside a hunk.

    def _in_hunk(self, text: str, ending: str, number: int) -> None:
        first = text[:1]
        if first in _OPS and not (self._held or self._complete or text.startswith("--- ")):
            self._say(_OPS[first], text[1:], ending)
        elif text.startswith("\\ "):
            self._release()
            if self._said_line and (self._section or self._kind is Kind.ADD):
                self._out.append(NoNewline(self._op))
                self._said_line = False
        elif first == "@" and text.startswith("@@"):
            self._next_hunk(text)
        elif not text.strip() and (first != " " or self._complete):
            self._held.append((text, ending, number))
            if self._old == self._new == len(self._held) and not any(
                held[0].strip() for held in self._held
            ):
                self._release()  # exactly what the counts expect
        elif self._held_header(text, ending, number):
            return
        elif first in _OPS and not (self._complete and self._is_behind(text)):
            self._release()
            self._say(_OPS[first], text[1:], ending)
        elif is_head(text) and starts_diff(text):
            self._end_hunk()
            self._in_head(text, ending, number)
        else:
            self._foreign(text, ending, number)

    def _is_behind(self, text: str) -> bool:
        """A line behind a complete hunk is a mail's signature, or of a list below the diff.

        Others go on with the hunk: the counts are a hint.
        """
        loose = bool(self._held) and not (self._fenced or self._strict)
        return text in ("-- ", "--") or (loose and _ITEM.match(text) is not None)

    def _held_header(self, text: str, ending: str, number: int) -> bool:
        """Hold ``---`` and ``+++`` lines until it is known whether they begin another file."""
        marks = [held for held in self._held if held[0].startswith(("--- ", "+++ "))]
        if text.startswith("--- ") and text[4:].strip():
            if marks:
                self._release()
            self._held.append((text, ending, number))
            return True
        if text.startswith("+++ ") and len(marks) == 1:
            if self._complete:
                self._next_file()
                self._in_head(text, ending, number)
            else:
                self._held.append((text, ending, number))
            return True
        return False

    def _next_hunk(self, text: str) -> None:
        """``@@`` behind lines of a hunk: of this file, or of the one that held lines name."""
        marks = [held for held in self._held if held[0].startswith(("--- ", "+++ "))]
        content = self._old == 1 and self._new == 1
        if len(marks) == 2 and not content:
            self._next_file()
            self._in_head(marks[1][0], marks[1][1], marks[1][2])
            self._open_file(text)
        else:
            self._end_hunk()
        if not self.ended:
            self._begin_hunk(text)

    def _next_file(self) -> None:
        """The last held ``---`` line is a header."""
        at = max(i for i, held in enumerate(self._held) if held[0].startswith("--- "))
        mark = self._held[at]
        self._held = self._held[:at]
        self._end_hunk()
        if not self.ended:
            self._in_head(*mark)

    def _foreign(self, text: str, ending: str, number: int) -> None:
        """A line that is none of a hunk."""
        open_counts = self._old is not None and not self._complete
        loose = not self._fenced and not self._strict and bool(self._held)
        if any(held[0].strip() for held in self._held):
            self._release()
        if self._complete or (loose and not open_counts):
            self._finish_before(text, ending)
        elif self._kind is Kind.EDIT:
            self._release()
            self._say("=", text, ending, number)
        else:
            self._fail(no_prefix(text))

    def _finish_before(self, text: str, ending: str) -> None:
        """The diff was over before this line, and before blank lines above it."""
        rest = [whole(held[0], held[1]) for held in self._held]
        self._held.clear()
        self._close(explicit=True)
        self.rest = [*rest, whole(text, ending)]

    def _release(self) -> None:
        """Held lines are lines of the hunk."""
        held, self._held = self._held, []
        for text, ending, _ in held:
            self._say(_OPS.get(text[:1], "="), text[1:], ending)

    def _say(self, op: Literal["=", "-", "+"], text: str, ending: str, bare: int = 0) -> None:
        """Tell one line of the hunk."""
        if self._old is not None and self._new is not None:
            self._old -= op != "+"
            self._new -= op != "-"
            if (self._old < 0 or self._new < 0) and WRONG_COUNTS not in self._flags:
                self._flags.append(WRONG_COUNTS)
        self._op, self._told = op, True
        if self._skipping:
            return
        if self._kind is Kind.ADD:
            if op != "+":
                self._fail(f"the new file '{quoted(self._path)}' has no old lines")
                return
        elif not self._section:
            self._section = True
            self.sections += 1
            self._in_file += 1
            self._out.append(SectionStart(self.sections, self._in_file == 1))
            if self._hint is not None or self._place:
                self._out.append(Anchor(self._place, self._hint))
        self._out.append(Line(op, text, ending, bare))
        self._said_line = True

    def _end_hunk(self) -> None:
        """The hunk is over: another, another file, or the end follows."""
        if any(held[0].strip() for held in self._held):
            self._release()
        self._held.clear()
        self._hunk = False
        if not self._told and not self._skipping and not self._complete:
            self._fail("a hunk has no lines")
            return
        if self._old is not None and not self._complete and WRONG_COUNTS not in self._flags:
            self._flags.append(WRONG_COUNTS)
        if self._section:
            self._end_section(closed=True)

    def _end_section(self, closed: bool) -> None:
        flags, self._flags = self._flags, []
        self._out.append(SectionEnd(closed, tuple(flags)))
        self._section = False

    def _close(self, explicit: bool) -> None:
        """The diff is over."""
        if any(held[0].strip() for held in self._held):
            self._release()
        whole_hunk = self._old is not None and self._complete
        right = not self._hunk or self._old is None or whole_hunk
        sure = explicit or not self._hunk or whole_hunk
        if self._hunk and not self.ended:
            self._end_hunk()
        if not self.ended:
            self._close_file(sure=sure)
        if not self.ended:
            self._out.append(End(explicit=right))
            self.ended = True

    def _fail(self, message: str) -> None:
        self._out.append(Failure(self._number, message))
        self.failed = True
        self._abandon()

    def _abandon(self) -> None:
        """Close what is open as not closed."""
        if self._section:
            self._end_section(closed=False)
        if self._kind is not None:
            self._out.append(FileEnd(closed=False))
        self._kind, self._hunk = None, False
        self._held.clear()
        self.ended = True
