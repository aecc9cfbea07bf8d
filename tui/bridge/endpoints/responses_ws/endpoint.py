"""An endpoint that speaks the Responses API over WebSocket itself: one socket a response.

Ids of responses are ours towards the client and the upstream's towards it. A conversation that a
socket holds goes on with its new items alone; else the whole of it is sent.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from tui.bridge.endpoints.base import Asked, Broken, ModelFacts, Refused, Steered, Target, Unusable
from tui.bridge.endpoints.encrypted_content import EncryptedReasoning
from tui.bridge.endpoints.openai_responses.request import ResponsesRequests, items_for
from tui.bridge.endpoints.openai_responses.stream import ResponsesReader
from tui.bridge.endpoints.response_writer import ResponseWriter
from tui.bridge.endpoints.responses_ws.connection_pool import (
    MAX_AGE_S,
    Chain,
    ServiceConnection,
    SocketLost,
    SocketPool,
    UpgradeRefused,
    UpstreamSocket,
    dial,
)
from tui.bridge.providers.catalogue import EndpointModels
from tui.bridge.time_slices import aside, in_turns
from tui.bridge.upstream.errors import STALE_S, error_in
from tui.bridge.upstream.sse import Message, read_in_steps, said_by
from tui.core.wire.json_reading import SHORT_BYTES
from tui.core.wire.json_writing import request_body
from tui.core.wire.rate_limits import pause_header, retry_after_s
from tui.core.wire.refusals import KEY_CLOSES, is_hopeless

if TYPE_CHECKING:
    from tui.bridge.upstream.client import Upstream


STOP_S = 0.3
"""How long an upstream has to end a response that it was told to stop, before its socket goes."""
_MOST_UNWRITTEN = 64
"""Events that are told before they are written: what comes faster than that has to wait."""
_TERMINAL = frozenset({"response.completed", "response.incomplete", "response.failed"})
_ADDED, _DONE = "response.output_item.added", "response.output_item.done"
_CONTROL = ("response.interrupt.", "response.steer.", "response.output_item.interrupted")
"""Answers to what only we and the upstream have said to each other."""
_GOES_ON = ("steered", "interrupted")
"""Why a response may be incomplete and still be continued (PROTOCOL section 5)."""


class AskAgain(Exception):
    """Nothing was told yet, and the whole conversation on another footing may be answered."""

    def __init__(self, words: str, socket: UpstreamSocket | None = None) -> None:
        """``words`` if that does not help either; ``socket``: the one to ask again on."""
        super().__init__(words)
        self.words, self.socket = words, socket


class Stopped(NamedTuple):
    """How an upstream took it to be told to stop."""

    interrupts: bool
    """It knows `response.interrupt`."""
    ended: bool
    """The response is over and the socket free."""


class SocketExchange:
    """See the module's text; used once."""

    def __init__(
        self,
        socket: UpstreamSocket,
        asked: Asked,
        writer: ResponseWriter,
        reader: ResponsesReader,
        requests: ResponsesRequests,
    ) -> None:
        self._socket = socket
        self._asked = asked
        self._writer = writer
        self._reader = reader
        self._requests = requests
        self._open: set[object] = set()
        """Output indexes of the items that the run has open."""
        self._finished = 0
        """Items that the upstream has finished; a run that is slowed may be told of fewer."""
        self._response_id = ""
        self._goes_on = False
        self.ended = False
        """The upstream said that it is over: the socket is free."""
        self._said_s: float | None = None
        """When the request was sent, of the loop's clock; None: it was not."""
        self._heard = False

    @property
    def begun(self) -> bool:
        """The upstream has named its response: it can be told to stop."""
        return bool(self._response_id)

    @property
    def unheard(self) -> bool:
        """Lost now, the socket had been closed before the request came."""
        if self._said_s is None:
            return True
        return not self._heard and asyncio.get_running_loop().time() - self._said_s < STALE_S

    async def play(self) -> None:
        """Ask, and tell what comes until the response is over.

        Raises:
            AskAgain, Lost: see there.
            TimeoutError: a long silence.
            Refused, Steered: as `ModelEndpoint.answer`.
        """
        socket, chained, unwritten = self._socket, await self._ask(), 0
        while not self._writer.done:
            event = await _event(socket)
            self._heard = True
            unwritten += 1
            if event is not None and not str(event.get("type")).startswith(_CONTROL):
                self._look_for_another_way(event, chained=chained)
                self._notice(event)
                self._reader.hear_event(event)
            if socket.waits or unwritten >= _MOST_UNWRITTEN:
                await self._writer.flush()
                unwritten = 0
        self._keep_chain()

    async def stop(self) -> Stopped:
        """Have the upstream end this response; what it finishes or counts meanwhile is told."""
        interrupts = False
        stop = {"type": "response.interrupt", "response_id": self._response_id}
        try:
            async with asyncio.timeout(STOP_S):
                await self._socket.say(request_body({**stop, "mode": "discard_partial_items"}))
                while not self.ended:
                    event = await _event(self._socket) or {}
                    kind = event.get("type")
                    if kind in ("error", "response.interrupt.failed"):
                        return Stopped(interrupts, False)
                    interrupts = interrupts or kind == "response.interrupt.accepted"
                    self._wind_down(event)
        except (TimeoutError, SocketLost):
            return Stopped(interrupts, False)
        self._keep_chain()
        return Stopped(interrupts, True)

    async def _ask(self) -> bool:
        """Send the request; returns whether it goes on from what the socket holds."""
        socket, asked = self._socket, self._asked
        chain, socket.chain, socket.used = socket.chain, None, True

        def made() -> tuple[bytes, bool]:
            new = chain.new_items(asked.model, asked.items) if chain is not None else None
            items = list(asked.items) if new is None else new
            event: dict[str, Any] = {"type": "response.create", **self._requests.body(asked, items)}
            if chain is not None and new is not None:
                event["previous_response_id"] = chain.response_id
            return request_body(event), new is not None

        event, chained = await aside(asked, made)
        await socket.say(event)
        self._said_s = asyncio.get_running_loop().time()
        return chained

    def _look_for_another_way(self, event: dict[str, Any], *, chained: bool) -> None:
        """Raise AskAgain for what is no matter of the client's."""
        if event.get("type") != "error" or self._writer.began:
            return
        said = error_in(event)
        if said.code == "previous_response_not_found" and chained:
            raise AskAgain(said.message, self._socket)
        if said.code == "websocket_connection_limit_reached":
            raise AskAgain(said.message or "The server ended the connection: it was too old.")

    def _notice(self, event: dict[str, Any]) -> None:
        """Keep in mind what stopping and going on will need."""
        kind = event.get("type")
        if kind == _ADDED:
            self._open.add(event.get("output_index"))
        elif kind == _DONE:
            self._open.discard(event.get("output_index"))
            self._finished += 1
        elif kind == "response.created":
            self._response_id = _id(event)
        elif kind in _TERMINAL:
            self._close(event)
        elif kind == "error":
            self.ended = True

    def _close(self, event: dict[str, Any]) -> None:
        self.ended = True
        response = event.get("response")
        told = response if isinstance(response, dict) else {}
        details = told.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, dict) else None
        self._goes_on = event["type"] == "response.completed" or reason in _GOES_ON

    def _keep_chain(self) -> None:
        """The socket holds the conversation now, if it may be continued there."""
        told = self._writer.output
        if self._goes_on and self._response_id and self._finished <= len(told):
            items = [*self._asked.items, *told]
            self._socket.chain = Chain(self._asked.model, self._response_id, items)

    def _wind_down(self, event: dict[str, Any]) -> None:
        """One event of a response that was told to stop."""
        kind, index = event.get("type"), event.get("output_index")
        if kind == _DONE:
            self._finished += 1
            if index in self._open:
                self._open.discard(index)
                with contextlib.suppress(Steered):
                    self._reader.hear_event(event)
        elif kind in _TERMINAL:
            response = event.get("response")
            usage = response.get("usage") if isinstance(response, dict) else None
            if isinstance(usage, dict):
                self._writer.used(usage)
            self._close(event)


