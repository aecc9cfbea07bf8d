"""Each scenario of a counterpart ends in one line: ``ok NAME`` or ``FAILED NAME: what``."""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Iterator

failures: list[str] = []


def want(condition: object, what: str) -> None:
    """What must be so. Raises AssertionError with what is missing."""
    if not condition:
        raise AssertionError(what)


@contextlib.contextmanager
def scenario(name: str, *, told: bool = True) -> Iterator[None]:
    """Play one; what goes wrong in it does not stop the next. ``told``: also when it is well."""
    try:
        yield
    except (Exception, SystemExit) as error:
        failures.append(name)
        where = traceback.extract_tb(error.__traceback__)[-1]
        print(f"FAILED {name}: {type(error).__name__}: {error} (line {where.lineno})", flush=True)
    else:
        if told:
            print(f"ok {name}", flush=True)


def finish() -> None:
    """End the program, with 1 if anything failed."""
    sys.exit(1 if failures else 0)
