"""Tab in the linear mode: commands behind ``/``, files behind ``@``, arguments."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tui.engine.session import Session
from tui.engine.slash import find_command
from tui.linear.commands import LINEAR

_MOST = 200
_CHOICES = re.compile(r"[a-z]+(?:\|[a-z]+)+")


class Completion:
    """Reads the session from another thread; it only looks."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def found(self, before: str, word: str) -> Sequence[str]:
        """What the word could become; ``before`` is the line up to it."""
        if not before.strip() and word.startswith("/"):
            names = [f"/{command.name}" for command in LINEAR]
            return [f"{name} " for name in names if name.startswith(word)]
        if word.startswith("@"):
            return self._paths(word[1:], "@")
        name = before.strip().partition(" ")[0]
        command = find_command(name[1:], LINEAR) if name.startswith("/") else None
        if command is None:
            return []
        if "PATH" in command.argument:
            return self._paths(word, "")
        choices = _CHOICES.search(command.argument)
        found = choices[0].split("|") if choices else []
        return [choice for choice in found if choice.startswith(word)]

    def _paths(self, part: str, sign: str) -> list[str]:
        """Files that begin so; else those that have it in their names."""
        paths = self._session.listing()
        found = [path for path in paths if path.startswith(part)]
        if not found and part:
            found = [path for path in paths if part.lower() in path.lower()]
        return [f"{sign}{path} " for path in found[:_MOST]]
