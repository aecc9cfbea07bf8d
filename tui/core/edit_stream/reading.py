"""What reads one edit, line by line, whatever its format."""

from __future__ import annotations

from typing import Protocol

from tui.core.edit_stream.events import Ev


class EditGrammar(Protocol):
    """The state between two lines of an edit; every method returns the events that it decides.

    After `ended`, `rest` holds the last lines that turned out to be no part of the edit: they
    are read again outside of it.
    """

    ended: bool
    failed: bool
    wrapper_closed: bool
    """The line that closed what is wrapped around the edit was read as a part of it."""
    sections: int
    """Sections so far, of earlier edits in the stream too."""
    rest: list[str]
    """Whole lines with their endings."""

    def take(self, text: str, ending: str, number: int, closing: bool) -> list[Ev]:
        r"""Read one whole line.

        ``text`` is without its ``ending`` (``""``, ``"\n"``, ``"\r\n"`` or ``"\r"``),
        ``number`` its 1-based place in the stream; ``closing`` tells that it would close what
        is wrapped around the edit.
        """

    def partial(self, pending: str) -> str | None:
        """What of an unfinished line may be painted as added text; None for nothing."""

    def close(self, explicit: bool) -> list[Ev]:
        """End it because the input is complete, or what is wrapped around it was closed."""

    def cut(self, pending: str) -> list[Ev]:
        """End it because the stream was cut inside of the unfinished line ``pending``."""

    def over_at(self, pending: str) -> bool:
        """An unfinished line that ends the edit though its newline is missing."""


def whole(text: str, ending: str) -> str:
    """The line as it came."""
    return text + ending


def split_line(line: str) -> tuple[str, str]:
    r"""A whole line -> its text and its ending (``"\r"`` belongs to the ending)."""
    text = line[:-1] if line.endswith("\n") else line
    bare = text.removesuffix("\r")
    return bare, line[len(bare) :]
