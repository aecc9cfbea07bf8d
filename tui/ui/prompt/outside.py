"""The draft in the user's own editor: the terminal is handed over, and taken back."""

from __future__ import annotations

from typing import Protocol

from tui.core.edited import Edited


class OutsideEditor(Protocol):
    """What opens an editor; ``effects.text_editor`` is one."""

    def refusal(self) -> str:
        """Why there is none to open, in a sentence; empty: there is one."""

    async def edit(self, text: str) -> Edited:
        """Have a text edited; the terminal is the editor's until this returns."""

    def written(self) -> str | None:
        """What the editor has saved by now; None: there is none, or it has saved nothing yet."""


class NoEditor:
    """There is none."""

    def refusal(self) -> str:
        """Always the same."""
        return "There is no editor to open here."

    async def edit(self, text: str) -> Edited:
        """Nothing was edited."""
        return Edited(None, self.refusal())

    def written(self) -> str | None:
        """Nothing."""
        return None


def joined(edited: str, given: str, now: str) -> str:
    """The draft after an edit, with what came into the prompt meanwhile: a prompt not sent."""
    if now == given:
        return edited
    came = now.removesuffix(given).rstrip("\n") if given else now
    return "\n".join(filter(None, (came, edited)))
