"""What a server says is left of its rate limits, and how long it asks to be left alone.

Limits stand in headers, and in the events of some servers. Names differ
(``x-ratelimit-remaining-tokens``, ``anthropic-ratelimit-tokens-remaining``, the IETF's
``ratelimit: "name";r=5;t=30``), and so does the time when a limit is lifted: ``6m0s``, ``20ms``,
seconds. Moments of the calendar are left out: the core has no calendar, and the bridge says seconds
instead. What cannot be read is not guessed at.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tui.core.text.patterns import pattern

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


_MOST_LIMITS = 12
_LONGEST_S = 31 * 86_400.0
_CALENDAR_S = 1e9
"""A number that large is a moment, not a duration."""
_LIMIT_NAME = pattern(r"(?:x-)?(?:[a-z]+-)?ratelimit-(?P<rest>[a-z0-9-]+)")
_WORD = pattern(r"(?:^|-)(?P<word>limit|remaining|reset)(?:-|$)")
_DURATION = pattern(
    r"(?:(?P<d>[\d.]+)d)?(?:(?P<h>[\d.]+)h)?(?:(?P<m>[\d.]+)m(?!s))?(?:(?P<s>[\d.]+)s)?"
    r"(?:(?P<ms>[\d.]+)ms)?"
)
_SECONDS = {"d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_ITEM = pattern(r'(?:"(?P<name>[^"]{0,40})"\s*)?;\s*(?P<parameters>[a-z0-9=;\s.]+)')
CODEX_EVENT = "codex.rate_limits"
PAUSE = "pause"
"""The name of a limit that is only known by the pause that a refusal asks for."""


class Limit(NamedTuple):
    """One limit as it was told."""

    name: str
    """``requests``, ``tokens``, ``input tokens``...; may be empty."""
    remaining: float
    most: float | None = None
    """How much there is when nothing was used; None: not told."""
    until_s: float | None = None
    """When it is lifted, in the clock's monotonic seconds; None: not told."""

    @property
    def share(self) -> float | None:
        """0..1: what is left of it; None: not known."""
        if not self.remaining:
            return 0.0
        return None if not self.most else min(self.remaining / self.most, 1.0)


def limits_of(headers: Mapping[str, object], now: float) -> tuple[Limit, ...]:
    """The limits that headers tell of; empty: none. Never raises."""
    told: dict[str, dict[str, str]] = {}
    structured: list[Limit] = []
    for name, value in headers.items():
        text = str(value).strip()
        if name.lower() == "ratelimit":
            structured += _structured(text, now)
        elif found := _LIMIT_NAME.fullmatch(name.lower()):
            kind, word = _parted(found["rest"])
            if word:
                told.setdefault(kind, {})[word] = text
    plain = (_limit(name, words, now) for name, words in told.items())
    found_all = [limit for limit in (*plain, *structured) if limit is not None]
    return tuple(found_all[:_MOST_LIMITS])


def limits_in(text: str, now: float) -> tuple[Limit, ...]:
    """The same of headers as JSON, as the bridge puts them into a response's metadata."""
    try:
        headers = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    return limits_of(headers, now) if isinstance(headers, dict) else ()


def limits_of_event(raw: Mapping[str, object], now: float) -> tuple[Limit, ...]:
    """Those of a vendor's event that tells shares in percent. Never raises."""
    told = raw.get("rate_limits")
    found = []
    for which in ("primary", "secondary") if isinstance(told, Mapping) else ():
        window = told.get(which) if isinstance(told, Mapping) else None
        if not isinstance(window, Mapping):
            continue
        used = _number(window.get("used_percent"))
        if used is None:
            continue
        reset = window.get("resets_in_seconds", window.get("reset_after_seconds"))
        left_s, minutes = _number(reset), _number(window.get("window_minutes"))
        until_s = None if left_s is None else now + min(left_s, _LONGEST_S)
        name = f"% of {_span(minutes)}" if minutes else "%"
        found.append(Limit(name, max(100.0 - used, 0.0), 100.0, until_s))
    return tuple(found)


