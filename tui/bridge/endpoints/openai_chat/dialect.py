"""Where servers of Chat Completions differ: options of a provider's file, and what refusals teach.

What is asked for by default is what all of them understand, the small ones on one's own machine
among them. A wrong guess is no harm: what a server says it does not know is left out the next time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct, field

from tui.bridge.endpoints.base import Asked, Refused
from tui.bridge.endpoints.tools import DISPENSABLE, Toolbox, without
from tui.core.wire.refusals import fields_refused

KIND = "openai-chat"
FIELDS = ("reasoning_content", "reasoning", "thinking")
"""Where servers put the reasoning of a message."""
_EFFORTS = {"minimal": "low", "xhigh": "high", "max": "high"}
_TIERS = {"fast": "priority", "auto": "", "default": ""}


class ChatOptions(msgspec.Struct, frozen=True):
    """One provider's habits; other options (of discovery, of routes) are others' business."""

    system_role: Literal["system", "developer"] = "system"
    """Role of the instructions."""
    late_system: Literal["user", "system", "developer"] = "user"
    """Role of a system or developer message behind the first user message: many templates of
    open models refuse a system message there."""
    alternate: bool = False
    """Neighbouring messages of the user are sent as one: its templates refuse two."""
    max_tokens: Literal["max_tokens", "max_completion_tokens", ""] = "max_tokens"
    """Field of the most output tokens; empty: it is not told."""
    effort: str = "reasoning_effort"
    """Where the effort goes; dots lead into tables (``reasoning.effort``); empty: nowhere."""
    efforts: dict[str, str] = msgspec.field(default_factory=lambda: dict(_EFFORTS))
    """Our efforts -> its own, where nothing is known of the model's; others go as they are."""
    effort_off: dict[str, Any] = {}
    """What the body says instead of the effort ``none``."""
    reasoning_back: Literal["auto", "", "reasoning_content", "reasoning", "thinking"] = "auto"
    """Field of an assistant message in which it wants its model's thoughts back; ``thinking``:
    as a part of the content (Mistral); empty: not at all; ``auto``: as they came, with the calls
    that they led to. OpenRouter's ``reasoning_details`` and Google's signatures are always sent
    back, for whoever makes them wants them."""
    unsigned_calls: dict[str, Any] = {}
    """What the first call of a message has that its provider did not sign (Google refuses calls
    of other models without it)."""
    think_tags: bool = True
    """A text that begins with ``<think>`` (or thinking, thought) begins with thoughts."""
    think_begun: bool = False
    """The prompt has opened the tag already: all before ``</think>`` is thought."""
    stream_usage: bool = True
    """It knows ``stream_options.include_usage``."""
    parallel_calls: bool = True
    """It knows ``parallel_tool_calls``."""
    description_chars: int = 0
    """The longest description of a tool that it takes; 0: any. Longer ones are told in words."""
    strict_tools: bool = True
    """It knows ``strict`` of a function."""
    schema_omit: tuple[str, ...] = ()
    """Keywords of JSON schemas that it does not know."""
    null_content: bool = True
    """A message that only calls has ``null`` as its content; else it has an empty text."""
    user_after_tool: bool = True
    """A user's message may follow a tool's; else the assistant says a word between them."""
    response_format: Literal["json_schema", "json_object", ""] = "json_schema"
    """How far it knows structured output; what it does not know is said in words."""
    tiers: dict[str, str] = msgspec.field(default_factory=lambda: dict(_TIERS))
    """Service tiers -> its own names, empty: not told; others go as they are."""
    tier: bool = True
    """It knows ``service_tier``."""
    cache_key: str = ""
    """Field of ``prompt_cache_key``; empty: it has none."""
    cache_key_header: str = ""
    """Header for the same (xAI: ``x-grok-conv-id``)."""
    verbosity: bool = False
    """It knows ``verbosity``."""
    files: bool = False
    """It takes documents (``file`` parts)."""
    forced_calls: bool = True
    """It takes a ``tool_choice`` that forces a call."""
    call_ids: Literal["any", "mistral"] = "any"
    """``mistral``: nine letters and digits."""
    omit: tuple[str, ...] = ()
    """Fields of the body that it refuses."""
    body: dict[str, Any] = {}
    """Fields that every request to it has."""
    path: str = "/chat/completions"
    """Behind the base URL."""


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


class SentRequest(Struct):
    """What one answer was asked for with."""

    toolbox: Toolbox | None = None
    body: Mapping[str, Any] = field(default_factory=dict)
    left_out: Sequence[str] = ()
    """What was asked for and is not in the body."""


class ChatTurn(Asked, frozen=True):
    """A request that remembers how it was sent, also where more is known of it by then."""

    sent: SentRequest = field(default_factory=SentRequest)


def adapted(habits: ChatOptions, asked: SentRequest, error: Refused) -> ChatOptions | None:
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


def _unknown_keywords(words: str, asked: SentRequest) -> set[str]:
    """The keywords of schemas of tools that a complaint about schemas names between quotes."""
    if asked.toolbox is None or "tools" not in asked.body:
        return set()
    if not _OF_SCHEMAS.search(words) or _WANTED.search(words):
        return set()
    schemas = [function.parameters for function in asked.toolbox.functions]
    named = {name for name in _QUOTED.findall(words) if name in DISPENSABLE}
    return {name for name in named if without(schemas, {name}) != schemas}
