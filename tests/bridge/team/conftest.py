"""Loggers as they were before: the command's own handlers are no other test's."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def loggers() -> Iterator[None]:
    """Ours and asyncio's."""
    both = [logging.getLogger(name) for name in ("tui", "asyncio")]
    before = [(logger, logger.handlers, logger.propagate, logger.level) for logger in both]
    for logger in both:
        logger.handlers = list(logger.handlers)
    yield
    for logger, handlers, propagate, level in before:
        logger.handlers, logger.propagate, logger.level = handlers, propagate, level
