"""The signals that end a process: whichever comes, the terminal is given back first."""

from __future__ import annotations

import signal

_NAMES = (
    *("SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGPROF"),
    *("SIGXCPU", "SIGXFSZ", "SIGIO", "SIGPWR", "SIGSTKFLT", "SIGTRAP", "SIGSYS", "SIGABRT"),
)
"""Not SIGKILL, which nobody sees; not SIGPIPE, which Python ignores; not SIGVTALRM, the alarm over
lexers; and not those of a fault in the machine's code, after which no handler of Python's runs."""
ENDING: tuple[signal.Signals, ...] = tuple(
    signal.Signals[name] for name in _NAMES if name in signal.Signals.__members__
)
