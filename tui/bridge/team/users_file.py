"""The file of a team's users, read again when it changes: names, hashes of tokens, limits.

JSON: ``{"schema": 1, "users": {NAME: {"hash": "sha256:HEX", "added": DATE, "limits": {...}}}}``.
No token is in it; one has 256 random bits, so that its plain SHA-256 tells nobody a thing about it.
"""

from __future__ import annotations

import contextlib
import difflib
import fcntl
import hashlib
import math
import os
import re
import secrets
import stat
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Struct

from tui.core.typed_data import from_json
from tui.errors import DuettoError, FileRefused, UsageError
from tui.shared_files import replace_file

SPAN_S = 60.0
_GRAIN_S = 0.1
"""What comes this close together is kept as one: a window has at most 600 entries."""
Count = Annotated[int, msgspec.Meta(ge=1, le=10**12)]


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Of one user, over all connections to one bridge; None: no limit, or the default one."""

    connections: Count | None = None
    in_flight: Count | None = None
    """Responses at a time."""
    requests_minute: Count | None = None
    tokens_minute: Count | None = None
    """Input and output tokens, as the providers count them."""

    def over(self, defaults: Limits) -> Limits:
        """These, and the defaults where they say nothing."""
        return Limits(
            self.connections or defaults.connections,
            self.in_flight or defaults.in_flight,
            self.requests_minute or defaults.requests_minute,
            self.tokens_minute or defaults.tokens_minute,
        )


class _Grain(Struct):
    """What was taken within a tenth of a second."""

    began_s: float
    ended_s: float
    amount: int = 0


class RateWindow:
    """How much was taken in the last minute, wherever that minute begins."""

    def __init__(self) -> None:
        self._taken: deque[_Grain] = deque()
        self._sum = 0

    def take(self, amount: int, now_s: float) -> None:
        """Note what was taken."""
        self._sum += amount
        if not self._taken or now_s - self._taken[-1].began_s >= _GRAIN_S:
            self._taken.append(_Grain(now_s, now_s))
        self._taken[-1].ended_s = now_s
        self._taken[-1].amount += amount

    def pause_s(self, limit: int | None, now_s: float) -> float:
        """How long until something more may be taken; 0: now."""
        while self._taken and self._taken[0].ended_s <= now_s - SPAN_S:
            self._sum -= self._taken.popleft().amount
        if limit is None or self._sum < limit:
            return 0.0
        left = self._sum
        for grain in self._taken:
            left -= grain.amount
            if left < limit:
                return grain.ended_s + SPAN_S - now_s
        return SPAN_S


def whole_seconds(pause_s: float) -> int:
    """A pause as ``Retry-After`` says it."""
    return max(1, math.ceil(pause_s))


SCHEMA = 1
LIMIT_BYTES = 16 * 1024 * 1024
_PREFIX = "duetto_"
"""Scanners for secrets find a token that was committed by mistake."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}")


class User(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One user of the bridge."""

    hash: Annotated[str, msgspec.Meta(pattern="^sha256:[0-9a-f]{64}$")]
    added: str = ""
    """The day, as ``2026-11-21``."""
    limits: Limits = Limits()


class _UsersData(msgspec.Struct, forbid_unknown_fields=True):
    schema: int = SCHEMA
    users: dict[str, User] = {}


def hash_of(token: bytes) -> str:
    """What is kept of a token."""
    return f"sha256:{hashlib.sha256(token).hexdigest()}"


def new_token() -> str:
    """A token that nobody can guess."""
    return _PREFIX + secrets.token_urlsafe(32)


def read_users(file: Path) -> dict[str, User]:
    """The users by name.

    Raises UsageError: there is no such file, or it is none of users; FileRefused: it cannot be
    read.
    """
    try:
        with open(file, "rb", opener=_opened) as opened:
            mode = os.fstat(opened.fileno()).st_mode
            data = opened.read(LIMIT_BYTES + 1) if stat.S_ISREG(mode) else b""
    except FileNotFoundError:
        words = f"there is no file of users {file}: duetto bridge token add NAME makes one"
        raise UsageError(words) from None
    except OSError as error:
        raise FileRefused(f"the file of users {file} cannot be read: {error.strerror}") from error
    if os.name == "posix" and mode & stat.S_IWOTH:
        raise UsageError(f"anybody on this machine may change {file}: chmod 600 {file}")
    return _parsed(data, file)


def add_user(file: Path, name: str, limits: Limits) -> str:
    """Add a user to the file, which is made if need be; returns the token, which nobody keeps.

    Raises UsageError: the name is none or is taken; FileRefused: the file cannot be written.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot be a user's name: up to 64 letters, digits and . _ @ + -,"
            " the first a letter or a digit"
        )
    token = new_token()

    def added(users: dict[str, User]) -> None:
        if name in users:
            words = f"{name} has a token already: revoke it first (duetto bridge token revoke)"
            raise UsageError(words)
        day = time.strftime("%Y-%m-%d", time.gmtime())
        users[name] = User(hash_of(token.encode()), day, limits)

    _change(file, added)
    return token


