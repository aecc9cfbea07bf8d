"""Who may use a team's bridge: tokens, limits, `/healthz`, `/metrics`, and the record of it all."""

from __future__ import annotations

import asyncio
import contextlib
import http
import re
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from msgspec.structs import replace
from websockets.http11 import Request, Response

from tui.bridge.access import as_bytes, bearer, json_response, plain_response, refused, unauthorized
from tui.bridge.client_connection import ClientConnection, Responder, RunJob
from tui.bridge.client_transport import ClientTransport
from tui.bridge.endpoints.response_writer import CHARS_PER_TOKEN, estimated_input
from tui.bridge.team.access_log import AccessLog
from tui.bridge.team.metrics import Metrics, ResponseRecord, exposition, tokens_of
from tui.bridge.team.users_file import Limits, RateWindow, TeamUser, UsersFile, whole_seconds
from tui.core.wire.address import is_loopback
from tui.core.wire.rate_limits import pause_header
from tui.core.wire.server.protocol import StoredResponses
from tui.core.wire.server.run import Run

if TYPE_CHECKING:
    from tui.bridge.routing import Endpoints


ANSWER_CLOSE_S = 0.3
"""A client is given so long to say goodbye before its socket is cut."""

_RATE = re.compile(r"@\d+(\.\d+)?$")
"""Behind a model's name: the tokens a second that its user wants to see."""
_NAME = re.compile(r"[\w.:/@+-]{0,128}")


class LimitRefusal(NamedTuple):
    """Why a response may not begin now."""

    status: int
    code: str
    words: str
    pause_s: int | None = None


class UserQuota:
    """What one user has taken, over all connections."""

    def __init__(self) -> None:
        self.limits = Limits()
        self.stored = StoredResponses()
        self.connections: set[TeamConnection] = set()
        self.in_flight = 0
        self._requests = RateWindow()
        self._tokens = RateWindow()

    def refusal(self, now_s: float) -> LimitRefusal | None:
        """Why nothing more may begin; None: it may, and is counted."""
        limits = self.limits
        if limits.in_flight is not None and self.in_flight >= limits.in_flight:
            words = f"{limits.in_flight} of your responses are in flight: wait for one to end."
            return _too_much(words, 1)
        pause_s = self._requests.pause_s(limits.requests_minute, now_s)
        if pause_s:
            words = f"You may ask for {limits.requests_minute} responses a minute"
            return _too_much(words, whole_seconds(pause_s))
        pause_s = self._tokens.pause_s(limits.tokens_minute, now_s)
        if pause_s:
            words = f"You may use {limits.tokens_minute} tokens a minute"
            return _too_much(words, whole_seconds(pause_s))
        self._requests.take(1, now_s)
        return None

    def used(self, tokens: int, now_s: float) -> None:
        """Count the tokens of a response that has ended."""
        if tokens:
            self._tokens.take(tokens, now_s)


class TeamConnection:
    """See `access.TeamConnection`."""

    def __init__(
        self, access: TeamAccess, user: TeamUser, quota: UserQuota, connection: ClientTransport
    ) -> None:
        self.user = user
        self.quota = quota
        self.responses = 0
        self._access = access
        self._connection = connection
        self._client: ClientConnection | None = None
        self._ending: asyncio.Task[None] | None = None

    @property
    def stored(self) -> StoredResponses:
        """See `access.TeamConnection`."""
        return self.quota.stored

    def guarded(self, responder: Responder) -> Responder:
        """See `access.TeamConnection`."""
        return _LimitedResponder(responder, self)

    def attached(self, client: ClientConnection) -> None:
        """See `access.TeamConnection`."""
        self._client = client
        if self._access.draining:
            client.leave()

    def leave(self) -> None:
        """End when nothing runs any more.

        What is asked meanwhile beside a running response is answered: any word that sends the
        client elsewhere would cost it that response.
        """
        if self._client is not None:
            self._client.leave()

    def end(self, code: int, reason: str) -> None:
        """End now, whatever runs, and whether the client answers or not."""
        if self._ending is None:
            self._ending = asyncio.create_task(self._end(code, reason))

    async def _end(self, code: int, reason: str) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ANSWER_CLOSE_S):
                await self._connection.close(code, reason)
        self._connection.abort()

    def begin(self, run: Run) -> LimitRefusal | None:
        """Whether a response may begin; None: it may."""
        refusal = self.quota.refusal(time.monotonic())
        if refusal is not None:
            self._access.turned_away(refusal.code, user=self.user.name, status=refusal.status)
        return refusal

    def ended(self, run: Run, began_s: float, worded_s: float | None) -> None:
        """Keep account of a response that is over."""
        now_s = time.monotonic()
        record = self._access.record_of(run, now_s - began_s, worded_s)
        self.quota.used(record.tokens.get("input", 0) + record.tokens.get("output", 0), now_s)
        self._access.count(self.user.name, record)


