"""What a prompt attaches by names with ``@``, and what a path that is pasted means.

``@file``, ``@file:10-40``, ``@folder``, ``@diff``, ``@failures``, ``@selection``, ``@symbol``.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import islice, takewhile
from typing import NamedTuple
from urllib.parse import unquote

from tui.core.files import counted, is_image_name
from tui.core.text.patterns import pattern

MADE = {
    "diff": "what differs from HEAD",
    "failures": "what failed in the last run of the tests",
    "selection": "what is selected in the editor",
}
"""What is no file: each name with what it attaches. A file of this name is ``@./diff``."""
ATTACHED = "Attached by the user: "
"""How a message begins that brings what was attached, and is no file."""
MADE_FOR_PROMPT = f"{ATTACHED}@"
"""The same of what was made for a prompt, as a difference."""
MOST_FILES = 100
"""Of a folder so many are attached."""
EAST_ASIAN = r"\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
"""Letters of scripts that have no blanks between words."""
_MENTION = pattern(
    rf"(?:^|(?<=[\s(\[{{<,;:=|&„“‚‘«‹「『（。，、：；！？'\"{EAST_ASIAN}]))"
    r"@(?:(\"(?:[^\"\\\n]|\\.)*\")(:\d+(?:-\d+)?)?|([^\s@\"]+))"
)
_RUNS_ON = pattern(rf".*?\.[A-Za-z0-9]{{1,8}}(?:(?::\d+(?:-\d+)?)?(?=[{EAST_ASIAN}]))")
"""A name with an ending, and words right behind it."""
_FIRST = pattern(
    r"\s*('(?:/|\./|file://)[^'\n]+'|\"(?:/|\./|file://)[^\"\n]+\"|(?:/|\./|file://)(?:\\.|[^\s\\])+)"
)
"""A path that a prompt begins with, as terminals write a file that is dropped on them."""
_LINES = pattern(r":(\d{1,9})(?:-(\d{1,9}))?$")
_BEHIND = ".,;:!?)]}>'…“”‘’»›」』）。，、：；！？"
"""What prose puts behind a name."""
_MOST_FOLDERS, _LOOKED_AT = 8, 1_000
_PLACES = (".", "..", "~")
"""Folders whose names say nothing else: the workspace, what it lies in, the user's home."""


class Mention(NamedTuple):
    """One ``@name`` of a prompt."""

    name: str
    lines: tuple[int, int] | None = None
    """First and last line, 1-based; None: all."""
    in_quotes: bool = False
    """So packages are written in code, too: ``'@scope/name'``."""

    def __str__(self) -> str:
        return self.name if self.lines is None else f"{self.name}:{span_words(self.lines)}"

    @property
    def like_a_path(self) -> bool:
        """It hardly means anything but a file: it is said when there is none."""
        if self.in_quotes:
            return is_image_name(self.name)
        if self.lines is not None or self.name in _PLACES:
            return True
        return "/" in self.name or "." in self.name.strip(".")


def span_words(lines: tuple[int, int]) -> str:
    """``10-40``, or ``10`` for one line."""
    first, last = lines
    return f"{first}-{last}" if last != first else str(first)


def mentions(text: str) -> list[Mention]:
    """What a prompt names with ``@``, each once, in order; first the image that it begins with."""
    found: dict[Mention, None] = {}
    if (begins := _FIRST.match(text)) is not None:
        path = _pasted(begins[1], ())[0].rstrip(_BEHIND)
        found |= {Mention(path): None} if is_image_name(path) else {}
    for match in _MENTION.finditer(text) if "@" in text else ():
        name, behind = match[3] or "", ""
        if match[1]:
            try:
                name, behind = str(json.loads(match[1])), match[2] or ""
            except ValueError:
                continue
        else:
            if on := _RUNS_ON.match(name):
                name = on[0]
            stop = name.rstrip(_BEHIND.replace(".", ""))
            name = stop if stop in _PLACES else name.rstrip(_BEHIND)
        quoted = text[match.start() - 1 : match.start()] in ("'", '"')
        if lines := _LINES.search(behind or name):
            name = name if behind else name[: lines.start()]
            first = max(int(lines[1]), 1)
            found[Mention(name, (first, max(int(lines[2] or first), first)), quoted)] = None
        elif name:
            found[Mention(name, None, quoted)] = None
    return list(found)