async def _event(socket: UpstreamSocket) -> dict[str, Any] | None:
    """The next event; None: a frame that is none. Raises as `UpstreamSocket.heard`."""
    message = Message("", await socket.heard())
    if len(message.data) > SHORT_BYTES:
        message = await in_turns(read_in_steps(message))
    value = said_by(message)
    return value if isinstance(value, dict) else None


def _id(event: dict[str, Any]) -> str:
    response = event.get("response")
    name = response.get("id") if isinstance(response, dict) else None
    return name if isinstance(name, str) else ""


_ROTATION = 0.9
"""Of the age at which the service ends a connection: it is not met in mid-response."""
_CLOSES = {
    1008: (403, "refuses to go on (close code 1008): check the key and the account."),
    1009: (400, "takes no message as big as this conversation (close code 1009): start anew."),
    1013: (503, "is overloaded (close code 1013): try again later."),
}


class ResponsesWsEndpoint:
    """See `kinds.ModelEndpoint`. Option ``max_age_s``: the service's limit of a connection."""

    def __init__(self, target: Target, upstream: Upstream) -> None:
        self._target = target
        self._models = EndpointModels(target, upstream)
        self._reasoning = EncryptedReasoning(target, upstream)
        self._requests = ResponsesRequests(target.spec.options)
        self._host = urlsplit(target.address.url).hostname or ""
        told_s = max(self._requests.options.max_age_s or 0.0, 0.0)
        self._pool = SocketPool(self._dial, told_s * _ROTATION or MAX_AGE_S)
        self._reached = False
        self._interrupts: dict[str, bool] = {}
        """Model -> whether the service knows `response.interrupt` there, once it is known."""

    async def answer(self, asked: Asked, writer: ResponseWriter) -> None:
        """See `ModelEndpoint`."""
        asked = await self._models.prepared(asked, writer)
        await self._reasoning.answered(asked, writer, self._answered)

    async def _answered(self, asked: Asked, writer: ResponseWriter) -> None:
        await self._requests.answered(asked, writer, self._asked)

    async def _asked(self, asked: Asked, writer: ResponseWriter) -> None:
        items_for(asked, asked.items)  # what is refused here is not sent, and costs no socket
        taken = await self._pool.taken(asked)
        socket = taken or await self._fresh(asked, writer)
        for last in (False, True):
            try:
                await self._exchange(socket, asked, writer)
                return
            except AskAgain as again:
                if last:
                    raise Broken(again.words) from None
                socket = again.socket or await self._fresh(asked, writer)
            except SocketLost as lost:
                if last or taken is None or not lost.unheard:
                    raise self._lost(lost, writer) from None
                # It was closed while it was idle, only nobody had noticed.
                socket = await self._fresh(asked, writer)

    async def warm(self) -> None:
        """See `ModelEndpoint`."""
        try:
            await self._pool.warm()
        except (UpgradeRefused, Refused, Broken):
            return  # the request itself will say it

    async def models(self) -> dict[str, ModelFacts]:
        """See `ModelEndpoint`."""
        return await self._models.all()

    async def close(self) -> None:
        """See `ModelEndpoint`."""
        await self._models.close()
        await self._pool.close()

    async def _exchange(self, socket: UpstreamSocket, asked: Asked, writer: ResponseWriter) -> None:
        reader = ResponsesReader(writer, self._target.address)
        exchange = SocketExchange(socket, asked, writer, reader, self._requests)
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
        except SocketLost as lost:
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

    async def _fresh(self, asked: Asked, writer: ResponseWriter) -> UpstreamSocket:
        try:
            socket = await self._pool.fresh()
        except UpgradeRefused as error:
            headers = pause_header(retry_after_s(error.headers))
            reader = ResponsesReader(writer, self._target.address)
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

    def _lost(self, lost: SocketLost, writer: ResponseWriter) -> Exception:
        code = lost.code or 0
        status, words = _CLOSES.get(code, (0, ""))
        if 4400 <= code < 4500:
            status, words = code - 4000, f"closed the connection (close code {code})."
        if status and not writer.began:
            name = "invalid_api_key" if code in KEY_CLOSES else f"closed_{code}"
            return Refused(status, name, f"{self._host} {words}")
        if lost.why:
            return Unusable(f"{self._host} {lost.why}: the connection was closed.")
        said = f" (close code {code})" if code else ""
        kind = Unusable if is_hopeless(code) else Broken
        return kind(f"{self._host} closed the connection before the response ended{said}.")
