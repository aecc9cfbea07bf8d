"""How old a server lets a connection become, learnt from those that it ends (PROTOCOL section 10).

OpenAI says so with an event; LiteLLM closes with 1000 and a reason; others close with 1000 and no
word, which counts once it happened twice at the same age.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.effects.wire.link import Link

LEAST_S = 20.0
"""Younger connections do not die of age."""
MARGIN = 0.9
"""A connection takes new requests for this part of the known age."""
_LIKE = 0.05
_AGE_WORDS = ("limit", "duration", "expired", "lifetime", "too old", "max age", "maximum age")
_NORMAL_CLOSE = 1000


class Ages:
    """What the ends of connections say about the server's limit."""

    def __init__(self) -> None:
        self._earlier_s = 0.0
        """Age of the last connection that ended normally without a word."""

    def learnt_s(self, link: Link) -> float | None:
        """The limit, if this end of a link tells it; seconds."""
        age_s = link.age_s
        if age_s < LEAST_S:
            return None
        if link.limit_reached:
            return age_s
        if link.close_code != _NORMAL_CLOSE:
            return None
        if any(word in link.close_reason.lower() for word in _AGE_WORDS):
            return age_s
        earlier_s, self._earlier_s = self._earlier_s, age_s
        return age_s if abs(age_s - earlier_s) < _LIKE * age_s else None
