"""The body of a request of Chat Completions: its fields, and the conversation as messages.

What a model said in one go (reasoning, text, calls) is one message of the assistant, and the
outputs of its calls stand right behind it: that is what servers and their templates insist on.

Reasoning that goes back to its model travels in reasoning items (`endpoints.encrypted_content`). A
payload holds ``back`` (the field in which it came), ``details`` (OpenRouter's blocks) or ``call``
(what Google signs a call with: it belongs to the call behind it).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tui.bridge.endpoints.base import Asked, Refused, left_out
from tui.bridge.endpoints.encrypted_content import COMPACTED, is_compacted, unseal
from tui.bridge.endpoints.openai_chat.dialect import FIELDS, KIND, ChatOptions
from tui.bridge.endpoints.tools import ANY_ID, Function, Toolbox, ToolChoice
from tui.bridge.endpoints.tools import without as schemas_without
from tui.core.wire import json_writing
from tui.core.wire.efforts import EFFORTS, nearest_effort
from tui.core.wire.events import OUTPUTS
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


Part = dict[str, Any]
_TEXTS = {"input_text": "text", "output_text": "text", "text": "text", "refusal": "refusal"}
_DETAILS = ("auto", "low", "high")


class ContentParts:
    """The contents of one conversation."""

    def __init__(self, asked: Asked, chat_options: ChatOptions) -> None:
        self._asked = asked
        self._files = chat_options.files

    def assistant(self, content: object) -> str:
        """What an assistant's message says, its refusal among it."""
        return joined([part for part in self.said(content) if part["type"] == "text"])

    def said(self, content: object) -> list[Part]:
        """The parts of a message or of a tool's output; empty texts are left out.

        Raises Refused: the model cannot be told such a part.
        """
        if isinstance(content, str):
            return [{"type": "text", "text": content}] if content else []
        if isinstance(content, Mapping):
            return [{"type": "text", "text": json_writing.request(dict(content))}]
        listed = content if isinstance(content, list) else []
        found = [self._part(part) for part in listed if isinstance(part, dict)]
        return [part for part in found if part is not None]

    def _part(self, part: Mapping[str, Any]) -> Part | None:
        kind = str(part.get("type"))
        if kind in _TEXTS:
            text = part.get(_TEXTS[kind])
            return {"type": "text", "text": text} if isinstance(text, str) and text else None
        if kind in ("input_image", "image_url"):
            return self._image(part)
        if kind in ("input_file", "file"):
            return self._file(part)
        if kind == "input_audio" and isinstance(part.get("input_audio"), dict):
            return dict(part)
        if kind in ("reasoning_text", "summary_text"):
            return None
        # the output of a shell and the like: whatever it is, it is told as it is
        return {"type": "text", "text": json_writing.request(dict(part))}

    def _image(self, part: Mapping[str, Any]) -> Part:
        if self._asked.facts.images is False:
            model = self._asked.model
            words = f"The model {model} takes text only: remove the image, or use another model."
            raise Refused(400, "image_not_supported", words, param="input")
        given = part.get("image_url")
        url = given.get("url") if isinstance(given, dict) else given
        if not isinstance(url, str) or not url.startswith(("data:", "http://", "https://")):
            words = "An image has to be given by a data: or https: URL; stored files are not known."
            raise Refused(400, "image_not_supported", words, param="input")
        image: Part = {"url": url}
        if part.get("detail") in _DETAILS[1:]:
            image["detail"] = part["detail"]
        return {"type": "image_url", "image_url": image}

    def _file(self, part: Mapping[str, Any]) -> Part:
        told = {key: part[key] for key in ("file_data", "filename") if part.get(key)}
        if not self._files or "file_data" not in told:
            words = (
                f"The model {self._asked.model} cannot be given documents here: put the text of "
                "the document into the message."
            )
            raise Refused(400, "file_not_supported", words, param="input")
        return {"type": "file", "file": told}


def joined(content: Sequence[Part]) -> str:
    """The texts among some parts."""
    return "\n\n".join(part["text"] for part in content if part["type"] == "text")


def content_of(content: Sequence[Part]) -> str | list[Part]:
    """The content of a message: text alone is a plain string, which every server takes."""
    plain = all(part["type"] == "text" for part in content)
    return joined(content) if plain else list(content)


