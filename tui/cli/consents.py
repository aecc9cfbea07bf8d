"""Commands of workspaces' own files that the user allowed for good."""

from __future__ import annotations

import json

from tui.errors import SettingsError
from tui.settings import Paths


class Consents:
    """Commands of workspaces' own files that the user allowed for good, in the state folder.

    A line each, which is only ever added: two instances do not lose each other's answers.
    """

    def __init__(self, paths: Paths, root: str) -> None:
        self._paths = paths
        self._file = paths.state_dir / "consents.jsonl"
        self._root = root

    def known(self) -> set[str]:
        """The commands allowed in this workspace."""
        try:
            lines = self._file.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return set()
        return {command for root, command in map(_consent, lines) if root == self._root}

    def remember(self, command: str) -> None:
        """Allow a command in this workspace from now on; what cannot be written is asked again."""
        line = f"\n{json.dumps([self._root, command])}\n"
        try:
            self._paths.make_state_dir()
            with self._file.open("a", encoding="utf-8") as file:
                file.write(line)
        except (OSError, SettingsError):
            return


def _consent(line: str) -> tuple[str, str]:
    """Workspace and command of a line; a broken one allows nothing."""
    try:
        root, command = json.loads(line)
    except (ValueError, TypeError, RecursionError):
        return "", ""
    return str(root), str(command)
