"""The body of a request of the Messages API, made of one of the Responses API.

Many servers speak this API, each as far as it goes: a refusal that names a field says that nothing
was done, so it is asked again without, and what was learnt holds for that model from then on.

Long conversations are read once: at most four places may be marked for the provider's cache. One
is the end of the system prompt (tools are before it), the others are the ends of the last three
user messages. From a mark the provider looks back over no more than 20 blocks, so that the end
alone would miss behind a turn of many calls.

How a model of the Messages API is asked: options of its endpoint, and traits of the model. The
rules are data: those of ``providers/anthropic.toml``, by name or pattern, hold wherever this
language is spoken. What an endpoint's own provider, or the user, says of a model comes before
them (see `docs/providers.md`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Literal

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from tui.bridge.endpoints.anthropic.conversation import (
    Block,
    MessagesConversation,
    as_json,
    conversation,
)
from tui.bridge.endpoints.base import (
    Asked,
    ModelFacts,
    Refused,
    Target,
    left_out,
    options_over,
    read_options,
)
from tui.bridge.endpoints.response_writer import characters_in
from tui.bridge.endpoints.tools import Toolbox, ToolChoice
from tui.core.typed_data import typed
from tui.core.wire.address import Address
from tui.core.wire.efforts import EFFORTS as ALL_EFFORTS
from tui.core.wire.events import Usage
from tui.core.wire.refusals import fields_refused, without

VERSION = "2023-06-01"
"""The API's version that every server of it knows; the next one, 2026-10-21, only takes away:
temperatures, and citations and documents where we write none."""


class AnthropicOptions(msgspec.Struct, frozen=True):
    """The options of one endpoint; None: as the model's name says (see `models`)."""

    version: str = VERSION
    """The header ``anthropic-version``."""
    betas: tuple[str, ...] = ()
    """More for the header ``anthropic-beta``."""
    bearer: bool = False
    """The key travels as ``Authorization: Bearer``, not as ``x-api-key``."""
    thinking: Literal["adaptive", "budget", "none"] | None = None
    budgets: dict[str, int] = {}
    """Tokens to think in, by effort, for models that are given a number."""
    display: Literal["summarized", "omitted", ""] = "summarized"
    """How thoughts are shown; empty: as the model has it."""
    max_tokens: int | None = None
    """Most tokens of an answer, where neither the client nor the model's facts say a number."""
    fast: bool | None = None
    """It has a fast mode."""
    sampling: bool | None = None
    """It takes a temperature."""
    structured: bool | None = None
    """It takes a JSON schema for its answer."""
    eager: bool | None = None
    """It takes ``eager_input_streaming``."""
    rests: bool | None = None
    """Thinking can be switched off."""
    forces: bool | None = None
    """It takes a ``tool_choice`` that forces a call."""
    thinks_when_forced: bool | None = None
    """It may think although a call is forced."""
    interleaves: bool | None = None
    """It thinks between calls if the beta header asks for it; newer ones do it by themselves."""
    tier: bool | None = None
    """It knows ``service_tier``."""
    cache: bool = True
    """Mark what is to be kept in the prompt cache."""
    cache_ttl: Literal["5m", "1h"] | None = None


def options_of(target: Target, more: Mapping[str, Any]) -> AnthropicOptions:
    """The options of an endpoint; ``more``: those of a model. Raises Refused: one is wrong."""
    return read_options(options_over(more, target.spec.options), AnthropicOptions, target.name)


Thinking = Literal["adaptive", "budget", "none"]
"""The model decides how much it thinks; it is given a number of tokens; it does not think."""

EFFORTS = ("low", "medium", "high", "xhigh", "max")
"""Those that ``output_config`` has, weakest first."""
_OTHERS_TOKENS = 16_384


