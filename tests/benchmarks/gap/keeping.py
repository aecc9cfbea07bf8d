"""Files of lines to which a run adds, and with which it goes on when it was ended."""

from __future__ import annotations

import lzma
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from tui.errors import DuettoError


def read(path: Path) -> Iterator[bytes]:
    """All lines; none where there is no file. One that ends with .xz is unpacked."""
    if not path.exists():
        return
    with (lzma.open if path.suffix == ".xz" else open)(path, "rb") as file:
        yield from filter(None, file.read().split(b"\n"))


def add(path: Path, what: Struct) -> bytes:
    """Keep one more, behind what a kill may have cut; returns its line. Raises DuettoError."""
    if path.suffix == ".xz":
        raise DuettoError(f"{path} is packed: unpack it to go on with it")
    line = msgspec.json.encode(what)
    try:
        with path.open("ab") as file:
            file.write(b"\n" + line)
    except OSError as error:
        raise DuettoError(f"{path} cannot be written: {error.strerror}") from error
    return line
