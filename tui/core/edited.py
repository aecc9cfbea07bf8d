"""What came back from a program that a text was given to."""

from __future__ import annotations

from typing import NamedTuple


class Edited(NamedTuple):
    """A text, or why there is none."""

    text: str | None
    """None: the text that was given stays as it was."""
    said: str = ""
    """What the user should know of it, in a sentence."""
