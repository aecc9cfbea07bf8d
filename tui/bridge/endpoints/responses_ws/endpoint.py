"""An endpoint that speaks the Responses API over WebSocket itself: one socket a response.

Ids of responses are ours towards the client and the upstream's towards it. A conversation that a
socket holds goes on with its new items alone; else the whole of it is sent.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tui.bridge.endpoints.base import Asked, Broken, ModelFacts, Refused, Steered, Target, Unusable
from tui.bridge.endpoints.openai_responses.asking import items_for
from tui.bridge.endpoints.openai_responses.requests import EndpointRequests
from tui.bridge.endpoints.openai_responses.retelling import Retelling
from tui.bridge.endpoints.openai_responses.thoughts import Thoughts
from tui.bridge.endpoints.responses_ws.dialling import ServiceConnection, UpgradeRefused, dial
from tui.bridge.endpoints.responses_ws.exchange import AskAgain, Exchange
from tui.bridge.endpoints.responses_ws.pool import MAX_AGE_S, SocketPool
from tui.bridge.endpoints.responses_ws.upstream_socket import Lost, UpstreamSocket
from tui.bridge.endpoints.telling import Telling
from tui.bridge.providers.knowledge import Knowledge
from tui.core.wire.rate_limits import pause_header, retry_after_s

if TYPE_CHECKING:
    from tui.bridge.upstream.client import Upstream

_ROTATION = 0.9
"""Of the age at which the service ends a connection: it is not met in mid-response."""
_CLOSES = {
    1008: (403, "refuses to go on (close code 1008): check the key and the account."),
    1009: (400, "takes no message as big as this conversation (close code 1009): start anew."),
    1013: (503, "is overloaded (close code 1013): try again later."),
}


class ResponsesWsEndpoint:
    """See `endpoints.base.Endpoint`. Option ``max_age_s``: the service's limit of a connection."""

    def __init__(self, target: Target, upstream: Upstream) -> None:
        self._target = target
        self._models = Knowledge(target, upstream)
        self._thoughts = Thoughts(target, upstream)
        self._requests = EndpointRequests(target.spec.options)
        self._host = urlsplit(target.address.url).hostname or ""
        told_s = max(self._requests.options.max_age_s or 0.0, 0.0)
        self._pool = SocketPool(self._dial, told_s * _ROTATION or MAX_AGE_S)
        self._reached = False
        self._interrupts: dict[str, bool] = {}
        """Model -> whether the service knows `response.interrupt` there, once it is known."""

    async def answer(self, asked: Asked, telling: Telling) -> None:
        """See `Endpoint`."""
        asked = await self._models.prepared(asked, telling)
        await self._thoughts.answered(asked, telling, self._answered)

    async def _answered(self, asked: Asked, telling: Telling) -> None:
        await self._requests.answered(asked, telling, self._asked)

    async def _asked(self, asked: Asked, telling: Telling) -> None:
        items_for(asked, asked.items)  # what is refused here is not sent, and costs no socket
        taken = await self._pool.taken(asked)
        socket = taken or await self._fresh(asked, telling)
        for last in (False, True):
            try:
                await self._exchange(socket, asked, telling)
                return
            except AskAgain as again:
                if last:
                    raise Broken(again.words) from None
                socket = again.socket or await self._fresh(asked, telling)
            except Lost as lost:
                if last or taken is None or not lost.unheard:
                    raise self._lost(lost, telling) from None
                # It was closed while it was idle, only nobody had noticed.
                socket = await self._fresh(asked, telling)

    async def warm(self) -> None:
        """See `Endpoint`."""
        try:
            await self._pool.warm()
        except (UpgradeRefused, Refused, Broken):
            return  # the request itself will say it

    async def models(self) -> dict[str, ModelFacts]:
        """See `Endpoint`."""
        return await self._models.all()

    async def close(self) -> None:
        """See `Endpoint`."""
        await self._models.close()
        await self._pool.close()

    async def _exchange(self, socket: UpstreamSocket, asked: Asked, telling: Telling) -> None:
        reader = Retelling(telling, self._target.address)
        exchange = Exchange(socket, asked, telling, reader, self._requests)
        done = kept = False
        try:
            await exchange.play()
            # a run whose client is gone is over, too: what the upstream says still is nobody's
            done = exchange.ended
        except (asyncio.CancelledError, Steered):
            known = self._interrupts.get(asked.model)
            done = exchange.ended  # only the client, who is slow, has not heard all of it
            if known is not False and exchange.begun and not done:
                told = await exchange.stop()
                if told.interrupts or known is None:
                    self._interrupts[asked.model] = told.interrupts
                done = told.ended
            raise
        except Lost as lost:
            lost.unheard = exchange.unheard
            raise
        except AskAgain as again:
            kept = again.socket is socket
            raise
        except TimeoutError:
            raise Broken(f"{self._host} said nothing for too long.") from None
        except Refused:
            done = exchange.ended
            raise
        finally:
            if done:
                self._pool.give(socket)
            elif not kept:
                socket.abort()

    async def _fresh(self, asked: Asked, telling: Telling) -> UpstreamSocket:
        try:
            socket = await self._pool.fresh()
        except UpgradeRefused as error:
            headers = pause_header(retry_after_s(error.headers))
            reader = Retelling(telling, self._target.address)
            reader.refuse(error.status, error.body, headers, self._host)
            raise Broken(f"{self._host} did not take the connection.") from None
        socket.key = str(asked.request.get("prompt_cache_key") or "")
        return socket

    async def _dial(self) -> ServiceConnection:
        try:
            connected = await dial(self._target.address)
        except Broken as error:
            error.unreached = error.unreached and not self._reached
            raise
        except UpgradeRefused:
            self._reached = True
            raise
        self._reached = True
        return connected

    def _lost(self, lost: Lost, telling: Telling) -> Exception:
        status, words = _CLOSES.get(lost.code or 0, (0, ""))
        if status and not telling.began:
            return Refused(status, f"closed_{lost.code}", f"{self._host} {words}")
        if lost.why:
            return Unusable(f"{self._host} {lost.why}: the connection was closed.")
        code = f" (close code {lost.code})" if lost.code else ""
        return Broken(f"{self._host} closed the connection before the response ended{code}.")
