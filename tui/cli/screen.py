"""Whether there is a terminal that the app can be shown on."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from tui.errors import UsageError

MIN_COLUMNS = 40
MIN_ROWS = 12


def require_screen(stdin: TextIO | None = None, stdout: TextIO | None = None) -> None:
    """Raise UsageError unless stdin and stdout are a terminal that is large enough."""
    stdin, stdout = stdin or sys.stdin, stdout or sys.stdout
    if not (stdin.isatty() and stdout.isatty()):
        raise UsageError('this needs a terminal; without one use: duetto exec "PROMPT"')
    if os.environ.get("TERM") == "dumb":
        raise UsageError(
            "this terminal (TERM=dumb) cannot show duetto; set TERM, or use: duetto exec"
        )
    columns, rows = os.get_terminal_size(stdout.fileno())
    if 0 < columns < MIN_COLUMNS or 0 < rows < MIN_ROWS:
        raise UsageError(
            f"the terminal is {columns}x{rows}, duetto needs {MIN_COLUMNS}x{MIN_ROWS}: enlarge it"
        )