def seconds_until(text: str) -> float | None:
    """A duration (``42``, ``6m0s``, ``20ms``) in seconds; None if it cannot be read as one."""
    number = _number(text)
    if number is not None:
        return None if number >= _CALENDAR_S else min(number, _LONGEST_S)
    found = _DURATION.fullmatch(text)
    if not text or found is None:
        return None
    parts = [(_number(found[unit] or ""), each) for unit, each in _SECONDS.items()]
    return min(sum((count or 0.0) * each for count, each in parts), _LONGEST_S)


def tightest(limits: tuple[Limit, ...], now: float) -> Limit | None:
    """The one that will be felt first; what was lifted meanwhile counts no more."""
    current = [one for one in limits if one.until_s is None or one.until_s > now]
    known = [(one.share, one) for one in current if one.share is not None]
    return min(known, key=lambda pair: (pair[0], -(pair[1].until_s or 0.0)))[1] if known else None


def sentences(limits: tuple[Limit, ...], now: float) -> list[str]:
    """Each that holds now, in words."""
    return [_sentence(one, now) for one in limits if one.until_s is None or one.until_s > now]


_YEAR_S = 366 * 86_400


def wait_words(seconds: float) -> str:
    """``42 s``, ``12 min``, ``3.5 h``, ``4 days``: it changes no more than it must."""
    left = math.ceil(max(seconds, 0.0))
    if left > _YEAR_S:
        return "more than a year"
    if left < 7200:
        return f"{left} s" if left < 120 else f"{math.ceil(left / 60)} min"
    return f"{left / 3600:.1f} h" if left < 172_800 else f"{math.ceil(left / 86_400)} days"


def _sentence(one: Limit, now: float) -> str:
    left = "" if one.until_s is None else wait_words(one.until_s - now)
    if one.name == PAUSE:
        return f"The server says to wait {left}." if left else "The server says to wait."
    name = one.name or "requests"
    if name.startswith("%"):
        said = f"{one.remaining:.0f}{name} left"
    else:
        whole = f" of {one.most:,.0f}" if one.most else ""
        said = f"{one.remaining:,.0f}{whole} {name} left"
    return f"Limit: {said}{f', all of it again in {left}' if left else ''}."


def _parted(rest: str) -> tuple[str, str]:
    """``remaining-input-tokens`` and ``input-tokens-remaining`` alike: kind and word."""
    found = _WORD.search(rest)
    if found is None:
        return "", ""
    kind = f"{rest[: found.start()]} {rest[found.end() :]}".replace("-", " ").strip()
    return kind, found["word"]


def _limit(name: str, words: Mapping[str, str], now: float) -> Limit | None:
    remaining = _number(words.get("remaining", "").partition(";")[0])
    if remaining is None:
        return None
    left_s = seconds_until(words.get("reset", ""))
    most = _number(re.split("[,;]", words.get("limit", ""))[0])
    return Limit(name, remaining, most, None if left_s is None else now + left_s)


def _structured(text: str, now: float) -> Iterator[Limit]:
    """``"burst";r=5;t=30`` of the IETF's draft, and its older ``limit=9, remaining=5, reset=3``."""
    plain = dict(part.strip().split("=", 1) for part in text.split(",") if part.count("=") == 1)
    if "remaining" in plain and (limit := _limit("", plain, now)) is not None:
        yield limit
        return
    for item in _ITEM.finditer(text):
        pairs = [part.strip().partition("=") for part in item["parameters"].split(";")]
        values = {key: _number(value) for key, _, value in pairs}
        remaining, left_s = values.get("r"), values.get("t")
        if remaining is not None:
            until_s = None if left_s is None else now + min(left_s, _LONGEST_S)
            yield Limit(item["name"] or "", remaining, None, until_s)


def _span(minutes: float) -> str:
    if minutes < 120:
        return f"{minutes:.0f} min"
    return f"{minutes / 60:.0f} h" if minutes < 48 * 60 else f"{minutes / 1440:.0f} days"


def _number(value: object) -> float | None:
    try:
        number = float(str(value)) if value is not None else math.nan
    except ValueError:
        return None
    return number if 0 <= number < math.inf else None
