"""What all tests share: garbage is collected between them, no keyring is asked."""

from __future__ import annotations

import gc
import itertools
import os

import pytest

# Whoever runs the tests may have keys in the keyring, and be asked to unlock it.
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"

_TESTS_A_COLLECTION = 200
_NEVER = 1_000_000
_ended = itertools.count(1)


def pytest_collection_finish() -> None:
    """Set 20,000 tests aside, and collect all generations only when we say so.

    What hundreds of apps leave takes seconds to collect: not while something is timed.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*gc.get_threshold()[:2], _NEVER)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Collect now and then, behind a test."""
    if next(_ended) % _TESTS_A_COLLECTION == 0:
        gc.collect()
