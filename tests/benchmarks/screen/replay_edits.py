"""How an edit is told in each notation: what comes before, around and behind its lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

EditKind = Literal["edit", "blocks", "diff", "whole"]
"""V4A, SEARCH/REPLACE, a unified diff, and the file whole."""


@dataclass(frozen=True, slots=True)
class Notation:
    """Lines that come into a file behind two that are there."""

    head: str
    prefix: str
    """Of an added line."""
    tail: str


def notation(kind: EditKind, path: str, first: str, second: str) -> Notation:
    """Lines behind ``first`` and ``second`` of a file; of a whole file, all lines are new."""
    if kind == "blocks":
        context = f"{first}\n{second}\n"
        head = f"{path}\n<<<<<<< SEARCH\n{context}=======\n{context}"
        return Notation(head, "", ">>>>>>> REPLACE\n")
    if kind == "diff":  # its end is not known yet: no counts, as models are asked to write it
        head = f"--- a/{path}\n+++ b/{path}\n@@ ... @@\n {first}\n {second}\n"
        return Notation(head, "+", "")
    if kind == "whole":
        return Notation(f"{path}\n```python\n", "", "```\n")
    head = f"*** Begin Patch\n*** Update File: {path}\n@@\n {first}\n {second}\n"
    return Notation(head, "+", "*** End Patch\n")
