"""The log: a rotating file in the state folder, without keys and without prompts."""

from __future__ import annotations

import logging
import os
import platform
import re
import urllib.parse
from collections.abc import Iterable, Mapping
from contextlib import suppress
from copy import copy
from itertools import pairwise
from pathlib import Path

from tui.core.inert_text import inert
from tui.core.text.patterns import pattern
from tui.core.wire.masking import MASK, SHORTEST, Mask
from tui.errors import SettingsError
from tui.settings import Paths

MAX_BYTES = 1_000_000
BACKUPS = 3

_SECRET_NAME = pattern(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE)
_SECRET_TEXT = pattern(
    r"(?P<intro>bearer\s+|(?:api[-_]?key|token|authorization)[\"']?\s*[:=]\s*[\"']?(?:(?:bearer|basic)\s+)?)"
    r"[^\s\"',;]{6,}|\b(?:sk|xai|gsk|csk)-[\w-]{8,}",
    re.IGNORECASE,
)


class Masking(logging.Formatter):
    """Formats a record, traceback and all, with everything that looks like a key masked."""

    def __init__(self, secrets: Iterable[str]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(process)d %(name)s: %(message)s")
        self._secrets: set[str] = set()
        self.mask(secrets)

    def format(self, record: logging.LogRecord) -> str:
        """The line that is written, with the lines of its traceback; nothing in it acts.

        What a stranger said must not look like another entry: line breaks in it are escaped.
        """
        line = copy(record)
        line.msg, line.args = inert(record.getMessage()), None
        return inert(self.masked(super().format(line)), keep="\n")

    def mask(self, secrets: Iterable[str]) -> None:
        """Mask these too, from now on."""
        self._secrets.update(secret for secret in secrets if len(secret) >= SHORTEST)
        self._mask = Mask(self._secrets)

    def masked(self, text: str) -> str:
        """The text without the keys."""
        text = _SECRET_TEXT.sub(lambda found: (found["intro"] or "") + MASK, text)
        return self._mask.text(text)


class _Rotating(logging.FileHandler):
    """Begins a new file where one is full, and keeps some old ones.

    That of the standard library comes with sockets and pickle: 6 ms of every start.
    """

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line; what cannot be written is not heard of."""
        try:
            if os.path.isfile(self.baseFilename) and os.stat(self.baseFilename).st_size > MAX_BYTES:
                self._rotate()
            super().emit(record)
        except OSError:
            self.handleError(record)

    def _rotate(self) -> None:
        self.close()
        names = [self.baseFilename, *(f"{self.baseFilename}.{n}" for n in range(1, BACKUPS + 1))]
        for newer, older in reversed([*pairwise(names)]):
            with suppress(FileNotFoundError):
                os.replace(newer, older)


def mask(secrets: Iterable[str]) -> None:
    """Keep these out of the log too."""
    for handler in logging.getLogger("tui").handlers:
        if isinstance(handler.formatter, Masking):
            handler.formatter.mask(secrets)


def secrets_of(environment: Mapping[str, str]) -> list[str]:
    """The values of all variables whose name says that they are secret."""
    return [
        value.strip()
        for name, value in environment.items()
        if value.strip() and _SECRET_NAME.search(name)
    ]


def proxy_passwords(environment: Mapping[str, str]) -> list[str]:
    """The passwords in the addresses of proxies, as written and as meant."""
    found: list[str] = []
    for name, value in environment.items():
        user, at, _ = value.rpartition("@")
        if at and name.upper().endswith("_PROXY"):
            written = user.rpartition("//")[2].partition(":")[2]
            found += [written, urllib.parse.unquote(written)]
    return [password for password in found if password]


def start(paths: Paths, *, debug: bool = False) -> Path | None:
    """Log to the state folder from now on; None when that folder cannot be written to.

    Nothing but our own loggers (``tui``) is written: a library's debug line may hold frames, and
    frames hold prompts. ``debug`` writes more of our own.
    """
    # a log that cannot be written (a full disk) must not be what the user hears of
    logging.raiseExceptions = False
    logger = logging.getLogger("tui")
    logger.setLevel(logging.DEBUG if debug else logging.INFO)
    logger.propagate = False
    if any(isinstance(handler, logging.FileHandler) for handler in logger.handlers):
        return paths.log_file
    try:
        paths.make_state_dir()
        handler = _Rotating(paths.log_file, encoding="utf-8", delay=True)
        handler.setFormatter(Masking([*secrets_of(os.environ), *proxy_passwords(os.environ)]))
        paths.log_file.touch(mode=0o600)
    except (OSError, SettingsError):
        logger.addHandler(logging.NullHandler())
        _take_over(logging.NullHandler())
        return None
    logger.addHandler(handler)
    _take_over(handler)
    if debug:  # to find that out takes time
        logger.debug("python %s on %s", platform.python_version(), platform.platform())
    return paths.log_file


def _take_over(handler: logging.Handler) -> None:
    """A task that broke is for the log: asyncio would print its traceback over the screen."""
    logger = logging.getLogger("asyncio")
    logger.setLevel(logging.ERROR)
    logger.propagate = False
    logger.handlers = [handler]
