"""The standard streams as a command finds them: closed, full, broken, or not made for UTF-8."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import BinaryIO

from tui.errors import UsageError

LIMIT_BYTES = 64 * 1024 * 1024
"""More than this is no prompt and no patch."""
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF})


def prepare() -> None:
    """Make every stream one that can be used; call it before anything is written.

    A closed one becomes the null device (else the next file that is opened would take its place
    and get the output); a character that the terminal cannot show is written as an escape.
    """
    for name, flags in (("stdin", os.O_RDONLY), ("stdout", os.O_WRONLY), ("stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            mode = "r" if flags == os.O_RDONLY else "w"
            setattr(sys, name, os.fdopen(os.open(os.devnull, flags), mode, encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def why_unwritten(error: OSError) -> str:
    """What happened to the output, in words; empty if the error is not about that."""
    if error.filename is not None or error.errno not in _FULL:
        return ""
    return f"cannot write the output: {(error.strerror or str(error)).lower()}"


def abandon() -> None:
    """Nothing more can be written to stdout; the interpreter must not complain at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def text_of(source: BinaryIO, name: str) -> str:
    """All of a prompt or a patch. Raises UsageError: no text, or more than anybody means."""
    data = source.read(LIMIT_BYTES + 1)
    if len(data) > LIMIT_BYTES:
        raise UsageError(f"{name} holds more than {LIMIT_BYTES >> 20} MB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is not UTF-8 (byte {error.start + 1})") from error