def revoke_user(file: Path, name: str) -> None:
    """Take a user out of the file.

    Raises UsageError: there is no such user; FileRefused: the file cannot be written.
    """

    def revoked(users: dict[str, User]) -> None:
        if users.pop(name, None) is None:
            near = difflib.get_close_matches(name, users, 1)
            guess = f"; did you mean {near[0]!r}?" if near else ""
            raise UsageError(f"there is no user {name!r} in {file}{guess}")

    read_users(file)
    _change(file, revoked)


def _opened(file: str, flags: int) -> int:
    """Opens a file, and a pipe too, without waiting until somebody writes into it."""
    return os.open(file, flags | getattr(os, "O_NONBLOCK", 0))


def _parsed(data: bytes, file: Path) -> dict[str, User]:
    try:
        if len(data) > LIMIT_BYTES:
            raise UsageError(f"the file of users {file} is larger than 16 MiB")
        known = from_json(data, _UsersData)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise UsageError(f"{file} is not a file of users: {error}") from error
    if known.schema != SCHEMA:
        words = f"{file} has schema {known.schema}; this version of duetto knows {SCHEMA}"
        raise UsageError(words)
    hashes = [user.hash for user in known.users.values()]
    if len(set(hashes)) != len(hashes):
        raise UsageError(f"two users in {file} have the same token: revoke one of them")
    return known.users


def _change(file: Path, change: Callable[[dict[str, User]], None]) -> None:
    """Read, change and write the file as one step; who else changes it waits."""
    # a link, as of a mounted volume, stays one
    real = Path(os.path.realpath(file))
    try:
        with _locked(real.parent):
            users = read_users(real) if real.exists() else {}
            change(users)
            whole = msgspec.json.encode(_UsersData(users=dict(sorted(users.items()))))
            replace_file(real, msgspec.json.format(whole, indent=2) + b"\n", synced=True)
    except OSError as error:
        raise FileRefused(f"{file} cannot be written: {error.strerror or error}") from error


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Nobody else changes the file meanwhile; the folder is what is locked, the file is new."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


_Signature = tuple[int, ...] | None


class TeamUser(Struct, frozen=True):
    """Somebody with a token."""

    name: str
    hash: str
    limits: Limits


class UsersFile:
    """The users of a file, or just some that are given."""

    def __init__(self, file: Path | None, users: Mapping[str, User] | None = None) -> None:
        """Raises UsageError, FileRefused: see `users.read_users`."""
        self._file = file
        self._signature = _signature(file)
        self._users_by_hash = _by_hash(users or {} if file is None else read_users(file))
        self.wrong = ""
        """Why the file could not be read when it last changed; empty: it could."""

    def __len__(self) -> int:
        return len(self._users_by_hash)

    def users(self) -> list[TeamUser]:
        """All who may come in."""
        return list(self._users_by_hash.values())

    def find(self, token: bytes) -> TeamUser | None:
        """Whose token this is; None: nobody's."""
        return self._users_by_hash.get(hash_of(token)) if token else None

    def knows(self, user: TeamUser) -> bool:
        """Whether somebody who came in may stay."""
        return user.hash in self._users_by_hash

    def look(self) -> bool:
        """Read the file if it has changed; returns whether it had.

        A file that is none of users (somebody is editing it) leaves all as it was. One that is
        gone names nobody, so that nobody may stay.
        """
        signature = _signature(self._file)
        if self._file is None or signature == self._signature:
            return False
        self._signature = signature
        try:
            users = _by_hash(read_users(self._file)) if signature is not None else {}
        except DuettoError as error:
            self.wrong = str(error)
            return True
        self._users_by_hash, self.wrong = users, ""
        return True


def _by_hash(users: Mapping[str, User]) -> dict[str, TeamUser]:
    return {user.hash: TeamUser(name, user.hash, user.limits) for name, user in users.items()}


def _signature(file: Path | None) -> _Signature:
    """What is another after each change; None: there is no file."""
    try:
        status = os.stat(file) if file is not None else None
    except FileNotFoundError:
        return None
    except OSError:
        return ()  # there may be one: whoever reads it will say what is wrong
    if status is None:
        return None
    # an inode may be given again, a time may be set: but for the last one
    return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
