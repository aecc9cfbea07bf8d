"""The fields of a request for a response: what each may be, and who sees to it.

They are those of openai-python 3.57 (`types/responses/response_create_params.py`), with the names
that Chat Completions and Messages have for the same, which are often sent by mistake. None is
dropped in silence: it does what it says, or is refused by its name, or the response names it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from tui.core.typed_data import typed

LOGPROBS = "message.output_text.logprobs"
MOST_NAME = 512
_Name = Annotated[str, Meta(max_length=MOST_NAME)]
_Notes = Annotated[
    dict[Annotated[str, Meta(max_length=64)], Annotated[str, Meta(max_length=512)]],
    Meta(max_length=16),
]
_Count = Annotated[int, Meta(ge=1)]
_PLACE = re.compile(r"\$\.([a-z_.]+)")


class _Field(Struct, frozen=True):
    kind: Any = Any
    """What it may be, beside null."""
    duty: Literal["here", "must", "may", "never"] = "may"
    """``here``: the bridge sees to it; ``must``: the endpoint says it, or the request is refused;
    ``may``: the endpoint says it, or the response names it as left out; ``never``: refused."""
    usual: Callable[[Any], bool] = lambda value: False
    """Whether a value asks for nothing."""
    instead: str = ""
    """What to do."""


def _is(*usual: object) -> Callable[[Any], bool]:
    return lambda value: value in usual


def _has(member: str, *usual: object) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and value.get(member) in usual


def _here(kind: Any = Any) -> _Field:
    return _Field(kind, "here")


def _must(kind: Any = Any, *usual: object) -> _Field:
    return _Field(kind, "must", _is(*usual))


def _may(kind: Any = Any, *usual: object) -> _Field:
    return _Field(kind, "may", _is(*usual))


def _named(name: str) -> _Field:
    """What another API calls so."""
    return _Field(Any, "must", _is(False, ""), f" Here it is '{name}'.")


_FIELDS: dict[str, _Field] = {
    "access_programs": _must(dict),
    "background": _Field(
        bool, "never", _is(False), "a response cannot be fetched later: read its answer"
    ),
    "background_options": _Field(
        dict, "never", _has("completion_window", None, "soonest"),
        "nothing is run in the background",
    ),
    "client_metadata": _here(),
    "context_management": _must(list),
    "conversation": _Field(
        Any, "never", _is(False),
        "no conversations are kept: send the items, or 'previous_response_id'",
    ),
    "generate": _here(),
    "image": _must(dict),
    "include": _Field(
        list[str], "must", lambda value: isinstance(value, list) and LOGPROBS not in value
    ),
    "input": _here(),
    "instructions": _here(str),
    "max_output_tokens": _may(_Count),
    "max_tool_calls": _here(_Count),
    "metadata": _here(_Notes),
    "model": _here(_Name),
    "moderation": _must(dict),
    "multi_agent": _Field(dict, "never", _has("enabled", False), "one agent answers"),
    "parallel_tool_calls": _may(bool, True),
    "previous_response_id": _here(_Name),
    "prompt": _must(dict),
    "prompt_cache_key": _here(str),
    "prompt_cache_options": _may(dict),
    "prompt_cache_options.prewarm": _here(bool),
    "prompt_cache_retention": _may(str),
    "reasoning": _may(dict),
    "reasoning.effort": _may(str),
    "reasoning.generate_summary": _here(str),
    "reasoning.summary": _here(str),
    "safety_identifier": _may(str),
    "service_tier": _may(str, "auto", "default"),
    "store": _here(bool),
    "stream": _here(bool),
    "stream_options": _may(dict),
    "stream_options.include_obfuscation": _may(bool, False),
    "temperature": _may(Annotated[float, Meta(ge=0, le=2)]),
    "text": _may(dict),
    "text.format": _Field(dict, "must", _has("type", "text")),
    "text.verbosity": _may(str, "medium"),
    "tool_choice": _may(Literal["auto", "none", "required"] | dict[str, Any], "auto", "none"),
    "tools": _here(list[dict[str, Any]]),
    "top_logprobs": _must(Annotated[int, Meta(ge=0, le=20)], 0),
    "top_p": _may(Annotated[float, Meta(ge=0, le=1)]),
    "truncation": _must(Literal["auto", "disabled"], "disabled"),
    "user": _may(str),
    # not of this API, but what servers of Chat Completions take
    "frequency_penalty": _may(float, 0),
    "logit_bias": _must(dict),
    "presence_penalty": _may(float, 0),
    "seed": _may(int),
    "stop": _must(str | list[str]),
    # the same under other APIs' names
    "function_call": _named("tool_choice"),
    "functions": _named("tools"),
    "logprobs": _named("top_logprobs"),
    "max_completion_tokens": _named("max_output_tokens"),
    "max_tokens": _named("max_output_tokens"),
    "messages": _named("input"),
    "n": _must(int, 1),
    "reasoning_effort": _named("reasoning.effort"),
    "response_format": _named("text.format"),
    "stop_sequences": _named("stop"),
    "system": _named("instructions"),
    "thinking": _named("reasoning.effort"),
    "verbosity": _named("text.verbosity"),
}  # fmt: skip
"""A field with rows of its own for what is in it is judged by those; who has no row, as `may`."""
_OTHER = _Field()
_HOLDERS = frozenset(name.partition(".")[0] for name in _FIELDS if "." in name)


def _shape() -> type[Struct]:
    """All that they may be, for one look at a request."""
    inner: dict[str, list[tuple[str, Any, Any]]] = {name: [] for name in _HOLDERS}
    for name, row in _FIELDS.items():
        holder, dot, member = name.partition(".")
        if dot:
            inner[holder].append((member, row.kind | None, None))
    kinds = {
        name: msgspec.defstruct(name, inner[name]) if name in inner else row.kind
        for name, row in _FIELDS.items()
        if "." not in name
    }
    return msgspec.defstruct("Fields", [(name, kind | None, None) for name, kind in kinds.items()])


_SHAPE = _shape()


class FieldFault(Struct, frozen=True):
    """Why a request cannot be taken, in words, and the field that is meant."""

    message: str
    code: str
    param: str


def fault(request: Mapping[str, Any]) -> FieldFault | None:
    """Why no endpoint can take a request; None: one may."""
    try:
        typed(request, _SHAPE)
    except msgspec.ValidationError as error:
        return _misfit(str(error))
    for name, row in _asked(request):
        if row.duty == "never":
            words = f"Unsupported parameter: '{name}'. Leave it out: {row.instead}."
            return FieldFault(words, "unsupported_parameter", name)
    return None


def _misfit(words: str) -> FieldFault:
    """A field that is not what it may be, in our words."""
    what, _, place = words.partition(" - at ")
    found = _PLACE.search(place)
    name = found[1] if found is not None else ""
    what = what.replace("Expected", "expected").replace("Invalid enum value", "unknown value")
    return FieldFault(f"Invalid '{name}': {what}.", "invalid_request", name)


def would_miss(request: Mapping[str, Any], said: Container[str]) -> FieldFault | None:
    """What of a request would be missed where an endpoint says only ``said``."""
    for name, row in _asked(request):
        if row.duty == "must" and name not in said:
            words = f"Unsupported parameter: '{name}'.{row.instead}"
            if not row.instead:
                words += " This model's endpoint has no word for it: leave it out, or ask another"
                words += " one."
            return FieldFault(words, "unsupported_parameter", name)
    return None


def unsaid(request: Mapping[str, Any], said: Container[str]) -> list[str]:
    """The fields of a request that an endpoint leaves out that says only ``said``."""
    return [name for name, row in _asked(request) if row.duty != "here" and name not in said]


def _asked(request: Mapping[str, Any]) -> Iterator[tuple[str, _Field]]:
    """The fields that ask for something, those in them one by one."""
    for name, value in request.items():
        pairs = [(name, value)]
        if name in _HOLDERS and isinstance(value, dict):
            pairs = [(f"{name}.{member}", value[member]) for member in value]
        for path, given in pairs:
            row = _FIELDS.get(path, _OTHER)
            if given not in (None, [], {}) and not row.usual(given):
                yield path, row
