"""``python -m tui.cli`` and the ``duetto`` script."""

from __future__ import annotations

import os
import sys

from tui.cli import interrupts, line_mode


def main() -> None:
    """Run the command line."""
    interrupts.end_at_once()
    if line_mode.is_wanted(sys.argv[1:], os.environ):
        line_mode.begin()
    from tui.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
