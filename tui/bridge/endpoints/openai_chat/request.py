"""The body of a request of Chat Completions, field by field."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tui.bridge.endpoints.base import Asked, left_out
from tui.bridge.endpoints.openai_chat.conversation import messages
from tui.bridge.endpoints.openai_chat.dialect import ChatOptions
from tui.bridge.endpoints.tools import ANY_ID, Function, Toolbox, ToolChoice
from tui.bridge.endpoints.tools import without as schemas_without
from tui.core.wire import json_writing
from tui.core.wire.efforts import EFFORTS, nearest_effort
from tui.core.wire.refusals import without

_MEMBERS = ("name", "description", "schema", "strict")


def response_format(asked: Asked, chat_options: ChatOptions) -> dict[str, Any] | None:
    """The body's ``response_format``; None: it has none."""
    wanted = _wanted(asked)
    kind = wanted.get("type")
    if kind not in ("json_schema", "json_object") or not chat_options.response_format:
        return None
    if kind == "json_object" or chat_options.response_format == "json_object":
        return {"type": "json_object"}
    nested = wanted.get("json_schema")  # as Chat Completions itself has it
    told = nested if isinstance(nested, dict) else wanted
    schema = {key: told[key] for key in _MEMBERS if told.get(key) is not None}
    return {"type": "json_schema", "json_schema": {"name": "answer", **schema}}


def structure_in_words(asked: Asked, chat_options: ChatOptions) -> str:
    """What the model has to be told in words, because the provider does not see to it."""
    wanted = _wanted(asked)
    kind = wanted.get("type")
    if kind not in ("json_schema", "json_object"):
        return ""
    if kind == "json_object":
        return (
            "" if chat_options.response_format else "Answer with one JSON object and nothing else."
        )
    if chat_options.response_format == "json_schema":
        return ""
    schema = wanted.get("schema")
    told = json_writing.request(schema if isinstance(schema, dict) else {})
    return f"Answer with JSON that matches this JSON schema, and with nothing else:\n{told}"


def _wanted(asked: Asked) -> Mapping[str, Any]:
    text = asked.request.get("text")
    wanted = text.get("format") if isinstance(text, dict) else None
    return wanted if isinstance(wanted, dict) else {}


_MORE = " (The instructions say more.)"


def description(function: Function, chat_options: ChatOptions) -> str:
    """A tool's description, as long as the provider takes it."""
    most = chat_options.description_chars
    if not _is_long(function, chat_options):
        return function.description
    return (function.description[: max(0, most - len(_MORE))] + _MORE)[:most]


def descriptions_in_words(toolbox: Toolbox, chat_options: ChatOptions) -> str:
    """What the instructions have to say of tools; empty: nothing."""
    long = [one for one in toolbox.functions if _is_long(one, chat_options)]
    return "\n\n".join(f"About the tool {one.name}:\n{one.description}" for one in long)


def _is_long(function: Function, chat_options: ChatOptions) -> bool:
    return 0 < chat_options.description_chars < len(function.description)


_AS_THEY_ARE = (
    "temperature",
    "top_p",
    "seed",
    "stop",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "user",
    "safety_identifier",
)
"""Fields that both languages have."""
_CALL_IDS = {"any": ANY_ID, "mistral": re.compile(r"[A-Za-z0-9]{9}")}


def toolbox(asked: Asked, chat_options: ChatOptions) -> Toolbox:
    """The tools of a request."""
    return Toolbox(asked.request, asked.items, call_ids=_CALL_IDS[chat_options.call_ids])


def body(asked: Asked, chat_options: ChatOptions, box: Toolbox) -> dict[str, Any]:
    """The request of a streamed answer. Raises Refused: it cannot be asked of this model."""
    request = asked.request
    told: dict[str, Any] = {"model": asked.model, "stream": True}
    instructions = (
        request.get("instructions"),
        descriptions_in_words(box, chat_options),
        structure_in_words(asked, chat_options),
    )
    said = [text for text in instructions if isinstance(text, str) and text]
    told["messages"] = messages(asked, chat_options, box, said)
    if chat_options.stream_usage:
        told["stream_options"] = {"include_usage": True}
    told |= _tools(request, chat_options, box)
    told |= {key: request[key] for key in _AS_THEY_ARE if request.get(key) not in (None, [], {})}
    told |= _limits(asked, chat_options)
    told |= _manner(request, chat_options)
    _effort(told, asked, chat_options)
    if (format_ := response_format(asked, chat_options)) is not None:
        told["response_format"] = format_
    told.update(chat_options.body)
    return without(told, chat_options.omit)