class ModelTraits(Struct, frozen=True):
    """How a model wants to be asked; see `options.AnthropicOptions`."""

    thinking: Thinking = "budget"
    efforts: tuple[str, ...] = ()
    """What ``output_config.effort`` may be; empty: it is not known there."""
    max_tokens: int = _OTHERS_TOKENS
    """Asked for where nobody says a number: every request has to."""
    most_tokens: int | None = None
    """What the server said is the most; None: it has not."""
    rests: bool = True
    forces: bool = True
    thinks_when_forced: bool = False
    interleaves: bool = False
    sampling: bool = True
    structured: bool = False
    eager: bool = False
    fast: bool = False
    tier: bool = False


_FROM_OPTIONS = (
    "thinking", "max_tokens", "rests", "forces", "thinks_when_forced", "interleaves", "sampling",
    "structured", "eager", "fast", "tier",
)  # fmt: skip


def traits_of(model: str, facts: ModelFacts, options: AnthropicOptions) -> ModelTraits:
    """How a model wants to be asked: by what is known of its name, of it here, and the options."""
    known = _rules().facts(model.lower())
    rules = [typed(known.options, AnthropicOptions), options]
    rules.append(typed(facts.options, AnthropicOptions))
    given = {
        name: value
        for rule in rules
        for name in _FROM_OPTIONS
        if (value := getattr(rule, name)) is not None
    }
    told = facts.efforts if facts.efforts is not None else known.efforts
    efforts = tuple(one for one in told or () if one in EFFORTS)
    if facts.efforts is None and not efforts and options.thinking == "adaptive":
        efforts = EFFORTS
    return replace(ModelTraits(efforts=efforts), **given)


def nearest(effort: str, known: tuple[str, ...]) -> str:
    """The known effort that is next to this one, the stronger of two; empty: there is none."""
    if effort not in ALL_EFFORTS or not known:
        return ""
    rank = ALL_EFFORTS.index(effort)
    return min(known, key=lambda one: (abs(ALL_EFFORTS.index(one) - rank), -ALL_EFFORTS.index(one)))


@cache
def _rules() -> Target:
    from tui.bridge.providers.provider_files import provider

    own = provider("anthropic", None)
    return Target(own.name, own.spec({}), Address(own.url))


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
REASONING = "thoughts"
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


class UnsupportedFields:
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


def is_of_one_request(learnt: str) -> bool:
    """A lesson about one request, not about the server."""
    return learnt == REASONING or learnt.startswith(ROOM)


def unsupported_in(error: Refused) -> str:
    """What a refusal says that the server does not take; empty: it says nothing of that kind."""
    words = str(error)
    if error.status not in (400, 422):
        return ""
    if (most := _MOST.search(words)) is not None:
        return f"{MOST}{int(most['most'])}"
    if _SIGNATURE.search(words.lower()):
        return REASONING
    if "max_tokens" in words and (room := _ROOM.search(words)) is not None:
        tokens = int(room["window"]) - int(room["input"])
        return f"{ROOM}{tokens}" if tokens >= _LEAST_ROOM else ""
    if not _COMPLAINT.search(words):
        return ""
    return next((name for name, place in _PLACES if place.search(words.lower())), "")


def unsupported_field_in(error: Refused, body: Mapping[str, Any]) -> str:
    """A lesson about any other field of what was sent; empty: it names none."""
    refused = fields_refused(f"{error.code} {error}", error.param, body)
    return f"{FIELD}{refused[0]}" if refused else ""


def adapted(known: ModelTraits, unsupported: frozenset[str]) -> ModelTraits:
    """How the model wants to be asked, by what was learnt."""
    if _BUDGET in unsupported:
        known = replace(known, thinking="adaptive", efforts=known.efforts or EFFORTS)
    elif _ADAPTIVE in unsupported:
        known = replace(known, thinking="budget")
    if _THINKING in unsupported or {_BUDGET, _ADAPTIVE} <= unsupported:
        known = replace(known, thinking="none")
    if _REST in unsupported or _FORCED in unsupported:
        forced = known.thinks_when_forced and _FORCED not in unsupported
        known = replace(known, rests=_REST not in unsupported, thinks_when_forced=forced)
    if _CHOICE in unsupported:
        known = replace(known, forces=False)
    if _EFFORT in unsupported:
        known = replace(known, efforts=())
    limits = [int(one.split()[1]) for one in unsupported if one.startswith((MOST, ROOM))]
    known = replace(known, most_tokens=min(limits, default=None))
    return replace(known, structured=known.structured and _FORMAT not in unsupported)


