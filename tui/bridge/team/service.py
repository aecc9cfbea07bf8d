"""A team's bridge as a process: where it listens, its certificate, draining, and its end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import signal
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from msgspec import Struct, field

from tui.bridge.endpoints.base import Target
from tui.bridge.endpoints.kinds import load
from tui.bridge.rehearsal.endpoint import Rehearsal
from tui.bridge.server import Bridge, prepare, run
from tui.bridge.team.access_control import LOOK_S, TeamAccess
from tui.bridge.team.access_log import AccessLog, FaultHandler
from tui.bridge.team.users_file import Limits, User, UsersFile, hash_of, new_token
from tui.core.wire.address import is_loopback
from tui.errors import DuettoError, FileRefused, UsageError

_OF = "use HOST:PORT, as 0.0.0.0:8443, [::1]:8443 or bridge.example.com:8443"
_ALL = ("", "*")
_OUT_OF_TIME = {9: "is not valid yet: is this machine's clock right?", 10: "has ended: renew it"}
"""OpenSSL's codes of certificates whose time has not come, or is over."""


class ListenAddress(Struct, frozen=True):
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


def listen_address(text: str) -> ListenAddress:
    """Read ``HOST:PORT``. Raises UsageError."""
    host, colon, port = text.strip().rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    bracketed = host.startswith("[") and host.endswith("]")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise UsageError(f"--listen {text}: there is no port in it; {_OF}")
    if (":" in bare) != bracketed or any(char in bare for char in "/@ []"):
        raise UsageError(f"--listen {text}: that is not a host; {_OF}")
    return ListenAddress("" if bare in _ALL else bare, int(port))


def check_exposure(where: ListenAddress, *, tls: bool, tokens: bool, fronted: bool) -> None:
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
            f"{self._cert} and {self._key} are not a certificate (with its chain) and key in PEM: "
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


DRAIN_S = 30.0
LOCAL_USER = "local"
_LOGGERS = ("tui", "asyncio", "websockets")


class ServiceOptions(Struct, frozen=True):
    """How a team's bridge serves."""

    place: ListenAddress
    tokens: Path | None = None
    """The file of users; None: one user, whose token is said at the beginning."""
    cert: Path | None = None
    key: Path | None = None
    fronted: bool = False
    """A balancer in front ends TLS."""
    limits: Limits = field(default_factory=Limits)
    """Of users who have none of their own."""
    log: Path | None = None
    """None: stderr."""
    drain_s: float = DRAIN_S
    max_age_s: float | None = None


class Service:
    """A bridge with its access control, from its beginning to its end."""

    def __init__(
        self, options: ServiceOptions, rehearsal: Rehearsal, targets: Mapping[str, Target]
    ) -> None:
        """Reads all files. Raises UsageError, FileRefused: one is wrong, or it may not listen."""
        self._options = options
        tls, tokens = options.cert is not None, options.tokens is not None
        if options.key is not None and options.cert is None:
            raise UsageError("--tls-key is of no use without --tls-cert")
        check_exposure(options.place, tls=tls, tokens=tokens, fronted=options.fronted)
        self._certificate = (
            Certificate(options.cert, options.key) if options.cert is not None else None
        )
        self._token = new_token()
        local = {LOCAL_USER: User(hash_of(self._token.encode()))}
        users_file = UsersFile(options.tokens, None if tokens else local)
        self._log = AccessLog(options.log)
        self.access = TeamAccess(users_file, self._log, options.limits, fronted=options.fronted)
        self.bridge = Bridge(rehearsal, max_age_s=options.max_age_s, access=self.access)
        self.bridge.endpoints.targets.update(targets)
        load(targets.values())
        self.access.endpoints = self.bridge.endpoints
        if (certificate := self._certificate) is not None:
            self.access.certificate_ends = lambda: certificate.ends_unix_s
        self._ended = asyncio.Event()
        self._hurried = asyncio.Event()
        self._looked = asyncio.Event()

    async def run(self) -> None:
        """Serve until a signal. Raises UsageError: it cannot listen there."""
        self._listen_to_signals()
        errors = self._take_errors()
        try:
            await self._begin()
            looking = asyncio.create_task(self._look())
            await self._ended.wait()
            await self._drain()
            looking.cancel()
            await self.bridge.close()
            self._log.note("ended")
        finally:
            for logger, (handler, propagated) in errors.items():
                logger.removeHandler(handler)
                logger.propagate = propagated
            await asyncio.to_thread(self._log.close)

    async def _begin(self) -> None:
        where = self._options.place
        tls = self._certificate.context if self._certificate is not None else None
        try:
            await self.bridge.start(where.port, where.host or None, tls)
        except OSError as error:
            at = f"{where.host or 'all addresses'}, port {where.port}"
            why = error.strerror or str(error)
            raise UsageError(f"the bridge cannot listen at {at}: {why}") from error
        prepare()
        url = where.url(self.bridge.port, tls=tls is not None)
        told = {} if self._options.tokens is not None else {"token": self._token}
        print(json.dumps({"url": url, **told}), flush=True)
        self._log.note("listening", url=url)

    async def _drain(self) -> None:
        """Let running responses end, for so long and until a second signal."""
        self.access.drain()
        waiting: set[asyncio.Task[object]] = {
            asyncio.create_task(self.access.emptied()),
            asyncio.create_task(self._hurried.wait()),
        }
        await asyncio.wait(
            waiting, timeout=self._options.drain_s, return_when=asyncio.FIRST_COMPLETED
        )
        for task in waiting:
            task.cancel()
        for admitted in self.access.connections:
            admitted.end(1012, "The bridge is restarting")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1):
                await self.access.emptied()

    async def _look(self) -> None:
        """Look at the files for good, at once when a SIGHUP comes."""
        while True:
            self._looked.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await self._looked.wait()
            await self.access.look()
            if self._certificate is not None:
                await self._look_at_certificate(self._certificate)

    async def _look_at_certificate(self, certificate: Certificate) -> None:
        try:
            changed = await asyncio.to_thread(certificate.look)
        except DuettoError as error:
            # perhaps one half has been written so far: it is looked at again when it changes
            self._log.note("certificate_refused", why=str(error))
            return
        if changed:
            self._log.note("certificate_changed")

    def _listen_to_signals(self) -> None:
        loop = asyncio.get_running_loop()
        with contextlib.suppress(NotImplementedError):  # Windows
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, self._signalled)
            loop.add_signal_handler(signal.SIGHUP, self._reread)

    def _signalled(self) -> None:
        """The first one drains, the second one ends."""
        (self._hurried if self._ended.is_set() else self._ended).set()

    def _reread(self) -> None:
        self._log.reopen()
        self._looked.set()

    def _take_errors(self) -> dict[logging.Logger, tuple[logging.Handler, bool]]:
        """What libraries and we log as wrong goes into the access log, without its words."""
        before: dict[logging.Logger, tuple[logging.Handler, bool]] = {}
        for logger in map(logging.getLogger, _LOGGERS):
            before[logger] = FaultHandler(self._log), logger.propagate
            logger.addHandler(before[logger][0])
            logger.propagate = False
        return before


def serve_team(
    options: ServiceOptions, rehearsal: Rehearsal, targets: Mapping[str, Target]
) -> None:
    """Serve until a signal.

    Raises UsageError, FileRefused: see `Service`, and an address that is taken.
    """

    async def serve() -> None:
        await Service(options, rehearsal, targets).run()

    run(serve())
