"""An endpoint of which only the address is known: which of the languages it speaks is found out.

Chat Completions is asked for first, for most servers speak that; then the Responses API. What
answered is asked from then on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.bridge.endpoints.base import Asked, Endpoint, ModelFacts, Refused, Target
from tui.bridge.endpoints.telling import Telling

if TYPE_CHECKING:
    from tui.bridge.upstream.client import Upstream

_NO_SUCH_PATH = (404, 405, 501)
_NO_MODEL = ("model", "deployment")
"""Words in a refusal with 404 that is about a model: the path is there."""


class AutoEndpoint:
    """See `endpoints.base.Endpoint`."""

    def __init__(self, target: Target, upstream: Upstream) -> None:
        from tui.bridge.endpoints.openai_chat.endpoint import ChatEndpoint
        from tui.bridge.endpoints.openai_responses.endpoint import ResponsesEndpoint

        responses = ResponsesEndpoint(target, upstream)
        chat = ChatEndpoint(target, upstream)
        path = target.address.url.partition("?")[0].rstrip("/")
        self._candidates: list[Endpoint] = [chat, responses]
        if path.endswith("/responses"):
            self._candidates.reverse()
        self._all = tuple(self._candidates)

    async def answer(self, asked: Asked, telling: Telling) -> None:
        """See `Endpoint`."""
        first: Refused | None = None
        for endpoint in list(self._candidates):
            try:
                await endpoint.answer(asked, telling)
            except Refused as error:
                if not _is_elsewhere(error) or telling.began:
                    self._settle(endpoint, error)
                    raise
                first = first or error
            else:
                self._candidates = [endpoint]
                return
        if first is not None:
            raise first

    async def warm(self) -> None:
        """See `Endpoint`."""
        await self._candidates[0].warm()

    async def models(self) -> dict[str, ModelFacts]:
        """See `Endpoint`."""
        return await self._candidates[0].models()

    async def close(self) -> None:
        """See `Endpoint`."""
        for endpoint in self._all:
            await endpoint.close()

    def _settle(self, endpoint: Endpoint, error: Refused) -> None:
        """A refusal of the request itself (a wrong model, a wrong field) is an answer, too."""
        if error.status in (400, 404, 422, 429) and error.code != "not_an_endpoint":
            self._candidates = [endpoint]


def _is_elsewhere(error: Refused) -> bool:
    """Whether the server has nothing at this path, or something else."""
    if error.code == "not_an_endpoint":
        return True
    about_model = any(word in f"{error.code} {error}".lower() for word in _NO_MODEL)
    return error.status in _NO_SUCH_PATH and not (error.status == 404 and about_model)
