"""A conversation of Responses items as the messages of Chat Completions.

What a model said in one go (reasoning, text, calls) is one message of the assistant, and the
outputs of its calls stand right behind it: that is what servers and their templates insist on.

Reasoning that goes back to its model travels in reasoning items (`endpoints.encrypted_content`). A
payload holds ``back`` (the field in which it came), ``details`` (OpenRouter's blocks) or ``call``
(what Google signs a call with: it belongs to the call behind it).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tui.bridge.endpoints.base import Asked, Refused
from tui.bridge.endpoints.encrypted_content import COMPACTED, is_compacted, unseal
from tui.bridge.endpoints.openai_chat.dialect import FIELDS, KIND, ChatOptions
from tui.bridge.endpoints.tools import Toolbox
from tui.core.wire import json_writing
from tui.core.wire.events import OUTPUTS

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
