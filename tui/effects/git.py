"""Git, asked through its own program, without running or locking anything.

`git status` can run commands that a repository's own configuration names: the file system
monitor, hooks, clean filters, the transport of a partial clone, the same in submodules. None of
them may come with a folder that was only opened, so each is switched off for the call; filters of
the user's own (global) configuration stay, git-lfs needs them. ``git cat-file blob`` gives the
bytes as they are stored: no filter, no text conversion, no pager and no external diff is run
(git-cat-file(1)). What lies in a partial clone's remote is not fetched.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress

from tui.core.files import MAX_BYTES, FileRead, GitMove, GitPlace, GitState
from tui.core.programs import NO_COMMANDS, git_environment

DEADLINE_S = 10.0
MOST_STATUS_BYTES = 16_000_000
"""Of the answer; what comes behind is not looked at."""
MOST_FILES = 50_000
_MOST_STEPS, _STEP_CHARS = 5, 120
"""Of what the log of HEAD says, so much is told."""
_FILTERS = r"^filter\..*\.(clean|process|smudge|required)$"
_STATUS = (
    "status",
    "--porcelain=v2",
    "-z",
    "--no-renames",  # would read, and in a partial clone fetch, the contents of old files
    "--untracked-files=normal",
    "--ignore-submodules=dirty",  # a submodule's own configuration would be obeyed in there
    "--",
    ".",
)
_NAMES = (
    "--name-only",
    "-z",
    "--no-renames",
    "--relative",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=dirty",
)
_FOREIGN = ("local", "worktree")
"""Scopes of the configuration that come with the folder."""


class Git:
    """Git in one workspace, asked anew at every call."""

    def __init__(self, root: str, environment: Mapping[str, str] | None = None) -> None:
        """``root`` is the workspace's directory, in or below a repository or not.

        git's filters are programs: they get this environment, where no key is (None: our own).
        """
        self._root = os.path.realpath(root)
        self._environment = git_environment(
            os.environ if environment is None else environment, self._root, root
        )
        self._prefix: bytes | None = None
        """The workspace's path in its repository, ``sub/`` or empty; None: not known yet."""

    async def states(self) -> Mapping[str, GitState]:
        """Path relative to the root -> state; empty where git has nothing to say. Never raises.

        An untracked folder is named once, for all that it holds.
        """
        try:
            async with asyncio.timeout(DEADLINE_S):
                return await self._states()
        except (OSError, TimeoutError, ValueError):
            return {}

    async def changed(self, ref: str) -> tuple[list[str], str]:
        """Paths that differ from a commit, new ones among them, and why that cannot be said.

        Never raises.
        """
        try:
            async with asyncio.timeout(DEADLINE_S):
                commit = (
                    ""
                    if ref.startswith("-")
                    else await self._word("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
                )
                if not commit:
                    return [], await self._no_commit(ref)
                filters = await self._foreign_filters()
                if filters is None:
                    return [], "this git is too old to be asked safely"
                code, answer = await self._run(*filters, "diff", *_NAMES, commit, "--", ".")
                new = [path for path, state in (await self._states()).items() if state == "?"]
        except (OSError, TimeoutError, ValueError) as error:
            return [], f"git could not be asked: {error or 'it took too long'}"
        if code != 0:
            return [], "git could not compare the files"
        names = [os.fsdecode(name) for name in answer.split(b"\0") if name]
        return sorted({*names, *new}), ""

    async def _no_commit(self, ref: str) -> str:
        if not await self._word("rev-parse", "--git-dir"):
            return "this folder is in no git repository"
        if ref == "HEAD":
            return "nothing is committed here yet"
        return f"git knows no commit {ref!r} here"

    async def place(self) -> GitPlace:
        """Where git is now; nowhere without a repository. Never raises."""
        try:
            async with asyncio.timeout(DEADLINE_S):
                commit = await self._word("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
                if not commit:
                    return GitPlace()
                branch = await self._word("symbolic-ref", "--quiet", "--short", "HEAD")
                stash = await self._word("rev-parse", "--verify", "--quiet", "refs/stash")
        except (OSError, TimeoutError, ValueError):
            return GitPlace()
        return GitPlace(commit, branch, stash)

    async def moved(self, before: GitPlace, now: GitPlace) -> GitMove:
        """What git did since it was at a place, and the files that differ by that. Never raises."""
        paths: dict[str, None] = {}
        words: list[str] = []
        try:
            async with asyncio.timeout(DEADLINE_S):
                if before.commit and before.commit != now.commit:
                    paths |= await self._between(before.commit, now.commit)
                if (before.commit, before.branch) != (now.commit, now.branch):
                    words += await self._told_by_log(before.commit)
                if before.stash != now.stash:
                    words.append("stash")
                    for stash in filter(None, (before.stash, now.stash)):
                        paths |= await self._between(f"{stash}^1", stash)
        except (OSError, TimeoutError, ValueError):
            pass
        return GitMove("; ".join(words) or "HEAD moved", tuple(paths))

    async def _between(self, old: str, new: str) -> dict[str, None]:
        code, answer = await self._run("diff", *_NAMES, old, new, "--", ".")
        names = answer.split(b"\0") if code == 0 else []
        return {os.fsdecode(name): None for name in names[:MOST_FILES] if name}

    async def _told_by_log(self, before: str) -> list[str]:
        """What the log of HEAD says was done since a commit, the oldest first."""
        log = await self._word("log", "-g", f"-n{_MOST_STEPS}", "--format=%H %gs", "HEAD", "--")
        done: list[str] = []
        for line in log.splitlines():
            commit, _, words = line.partition(" ")
            if commit == before and done:
                break
            done.append(words[:_STEP_CHARS])
        return done[::-1]

    async def _word(self, *arguments: str) -> str:
        """What git answers to this, without its line end; empty: nothing."""
        code, answer = await self._run(*arguments)
        return os.fsdecode(answer).strip() if code == 0 else ""

    async def head(self, path: str, ref: str = "HEAD") -> FileRead:
        """The bytes of a file in a commit; none if it is not there, with the reason if HEAD is not.

        ``path`` is relative to the root. Never raises.
        """
        try:
            async with asyncio.timeout(DEADLINE_S):
                code, data = await self._run(
                    "cat-file", "blob", f"{ref}:./{path}", most_bytes=MAX_BYTES
                )
                if len(data) > MAX_BYTES:
                    return FileRead(None, f"'{path}' is larger than 8 MB in git's HEAD")
                if code == 0:
                    return FileRead(data)
                code, _ = await self._run(
                    "rev-parse", "--verify", "--quiet", "HEAD^{commit}", most_bytes=MAX_BYTES
                )
        except FileNotFoundError:
            return FileRead(None, "git is not installed")
        except TimeoutError:
            return FileRead(None, f"git did not answer within {DEADLINE_S:.0f} s")
        except (OSError, ValueError) as error:
            return FileRead(None, f"git could not be asked: {error}")
        return FileRead(None, "" if code == 0 else "this folder has no git commit yet")

    async def _states(self) -> Mapping[str, GitState]:
        if self._prefix is None:
            code, answer = await self._run("rev-parse", "--show-prefix")
            if code != 0:
                return {}
            self._prefix = answer.removesuffix(b"\n")
        filters = await self._foreign_filters()
        if filters is None:
            return {}
        code, answer = await self._run(*filters, *_STATUS)
        found = states_of(answer, self._prefix) if code == 0 else {}
        if not found and (answer or code != 0):
            self._prefix = None  # another repository may have been made here, or taken away
        return found

    async def _foreign_filters(self) -> list[str] | None:
        """Options that switch off the filters of the repository's own configuration.

        None: git is too old to say where a setting comes from, and nothing more is asked.
        """
        code, answer = await self._run(
            "config", "--show-scope", "--name-only", "-z", "--get-regexp", _FILTERS
        )
        if code not in (0, 1):  # 1: there is none
            return None
        words = [word for word in os.fsdecode(answer).split("\0") if word]
        options: list[str] = []
        for scope, name in zip(words[::2], words[1::2], strict=False):
            if scope in _FOREIGN:
                if "=" in name:  # would be cut there, so the filter could not be switched off
                    return None
                options += ["-c", f"{name.rpartition('.')[0]}.required=false"]
                if not name.endswith(".required"):
                    options += ["-c", f"{name}="]
        return options

    async def _run(self, *arguments: str, most_bytes: int = MOST_STATUS_BYTES) -> tuple[int, bytes]:
        """Run git; exit status and output, which may be cut a little behind ``most_bytes``.

        What was cut counts as a success. Raises OSError or ValueError.
        """
        from tui import own_process  # not before the first paint

        process = await own_process.spawned(
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


def states_of(answer: bytes, prefix: bytes = b"") -> dict[str, GitState]:
    """The states in an answer of ``git status --porcelain=v2 -z``.

    ``prefix`` is the workspace's path in the repository, with a slash at its end, or empty.
    """
    found: dict[str, GitState] = {}
    for entry in answer.split(b"\0"):
        state, path = _entry(entry)
        if state is None or not path.startswith(prefix):
            continue
        name = os.fsdecode(path[len(prefix) :]).rstrip("/")
        if name and not (state == "?" and name in found):
            found[name] = state
        if len(found) >= MOST_FILES:
            break
    return found


_FIELDS: Mapping[bytes, int] = {b"1": 8, b"u": 10, b"?": 1}
"""Fields before the path, by the kind of the entry (git-status(1), porcelain version 2)."""


def _entry(entry: bytes) -> tuple[GitState | None, bytes]:
    kind = entry[:1]
    fields: Sequence[bytes] = entry.split(b" ", _FIELDS.get(kind, 0))
    if kind not in _FIELDS or len(fields) != _FIELDS[kind] + 1:
        return None, b""
    if kind == b"?":
        return "?", fields[-1]
    if kind == b"u":
        return "U", fields[-1]
    changes = fields[1]
    if b"D" in changes:
        return "D", fields[-1]
    return ("A" if b"A" in changes else "M"), fields[-1]
