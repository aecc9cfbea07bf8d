"""What the disk says of a path, and which paths and bytes are edited at all."""

from __future__ import annotations

from dataclasses import dataclass

from tui.errors import EditRefused

MAX_BYTES = 8 * 1024 * 1024
MAX_LINES = 200_000
PATH_LIMIT_CHARS = 4_000
PATH_LIMIT_DEPTH = 100
"""No file lies deeper; every folder on the way is looked up among the ignore rules."""


@dataclass(frozen=True, slots=True)
class FileRead:
    """What reading a file gave."""

    data: bytes | None
    """Its bytes; None if there is no such file, or if it is refused."""
    refusal: str = ""
    """Why it is not to be had, in words; empty if it was read or is missing."""
    kind: str = "file"
    """``file`` or ``directory`` or what else lies there."""


def checked_path(path: str, *roots: str) -> str:
    """The path relative to the root, with ``/``, after a lexical check.

    Absolute paths are taken only under one of ``roots``, the workspace's names. Links are
    resolved by who reads and writes.

    Raises:
        EditRefused: the path leaves the workspace or is not to be edited.
    """
    shown = ascii_shown(path)
    if not path.strip() or any(ord(char) < 32 or ord(char) == 127 for char in path):
        raise EditRefused(f"'{shown}' is not a usable path")
    if len(path) > PATH_LIMIT_CHARS or path.count("/") > PATH_LIMIT_DEPTH:
        raise EditRefused(f"'{shown}' is too long for a path")
    for root in sorted(filter(None, roots), key=len, reverse=True):
        if path.startswith(root.rstrip("/") + "/"):
            path = path[len(root.rstrip("/")) + 1 :].lstrip("/")
            break
    if path.startswith(("/", "~", "\\")) or path[1:3] in (":\\", ":/"):
        raise EditRefused(f"'{shown}' is outside the workspace")
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and not parts:
            raise EditRefused(f"'{shown}' is outside the workspace")
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    if not parts:
        raise EditRefused(f"'{shown}' is not a file")
    if any(part.lower().rstrip(". ") == ".git" for part in parts):
        raise EditRefused(f"'{shown}' is inside .git, which is never edited")
    return "/".join(parts)


def decoded(path: str, data: bytes) -> str:
    """The text of a file's bytes.

    Raises:
        EditRefused: binary, not UTF-8, or too large to be edited.
    """
    shown = ascii_shown(path)
    if len(data) > MAX_BYTES:
        raise EditRefused(f"'{shown}' is larger than 8 MB")
    if b"\0" in data:
        raise EditRefused(f"'{shown}' is binary")
    if data.count(b"\n") > MAX_LINES:
        raise EditRefused(f"'{shown}' has more than {MAX_LINES:,} lines")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise EditRefused(f"'{shown}' is not UTF-8 (byte {error.start + 1})") from None


def ascii_shown(path: str, limit: int = 200) -> str:
    """A path with its control characters escaped."""
    short = path if len(path) <= limit else path[:limit] + "…"
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in short)
