"""What a repository's own configuration would have git run where it only reads."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence

from tui.core.programs import NO_COMMANDS, named_programs

_MOST = 100
"""Repositories in each other that are looked at."""
_DEADLINE_S = 10.0


def git_setting(folders: Sequence[str], environment: Mapping[str, str]) -> str:
    """The name of a setting by which git would do more than read in these folders.

    It looks into submodules, as git does. Empty: there is none, or no repository. Never raises.
    """
    waiting = [(folder, False) for folder in folders if os.path.isdir(folder)]
    for at, (folder, submodule) in enumerate(waiting):
        if at >= _MOST:
            return "too many submodules"
        settings = _said(("config", "-z", "--list", "--show-scope"), folder, environment)
        if settings is None:
            return "it cannot be read"
        if found := named_programs(settings, submodule=submodule):
            return found
        staged = _said(("ls-files", "-z", "--stage"), folder, environment) or ""
        for entry in staged.split("\0"):
            if entry.startswith("160000 "):
                below = os.path.join(folder, entry.partition("\t")[2])
                if os.path.lexists(os.path.join(below, ".git")):
                    waiting.append((below, True))
    return ""


def _said(words: Sequence[str], folder: str, environment: Mapping[str, str]) -> str | None:
    """What git prints; None: it failed."""
    try:
        ran = subprocess.run(
            ("git", *NO_COMMANDS, *words),
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_DEADLINE_S,
            check=False,
        )
    except FileNotFoundError:
        return ""  # nor can the command run
    except (OSError, subprocess.SubprocessError):
        return None
    return os.fsdecode(ran.stdout) if ran.returncode == 0 else None
