"""An endpoint that speaks Chat Completions, asked again where it does not know a field."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from tui.bridge.endpoints.base import Asked, Refused, Target
from tui.bridge.endpoints.http_endpoint import HttpEndpoint
from tui.bridge.endpoints.openai_chat.language import ChatLanguage
from tui.bridge.endpoints.openai_chat.lessons import Turn
from tui.bridge.endpoints.telling import Telling
from tui.core.wire.refused_fields import MOST_TRIES, STATUSES

if TYPE_CHECKING:
    from tui.bridge.upstream.client import Upstream


class ChatEndpoint(HttpEndpoint):
    """See `endpoints.base.Endpoint`."""

    def __init__(self, target: Target, upstream: Upstream) -> None:
        self._chat = ChatLanguage(target.spec.options)
        super().__init__(target, self._chat, upstream)

    async def answer(self, asked: Asked, telling: Telling) -> None:
        """See `Endpoint`."""
        for tries_left in reversed(range(MOST_TRIES)):
            turn = Turn(**{one.name: getattr(asked, one.name) for one in fields(asked)})
            try:
                await super().answer(turn, telling)
            except Refused as error:
                over = telling.began or not tries_left or error.status not in STATUSES
                if over or not self._chat.learn(turn, error):
                    raise
            else:
                return
