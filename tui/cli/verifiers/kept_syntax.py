"""A process that stays and says which texts cannot be read: a check costs no start of Python.

It runs ``check_syntax.py`` by the project's own Python, and ends with its stdin, so that none can
outlive the app; nothing of the texts is run.
"""

from __future__ import annotations

import asyncio
import json
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from tui.engine.ports import Part, VerifyCommand
from tui.own_process import LINE_BYTES, ended, spawned

_IDLE_S = 60.0
"""Behind the last check it ends."""


class KeptSyntax:
    """Of one workspace."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._process: Process | None = None
        self._python = ""
        self._lock = asyncio.Lock()
        self._idle: asyncio.TimerHandle | None = None

    def serving(self, command: VerifyCommand) -> VerifyCommand:
        """The command with this in the place of its runs, where it judges a part."""
        makes = command.part

        def part(part: Part) -> VerifyCommand | None:
            small = None if makes is None else makes(part)
            if small is None or isinstance(small.argv, str):
                return small
            return replace(small, at_once=partial(self._judge, small.argv, small.deadline_s))

        return replace(command, part=part)

    async def _judge(
        self, argv: Sequence[str], deadline_s: float, texts: Mapping[str, bytes | None]
    ) -> tuple[int, bytes] | None:
        """Exit status and output as the command has them; None: it has to be run."""
        script = next(number for number, word in enumerate(argv) if word.endswith(".py")) + 1
        wanted: dict[str, str | None] = {}
        for path in argv[script:]:
            data = texts.get(path)
            wanted[path] = None if data is None else data.decode("latin-1")
        line = json.dumps({"root": str(self._root), "files": wanted}).encode() + b"\n"
        async with self._lock:
            try:
                async with asyncio.timeout(deadline_s):
                    said = await self._asked(argv[:script], line)
            except BaseException as error:
                await self.close()  # its next answer would be of this one
                if isinstance(error, (OSError, ValueError)):  # TimeoutError is an OSError
                    return None
                raise
            loop = asyncio.get_running_loop()
            self._idle = loop.call_later(_IDLE_S, self._end)
        return int(bool(said)), "".join(f"{one}\n" for one in said).encode()

    async def _asked(self, argv: Sequence[str], line: bytes) -> list[str]:
        """Raises OSError, or ValueError: it ended, or said something else."""
        if self._idle is not None:
            self._idle.cancel()
        process = self._process
        if process is None or process.returncode is not None or self._python != argv[0]:
            await self.close()
            self._python = argv[0]
            process = self._process = await spawned(
                *argv,
                "--kept",
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                cwd="/",
                env={},
                start_new_session=True,
                limit=LINE_BYTES,
            )
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(line)
        await process.stdin.drain()
        found = json.loads(await process.stdout.readline())
        if not isinstance(found, list):
            raise ValueError("no answer")
        return [str(one) for one in found]

    def _end(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process = None

    async def close(self) -> None:
        """End it."""
        process, self._process = self._process, None
        if self._idle is not None:
            self._idle.cancel()
        if process is not None:
            await ended(process)
