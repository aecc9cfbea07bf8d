"""The map of the project: made in a process of its own, which is asked for it.

Here is what both say to each other: a line of JSON each.
"""

from __future__ import annotations

from msgspec import Struct

from tui.core.project_map import Seeds


class MapOrder(Struct, omit_defaults=True):
    """From the app; what is left out stays as it is."""

    listed: list[str] | None = None
    """All files there are."""
    changed: list[str] | None = None
    """Of these; none: any of them."""
    seeds: Seeds | None = None
    """A map is to be made for these."""
    tokens: int = 0
    """That it may have."""
    within_s: float = 0.0
    """So long files may be read before that."""


class MapMade(Struct):
    """The answer to each order with seeds, in their order."""

    text: str
    known: int = 0
    """Files of which the text was read, or was known from the last time."""
