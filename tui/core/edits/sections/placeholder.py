"""Lines that stand for text that a model left out: ``# ... rest of the code unchanged ...``."""

from __future__ import annotations

import re

_COMMENT = re.compile(r"^\s*(?:#+|//+|/\*+|<!--|--+|;+|%+|\*+|\{/\*|\()\s*")
_DOTS = r"(?:\.{3}|\u2026)"
_LEFT = (
    r"\b(?:rest|existing|remain\w*|unchanged|omitted|snip\w*|truncated|as before|the same"
    r"|same as (?:before|above)"
    r"|(?:other|previous|same|more|old|original|your|keep\w*|skip\w*)\s+(?:the\s+)?"
    r"(?:code|lines?|methods?|functions?|imports?|class(?:es)?|fields?|tests?|content|stuff|here))\b"
)
"""What was left out, or that it stays: not the dots of "Load more..."."""
_BARE = re.compile(rf"^\s*{_DOTS}\s+.*{_LEFT}", re.IGNORECASE)
"""With a blank behind the dots: ``...rest,`` is JavaScript."""
_DOTTED = re.compile(rf"^{_DOTS}.*{_LEFT}|{_LEFT}[^.\u2026]*{_DOTS}\W*$", re.IGNORECASE)
"""Of a comment behind its sign: the dots begin it or end it."""
_SAID = re.compile(
    r"\b(?:rest of (?:the |this |your |my )?\w+|remaining \w+|existing \w+"
    r"|(?:remains?|stays?|is|are|left) (?:the same|unchanged|as (?:before|is|it is|they are))"
    r"|unchanged|same as (?:before|above)|omitted|no changes?|goes here)\b",
    re.IGNORECASE,
)
_LONGEST_CHARS = 200


def is_placeholder(line: str, *, shorter: bool = False) -> bool:
    """True if a line says that text is left out here.

    Without dots only a comment is one, and only where the text became ``shorter``: such words are
    in ordinary comments too. A bare ``...`` is none, it is Python.
    """
    dots = "..." in line or "\u2026" in line
    if not (dots or shorter) or len(line) > _LONGEST_CHARS:
        return False
    sign = _COMMENT.match(line)
    if sign is None:
        return dots and _BARE.match(line) is not None
    said = line[sign.end() :]
    return (dots and _DOTTED.search(said) is not None) or (
        shorter and (_SAID.search(said) is not None or (dots and not said.strip(" .\u2026*/->)}")))
    )
