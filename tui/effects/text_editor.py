"""The user's own editor, for a text that is being written: ``VISUAL``, ``EDITOR``, or what is here.

The text lies in a private folder of the state folder while it is edited. Where the editor fails or
is ended by force the file stays, and is named, if there is something in it that nobody has. Where
duetto itself ends the folder is found at the next start.

::

    editing-x1y2z3/         0700; locked while the duetto lives that made it
        prompt.md           0600
        .prompt.md.swp      and whatever else an editor puts beside it
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import shlex
import shutil
import signal
import stat
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from tui import own_process
from tui.core.programs import Edited, safe_path
from tui.shared_files import is_held

LARGEST_BYTES = 8 * 1024 * 1024
"""A file that is larger is no prompt."""
_USUAL = ("sensible-editor", "nano", "vim", "vi", "emacs")
_WINDOWED = {
    "code": "--wait",
    "codium": "--wait",
    "cursor": "--wait",
    "zed": "--wait",
    "atom": "--wait",
    "subl": "--wait",
    "mate": "-w",
    "gvim": "--nofork",
    "mvim": "--nofork",
    "kate": "--block",
    "gedit": "--wait",
}
"""Editors with windows of their own, and what makes them wait until the file is closed."""
_AT_ONCE_S = 2.0
"""An editor that ends sooner, and has changed nothing, has perhaps only opened a window."""
_PREFIX, _NAME = "editing-", "prompt.md"
_GRACE_S = 0.5
"""For an editor that is told to end, to put away what it has."""


class EditorFolder:
    """One text, while it is edited."""

    def __init__(self, state_dir: Path) -> None:
        """Make it. Raises OSError."""
        state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=state_dir))
        self.file = self.path / _NAME
        self.given = self.program = ""
        self._lock = os.open(self.path, os.O_RDONLY)
        with suppress(OSError):  # a file system without locks: it may be told too soon
            fcntl.flock(self._lock, fcntl.LOCK_EX)

    def fill(self, text: str, program: str) -> None:
        """Write what the editor of this name is given. Raises OSError."""
        self.given, self.program = text, program
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with open(os.open(self.file, flags, 0o600), "wb") as opened:
            opened.write(self._given)

    def is_changed(self) -> bool:
        """There is a file, and not what was given in it."""
        try:
            return self.file.is_file() and self.file.read_bytes() != self._given
        except OSError:
            return True

    def has_more(self) -> bool:
        """Something of the user's may be here that was not given: saved, or put aside."""
        try:
            beside = any(other.is_file() for other in self.path.iterdir() if other != self.file)
        except OSError:
            return False
        return beside or self.is_changed()

    def close(self, *, remove: bool) -> None:
        """It is needed no more; with all that is in it, or not."""
        if remove:
            shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)

    @property
    def _given(self) -> bytes:
        return self.given.encode("utf-8", "replace")


def left_behind(state_dir: Path) -> list[Path]:
    """Folders whose duetto ended before the text came back; never raises."""
    found = []
    with suppress(OSError):
        for folder in sorted(state_dir.glob(f"{_PREFIX}*")):
            with suppress(OSError):
                if folder.is_dir() and not folder.is_symlink() and not is_held(folder):
                    found.append(folder)
    return found


