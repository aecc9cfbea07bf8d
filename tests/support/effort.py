"""What something costs in lines that are run: the same on each machine, however busy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def lines_run(act: Callable[[], object]) -> int:
    """How many lines this runs; a loop's lines count each time."""
    count, before = 0, sys.gettrace()

    def traced(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        count += event == "line"
        return traced

    sys.settrace(traced)
    try:
        act()
    finally:
        sys.settrace(before)
    return count