def leave_out(body: dict[str, Any], unsupported: frozenset[str]) -> None:
    """Take out of a body what is not taken there."""
    for name in unsupported.intersection(_OUTER):
        body.pop(name, None)
    inner = unsupported.intersection(_INNER)
    for holder in _holders(body) if inner else ():
        for name in inner:
            holder.pop(name, None)
    others = [one.removeprefix(FIELD) for one in unsupported if one.startswith(FIELD)]
    if others:
        left = without(body, others)
        body.clear()
        body.update(left)
    if _DISPLAY in unsupported and "thinking" in body:
        body["thinking"].pop("display", None)
    if body.get("tool_choice") == {"type": "auto"}:
        del body["tool_choice"]


def _holders(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All blocks, tools and the choice of one."""
    yield from body.get("tools", ())
    yield from body.get("system", ())
    yield from (block for message in body["messages"] for block in message["content"])
    yield body.get("tool_choice", {})


_MESSAGES = 3


def mark(body: dict[str, Any], options: AnthropicOptions) -> None:
    """Mark a request's body, as the options ``cache`` and ``cache_ttl`` say."""
    if not options.cache:
        return
    control: dict[str, Any] = {"type": "ephemeral"}
    if options.cache_ttl:
        control["ttl"] = options.cache_ttl
    head = body.get("system") or body.get("tools")
    if head:
        head[-1] = {**head[-1], "cache_control": control}
    ends = [message["content"] for message in body["messages"] if message["role"] == "user"]
    for content in ends[-_MESSAGES:]:
        content[-1] = {**content[-1], "cache_control": control}


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


class MessagesTurn(Asked, frozen=True):
    """A request that may take several answers: a model that pauses is asked to go on."""

    said: list[Block] = field(default_factory=list)
    """The blocks of the answers so far, as they came."""
    spent: list[Usage] = field(default_factory=list)
    """What each of them took."""
    unsupported: frozenset[str] = frozenset()
    """What the server does not take (see `unsupported`)."""
    left_out: list[str] = field(default_factory=list)
    """What was asked for and is not in the body that was sent last."""


class MessagesRequest(Struct):
    """What is sent."""

    body: dict[str, Any]
    betas: list[str]
    """For the header ``anthropic-beta``."""


def messages_request(
    asked: Asked, options: AnthropicOptions, version: str = VERSION
) -> MessagesRequest:
    """The body of a request; ``version`` is that of the API.

    Raises Refused: it cannot be asked of this model.
    """
    request = asked.request
    box = toolbox(asked)
    unsupported = asked.unsupported if isinstance(asked, MessagesTurn) else frozenset()
    traits = adapted(traits_of(asked.model, asked.facts, options), unsupported)
    told = conversation(asked, box, thoughts=REASONING not in unsupported)
    choice = box.choice(request.get("tool_choice"))
    most = _max_tokens(asked, traits)
    body: dict[str, Any] = {"model": asked.model, "max_tokens": most, "stream": True}
    sent = MessagesRequest(body, list(options.betas))
    if told.system:
        body["system"] = told.system
    body["messages"] = told.messages
    _say_tools(body, request, (box, choice, told), traits)
    _say_thinking(sent, asked, (choice, told), (traits, options))
    _say_format(body, request, traits)
    _say_tier(sent, request, traits)
    _say_more(body, request)
    if traits.sampling and "thinking" not in body and version <= VERSION:
        _say_sampling(body, request)
    mark(body, options)
    leave_out(body, unsupported)
    left = _unsaid(sent, request, adaptive=traits.thinking == "adaptive")
    if isinstance(asked, MessagesTurn):
        asked.left_out[:] = left
    if isinstance(asked, MessagesTurn) and asked.said:
        body["messages"].append({"role": "assistant", "content": list(asked.said)})
    return sent


def _unsaid(sent: MessagesRequest, request: Mapping[str, Any], *, adaptive: bool) -> list[str]:
    """What a request asks for and its body does not say.

    Unasked, a model does not think, but for one that decides that itself (``adaptive``).
    Raises Refused: something of it would be missed.
    """
    body = sent.body
    told = {**body, **body.get("output_config", {}), **body.get("tool_choice", {})}
    places = {
        "max_output_tokens": "max_tokens",
        "parallel_tool_calls": "disable_parallel_tool_use" if "tools" in body else "model",
        "reasoning.effort": "effort",
        "safety_identifier": "metadata",
        "service_tier": "speed" if "speed" in body else "service_tier",
        "stop": "stop_sequences",
        "tool_choice": "model",
        "user": "metadata",
    }
    said = {name for name, place in places.items() if place in told}
    said |= {name for name in ("temperature", "top_p") if body.get(name) == request.get(name)}
    reasoning = request.get("reasoning")
    rests = isinstance(reasoning, Mapping) and reasoning.get("effort") == "none"
    if "thinking" in body or (rests and not adaptive):
        said.add("reasoning.effort")
    if _wanted(request).get("type") in ("json_schema", "json_object"):
        said.add("text.format")
    return left_out(request, said)


def at_usual_speed(asked: MessagesTurn, options: AnthropicOptions) -> MessagesTurn | None:
    """The same request at the usual speed; None: it was at that already."""
    request = asked.request
    fast = str(request.get("service_tier")) in _FAST_TIERS
    if not fast or not traits_of(asked.model, asked.facts, options).fast:
        return None
    return replace(asked, request={**request, "service_tier": "auto"})


def toolbox(asked: Asked) -> Toolbox:
    """The tools of a request; its answer is read with the same ones."""
    return Toolbox(asked.request, asked.items)


def _max_tokens(asked: Asked, traits: ModelTraits) -> int:
    """Every request says how many tokens its answer may have at most, thoughts among them."""
    facts, wanted = asked.facts, asked.request.get("max_output_tokens")
    most = facts.max_output_tokens or traits.max_tokens
    tokens = facts.ask_output_tokens or most
    if isinstance(wanted, int) and wanted > 0:
        tokens = min(wanted, facts.max_output_tokens or wanted)
    if facts.context_window:
        # Input and this number together may not be more, some models say: they refuse then.
        said = [list(asked.items), asked.request.get("instructions"), asked.request.get("tools")]
        room = facts.context_window - characters_in(said) // _CHARS_PER_TOKEN
        tokens = min(tokens, max(room, _LEAST_BUDGET))
    return min(tokens, traits.most_tokens or tokens)


def _say_tools(
    body: dict[str, Any],
    request: Mapping[str, Any],
    told: tuple[Toolbox, ToolChoice, MessagesConversation],
    traits: ModelTraits,
) -> None:
    box, choice, talk = told
    tools: list[dict[str, Any]] = []
    for function in box.offered(choice):
        tool: dict[str, Any] = {"name": function.name, "input_schema": function.parameters}
        if function.description:
            tool["description"] = function.description
        if traits.eager:
            # Else a long argument comes in one piece when it is whole: no edit would be live.
            tool["eager_input_streaming"] = True
        tools.append(tool)
    if not tools:
        # Calls in the conversation want their tools, though none may be called.
        tools = [{"name": name, "input_schema": {"type": "object"}} for name in sorted(talk.tools)]
        choice = ToolChoice("none")
    if not tools:
        return
    body["tools"] = tools
    single = request.get("parallel_tool_calls") is False
    picked: dict[str, Any] = {"type": {"required": "any"}.get(choice.mode, choice.mode)}
    if choice.mode == "required" and not traits.forces:
        picked = {"type": "auto"}
        body["system"] = [*body.get("system", ()), {"type": "text", "text": _CALL_ONLY}]
    elif choice.mode == "required" and len(choice.names) == 1:
        picked = {"type": "tool", "name": choice.names[0]}
    if single and choice.mode != "none":
        picked["disable_parallel_tool_use"] = True
    if picked != {"type": "auto"}:
        body["tool_choice"] = picked


def _say_thinking(
    sent: MessagesRequest,
    asked: Asked,
    told: tuple[ToolChoice, MessagesConversation],
    how: tuple[ModelTraits, AnthropicOptions],
) -> None:
    """Effort, or a number of tokens to think in, as the model wants it."""
    (choice, talk), (traits, options) = told, how
    reasoning = asked.request.get("reasoning")
    if not isinstance(reasoning, Mapping) or traits.thinking == "none":
        return
    effort = str(reasoning.get("effort") or "").lower()
    forced = choice.mode == "required" and traits.forces and not traits.thinks_when_forced
    if level := nearest("low" if effort == "none" else effort, traits.efforts):
        sent.body["output_config"] = {"effort": level}
    if traits.thinking == "budget":
        if effort != "none" and not forced and talk.thoughtful:
            _say_budget(sent, effort or "medium", traits, options)
    elif effort == "none" and traits.rests:
        sent.body["thinking"] = {"type": "disabled"}
    elif not forced:
        shown = {"display": options.display} if options.display else {}
        sent.body["thinking"] = {"type": "adaptive", **shown}


def _say_budget(
    sent: MessagesRequest, effort: str, traits: ModelTraits, options: AnthropicOptions
) -> None:
    """A number of tokens to think in; the API has a least one."""
    budget = _budget(effort, options, sent.body["max_tokens"])
    if budget < _LEAST_BUDGET:
        return
    sent.body["thinking"] = {"type": "enabled", "budget_tokens": budget}
    if traits.interleaves and sent.body.get("tools"):
        sent.betas.append(_INTERLEAVED)


def _budget(effort: str, options: AnthropicOptions, max_tokens: int) -> int:
    """Tokens to think in; there has to be room for the answer behind it."""
    table = {**_BUDGETS, **options.budgets}
    tokens = table.get(effort, table["medium"])
    return min(tokens, max_tokens - min(_LEAST_BUDGET, max_tokens // 4))


def _say_format(body: dict[str, Any], request: Mapping[str, Any], traits: ModelTraits) -> None:
    """A JSON schema for the answer; where there is no such thing, in words."""
    wanted = _wanted(request)
    if wanted.get("type") not in ("json_schema", "json_object"):
        return
    schema = wanted.get("schema")
    if isinstance(schema, Mapping) and traits.structured:
        config = body.setdefault("output_config", {})
        config["format"] = {"type": "json_schema", "schema": dict(schema)}
        return
    words = _JSON_ONLY
    if isinstance(schema, Mapping):
        words += f" It has to match this JSON schema:\n{as_json(schema)}"
    body["system"] = [*body.get("system", ()), {"type": "text", "text": words}]


def _wanted(request: Mapping[str, Any]) -> Mapping[str, Any]:
    text = request.get("text")
    wanted = text.get("format") if isinstance(text, Mapping) else None
    return wanted if isinstance(wanted, Mapping) else {}


def _say_tier(sent: MessagesRequest, request: Mapping[str, Any], traits: ModelTraits) -> None:
    tier = str(request.get("service_tier"))
    if tier in _FAST_TIERS and traits.fast:
        sent.body["speed"] = "fast"
        sent.betas.append(_FAST)
    elif tier in ("default", "standard") and traits.tier:
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
