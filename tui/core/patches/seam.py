"""Joins a text that was cut with what a model says when it is asked to go on.

It may go on exactly, repeat the end of what stands, or begin anew. What it repeats is left out; an
answer that begins anew and says something else takes the place of what stands from there on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.core.patches.landing import Landing

_FAR_CHARS = 4_000
"""No end of what stands is looked for that begins further back, but for its beginning."""
_LEAST_HALF_LINE = 3
"""Characters that a half line has, with the lines above it, that is taken for repeated."""
_LEAST_LINES = 12
"""The same of whole lines."""
_LEAST = 16
"""The same of what begins within a line."""


class Seam:
    """The place where one text ends and its continuation begins."""

    def __init__(self, stands: str) -> None:
        self.stands = stands
        self.kept: int | None = None
        """So many characters of what stands hold; None: it is not known yet."""
        self._came = ""
        """What cannot be told yet from a repetition."""
        self._starts = _starts(stands)

    @property
    def anew(self) -> bool:
        """It begins anew, and says something else behind what is kept."""
        return self.kept is not None and self.kept < len(self.stands)

    def feed(self, text: str) -> str:
        """The next piece; returns what goes behind what is kept of the text that stands."""
        if self.kept is not None:
            return text
        self._came += text
        stands, came = self.stands, self._came
        if not came:
            return ""
        there = [at for at in self._starts if _agree(stands, at, came)]
        if there and len(came) < len(stands) - there[0]:
            self._starts = there
            return ""
        if there:
            return self._from(len(stands), len(stands) - there[0])
        return self._otherwise()

    def end(self) -> str:
        """No more comes: what was held back is new, unless all of it stands."""
        if self.kept is not None:
            return ""
        stands, came = self.stands, self._came
        whole = [at for at in self._starts if came and came.startswith(stands[at:])]
        if whole:
            return self._from(len(stands), len(stands) - whole[0])
        begun = self._starts[:1] == [0] and stands.startswith(came)
        return self._from(len(stands), len(came) if begun else 0)

    def _otherwise(self) -> str:
        """Nothing is repeated to its end."""
        head, line_end, _ = self.stands.partition("\n")
        begins = f"{head}{line_end}"
        if line_end and head.strip() and self._came.startswith(begins):
            both = zip(self.stands, self._came, strict=False)
            same = next((at for at, (one, other) in enumerate(both) if one != other), 0)
            return self._from(same, same)
        return self._from(len(self.stands), 0)

    def _from(self, kept: int, left_out: int) -> str:
        self.kept, came, self._came = kept, self._came, ""
        return came[left_out:]


def _agree(stands: str, at: int, came: str) -> bool:
    """Whether what came says what stands from here on, as far as both go."""
    if len(came) < len(stands) - at:
        return stands.startswith(came, at)
    return came.startswith(stands[at:])


def _starts(stands: str) -> list[int]:
    """Where a repetition may begin, furthest back first."""
    end, line = len(stands), stands.rfind("\n") + 1
    half = bool(stands[line:].strip())
    found = [0] if any(map(str.isalnum, stands)) else []
    for at in range(max(end - _FAR_CHARS, 1), end):
        begins = stands[at - 1] == "\n"
        least = _LEAST_HALF_LINE if half and begins else _LEAST_LINES if begins else _LEAST
        rest = stands[at:]
        told = len(rest.strip()) * 2 >= least
        if half:  # a row of the same sign goes on with the same
            told = at < line or any(map(str.isalnum, rest))
        if end - at >= least and told:
            found.append(at)
    return found


class Joint:
    """Where a stream goes on with what an earlier one left."""

    def __init__(self, landing: Landing, stands: str) -> None:
        self.landing = landing
        self.seam = Seam(stands)
        self.prose = 0
        """Characters of what holds that are no patch, once that is known."""
        self.apart = False
        """It cannot be joined, or is another patch: it stands on its own."""
        self._behind: list[str] = []

    @property
    def known(self) -> bool:
        """Whether what comes repeats what stands is known."""
        return self.seam.kept is not None

    @property
    def text(self) -> str:
        """All that stands now."""
        return "".join([self.seam.stands[: self.seam.kept], *self._behind])

    def feed(self, text: str, *, last: bool = False) -> str:
        """The next piece; returns what the landing is to be fed."""
        before = self.known
        new = self.seam.feed(text)
        if last:
            new += self.seam.end()
        if self.known and not before:
            self._open()
            if self.apart and self.seam.anew:
                new = self.seam.stands[: self.seam.kept] + new
        if not self.apart:
            self._behind.append(new)
        return new

    def _open(self) -> None:
        stands = self.seam.stands
        holds = stands[: self.seam.kept]
        prose = None
        if not self.seam.anew or self.landing.cut_alike(holds, stands):
            prose = self.landing.reopen(holds)
        if prose is None:
            self.landing.take_out_cut(stands)
            self.apart = True
        else:
            self.prose = prose
