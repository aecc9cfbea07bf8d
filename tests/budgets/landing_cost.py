"""What a token of a patch costs, by the hunks that stand in its file and by its own sections.

Run it as ``python -m tests.budgets.landing_cost``: microseconds of processor time for a token
of four characters. Nothing here may grow with the number of hunks.
"""

from __future__ import annotations

import gc
import time

from tui.core.landing import Landing
from tui.core.workspace import FileRead, Workspace

HUNKS = (0, 200, 1000)
SECTIONS = (50, 200, 800, 2000)
LIMIT = 2.0
"""How many times the cheapest of a row the dearest may cost."""
_LINES = 20_000
_AMONG = 302
"""Where the patch lands: some hunks are above, most are below."""
_HEAD = "*** Begin Patch\n*** Update File: a.py\n"
_LINE = ("+def ", "foo(", "bar,", "baz)", "\n+", "    ", "retu", "rn 1", "\n")
_FRAME = 144
"""Tokens between two frames."""


def by_hunks(count: int, lines: int = 600) -> float:
    """Microseconds a token of added lines among ``count`` hunks that wait for the user."""
    text = "".join(f"line {row}\n" for row in range(_LINES))
    workspace = Workspace(lambda path: FileRead(text.encode()), ask=True)
    earlier = [_section(3 * number + 10) for number in range(count)]
    if earlier:
        first = Landing(workspace, turn=1, call_id="earlier")
        first.feed(_HEAD + "".join(earlier) + "*** End Patch\n")
        first.finish(cut=False)
    landing = Landing(workspace, turn=2, call_id="now")
    landing.feed(f"{_HEAD}@@\n line {_AMONG}\n")
    tokens = _LINE * (lines // 2)
    started = _now()
    for number, token in enumerate(tokens):
        landing.feed(token)
        if number % _FRAME == 0:
            landing.tail()
    return (_now() - started) / len(tokens) * 1e6


def by_sections(count: int) -> float:
    """Microseconds a token of one patch with so many sections, each a changed line."""
    text = "".join(f"line {row}\n" for row in range(4 * count + 20))
    workspace = Workspace(lambda path: FileRead(text.encode()), ask=True)
    patch = _HEAD + "".join(_section(4 * number + 1) for number in range(count))
    patch += "*** End Patch\n"
    landing = Landing(workspace, turn=1, call_id="now")
    tokens = [patch[at : at + 4] for at in range(0, len(patch), 4)]
    started = _now()
    for number, token in enumerate(tokens):
        landing.feed(token)
        if number % _FRAME == 0:
            landing.tail()
    landing.finish(cut=False)
    cost = (_now() - started) / len(tokens) * 1e6
    if not landing.placed_all or len(landing.hunks) != count:
        raise AssertionError("the patch did not land")
    return cost


def _section(row: int) -> str:
    return f"@@\n line {row - 1}\n-line {row}\n+LINE {row}\n line {row + 1}\n"


def _now() -> float:
    return time.process_time()


def main() -> None:
    """Print both rows, and how far each is from flat."""
    gc.disable()
    rows = {
        "hunks in the file": [(count, min(by_hunks(count) for _ in range(3))) for count in HUNKS],
        "sections of one patch": [
            (count, min(by_sections(count) for _ in range(3))) for count in SECTIONS
        ],
    }
    for name, costs in rows.items():
        ratio = max(cost for _, cost in costs) / min(cost for _, cost in costs)
        shown = "  ".join(f"{count:,}: {cost:.1f}" for count, cost in costs)
        print(f"{name:<22} {shown}  us a token  x{ratio:.2f} (limit x{LIMIT:.1f})")


if __name__ == "__main__":
    main()
