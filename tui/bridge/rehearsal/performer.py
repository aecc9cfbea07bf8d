"""Plays the runs of a connection with the rehearsal models."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from typing import Any

from tui.bridge.models import NoSuchModelError, Rehearsal
from tui.bridge.rehearsal.director import answer
from tui.bridge.rehearsal.player import Player
from tui.bridge.stage import Part
from tui.core.wire.server.run import Run
from tui.core.wire.server.steering import required_outputs
from tui.core.wire.usage import Usage

_CHARS_PER_TOKEN = 4


class RehearsalPerformer:
    """The rehearsal models as who answers (`stage.Performer`)."""

    steers = True

    def __init__(self, rehearsal: Rehearsal) -> None:
        self._rehearsal = rehearsal

    async def perform(self, part: Part) -> None:
        """Play one run at its rate."""
        run, told = part.run, part.told
        try:
            manner, pace = self._rehearsal.cast(run.request)
        except NoSuchModelError as error:
            run.refuse(400, error.code, str(error), error.param)
            return
        beats = answer(run.request, run.full_input, manner)
        tokens = input_tokens(run.request, run.full_input)
        player = Player(beats, pace, seed=manner.seed, now=time.monotonic())
        while not (player.done or run.interrupted or (run.steered and player.at_boundary)):
            wait_s = player.due_s() - time.monotonic()
            if wait_s > 0 and await _within(told, wait_s):
                told.clear()
                continue
            player.play(run, time.monotonic(), one_item=run.steered)
            await part.flush()
        _finish(run, player, player.usage(*tokens))


def _finish(run: Run, player: Player, usage: Usage) -> None:
    """End a run as it was stopped, or as it ended by itself."""
    if run.interrupted:
        run.finish_interrupted(usage)
    elif player.done or required_outputs(run.output):
        run.finish("completed", usage)
    else:
        run.finish("incomplete", usage, reason="steered")


async def _within(event: asyncio.Event, seconds: float) -> bool:
    """Wait for the event that long; returns whether it came."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True


def input_tokens(request: Mapping[str, Any], items: list[dict[str, Any]]) -> tuple[int, int]:
    """Estimated tokens of the whole input, and how many of them the parent had already."""
    known = len(items) - len(request.get("input") or [])
    before = _size(items[:known])
    settings = _size([request.get("instructions"), request.get("tools")])
    total = settings + before + _size(items[known:])
    cached = settings + before if known else 0
    return total // _CHARS_PER_TOKEN, cached // _CHARS_PER_TOKEN


def _size(parts: list[Any]) -> int:
    return sum(len(json.dumps(part, ensure_ascii=False)) for part in parts if part)
