"""What the disk says of a path, and which paths and bytes are edited at all."""

from __future__ import annotations

import re

from msgspec import Struct

from tui.errors import EditRefused

MAX_BYTES = 8 * 1024 * 1024
MAX_LINES = 200_000
PICTURE_BYTES = 64 * 1024
"""Of a binary file so much is shown: nearly each of its bytes is a picture of its own."""
PATH_LIMIT_CHARS = 4_000
PATH_LIMIT_DEPTH = 100
"""No file lies deeper; every folder on the way is looked up among the ignore rules."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class FileRead(Struct, frozen=True):
    """What reading a file gave."""

    data: bytes | None
    """Its bytes; None if there is no such file, or if it is refused."""
    refusal: str = ""
    """Why it is not to be had, in words; empty if it was read or is missing."""
    kind: str = "file"
    """``file`` or ``directory`` or what else lies there."""
    unwritable: str = ""
    """Why it may not be written, in words; empty if it may be."""
    head: bytes = b""
    """The first `MAX_BYTES` of a file that is refused because it is larger."""
    size_bytes: int = 0
    """Of the whole file, where only its head was read."""
    place: tuple[int, int] | None = None
    """The device and the number of the file there: the same one by whatever name."""
    real: str = ""
    """The path relative to the root with all links resolved; empty if it is not known."""
    link: bool = False
    """The name itself is a link, not only a folder on the way."""
    linked: bool = False
    """It had other names (hard links) when it was read."""
    mode: int | None = None
    """Its permissions, without what lends somebody's rights (setuid)."""


class Prepared(Struct, frozen=True):
    """What making a set of writes ready gave."""

    in_place: frozenset[str] = frozenset()
    """Paths that are written over, not replaced: other names, a foreign owner."""
    refusals: dict[str, str] = {}
    """Path -> why it cannot be written."""


class Viewed(Struct, frozen=True):
    """What is shown of a file."""

    text: str
    why: str = ""
    """Why it may only be looked at, as a sentence; empty if it may be edited."""
    exact: bool = True
    """False: it is a part of the file, or a picture of its bytes."""


def checked_path(path: str, *roots: str) -> str:
    """The path relative to the root, with ``/``, after a lexical check.

    Absolute paths are taken only under one of ``roots``, the workspace's names. Links are
    resolved by who reads and writes.

    Raises:
        EditRefused: the path leaves the workspace or is not to be edited.
    """
    if not path.strip() or _CONTROL.search(path):
        raise EditRefused(f"'{ascii_shown(path)}' is not a usable path")
    if len(path) > PATH_LIMIT_CHARS or path.count("/") > PATH_LIMIT_DEPTH:
        raise EditRefused(f"'{ascii_shown(path)}' is too long for a path")
    named = path
    for root in sorted(filter(None, roots), key=len, reverse=True):
        if path.startswith(root.rstrip("/") + "/"):
            path = path[len(root.rstrip("/")) + 1 :].lstrip("/")
            break
    if path.startswith(("/", "~", "\\")) or path[1:3] in (":\\", ":/"):
        raise EditRefused(f"'{ascii_shown(named)}' is outside the workspace")
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and not parts:
            raise EditRefused(f"'{ascii_shown(named)}' is outside the workspace")
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    if not parts:
        raise EditRefused(f"'{ascii_shown(named)}' is not a file")
    if any(part.lower().rstrip(". ") == ".git" for part in parts):
        raise EditRefused(f"'{ascii_shown(named)}' is inside .git, which is never edited")
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
    if (data.count(b"\n") or data.count(b"\r")) > MAX_LINES:
        raise EditRefused(f"'{shown}' has more than {MAX_LINES:,} lines")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise EditRefused(f"'{shown}' is not UTF-8 (byte {error.start + 1})") from None


def viewed(path: str, read: FileRead) -> Viewed:
    """What is shown of a file, and why it may only be looked at.

    Bytes that are no UTF-8 become lone surrogates (PEP 383), which are never written and never
    sent, only shown as pictures.

    Raises:
        EditRefused: there is nothing to look at.
    """
    shown = ascii_shown(path)
    if read.data is None and not read.head:
        raise EditRefused(read.refusal or f"file not found: '{shown}'")
    if read.data is None:
        text, part = _beginning(read.head, cut=True)
        size = f"{read.size_bytes / (1 << 20):,.0f} MB"
        why = f"'{shown}' has {size}, so it is read-only and only {part} shown"
        return Viewed(text, why, exact=False)
    try:
        return Viewed(decoded(path, read.data), unwritable(path, read))
    except EditRefused as refused:
        text, part = _beginning(read.data, cut=False)
        only = f" and only {part} shown" if part else ""
        return Viewed(text, f"{refused}, so it is read-only{only}", exact=False)


def unwritable(path: str, read: FileRead) -> str:
    """Why a file that was read may not be written, as a sentence; empty if it may be."""
    return f"'{ascii_shown(path)}' is read-only: {read.unwritable}" if read.unwritable else ""


def _beginning(data: bytes, *, cut: bool) -> tuple[str, str]:
    """As much of a file's bytes as is shown, as text, and how much that is in words.

    ``cut``: the file goes on behind them. The words are empty if all of it is shown.
    """
    if b"\0" in data and len(data) > PICTURE_BYTES:
        data, part = data[:PICTURE_BYTES], f"the first {PICTURE_BYTES >> 10} KB of it are"
    elif data.count(b"\n") > MAX_LINES:
        data = b"\n".join(data.split(b"\n", MAX_LINES)[:MAX_LINES]) + b"\n"
        part = f"its first {MAX_LINES:,} lines are"
    elif cut:
        # up to a whole line, so that no character is shown in two halves
        data = data[: data.rfind(b"\n") + 1] or data
        part = f"the first {MAX_BYTES >> 20} MB of it are"
    else:
        part = ""
    return data.decode("utf-8", "surrogateescape"), part


def ascii_shown(path: str, limit: int = 200) -> str:
    """A path with its control characters escaped."""
    short = path if len(path) <= limit else path[:limit] + "…"
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in short)
