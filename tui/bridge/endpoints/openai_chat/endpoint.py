"""An endpoint that speaks Chat Completions, asked again where it does not know a field."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from tui.bridge.endpoints.base import Asked, Refused, Target
from tui.bridge.endpoints.http_endpoint import HttpEndpoint
from tui.bridge.endpoints.openai_chat.language import ChatLanguage
from tui.bridge.endpoints.openai_chat.lessons import Turn
from tui.bridge.endpoints.telling import Telling

if TYPE_CHECKING:
    from tui.bridge.upstream.client import Upstream

_MOST_LESSONS = 4
"""Fields that one request may be refused for, and be sent again without."""
_WRONG = (400, 422, 500)
"""Templates of chats fail with 500 in llama.cpp."""


class ChatEndpoint(HttpEndpoint):
    """See `endpoints.base.Endpoint`."""

    def __init__(self, target: Target, upstream: Upstream) -> None:
        self._chat = ChatLanguage(target.spec.options)
        super().__init__(target, self._chat, upstream)

    async def answer(self, asked: Asked, telling: Telling) -> None:
        """See `Endpoint`."""
        for lessons in range(_MOST_LESSONS + 1):
            turn = Turn(**{one.name: getattr(asked, one.name) for one in fields(asked)})
            try:
                await super().answer(turn, telling)
            except Refused as error:
                last = telling.began or lessons == _MOST_LESSONS or error.status not in _WRONG
                if last or not self._chat.learn(turn, error):
                    raise
            else:
                return
