"""The process that a model runs in: started when needed, again if it has ended; and measured."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import re
import secrets
import signal
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections import deque
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta, Struct

from tui import own_process
from tui.bridge.endpoints.base import Broken, Refused
from tui.bridge.local.model_file import ModelFile, check_machine, free_bytes, read_model_file
from tui.core.typed_data import from_json
from tui.core.wire.address import Address
from tui.core.wire.json_writing import request_body

if TYPE_CHECKING:
    from tui.bridge.upstream.client import Upstream

READY_S = 300.0
"""A large file on a slow disk."""
MODULE = "tui.bridge.local.serving"
PACKAGE = "xllamacpp"
_OWN_FOLDER = Path(__file__).resolve().parents[3]
_LAST_LINES = 40
_ARCHITECTURE = re.compile(r"unknown model architecture: '([^']{1,60})'")
_PASSED_ON = (
    *("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TEMP", "SYSTEMROOT", "VIRTUAL_ENV"),
    *("PYTHONHOME", "PYTHONPATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
)
"""Of the environment: it holds keys that the process has no need of."""


class LocalOptions(Struct, frozen=True):
    """``[endpoints.local.options]``."""

    model: str = ""
    """The file; empty: those that installed packages hold."""
    window: Annotated[int, Meta(ge=256)] = 8192
    """Tokens of a conversation at most, as far as the model was trained for."""
    slots: Annotated[int, Meta(ge=1, le=256)] = 4
    """Answers side by side."""
    threads: Annotated[int, Meta(ge=0, le=1024)] = 0
    """0: one fewer than the processor's, which holds no screen up; never more than it has."""
    constrained: bool = True
    """Edits are written under a grammar made for the files."""

    def window_of(self, file: ModelFile) -> int:
        """Tokens that one conversation may have."""
        return min(self.window, file.window)


_TOKENS = 48
_TASK = "Count from 1 to 40, one number a line, and nothing else. " * 8
_MOST_BYTES = 1_000_000


class Timings(Struct, frozen=True):
    """As llama.cpp tells them."""

    prompt_per_second: float = 0.0
    predicted_per_second: float = 0.0


class _Timed(Struct, frozen=True):
    timings: Timings


class LocalSpeed(Struct, frozen=True):
    """Of one model."""

    ready_s: float
    """To start the process and load the file."""
    read_tokens_s: float
    written_tokens_s: float