class TextEditor:
    """Opens the user's editor on a text."""

    def __init__(self, state_dir: Path, environment: Mapping[str, str], chosen: str = "") -> None:
        """``chosen`` is a command of the settings; it comes before the environment's."""
        self._state_dir = state_dir
        self._environment = dict(environment)
        self._chosen = chosen
        self._folder: EditorFolder | None = None
        self._process: asyncio.subprocess.Process | None = None

    def refusal(self) -> str:
        """Why there is no editor to open, in a sentence; empty: there is one."""
        found = self._command()
        return found if isinstance(found, str) else ""

    async def edit(self, text: str) -> Edited:
        """Have a text edited; the terminal is the editor's until this returns."""
        command = self._command()
        if isinstance(command, str):
            return Edited(None, command)
        try:
            folder = self._folder = EditorFolder(self._state_dir)
        except OSError as error:
            return Edited(None, f"{self._state_dir} cannot be written: {error.strerror}.")
        edited, kept = await self._edited(command, folder, text)
        # not where this was broken off, or duetto is ending: `leave` knows what is in it then
        if self._folder is folder:
            self._folder = None
            folder.close(remove=not kept)
        return edited

    def written(self) -> str | None:
        """What the editor has saved by now; None: there is none, or it has saved nothing yet."""
        if self._folder is None:
            return None
        data, _ = _read(self._folder.file)
        text = _text(data or b"", self._folder.given, "replace")
        return text if text.strip() and text != self._folder.given else None

    async def leave(self) -> str:
        """End the editor, since duetto ends; where its text is, in a sentence."""
        folder, self._folder = self._folder, None
        if folder is None:
            return ""
        process = self._process
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError, TimeoutError):
                process.send_signal(signal.SIGHUP)
                await asyncio.wait_for(process.wait(), _GRACE_S)
        ended = process is None or process.returncode is not None
        # a window may be open still, whatever became of the program that waited for it
        empty = (
            ended and not folder.has_more() and os.path.basename(folder.program) not in _WINDOWED
        )
        folder.close(remove=empty)
        return "" if empty else f"what your editor had is in {folder.path}"

    async def _edited(
        self, command: list[str], folder: EditorFolder, text: str
    ) -> tuple[Edited, bool]:
        """What came of it, and whether the file shall stay."""
        name, file = os.path.basename(command[0]), folder.file
        began = time.monotonic()
        try:
            folder.fill(text, name)
            code = await self._run([*command, str(file)])
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            return Edited(None, f"{name} cannot be started: {why}."), False
        if code:
            ended = f"signal {-code}" if code < 0 else f"exit code {code}"
            words = f"{name} ended with {ended}: the text is as it was."
            if changed := folder.has_more():
                words += f" What it wrote is in {file if folder.is_changed() else folder.path}."
            return Edited(None, words), changed
        data, why = _read(file)
        if data is None:
            return Edited(None, f"{why} The text is as it was."), file.is_file()
        quick = time.monotonic() - began < _AT_ONCE_S
        if quick and not folder.is_changed() and name in _WINDOWED:
            flag = _WINDOWED[name]
            said = f"{name} did not wait: with EDITOR='{name} {flag}' the text comes back."
            return Edited(None, said), False
        return _decoded(data, text, file)

    async def _run(self, command: list[str]) -> int:
        """Until it has ended; the exit code, negative for a signal. Raises OSError."""
        with _interrupts_are_its_own():
            screen = 2 if sys.__stderr__ is None else sys.__stderr__.fileno()
            process = self._process = await own_process.spawned(
                *command,
                env=self._environment,
                stdout=screen,
                stderr=screen,
                preexec_fn=_as_a_shell_starts_it,
            )
            return await process.wait()

    def _command(self) -> list[str] | str:
        """Program and arguments, or why there are none."""
        ways = [("[prompt] editor", self._chosen)]
        ways += [(name, self._environment.get(name, "")) for name in ("VISUAL", "EDITOR")]
        for whose, words in ways:
            if not words.strip():
                continue
            try:
                command = shlex.split(words)
            except ValueError as error:
                return f"{whose} is {words!r}, which is not a command: {error}."
            if (program := self._which(command[0])) is None:
                return f"{whose} is {words!r}, and there is no program {command[0]!r} here."
            return [program, *command[1:]]
        for name in _USUAL:
            if (program := self._which(name)) is not None:
                return [program]
        return "There is no editor: set EDITOR to the command of one, such as EDITOR=nano."

    def _which(self, program: str) -> str | None:
        path = safe_path(self._environment, os.getcwd())
        return shutil.which(os.path.expanduser(program), path=path)


def _read(file: Path) -> tuple[bytes | None, str]:
    """The file's bytes, or a sentence that says why there are none."""
    try:
        about = file.stat()
        if not (stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode)):
            return None, f"{file} is not a file any more."  # a pipe would keep us waiting
        if about.st_size > LARGEST_BYTES:
            return (
                None,
                f"What was written is larger than {LARGEST_BYTES // 1024 // 1024} MB: {file}.",
            )
        return file.read_bytes(), ""
    except FileNotFoundError:
        return None, "The editor removed its file."
    except OSError as error:
        return None, f"{file} cannot be read: {error.strerror}."


def _decoded(data: bytes, given: str, file: Path) -> tuple[Edited, bool]:
    try:
        return Edited(_text(data, given, "strict")), False
    except UnicodeDecodeError:
        words = f"What was written is not UTF-8; it is in {file}. The text is as it was."
        return Edited(None, words), True


def _text(data: bytes, given: str, errors: str) -> str:
    """As the prompt has it. Raises UnicodeDecodeError where ``errors`` says so."""
    text = data.decode("utf-8-sig", errors).replace("\r\n", "\n").replace("\r", "\n")
    # editors end the last line, too
    return text if given.endswith("\n") else text.removesuffix("\n")


def _as_a_shell_starts_it() -> None:
    """In the new process: Ctrl+C means there what it always does."""
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


@contextmanager
def _interrupts_are_its_own() -> Iterator[None]:
    """The terminal sends Ctrl+C to both programs; it is the editor's."""
    numbers = (signal.SIGINT, signal.SIGQUIT)
    before = {}
    with suppress(ValueError):  # another thread than the main one
        before = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
            signal.siginterrupt(number, False)
