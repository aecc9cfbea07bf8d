"""``python -m tui.cli`` and the ``duetto`` script."""

from __future__ import annotations

from tui.cli.main import main

if __name__ == "__main__":
    main()
