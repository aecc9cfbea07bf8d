"""How git is asked without running what a repository's own configuration names.

A folder that was only opened must not get a command run: the file system monitor, hooks, the
transport of a partial clone. Filters are up to who runs them.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress

_NO_COMMANDS = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
"""Options before git's command."""


def _quiet(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment in which git asks nobody, locks nothing and fetches nothing."""
    kept = {name: value for name, value in environment.items() if not name.startswith("GIT_")}
    return kept | {
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",  # git before 2.44 does not know the line above
        "LC_ALL": "C",
    }


class Program:
    """git in one folder."""

    def __init__(self, root: str, environment: Mapping[str, str] | None = None) -> None:
        """``root`` is in or below a repository or not; None: our own environment."""
        self._root = os.path.realpath(root)
        self._environment = _quiet(os.environ if environment is None else environment)

    async def run(self, *arguments: str, most_bytes: int) -> tuple[int, bytes]:
        """Run git; exit status and output, which may be cut a little behind ``most_bytes``.

        What was cut counts as a success. Raises OSError or ValueError.
        """
        process = await asyncio.create_subprocess_exec(
            "git",
            *_NO_COMMANDS,
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