def unsaid_of(asked: Asked, chat_options: ChatOptions, told: Mapping[str, Any]) -> list[str]:
    """What a request asks for and its body does not say.

    Raises Refused: something of it would be missed.
    """
    places = {
        **{name: name for name in _AS_THEY_ARE},
        "max_output_tokens": chat_options.max_tokens,
        "parallel_tool_calls": "parallel_tool_calls" if "tools" in told else "model",
        "prompt_cache_key": chat_options.cache_key,
        "reasoning.effort": chat_options.effort.partition(".")[0],
        "service_tier": "service_tier",
        "text.verbosity": "verbosity",
        "tool_choice": "tool_choice",
    }
    said = {name for name, place in places.items() if place in told}
    if chat_options.effort_off and chat_options.effort_off.items() <= told.items():
        said.add("reasoning.effort")
    if _wanted(asked).get("type") in ("json_schema", "json_object"):
        said.add("text.format")
    left = left_out(asked.request, said)
    return [*left, *(name for name in chat_options.omit if name in asked.request.keys() - {*left})]


def _tools(request: Mapping[str, Any], chat_options: ChatOptions, box: Toolbox) -> dict[str, Any]:
    choice = box.choice(request.get("tool_choice"))
    functions = []
    for offered in box.offered(choice):
        function: dict[str, Any] = {"name": offered.name}
        if words := description(offered, chat_options):
            function["description"] = words
        function["parameters"] = schemas_without(
            offered.parameters, frozenset(chat_options.schema_omit)
        )
        if offered.strict and chat_options.strict_tools:
            function["strict"] = True
        functions.append({"type": "function", "function": function})
    if not functions:
        return {}
    told: dict[str, Any] = {"tools": functions}
    if choice.mode == "none" or (choice.mode == "required" and chat_options.forced_calls):
        told["tool_choice"] = _choice(choice)
    parallel = request.get("parallel_tool_calls")
    if isinstance(parallel, bool) and chat_options.parallel_calls:
        told["parallel_tool_calls"] = parallel
    return told


def _choice(choice: ToolChoice) -> str | dict[str, Any]:
    if choice.mode == "required" and len(choice.names) == 1:
        return {"type": "function", "function": {"name": choice.names[0]}}
    return choice.mode


def _limits(asked: Asked, chat_options: ChatOptions) -> dict[str, Any]:
    """The most output tokens: as the request says, and no more than the model may have."""
    facts, wanted = asked.facts, asked.request.get("max_output_tokens")
    if not isinstance(wanted, int) or wanted <= 0:
        wanted = facts.ask_output_tokens  # unasked, most providers give as much as there is room
    if not wanted or not chat_options.max_tokens:
        return {}
    return {chat_options.max_tokens: min(wanted, facts.max_output_tokens or wanted)}


def _manner(request: Mapping[str, Any], chat_options: ChatOptions) -> dict[str, Any]:
    """How and in which queue it is answered."""
    told: dict[str, Any] = {}
    tier, key, text = (request.get(one) for one in ("service_tier", "prompt_cache_key", "text"))
    if chat_options.tier and isinstance(tier, str) and chat_options.tiers.get(tier, tier):
        told["service_tier"] = chat_options.tiers.get(tier, tier)
    if chat_options.cache_key and isinstance(key, str) and key:
        told[chat_options.cache_key] = key
    if chat_options.verbosity and isinstance(text, dict) and text.get("verbosity"):
        told["verbosity"] = text["verbosity"]
    return told


def _effort(told: dict[str, Any], asked: Asked, chat_options: ChatOptions) -> None:
    """Say the effort where the provider reads it."""
    reasoning = asked.request.get("reasoning")
    wanted = reasoning.get("effort") if isinstance(reasoning, dict) else None
    if not isinstance(wanted, str) or not wanted or not chat_options.effort:
        return
    if wanted == "none" and chat_options.effort_off:
        told.update(chat_options.effort_off)
        return
    effort = _known(wanted, asked, chat_options)
    if not effort:
        return
    *path, last = chat_options.effort.split(".")
    table = told
    for name in path:
        table = table.setdefault(name, {})
    table[last] = effort


def _known(wanted: str, asked: Asked, chat_options: ChatOptions) -> str:
    """The model's own word for an effort; empty: it has none."""
    mapped, known = chat_options.efforts.get(wanted), asked.facts.efforts
    if known is None:
        own = wanted if mapped is None else mapped
        # most servers do not know this word; what they think of by themselves is the least harm
        return "" if own == "none" and mapped is None else own
    if not known or wanted in known:
        return wanted if known else ""
    if mapped in known and mapped not in EFFORTS:
        return mapped
    if wanted != "none" and not any(one in EFFORTS[1:] for one in known):
        return "default" if "default" in known else ""  # it thinks, or it does not (Groq's Qwen)
    nearest = nearest_effort(wanted, known)
    # of a provider's own word and the nearest level the stronger one: it rounds up, if it says so
    return max(nearest, mapped, key=EFFORTS.index) if mapped in known else nearest