class _LimitedResponder:
    """A responder with the user's limits before it and the account behind it."""

    def __init__(self, responder: Responder, admitted: TeamConnection) -> None:
        self._responder = responder
        self._admitted = admitted

    async def warm(self, request: Mapping[str, Any]) -> None:
        """See `client.Responder`."""
        await self._responder.warm(request)

    async def respond(self, job: RunJob) -> None:
        """See `client.Responder`."""
        run, quota = job.run, self._admitted.quota
        refusal = self._admitted.begin(run)
        if refusal is not None:
            headers = pause_header(refusal.pause_s)
            run.refuse(refusal.status, refusal.code, refusal.words, None, headers)
            return
        watch = _Watch(run, job.flush)
        quota.in_flight += 1
        self._admitted.responses += 1
        try:
            await self._responder.respond(replace(job, flush=watch.flush))
        finally:
            quota.in_flight -= 1
            watch.look()
            self._admitted.ended(run, watch.began_s, watch.worded_s)


class _Watch:
    """Sees when the first text of an answer goes out."""

    def __init__(self, run: Run, flush: Callable[[], Awaitable[None]]) -> None:
        self.began_s = time.monotonic()
        self.worded_s: float | None = None
        self._run = run
        self._flush = flush

    def look(self) -> None:
        """Note the time if there is text now."""
        if self.worded_s is None and self._run.chars:
            self.worded_s = time.monotonic() - self.began_s

    def flush(self) -> Awaitable[None]:
        """Write what was said."""
        self.look()
        return self._flush()


def _too_much(words: str, pause_s: int) -> LimitRefusal:
    if not words.endswith("."):
        words += f": wait {pause_s} s."
    return LimitRefusal(429, "rate_limit_exceeded", words, pause_s)


def record_of(
    run: Run, where: tuple[str, str, str], times: tuple[float, float | None]
) -> ResponseRecord:
    """A run that is over; ``where``: endpoint, kind, provider; ``times``: whole, and TTFT.

    Of one whose client left nobody told the tokens, and leaving must not make them free.
    """
    ending = run.ending or {"status": "abandoned", "usage": _estimated(run)}
    model = run.served.get("model") or _RATE.sub("", str(run.request.get("model") or ""))
    return ResponseRecord(
        *where,
        _name(str(model)),
        ending["status"],
        _name(ending.get("code") or ending.get("reason") or ""),
        tokens_of(ending.get("usage")),
        *times,
    )


def _name(text: str) -> str:
    """A model or a code; whoever says a sentence instead is not repeated in a log."""
    return text if _NAME.fullmatch(text) else "other"


