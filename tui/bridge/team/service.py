"""A team's bridge as a process: it begins, looks after its files, drains at SIGTERM, and ends."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tui.bridge.endpoints.base import Target
from tui.bridge.endpoints.kinds import load
from tui.bridge.process_limits import prepare, run
from tui.bridge.rehearsal.casting import Rehearsal
from tui.bridge.server import Bridge
from tui.bridge.team.gate import LOOK_S, Gate
from tui.bridge.team.journal import Errors, Journal
from tui.bridge.team.limits import Limits
from tui.bridge.team.listening import Certificate, Place, check_exposure
from tui.bridge.team.roster import Roster
from tui.bridge.team.users import User, hash_of, new_token
from tui.errors import DuettoError, UsageError

DRAIN_S = 30.0
LOCAL_USER = "local"
_LOGGERS = ("tui", "asyncio", "websockets")


@dataclass(frozen=True, slots=True)
class Plan:
    """How a team's bridge serves."""

    place: Place
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
    """A bridge with its gate, from its beginning to its end."""

    def __init__(self, plan: Plan, rehearsal: Rehearsal, targets: Mapping[str, Target]) -> None:
        """Reads all files. Raises UsageError, FileRefused: one is wrong, or it may not listen."""
        self._plan = plan
        tls, tokens = plan.cert is not None, plan.tokens is not None
        if plan.key is not None and plan.cert is None:
            raise UsageError("--tls-key is of no use without --tls-cert")
        check_exposure(plan.place, tls=tls, tokens=tokens, fronted=plan.fronted)
        self._certificate = Certificate(plan.cert, plan.key) if plan.cert is not None else None
        self._token = new_token()
        local = {LOCAL_USER: User(hash_of(self._token.encode()))}
        roster = Roster(plan.tokens, None if tokens else local)
        self._journal = Journal(plan.log)
        self.gate = Gate(roster, self._journal, plan.limits, fronted=plan.fronted)
        self.bridge = Bridge(rehearsal, max_age_s=plan.max_age_s, admission=self.gate)
        self.bridge.endpoints.targets.update(targets)
        load(targets.values())
        self.gate.endpoints = self.bridge.endpoints
        if (certificate := self._certificate) is not None:
            self.gate.certificate_ends = lambda: certificate.ends_unix_s
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
            self._journal.note("ended")
        finally:
            for logger, (handler, propagated) in errors.items():
                logger.removeHandler(handler)
                logger.propagate = propagated
            await asyncio.to_thread(self._journal.close)

    async def _begin(self) -> None:
        where = self._plan.place
        tls = self._certificate.context if self._certificate is not None else None
        try:
            await self.bridge.start(where.port, where.host or None, tls)
        except OSError as error:
            at = f"{where.host or 'all addresses'}, port {where.port}"
            why = error.strerror or str(error)
            raise UsageError(f"the bridge cannot listen at {at}: {why}") from error
        prepare()
        url = where.url(self.bridge.port, tls=tls is not None)
        told = {} if self._plan.tokens is not None else {"token": self._token}
        print(json.dumps({"url": url, **told}), flush=True)
        self._journal.note("listening", url=url)

    async def _drain(self) -> None:
        """Let running responses end, for so long and until a second signal."""
        self.gate.drain()
        waiting = {asyncio.create_task(self.gate.emptied()), asyncio.create_task(self._hurry())}
        await asyncio.wait(waiting, timeout=self._plan.drain_s, return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()
        for visit in self.gate.visits:
            visit.end(1012, "The bridge is restarting")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1):
                await self.gate.emptied()

    async def _hurry(self) -> None:
        await self._hurried.wait()

    async def _look(self) -> None:
        """Look at the files for good, at once when a SIGHUP comes."""
        while True:
            self._looked.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await self._looked.wait()
            await self.gate.look()
            if self._certificate is not None:
                await self._look_at_certificate(self._certificate)

    async def _look_at_certificate(self, certificate: Certificate) -> None:
        try:
            changed = await asyncio.to_thread(certificate.look)
        except DuettoError as error:
            # perhaps one half has been written so far: it is looked at again when it changes
            self._journal.note("certificate_refused", why=str(error))
            return
        if changed:
            self._journal.note("certificate_changed")

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
        self._journal.reopen()
        self._looked.set()

    def _take_errors(self) -> dict[logging.Logger, tuple[logging.Handler, bool]]:
        """What libraries and we log as wrong goes into the journal, without its words."""
        before: dict[logging.Logger, tuple[logging.Handler, bool]] = {}
        for logger in map(logging.getLogger, _LOGGERS):
            before[logger] = Errors(self._journal), logger.propagate
            logger.addHandler(before[logger][0])
            logger.propagate = False
        return before


def serve_team(plan: Plan, rehearsal: Rehearsal, targets: Mapping[str, Target]) -> None:
    """Serve until a signal.

    Raises UsageError, FileRefused: see `Service`, and an address that is taken.
    """

    async def serve() -> None:
        await Service(plan, rehearsal, targets).run()

    run(serve())
