"""A request of the Responses API as one of the Messages API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tui.bridge.endpoints.anthropic.caching import mark
from tui.bridge.endpoints.anthropic.content import Block, told_as_json
from tui.bridge.endpoints.anthropic.conversation import Conversation, conversation
from tui.bridge.endpoints.anthropic.lessons import THOUGHTS, adapted, leave_out
from tui.bridge.endpoints.anthropic.models import Ways, nearest, ways
from tui.bridge.endpoints.anthropic.options import VERSION, Options
from tui.bridge.endpoints.base import Asked
from tui.bridge.endpoints.telling import characters_in
from tui.bridge.endpoints.tools import Choice, Toolbox
from tui.core.wire.events import Usage

_INTERLEAVED = "interleaved-thinking-2025-05-14"
_FAST = "fast-mode-2026-02-01"
_FAST_TIERS = frozenset({"fast", "priority", "ultrafast"})
_LEAST_BUDGET = 1024
_BUDGETS = {
    "minimal": 1024, "low": 4096, "medium": 10_240, "high": 24_576, "xhigh": 40_960, "max": 60_000,
}  # fmt: skip
"""Tokens to think in, by effort, where a model is given a number."""
_CHARS_PER_TOKEN = 3
"""So few that a prompt surely has not more tokens than are reckoned."""
_JSON_ONLY = "Answer with one JSON object and with nothing else."
_CALL_ONLY = "Answer with a call of a tool, not with words alone."
"""Said where a call is wanted of a model that refuses to be forced."""


@dataclass(frozen=True, slots=True)
class Turn(Asked):
    """A request that may take several answers: a model that pauses is asked to go on."""

    said: list[Block] = field(default_factory=list)
    """The blocks of the answers so far, as they came."""
    spent: list[Usage] = field(default_factory=list)
    """What each of them took."""
    lessons: frozenset[str] = frozenset()
    """What the server does not take (see `lessons`)."""


@dataclass(slots=True)
class Asking:
    """What is sent."""

    body: dict[str, Any]
    betas: list[str]
    """For the header ``anthropic-beta``."""


def asking(asked: Asked, options: Options, version: str = VERSION) -> Asking:
    """The body of a request; ``version`` is that of the API.

    Raises Refused: it cannot be asked of this model.
    """
    request = asked.request
    box = toolbox(asked)
    lessons = asked.lessons if isinstance(asked, Turn) else frozenset()
    model_ways = adapted(ways(asked.model, asked.facts, options), lessons)
    told = conversation(asked, box, thoughts=THOUGHTS not in lessons)
    choice = box.choice(request.get("tool_choice"))
    most = _max_tokens(asked, model_ways)
    body: dict[str, Any] = {"model": asked.model, "max_tokens": most, "stream": True}
    sent = Asking(body, list(options.betas))
    if told.system:
        body["system"] = told.system
    body["messages"] = told.messages
    _say_tools(body, request, (box, choice, told), model_ways)
    _say_thinking(sent, asked, (choice, told), (model_ways, options))
    _say_format(body, request, model_ways)
    _say_tier(sent, request, model_ways)
    _say_more(body, request)
    if model_ways.sampling and "thinking" not in body and version <= VERSION:
        _say_sampling(body, request)
    mark(body, options)
    leave_out(body, lessons)
    if isinstance(asked, Turn) and asked.said:
        body["messages"].append({"role": "assistant", "content": list(asked.said)})
    return sent


def unhurried(asked: Turn, options: Options) -> Turn | None:
    """The same request at the usual speed; None: it was at that already."""
    request = asked.request
    fast = str(request.get("service_tier")) in _FAST_TIERS
    if not fast or not ways(asked.model, asked.facts, options).fast:
        return None
    return replace(asked, request={**request, "service_tier": "auto"})


def toolbox(asked: Asked) -> Toolbox:
    """The tools of a request; its answer is read with the same ones."""
    return Toolbox(asked.request, asked.items)


def _max_tokens(asked: Asked, model_ways: Ways) -> int:
    """Every request says how many tokens its answer may have at most, thoughts among them."""
    facts, wanted = asked.facts, asked.request.get("max_output_tokens")
    most = facts.max_output_tokens or model_ways.max_tokens
    tokens = facts.ask_output_tokens or most
    if isinstance(wanted, int) and wanted > 0:
        tokens = min(wanted, facts.max_output_tokens or wanted)
    if facts.context_window:
        # Input and this number together may not be more, some models say: they refuse then.
        said = [list(asked.items), asked.request.get("instructions"), asked.request.get("tools")]
        room = facts.context_window - characters_in(said) // _CHARS_PER_TOKEN
        tokens = min(tokens, max(room, _LEAST_BUDGET))
    return min(tokens, model_ways.most_tokens or tokens)


def _say_tools(
    body: dict[str, Any],
    request: Mapping[str, Any],
    told: tuple[Toolbox, Choice, Conversation],
    model_ways: Ways,
) -> None:
    box, choice, talk = told
    tools: list[dict[str, Any]] = []
    for function in box.offered(choice):
        tool: dict[str, Any] = {"name": function.name, "input_schema": function.parameters}
        if function.description:
            tool["description"] = function.description
        if model_ways.eager:
            # Else a long argument comes in one piece when it is whole: no edit would be live.
            tool["eager_input_streaming"] = True
        tools.append(tool)
    if not tools:
        # Calls in the conversation want their tools, though none may be called.
        tools = [{"name": name, "input_schema": {"type": "object"}} for name in sorted(talk.tools)]
        choice = Choice("none")
    if not tools:
        return
    body["tools"] = tools
    single = request.get("parallel_tool_calls") is False
    picked: dict[str, Any] = {"type": {"required": "any"}.get(choice.mode, choice.mode)}
    if choice.mode == "required" and not model_ways.forces:
        picked = {"type": "auto"}
        body["system"] = [*body.get("system", ()), {"type": "text", "text": _CALL_ONLY}]
    elif choice.mode == "required" and len(choice.names) == 1:
        picked = {"type": "tool", "name": choice.names[0]}
    if single and choice.mode != "none":
        picked["disable_parallel_tool_use"] = True
    if picked != {"type": "auto"}:
        body["tool_choice"] = picked


def _say_thinking(
    sent: Asking,
    asked: Asked,
    told: tuple[Choice, Conversation],
    how: tuple[Ways, Options],
) -> None:
    """Effort, or a number of tokens to think in, as the model wants it."""
    (choice, talk), (model_ways, options) = told, how
    reasoning = asked.request.get("reasoning")
    if not isinstance(reasoning, Mapping) or model_ways.thinking == "none":
        return
    effort = str(reasoning.get("effort") or "").lower()
    forced = choice.mode == "required" and model_ways.forces and not model_ways.thinks_when_forced
    if level := nearest("low" if effort == "none" else effort, model_ways.efforts):
        sent.body["output_config"] = {"effort": level}
    if model_ways.thinking == "budget":
        if effort != "none" and not forced and talk.thoughtful:
            _say_budget(sent, effort or "medium", model_ways, options)
    elif effort == "none" and model_ways.rests:
        sent.body["thinking"] = {"type": "disabled"}
    elif not forced:
        shown = {"display": options.display} if options.display else {}
        sent.body["thinking"] = {"type": "adaptive", **shown}


def _say_budget(sent: Asking, effort: str, model_ways: Ways, options: Options) -> None:
    """A number of tokens to think in; the API has a least one."""
    budget = _budget(effort, options, sent.body["max_tokens"])
    if budget < _LEAST_BUDGET:
        return
    sent.body["thinking"] = {"type": "enabled", "budget_tokens": budget}
    if model_ways.interleaves and sent.body.get("tools"):
        sent.betas.append(_INTERLEAVED)


def _budget(effort: str, options: Options, max_tokens: int) -> int:
    """Tokens to think in; there has to be room for the answer behind it."""
    table = {**_BUDGETS, **options.budgets}
    tokens = table.get(effort, table["medium"])
    return min(tokens, max_tokens - min(_LEAST_BUDGET, max_tokens // 4))


def _say_format(body: dict[str, Any], request: Mapping[str, Any], model_ways: Ways) -> None:
    """A JSON schema for the answer; where there is no such thing, in words."""
    text = request.get("text")
    wanted = text.get("format") if isinstance(text, Mapping) else None
    if not isinstance(wanted, Mapping) or wanted.get("type") not in ("json_schema", "json_object"):
        return
    schema = wanted.get("schema")
    if isinstance(schema, Mapping) and model_ways.structured:
        config = body.setdefault("output_config", {})
        config["format"] = {"type": "json_schema", "schema": dict(schema)}
        return
    words = _JSON_ONLY
    if isinstance(schema, Mapping):
        words += f" It has to match this JSON schema:\n{told_as_json(schema)}"
    body["system"] = [*body.get("system", ()), {"type": "text", "text": words}]


def _say_tier(sent: Asking, request: Mapping[str, Any], model_ways: Ways) -> None:
    tier = str(request.get("service_tier"))
    if tier in _FAST_TIERS and model_ways.fast:
        sent.body["speed"] = "fast"
        sent.betas.append(_FAST)
    elif tier in ("default", "standard") and model_ways.tier:
        sent.body["service_tier"] = "standard_only"


def _say_more(body: dict[str, Any], request: Mapping[str, Any]) -> None:
    user = request.get("safety_identifier") or request.get("user")
    if isinstance(user, str) and user:
        body["metadata"] = {"user_id": user[:256]}
    stop = request.get("stop")
    words = stop if isinstance(stop, list) else [stop]
    sequences = [word for word in words if isinstance(word, str) and word.strip()]
    if sequences:
        body["stop_sequences"] = sequences


def _say_sampling(body: dict[str, Any], request: Mapping[str, Any]) -> None:
    """A temperature, or else a top_p: both at once are refused by many."""
    for name, most in (("temperature", 1.0), ("top_p", 1.0)):
        value = request.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            body[name] = min(max(value, 0), most)
            return