class ModelServer:
    """One file's process."""

    def __init__(self, file: ModelFile, options: LocalOptions) -> None:
        self.file = file
        self._options = options
        self._process: Process | None = None
        self._starts = 0
        self._starting: asyncio.Task[Address] | None = None
        self._listening: asyncio.Task[None] | None = None
        self._lines: deque[str] = deque(maxlen=_LAST_LINES)
        self._mark: int | None = None
        """The file, locked with others who run it while this one does."""
        self.notice = ""
        """What the user is told of the last start, once."""

    async def address(self) -> Address:
        """Where it answers, with its key. Raises Refused: it cannot be started.

        Who leaves meanwhile leaves it to the others: what is loaded is not loaded again.
        """
        starting, process = self._starting, self._process
        if starting is None or (
            starting.done() and (process is None or process.returncode is not None)
        ):
            self._starting = starting = asyncio.create_task(self._start())
            starting.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(starting)

    async def speed(self, upstream: Upstream) -> LocalSpeed:
        """Load the model and have it write a little. Raises Refused, Broken."""
        begun_s = time.monotonic()
        address = await self.address()
        ready_s = time.monotonic() - begun_s
        body = {
            "messages": [{"role": "user", "content": _TASK}],
            "max_tokens": _TOKENS,
            "ignore_eos": True,
        }
        there = msgspec.structs.replace(address, url=f"{address.url}/chat/completions")
        fetched = await upstream.fetch(there, request_body(body), _MOST_BYTES)
        try:
            told = from_json(fetched.body, _Timed).timings
        except msgspec.DecodeError as error:
            words = "The model on this machine gave no answer that can be measured."
            raise Broken(words) from error
        return LocalSpeed(ready_s, told.prompt_per_second, told.predicted_per_second)

    async def close(self) -> None:
        """End it."""
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.wait({self._starting})
        await self._end()

    async def _start(self) -> Address:
        await self._end()
        if find_spec(PACKAGE) is None:
            words = "A model on this machine needs a package more: pip install 'duetto[local]'."
            raise Refused(404, "local_model_not_installed", words)
        self._starts += 1
        if self._starts > 1:  # perhaps it is another one by now, or gone
            self.file = await asyncio.to_thread(read_model_file, self.file.path)
        options, file = self._options, self.file
        tokens = options.window_of(file) * (2 if options.slots > 1 else 1)
        await asyncio.to_thread(check_machine, file, tokens, free_bytes)
        if self._runs_beside():
            own = (file.needs_bytes(tokens) - file.size_bytes) / 1e9
            self.notice = (
                f"{file.name} runs for another duetto, too: this one takes {own:.1f} GB of memory"
                " more, and each writes more slowly while both do"
            )
        key = secrets.token_urlsafe(32)
        told = {
            "file": str(file.path),
            "name": file.name,
            "key": key,
            "tokens": tokens,
            "slots": options.slots,
            "threads": min(options.threads, threads() + 1) or threads(),
            "cache_mb": 256,
        }
        environment = {name: value for name, value in os.environ.items() if name in _PASSED_ON}
        command = (sys.executable, "-m", MODULE)
        pipes: dict[str, Any] = {"stdin": PIPE, "stdout": PIPE, "stderr": PIPE}
        try:
            self._process = process = await own_process.spawned(
                *command, **pipes, cwd=_OWN_FOLDER, env=environment
            )
        except OSError as error:
            raise _failed(f"{file.name} cannot be started: {error.strerror}") from error
        self._lines.clear()
        self._listening = asyncio.create_task(self._listen(process))
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(told).encode() + b"\n")
        try:
            async with asyncio.timeout(READY_S):
                line = await process.stdout.readline()
        except TimeoutError:
            line = b""
        said = _said(line)
        if "url" not in said:
            await self._end(wait=True)
            raise _failed(self._why(process.returncode))
        return Address(f"{said['url']}/v1", {"Authorization": f"Bearer {key}"})

    def _runs_beside(self) -> bool:
        """Whether another duetto runs the file; from now on others see that this one does."""
        with contextlib.suppress(OSError):
            self._mark = os.open(self.file.path, os.O_RDONLY)
            try:
                fcntl.flock(self._mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            finally:
                fcntl.flock(self._mark, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False

    def _why(self, code: int | None) -> str:
        lines, file = "\n".join(self._lines), self.file
        if unknown := _ARCHITECTURE.search(lines):
            return f"{PACKAGE} does not know the architecture {unknown[1]} of {file.path}"
        if code == -signal.SIGILL:
            return f"{PACKAGE} was built for another processor than this machine's"
        # the first error is the cause, those behind it say that there was one
        cause = next((one for one in self._lines if " E " in one), "").partition(" E ")[2]
        words = cause.rpartition("error: ")[2].rpartition("error loading model: ")[2].strip()
        what = f"the chat template in {file.path}" if "chat_template" in cause else f"{file.path}"
        return f"{what} cannot be loaded{f' ({words[:200]})' if words else ''}"

    async def _listen(self, process: Process) -> None:
        assert process.stderr is not None
        with contextlib.suppress(ValueError):
            while line := await process.stderr.readline():
                self._lines.append(line.decode("utf-8", "replace").rstrip())

    async def _end(self, *, wait: bool = False) -> None:
        process, self._process = self._process, None
        if self._mark is not None:
            os.close(self._mark)
            self._mark = None
        if process is not None:
            if wait:  # its last words
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(process.wait(), own_process.GRACE_S)
            await own_process.ended(process)
        if self._listening is not None:
            await asyncio.gather(self._listening, return_exceptions=True)
            self._listening = None


def threads() -> int:
    """One fewer than this process may use: two that wait for each other are slow beside others."""
    usable = getattr(os, "sched_getaffinity", None)
    return max(1, (len(usable(0)) if usable else os.cpu_count() or 2) - 1)


def _said(line: bytes) -> dict[str, str]:
    try:
        return from_json(line, dict[str, str])
    except msgspec.DecodeError:
        return {}


def _failed(words: str) -> Refused:
    return Refused(404, "local_model_failed", f"{words}.")
