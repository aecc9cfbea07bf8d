"""The walks that docs/house.md writes down, compared to real ones: who of ours calls whom.

A walk is followed by a profiler's callback: each time a function of ours is entered that ends one,
the calls that are open are taken, ours only. In the document a walk is a numbered list under a
heading, each hop as ``file`` and function; a wrong one is told with the list to put there.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from tests.support.sources import ROOT
from tests.support.stepped_pair import stepped

HOUSE = ROOT / "docs" / "house.md"
_HOP = re.compile(r"^\d+\. `(tui/\S+)` (\S+)$", re.MULTILINE)
Walk = list[str]
"""``tui/ui/editor/editor.py Editor.on_key``, one a hop."""


def written(heading: str) -> Walk:
    """The walk under this heading of the document."""
    text = HOUSE.read_text(encoding="utf-8").partition(f"\n### {heading}\n")[2]
    return [f"{file} {name}" for file, name in _HOP.findall(text.partition("\n### ")[0])]


def as_list(walk: Walk) -> str:
    """As the document has it."""
    hops = [hop.split(" ", 1) for hop in walk]
    return "\n".join(f"{number}. `{file}` {name}" for number, (file, name) in enumerate(hops, 1))


@contextmanager
def followed(*ends: str) -> Iterator[dict[str, Walk]]:
    """The first walk to each of these hops, from the outermost of our calls that are open."""
    found: dict[str, Walk] = {}

    def enter(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and (hop := _hop(frame)) in ends and hop not in found:
            found[hop] = _walk(frame)

    before: Callable[..., object] | None = sys.getprofile()
    sys.setprofile(enter)
    try:
        yield found
    finally:
        sys.setprofile(before)


def _hop(frame: FrameType) -> str:
    code = frame.f_code
    _, ours, path = code.co_filename.rpartition(f"{ROOT}/tui/")
    return f"tui/{path} {code.co_qualname}" if ours else ""


def _walk(frame: FrameType | None) -> Walk:
    hops = []
    while frame is not None:
        if (hop := _hop(frame)) and "<" not in hop:
            hops.append(hop)
        frame = frame.f_back
    return hops[::-1]


async def test_a_key_goes_from_the_editor_to_the_buffer_and_is_painted() -> None:
    buffer, painted = written("A key to the buffer"), written("A key to its repaint")
    async with stepped({"a.py": "x\n" * 50}, "a.py") as pair:
        with followed(buffer[-1], painted[-1]) as found:
            await pair.press("z")
        assert pair.buffer.lines[0] == "zx"
    assert found.get(buffer[-1]) == buffer, as_list(found.get(buffer[-1], []))
    assert found.get(painted[-1]) == painted, as_list(found.get(painted[-1], []))
    assert max(len(buffer), len(painted)) <= 9
