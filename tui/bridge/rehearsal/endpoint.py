"""The rehearsal models as an endpoint."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from tui.bridge.aside import aside
from tui.bridge.endpoints.base import Asked, ModelFacts, Refused
from tui.bridge.endpoints.telling import Telling
from tui.bridge.rehearsal.casting import DEEP, FAST, NoSuchModelError, Rehearsal
from tui.bridge.rehearsal.director import answer
from tui.bridge.rehearsal.player import Player
from tui.bridge.routes import Leg
from tui.core.wire.json_writing import is_long, size_of

_CHARS_PER_TOKEN = 4


class RehearsalEndpoint:
    """See `endpoints.base.Endpoint`."""

    def __init__(self, rehearsal: Rehearsal) -> None:
        self._rehearsal = rehearsal

    async def answer(self, asked: Asked, telling: Telling) -> None:
        """Play one run at its rate."""
        try:
            manner, pace = self._rehearsal.cast(asked.request)
        except NoSuchModelError as error:
            raise Refused(400, error.code, str(error), param=error.param) from error
        items = list(asked.items)
        beats = await aside(asked, lambda: answer(asked.request, items, manner))
        tokens = await aside(asked, lambda: input_tokens(asked.request, items))
        player = Player(beats, pace, seed=manner.seed, now=time.monotonic())
        while not player.done:
            wait_s = player.due_s() - time.monotonic()
            if wait_s > 0:
                await asyncio.sleep(wait_s)
            try:
                player.play(telling, time.monotonic(), held=telling.paced)
            finally:
                telling.used(player.usage(*tokens))
            await telling.flush()
        telling.finish()

    async def warm(self) -> None:
        """See `Endpoint`: it is here."""

    async def models(self) -> dict[str, ModelFacts]:
        """See `Endpoint`."""
        return {name: ModelFacts(images=False) for name in (FAST, DEEP)}

    async def close(self) -> None:
        """See `Endpoint`."""


class RehearsalRoute:
    """See `routes.Route`: the rehearsal answers everything."""

    def __init__(self, rehearsal: Rehearsal) -> None:
        self._endpoint = RehearsalEndpoint(rehearsal)

    async def legs(
        self, request: Mapping[str, Any], items: Sequence[dict[str, Any]]
    ) -> Sequence[Leg]:
        """See `Route`."""
        return [Leg(self._endpoint, Asked(str(request.get("model") or ""), request, items))]


def input_tokens(request: Mapping[str, Any], items: list[dict[str, Any]]) -> tuple[int, int]:
    """Estimated tokens of the whole input, and how many of them the parent had already."""
    known = len(items) - len(request.get("input") or [])
    before = _size(items[:known])
    settings = _size([request.get("instructions"), request.get("tools")])
    total = settings + before + _size(items[known:])
    cached = settings + before if known else 0
    return total // _CHARS_PER_TOKEN, cached // _CHARS_PER_TOKEN


def _size(parts: list[Any]) -> int:
    return sum(
        size_of(part) if is_long(part) else len(json.dumps(part, ensure_ascii=False))
        for part in parts
        if part
    )
