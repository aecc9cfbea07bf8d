"""What providers say of their limits in headers: how long to wait, and how much is left.

Names differ (``x-ratelimit-remaining-tokens``, ``anthropic-ratelimit-tokens-remaining``), and so
does the time when a limit is lifted: ``6m0s``, seconds, a date, Unix time in seconds or ms.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import datetime

from tui.core.wire.rate_limits import retry_after_s

_MOST_TOLD = 12
_MOST_CHARS = 512
"""Of a value of a response's metadata, as the Responses API has it."""
_LONGEST_S = 86_400.0
_DURATION = re.compile(
    r"(?:(?P<d>[\d.]+)d)?(?:(?P<h>[\d.]+)h)?(?:(?P<m>[\d.]+)m(?!s))?(?:(?P<s>[\d.]+)s)?"
    r"(?:(?P<ms>[\d.]+)ms)?"
)
_SECONDS = {"d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_UNIX_S, _UNIX_MS = 1e9, 1e12


def pause_s(headers: Mapping[str, str], unix_s: float) -> float | None:
    """How long to leave a provider alone that refused for its limits; None: it does not say.

    ``Retry-After`` first, Azure's ``retry-after-ms``; else until the last of those limits is
    lifted that have nothing left.
    """
    told = {name.lower(): value.strip() for name, value in headers.items()}
    if (exact := _number(told.get("retry-after-ms", ""))) is not None:
        return exact / 1000
    pause = retry_after_s(told, unix_s)
    if pause is not None:
        return pause
    waits = [
        wait
        for name, value in told.items()
        if "ratelimit" in name and "reset" in name
        if _number(told.get(name.replace("reset", "remaining"), "")) == 0
        if (wait := _until(value, unix_s)) is not None
    ]
    return max(waits, default=None)


def left(headers: Mapping[str, str], unix_s: float) -> str:
    """The limits and what is left of them, as JSON of the headers' names; empty: not said.

    When one is lifted is said in seconds, whatever its provider says: clocks differ.
    """
    told = {name.lower(): value for name, value in headers.items() if "ratelimit" in name.lower()}
    for name, value in told.items():
        if "reset" in name and (wait := _until(value.strip(), unix_s)) is not None:
            told[name] = format(wait, ".6g")
    text = json.dumps(dict(sorted(told.items())[:_MOST_TOLD])) if told else ""
    return text if len(text) <= _MOST_CHARS else ""


def _until(text: str, unix_s: float) -> float | None:
    number = _number(text)
    if number is not None:
        if number >= _UNIX_S:
            number = (number / 1000 if number >= _UNIX_MS else number) - unix_s
        return min(max(number, 0.0), _LONGEST_S)
    found = _DURATION.fullmatch(text)
    if text and found is not None:
        parts = [(_number(found[unit] or ""), each) for unit, each in _SECONDS.items()]
        return min(sum((count or 0.0) * each for count, each in parts), _LONGEST_S)
    try:
        wait = datetime.fromisoformat(text).timestamp() - unix_s
    except (ValueError, OverflowError, OSError):
        return None
    return min(max(wait, 0.0), _LONGEST_S)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < math.inf else None
