"""What a lane changed, as lines to read, in numbered hunks that can be taken alone.

A hunk is what a difference shows in one piece: changes with hardly a line between them. Hunks are
numbered through all files. A file that is new, or gone, is one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache

from tui.core.patches.bringing_home import LaneFile
from tui.core.text.diff import LineBlock, blocks
from tui.core.text.rows import keep_ends

_SHOWN_LINES = 600
"""Of a difference."""
_AROUND = 2
"""Lines that are shown before and behind what differs."""
_BYTES = "latin-1"
"""Has a sign for every byte, so that no file is too odd to be compared and joined again."""
_Hunks = Sequence[Sequence[LineBlock]]


def difference(changes: Mapping[str, LaneFile]) -> Iterator[str]:
    """The lines of all differences, as far as they are shown; a path begins with ``=``."""
    lines, number = 0, 0
    for path, one in changes.items():
        state = " (new)" if one.base is None else " (deleted)" if one.now is None else ""
        yield f"={path}{state}"
        for line in _compared(one.base or b"", one.now or b""):
            if (lines := lines + 1) > _SHOWN_LINES:
                yield "… the rest is not shown: take it to see all"
                return
            if line.startswith("@@"):
                number += 1
                line = f"{line} {number}"
            yield line


def hunk_count(changes: Mapping[str, LaneFile]) -> int:
    """How many there are."""
    return sum(len(_hunks(one.base or b"", one.now or b"")) for one in changes.values())


def with_hunks(changes: Mapping[str, LaneFile], chosen: Collection[int]) -> dict[str, LaneFile]:
    """The same changes, but only the hunks with these numbers."""
    found: dict[str, LaneFile] = {}
    first = 1
    for path, one in changes.items():
        hunks = _hunks(one.base or b"", one.now or b"")
        mine = [hunk for number, hunk in enumerate(hunks, first) if number in chosen]
        first += len(hunks)
        if len(mine) == len(hunks) > 0:
            found[path] = one
        elif mine:
            found[path] = LaneFile(one.base, _joined(one, mine))
    return found


def _joined(one: LaneFile, hunks: _Hunks) -> bytes:
    """The base with these changes."""
    old, new = _lines(one.base or b""), _lines(one.now or b"")
    text, at = list[str](), 0
    for block in (block for hunk in hunks for block in hunk):
        text += [*old[at : block.old_first], *new[block.new_first : block.new_last]]
        at = block.old_last
    return "".join([*text, *old[at:]]).encode(_BYTES)


def _lines(data: bytes) -> list[str]:
    return keep_ends(data.decode(_BYTES))


@lru_cache(maxsize=32)
def _hunks(was: bytes, now: bytes) -> _Hunks:
    """Changes that are shown together, as the texts are looked at several times a second."""
    found: list[list[LineBlock]] = []
    for block in blocks(_lines(was), _lines(now)):
        if found and block.old_first - found[-1][-1].old_last <= 2 * _AROUND:
            found[-1].append(block)
        else:
            found.append([block])
    return found


@lru_cache(maxsize=32)
def _compared(was: bytes, now: bytes) -> Sequence[str]:
    """The lines of a difference, as far as they may be shown."""
    old, new = _lines(was), _lines(now)
    found: list[str] = []
    for hunk in _hunks(was, now):
        if len(found) > _SHOWN_LINES:
            break
        found += _unified(old, new, hunk)
    return found[: _SHOWN_LINES + 1]


def _unified(old: Sequence[str], new: Sequence[str], hunk: Sequence[LineBlock]) -> Iterator[str]:
    """One hunk, with what stands around it."""
    first, last = hunk[0], hunk[-1]
    at, end = max(first.old_first - _AROUND, 0), min(last.old_last + _AROUND, len(old))
    new_at, new_end = first.new_first - first.old_first + at, last.new_last - last.old_last + end
    yield f"@@ -{_span(at, end)} +{_span(new_at, new_end)} @@"
    for block in hunk:
        yield from (f" {_shown(line)}" for line in old[at : block.old_first])
        yield from (f"-{_shown(line)}" for line in old[block.old_first : block.old_last])
        yield from (f"+{_shown(line)}" for line in new[block.new_first : block.new_last])
        at = block.old_last
    yield from (f" {_shown(line)}" for line in old[at:end])


def _shown(line: str) -> str:
    return line.rstrip("\r\n").encode(_BYTES).decode(errors="replace")


def _span(at: int, end: int) -> str:
    return f"{at + 1}" if end - at == 1 else f"{at + (end > at)},{end - at}"
