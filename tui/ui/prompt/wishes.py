"""What is being typed at the cursor that can be completed: a command, its argument, a file."""

from __future__ import annotations

import json
import re
import shlex
from typing import Literal, NamedTuple

from tui.engine.slash import Command, find_command, split_command

_COMMAND = re.compile(r"/([\w-]*)$")
_ARGUMENT = re.compile(r"/([\w-]+)((?:[ \t]+\S+)*)[ \t]+(\S*)$")
_MENTION = re.compile(r"(?:^|[\s(\[{<,;:=|&])@(?:\"([^\"]*)|([^\s@\"]*))$")
_LONGEST = 1_000
"""Characters before the cursor that are looked at: a path that is longer is written by hand."""
_PLAIN = re.compile(r"[\w./+~%#=-][\w./+~%#=:,-]*", re.ASCII)
"""A path that ends where a blank does, with nothing that prose takes for its own."""


class Wish(NamedTuple):
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


def wish_at(line: str, column: int, *, first: bool, alone: bool) -> Wish | None:
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
    start = before.rindex("@")
    shell = first and line.startswith("!")
    return Wish("file", letters, start, len(before), sign="@", shell=shell)


def _of_command(line: str, before: str) -> Wish | None:
    if found := _COMMAND.match(before):
        behind = re.match(r"[\w-]*", line[len(before) :])
        end = len(before) + (behind.end() if behind else 0)
        return Wish("command", found[1], 0, end)
    found = _ARGUMENT.match(before)
    command = find_command(found[1].lower()) if found else None
    if found is None or command is None:
        return None
    letters, words = found[3], tuple(found[2].split())
    start = len(before) - len(letters)
    if "PATH" in placeholders(command, len(words)) and not _is_choice(command, words, letters):
        sign = "@" if letters.startswith("@") else ""
        letters = letters.removeprefix("@")
        return Wish("file", letters, start, len(before), command.name, words, sign)
    return Wish("argument", letters, start, len(before), command.name, words)


def _is_choice(command: Command, words: tuple[str, ...], letters: str) -> bool:
    return any(choice.startswith(letters.lower()) for choice in choices(command, len(words)))


def choices(command: Command, place: int) -> tuple[str, ...]:
    """The words that a command takes as they are at this place, from how its argument is written.

    ``[disk|head|turn] [PATH]`` has three at the first place, and none at the second.
    """
    return tuple(word for word in _words(command, place) if word == word.lower())


def placeholders(command: Command, place: int) -> tuple[str, ...]:
    """What stands for something else there: NAME, PATH. What may be left out lets the next in."""
    found = [word for word in _words(command, place) if word != word.lower()]
    if place == 0 and command.argument.startswith("["):
        found += [word for word in _words(command, 1) if word != word.lower()]
    return tuple(found)


def _words(command: Command, place: int) -> list[str]:
    groups = command.argument.split()
    return groups[place].strip("[]").split("|") if place < len(groups) else []


def written(path: str, *, sign: str = "@", shell: bool = False) -> str:
    """A path as it is put into the draft: quoted where a blank or a quote would end it."""
    if shell:
        return shlex.quote(path)
    if _PLAIN.fullmatch(path) or _is_word(path):
        return sign + path
    return sign + json.dumps(path, ensure_ascii=False)


def _is_word(path: str) -> bool:
    """Letters of any writing, and nothing that ends a word."""
    return all(character.isalnum() or character in "./_-+~" for character in path)
