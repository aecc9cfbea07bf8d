"""How git is asked without running what a repository's own configuration names."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress

from tui.core.programs import NO_COMMANDS, git_environment


class Program:
    """git in one folder."""

    def __init__(self, root: str, environment: Mapping[str, str] | None = None) -> None:
        """``root`` is in or below a repository or not; None: our own environment."""
        self._root = os.path.realpath(root)
        self._environment = git_environment(
            os.environ if environment is None else environment, self._root, root
        )

    async def run(self, *arguments: str, most_bytes: int) -> tuple[int, bytes]:
        """Run git; exit status and output, which may be cut a little behind ``most_bytes``.

        What was cut counts as a success. Raises OSError or ValueError.
        """
        process = await asyncio.create_subprocess_exec(
            "git",
            *NO_COMMANDS,
            *arguments,
            cwd=self._root,
            env=self._environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            said = bytearray()
            while process.stdout is not None and (part := await process.stdout.read(1 << 16)):
                said += part
                if len(said) > most_bytes:
                    return 0, bytes(said)
            return await process.wait(), bytes(said)
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
