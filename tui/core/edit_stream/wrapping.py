"""Lines outside of a patch: where one begins, and what is only wrapped around it.

A fence (three backticks) or a heredoc (``apply_patch <<'EOF'``) around a patch is dropped; it
can only be told from prose by the line behind it. Everything here looks at one line, and
`may_be_special` at the beginning of one: it holds for every beginning of a special line.
"""

from __future__ import annotations

import re

from tui.core.edit_stream.grammar import BEGIN

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
    if BEGIN.startswith(text) or text.rstrip() == BEGIN:
        return True
    if _FENCE_BEGINNING.fullmatch(text):
        return True
    if any(start.startswith(text) or text.startswith(start) for start in (*_STARTS, *_SHELLS)):
        return True
    return bool(closer) and (closer.startswith(text) or closes(text, closer))
