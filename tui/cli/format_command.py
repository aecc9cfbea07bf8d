"""Which command formats what was saved: the user's, else the workspace's own."""

from __future__ import annotations

from pathlib import Path

from tui.cli.verify_command import users_command
from tui.engine.ports import VerifyCommand
from tui.settings import PROJECT_FILE, FormatSettings, Settings, load_project


def find(workspace: Path, settings: Settings) -> VerifyCommand | None:
    """The command of ``[format]``; None: nothing is formatted.

    The workspace's own is asked for once. Raises SettingsError: its ``.duetto/config.toml`` is
    broken.
    """
    if command := _argv(settings.format):
        return users_command(workspace, command, settings.format.deadline_s)
    project = load_project(workspace).format
    if command := _argv(project):
        return VerifyCommand(
            command, PROJECT_FILE, needs_consent=True, deadline_s=project.deadline_s
        )
    return None


def _argv(table: FormatSettings) -> tuple[str, ...] | str | None:
    if isinstance(table.command, list):
        return tuple(table.command) or None
    return (table.command or "").strip() or None
