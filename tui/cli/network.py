"""The endpoints of a session: dialled directly, or spoken to through the bridge."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from tui.cli import logfile
from tui.cli.endpoints import ResolvedEndpoint
from tui.cli.models import SessionSetup, withheld
from tui.core.wire.address import Address, secrets_in, shown
from tui.core.wire.endpoint_facts import Capabilities, SocketView
from tui.effects.bridge_process import BridgeProcess
from tui.effects.known_endpoints import Facts, KnownEndpoints
from tui.effects.recorder import Recorder
from tui.effects.system import MonotonicClock
from tui.engine.ports import MAIN_LANE, Wire
from tui.errors import DuettoError
from tui.settings import RehearsalSettings

if TYPE_CHECKING:
    from tui.effects.wire.endpoint import Endpoint


class Network:
    """The endpoints of a session; each is made, and the bridge started, when it is first needed."""

    def __init__(
        self,
        setup: SessionSetup,
        clock: MonotonicClock,
        recorder: Recorder | None = None,
        *,
        forget: bool = False,
    ) -> None:
        """Nothing is dialled yet; ``forget``: learn anew what the endpoints can do."""
        self._forget = forget
        self._declared = dict(setup.models.endpoints)
        self._clock = clock
        self._recorder = recorder
        self._stamp = setup.stamp
        self.aside: Callable[[], bool] = bool
        """Whether the sockets are to let others go first; set before the first is dialled."""
        self._known = KnownEndpoints(setup.paths.state_dir)
        self._endpoints: dict[str, Endpoint] = {}
        self._telling: asyncio.Future[None] | None = None
        self._left: list[Endpoint] = []
        """Replaced by others of the same names; the session leaves them when it can."""
        self._bridge = BridgeProcess(
            [rehearsal_words(setup.settings.rehearsal)],
            endpoints=specifications(setup),
            environment=withheld(setup, os.environ),
            variables=key_variables(setup),
        )

    def wire(self, endpoint: str, lane: str = MAIN_LANE) -> Wire:
        """A lane of an endpoint, by name."""
        return self.endpoint(endpoint).lane(lane)

    def endpoint(self, name: str) -> Endpoint:
        """An endpoint, by name; the rehearsal is one too."""
        if name not in self._endpoints:
            self._endpoints[name] = self._made(name)
        return self._endpoints[name]

    def views(self) -> list[SocketView]:
        """All sockets, for ``/status``."""
        return [view for endpoint in self._endpoints.values() for view in endpoint.views()]

    def shown_address(self, name: str) -> str:
        """Where an endpoint is, without its query."""
        declared = self._declared.get(name)
        return shown(declared.address.url) if declared else "the bridge on this machine"

    def bridged(self, name: str) -> bool:
        """Whether an endpoint is reached through the bridge only."""
        declared = self._declared.get(name)
        return declared is None or declared.bridged

    def is_local(self, name: str) -> bool:
        """Whether the bridge itself runs its models."""
        declared = self._declared.get(name)
        return declared is not None and declared.spec.kind == "local"

    async def warm(self, name: str) -> None:
        """Have the bridge load what it asks this endpoint with, by asking for its models.

        Whoever measures an answer then does not measure that. Never raises.
        """
        from tui.cli.catalogue import STEP_S

        with contextlib.suppress(DuettoError, OSError, TimeoutError):
            address = await self._bridge.address(name)
            parts = urlsplit(address.url)
            path = f"{parts.path.removesuffix('responses')}models"
            head = [f"GET {path} HTTP/1.1", f"Host: {parts.netloc}", "Connection: close"]
            head += [f"{key}: {value}" for key, value in address.headers.items()]
            async with asyncio.timeout(STEP_S):
                reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
                try:
                    writer.write("\r\n".join([*head, "", ""]).encode())
                    await reader.read()
                finally:
                    writer.close()

    def facts(self, name: str) -> Facts:
        """What is remembered of an endpoint."""
        self._known.flush()
        return self._known.all().get(self.shown_address(name), {})

    def adopt(self, setup: SessionSetup, renewed: Collection[str]) -> None:
        """Serve the endpoints of ``setup`` from now on.

        What is declared otherwise by now, or is one of ``renewed``, is dialled anew.
        """
        declared = setup.models.endpoints
        for name in [*self._endpoints]:
            if name in renewed or _way(declared.get(name)) != _way(self._declared.get(name)):
                self._left.append(self._endpoints.pop(name))
        self._declared = dict(declared)
        self._bridge.serve_too(specifications(setup), key_variables(setup))
        if self._bridge.pid is not None:  # sockets to it that stay ask nobody where it is
            self._telling = asyncio.ensure_future(self._tell())

    async def _tell(self) -> None:
        with contextlib.suppress(DuettoError):  # told when an endpoint is dialled
            await self._bridge.address()

    async def close(self) -> None:
        """Close all sockets, end the bridge."""
        for endpoint in self._left:
            await endpoint.close()
        for endpoint in self._endpoints.values():
            await endpoint.close()
        await asyncio.to_thread(self._known.close)
        await self._bridge.close()

    def _made(self, name: str) -> Endpoint:
        # imported after the first paint
        from tui.effects.wire.endpoint import Endpoint
        from tui.effects.wire.link import ConnectionOptions

        declared = self._declared.get(name)
        if declared is None or declared.bridged:
            return Endpoint(
                name,
                self._bridge.address if declared is None else partial(self._bridge.address, name),
                self._clock,
                options=ConnectionOptions().nearby,
                bridged=True,
                via="" if declared is None else shown(declared.address.url),
                recorder=self._recorder,
                stamp=self._stamp,
                aside=self.aside,
            )
        address = declared.address

        def learnt(capabilities: Capabilities) -> None:
            self._known.keep(address.url, capabilities)

        relay = partial(self._bridge.address, name)
        return Endpoint(
            name,
            partial(_direct, declared),
            self._clock,
            options=ConnectionOptions(transport=declared.transport),
            capabilities=Capabilities() if self._forget else self._known.load(address.url),
            on_learnt=learnt,
            fallback=None if declared.transport == "websocket" else relay,
            recorder=self._recorder,
            stamp=self._stamp,
            aside=self.aside,
        )


def _way(endpoint: ResolvedEndpoint | None) -> object:
    """What a socket to it depends on: not what is known of its models."""
    if endpoint is None:
        return None
    return (
        endpoint.address,
        endpoint.spec.kind,
        endpoint.key_env,
        endpoint.transport,
        endpoint.bridged,
        endpoint.in_keyring,
    )


async def _direct(declared: ResolvedEndpoint) -> Address:
    """The address to dial, with its key. Raises EndpointError: the keyring has it no more."""
    if not declared.in_keyring:
        return declared.address
    address = await asyncio.to_thread(declared.keyed)
    logfile.mask(secrets_in(address))
    return address


def specifications(setup: SessionSetup) -> dict[str, dict[str, Any]]:
    """All endpoints as the bridge is told of them: plain data, no keys."""
    models = setup.models
    specs = {name: one.spec for name, one in models.endpoints.items()} | models.fallbacks
    return {name: msgspec.to_builtins(spec) for name, spec in specs.items()}


def key_variables(setup: SessionSetup) -> dict[str, str]:
    """The variables that hold keys of the endpoints, for the bridge alone."""
    environment = setup.keys
    return {name: environment[name] for name in setup.models.key_variables & set(environment)}


def rehearsal_words(rehearsal: RehearsalSettings) -> str:
    """What the bridge is told of the ``[rehearsal]`` table."""
    said = msgspec.structs.asdict(rehearsal)
    return msgspec.json.encode({k: v for k, v in said.items() if v is not None}).decode()
