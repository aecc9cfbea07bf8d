"""How a copied text gets to the clipboard of the terminal that shows it, also over SSH.

OSC 52 asks the terminal for it. tmux takes that only with ``set-clipboard on``, and hands it
through in a wrapping with ``allow-passthrough on``: it gets both. GNU screen hands through pieces.
A program on this machine (``pbcopy``, ``wl-copy``, ``xclip``) is somebody else's business, see
`effects.clipboard_tool`.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping

from tui.ui.terminal.passthrough import wrapped

MOST_BYTES = 74_994
"""Of the text: xterm and hterm take 100,000 characters of base64."""


def copying(text: str, environment: Mapping[str, str]) -> str:
    """What to write to the terminal so that it takes the text; empty: it is too long for that."""
    data = _encoded(text)
    if len(data) > MOST_BYTES:
        return ""
    asking = f"\x1b]52;c;{base64.b64encode(data).decode()}\x07"
    through = wrapped(asking, environment)
    return f"{asking}{through}" if environment.get("TMUX") else through


def too_long(text: str) -> str:
    """What to say of a text that the terminal does not take."""
    size = len(_encoded(text))
    return (
        f"{size:,} bytes are too many for the terminal's clipboard ({MOST_BYTES:,});"
        " Ctrl+V in duetto pastes them."
    )


def _encoded(text: str) -> bytes:
    """UTF-8; bytes of a file that was none as they were, halves of a pair as question marks."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")
