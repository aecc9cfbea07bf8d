"""A conversation of Responses items as the messages of Chat Completions.

What a model said in one go (thoughts, text, calls) is one message of the assistant, and the
outputs of its calls stand right behind it: that is what servers and their templates insist on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from tui.bridge.endpoints.base import Asked
from tui.bridge.endpoints.carried import COMPACTED, is_compacted
from tui.bridge.endpoints.openai_chat.dialect import KIND, Dialect
from tui.bridge.endpoints.openai_chat.parts import Parts, content_of, joined
from tui.bridge.endpoints.openai_chat.structure import structure_in_words
from tui.bridge.endpoints.openai_chat.thoughts import Thoughts
from tui.bridge.endpoints.openai_chat.wording import descriptions_in_words
from tui.bridge.endpoints.tools import Toolbox
from tui.core.wire.events import OUTPUTS

Message = dict[str, Any]
_NO_OUTPUT = "(there is no output)"
_NOTED = "Noted."


def messages(asked: Asked, dialect: Dialect, toolbox: Toolbox) -> list[Message]:
    """The whole conversation. Raises Refused: something in it cannot be said to this model."""
    builder = _Builder(asked, dialect, toolbox)
    said = (
        asked.request.get("instructions"),
        descriptions_in_words(toolbox, dialect),
        structure_in_words(asked, dialect),
    )
    for text in said:
        if isinstance(text, str) and text:
            builder.system([{"type": "text", "text": text}])
    for item in asked.items:
        builder.take(item)
    return builder.end()


class _Builder:
    def __init__(self, asked: Asked, dialect: Dialect, toolbox: Toolbox) -> None:
        self._dialect = dialect
        self._silence = None if dialect.null_content else ""
        self._toolbox = toolbox
        self._parts = Parts(asked, dialect)
        self._thoughts = Thoughts(KIND, asked.model, dialect.reasoning_back)
        self._outputs = _outputs(asked.items, toolbox)
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
        dialect = self._dialect
        leading = all(one["role"] == dialect.system_role for one in self._said)
        role = dialect.system_role if leading else dialect.late_system
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


def _outputs(
    items: Iterable[Mapping[str, Any]], toolbox: Toolbox
) -> dict[str, deque[Mapping[str, Any]]]:
    """The outputs of calls, by the calls' ids as they are sent."""
    found: dict[str, deque[Mapping[str, Any]]] = {}
    for item in items:
        if str(item.get("type")) in OUTPUTS:
            found.setdefault(toolbox.sent_id(item), deque()).append(item)
    return found
