"""A file as it was committed: git's HEAD, asked without running or locking anything.

``git cat-file blob`` gives the bytes as they are stored: no filter, no text conversion, no pager
and no external diff is run (git-cat-file(1)). What lies in a partial clone's remote is not fetched.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from tui.core.file_read import MAX_BYTES, FileRead
from tui.effects.git.program import Program

DEADLINE_S = 10.0


class GitShow:
    """The committed files of one workspace, asked anew at every call."""

    def __init__(self, root: str, environment: Mapping[str, str] | None = None) -> None:
        """``root`` is the workspace's directory, in or below a repository or not.

        git gets this environment, where no key is (None: our own).
        """
        self._git = Program(root, environment)

    async def head(self, path: str) -> FileRead:
        """The bytes of a file in HEAD; none if it is not there, with the reason if HEAD is not.

        ``path`` is relative to the root. Never raises.
        """
        try:
            async with asyncio.timeout(DEADLINE_S):
                code, data = await self._git.run(
                    "cat-file", "blob", f"HEAD:./{path}", most_bytes=MAX_BYTES
                )
                if len(data) > MAX_BYTES:
                    return FileRead(None, f"'{path}' is larger than 8 MB in git's HEAD")
                if code == 0:
                    return FileRead(data)
                code, _ = await self._git.run(
                    "rev-parse", "--verify", "--quiet", "HEAD^{commit}", most_bytes=MAX_BYTES
                )
        except FileNotFoundError:
            return FileRead(None, "git is not installed")
        except TimeoutError:
            return FileRead(None, f"git did not answer within {DEADLINE_S:.0f} s")
        except (OSError, ValueError) as error:
            return FileRead(None, f"git could not be asked: {error}")
        return FileRead(None, "" if code == 0 else "this folder has no git commit yet")
