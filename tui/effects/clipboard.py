"""The clipboard of this machine, by the program that its desktop has for it; and images of files.

Over SSH this machine's desktop is not the user's: there only the terminal can copy a text, and
none has a way to send an image.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tui.core.files import FileRead
from tui.core.images import MOST_BYTES

WAIT_S = 3.0
"""A tool that takes longer is ended: it waits for a desktop that is not there."""
_log = logging.getLogger("tui.clipboard")


def is_remote(environment: Mapping[str, str]) -> bool:
    """Whether the user sits at another machine."""
    return bool(environment.get("SSH_CONNECTION") or environment.get("SSH_TTY"))


def command_for(
    environment: Mapping[str, str],
    platform: str = sys.platform,
    which: Callable[[str], str | None] = shutil.which,
) -> tuple[str, ...]:
    """The program that takes a text on its standard input; empty if there is none here."""
    if is_remote(environment):
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


_TYPES = ("image/png", "image/jpeg", "image/webp", "image/gif")
_TEXTS = ("STRING", "UTF8_STRING", "TEXT")
_APPLE = re.compile(rb"\xc2\xabdata PNGf([0-9A-Fa-f]*)\xc2\xbb")
"""How AppleScript writes the bytes of a PNG."""
_ASK_APPLE = "get the clipboard as \xabclass PNGf\xbb"
_NOTHING = "there is no image on the clipboard"
_TEXT = "the clipboard has text, which your terminal pastes (often by Ctrl+Shift+V)"
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
        self._remote = is_remote(environment)

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
            remote = " on this machine, which you reach over SSH" * self._remote
            return FileRead(None, f"there is no file {path}{remote}")
        except (OSError, ValueError, RuntimeError) as error:
            why = getattr(error, "strerror", None) or str(error)
            return FileRead(None, f"{path} cannot be read: {why}")

    def copied(self) -> bytes | str:
        """See `engine.ports.Pictures`."""
        shown = self._environment.get("WAYLAND_DISPLAY") or self._environment.get("DISPLAY")
        if self._remote and not shown:  # with -X the desktop is the user's
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
        has_text = not kind and any(one in _TEXTS or one.startswith("text/") for one in offered)
        return data or (_TEXT if has_text else _NOTHING)

    def _run(self, command: Sequence[str]) -> bytes:
        """What a program says; empty: it failed, or has nothing."""
        try:
            done = subprocess.run(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=self._child,
                timeout=WAIT_S,
                check=True,
            )
        except (OSError, subprocess.SubprocessError):
            return b""
        return done.stdout
