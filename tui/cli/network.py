"""The endpoints of a session: dialled directly, or spoken to through the bridge."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from tui.cli import logfile
from tui.cli.dialled import ResolvedEndpoint
from tui.cli.workplace import Workplace, withheld
from tui.core.wire.address import Address, secrets_in, shown
from tui.core.wire.endpoint_facts import Capabilities, SocketView
from tui.effects.bridge_process import BridgeProcess
from tui.effects.known_endpoints import Facts, KnownEndpoints
from tui.effects.recorder import Recorder
from tui.effects.system import MonotonicClock
from tui.engine.ports import MAIN_LANE, Wire
from tui.settings import RehearsalSettings

if TYPE_CHECKING:
    from tui.effects.wire.endpoint import Endpoint


class Network:
    """The endpoints of a session; each is made, and the bridge started, when it is first needed."""

    def __init__(
        self,
        workplace: Workplace,
        clock: MonotonicClock,
        recorder: Recorder | None = None,
        *,
        forget: bool = False,
    ) -> None:
        """Nothing is dialled yet; ``forget``: learn anew what the endpoints can do."""
        self._forget = forget
        self._declared = workplace.models.endpoints
        self._clock = clock
        self._recorder = recorder
        self._stamp = workplace.stamp
        self.aside: Callable[[], bool] = bool
        """Whether the sockets are to let others go first; set before the first is dialled."""
        self._known = KnownEndpoints(workplace.paths.state_dir)
        self._endpoints: dict[str, Endpoint] = {}
        self._bridge = BridgeProcess(
            bridge_arguments(workplace.settings.rehearsal),
            endpoints=specifications(workplace),
            environment=withheld(workplace, os.environ),
            variables=key_variables(workplace, os.environ),
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

    def facts(self, name: str) -> Facts:
        """What is remembered of an endpoint."""
        self._known.flush()
        return self._known.all().get(self.shown_address(name), {})

    async def close(self) -> None:
        """Close all sockets, end the bridge."""
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


async def _direct(declared: ResolvedEndpoint) -> Address:
    """The address to dial, with its key. Raises EndpointError: the keyring has it no more."""
    if not declared.in_keyring:
        return declared.address
    address = await asyncio.to_thread(declared.keyed)
    logfile.mask(secrets_in(address))
    return address


def specifications(workplace: Workplace) -> dict[str, dict[str, Any]]:
    """All endpoints as the bridge is told of them: plain data, no keys."""
    models = workplace.models
    specs = {name: one.spec for name, one in models.endpoints.items()} | models.fallbacks
    return {name: msgspec.to_builtins(spec) for name, spec in specs.items()}


def key_variables(workplace: Workplace, environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that hold keys of the endpoints, for the bridge alone."""
    return {name: environment[name] for name in workplace.models.key_variables & set(environment)}


def bridge_arguments(rehearsal: RehearsalSettings) -> list[str]:
    """The bridge's flags for the ``[rehearsal]`` table."""
    arguments = [
        f"--fast-rate={rehearsal.fast_tokens_s:g}",
        f"--deep-rate={rehearsal.deep_tokens_s:g}",
    ]
    if rehearsal.seed is not None:
        arguments.append(f"--seed={rehearsal.seed}")
    if rehearsal.mistakes is not None:
        arguments.append(f"--mistakes={rehearsal.mistakes:g}")
    return arguments
