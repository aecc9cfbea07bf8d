"""Why a model's call is not answered as it was asked."""

from __future__ import annotations


class CallError(Exception):
    """A call that cannot be answered as asked; the text says why."""
