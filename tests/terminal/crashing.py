"""duetto with a fault in it: the screen breaks when a draft is typed. For `test_crash`."""

from __future__ import annotations

from tui.cli.main import main
from tui.ui.screens.workbench import Workbench


def broken(self: Workbench, message: object) -> None:
    """Stands in for a handler of the screen."""
    raise ZeroDivisionError("a fault of ours")


if __name__ == "__main__":
    Workbench.on_draft_changed = broken
    main()