class MessageReasoning:
    """The thoughts of the message that is being built."""

    def __init__(self, kind: str, model: str, field: str) -> None:
        """``field``: see `ChatOptions.reasoning_back`."""
        self._kind = kind
        self._model = model
        self._field = field
        self._came = ""
        """The field in which the thoughts came."""
        self._texts: list[str] = []
        self._details: list[Any] = []
        self._call: dict[str, Any] = {}

    def payload(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """What a reasoning item carries; empty: nothing, or others' thoughts."""
        return unseal(self._kind, self._model, item.get("encrypted_content")) or {}

    def take(self, payload: Mapping[str, Any], item: Mapping[str, Any]) -> None:
        """A reasoning item and what it carries."""
        came = payload.get("back")
        if isinstance(came, str) and came in FIELDS:
            self._came = came
            self._texts.append(_text_of(item))
        details, call = payload.get("details"), payload.get("call")
        if isinstance(details, list):
            self._details += details
        if isinstance(call, dict):
            self._call = call

    def of_call(self) -> dict[str, Any]:
        """What the call that comes now is signed with."""
        call, self._call = self._call, {}
        return call

    def of_message(self, *, has_calls: bool) -> dict[str, Any]:
        """What the message that ends now has of thoughts."""
        told: dict[str, Any] = {}
        text = "\n\n".join(filter(None, self._texts))
        field = self._field
        if field == "auto":
            field = self._came if has_calls and not self._details else ""
        if field and (text or (has_calls and self._field == "reasoning_content")):
            # DeepSeek wants the field with every call, also where another model made it.
            told[field] = text
        if self._details:
            told["reasoning_details"] = self._details
        self._texts, self._details, self._call, self._came = [], [], {}, ""
        return told

    @staticmethod
    def add_to(message: dict[str, Any], told: Mapping[str, Any]) -> None:
        """Put them into the message."""
        fields = dict(told)
        thinking = fields.pop("thinking", "")
        if thinking:
            block = {"type": "thinking", "thinking": [{"type": "text", "text": thinking}]}
            text = message["content"]
            message["content"] = [block, *([{"type": "text", "text": text}] if text else [])]
        message.update(fields)


def _text_of(item: Mapping[str, Any]) -> str:
    """What a reasoning item says: the model's own words, else the summary."""
    for key in ("content", "summary"):
        listed = item.get(key)
        texts = [
            part["text"]
            for part in (listed if isinstance(listed, list) else [])
            if isinstance(part, dict) and isinstance(part.get("text"), str)
        ]
        if texts:
            return "\n\n".join(texts)
    return ""


Message = dict[str, Any]
_NO_OUTPUT = "(there is no output)"
_NOTED = "Noted."


def messages(
    asked: Asked, chat_options: ChatOptions, toolbox: Toolbox, instructions: Sequence[str]
) -> list[Message]:
    """The whole conversation. Raises Refused: something in it cannot be said to this model."""
    builder = _MessagesBuilder(asked, chat_options, toolbox)
    for text in instructions:
        builder.system([{"type": "text", "text": text}])
    for item in asked.items:
        builder.take(item)
    return builder.end()


class _MessagesBuilder:
    def __init__(self, asked: Asked, chat_options: ChatOptions, toolbox: Toolbox) -> None:
        self._dialect = chat_options
        self._silence = None if chat_options.null_content else ""
        self._toolbox = toolbox
        self._parts = ContentParts(asked, chat_options)
        self._thoughts = MessageReasoning(KIND, asked.model, chat_options.reasoning_back)
        self._outputs = toolbox.outputs_in(asked.items)
        self._said: list[Message] = []
        self._texts: list[str] = []
        self._calls: list[dict[str, Any]] = []
        self._owed: list[str] = []
        """Their ids as the conversation has them."""

    def take(self, item: Mapping[str, Any]) -> None:
        """The next item."""
        kind = str(item.get("type"))
        if kind == "message":
            self._message(item)
        elif kind == "reasoning":
            payload = self._thoughts.payload(item)
            if self._calls and "call" not in payload and payload:
                # thoughts behind calls: what comes now is another message
                self._close()
            self._thoughts.take(payload, item)
        elif kind in OUTPUTS:
            self._output(item)
        elif is_compacted(item):
            self._close()
            self._user([{"type": "text", "text": COMPACTED}])
        elif (call := self._toolbox.sent_call(item)) is not None:
            function = {"name": call.name, "arguments": call.arguments}
            self._owed.append(call.call_id)
            told = {"id": self._own_id(call.call_id), "type": "function", "function": function}
            self._calls.append({**told, **self._thoughts.of_call()})

    def end(self) -> list[Message]:
        """The conversation is over."""
        self._close()
        return self._said

    def system(self, content: list[dict[str, Any]]) -> None:
        """Instructions; those at the beginning are one message."""
        chat_options = self._dialect
        leading = all(one["role"] == chat_options.system_role for one in self._said)
        role = chat_options.system_role if leading else chat_options.late_system
        if leading and self._said:
            self._said[-1]["content"] += "\n\n" + joined(content)
        elif role == "user":
            self._user(content)
        else:
            self._said.append({"role": role, "content": joined(content)})

    def _message(self, item: Mapping[str, Any]) -> None:
        role = item.get("role")
        if role == "assistant":
            text = self._parts.assistant(item.get("content"))
            if text:
                self._texts.append(text)
            return
        self._close()
        content = self._parts.said(item.get("content"))
        if not content:
            return
        if role in ("system", "developer"):
            self.system(content)
        else:
            self._user(content)

    def _user(self, content: list[dict[str, Any]]) -> None:
        last = self._said[-1] if self._said else None
        if self._dialect.alternate and last is not None and last["role"] == "user":
            before = last["content"]
            if isinstance(before, str):
                before = [{"type": "text", "text": before}]
            content = [*before, *content]
            last["content"] = content_of(content)
            return
        if last is not None and last["role"] == "tool" and not self._dialect.user_after_tool:
            self._said.append({"role": "assistant", "content": _NOTED})
        self._said.append({"role": "user", "content": content_of(content)})

    def _output(self, item: Mapping[str, Any]) -> None:
        """An output that stands where it belongs was taken with its call already."""
        self._close()
        waiting = self._outputs.get(self._toolbox.sent_id(item))
        if waiting and waiting[0] is item:
            waiting.popleft()
            content = self._parts.said(item.get("output"))
            self._user([{"type": "text", "text": "The output of a tool:"}, *content])

    def _close(self) -> None:
        """End the message of the assistant that has begun, with the outputs of its calls."""
        texts, self._texts = self._texts, []
        calls, self._calls = self._calls, []
        owed, self._owed = self._owed, []
        thoughts = self._thoughts.of_message(has_calls=bool(calls))
        if not texts and not calls:
            return
        message: Message = {"role": "assistant", "content": "\n\n".join(texts) or self._silence}
        if calls:
            if not any("extra_content" in call for call in calls):
                calls[0].update(self._dialect.unsigned_calls)
            message["tool_calls"] = calls
        self._thoughts.add_to(message, thoughts)
        self._said.append(message)
        shown: list[dict[str, Any]] = []
        for call, call_id in zip(calls, owed, strict=True):
            shown += self._answer(call["id"], call_id)
        if shown:
            self._user([{"type": "text", "text": "What the tools showed:"}, *shown])

    def _own_id(self, call_id: str) -> str:
        """The id of a call: within a message there is no other one of it."""
        count = self._owed.count(call_id)
        again = {"call_id": f"{call_id}_{count}"}
        return call_id if count == 1 else self._toolbox.sent_id(again)

    def _answer(self, sent_id: str, call_id: str) -> list[dict[str, Any]]:
        """Say a call's output under the id that it has there.

        Returns the pictures in it: a tool's message is text.
        """
        waiting = self._outputs.get(call_id)
        item = waiting.popleft() if waiting else {}
        content = self._parts.said(item.get("output"))
        text = joined([part for part in content if part["type"] == "text"])
        shown = [part for part in content if part["type"] != "text"]
        if not text:
            text = "(see the picture below)" if shown else "" if item else _NO_OUTPUT
        self._said.append({"role": "tool", "tool_call_id": sent_id, "content": text})
        return shown
