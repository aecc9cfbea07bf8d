"""duetto with a fault in it, named by the first argument; most break when a draft is typed.

For `test_ways_out` and `test_rescue`.
"""

from __future__ import annotations

import sys

from tui.cli.main import main
from tui.ui.app import DuettoApp
from tui.ui.screens.workbench import Workbench


def broken(*_: object) -> None:
    """Stands in for a handler of the screen."""
    raise ZeroDivisionError("a fault of ours")


def in_timer(self: Workbench, message: object) -> None:
    """A fault in a callback of the app's."""
    self.set_timer(0.01, broken)


def in_paint(self: Workbench, message: object) -> None:
    """A fault while a frame is painted."""
    DuettoApp._paint = broken
    self.app.call_later(broken)


def exits(self: Workbench, message: object) -> None:
    """Somebody ends the interpreter."""
    sys.exit(3)


FAULTS = {
    "in_handler": ("on_draft_changed", broken),
    "in_timer": ("on_draft_changed", in_timer),
    "in_paint": ("on_draft_changed", in_paint),
    "exit_in_handler": ("on_draft_changed", exits),
    "while_composing": ("compose", broken),
}

if __name__ == "__main__":
    fault = sys.argv.pop(1) if len(sys.argv) > 1 else "in_handler"
    setattr(Workbench, *FAULTS[fault])
    main()
