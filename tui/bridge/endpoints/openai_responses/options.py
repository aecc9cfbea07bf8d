"""What a provider's file, or the user, may say of an endpoint (see `docs/providers.md`)."""

from __future__ import annotations

import msgspec


class ResponsesOptions(msgspec.Struct, frozen=True):
    """The options of one endpoint that speaks the Responses API, by HTTP or by WebSocket."""

    omit: tuple[str, ...] = ()
    """Fields that it is known not to take; dots lead into tables."""
    max_age_s: float | None = None
    """The service's limit of a WebSocket's age."""
