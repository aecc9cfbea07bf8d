"""Reads an answer of Chat Completions, chunk by chunk, and tells a run of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tui.bridge.endpoints.base import Broken, Unusable
from tui.bridge.endpoints.openai_chat.counting import usage_in
from tui.bridge.endpoints.openai_chat.dialect import Dialect
from tui.bridge.endpoints.openai_chat.items import Items
from tui.bridge.endpoints.openai_chat.think_tags import ThinkTags
from tui.bridge.endpoints.telling import Telling
from tui.bridge.endpoints.tools import Toolbox
from tui.bridge.upstream.complaint import complaint_in, excerpt
from tui.bridge.upstream.loose_json import said_by
from tui.bridge.upstream.sse import Message
from tui.core.wire.events import Usage
from tui.core.wire.json_writing import STEP_CHARS
from tui.core.wire.masking import Mask
from tui.core.wire.server.run import usage_fields

_INCOMPLETE = {
    "length": "max_output_tokens",
    "max_tokens": "max_output_tokens",
    "model_length": "max_output_tokens",
    "content_filter": "content_filter",
    "content-filter": "content_filter",
    "safety": "content_filter",
    "sensitive": "content_filter",
    "recitation": "content_filter",
    "prohibited_content": "content_filter",
    "blocklist": "content_filter",
    "spii": "content_filter",
}
"""Finish reasons -> why a response is incomplete; all others are good ends but these:"""
_FAILED = ("error", "insufficient_system_resource", "network_error", "abort")
_UNREADABLE = ("malformed_function_call", "unexpected_tool_call", "malformed_response")
"""Google's words for a call that its model has botched."""
_NO_REASON = ("null", "none")
_TOO_LONG = re.compile(
    r"(?i)context[ _](?:length|window|size)|prompt is too long|input is too long|too many tokens"
    r"|exceeds? .{0,60}(?:context|token limit)|maximum .{0,30}context"
)
"""What a conversation that does not fit is called."""
MOST_CHUNKS = 2_000_000
"""Of one answer, those that say nothing among them."""
_OF_TEXT = frozenset({"role", "content"})
_NOTHING = (b"", b"[DONE]")
_MOST_BLANK_BYTES = 1000
_REASONING = ("reasoning_content", "reasoning")
_STATUS_WORDS = {"rate": 429, "quota": 429, "overload": 503, "unavailable": 503, "auth": 401}


