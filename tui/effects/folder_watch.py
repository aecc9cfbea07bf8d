"""Tells when something changes in one small folder, also if that is made later."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

QUIET_MS = 400
"""Changes that follow each other faster than this are told together. It is looked so often, also
while nobody does anything: somebody who edits a theme does not mind, an idle processor does."""
MOST_MS = 1200


async def watch_folder(folder: Path, told: Callable[[], None]) -> None:
    """Call ``told`` after each burst of changes in the folder, until cancelled.

    Where the folder is not there, the one above is watched until it is; where that is not there
    either, or the system has no watches left, nothing is told and this ends.
    """
    while True:
        place = folder if _is_there(folder) else folder.parent
        if not _is_there(place) or not await _changed(place, folder, told):
            return


async def _changed(place: Path, folder: Path, told: Callable[[], None]) -> bool:
    """Watch one place until the folder comes or goes; False: it cannot be watched."""
    import watchfiles  # the first paint does not wait for it

    try:
        async for _ in watchfiles.awatch(
            place,
            recursive=False,
            watch_filter=None,
            debounce=MOST_MS,
            step=QUIET_MS,
            ignore_permission_denied=True,
        ):
            there = _is_there(folder)
            if there or place == folder:
                told()
            if there != (place == folder):
                return True
    except (OSError, RuntimeError):
        return False
    return False


def _is_there(folder: Path) -> bool:
    return folder.is_dir()
