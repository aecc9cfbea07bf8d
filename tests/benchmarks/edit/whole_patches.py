"""What a whole patch costs at once, as `duetto apply` does it: CPU, and memory of what waits."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Mapping
from time import process_time

from tests.benchmarks.edit import samples
from tui.core.edits.hunk import PLACED
from tui.core.edits.workspace import FileRead, Workspace
from tui.core.patches.landing import Landing
from tui.errors import DuettoError

_EQUAL = "@@\n x\n-x\n+y\n x\n"


def applied_s(hunks: int, files: int, lines: int) -> float:
    """CPU seconds to land so many hunks, evenly over files of so many lines, and to accept them.

    Raises:
        DuettoError: not all of them landed.
    """
    text = samples.source(lines)
    each = hunks // files
    names = [f"src/file_{number}.py" for number in range(files)]
    section = samples.patch("apply_patch", text, samples.spread(text, each))
    body = "".join(section.splitlines(keepends=True)[2:-1])
    parts = "".join(f"*** Update File: {name}\n{body}" for name in names)
    data = samples.text_of(text).encode()
    workspace = _workspace(dict.fromkeys(names, data))
    gc.collect()
    began_s = process_time()
    landing = _landed(workspace, parts)
    workspace.accept()
    spent_s = process_time() - began_s
    if sum(hunk.stage in PLACED for hunk in landing.hunks) != each * files:
        raise DuettoError("not all hunks of the patch landed")
    return spent_s


def waiting(sections: int, lines: int) -> tuple[float, float]:
    """Megabytes and CPU seconds of sections that fit at each of so many equal lines."""
    parts = "*** Update File: a.txt\n" + _EQUAL * sections
    data = b"x\n" * lines
    began_s = process_time()
    _landed(_workspace({"a.txt": data}), parts)
    spent_s = process_time() - began_s
    workspace = _workspace({"a.txt": data})
    workspace.open("a.txt")
    gc.collect()
    tracemalloc.start()
    try:
        _landed(workspace, parts)
        return tracemalloc.get_traced_memory()[1] / 1e6, spent_s
    finally:
        tracemalloc.stop()


def _workspace(files: Mapping[str, bytes]) -> Workspace:
    return Workspace(lambda path: FileRead(files.get(path)), ask=True)


def _landed(workspace: Workspace, parts: str) -> Landing:
    landing = Landing(workspace, turn=1, call_id="bench")
    landing.feed(f"*** Begin Patch\n{parts}*** End Patch\n")
    landing.finish(cut=False)
    return landing
