"""Errors of what the event loop calls by itself, told where Textual sees to errors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import TracebackType


class HandedOn:
    """Around code outside the app's messages: its error is raised among them, once.

    The loop's own handler would log it and go on with a screen that is not painted any more.
    """

    def __init__(self, post: Callable[[Callable[[], None]], object]) -> None:
        """``post`` runs a callable among the app's messages."""
        self._post = post

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        """Hand an error on; what ends the process goes its own way."""
        if not isinstance(error, Exception):
            return False
        self._post(partial(_raised, error))
        return True


def _raised(error: Exception) -> None:
    raise error
