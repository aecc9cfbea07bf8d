"""What of the user's settings is not used: told once at the start, in one note that stays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.cli.own_themes import Dress
    from tui.engine.notices import Trouble
    from tui.settings import Settings

_MOST_TOLD = 9
_PLACE = " line "


def complaints_at_start(
    settings: Settings, config: Path, root: Path, dress: Dress, keys: Sequence[str]
) -> list[str]:
    """All of them: tables and values, the theme, the ``keys``' own, and the status line."""
    from tui.cli.own_line import line_complaints
    from tui.settings import unused, unused_in_project

    themes = [line for trouble in dress.troubles for line in trouble.why.splitlines()]
    found = [*unused(config), *unused_in_project(root), *themes, *keys]
    return [*found, *line_complaints(settings, config)]


def trouble_with(complaints: Sequence[str]) -> Trouble | None:
    """What is said of them at the start; None if there are none."""
    if not complaints:
        return None
    from tui.engine.notices import Trouble

    count = len(complaints)
    what = f"{count} things in your settings are not used"
    if count == 1:
        what = "One thing in your settings is not used"
    step = "The rest holds; duetto doctor lists these, too."
    why = "\n".join(_by_file(sorted(complaints, key=_place)[:_MOST_TOLD], count))
    return Trouble(what, why, step, severity="warning", noted=True)


def _place(complaint: str) -> tuple[str, int]:
    """File and line."""
    file, _, words = complaint.partition(_PLACE)
    number = words[: len(words) - len(words.lstrip("0123456789"))]
    return file, int(number[:9] or 0)


def _by_file(complaints: Sequence[str], count: int) -> list[str]:
    """Each file is named once, before what is wrong in it."""
    rows, last = list[str](), ""
    for complaint in complaints:
        file, found, words = complaint.partition(_PLACE)
        if not found:
            file, words = "", complaint
        elif file != last:
            rows.append(f"In {file}")
        rows.append(f"line {words}" if found else words)
        last = file
    if count > len(complaints):
        rows.append(f"and {count - len(complaints)} more")
    return rows
