"""``python -m tui.cli`` and the ``duetto`` script."""

from __future__ import annotations

import atexit
import os
import sys

from tui import kept_frame


def main() -> None:
    """Run the command line; what was on the screen last time is there first."""
    atexit.register(_leave)  # who comes first goes last
    kept_frame.show(sys.argv[1:])
    from tui.cli import process

    process.end_at_once()
    if process.is_wanted(sys.argv[1:], os.environ):
        process.begin()
    from tui.cli.main import main as run

    run()


def _leave() -> None:
    """All is kept and closed: to take Python apart as well would take a tenth of a second."""
    from tui.cli import process

    process.leave()


if __name__ == "__main__":
    main()
