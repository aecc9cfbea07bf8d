"""Tests over a table: one test a rule, which plays all its rows and names those that failed."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

Test = Callable[..., Any]


def each(names: str, rows: Iterable[Any]) -> Callable[[Test], Test]:
    """Run a test for each row: like ``parametrize``, but as one test; the rows share fixtures.

    ``names`` are the arguments that a row gives, with commas between them.

    Raises:
        BaseExceptionGroup: From the test, with what failed; each failure notes its row.
    """
    listed, table = [name.strip() for name in names.split(",")], list(rows)

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def play(**given: Any) -> None:
            with _failures() as failures:
                for row in table:
                    with _noted(row, failures):
                        test(**given, **_named(listed, row))

        @functools.wraps(test)
        async def play_async(**given: Any) -> None:
            with _failures() as failures:
                for row in table:
                    with _noted(row, failures):
                        await test(**given, **_named(listed, row))

        return given_less(play_async if inspect.iscoroutinefunction(test) else play, listed)

    return decorate


def given_less(test: Test, names: Iterable[str]) -> Test:
    """The test, which no fixture gives these arguments."""
    signature = inspect.signature(test)
    kept = [one for name, one in signature.parameters.items() if name not in names]
    vars(test)["__signature__"] = signature.replace(parameters=kept)
    return test


@contextlib.contextmanager
def case(*row: object) -> Iterator[None]:
    """A row that a test plays by itself: what fails in here is told with it."""
    try:
        yield
    except (Exception, pytest.fail.Exception) as error:
        error.add_note(f"row: {row!r:.500}")
        raise


def _named(names: list[str], row: Any) -> dict[str, Any]:
    return dict(zip(names, row if len(names) > 1 else [row], strict=True))


@contextlib.contextmanager
def _noted(row: Any, failures: list[BaseException]) -> Iterator[None]:
    try:
        with case(row):
            yield
    except (Exception, pytest.fail.Exception) as error:
        failures.append(error)


@contextlib.contextmanager
def _failures() -> Iterator[list[BaseException]]:
    failures: list[BaseException] = []
    yield failures
    if failures:
        raise BaseExceptionGroup("some rows failed", failures)
