"""What duettos that were killed left behind, removed by the next one."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import tempfile
import time
from pathlib import Path

from tui.shared_files import is_held

_HOUR_S = 3600.0
_RANDOM = "[0-9a-z_]{8}"
_FILES = {re.compile(r"duetto-[0-9a-f]{32}\.report"): _HOUR_S}
_FOLDERS = {
    re.compile(f"duetto-replay-{_RANDOM}"): _HOUR_S,
    re.compile(f"duetto-probe-{_RANDOM}"): _HOUR_S,
    re.compile(f"duetto-command-{_RANDOM}"): 24 * _HOUR_S,
}
"""In the folder for temporary files: reports of verifiers, workspaces of replays and probes, and
folders of confined commands, which are the user's alone. A younger one may be in use, though nobody
holds it."""


def clear_left() -> None:
    """Remove it, for a thread. Never raises."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(tempfile.gettempdir()):
            with contextlib.suppress(OSError):
                _clear(Path(entry.path))


def _clear(place: Path) -> None:
    """Remove it if it is one of these, old, ours and not in use."""
    about = place.lstat()
    is_folder = stat.S_ISDIR(about.st_mode)
    kinds = _FOLDERS if is_folder else _FILES
    old_s = next((old_s for kind, old_s in kinds.items() if kind.fullmatch(place.name)), None)
    if old_s is None or time.time() - about.st_mtime <= old_s:
        return
    if about.st_uid != os.geteuid() or is_held(place):
        return
    if is_folder and not about.st_mode & 0o077:
        shutil.rmtree(place, ignore_errors=True)
    elif stat.S_ISREG(about.st_mode):
        place.unlink()
