"""A team's admission: tokens, limits, `/healthz`, `/metrics`, and the account of all of it."""

from __future__ import annotations

import asyncio
import contextlib
import http
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from websockets.http11 import Request, Response

from tui.bridge.admission import as_bytes, bearer, page, refused, respond, unauthorized
from tui.bridge.connection import Connection
from tui.bridge.team.journal import Journal
from tui.bridge.team.limits import Limits
from tui.bridge.team.metrics import Account, Metrics
from tui.bridge.team.roster import Guest, Roster
from tui.bridge.team.visit import Quota, Visit, account_of
from tui.core.wire.address import is_loopback
from tui.core.wire.server.responses import StoredResponses
from tui.core.wire.server.run import Run

if TYPE_CHECKING:
    from tui.bridge.routes import Endpoints

HEALTH_PATH = "/healthz"
METRICS_PATH = "/metrics"
LOOK_S = 0.25
"""How often the file of users is looked at: who is revoked is out within a second."""
_ADDRESS = re.compile(r"[0-9A-Fa-f.:\[\]]{2,64}")
_FORWARDED = ("Forwarded", "X-Forwarded-For", "Via", "X-Real-IP")


class Gate:
    """See `admission.Admission`."""

    def __init__(
        self, roster: Roster, journal: Journal, defaults: Limits, *, fronted: bool = False
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
        self._roster = roster
        self._journal = journal
        self._defaults = defaults
        self._fronted = fronted
        self._quotas: dict[str, Quota] = {}
        """By user."""
        self._empty = asyncio.Event()
        self._empty.set()

    @property
    def visits(self) -> list[Visit]:
        """The connections that are open."""
        return [visit for quota in self._quotas.values() for visit in quota.visits]

    async def page(self, peer: str, request: Request) -> Response | None:
        """See `admission.Admission`: whether it is well, and its figures."""
        path = request.path.partition("?")[0]
        if path == HEALTH_PATH:
            ill = http.HTTPStatus.SERVICE_UNAVAILABLE
            status = ill if self.draining else http.HTTPStatus.OK
            return respond(status, {"status": "draining" if self.draining else "ok"})
        if path != METRICS_PATH:
            return None
        if not self._is_near(peer, request) and self._guest(request) is None:
            return self._stranger(peer, request)
        data, content_type = await asyncio.to_thread(_exposed, self.metrics, self._gauges())
        return page(http.HTTPStatus.OK, data, content_type)

    def refusal(self, peer: str, request: Request) -> Response | None:
        """See `admission.Admission`."""
        guest = self._guest(request)
        if guest is None:
            return self._stranger(peer, request)
        if self.draining:
            words = "This bridge is restarting: dial again."
            return self._busy(http.HTTPStatus.SERVICE_UNAVAILABLE, "draining", words)
        quota = self._quota(guest)
        connects = request.method == "POST" or request.headers.get_all("Upgrade")
        most = quota.limits.connections if connects else None
        if most is not None and len(quota.visits) >= most:
            self.turned_away("connections", user=guest.name, status=429)
            words = f"You have {most} connections open, as many as you may: close one."
            return self._busy(http.HTTPStatus.TOO_MANY_REQUESTS, "rate_limit_exceeded", words)
        return None

    @contextlib.contextmanager
    def visit(self, connection: Connection) -> Iterator[Visit]:
        """See `admission.Admission`."""
        guest = self._guest(connection.request)
        # who was revoked while the upgrade was under way is sent off like all others
        known = guest or Guest("", "", Limits())
        quota = self._quota(known)
        visit = Visit(self, known, quota, connection)
        began_s = asyncio.get_running_loop().time()
        quota.visits.add(visit)
        self._empty.clear()
        self.metrics.connections += 1
        where = self._peer(connection.peer, connection.request)
        self._journal.note("connected", user=known.name, peer=where)
        if guest is None:
            visit.end(1008, "This token was revoked")
        try:
            yield visit
        finally:
            quota.visits.discard(visit)
            if not self.visits:
                self._empty.set()
            took_s = asyncio.get_running_loop().time() - began_s
            said = {"responses": visit.responses, "seconds": took_s}
            self._journal.note("disconnected", user=known.name, **said)

    def drain(self) -> None:
        """Let nobody in; connections end when nothing runs on them any more."""
        self.draining = True
        self._journal.note("draining", connections=len(self.visits))
        for visit in self.visits:
            visit.leave()

    async def emptied(self) -> None:
        """Wait until nobody is connected any more."""
        await self._empty.wait()

    async def watch(self) -> None:
        """Look at the file of users for good."""
        while True:
            await asyncio.sleep(LOOK_S)
            await self.look()

    async def look(self) -> None:
        """Read the users again if they have changed; who is revoked is out."""
        if not await asyncio.to_thread(self._roster.look):
            return
        self._journal.note("users_changed", users=len(self._roster), why=self._roster.wrong or None)
        for visit in self.visits:
            if not self._roster.knows(visit.guest):
                visit.end(1008, "This token was revoked")
                visit.quota.shelf = StoredResponses()  # the name may be given to somebody else
        gone = [name for name, quota in self._quotas.items() if not quota.visits]
        names = {guest.name: guest for guest in self._roster.guests()}
        for name in gone:
            if name not in names:
                del self._quotas[name]
        for name in self._quotas.keys() & names:
            self._quota(names[name])

    def account_of(self, run: Run, seconds: float, worded_s: float | None) -> Account:
        """What is counted and logged of a response that is over."""
        told = run.served.get("metadata") or {}
        name = str(told.get("duetto_endpoint") or "")
        target = self.endpoints.targets.get(name) if self.endpoints is not None else None
        where = (name, target.spec.kind, target.spec.provider) if target else (name, "", "")
        return account_of(run, where, (seconds, worded_s))

    def count(self, user: str, account: Account) -> None:
        """Count and log a response."""
        self.metrics.count(account)
        self._journal.note(
            "response",
            user=user,
            endpoint=account.endpoint or None,
            model=account.model,
            status=account.status,
            code=account.code or None,
            seconds=account.seconds,
            ttft_s=account.ttft_s,
            **{f"{name}_tokens": count for name, count in account.tokens.items()},
        )

    def turned_away(self, reason: str, **more: Any) -> None:
        """Count and log somebody or something that was not let in."""
        self.metrics.turned_away[reason] += 1
        self._journal.note("turned_away", reason=reason, **more)

    def _guest(self, request: Request) -> Guest | None:
        return self._roster.find(as_bytes(bearer(request)))

    def _quota(self, guest: Guest) -> Quota:
        quota = self._quotas.setdefault(guest.name, Quota())
        quota.limits = guest.limits.over(self._defaults)
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
            "connections": len(self.visits),
            "responses_in_flight": sum(quota.in_flight for quota in quotas),
            "users": len(self._roster),
            "users_connected": sum(bool(quota.visits) for quota in quotas),
            "draining": self.draining,
            "users_file_ok": not self._roster.wrong,
            "certificate_ends_seconds": self.certificate_ends(),
            "log_lines_dropped": self._journal.dropped,
        }


def _exposed(metrics: Metrics, gauges: dict[str, float]) -> tuple[bytes, str]:
    from tui.bridge.team.exposition import exposition

    return exposition(metrics, gauges)
