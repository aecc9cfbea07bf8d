"""Whether what was pasted is text: an image or a program on the clipboard is none."""

from __future__ import annotations

import re

_LOOKED_AT = 100_000
"""Characters: what is no text shows it early."""
_FEW = 16
"""So many odd characters may be in any text: a log, a name in another encoding."""
_SHARE = 0.05
_ODD = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
"""Control characters that no text has, and what could not be decoded. Esc is in coloured output."""


def no_text(pasted: str) -> str:
    """Why a paste is not taken, in a sentence; empty: it is text."""
    if not pasted:
        return (
            "There is no text on the clipboard. Pictures cannot be pasted: save one as a file of"
            " the workspace, and name it with @."
        )
    looked_at = pasted[:_LOOKED_AT]
    odd = len(_ODD.findall(looked_at))
    if odd > _FEW and odd > len(looked_at) * _SHARE:
        return (
            f"That is no text ({odd:,} of {len(looked_at):,} characters cannot be shown): nothing"
            " was pasted. Name a file of the workspace with @ instead."
        )
    return ""
