"""An answer that was cut: what it left half-said, and what the model is asked to go on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from tui.core.instructions import STOPPED_BY_ACCIDENT

if TYPE_CHECKING:
    from tui.engine.response_items import Call, Earlier, OpenMessage

_TAIL_LINES, _TAIL_CHARS = 30, 4_000
"""Of what stands, so much is quoted as its end."""
_BEHIND = "Go on exactly behind its last character; say nothing of it again, and nothing before it."

_CHANGED = (
    "What it was writing was edited or decided on since: see what stands now. "
    "Send what is still missing, as a new patch where it is one."
)

_STARTED_ANEW = (
    "duetto was started anew since: see what stands now of what it was writing. "
    "Send what is still missing, as a new patch where it is one."
)


class CutReply(Struct):
    """What an answer left half-said."""

    message: OpenMessage | None = None
    call: Call | None = None
    """Of a patch."""
    stands: str = ""
    """The text of the one or the other, up to its last character."""
    whole: Sequence[str] = ()
    """The messages before it that are whole: said once more, they are not shown again."""
    earlier: Earlier | None = None
    """The patches before it, which are not applied twice."""
    apart: bool = False
    """It was cut in a patch in an earlier run, and what comes cannot be joined with that."""

    def settle(self) -> bool:
        """Whether it can be gone on with where it stands: nobody typed in it, or decided on it."""
        half = self.call or self.message
        landing = half.landing if half is not None else None
        able = landing is not None and landing.reopen(self.stands, probe=True) is not None
        if not able:
            self.message = self.call = None
        return able or (half is None and not self.apart)

    def words(self, *, settled: bool) -> str:
        """What the model is asked."""
        lead = STOPPED_BY_ACCIDENT
        if not settled:
            return f"{lead} {_STARTED_ANEW if self.apart else _CHANGED}"
        if self.call is not None:
            again = f"Call the tool again with the rest of the patch. {_BEHIND}"
            return f"{lead} The patch that you were sending ends with:\n\n{self._tail}\n\n{again}"
        if self.message is not None and self.stands:
            return f"{lead} It ends in the middle, with:\n\n{self._tail}\n\n{_BEHIND}"
        return f"{lead} Go on with it."

    @property
    def _tail(self) -> str:
        return "".join(self.stands.splitlines(keepends=True)[-_TAIL_LINES:])[-_TAIL_CHARS:]
