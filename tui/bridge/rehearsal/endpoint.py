"""The rehearsal models as an endpoint."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from tui.bridge.endpoints.base import Asked, ModelFacts, Refused, Target, left_out
from tui.bridge.endpoints.response_writer import ResponseWriter
from tui.bridge.rehearsal.answers import (
    DEFAULT_MISTAKES,
    DEFAULT_SEED,
    AnswerPart,
    AnswerStyle,
    Player,
    PlaySpeed,
    answer,
)
from tui.bridge.rehearsal.request import image_in
from tui.bridge.routing import Candidate, Route, rate_of
from tui.bridge.time_slices import aside
from tui.core.images import UNKNOWN
from tui.core.instructions import STOPPED_BY_ACCIDENT
from tui.core.wire.json_writing import is_long, size_of

FAST = "rehearsal-fast"
DEEP = "rehearsal-deep"


class Rehearsal(Struct, frozen=True):
    """How the rehearsal models play."""

    fast_tokens_s: float = 1000.0
    deep_tokens_s: float = 65.0
    fast_ttft_s: float = 0.06
    deep_ttft_s: float = 0.5
    seed: int = DEFAULT_SEED
    mistakes: float = DEFAULT_MISTAKES
    """Share of the exercises that the fast model gets wrong at first, 0 to 1."""
    any_model: bool = False
    """Every other name is taken for the deep model: a client may choose its manners by the name."""

    def style_and_speed(self, request: Mapping[str, Any]) -> tuple[AnswerStyle, PlaySpeed]:
        """The manner and the pace that a request asks for.

        Raises:
            Refused: no such model, or a rate that is not between 1 and 20,000.
        """
        asked = request.get("model")
        name, _, rate = (asked if isinstance(asked, str) else "").partition("@")
        if self.any_model and name and name not in (FAST, DEEP):
            name, rate = DEEP, ""
        if name not in (FAST, DEEP):
            words = f"{_unknown(asked)}: {FAST} and {DEEP} are here, each also as NAME@RATE."
            raise Refused(400, "model_not_found", words, param="model")
        deep = name == DEEP
        tokens_s = self.deep_tokens_s if deep else self.fast_tokens_s
        if rate:
            tokens_s = rate_of(rate, "model")
        metadata = request.get("client_metadata")
        given = metadata.get("duetto_tokens_s") if isinstance(metadata, dict) else None
        if given is not None:
            tokens_s = rate_of(given, "client_metadata.duetto_tokens_s")
        reasoning = request.get("reasoning")
        effort = reasoning.get("effort") if isinstance(reasoning, dict) else None
        style = AnswerStyle(deep, self.seed, self.mistakes, str(effort or ""))
        return style, PlaySpeed(tokens_s, self.deep_ttft_s if deep else self.fast_ttft_s)


def _unknown(asked: object) -> str:
    return "The request names no model" if asked is None else f"There is no model {asked!r}"


_SAID = ("parallel_tool_calls", "reasoning.effort")
_CHARS_PER_TOKEN = 4
_MOST_KEPT = 20
"""Conversations of which the last answer is known."""


def _asks_to_go_on(item: Mapping[str, Any]) -> bool:
    """Whether a message asks for the rest of an answer that was cut."""
    return _words(item).startswith(STOPPED_BY_ACCIDENT)


def _words(item: Mapping[str, Any]) -> str:
    """What the user says in a message; empty: it is another item."""
    content = item.get("content") if item.get("role") == "user" else None
    first = content[0] if isinstance(content, list) and content else None
    text = first.get("text") if isinstance(first, dict) else content
    return text if isinstance(text, str) else ""


class RehearsalEndpoint:
    """See `endpoints.kinds.ModelEndpoint`."""

    def __init__(self, rehearsal: Rehearsal) -> None:
        self._rehearsal = rehearsal
        self._said: dict[str, list[AnswerPart]] = {}
        """What was answered last in each conversation: asked to go on, it is said once more."""
        self._draws: dict[str, list[str]] = {}
        """Prompt -> the conversations in which it was asked, in their order."""

    async def answer(self, asked: Asked, writer: ResponseWriter) -> None:
        """Play one run at its rate."""
        writer.left_out(left_out(asked.request, _SAID, waived=("text.format",)))
        style, pace = self._rehearsal.style_and_speed(asked.request)
        said = self._said.get(conversation := str(asked.request.get("prompt_cache_key")))
        style = replace(style, draw=self._draw(conversation, asked.items))
        asks_again = bool(asked.items) and _asks_to_go_on(asked.items[-1])
        items = [item for item in asked.items if not _asks_to_go_on(item)]
        if asks_again and said:
            parts = said
        elif asks_again:  # it was cut in an earlier run
            parts = await aside(asked, lambda: answer(asked.request, asked.items, style))
        else:
            parts = await aside(asked, lambda: answer(asked.request, items, style))
        self._said[conversation] = parts
        if len(self._said) > _MOST_KEPT:
            del self._said[next(iter(self._said))]
        tokens = await aside(asked, lambda: input_tokens(asked.request, items))
        player = Player(parts, pace, seed=style.seed, now=time.monotonic())
        while not player.done:
            wait_s = player.due_s() - time.monotonic()
            if wait_s > 0:
                await asyncio.sleep(wait_s)
            try:
                player.play(writer, time.monotonic(), held=writer.paced)
            finally:
                writer.used(player.usage(*tokens))
            await writer.flush()
        writer.finish()

    def _draw(self, conversation: str, items: Sequence[Mapping[str, Any]]) -> int:
        """How many other conversations asked the newest prompt before."""
        prompt = next((said for one in reversed(items) if (said := _words(one))), "")
        asked = self._draws.setdefault(prompt, [])
        if conversation not in asked:
            asked.append(conversation)
        if len(self._draws) > _MOST_KEPT:
            del self._draws[next(iter(self._draws))]
        return asked.index(conversation)

    async def warm(self) -> None:
        """See `ModelEndpoint`: it is here."""

    async def models(self) -> dict[str, ModelFacts]:
        """See `ModelEndpoint`."""
        return {name: ModelFacts(images=True) for name in (FAST, DEEP)}

    async def close(self) -> None:
        """See `ModelEndpoint`."""


def rehearsal_endpoint(_target: Target, _upstream: object) -> RehearsalEndpoint:
    """See `endpoints.kinds.Maker`."""
    return RehearsalEndpoint(Rehearsal())


def rehearsal_route(rehearsal: Rehearsal) -> Route:
    """The rehearsal answers everything."""
    endpoint = RehearsalEndpoint(rehearsal)

    async def route(
        request: Mapping[str, Any], items: Sequence[dict[str, Any]]
    ) -> Sequence[Candidate]:
        return [Candidate(endpoint, Asked(str(request.get("model") or ""), request, items))]

    return route


def input_tokens(request: Mapping[str, Any], items: list[dict[str, Any]]) -> tuple[int, int]:
    """Estimated tokens of the whole input, and how many of them the parent had already."""
    known = len(items) - len(request.get("input") or [])
    before = _size(items[:known])
    settings = _size([request.get("instructions"), request.get("tools")])
    total = settings + before + _size(items[known:])
    cached = settings + before if known else 0
    return total // _CHARS_PER_TOKEN, cached // _CHARS_PER_TOKEN


def _size(parts: list[Any]) -> int:
    """Characters; an image counts as its pixels do, whatever bytes it has."""
    size = 0
    for part in parts:
        if isinstance(part, dict) and (found := image_in(part)) is not None:
            size += UNKNOWN.tokens(found.width, found.height) * _CHARS_PER_TOKEN
        elif part:
            size += size_of(part) if is_long(part) else len(json.dumps(part, ensure_ascii=False))
    return size
