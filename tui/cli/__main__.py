"""``python -m tui.cli`` and the ``duetto`` script."""

from __future__ import annotations

import os
import sys

from tui.cli import process


def main() -> None:
    """Run the command line."""
    process.end_at_once()
    if process.is_wanted(sys.argv[1:], os.environ):
        process.begin()
    from tui.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
