"""The style sheets: which are read for the first picture, and which only behind it.

Reading a sheet costs a millisecond. A screen that opens over the workbench names its own one; it
is read behind the first paint, or when the screen opens if that is earlier.
"""

from __future__ import annotations

from pathlib import Path

_STYLES = Path(__file__).parent / "styles"
_OVER = frozenset({"connect_sheet", "dialogs", "help", "pick_list", "review_screen", "status"})
"""Sheets of screens that open over the workbench, but for the one that opens at once."""


def sheet(name: str) -> Path:
    """The sheet of this name."""
    return _STYLES / f"{name}.tcss"


def at_start() -> list[Path]:
    """What the first picture needs."""
    return sorted(path for path in _STYLES.glob("*.tcss") if path.stem not in _OVER)


def behind() -> list[Path]:
    """What is read when the first picture is there."""
    return [sheet(name) for name in sorted(_OVER)]