class ChatReader:
    """See `endpoints.http_endpoint.Reader`."""

    mends = True

    def __init__(
        self, telling: Telling, model: str, toolbox: Toolbox, dialect: Dialect, mask: Mask
    ) -> None:
        """``mask`` knows what no word of the provider may repeat."""
        self._telling = telling
        self._mask = mask
        self._model = model
        self._items = Items(telling, model, toolbox, dialect)
        self._tags: ThinkTags | None = None
        if dialect.think_tags or dialect.think_begun:
            self._tags = ThinkTags(begun=dialect.think_begun)
        self._finish = ""
        """The finish reason, as soon as it came."""
        self._told: dict[str, Any] = {}
        """Model, tier and provider, as they were last said."""
        self._heard = 0
        self._streamed = False
        """It comes in pieces."""
        self._foreign = False
        """Something came that is no chunk."""
        self._complaint: dict[str, Any] = {}
        """The last of them that has words."""

    @property
    def settled(self) -> bool:
        """See `Reader`."""
        return bool(self._finish)

    def hear(self, message: Message) -> None:
        """See `Reader`. Raises Broken: the chunk is not JSON."""
        nothing = len(message.data) < _MOST_BLANK_BYTES and message.data.strip() in _NOTHING
        if nothing or self._telling.done:
            return
        self._heard += 1
        if self._heard > MOST_CHUNKS:
            raise Unusable("The answer does not come to an end: it was stopped.")
        chunk = said_by(message, mend=True)
        if isinstance(chunk, list) or (message.event == "error" and not isinstance(chunk, dict)):
            chunk = _object(chunk) or {"error": excerpt(message.data) or "(no words)"}
        if chunk is None:
            if self._finish:
                return  # nothing of the answer is lost
            words = "The provider sent a chunk that is not JSON: the answer cannot be read on."
            raise Broken(words)
        if isinstance(chunk, dict):
            self._chunk(chunk, message.event)

    def hear_long(self, message: Message) -> Iterator[None]:
        """See `Reader`: a text that may hold tags is looked through piece by piece."""
        delta = _only_delta(message.value)
        text = delta.get("content")
        if self._tags is not None and isinstance(text, str) and delta.keys() <= _OF_TEXT:
            for at in range(0, len(text) - STEP_CHARS, STEP_CHARS):
                piece = {"choices": [{"delta": {"content": text[at : at + STEP_CHARS]}}]}
                self.hear(message._replace(value=piece))
                yield
            delta["content"] = text[len(text) - (len(text) - 1) % STEP_CHARS - 1 :]
        self.hear(message)

    def hear_whole(self, message: Message) -> None:
        """See `Reader`."""
        answer = _object(said_by(message, mend=True))
        if not answer:
            said = excerpt(message.data)
            raise Broken(f"The provider's answer is not JSON{': ' + said if said else '.'}")
        self._chunk(answer, "")
        self._end(self._finish or ("stop" if answer.get("choices") else ""), "")

    def refuse(self, status: int, body: bytes, headers: dict[str, str], host: str) -> None:
        """See `Reader`."""
        answer = said_by(Message("", body), mend=True)
        said = complaint_in(_object(answer))
        message = said.message
        if not message and status in (401, 403):
            message = f"{host} refused the key (HTTP status {status})."
        elif not message:
            words = excerpt(body)
            message = f"{host} answered with HTTP status {status}{': ' + words if words else '.'}"
        code = _code_of(said.code or f"http_{status}", status, message)
        self._telling.refuse(status, code, message, said.param or None, headers)

    def cut(self, host: str, *, marked: bool) -> None:
        """See `Reader`: without a finish reason a stream that was not marked broke off."""
        if not self._telling.done:
            self._end(self._finish or ("stop" if marked and self._telling.began else ""), host)

    def _chunk(self, chunk: dict[str, Any], event: str) -> None:
        failed = chunk.get("error") or "error" in (event, chunk.get("object"), chunk.get("type"))
        listed = chunk.get("choices")
        if failed:
            self._failed(chunk)
            return
        if not isinstance(listed, list):
            listed = []
            if "usage" not in chunk:
                self._foreign = True
                self._complaint = chunk if complaint_in(chunk).message else self._complaint
        self._look(chunk)
        for choice in listed:
            if isinstance(choice, dict) and not choice.get("index"):
                self._choice(choice, whole=chunk.get("object") == "chat.completion")
        if (usage := usage_in(chunk)) is not None:
            self._telling.used(usage, whole=bool(self._finish))
            if self._finish and not listed:
                # the count is the last thing: whoever never closes is not waited for
                self._end(self._finish, "")

    def _look(self, chunk: dict[str, Any]) -> None:
        """Who answers."""
        for name in ("model", "service_tier", "provider"):
            said = chunk.get(name)
            if not isinstance(said, str) or not said or self._told.get(name) == said:
                continue
            self._told[name] = said
            if name == "model":
                self._telling.served = said
            elif name == "service_tier":
                self._telling.tier = said
            else:
                self._telling.note(duetto_provider=said)

    def _choice(self, choice: dict[str, Any], *, whole: bool) -> None:
        delta, message = choice.get("delta"), choice.get("message")
        if not isinstance(delta, dict) or (not delta and not self._telling.began):
            # an answer in one piece; behind its pieces some say all of it again
            again = self._telling.began and (whole or self._streamed)
            delta = {} if again or not isinstance(message, dict) else message
        else:
            self._streamed = True
        if delta:
            self._delta(delta)
        elif isinstance(choice.get("text"), str):
            self._text(choice["text"])
        finish = choice.get("finish_reason")
        if isinstance(finish, str) and (reason := _reason(finish)):
            self._finish = reason
            if reason in _UNREADABLE:
                words = "The model made a call that its provider could not read: ask again."
                self._failed({"error": {"message": words, "code": "server_error"}})
            elif reason in _FAILED:
                self._failed(choice)

    def _delta(self, delta: dict[str, Any]) -> None:
        content = delta.get("content")
        field = next((key for key in _REASONING if delta.get(key)), "")
        thought, details = delta.get(field), delta.get("reasoning_details")
        if isinstance(thought, str):
            self._items.think(thought, field)
        if isinstance(details, list) and details:
            self._items.detail(details, shown=isinstance(thought, str))
        if isinstance(content, str):
            if content:
                self._text(content)
        elif isinstance(content, list):
            for part in content:
                self._part(part)
        refusal = delta.get("refusal")
        if isinstance(refusal, str) and refusal:
            self._items.say(refusal, "refusal")
        self._called(delta)

    def _called(self, delta: dict[str, Any]) -> None:
        calls, old = delta.get("tool_calls"), delta.get("function_call")
        if isinstance(calls, dict):
            calls = [calls]
        if not calls and isinstance(old, dict):
            calls = [{"index": 0, "function": old}]
        if not isinstance(calls, list) or not calls:
            return
        self._flush_tags()
        for call in calls:
            if isinstance(call, dict):
                self._items.calls.take(call)

    def _part(self, part: object) -> None:
        """A part of a content that is a list (Mistral)."""
        if not isinstance(part, dict):
            return
        if part.get("type") == "thinking":
            inner = part.get("thinking")
            for one in inner if isinstance(inner, list) else [{"text": inner}]:
                said = one.get("text") if isinstance(one, dict) else None
                if isinstance(said, str):
                    self._items.think(said, "thinking")
        elif isinstance(part.get("text"), str):
            self._text(part["text"])

    def _text(self, text: str) -> None:
        if self._tags is None or self._tags.over:
            self._items.say(text)
            return
        self._pieces(self._tags.feed(text))

    def _flush_tags(self) -> None:
        if self._tags is not None:
            self._pieces(self._tags.end())

    def _pieces(self, pieces: list[tuple[bool, str]]) -> None:
        for is_thought, piece in pieces:
            if is_thought:
                self._items.think(piece)
            else:
                self._items.say(piece)

    def _end(self, finish: str, host: str) -> None:
        """The answer is over. Raises Broken: it is not whole."""
        if not finish:
            self._telling_nothing(host)
            return
        self._flush_tags()
        reason = _INCOMPLETE.get(finish)
        unsound = self._items.end(cut_short=reason is not None)
        if unsound and reason is None:
            named = ", ".join(sorted(set(unsound)))
            raise Broken(f"The model called {named} with arguments that are not JSON.")
        if reason is not None:
            self._telling.finish("incomplete", reason)
        else:
            self._telling.finish()

    def _telling_nothing(self, host: str) -> None:
        """It broke off, or was never an answer. Raises Refused, Broken."""
        where = host or "The provider"
        said = complaint_in(self._complaint)
        if said.status is not None:
            self._failed(self._complaint)
            return
        words = self._mask.text(said.message)
        if self._foreign and not self._telling.began:
            behind = f"it says: {words}" if words else "its answer is of another kind."
            told = f"{where} does not speak Chat Completions: {behind}"
            self._telling.refuse(400, "not_an_endpoint", told)
        if words:
            raise Broken(f"The answer of {where} ended before it was whole: {words}")
        raise Broken(f"The answer of {where} ended before it was whole.")

    def _failed(self, told: Mapping[str, Any]) -> None:
        """An error in place of a chunk, or as a finish reason."""
        said = complaint_in(told)
        message = said.message or "The provider broke off the answer without a reason."
        code = said.code or (f"http_{said.status}" if said.status else "server_error")
        code, message = self._mask.text(code), self._mask.text(message)
        if not self._telling.began:
            status = said.status or _status_of(code)
            code = _code_of(code, status, message)
            self._telling.refuse(status, code, message, said.param or None, None)
        usage = self._telling.usage
        counted = usage_fields(usage) if isinstance(usage, Usage) else usage
        error = {"code": code, "message": message}
        self._telling.conclude("failed", {"error": error, "usage": counted})


