"""The clipboard of this machine, by the program that its desktop has for it.

Over SSH this machine's desktop is not the user's: there only the terminal can do it.
"""

from __future__ import annotations

import logging
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence

WAIT_S = 3.0
"""A tool that takes longer is ended: it waits for a desktop that is not there."""
_log = logging.getLogger("tui.clipboard")


def command_for(
    environment: Mapping[str, str],
    platform: str = sys.platform,
    which: Callable[[str], str | None] = shutil.which,
) -> tuple[str, ...]:
    """The program that takes a text on its standard input; empty if there is none here."""
    if environment.get("SSH_CONNECTION") or environment.get("SSH_TTY"):
        return ()
    candidates: list[tuple[str, ...]] = []
    if platform == "darwin":
        candidates.append(("pbcopy",))
    if environment.get("WAYLAND_DISPLAY"):
        candidates.append(("wl-copy",))
    if environment.get("DISPLAY"):
        candidates += [("xclip", "-selection", "clipboard"), ("xsel", "--clipboard", "--input")]
    if environment.get("WSL_DISTRO_NAME"):
        candidates.append(("clip.exe",))
    for name, *arguments in candidates:
        if found := which(name):
            return (found, *arguments)
    return ()


class ClipboardTool:
    """Copies in a thread of its own: a desktop may take its time."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """``environment`` is what the program gets to see."""
        self._command = list(command)
        self._environment = dict(environment)
        self._lock = threading.Lock()
        self._newest: bytes | None = None

    def copy(self, text: str) -> bool:
        """Have it copied, later; False if there is no program for it."""
        if not self._command:
            return False
        self._newest = text.encode("utf-8", "surrogateescape")
        threading.Thread(target=self._run, name="clipboard", daemon=True).start()
        return True

    def _run(self) -> None:
        with self._lock:  # one after the other, and of several only the last
            data, self._newest = self._newest, None
            if data is None:
                return
            try:
                subprocess.run(
                    self._command,
                    input=data,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env=self._environment,
                    timeout=WAIT_S,
                    check=True,
                )
            except (OSError, subprocess.SubprocessError) as error:
                _log.warning("%s: %s", self._command[0], type(error).__name__)
