"""The Responses API over HTTP: our own items, the whole conversation each time."""

from __future__ import annotations

from dataclasses import replace

from tui.bridge.endpoints.base import Asked, Target
from tui.bridge.endpoints.http_endpoint import Reader
from tui.bridge.endpoints.openai_responses.requests import EndpointRequests
from tui.bridge.endpoints.openai_responses.retelling import Retelling
from tui.bridge.endpoints.telling import Telling
from tui.core.wire.address import Address, checked
from tui.core.wire.json_writing import request_body


class ResponsesLanguage:
    """See `endpoints.http_endpoint.Language`."""

    def __init__(self, requests: EndpointRequests) -> None:
        self._requests = requests

    def request(self, asked: Asked, target: Target) -> tuple[Address, bytes]:
        """See `Language`."""
        body = {**self._requests.body(asked, list(asked.items)), "stream": True}
        return http_address(target.address), request_body(body)

    def reader(self, asked: Asked, target: Target, telling: Telling) -> Reader:
        """See `Language`."""
        return Retelling(telling, target.address)


def http_address(address: Address) -> Address:
    """The same endpoint for HTTP. Raises EndpointError as `core.wire.address.checked`."""
    url = checked(address).url
    return replace(address, url=f"http{url.removeprefix('ws')}")
