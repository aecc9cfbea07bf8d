"""The process that watches a large tree: setting that up takes seconds, and holds up its process.

``python -m tui.effects.watcher ROOT``: on stdout an empty list when changes are seen, then
lists of changes, each with its kind and path, a line each. It ends with its stdin.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterable, Iterator
from itertools import islice

from tui.effects.watcher import BURST_MS, MAX_BURST_MS, relative_path

AT_ONCE = 200
"""Changes in a line: each line is a turn of the app's event loop."""


class Begun:
    """Asked by the watch whether it is to end: the first time says that it has begun."""

    told = False

    def is_set(self) -> bool:
        """It ends with its process."""
        if not self.told:
            self.told = True
            print("[]", flush=True)
        return False


def lines(burst: Iterable[tuple[int, str]], root: str) -> Iterator[str]:
    """What is said of a burst, without what does not matter."""
    told = ([int(change), path] for change, path in burst if relative_path(path, root))
    while part := list(islice(told, AT_ONCE)):
        yield json.dumps(part)


def main() -> None:
    """Watch until stdin ends."""
    import watchfiles  # not before it is known that this is the process

    root = sys.argv[1]

    def listen() -> None:
        sys.stdin.buffer.read()
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    for burst in watchfiles.watch(
        root,
        watch_filter=None,
        debounce=MAX_BURST_MS,
        step=BURST_MS,
        stop_event=Begun(),
        rust_timeout=0,
        ignore_permission_denied=True,
    ):
        for line in lines(burst, root):
            print(line, flush=True)


if __name__ == "__main__":
    main()
