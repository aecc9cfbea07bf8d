"""The requests to a server of the Responses API, without the fields that it has refused."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from tui.bridge.endpoints.base import Asked, Refused
from tui.bridge.endpoints.openai_responses.asking import items_for, settings
from tui.bridge.endpoints.openai_responses.options import ResponsesOptions
from tui.bridge.endpoints.telling import Telling
from tui.core.wire.refused_fields import (
    MOST_TRIES,
    STATUSES,
    RefusedFields,
    fields_refused,
    without,
)


class EndpointRequests:
    """Those of one endpoint, by HTTP and by WebSocket alike."""

    def __init__(self, options: dict[str, Any]) -> None:
        """Raises Refused: an option is wrong."""
        try:
            self.options = msgspec.convert(options, ResponsesOptions)
        except msgspec.ValidationError as error:
            words = f"An option of this endpoint is wrong: {error}."
            raise Refused(400, "invalid_option", words) from error
        self._refused = RefusedFields()

    def body(self, asked: Asked, items: list[dict[str, Any]]) -> dict[str, Any]:
        """A request as this server takes it; ``items``: those of the conversation that are said."""
        told = {**settings(asked), "input": items_for(asked, items)}
        omit = asked.facts.options.get("omit", self.options.omit)
        return without(told, (*omit, *self._refused.of(asked.model)))

    async def answered(
        self, asked: Asked, telling: Telling, ask: Callable[[Asked, Telling], Awaitable[None]]
    ) -> None:
        """Have ``ask`` answer; again without what the server does not take, if it says so.

        Raises what ``ask`` raises.
        """
        for tries_left in reversed(range(MOST_TRIES)):
            telling.left_out(self._refused.of(asked.model))
            try:
                await ask(asked, telling)
                return
            except Refused as error:
                over = telling.began or not tries_left or error.status not in STATUSES
                if over or not self._learns(asked, error):
                    raise

    def _learns(self, asked: Asked, error: Refused) -> bool:
        sent = self.body(asked, list(asked.items))
        refused = fields_refused(f"{error.code} {error}", error.param, sent)
        return self._refused.learn(asked.model, refused)
