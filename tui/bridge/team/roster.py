"""Who may come in: the users by their tokens, read again whenever their file changes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tui.bridge.team.limits import Limits
from tui.bridge.team.users import User, hash_of, read_users
from tui.errors import DuettoError

_Signature = tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Guest:
    """Somebody with a token."""

    name: str
    hash: str
    limits: Limits


class Roster:
    """The users of a file, or just some that are given."""

    def __init__(self, file: Path | None, users: Mapping[str, User] | None = None) -> None:
        """Raises UsageError, FileRefused: see `users.read_users`."""
        self._file = file
        self._signature = _signature(file)
        self._guests = _by_hash(users or {} if file is None else read_users(file))
        self.wrong = ""
        """Why the file could not be read when it last changed; empty: it could."""

    def __len__(self) -> int:
        return len(self._guests)

    def guests(self) -> list[Guest]:
        """All who may come in."""
        return list(self._guests.values())

    def find(self, token: bytes) -> Guest | None:
        """Whose token this is; None: nobody's."""
        return self._guests.get(hash_of(token)) if token else None

    def knows(self, guest: Guest) -> bool:
        """Whether somebody who came in may stay."""
        return guest.hash in self._guests

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
            guests = _by_hash(read_users(self._file)) if signature is not None else {}
        except DuettoError as error:
            self.wrong = str(error)
            return True
        self._guests, self.wrong = guests, ""
        return True


def _by_hash(users: Mapping[str, User]) -> dict[str, Guest]:
    return {user.hash: Guest(name, user.hash, user.limits) for name, user in users.items()}


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
