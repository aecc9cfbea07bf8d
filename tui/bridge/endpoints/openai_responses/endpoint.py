"""An endpoint that speaks the Responses API by HTTP; of thoughts it is sent what it can open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.bridge.endpoints.base import Asked, Target
from tui.bridge.endpoints.http_endpoint import HttpEndpoint
from tui.bridge.endpoints.openai_responses.language import ResponsesLanguage
from tui.bridge.endpoints.openai_responses.requests import EndpointRequests
from tui.bridge.endpoints.openai_responses.thoughts import Thoughts
from tui.bridge.endpoints.telling import Telling

if TYPE_CHECKING:
    from tui.bridge.upstream.client import Upstream


class ResponsesEndpoint(HttpEndpoint):
    """See `endpoints.base.Endpoint`."""

    def __init__(self, target: Target, upstream: Upstream) -> None:
        self._requests = EndpointRequests(target.spec.options)
        super().__init__(target, ResponsesLanguage(self._requests), upstream)
        self._thoughts = Thoughts(target, upstream)

    async def answer(self, asked: Asked, telling: Telling) -> None:
        """See `Endpoint`."""
        await self._thoughts.answered(asked, telling, self._answered)

    async def _answered(self, asked: Asked, telling: Telling) -> None:
        await self._requests.answered(asked, telling, super().answer)
