"""The user's own editor, for a text that is being written: ``VISUAL``, ``EDITOR``, or what is here.

The text lies in a private folder of the state folder while it is edited. Where the editor fails or
is ended by force the file stays, and is named, if there is something in it that nobody has.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from tui.core.edited import Edited

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
_NAME = "prompt.md"


class TextEditor:
    """Opens the user's editor on a text."""

    def __init__(self, state_dir: Path, environment: Mapping[str, str], chosen: str = "") -> None:
        """``chosen`` is a command of the settings; it comes before the environment's."""
        self._state_dir = state_dir
        self._environment = dict(environment)
        self._chosen = chosen

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
            self._state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder = Path(tempfile.mkdtemp(prefix="editing-", dir=self._state_dir))
        except OSError as error:
            return Edited(None, f"{self._state_dir} cannot be written: {error.strerror}.")
        kept = False
        try:
            edited, kept = await self._edited(command, folder / _NAME, text)
        finally:
            if not kept:
                shutil.rmtree(folder, ignore_errors=True)
        return edited

    async def _edited(self, command: list[str], file: Path, text: str) -> tuple[Edited, bool]:
        """What came of it, and whether the file shall stay."""
        name, given = os.path.basename(command[0]), text.encode("utf-8", "replace")
        began = time.monotonic()
        try:
            _write(file, given)
            code = await self._run([*command, str(file)])
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            return Edited(None, f"{name} cannot be started: {why}."), False
        data, why = _read(file)
        if code:
            ended = f"signal {-code}" if code < 0 else f"exit code {code}"
            words = f"{name} ended with {ended}: the draft is as it was."
            changed = code < 0 and data not in (None, given)
            if changed:
                words += f" What it wrote is in {file}."
            return Edited(None, words), changed
        if data is None:
            return Edited(None, f"{why} The draft is as it was."), _is_there(file)
        if data == given and time.monotonic() - began < _AT_ONCE_S and name in _WINDOWED:
            flag = _WINDOWED[name]
            said = f"{name} did not wait: with EDITOR='{name} {flag}' the text comes back."
            return Edited(None, said), False
        return _decoded(data, text, file)

    async def _run(self, command: list[str]) -> int:
        """Until it has ended; the exit code, negative for a signal. Raises OSError."""
        with _interrupts_are_its_own():
            screen = 2 if sys.__stderr__ is None else sys.__stderr__.fileno()
            process = await asyncio.create_subprocess_exec(
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
                return f"{whose} is {words!r}, which is no command: {error}."
            if self._which(command[0]) is None:
                return f"{whose} is {words!r}, and there is no program {command[0]!r} here."
            return command
        for name in _USUAL:
            if self._which(name) is not None:
                return [name]
        return "There is no editor: set EDITOR to the command of one, such as EDITOR=nano."

    def _which(self, program: str) -> str | None:
        return shutil.which(os.path.expanduser(program), path=self._environment.get("PATH"))


def _write(file: Path, data: bytes) -> None:
    """Make a private file. Raises OSError."""
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
        opened.write(data)


def _read(file: Path) -> tuple[bytes | None, str]:
    """The file's bytes, or a sentence that says why there are none."""
    try:
        if file.stat().st_size > LARGEST_BYTES:
            return (
                None,
                f"What was written is larger than {LARGEST_BYTES // 1024 // 1024} MB: {file}.",
            )
        return file.read_bytes(), ""
    except FileNotFoundError:
        return None, "The editor removed its file."
    except OSError as error:
        return None, f"{file} cannot be read: {error.strerror}."


def _is_there(file: Path) -> bool:
    """Something of the user's may be in it."""
    return file.is_file()


def _decoded(data: bytes, text: str, file: Path) -> tuple[Edited, bool]:
    try:
        edited = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        words = f"What was written is not UTF-8; it is in {file}. The draft is as it was."
        return Edited(None, words), True
    edited = edited.replace("\r\n", "\n").replace("\r", "\n")
    if not text.endswith("\n"):  # editors end the last line, too
        edited = edited.removesuffix("\n")
    return Edited(edited), False


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
