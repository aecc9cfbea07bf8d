"""The one exception tree of duetto, and the exit codes that commands end with.

::

    DuettoError                one clear sentence: what is wrong, what to do
    ├── UsageError             exit 2: a flag, a path or a setting is wrong
    ├── SettingsError          exit 2: a TOML file is broken (file, line, what)
    ├── EndpointError          exit 3: a server cannot be reached or is not one
    │   ├── NoAnswer           exit 3: nobody answered in time
    │   └── KeyRefused         exit 3: the server refused the key (HTTP 401, or a 403 about it)
    ├── WireError              the socket broke or the server broke the protocol
    ├── EditRefused            an edit was not applied, with the reason in words
    │   └── ImageRefused       an image cannot be sent, and so the prompt waits
    ├── FileRefused            a file cannot be read or written, with the reason
    └── StoreRefused           a session cannot be had or changed, with the reason
"""

from __future__ import annotations

EXIT_OK = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_UNREACHABLE = 3
EXIT_OVER_BUDGET = 4
EXIT_DECLINED = 5
EXIT_INTERRUPTED = 130


class DuettoError(Exception):
    """Base of all errors that are shown to the user as one sentence.

    ``str(error)`` is that sentence; it says what is wrong and what to do.
    """

    exit_code = EXIT_FAILED


class UsageError(DuettoError):
    """A command line, a path or a combination of flags that cannot work."""

    exit_code = EXIT_USAGE


class SettingsError(DuettoError):
    """A settings file that cannot be read: the text names file and line."""

    exit_code = EXIT_USAGE


class EndpointError(DuettoError):
    """A server that cannot be reached, or that is not a Responses endpoint."""

    exit_code = EXIT_UNREACHABLE

    def __init__(
        self,
        text: str,
        *,
        transient: bool = False,
        http_may_work: bool = False,
        retry_after_s: float | None = None,
        final: bool = False,
    ) -> None:
        """The text, and what may help beside the user."""
        super().__init__(text)
        self.cause = text
        """What is wrong, without what to do: for those who do it themselves."""
        self.transient = transient
        """It may pass by itself: HTTP 429, 5xx, a time-out, a socket that broke."""
        self.http_may_work = http_may_work
        """The host answers, but not in WebSocket: HTTP+SSE is worth a try."""
        self.retry_after_s = retry_after_s
        """How long the server wants to be left alone, in seconds, if it said so."""
        self.final = final
        """The server let us in and would have none of it: to dial again would end the same."""


class NoAnswer(EndpointError):
    """Nobody answered in time: each further try makes the user wait as long again."""


class KeyRefused(EndpointError):
    """The server refused the key on the upgrade (HTTP 401, or a 403 about it)."""


class WireError(DuettoError):
    """The socket broke, or the other side broke the protocol."""


class EditRefused(DuettoError):
    """An edit that was not applied; the text is the reason."""


class ImageRefused(EditRefused):
    """An image that a prompt names cannot be sent; the text is the reason."""


class FileRefused(DuettoError):
    """A file that is not read or written; the text is the reason."""


class StoreRefused(DuettoError):
    """A session that cannot be had, or a store that cannot be used; the text is the reason."""
