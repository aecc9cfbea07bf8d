r"""The header lines of one file of a unified diff: names, renames, modes.

From git's ``apply.c`` and GNU patch: names are C-quoted with octal escapes when they hold
unusual characters, ``a/`` and ``b/`` (or git's mnemonic letters) stand before them, a tab and a
timestamp may stand behind them, a name in ``diff --git`` may hold spaces.
"""

from __future__ import annotations

import re

from msgspec import Struct

from tui.core.edits.hunk import Kind

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
    copied: bool = False
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
            self.copied = self.done = True
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
            return self.old is not None
        return not (line.startswith("diff ") and bool(self.index) and self.old is None)

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
