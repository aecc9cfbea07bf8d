"""Where a team's bridge listens, whether it may, and its certificate."""

from __future__ import annotations

import contextlib
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from tui.core.wire.address import is_loopback
from tui.errors import FileRefused, UsageError

_OF = "use HOST:PORT, as 0.0.0.0:8443, [::1]:8443 or bridge.example.com:8443"
_ALL = ("", "*")
_OUT_OF_TIME = {9: "is not valid yet: is this machine's clock right?", 10: "has ended: renew it"}
"""OpenSSL's codes of certificates whose time has not come, or is over."""


@dataclass(frozen=True, slots=True)
class Place:
    """An address to listen at."""

    host: str
    """Empty: all addresses of this machine."""
    port: int

    @property
    def near(self) -> bool:
        """Nobody but this machine can reach it."""
        return bool(self.host) and is_loopback(self.host)

    def url(self, port: int, *, tls: bool) -> str:
        """Where clients dial; ``port`` is the one that was really taken."""
        host = self.host or "0.0.0.0"
        host = f"[{host}]" if ":" in host else host
        return f"{'wss' if tls else 'ws'}://{host}:{port}/v1/responses"


def place(text: str) -> Place:
    """Read ``HOST:PORT``. Raises UsageError."""
    host, colon, port = text.strip().rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    bracketed = host.startswith("[") and host.endswith("]")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise UsageError(f"--listen {text}: there is no port in it; {_OF}")
    if (":" in bare) != bracketed or any(char in bare for char in "/@ []"):
        raise UsageError(f"--listen {text}: that is no host; {_OF}")
    return Place("" if bare in _ALL else bare, int(port))


def check_exposure(where: Place, *, tls: bool, tokens: bool, fronted: bool) -> None:
    """Raises UsageError: it would give what it serves to strangers, or tokens to listeners."""
    if where.near:
        return
    if not tokens:
        raise UsageError(
            f"{where.host or 'every address'} can be reached from other machines: name the file of "
            "users with --tokens (duetto bridge token add NAME makes it)"
        )
    if not tls and not fronted:
        raise UsageError(
            f"{where.host or 'every address'} can be reached from other machines, and tokens would "
            "travel in clear text: give --tls-cert and --tls-key, or --behind-tls if a balancer "
            "ends TLS in front"
        )


class Certificate:
    """A certificate and its key, read again when they have been renewed."""

    def __init__(self, cert: Path, key: Path | None) -> None:
        """Without ``key`` it is in the file of the certificate.

        Raises UsageError: they are none, or do not belong together; FileRefused: they cannot be
        read.
        """
        self._cert, self._key = cert, key or cert
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self.context.set_alpn_protocols(["http/1.1"])
        self.ends_unix_s = 0.0
        """When it is over."""
        self._signature = self._now()
        self._load(self.context)

    def look(self) -> bool:
        """Take what is in the files now, for new connections; returns whether they had changed.

        Raises UsageError, FileRefused, once for each change: they are not right (yet), the former
        ones are kept.
        """
        now = self._now()
        if now == self._signature:
            return False
        self._signature = now
        # one half may have been written so far: what does not fit is not taken
        self._load(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))
        self._load(self.context)
        return True

    def _now(self) -> tuple[tuple[int, ...], ...]:
        """What is another after each change of the files."""
        try:
            found = [file.stat() for file in (self._cert, self._key)]
        except OSError:
            return ()
        return tuple((one.st_ino, one.st_size, one.st_ctime_ns) for one in found)

    def _load(self, context: ssl.SSLContext) -> None:
        for file in (self._cert, self._key):
            try:
                file.open("rb").close()
            except OSError as error:
                raise FileRefused(f"{file} cannot be read: {error.strerror}") from error
        try:
            context.load_cert_chain(self._cert, self._key, password=_no_password)
        except _PasswordWanted:
            words = f"the key {self._key} is encrypted: give one without a password"
            raise UsageError(words) from None
        except ssl.SSLError as error:
            raise UsageError(self._wrong(error.reason or "")) from error
        try:
            self.ends_unix_s = _end_of(context, self._cert)
        except ssl.SSLCertVerificationError as error:
            if error.verify_code in _OUT_OF_TIME:
                words = f"the certificate {self._cert} {_OUT_OF_TIME[error.verify_code]}"
                raise UsageError(words) from error
        except ssl.SSLError:
            return  # clients will judge it by their own rules

    def _wrong(self, reason: str) -> str:
        if "MISMATCH" in reason:
            return f"the key {self._key} is not that of the certificate {self._cert}"
        if "TOO_SMALL" in reason or "TOO_WEAK" in reason:
            return f"the certificate {self._cert} is too weak for TLS: make one with a larger key"
        return (
            f"{self._cert} and {self._key} are no certificate (with its chain) and key in PEM: "
            "look for BEGIN CERTIFICATE and BEGIN PRIVATE KEY in them"
        )


def _end_of(context: ssl.SSLContext, cert: Path) -> float:
    """When a certificate ends, in Unix seconds, as a client reads it that trusts it.

    Raises ssl.SSLError: such a client would not take it.
    """
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False
    client.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    client.load_verify_locations(cert)
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    near = client.wrap_bio(to_client, to_server)
    far = context.wrap_bio(to_server, to_client, server_side=True)
    for side in (near, far, near, far):
        with contextlib.suppress(ssl.SSLWantReadError):
            side.do_handshake()
    told = near.getpeercert() or {}
    return ssl.cert_time_to_seconds(str(told["notAfter"])) if "notAfter" in told else 0.0


class _PasswordWanted(Exception):
    pass


def _no_password() -> NoReturn:
    """A service has nobody who could type one."""
    raise _PasswordWanted
