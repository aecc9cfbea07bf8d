"""Searching lines and paths by a model's patterns: none of them may hold up the screen.

A regular expression can take for ever. Each look at a line has a time limit, which Python's own
module does not know, and lines are searched in a thread.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from tui.core.text.pattern_weight import HEAVIEST, pattern_weight
from tui.engine.call_error import CallError

if TYPE_CHECKING:
    import regex as timed

MATCH_LIMIT = 200
MATCH_CHARS = 400
LINE_LIMIT_S = 0.1
PATH_LIMIT_S = 0.02
PATTERN_CHARS = 500
_LINE_LIMIT_CHARS = 4_000
"""Longer lines are searched up to here only."""

Find = Callable[[str], int]
"""Where a line matches; below 0: nowhere."""
Expired = Callable[[], bool]


def finder(text: str, *, regex: bool) -> Find:
    """A search for a text or by a regular expression.

    Raises CallError: it is no regular expression. The search raises it as well: it takes too long.
    """
    if not regex:
        return lambda line: line.find(text, 0, _LINE_LIMIT_CHARS)
    pattern = _compiled(text)

    def find(line: str) -> int:
        try:
            match = pattern.search(
                line, 0, _LINE_LIMIT_CHARS, timeout=LINE_LIMIT_S, concurrent=True
            )
        except TimeoutError:
            raise CallError("this regular expression takes too long; use a simpler one") from None
        return match.start() if match else -1

    return find


def matching(path: str, lines: list[str], find: Find, expired: Expired) -> list[str]:
    """The first lines that match, with path and number."""
    found: list[str] = []
    for number, line in enumerate(lines, 1):
        at = find(line)
        if at >= 0:
            start = max(at - MATCH_CHARS // 2, 0)
            found.append(f"{path}:{number}: {line[start : start + MATCH_CHARS].rstrip()}")
        if len(found) > MATCH_LIMIT or expired():
            break
    return found


async def searched(path: str, lines: list[str], find: Find, expired: Expired) -> list[str]:
    """The same beside the event loop; when it is cancelled the thread ends soon, too."""
    stopped = threading.Event()

    def over() -> bool:
        return stopped.is_set() or expired()

    try:
        return await asyncio.to_thread(matching, path, lines, find, over)
    finally:
        stopped.set()


def path_filter(pattern: str) -> Callable[[str], bool]:
    """A test for paths: a glob (``**`` spans folders), a folder, or a file's name.

    Raises CallError, as the test does: too long, or it takes too long.
    """
    pattern = pattern.strip().removeprefix("./").strip("/")
    if pattern in ("", ".", "**", "*"):
        return lambda path: True
    if not re.search(r"[*?\[]", pattern):
        return lambda path: (
            path == pattern
            or path.startswith(pattern + "/")
            or ("/" not in pattern and path.rsplit("/", 1)[-1] == pattern)
        )
    glob = _compiled(_glob_regex(re.sub(r"(\*\*/)+", "**/", pattern)))
    whole = "/" in pattern

    def fits(path: str) -> bool:
        name = path if whole else path.rsplit("/", 1)[-1]
        try:
            return glob.fullmatch(name, timeout=PATH_LIMIT_S) is not None
        except TimeoutError:
            raise CallError("this path pattern takes too long; use a simpler one") from None

    return fits


def _glob_regex(pattern: str) -> str:
    pieces = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    split = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    return "".join(pieces.get(part, re.escape(part)) for part in split)


def _compiled(text: str) -> timed.Pattern[str]:
    # imported when a model first asks for it
    import regex as timed

    if len(text) > PATTERN_CHARS:
        raise CallError(f"the pattern is longer than {PATTERN_CHARS} characters")
    if pattern_weight(text) > HEAVIEST:
        raise CallError("this regular expression repeats too much; use a simpler one")
    try:
        return timed.compile(text)
    except (timed.error, RecursionError, OverflowError) as error:
        raise CallError(f"not a regular expression: {error}") from None
