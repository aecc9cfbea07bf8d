"""An endpoint that speaks the Messages API: asked again where its model pauses."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

from tui.bridge.endpoints.anthropic.asking import Turn, asking, unhurried
from tui.bridge.endpoints.anthropic.language import AnthropicLanguage
from tui.bridge.endpoints.anthropic.lessons import Lessons, lesson, other_lesson, passes
from tui.bridge.endpoints.anthropic.options import Options, options_of
from tui.bridge.endpoints.base import Asked, Refused, Target, Unusable
from tui.bridge.endpoints.http_endpoint import HttpEndpoint
from tui.bridge.endpoints.telling import Telling
from tui.core.wire.refused_fields import MOST_TRIES, STATUSES

if TYPE_CHECKING:
    from tui.bridge.upstream.client import Upstream

MOST_PAUSES = 32
"""A model that pauses more often in one answer does not come to an end."""


class AnthropicEndpoint(HttpEndpoint):
    """See `endpoints.base.Endpoint`."""

    def __init__(self, target: Target, upstream: Upstream) -> None:
        """Raises Refused: an option of the endpoint is wrong."""
        super().__init__(target, AnthropicLanguage(), upstream)
        self._lessons = Lessons()
        self._target = target
        options_of(target.name, target.spec)

    async def answer(self, asked: Asked, telling: Telling) -> None:
        """See `Endpoint`. A pause (``pause_turn``) is no end: the model is asked to go on."""
        turn = Turn(**{one.name: getattr(asked, one.name) for one in fields(asked)})
        for _ in range(MOST_PAUSES):
            pauses = len(turn.spent)
            await self._ask(turn, telling)
            if telling.done or len(turn.spent) == pauses:
                return
        raise Unusable("The model paused again and again, and did not come to an end.")

    async def _ask(self, turn: Turn, telling: Telling) -> None:
        """Ask once; at the usual speed, if fast mode, whose limits are its own, is at them."""
        try:
            await self._ask_taught(turn, telling)
        except Refused as error:
            slower = unhurried(turn, self._options(turn))
            if error.status != 429 or telling.began or slower is None:
                raise
            telling.note(duetto_tier_reason="Fast mode is at its rate limit.")
            await self._ask_taught(slower, telling)

    async def _ask_taught(self, turn: Turn, telling: Telling) -> None:
        """Ask; again without what the server does not take, if that is why it refuses."""
        once: frozenset[str] = frozenset()
        for tries_left in reversed(range(MOST_TRIES)):
            known = self._lessons.of(turn.model) | once
            try:
                await super().answer(replace(turn, lessons=known), telling)
                return
            except Refused as error:
                learnt = lesson(error) or self._other_lesson(turn, known, error)
                if not learnt or learnt in known or telling.began or not tries_left:
                    raise
                if passes(learnt):
                    once |= {learnt}
                else:
                    self._lessons.learn(turn.model, learnt)

    def _other_lesson(self, turn: Turn, known: frozenset[str], error: Refused) -> str:
        if error.status not in STATUSES:
            return ""
        sent = asking(replace(turn, lessons=known), self._options(turn))
        return other_lesson(error, sent.body)

    def _options(self, turn: Turn) -> Options:
        return options_of(self._target.name, self._target.spec, turn.facts.options)
