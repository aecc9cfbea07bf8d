"""What all tests share: garbage is collected between them, no keyring is asked."""

from __future__ import annotations

import gc
import itertools
import os
import signal

import pytest
from hypothesis import HealthCheck, settings

# Whoever runs the tests may have keys in the keyring, and be asked to unlock it.
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"

# A shell starts what runs in its background without these, as `nohup` does; programs leave it so.
for _number, _usual in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGQUIT, signal.SIG_DFL),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)

# An example takes what the machine has left for it.
settings.register_profile("here", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("here")

_TESTS_A_COLLECTION = 200
_NEVER = 1_000_000
_LONGEST_NAME = 200
_ended = itertools.count(1)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Megabytes name no test: they would stand in every list and report."""
    if isinstance(val, str | bytes) and len(val) > _LONGEST_NAME:
        return f"{argname}-of-{len(val)}"
    return None


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
