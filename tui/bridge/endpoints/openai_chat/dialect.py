"""Where servers of Chat Completions differ: what a provider's file says under ``options``.

What is asked for by default is what all of them understand, the small ones on one's own machine
among them. A wrong guess is no harm: what a server says it does not know is left out the next time
(see `endpoint.ChatEndpoint`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from tui.bridge.endpoints.base import Refused

KIND = "openai-chat"
_EFFORTS = {"minimal": "low", "xhigh": "high", "max": "high"}
_TIERS = {"fast": "priority", "auto": "", "default": ""}


class Dialect(msgspec.Struct, frozen=True):
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


def dialect(options: Mapping[str, Any]) -> Dialect:
    """The habits that options tell. Raises Refused: an option is not understood."""
    try:
        return msgspec.convert(dict(options), Dialect)
    except msgspec.ValidationError as error:
        words = f"An option of this endpoint is not understood: {error}."
        raise Refused(400, "invalid_endpoint", words) from error
