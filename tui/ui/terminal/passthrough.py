"""Words for the terminal outside, where tmux or GNU screen lies in between and keeps them.

tmux hands them on with ``allow-passthrough on``, screen in pieces.
"""

from __future__ import annotations

from collections.abc import Mapping

_SCREEN_PIECE = 700
"""GNU screen drops a wrapped string that is longer than 768."""


def wrapped(said: str, environment: Mapping[str, str]) -> str:
    """The same, wrapped as whatever lies in between hands it on."""
    if environment.get("TMUX"):
        doubled = said.replace("\x1b", "\x1b\x1b")
        return f"\x1bPtmux;{doubled}\x1b\\"
    if environment.get("STY"):
        pieces = range(0, len(said), _SCREEN_PIECE)
        return "".join(f"\x1bP{said[at : at + _SCREEN_PIECE]}\x1b\\" for at in pieces)
    return said