def names_image(text: str) -> bool:
    """Whether a prompt names what is an image by its name."""
    return any(is_image_name(one.name) for one in mentions(text))


def in_folder(folder: str, listed: Sequence[str]) -> list[str]:
    """Those of all files (sorted) below a folder, named with or without a slash behind it."""
    inside = folder.removeprefix("./").strip("/")
    if inside in ("", "."):
        return list(listed) if folder in (".", "./") else []
    first = bisect_left(listed, f"{inside}/")
    return [*takewhile(lambda path: path.startswith(f"{inside}/"), islice(listed, first, None))]


def folders_in(letters: str, listed: Sequence[str]) -> list[tuple[str, str]]:
    """The nearest folders whose paths begin so, with what is in each, in words."""
    if letters in (".", "./"):
        return [("./", f"folder, {counted(len(listed), 'file')}")]
    found, at = dict[str, str](), bisect_left(listed, letters)
    while at < len(listed) and listed[at].startswith(letters) and len(found) < _MOST_FOLDERS:
        name, slash, _ = listed[at][len(letters) :].partition("/")
        folder = f"{letters}{name}/"
        if slash and (name or not letters.endswith("/")):
            first, at = at, bisect_left(listed, folder[:-1] + chr(ord("/") + 1), at)
            found[folder] = f"folder, {counted(at - first, 'file')}"
        else:
            at += 1
            if at % _LOOKED_AT == 0:
                break
    return [*found.items()]


def files_of(paths: Iterable[str], listed: Sequence[str]) -> list[str]:
    """These paths; of a folder the files in it, as git names a new one without them."""
    return [file for path in paths for file in in_folder(path, listed) or [path]]


_WORDS = pattern(r"'[^'\n]*'|\"[^\"\n]*\"|(?:\\.|[^\s'\"\\])+")
_ESCAPED = pattern(r"\\(.)")


def pasted_paths(text: str, *roots: str) -> list[tuple[str, bool]]:
    """The paths that a pasted text may be, as terminals write the files that are dropped on them.

    Quoted, with backslashes, as ``file://``, several with blanks or line ends between them. Each
    with whether it is a whole path; those below ``roots`` are relative to them. Empty if it is
    something else: prose, a path of somebody's home.
    """
    text = text.strip()
    if not text or len(text) > 4_000:
        return []
    if text.startswith(("/", "file://")) and not set("\n\\'\"") & set(text):
        words = re.split(r" (?=/|file://)", text)  # a name with blanks, quoted by nobody
    else:
        words = _WORDS.findall(text)
        if "".join(words) != "".join(text.split()) and " " not in "".join(words):
            return []
    found = [_pasted(word, roots) for word in words]
    many = len(found) > 1
    return [] if any(not path or (many and not whole) for path, whole in found) else found


def _pasted(word: str, roots: Sequence[str]) -> tuple[str, bool]:
    if word[:1] in "'\"" and word[-1:] == word[:1] and len(word) > 1:
        path = word[1:-1]
    elif word.startswith("file://"):
        path = unquote("/" + word[len("file://") :].partition("/")[2])
    else:
        path = _ESCAPED.sub(r"\1", word)
    whole = path.startswith("/")
    for root in filter(None, roots):
        if path.startswith(root.rstrip("/") + "/"):
            return path[len(root.rstrip("/")) + 1 :], True
    return ("" if path.startswith("~") else path.removeprefix("./")), whole
