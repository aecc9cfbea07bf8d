"""How long a server asks to be left alone: ``Retry-After``, wherever it says it."""

from __future__ import annotations

import math
from collections.abc import Mapping

_NAME, _DATE = "retry-after", "date"


def retry_after_s(headers: Mapping[str, object], unix_s: float | None = None) -> float | None:
    """The pause that headers ask for, in seconds; None: they ask for none.

    HTTP allows seconds and a date (RFC 9110, 10.2.3). A date is measured against the server's own
    ``Date``, for clocks differ; else against ``unix_s``, which is now.
    """
    told = {str(name).lower(): str(value).strip() for name, value in headers.items()}
    text = told.get(_NAME, "")
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        return _until(text, told.get(_DATE, ""), unix_s)
    return seconds if 0 <= seconds < math.inf else None


def pause_header(seconds: float | None) -> dict[str, str]:
    """The same as a header in seconds, whole ones if it is a date; empty: no pause."""
    return {} if seconds is None else {_NAME: format(seconds, ".15g")}


def _until(date: str, server_date: str, unix_s: float | None) -> float | None:
    from email.utils import parsedate_to_datetime  # 10 ms, and rarely asked for

    try:
        until_s = parsedate_to_datetime(date).timestamp()
        now_s = parsedate_to_datetime(server_date).timestamp() if server_date else unix_s
    except (ValueError, TypeError, OverflowError):
        return None
    return None if now_s is None else float(max(0, math.ceil(until_s - now_s)))
