from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def logger() -> Iterator[logging.Logger]:
    """Ours, without the handlers of other tests; it and asyncio's as before afterwards."""
    ours, loop = logging.getLogger("tui"), logging.getLogger("asyncio")
    before = [(log, log.handlers, log.propagate, log.level) for log in (ours, loop)]
    ours.handlers = []
    yield ours
    for handler in ours.handlers:
        with contextlib.suppress(OSError):
            handler.close()
    for log, handlers, propagate, level in before:
        log.handlers, log.propagate, log.level = handlers, propagate, level
