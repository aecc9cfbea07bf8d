"""The real program inside the real tmux: keys in, the pane's text out; no client is attached."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from shlex import join
from types import TracebackType

from tests.support.terminal import works

_LOOK_S = 0.03
DEADLINE_S = 120.0


class Tmux:
    """One program in one pane, on a server of its own."""

    def __init__(
        self, command: Sequence[str], env: Mapping[str, str], cwd: Path, size: tuple[int, int]
    ) -> None:
        """``size`` is columns and rows; ``env`` the whole environment."""
        self._socket = cwd / "tmux.socket"
        self._env = dict(env)
        columns, rows = size
        place = ["-x", str(columns), "-y", str(rows), "-c", str(cwd)]
        stays = (";", "set-option", "-g", "remain-on-exit", "on")
        self._ask("-f", "/dev/null", "new-session", "-d", *place, join(command), *stays)
        pid, self._path = self._ask("display-message", "-p", "#{pane_pid} #{pane_tty}").split()
        self._pid = int(pid)
        self._esc = False

    def __enter__(self) -> Tmux:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ask("kill-server", check=False)

    def type(self, text: str) -> None:
        """Send what a keyboard without anything special sends; behind an Esc when it was taken."""
        looks = 3 * self._esc
        while looks:  # longer than it waits for the rest of a sequence
            time.sleep(_LOOK_S)
            looks -= not works(self._pid, self._path)
        self._esc = text.endswith("\x1b")
        self._ask("send-keys", "-H", *(f"{byte:02x}" for byte in text.encode()))

    def paste(self, text: str) -> None:
        """As tmux does it, marked as a paste."""
        self._ask("set-buffer", text)
        self._ask("paste-buffer", "-p")

    @property
    def text(self) -> str:
        """What the pane shows."""
        return self._ask("capture-pane", "-p")

    @property
    def picture(self) -> str:
        """The same with its colours and styles."""
        return self._ask("capture-pane", "-p", "-e")

    @property
    def over(self) -> bool:
        """The program has ended; its last words are on the pane."""
        return self._ask("display-message", "-p", "#{pane_dead}").strip() == "1"

    def wait(self, wanted: Callable[[], bool], what: str, seconds: float = DEADLINE_S) -> None:
        """Until it is so; fails with the screen."""
        end = time.monotonic() + seconds
        while not wanted():
            assert time.monotonic() < end, f"{what} did not come:\n{self.text}"
            time.sleep(_LOOK_S)

    def wait_for(self, pattern: str, seconds: float = DEADLINE_S) -> None:
        """Until this is on the screen."""
        found = re.compile(pattern)
        self.wait(lambda: bool(found.search(self.text)), f"{pattern!r}", seconds)

    def wait_gone(self, pattern: str, seconds: float = DEADLINE_S) -> None:
        """Until this is not on the screen any more."""
        found = re.compile(pattern)
        self.wait(lambda: not found.search(self.text), f"the end of {pattern!r}", seconds)

    def still(self) -> str:
        """The picture once the keys were taken and it has stopped changing.

        Or after a moment if it does not. Silence alone says nothing on a busy machine.
        """
        before, looks, end = self.picture, 8, time.monotonic() + 10
        while looks and time.monotonic() < end:
            time.sleep(_LOOK_S)
            if works(self._pid, self._path):
                continue
            now = self.picture
            if now == before:
                break
            before = now
            looks -= 1
        return before

    def _ask(self, *arguments: str, check: bool = True) -> str:
        done = subprocess.run(
            ["tmux", "-S", str(self._socket), *arguments],
            env=self._env,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
        assert not check or done.returncode == 0, done.stderr
        return done.stdout + (done.stderr if not check else "")
