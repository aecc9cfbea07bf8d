"""Whether there is a terminal that the app can be shown on."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from tui.errors import UsageError

_ERRORS_ELSEWHERE = "duetto draws on stderr too: do not redirect it; the log has what went wrong"


def require_screen(
    stdin: TextIO | None = None, stdout: TextIO | None = None, stderr: TextIO | None = None
) -> None:
    """Raise UsageError unless all three streams are a terminal that can show something.

    A small one will do: there the app says how small it is, and starts when it is enlarged.
    """
    stdin, stdout, stderr = stdin or sys.stdin, stdout or sys.stdout, stderr or sys.stderr
    if not (stdin.isatty() and stdout.isatty()):
        raise UsageError(
            'this needs a terminal; without one use: duetto --linear, or duetto exec "PROMPT"'
        )
    if not stderr.isatty():
        print(f"duetto: {_ERRORS_ELSEWHERE}", file=stdout)  # the error itself goes to the file
        raise UsageError(_ERRORS_ELSEWHERE)
    term = os.environ.get("TERM", "")
    if term in ("dumb", "unknown") or (not term and os.name == "posix"):
        named = f"TERM={term}" if term else "TERM is not set"
        raise UsageError(
            f"this terminal ({named}) cannot show a full screen; use: duetto --linear, or set TERM"
        )