def _estimated(run: Run) -> dict[str, int]:
    output = -(-run.chars // CHARS_PER_TOKEN)
    return {"input_tokens": estimated_input(run), "output_tokens": output}


HEALTH_PATH = "/healthz"
METRICS_PATH = "/metrics"
LOOK_S = 0.25
"""How often the file of users is looked at: who is revoked is out within a second."""
_ADDRESS = re.compile(r"[0-9A-Fa-f.:\[\]]{2,64}")
_FORWARDED = ("Forwarded", "X-Forwarded-For", "Via", "X-Real-IP")


class TeamAccess:
    """See `access.AccessControl`."""

    def __init__(
        self, users_file: UsersFile, log: AccessLog, defaults: Limits, *, fronted: bool = False
    ) -> None:
        """``defaults``: limits of users who have none of their own.

        ``fronted``: a balancer is in front, so that nobody's address says where they are.
        """
        self.metrics = Metrics()
        self.draining = False
        self.endpoints: Endpoints | None = None
        """Names kinds and providers in figures and log."""
        self.certificate_ends: Callable[[], float] = float
        """When the certificate is over, in Unix seconds; 0: there is none."""
        self._users = users_file
        self._log = log
        self._defaults = defaults
        self._fronted = fronted
        self._quotas: dict[str, UserQuota] = {}
        """By user."""
        self._empty = asyncio.Event()
        self._empty.set()

    @property
    def connections(self) -> list[TeamConnection]:
        """The connections that are open."""
        return [admitted for quota in self._quotas.values() for admitted in quota.connections]

    async def page(self, peer: str, request: Request) -> Response | None:
        """See `access.AccessControl`: whether it is well, and its figures."""
        path = request.path.partition("?")[0]
        if path == HEALTH_PATH:
            ill = http.HTTPStatus.SERVICE_UNAVAILABLE
            status = ill if self.draining else http.HTTPStatus.OK
            return json_response(status, {"status": "draining" if self.draining else "ok"})
        if path != METRICS_PATH:
            return None
        if not self._is_near(peer, request) and self._user(request) is None:
            return self._stranger(peer, request)
        data, content_type = await asyncio.to_thread(exposition, self.metrics, self._gauges())
        return plain_response(http.HTTPStatus.OK, data, content_type)

    def refusal(self, peer: str, request: Request) -> Response | None:
        """See `access.AccessControl`."""
        user = self._user(request)
        if user is None:
            return self._stranger(peer, request)
        if self.draining:
            words = "This bridge is restarting: dial again."
            return self._busy(http.HTTPStatus.SERVICE_UNAVAILABLE, "draining", words)
        quota = self._quota(user)
        connects = request.method == "POST" or request.headers.get_all("Upgrade")
        most = quota.limits.connections if connects else None
        if most is not None and len(quota.connections) >= most:
            self.turned_away("connections", user=user.name, status=429)
            words = f"You have {most} connections open, as many as you may: close one."
            return self._busy(http.HTTPStatus.TOO_MANY_REQUESTS, "rate_limit_exceeded", words)
        return None

    @contextlib.contextmanager
    def admit(self, connection: ClientTransport) -> Iterator[TeamConnection]:
        """See `access.AccessControl`."""
        user = self._user(connection.request)
        # who was revoked while the upgrade was under way is sent off like all others
        known = user or TeamUser("", "", Limits())
        quota = self._quota(known)
        admitted = TeamConnection(self, known, quota, connection)
        began_s = asyncio.get_running_loop().time()
        quota.connections.add(admitted)
        self._empty.clear()
        self.metrics.connections += 1
        where = self._peer(connection.peer, connection.request)
        self._log.note("connected", user=known.name, peer=where)
        if user is None:
            admitted.end(1008, "This token was revoked")
        try:
            yield admitted
        finally:
            quota.connections.discard(admitted)
            if not self.connections:
                self._empty.set()
            took_s = asyncio.get_running_loop().time() - began_s
            said = {"responses": admitted.responses, "seconds": took_s}
            self._log.note("disconnected", user=known.name, **said)

    def drain(self) -> None:
        """Let nobody in; connections end when nothing runs on them any more."""
        self.draining = True
        self._log.note("draining", connections=len(self.connections))
        for admitted in self.connections:
            admitted.leave()

    async def emptied(self) -> None:
        """Wait until nobody is connected any more."""
        await self._empty.wait()

    async def look(self) -> None:
        """Read the users again if they have changed; who is revoked is out."""
        if not await asyncio.to_thread(self._users.look):
            return
        self._log.note("users_changed", users=len(self._users), why=self._users.wrong or None)
        for admitted in self.connections:
            if not self._users.knows(admitted.user):
                admitted.end(1008, "This token was revoked")
                admitted.quota.stored = StoredResponses()  # the name may be given to somebody else
        gone = [name for name, quota in self._quotas.items() if not quota.connections]
        names = {user.name: user for user in self._users.users()}
        for name in gone:
            if name not in names:
                del self._quotas[name]
        for name in self._quotas.keys() & names:
            self._quota(names[name])

    def record_of(self, run: Run, seconds: float, worded_s: float | None) -> ResponseRecord:
        """What is counted and logged of a response that is over."""
        told = run.served.get("metadata") or {}
        name = str(told.get("duetto_endpoint") or "")
        target = self.endpoints.targets.get(name) if self.endpoints is not None else None
        where = (name, target.spec.kind, target.spec.provider) if target else (name, "", "")
        return record_of(run, where, (seconds, worded_s))

    def count(self, user: str, record: ResponseRecord) -> None:
        """Count and log a response."""
        self.metrics.count(record)
        self._log.note(
            "response",
            user=user,
            endpoint=record.endpoint or None,
            model=record.model,
            status=record.status,
            code=record.code or None,
            seconds=record.seconds,
            ttft_s=record.ttft_s,
            **{f"{name}_tokens": count for name, count in record.tokens.items()},
        )

    def turned_away(self, reason: str, **more: Any) -> None:
        """Count and log somebody or something that was not let in."""
        self.metrics.turned_away[reason] += 1
        self._log.note("turned_away", reason=reason, **more)

    def _user(self, request: Request) -> TeamUser | None:
        return self._users.find(as_bytes(bearer(request)))

    def _quota(self, user: TeamUser) -> UserQuota:
        quota = self._quotas.setdefault(user.name, UserQuota())
        quota.limits = user.limits.over(self._defaults)
        return quota

    def _peer(self, peer: str, request: Request) -> str:
        """Where somebody comes from, as the balancer in front says it if there is one."""
        told = request.headers.get_all("X-Forwarded-For")
        forwarded = told[-1].rpartition(",")[2].strip() if self._fronted and told else ""
        return forwarded if _ADDRESS.fullmatch(forwarded) else peer

    def _stranger(self, peer: str, request: Request) -> Response:
        self.turned_away("token", peer=self._peer(peer, request), status=401)
        return unauthorized("No user of this bridge has that token.")

    def _busy(self, status: http.HTTPStatus, code: str, words: str) -> Response:
        answer = refused(status, words, code=code)
        answer.headers["Retry-After"] = "1"
        return answer

    def _is_near(self, peer: str, request: Request) -> bool:
        """Whether somebody on this machine asks, and nobody through something on this machine.

        The name they ask for tells a web page that has made its own name mean this machine.
        """
        if self._fronted or any(request.headers.get_all(name) for name in _FORWARDED):
            return False
        try:
            host = urlsplit(f"//{request.headers.get('Host', '')}").hostname or ""
        except ValueError:
            return False
        return is_loopback(peer) and is_loopback(host)

    def _gauges(self) -> dict[str, float]:
        quotas = self._quotas.values()
        return {
            "connections": len(self.connections),
            "responses_in_flight": sum(quota.in_flight for quota in quotas),
            "users": len(self._users),
            "users_connected": sum(bool(quota.connections) for quota in quotas),
            "draining": self.draining,
            "users_file_ok": not self._users.wrong,
            "certificate_ends_seconds": self.certificate_ends(),
            "log_lines_dropped": self._log.dropped,
        }
