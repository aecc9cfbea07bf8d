"""A conversation of Responses items as messages: roles alternate, results follow their calls.

What the API insists on, and items do not have by themselves: the first message is the user's; all
results of one turn's calls are the beginning of the one user message behind it; no empty text; no
message that ends in a thought; call ids occur once; thoughts go back as they came, in their place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct, field

from tui.bridge.endpoints.base import Asked, Refused
from tui.bridge.endpoints.encrypted_content import COMPACTED, is_compacted, unseal
from tui.bridge.endpoints.tools import SentCall, Toolbox
from tui.core.wire.events import OUTPUTS
from tui.core.wire.json_reading import mended_json

Block = dict[str, Any]
_TEXTS = frozenset({"input_text", "output_text", "text", "refusal", "summary_text"})
_IMAGES = frozenset({"input_image", "image_url", "image"})
_MEDIA = ("image/jpeg", "image/png", "image/gif", "image/webp")
_DATA_URL = re.compile(r"data:(?P<media>[\w.+-]+/[\w.+-]+)?(?P<more>(?:;[^,;]*)*),", re.IGNORECASE)


def text_block(text: str) -> Block | None:
    """A block of text; None: a text that says nothing is refused there."""
    return {"type": "text", "text": text} if text.strip() else None


def blocks_of(content: object, *, images: bool | None) -> list[Block]:
    """The blocks of a message's or of an output's content.

    Raises Refused: there is something in it that the model cannot take.
    """
    return [block for block in _blocks(content, images) if block is not None]


def text_of(content: object) -> str:
    """The text of a content that may hold nothing else."""
    return "\n\n".join(block["text"] for block in blocks_of(content, images=False))


def as_json(value: object) -> str:
    """A value that is no content, as text."""
    return msgspec.json.encode(mended_json(value)).decode()


def _blocks(content: object, images: bool | None) -> Iterator[Block | None]:
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            yield text_block(part)
        elif isinstance(part, Mapping):
            kind = str(part.get("type"))
            if kind in _TEXTS:
                yield text_block(str(part.get("refusal" if kind == "refusal" else "text") or ""))
            elif kind in _IMAGES:
                yield _image(part, images)
            else:
                raise _unusable(f"takes text and pictures, no {_word(kind)}")


def _image(part: Mapping[str, Any], images: bool | None) -> Block:
    if images is False:
        raise Refused(
            400, "image_not_supported",
            "This model takes text only: leave the pictures out, or choose a model that sees.",
            param="input",
        )  # fmt: skip
    url = part.get("image_url")
    url = url.get("url") if isinstance(url, Mapping) else url
    if not isinstance(url, str) or not url:
        raise _unusable("takes pictures as data or as a web address, not by a file's id")
    if url[:5].lower() != "data:":
        return {"type": "image", "source": {"type": "url", "url": url}}
    found = _DATA_URL.match(url)
    if found is None or "base64" not in found["more"].lower():
        raise _unusable("takes pictures as base64: this data: address is none")
    media = (found["media"] or "").lower().replace("image/jpg", "image/jpeg")
    if media not in _MEDIA:
        raise _unusable(f"takes JPEG, PNG, GIF and WebP pictures, no {media or 'other data'}")
    data = url[found.end() :]
    return {"type": "image", "source": {"type": "base64", "media_type": media, "data": data}}


def _unusable(words: str) -> Refused:
    return Refused(400, "unsupported_content", f"This endpoint {words}.", param="input")


def _word(kind: str) -> str:
    return "documents: paste their text" if kind in ("input_file", "document") else f"{kind!r}"


KIND = "anthropic"
REASONING = frozenset({"thinking", "redacted_thinking"})
_SYSTEM_ROLES = frozenset({"system", "developer"})
_GO_ON = "Continue."
_BEGUN = "(The conversation begins with what you said.)"
_NO_OUTPUT = "(The call was not answered.)"
Message = dict[str, Any]


class MessagesConversation(Struct):
    """A conversation as the API takes it."""

    system: list[Block] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)

    @property
    def tools(self) -> set[str]:
        """The names of tools that were called in it."""
        blocks = (block for message in self.messages for block in message["content"])
        return {str(block["name"]) for block in blocks if block["type"] == "tool_use"}

    @property
    def thoughtful(self) -> bool:
        """The turn that goes on behind results of calls began with a thought, or none goes on.

        Models that are given a budget refuse to think in a turn that began without.
        """
        first: Message | None = None
        for message in reversed(self.messages):
            if message["role"] == "assistant":
                first = message
            elif message["content"][0]["type"] != "tool_result":
                break
        in_loop = self.messages and self.messages[-1]["content"][0]["type"] == "tool_result"
        return not in_loop or first is None or first["content"][0]["type"] in REASONING


def conversation(asked: Asked, box: Toolbox, *, thoughts: bool = True) -> MessagesConversation:
    """The conversation of a request, the model's ``thoughts`` in it, if they may go back.

    Raises Refused: it holds what the model cannot take.
    """
    writer = _MessagesWriter(asked, box, asked.model if thoughts else "")
    for item in asked.items:
        writer.take(item)
    return writer.end()


class _MessagesWriter:
    """Writes one conversation."""

    def __init__(self, asked: Asked, box: Toolbox, model: str) -> None:
        self._told = MessagesConversation()
        self._box = box
        self._model = model
        self._images = asked.facts.images
        self._outputs = box.outputs_in(asked.items)
        self._used: set[int] = set()
        """Outputs that are in the conversation, by `id`."""
        self._owed: list[tuple[str, str]] = []
        """Calls of the open assistant message: their ids here, and those of their items."""
        self._ids: dict[str, int] = {}
        self._system(asked.request.get("instructions"))

    def take(self, item: Mapping[str, Any]) -> None:
        """Write one item; what nobody here can read is left out."""
        kind = str(item.get("type") or "message")
        if kind == "message":
            self._message(str(item.get("role")), item.get("content"))
        elif kind == "reasoning":
            self._thought(item)
        elif kind in OUTPUTS:
            self._output(item)
        elif is_compacted(item):
            self._user([{"type": "text", "text": COMPACTED}])
        elif (call := self._box.sent_call(item)) is not None:
            self._call(call)

    def end(self) -> MessagesConversation:
        """The conversation is whole: it ends with the user's word."""
        self._close_turn()
        messages = self._told.messages
        if not messages or messages[-1]["role"] == "assistant":
            messages.append({"role": "user", "content": [{"type": "text", "text": _GO_ON}]})
        return self._told

    def _message(self, role: str, content: object) -> None:
        if role in _SYSTEM_ROLES and not self._told.messages:
            self._system(text_of(content))
        elif role in _SYSTEM_ROLES:
            # In the middle nothing but the user speaks; the tags say who it is.
            text = text_of(content)
            words = f"<system-reminder>\n{text}\n</system-reminder>"
            self._user([{"type": "text", "text": words}] if text else [])
        elif role == "assistant":
            self._assistant(blocks_of(content, images=False))
        else:
            self._user(blocks_of(content, images=self._images))

    def _system(self, text: object) -> None:
        block = text_block(text) if isinstance(text, str) else None
        if block is not None:
            self._told.system.append(block)

    def _thought(self, item: Mapping[str, Any]) -> None:
        sealed = item.get("encrypted_content") if self._model else None
        payload = unseal(KIND, self._model, sealed) or {}
        blocks = payload.get("blocks")
        told = (
            [block for block in blocks if isinstance(block, dict)]
            if isinstance(blocks, list)
            else []
        )
        self._assistant([block for block in told if str(block.get("type")) in REASONING])

    def _call(self, call: SentCall) -> None:
        count = self._ids[call.call_id] = self._ids.get(call.call_id, 0) + 1
        name = call.call_id if count == 1 else f"{call.call_id}_{count}"
        arguments = msgspec.json.decode(call.arguments)
        self._assistant([{"type": "tool_use", "id": name, "name": call.name, "input": arguments}])
        self._owed.append((name, call.call_id))

    def _output(self, item: Mapping[str, Any]) -> None:
        """An output is written behind its call's turn; one without a call is the user's word."""
        self._close_turn()
        if id(item) in self._used:
            return
        waiting = self._outputs.get(self._box.sent_id(item))
        if waiting and waiting[0] is item:
            waiting.popleft()  # not for a later call of the same id
        content = self._content(item)
        self._user([{"type": "text", "text": "Output of a tool:"}, *content] if content else [])

    def _assistant(self, blocks: list[Block]) -> None:
        messages = self._told.messages
        if not blocks:
            return
        if not messages:
            self._user([{"type": "text", "text": _BEGUN}])
        if messages[-1]["role"] != "assistant":
            messages.append({"role": "assistant", "content": []})
        messages[-1]["content"] += blocks

    def _user(self, blocks: list[Block]) -> None:
        messages = self._told.messages
        self._close_turn()
        if not blocks:
            return
        if not messages or messages[-1]["role"] != "user":
            messages.append({"role": "user", "content": []})
        messages[-1]["content"] += blocks

    def _close_turn(self) -> None:
        """The open assistant message is over: write the results of its calls behind it."""
        messages = self._told.messages
        if not messages or messages[-1]["role"] != "assistant":
            return
        content = messages[-1]["content"]
        while content and content[-1]["type"] in REASONING:
            content.pop()  # what was thought about something that was cut off
        if not content:
            messages.pop()
        owed, self._owed = self._owed, []
        if owed:
            results = [self._result(name, call_id) for name, call_id in owed]
            messages.append({"role": "user", "content": results})

    def _result(self, name: str, call_id: str) -> Block:
        waiting = self._outputs.get(call_id)
        result: Block = {"type": "tool_result", "tool_use_id": name}
        if not waiting:
            return {**result, "content": _NO_OUTPUT, "is_error": True}
        item = waiting.popleft()
        self._used.add(id(item))
        content = self._content(item)
        return {**result, "content": content} if content else result

    def _content(self, item: Mapping[str, Any]) -> list[Block]:
        output = item.get("output")
        if isinstance(output, list) and not all(_is_part(part) for part in output):
            output = as_json(output)  # a shell's, with codes and streams
        elif not isinstance(output, str | list):
            told = {key: value for key, value in item.items() if key in ("output", "status")}
            output = as_json(told)
        return blocks_of(output, images=self._images)


def _is_part(part: object) -> bool:
    return isinstance(part, dict) and isinstance(part.get("type"), str)
