"""What a server does not take of a request, learnt from its refusal: it is asked again without.

Many servers speak this API, each as far as it goes, and models of one provider differ: a field
that one of them wants is an error at the next. A refusal that names such a field says that nothing
was done, so that asking again is safe; what was learnt holds for that model from then on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from tui.bridge.endpoints.anthropic.models import EFFORTS, Ways
from tui.bridge.endpoints.base import Refused
from tui.core.wire.refused_fields import fields_refused, without

_COMPLAINT = re.compile(
    r"extra (inputs|fields)|not (permitted|allowed|supported|available|accepted)|unsupported|"
    r"unknown|unrecognized|unexpected|deprecated|(does|do|is) ?n.t support|does not support|"
    r"cannot (both )?be specified|may not be enabled",
    re.I,
)
_MOST = re.compile(r"\bmax_tokens\b\D{0,3}\d+ > (?P<most>\d+)")
_ROOM = re.compile(r"(?P<input>\d+) \+ \d+ > (?P<window>\d+)")
_SIGNATURE = re.compile(r"\bsignature\b.{0,60}\bthinking\b|\bthinking\b.{0,60}\bsignature\b", re.S)
_LEAST_ROOM = 1024
_MOST_MODELS = 256
MOST, ROOM = "most ", "room "
"""How a lesson begins that is a number of tokens: of any answer of that model, of this one."""
FIELD = "field "
"""How a lesson begins that is any other field's path."""
THOUGHTS = "thoughts"
"""The lesson that thoughts of this conversation are not that server's own."""
_INNER = ("eager_input_streaming", "cache_control", "disable_parallel_tool_use")
_OUTER = ("speed", "service_tier", "metadata", "stop_sequences", "temperature", "top_p")
_BUDGET, _ADAPTIVE, _THINKING = "budget_tokens", "adaptive", "thinking"
_REST, _FORCED, _CHOICE = "disabled", "forced", "tool_choice"
_EFFORT, _DISPLAY, _FORMAT = "effort", "display", "format"
_PLACES = (
    *((name, re.compile(rf"\b{name}\b")) for name in (*_INNER, *_OUTER)),
    (_DISPLAY, re.compile(r"\bdisplay\b")),
    (_FORCED, re.compile(r"forces? tool use|\btool_choice\b.*\bthinking\b", re.S)),
    (_CHOICE, re.compile(r"\btool_choice\b(?!.*disable_parallel)|\bforced tool\b", re.S)),
    (_REST, re.compile(r"\bdisabled\b")),
    # a server that names both wants the second one
    (_BUDGET, re.compile(r"thinking\.type\.enabled|\bbudget_tokens\b.*\badaptive\b", re.S)),
    (_ADAPTIVE, re.compile(r"\badaptive\b")),
    (_FORMAT, re.compile(r"\boutput_config\.format\b|\bstructured outputs?\b|\boutput_format\b")),
    (_EFFORT, re.compile(r"\beffort\b|\boutput_config\b")),
    (_THINKING, re.compile(r"\bthinking\b")),
)


class Lessons:
    """What was learnt of the models of one endpoint."""

    def __init__(self) -> None:
        self._by_model: dict[str, frozenset[str]] = {}

    def of(self, model: str) -> frozenset[str]:
        """What is not taken there."""
        return self._by_model.get(model, frozenset())

    def learn(self, model: str, learnt: str) -> None:
        """Keep it in mind; of numbers the newest one, and so many models' as there may be."""
        rest = self._by_model.pop(model, frozenset())
        if learnt.startswith(MOST):
            rest = frozenset(one for one in rest if not one.startswith(MOST))
        self._by_model[model] = rest | {learnt}
        if len(self._by_model) > _MOST_MODELS:
            del self._by_model[next(iter(self._by_model))]


def passes(learnt: str) -> bool:
    """A lesson about one request, not about the server."""
    return learnt == THOUGHTS or learnt.startswith(ROOM)


def lesson(error: Refused) -> str:
    """What a refusal says that the server does not take; empty: it says nothing of that kind."""
    words = str(error)
    if error.status not in (400, 422):
        return ""
    if (most := _MOST.search(words)) is not None:
        return f"{MOST}{int(most['most'])}"
    if _SIGNATURE.search(words.lower()):
        return THOUGHTS
    if "max_tokens" in words and (room := _ROOM.search(words)) is not None:
        tokens = int(room["window"]) - int(room["input"])
        return f"{ROOM}{tokens}" if tokens >= _LEAST_ROOM else ""
    if not _COMPLAINT.search(words):
        return ""
    return next((name for name, place in _PLACES if place.search(words.lower())), "")


def other_lesson(error: Refused, body: Mapping[str, Any]) -> str:
    """A lesson about any other field of what was sent; empty: it names none."""
    refused = fields_refused(f"{error.code} {error}", error.param, body)
    return f"{FIELD}{refused[0]}" if refused else ""


def fields_in(lessons: frozenset[str]) -> list[str]:
    """The names of what is not sent; lessons of numbers and of thoughts are not about fields."""
    fields = (one.removeprefix(FIELD) for one in lessons)
    return sorted(one for one in fields if " " not in one and one != THOUGHTS)


def adapted(known: Ways, lessons: frozenset[str]) -> Ways:
    """How the model wants to be asked, by what was learnt."""
    if _BUDGET in lessons:
        known = replace(known, thinking="adaptive", efforts=known.efforts or EFFORTS)
    elif _ADAPTIVE in lessons:
        known = replace(known, thinking="budget")
    if _THINKING in lessons or {_BUDGET, _ADAPTIVE} <= lessons:
        known = replace(known, thinking="none")
    if _REST in lessons or _FORCED in lessons:
        forced = known.thinks_when_forced and _FORCED not in lessons
        known = replace(known, rests=_REST not in lessons, thinks_when_forced=forced)
    if _CHOICE in lessons:
        known = replace(known, forces=False)
    if _EFFORT in lessons:
        known = replace(known, efforts=())
    limits = [int(one.split()[1]) for one in lessons if one.startswith((MOST, ROOM))]
    known = replace(known, most_tokens=min(limits, default=None))
    return replace(known, structured=known.structured and _FORMAT not in lessons)


def leave_out(body: dict[str, Any], lessons: frozenset[str]) -> None:
    """Take out of a body what is not taken there."""
    for name in lessons.intersection(_OUTER):
        body.pop(name, None)
    inner = lessons.intersection(_INNER)
    for holder in _holders(body) if inner else ():
        for name in inner:
            holder.pop(name, None)
    others = [one.removeprefix(FIELD) for one in lessons if one.startswith(FIELD)]
    if others:
        left = without(body, others)
        body.clear()
        body.update(left)
    if _DISPLAY in lessons and "thinking" in body:
        body["thinking"].pop("display", None)
    if body.get("tool_choice") == {"type": "auto"}:
        del body["tool_choice"]


def _holders(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All blocks, tools and the choice of one."""
    yield from body.get("tools", ())
    yield from body.get("system", ())
    yield from (block for message in body["messages"] for block in message["content"])
    yield body.get("tool_choice", {})
