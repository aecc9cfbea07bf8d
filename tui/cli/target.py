"""What to open: ``duetto [PATH] [+LINE]``, where PATH is a folder, a file, or ``file:line:col``."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tui.errors import UsageError

_PLACE = re.compile(r"^(?P<path>.+?):(?P<line>\d{1,9})(?::(?P<col>\d{1,9}))?:?$")


@dataclass(frozen=True, slots=True)
class Target:
    """A workspace, and what to show of it."""

    root: Path
    """Absolute, links resolved."""
    file: str | None = None
    """Relative to the root, with ``/``."""
    line: int | None = None
    """0-based."""
    col: int = 0


def target_of(arguments: Sequence[str]) -> Target | None:
    """The target that the arguments name, None when they name none.

    Raises UsageError: missing, not readable, more than one.
    """
    paths = [argument for argument in arguments if not re.fullmatch(r"\+\d{1,9}", argument)]
    lines = [int(argument) for argument in arguments if argument not in paths]
    if len(paths) > 1 or len(lines) > 1:
        raise UsageError("one PATH and one +LINE at most: duetto [PATH] [+LINE]")
    if "" in paths:
        raise UsageError("PATH is empty: name a folder or a file")
    if not paths:
        if lines:
            raise UsageError(f"+{lines[0]} needs a file before it: duetto FILE +{lines[0]}")
        return None
    path, line, col = _split(paths[0])
    if lines:
        line = lines[0]
    path = _checked(path)
    if path.is_dir():
        if line is not None:
            raise UsageError(f"{paths[0]} is a folder: a line needs a file")
        return Target(path)
    return Target(path.parent, path.name, None if line is None else max(0, line - 1), col)


def _split(argument: str) -> tuple[Path, int | None, int]:
    """A path with the 1-based line and the 0-based column after it; a real name wins."""
    whole = _expanded(argument)
    if (place := _PLACE.match(argument)) is None or os.path.lexists(whole):
        return whole, None, 0
    return (
        _expanded(place["path"]),
        int(place["line"]),
        max(0, int(place["col"] or 1) - 1),
    )


def _expanded(path: str) -> Path:
    """With ``~`` resolved; a user that does not exist has no files."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def _checked(path: Path) -> Path:
    try:
        resolved = path.resolve(strict=True)
    except FileNotFoundError:
        raise UsageError(f"no such file or folder: {path}") from None
    except RuntimeError as error:
        raise UsageError(f"cannot open {path}: its links lead in a circle") from error
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "not a usable path"
        raise UsageError(f"cannot open {path}: {why}") from error
    folder = resolved if resolved.is_dir() else resolved.parent
    if not os.access(folder, os.R_OK | os.X_OK):
        raise UsageError(f"cannot read the folder {folder}: permission denied")
    if not resolved.is_dir() and not resolved.is_file():
        raise UsageError(f"{path} is neither a file nor a folder")
    if resolved.is_file() and not os.access(resolved, os.R_OK):
        raise UsageError(f"cannot read {path}: permission denied")
    return resolved
