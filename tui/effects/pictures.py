"""Images of this machine: files beyond the workspace that the user names, and the clipboard.

The clipboard is asked by the program that the desktop has for it. Over SSH this machine's desktop
is not the user's: the terminal that could tell has no way to send an image.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tui.core.files import FileRead
from tui.core.images import MOST_BYTES

_TYPES = ("image/png", "image/jpeg", "image/webp", "image/gif")
_APPLE = re.compile(rb"\xc2\xabdata PNGf([0-9A-Fa-f]*)\xc2\xbb")
"""How AppleScript writes the bytes of a PNG."""
_ASK_APPLE = "get the clipboard as \xabclass PNGf\xbb"
_WAIT_S = 3.0
"""A tool that takes longer is ended: it waits for a desktop that is not there."""
_NOTHING = "there is no image on the clipboard"
_OVER_SSH = (
    "over SSH the clipboard is that of your own machine: copy the image here as a file, and"
    " name it with @"
)


class LocalPictures:
    """See `engine.ports.Pictures`."""

    def __init__(
        self,
        environment: Mapping[str, str],
        child_environment: Mapping[str, str],
        which: Callable[[str], str | None] = shutil.which,
        platform: str = sys.platform,
    ) -> None:
        """``child_environment`` is what the programs get to see."""
        self._environment, self._child = environment, dict(child_environment)
        self._which, self._platform = which, platform

    def is_there(self, path: str) -> bool:
        """See `engine.ports.Pictures`."""
        return Path(path).is_file()

    def read(self, path: str) -> FileRead:
        """See `engine.ports.Pictures`."""
        place = Path(path)
        try:
            place = place.expanduser()
            flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
            with open(os.open(place, flags), "rb") as file:
                there = os.fstat(file.fileno())
                if not stat.S_ISREG(there.st_mode):
                    return FileRead(None, f"{path} is not a file")
                if there.st_size > MOST_BYTES:
                    return FileRead(None, f"{path} is too large", size_bytes=there.st_size)
                return FileRead(file.read(MOST_BYTES + 1))
        except FileNotFoundError:
            remote = " on this machine, which you reach over SSH" * self._is_remote
            return FileRead(None, f"there is no file {path}{remote}")
        except (OSError, ValueError, RuntimeError) as error:
            why = getattr(error, "strerror", None) or str(error)
            return FileRead(None, f"{path} cannot be read: {why}")

    def copied(self) -> bytes | str:
        """See `engine.ports.Pictures`."""
        shown = self._environment.get("WAYLAND_DISPLAY") or self._environment.get("DISPLAY")
        if self._is_remote and not shown:  # with -X the desktop is the user's
            return _OVER_SSH
        if self._platform == "darwin":
            return self._of_mac()
        if self._environment.get("WAYLAND_DISPLAY") and (tool := self._which("wl-paste")):
            return self._typed(self._run((tool, "--list-types")), (tool, "--no-newline", "--type"))
        if self._environment.get("DISPLAY") and (tool := self._which("xclip")):
            asked = (tool, "-selection", "clipboard", "-o", "-t")
            return self._typed(self._run((*asked, "TARGETS")), asked)
        if self._environment.get("WAYLAND_DISPLAY"):
            return "the clipboard is read by wl-paste, which is not installed (wl-clipboard)"
        if self._environment.get("DISPLAY"):
            return "the clipboard is read by xclip, which is not installed"
        return "there is no desktop here whose clipboard could be read: name a file with @"

    @property
    def _is_remote(self) -> bool:
        return bool(self._environment.get("SSH_CONNECTION") or self._environment.get("SSH_TTY"))

    def _of_mac(self) -> bytes | str:
        if (tool := self._which("pngpaste")) and (data := self._run((tool, "-"))):
            return data
        if (tool := self._which("osascript")) is None:
            return "the clipboard is read by osascript, which is not there"
        found = _APPLE.search(self._run((tool, "-e", _ASK_APPLE)))
        return bytes.fromhex(found[1].decode()) if found else _NOTHING

    def _typed(self, types: bytes, command: Sequence[str]) -> bytes | str:
        """The first of the kinds that are offered, by a command that takes its name."""
        offered = types.decode("utf-8", "replace").split()
        kind = next((kind for kind in _TYPES if kind in offered), "")
        data = self._run((*command, kind)) if kind else b""
        return data or _NOTHING

    def _run(self, command: Sequence[str]) -> bytes:
        """What a program says; empty: it failed, or has nothing."""
        try:
            done = subprocess.run(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=self._child,
                timeout=_WAIT_S,
                check=True,
            )
        except (OSError, subprocess.SubprocessError):
            return b""
        return done.stdout
