"""Plays the runs of a connection by asking an endpoint over HTTP+SSE."""

from __future__ import annotations

import asyncio
import contextlib
import time
from urllib.parse import urlsplit

from aiohttp import ClientResponse

from tui.bridge.relay.retelling import Retelling
from tui.bridge.relay.sse import MAX_MESSAGE_BYTES, OversizeError, SseParser
from tui.bridge.relay.upstream import MOST_REFUSAL_BYTES, BrokenError, Upstream
from tui.bridge.stage import Part
from tui.core.wire.address import Address
from tui.core.wire.pauses import pause_header, retry_after_s
from tui.core.wire.refusals import UNREACHED
from tui.errors import EndpointError

_DONE = b"[DONE]"
_DRAIN_S = 0.2
"""A connection whose response has ended is read to its end so long, to be used again."""


class RelayPerformer:
    """An endpoint as who answers (`stage.Performer`)."""

    steers = False

    def __init__(self, upstream: Upstream, address: Address) -> None:
        self._upstream = upstream
        self._address = address
        self._host = urlsplit(address.url).hostname or ""

    async def perform(self, part: Part) -> None:
        """Ask for one run and pass on what comes; an interrupt closes the request."""
        asking = asyncio.ensure_future(self._ask(part))
        told = asyncio.ensure_future(part.told.wait())
        try:
            await asyncio.wait({asking, told}, return_when=asyncio.FIRST_COMPLETED)
            if asking.done():
                await asking
        finally:
            asking.cancel()
            told.cancel()
            await asyncio.gather(asking, told, return_exceptions=True)
        if part.run.interrupted:
            part.run.finish_interrupted()

    async def _ask(self, part: Part) -> None:
        run = part.run
        retelling = Retelling(run, self._address)
        body = {**run.request, "input": run.full_input}
        answered = False
        try:
            async with self._upstream.post(self._address, body) as response:
                if 200 <= response.status < 300:
                    answered = True
                    await self._retell(response, part, retelling)
                else:
                    await self._refuse(response, part, retelling)
        except EndpointError as error:
            run.refuse(400, "proxy_not_supported", str(error))
        except OversizeError:
            run.fail("server_error", f"{self._host} sent an event of more than 64 MiB.")
        except BrokenError as error:
            if answered:
                run.fail("server_error", str(error))
            else:
                code = UNREACHED if error.unreached else "server_error"
                run.refuse(502, code, str(error))

    async def _retell(self, response: ClientResponse, part: Part, retelling: Retelling) -> None:
        kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if kind == "text/html":
            words = f"{self._host} answered with a web page: is the url that of an endpoint?"
            part.run.refuse(400, "not_an_endpoint", words)
        elif kind == "application/json" or kind.endswith("+json"):
            await self._whole(response, retelling)
        else:
            await self._stream(response, part, retelling)

    async def _whole(self, response: ClientResponse, retelling: Retelling) -> None:
        """One JSON object; or a stream under the wrong name."""
        body, parser = await _body(response, MAX_MESSAGE_BYTES), SseParser()
        messages = [] if body.lstrip().startswith(b"{") else [*parser.feed(body), *parser.end()]
        if not messages:
            retelling.hear_whole(body)
            return
        for message in messages:
            retelling.hear(message)
        retelling.cut(self._host, marked=messages[-1].data == _DONE)

    async def _stream(self, response: ClientResponse, part: Part, retelling: Retelling) -> None:
        """Events as they come, until the response or the stream is over."""
        parser, over = SseParser(), False
        async for chunk in response.content.iter_any():
            for message in parser.feed(chunk):
                over = over or message.data == _DONE
                if not over:
                    retelling.hear(message)
            await part.flush()
            if over or part.run.done:
                retelling.cut(self._host, marked=over)
                await _drain(response)
                return
        for message in parser.end():
            over = over or message.data == _DONE
            retelling.hear(message)
        retelling.cut(self._host, marked=over)

    async def _refuse(self, response: ClientResponse, part: Part, retelling: Retelling) -> None:
        if 300 <= response.status < 400:
            # Followed, the key would travel to wherever the server says.
            words = (
                f"{self._host} redirects to another address (HTTP status {response.status}): the "
                "key is not taken there. Set the endpoint's url to where it really is."
            )
            part.run.refuse(400, "endpoint_redirects", words)
            return
        body = await _body(response, MOST_REFUSAL_BYTES, cut=True)
        headers = pause_header(retry_after_s(response.headers, time.time()))
        status = response.status if response.status >= 400 else 502
        retelling.refuse(status, body, headers, self._host)


async def _body(response: ClientResponse, most_bytes: int, *, cut: bool = False) -> bytes:
    """The whole body. Raises OversizeError if it is larger, unless it is to be ``cut``."""
    pieces: list[bytes] = []
    size_bytes = 0
    async for chunk in response.content.iter_any():
        pieces.append(chunk)
        size_bytes += len(chunk)
        if size_bytes > most_bytes:
            if cut:
                break
            raise OversizeError
    return b"".join(pieces)


async def _drain(response: ClientResponse) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_DRAIN_S):
            async for _ in response.content.iter_any():
                pass
