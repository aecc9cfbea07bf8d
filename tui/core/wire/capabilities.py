"""What is known of an endpoint: learnt once from what it does, kept over reconnects and runs."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

LEAST_AGE_S = 45.0
"""No server ends connections for their age that are younger: 60 s is the least that can be set."""


class Capabilities(msgspec.Struct):
    """What one endpoint can do; None and missing models: not known yet (PROTOCOL section 13)."""

    lanes: bool | None = None
    """It echoes `stream_id`: one socket carries many conversations."""
    prewarm: bool | None = None
    """It answers ``generate: false``."""
    websocket: bool | None = None
    """False: it refused the upgrade, and is spoken to by HTTP+SSE until it is probed again."""
    interrupt: dict[str, bool] = {}
    """Model -> whether ``response.interrupt`` stops it."""
    steer: dict[str, bool] = {}
    """Model -> whether ``response.steer`` redirects it."""
    max_age_s: float | None = None
    """How old this endpoint let a connection become, where it ended one for its age; seconds."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What an endpoint can do for one model; None: not known yet."""

    interrupt: bool | None = None
    steer: bool | None = None
    prewarm: bool | None = None
    lanes: bool | None = None