def _reason(told: str) -> str:
    """A finish reason that we know, out of Google's ``content_filter: RECITATION``."""
    words = [word.strip() for word in told.lower().split(":")]
    known = (word for word in words if word in (*_INCOMPLETE, *_FAILED, *_UNREADABLE))
    reason = next(known, words[0])
    return "" if reason in _NO_REASON else reason


def _code_of(code: str, status: int, message: str) -> str:
    """The provider's code; that of a conversation that is too long is the same for all."""
    too_long = status in (400, 413, 422, 500) and _TOO_LONG.search(f"{code} {message}")
    return "context_length_exceeded" if too_long else code


def _status_of(code: str) -> int:
    """An HTTP status for a code that came without one."""
    low = code.lower()
    found = next((status for word, status in _STATUS_WORDS.items() if word in low), None)
    return found or (400 if "invalid" in low or "not_found" in low else 500)


def _only_delta(chunk: object) -> dict[str, Any]:
    """The delta of a chunk that has one; else an empty one."""
    choices = chunk.get("choices") if isinstance(chunk, dict) else None
    only = choices[0] if isinstance(choices, list) and len(choices) == 1 else None
    delta = only.get("delta") if isinstance(only, dict) and not only.get("index") else None
    return delta if isinstance(delta, dict) else {}


def _object(answer: object) -> dict[str, Any]:
    return answer if isinstance(answer, dict) else {}
