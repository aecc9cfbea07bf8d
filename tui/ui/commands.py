"""The slash commands as the screen offers them; the table is in `tui.engine.slash`."""

from __future__ import annotations

from tui.engine.slash import COMMANDS as COMMANDS
from tui.engine.slash import Command as Command
from tui.engine.slash import find_command as find_command
from tui.engine.slash import split_command as split_command
from tui.engine.slash import unknown_command as unknown_command


def completions(draft: str) -> list[Command]:
    """The commands that a draft of one word could become."""
    if not draft.startswith("/") or "\n" in draft or " " in draft:
        return []
    return [command for command in COMMANDS if command.name.startswith(draft[1:].lower())]
