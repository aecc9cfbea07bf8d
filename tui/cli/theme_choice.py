"""The theme that was chosen on the screen, kept for the next time; ``config.toml`` stays as it is.

A choice holds over what the settings said when it was made. Who writes another theme into the
settings after that has decided anew, and the choice is forgotten.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

from tui.errors import SettingsError
from tui.settings import Paths

_LIMIT_BYTES = 64 * 1024
_MOST = 200
"""Workspaces whose choice is kept; the oldest goes first."""


class ThemeChoice:
    """What was chosen in place of one theme of the settings."""

    def __init__(self, paths: Paths, configured: str, workspace: str = "") -> None:
        """``workspace``: the one whose own settings name the theme; empty: the user's do."""
        self._paths = paths
        self._file = paths.state_dir / "theme.json"
        self._configured = configured
        self._workspace = workspace

    def known(self) -> str:
        """The choice; empty: none was made, or the settings say something else by now."""
        over, chosen = _pair(self._all().get(self._workspace))
        return chosen if over == self._configured else ""

    def keep(self, choice: str) -> None:
        """Choose this from now on; what cannot be written holds until duetto ends."""
        choices = self._all()
        choices.pop(self._workspace, None)
        if choice != self._configured:
            choices[self._workspace] = [self._configured, choice]
        while len(choices) > _MOST:
            del choices[next(iter(choices))]
        with contextlib.suppress(OSError, SettingsError):
            _write(self._paths.make_state_dir() / self._file.name, json.dumps(choices, indent=1))

    def _all(self) -> dict[str, object]:
        try:
            with self._file.open("rb") as opened:
                found = json.loads(opened.read(_LIMIT_BYTES))
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}


def _pair(value: object) -> tuple[str, str]:
    """What the settings said and what was chosen, of an entry that may be anything."""
    if isinstance(value, list) and len(value) == 2:
        over, chosen = value
        if isinstance(over, str) and isinstance(chosen, str):
            return over, chosen
    return "", ""


def _write(file: Path, text: str) -> None:
    """In one step: two duettos never read half a file."""
    import tempfile  # when something is chosen, not at every start

    with tempfile.NamedTemporaryFile("w", dir=file.parent, delete=False, encoding="utf-8") as new:
        new.write(text)
    try:
        os.replace(new.name, file)
    except OSError:
        os.unlink(new.name)
        raise
