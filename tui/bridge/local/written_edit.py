"""An edit that a model writes under a grammar, looked at line by line while it comes.

A line is shown when it is whole and, in a REPLACE, if what stands before it can still become right
for the parser of the file's language, where there is one. The first lines of a REPLACE that are as
those that are looked for are shown with the first one that is not.
"""

from __future__ import annotations

import json
import tomllib
import warnings
from collections.abc import Mapping, Sequence

from tui.bridge.local.grammar import DIVIDER, MOST_ADDED, REPLACE, SEARCH

_INCOMPLETE = 0x4000 | 0x200
"""ast.PyCF_ALLOW_INCOMPLETE_INPUT and PyCF_DONT_IMPLY_DEDENT, as `codeop` has them."""
_ONLY_AST = 0x400
_TO_COME = "incomplete input"
"""What Python says where the beginning is right and more has to follow."""
MOST_PARSED = 2000
"""Lines that are read with each line that is written, a few ms; longer files at the end only."""
_MOST_WHOLE = 10_000
"""Lines of a file that is read at the end: it takes about 0.1 s."""


class RejectedLineError(Exception):
    """The line that came does not go with what stands there: it is to be written again."""


class WrittenEdit:
    """One edit of some files, from its first character on."""

    def __init__(self, files: Mapping[str, Sequence[str]]) -> None:
        self._files = files
        self.said = ""
        """What may be shown."""
        self._line = ""
        self.path = ""
        self.searched: list[str] = []
        self.lines: list[str] = []
        """Of REPLACE."""
        self._shown = 0
        """Of these, how many are in `said`."""
        self.at_end = False
        """It was the end that was rejected."""
        self._state = "name"

    @property
    def done(self) -> bool:
        """It is whole, and the file reads well with it."""
        return self._state == "done"

    @property
    def room(self) -> int:
        """So many lines more may be put in."""
        return len(self.searched) + MOST_ADDED - len(self.lines)

    def take(self, text: str) -> str:
        """Read more; returns what of it may be shown. Raises RejectedLineError."""
        before = len(self.said)
        *whole, self._line = f"{self._line}{text}".split("\n")
        for line in whole:
            self._take_line(line)
            self.said += self._shown_with(line)
        return self.said[before:]

    def _shown_with(self, line: str) -> str:
        """What may be shown now that a line was taken."""
        ends = self._state == "done"
        if not ends and not self.lines:
            return f"{line}\n"
        if not ends and self.lines == self.searched[: len(self.lines)]:
            return ""
        shown, self._shown = self.lines[self._shown :], len(self.lines)
        return "".join(f"{one}\n" for one in (*shown, *([REPLACE] * ends)))

    def _take_line(self, line: str) -> None:
        if self._state == "name":
            self.path, self._state = line, "head"
        elif self._state == "head" and line == SEARCH:
            self._state = "search"
        elif self._state == "search" and line != DIVIDER:
            self.searched.append(line)
        elif self._state == "search":
            self._state = "replace"
        elif self._state == "replace" and line == REPLACE:
            self.at_end = True
            if self.lines == self.searched or not self._fits(self.lines):
                raise RejectedLineError
            self._state = "done"
        elif self._state == "replace":
            self.at_end = False
            if not self.room or not may_go_on(self.path, self._before([*self.lines, line])):
                raise RejectedLineError
            self.lines.append(line)

    def text_with(self, lines: Sequence[str]) -> list[str]:
        """The file with these lines in the place of those that are looked for."""
        file, row = list(self._files[self.path]), self._row()
        return [*file[:row], *lines, *file[row + len(self.searched) :]]

    def _before(self, lines: Sequence[str]) -> list[str]:
        """The file up to the line that was put in last."""
        return [*self._files[self.path][: self._row()], *lines]

    def _row(self) -> int:
        """The first line is there only once."""
        return list(self._files[self.path]).index(self.searched[0])

    def again(self) -> None:
        """What was not shown is forgotten: it is written again."""
        self._line = ""
        del self.lines[self._shown :]

    def end(self) -> str:
        """End it where it is; returns what is to be shown for that.

        Of the lines that are looked for those stay that come behind as many as were put in, or some
        more or fewer, so that the file reads well, perhaps behind what closes a bracket or a
        string. Without any such line it cannot be ended.
        """
        self.again()
        if not self.searched:
            return ""
        begun = f"{DIVIDER}\n" * (self._state == "search")
        count = len(self.searched)
        rows = sorted(range(count + 1), key=lambda row: abs(row - len(self.lines)))
        ends = [[*close, *self.searched[row:]] for close in self._closing() for row in rows]
        fitting = (end for end in ends if self._fits([*self.lines, *end]))
        rest = next(fitting, self.searched if not self.lines else [])
        self.lines, self._state = [*self.lines, *rest], "done"
        text = begun + "".join(f"{line}\n" for line in (*rest, REPLACE))
        self.said += text
        return text

    def _closing(self) -> list[list[str]]:
        """Lines that may close what the lines that were put in have opened; first none."""
        last = next((line for line in reversed(self.lines) if line.strip()), "")
        indent = last[: len(last) - len(last.lstrip())]
        signs = ('"""', "'''", ")", "]", "}", "pass", "    pass") if _is_python(self.path) else ()
        return [[], *([f"{indent}{sign}"] for sign in signs if self.lines)]

    def _fits(self, lines: Sequence[str]) -> bool:
        return reads_well(self.path, self.text_with(lines))


def reads_well(path: str, lines: Sequence[str]) -> bool:
    """Whether a file's text is right for the parser of its language; where there is none, it is."""
    if len(lines) > _MOST_WHOLE:
        return True
    text = "\n".join([*lines, ""])
    try:
        if _is_python(path):
            _parse(text, 0)
        elif path.endswith(".json"):
            json.loads(text)
        elif path.endswith(".toml"):
            tomllib.loads(text)
    except (SyntaxError, ValueError):
        return False
    except (RecursionError, MemoryError):
        return True
    return True


def may_go_on(path: str, lines: Sequence[str]) -> bool:
    """Whether something may follow these first lines of a file that makes it right."""
    if not _is_python(path) or len(lines) > MOST_PARSED:
        return True
    try:
        _parse("\n".join([*lines, ""]), _INCOMPLETE)
    except SyntaxError as error:
        return _TO_COME in str(error.msg)
    except (ValueError, RecursionError, MemoryError):
        return True
    return True


def _is_python(path: str) -> bool:
    return path.endswith((".py", ".pyi"))


def _parse(text: str, flags: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(text, "edit", "exec", flags | _ONLY_AST, dont_inherit=True)
