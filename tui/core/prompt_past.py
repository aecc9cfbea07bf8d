"""A prompt of an earlier run."""

from __future__ import annotations

from typing import NamedTuple


class PastPrompt(NamedTuple):
    """What was asked, and where."""

    text: str
    here: bool = True
    """In this workspace."""
    place: str = ""
    """The name of the workspace's folder."""
