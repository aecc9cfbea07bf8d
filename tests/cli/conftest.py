from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def logger() -> Iterator[logging.Logger]:
    """Ours, without the handlers of other tests, and so afterwards."""
    ours = logging.getLogger("tui")
    before = ours.handlers, ours.propagate, ours.level
    ours.handlers = []
    yield ours
    for handler in ours.handlers:
        handler.close()
    ours.handlers, ours.propagate, ours.level = before
