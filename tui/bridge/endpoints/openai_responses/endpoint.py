"""An endpoint that speaks the Responses API by HTTP; of thoughts it is sent what it can open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from tui.bridge.endpoints.base import Asked, Target
from tui.bridge.endpoints.encrypted_content import EncryptedReasoning
from tui.bridge.endpoints.http_endpoint import HttpEndpoint, Reader
from tui.bridge.endpoints.openai_responses.request import ResponsesRequests
from tui.bridge.endpoints.openai_responses.stream import ResponsesReader
from tui.bridge.endpoints.response_writer import ResponseWriter
from tui.core.wire.address import Address, checked
from tui.core.wire.json_writing import request_body

if TYPE_CHECKING:
    from tui.bridge.upstream.client import Upstream


class ResponsesLanguage:
    """See `endpoints.http_endpoint.Language`."""

    def __init__(self, requests: ResponsesRequests) -> None:
        self._requests = requests

    def request(self, asked: Asked, target: Target) -> tuple[Address, bytes]:
        """See `Language`."""
        body = {**self._requests.body(asked, list(asked.items)), "stream": True}
        return http_address(target.address), request_body(body)

    def reader(self, asked: Asked, target: Target, writer: ResponseWriter) -> Reader:
        """See `Language`."""
        return ResponsesReader(writer, target.address)


def http_address(address: Address) -> Address:
    """The same endpoint for HTTP. Raises EndpointError as `core.wire.address.checked`."""
    url = checked(address).url
    return replace(address, url=f"http{url.removeprefix('ws')}")


class ResponsesEndpoint(HttpEndpoint):
    """See `endpoints.kinds.ModelEndpoint`."""

    def __init__(self, target: Target, upstream: Upstream) -> None:
        self._requests = ResponsesRequests(target.spec.options)
        super().__init__(target, ResponsesLanguage(self._requests), upstream)
        self._reasoning = EncryptedReasoning(target, upstream)

    async def answer(self, asked: Asked, writer: ResponseWriter) -> None:
        """See `ModelEndpoint`."""
        await self._reasoning.answered(asked, writer, self._answered)

    async def _answered(self, asked: Asked, writer: ResponseWriter) -> None:
        await self._requests.answered(asked, writer, super().answer)
