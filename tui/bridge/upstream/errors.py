"""Why an upstream did not answer, in words: each is the end of a sentence that begins with it."""

from __future__ import annotations

import errno
import os
import re
import socket
import ssl

from tui.core.wire.address import authorities_advice

_ERRNO = re.compile(r"\[Errno (\d{1,4})\]")
"""asyncio tells the errors of several addresses in one text."""
_EXPIRED = frozenset({9, 10})
_OTHER_NAME = frozenset({62, 63, 64})
"""OpenSSL's X509_V_ERR_*: the certificate is of another host, or not valid today."""


class BrokenError(Exception):
    """The upstream cannot be reached, or broke off; the text says it in one sentence."""

    def __init__(self, text: str, *, unreached: bool = False, flooded: bool = False) -> None:
        """``unreached``: the server never answered, which is not an answer that broke off.

        ``flooded``: the server sent what is not taken, and would do so again.
        """
        super().__init__(text)
        self.unreached, self.flooded = unreached, flooded


class UnconnectedError(Exception):
    """There is no connection to the upstream; the text ends a sentence that begins with it."""

    def __init__(self, text: str, *, refused: bool = False) -> None:
        """``refused``: the host is there, and nobody listens at this moment."""
        super().__init__(text)
        self.refused = refused


class CutError(Exception):
    """An answer was cut off; the text ends a sentence that begins with the upstream."""

    def __init__(self, text: str, *, unanswered: bool = False) -> None:
        """``unanswered``: nothing of an answer had come, not even its status."""
        super().__init__(text)
        self.unanswered, self.flooded = unanswered, text == FLOODED


STALE_S = 1.0
"""A connection that a server closed while it waited is gone a round trip behind the request."""
UNANSWERED = "closed the connection before it had answered."
SILENT = "said nothing for too long."
MOST_UNSAID_BYTES = 256 * 1024
"""No server says as much around an answer; its headers may have a tenth of it."""
FLOODED = "sends headers, frames or empty chunks without an end, and no more of an answer."
UNREAD = "sent what is not HTTP, or headers that are too long."


def unconnected(error: Exception, connect_s: float) -> UnconnectedError:
    """The words for what a dial raised."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return UnconnectedError(_untrusted(error))
    if isinstance(error, ssl.SSLError):
        why = f" ({error.reason.replace('_', ' ').lower()})" if error.reason else ""
        return UnconnectedError(f"cannot be reached: the TLS connection failed{why}.")
    if isinstance(error, TimeoutError) and not error.errno:
        words = f"cannot be reached: it did not answer within {connect_s:.0f} s."
        return UnconnectedError(words)
    if isinstance(error, socket.gaierror | UnicodeError):
        return UnconnectedError("cannot be reached: its name is not known.")
    number = _number(error)
    if number:
        words = f"cannot be reached: {os.strerror(number)}."
        return UnconnectedError(words, refused=number == errno.ECONNREFUSED)
    if isinstance(error, ConnectionError):
        return UnconnectedError("cannot be reached: it closed the connection at once.")
    return UnconnectedError("cannot be reached.")


def proxy_refused(status: int | None) -> UnconnectedError:
    """The words for a proxy that will not connect; ``status``: as it said, if it speaks HTTP."""
    saying = f" (HTTP status {status})" if status is not None and status >= 100 else ""
    return UnconnectedError(f"cannot be reached: the proxy refused{saying}.")


PROXY_SILENT = "cannot be reached: the proxy does not answer; check HTTPS_PROXY and ALL_PROXY."


def _number(error: Exception) -> int:
    """The system's number of an error; of several addresses' errors the first; 0: none."""
    if isinstance(error, OSError) and error.errno and error.errno > 0:
        return error.errno
    told = _ERRNO.search(str(error))
    return int(told[1]) if told else 0


def _untrusted(error: ssl.SSLCertVerificationError) -> str:
    if error.verify_code in _OTHER_NAME:
        return "cannot be trusted, its certificate is that of another host: check the url."
    if error.verify_code in _EXPIRED:
        return "cannot be trusted, its certificate is not valid today: check the clock."
    to_do = authorities_advice(os.environ, lambda path: os.access(path, os.R_OK))
    return f"cannot be trusted, its certificate is of no known authority: {to_do}"
