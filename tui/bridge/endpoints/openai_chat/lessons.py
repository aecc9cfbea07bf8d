"""What a refusal teaches of a server's dialect: the same request is sent again without that."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tui.bridge.endpoints.base import Asked, Refused
from tui.bridge.endpoints.openai_chat.dialect import Dialect
from tui.bridge.endpoints.openai_chat.thoughts import FIELDS
from tui.bridge.endpoints.schemas import DISPENSABLE, without
from tui.bridge.endpoints.tools import Toolbox
from tui.core.wire.refused_fields import fields_refused

_LIMITS = ("max_tokens", "max_completion_tokens")
_THOUGHTS = re.compile(rf"\b(?:{'|'.join(FIELDS)})\b")
_TOO_LONG = re.compile(r"description\b.{0,80}too long.{0,80}?(?:length|most) (?:of )?(\d{1,6})\b")
_NOT_KNOWN = re.compile(
    r"(?i)un(?:supported|known|recogni[sz]ed|expected)|not (?:supported|permitted|allowed|know)"
    r"|does(?:n't| not) (?:support|know|allow)|extra|additional propert|invalid|should be|must be"
)
_NO_NULL = re.compile(
    r"(?i)\bcontent\b.{0,80}(?:must be a string|valid string|\bnull\b|\bnonetype\b|<nil>)"
    r"|(?:\bnull\b|\bnonetype\b|<nil>).{0,80}\bcontent\b"
)
"""That an assistant who only calls says nothing: some want an empty text."""
_OF_SCHEMAS = re.compile(r"(?i)schema|parameters|function_declarations")
_WANTED = re.compile(r"(?i)required|must be|should be|missing")
_QUOTED = re.compile(r"""["'`](\$?\w{2,40})["'`]""")


@dataclass(slots=True)
class Sent:
    """What one answer was asked for with."""

    toolbox: Toolbox | None = None
    body: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Turn(Asked):
    """A request that remembers how it was sent, also where more is known of it by then."""

    sent: Sent = field(default_factory=Sent)


def adapted(habits: Dialect, asked: Sent, error: Refused) -> Dialect | None:
    """The dialect without what a server complains of; None: it complains of something else."""
    words, sent = f"{error.param} {error}", asked.body
    changed = msgspec.structs.replace
    if "tools" in sent and (found := _TOO_LONG.search(words)) is not None:
        most = int(found[1])
        shorter = not habits.description_chars or most < habits.description_chars
        return changed(habits, description_chars=most) if shorter and most else None
    if not habits.alternate and "alternate" in words and "roles" in words:
        return changed(habits, alternate=True)
    if habits.null_content and _NO_NULL.search(words):
        return changed(habits, null_content=False)
    if not _NOT_KNOWN.search(words) or "passed back" in words:
        return None
    named = [one for one in _LIMITS if re.search(rf"\b{one}\b", words)]
    if habits.max_tokens in sent and habits.max_tokens in named:
        other = _LIMITS[1 - _LIMITS.index(habits.max_tokens)]
        if error.param == habits.max_tokens or other in named:
            return changed(habits, max_tokens=other) if other in named else None
    if habits.reasoning_back and "message" in words and _THOUGHTS.search(words):
        return changed(habits, reasoning_back="")
    if habits.strict_tools and re.search(r"\bstrict\b", words) and "tools" in sent:
        return changed(habits, strict_tools=False)
    if keywords := _unknown_keywords(words, asked) - {*habits.schema_omit}:
        return changed(habits, schema_omit=(*habits.schema_omit, *sorted(keywords)))
    refused = fields_refused(f"{error.code} {error}", error.param, sent, values=True)
    return changed(habits, omit=(*habits.omit, *refused)) if refused else None


def _unknown_keywords(words: str, asked: Sent) -> set[str]:
    """The keywords of schemas of tools that a complaint about schemas names between quotes."""
    if asked.toolbox is None or "tools" not in asked.body:
        return set()
    if not _OF_SCHEMAS.search(words) or _WANTED.search(words):
        return set()
    schemas = [function.parameters for function in asked.toolbox.functions]
    named = {name for name in _QUOTED.findall(words) if name in DISPENSABLE}
    return {name for name in named if without(schemas, {name}) != schemas}
