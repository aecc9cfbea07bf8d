"""``python -m tui.cli`` and the ``duetto`` script."""

from __future__ import annotations

import os
import sys

from tui import kept_frame


def main() -> None:
    """Run the command line; what was on the screen last time is there first."""
    kept_frame.show(sys.argv[1:])
    from tui.cli import process

    process.end_at_once()
    if process.is_wanted(sys.argv[1:], os.environ):
        process.begin()
    from tui.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
