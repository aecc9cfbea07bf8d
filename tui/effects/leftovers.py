"""What duettos that were killed left behind, removed by the next one."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
import time
from pathlib import Path

from tui.shared_files import is_held

_HOUR_S = 3600.0
_KINDS = {
    "duetto-*.report": _HOUR_S,
    "duetto-replay-*": _HOUR_S,
    "duetto-probe-*": _HOUR_S,
    "duetto-command-*": 24 * _HOUR_S,
}
"""In the folder for temporary files: reports of verifiers, workspaces of replays and probes, and
folders of confined commands. A younger one may be in use, though nobody holds it."""


def clear_left() -> None:
    """Remove it, for a thread. Never raises."""
    folder = Path(tempfile.gettempdir())
    found = [(place, old_s) for kind, old_s in _KINDS.items() for place in folder.glob(kind)]
    for place, old_s in found:
        with contextlib.suppress(OSError):
            about = place.lstat()
            old = time.time() - about.st_mtime > old_s
            if not old or about.st_uid != os.geteuid() or is_held(place):
                continue
            if stat.S_ISDIR(about.st_mode):
                shutil.rmtree(place, ignore_errors=True)
            else:
                place.unlink()
