"""How old a server lets a connection become, learnt from those that it ends (PROTOCOL section 10).

OpenAI says so with an event; LiteLLM closes with 1000 and a reason; others close with 1000 and no
word, which counts once it happened twice at the same age, unless both had been unused for the same
time. A machine that slept meanwhile tells nothing: the limit may have been over long before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.core.wire.endpoint_facts import LEAST_AGE_S, Capabilities

if TYPE_CHECKING:
    from tui.effects.wire.link import Link

MARGIN = 0.9
"""A connection takes new requests for this part of the known age."""
UNUSED_S = 20.0
"""Unused for so long, a connection may be closed for that."""
OUTLIVED = 1.1
"""A connection that works at this multiple of the known age proves it wrong."""
_LIKE = 0.05
_AGE_WORDS = (
    *("duration", "lifetime", "too old", "max age", "maximum age", "time limit", "session limit"),
    *("connection limit", "session expired", "connection expired", "60 minutes"),
)
_OTHER_WORDS = ("idle", "inactiv", "unused", "rate", "token", "quota", "concurren")
_NORMAL_CLOSE = 1000


class Ages:
    """What the ends of connections say about the server's limit."""

    def __init__(self) -> None:
        self._earlier = (0.0, 0.0)
        """Age and idle time of the last connection that ended normally without a word."""

    def learn(self, link: Link, known: Capabilities) -> bool:
        """Write down what this end of a link tells; True if it tells anything."""
        learnt_s, before_s = self._told_s(link), known.max_age_s
        if learnt_s is not None:
            known.max_age_s = round(learnt_s, 1)
        elif before_s is not None and _worked_s(link) > OUTLIVED * before_s:
            known.max_age_s = None
        return known.max_age_s != before_s

    def _told_s(self, link: Link) -> float | None:
        """The limit, if the server has ended this link for it; seconds."""
        age_s = link.age_s
        if age_s < LEAST_AGE_S or link.pulse.has_slept:
            return None
        if link.protocol.limit_reached:
            return age_s
        if link.close_code != _NORMAL_CLOSE:
            return None
        said = link.close_reason.lower()
        if said:
            other = any(word in said for word in _OTHER_WORDS)
            return age_s if not other and any(word in said for word in _AGE_WORDS) else None
        idle_s = link.idle_s
        (earlier_s, earlier_idle_s), self._earlier = self._earlier, (age_s, idle_s)
        if idle_s > UNUSED_S and _alike(idle_s, earlier_idle_s):
            return None
        return age_s if _alike(age_s, earlier_s) else None


def _worked_s(link: Link) -> float:
    """The age at which a link has been seen to work; 0 if nobody can say."""
    return 0.0 if link.pulse.has_slept else link.used_at - link.opened_at


def _alike(one_s: float, other_s: float) -> bool:
    return abs(one_s - other_s) < _LIKE * one_s
