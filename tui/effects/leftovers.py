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

_KINDS = ("duetto-*.report", "duetto-replay-*", "duetto-probe-*")
"""In the folder for temporary files: reports of verifiers, workspaces of replays and probes."""
_OLD_S = 3600.0
"""A younger one may be in use, though nobody holds it."""


def clear_left() -> None:
    """Remove it, for a thread. Never raises."""
    folder = Path(tempfile.gettempdir())
    for place in (place for kind in _KINDS for place in folder.glob(kind)):
        with contextlib.suppress(OSError):
            about = place.lstat()
            old = time.time() - about.st_mtime > _OLD_S
            if not old or about.st_uid != os.geteuid() or is_held(place):
                continue
            if stat.S_ISDIR(about.st_mode):
                shutil.rmtree(place, ignore_errors=True)
            else:
                place.unlink()
