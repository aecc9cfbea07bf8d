"""Reads an answer of Chat Completions, chunk by chunk, and writes its items.

Reasoning comes first, then text, then calls, one after the other; some servers leave the reasoning
in the text, between tags.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tui.bridge.endpoints.base import Broken, Unusable
from tui.bridge.endpoints.encrypted_content import seal
from tui.bridge.endpoints.openai_chat.dialect import KIND, ChatOptions
from tui.bridge.endpoints.openai_chat.tool_calls import ToolCallBook
from tui.bridge.endpoints.response_writer import ResponseWriter
from tui.bridge.endpoints.tools import Toolbox
from tui.bridge.upstream.errors import error_in, excerpt, explained
from tui.bridge.upstream.sse import Message, said_by
from tui.core.wire.events import Usage
from tui.core.wire.json_writing import STEP_CHARS
from tui.core.wire.masking import Mask

_MOST_BLANK_CHARS = 256
"""White space; a model that says more of it says nothing else: the client should see it."""
_MOST_REASONING_CHARS = 32 * 1024 * 1024
_JOINED = ("text", "summary", "data")
"""What of a block of reasoning streams in pieces."""


class OutputItems:
    """The items of one answer. Every method may raise Steered."""

    def __init__(
        self, writer: ResponseWriter, model: str, toolbox: Toolbox, chat_options: ChatOptions
    ) -> None:
        self._writer = writer
        self._model = model
        self._back = chat_options.reasoning_back
        self.calls = ToolCallBook(writer, toolbox, self._call_begins)
        self._message: int | None = None
        self._thought: int | None = None
        self._came = ""
        """The field in which the thoughts come; empty: in the text, between tags."""
        self._details = ReasoningDetails()
        self._empty = ""
        """The same before any thoughts."""
        self._blank = ""
        """White space that came before any text: alone it is no message."""

    def think(self, text: str, field: str = "") -> None:
        """More thoughts; ``field``: see `thoughts.FIELDS`."""
        if self._thought is None:
            self._empty += text
            if len(self._empty) <= _MOST_BLANK_CHARS and not self._empty.strip():
                return
            text, self._empty = self._empty.lstrip() or self._empty, ""
            self._end_message()
            self._thought = self._writer.item_added({"type": "reasoning", "summary": []})
            self._came = field
        self._writer.delta(self._thought, text)

    def detail(self, listed: list[Any], *, shown: bool) -> None:
        """OpenRouter's blocks; ``shown``: their text came by itself."""
        text = self._details.take(listed)
        if not shown and text:
            self.think(text)
        elif self._thought is None and self._details:
            # what comes behind the thoughts (a signature, a sealed block) has an item of its own
            self._thought = self._writer.item_added({"type": "reasoning", "summary": []})

    def say(self, text: str, family: str = "") -> None:
        """More text, or of a ``refusal``."""
        if self._message is None:
            self._blank += text
            if len(self._blank) <= _MOST_BLANK_CHARS and not self._blank.strip():
                return
            text, self._blank = self._blank, ""
            self._end_thought()
            self.calls.settle()
            self._message = self._writer.item_added({"type": "message"})
        elif self._thought is not None:
            self._end_thought()
        self._writer.delta(self._message, text, family)

    def end(self, *, cut_short: bool) -> list[str]:
        """No more comes; returns the names of calls that are none, which are left open.

        ``cut_short``: the last words are missing.
        """
        self._end_thought()
        unsound = self.calls.unsound()
        if self._message is not None and not unsound:
            index, self._message = self._message, None
            self._writer.item_done(index, {"status": "incomplete"} if cut_short else None)
        if not unsound or cut_short:
            self.calls.finish()
        return unsound

    def _call_begins(self, signed: dict[str, Any]) -> None:
        self._end_thought()
        self._end_message()
        if signed:
            sealed = seal(KIND, self._model, {"call": signed})
            self._carry(self._writer.item_added({"type": "reasoning", "summary": []}), sealed)

    def _end_message(self) -> None:
        self._blank = ""
        if self._message is not None:
            index, self._message = self._message, None
            self._writer.item_done(index)

    def _end_thought(self) -> None:
        if self._thought is None:
            return
        index, self._thought = self._thought, None
        came = self._came if self._back == "auto" else self._back
        payload: dict[str, Any] = {"back": came} if came else {}
        if self._details:
            payload["details"], self._details = self._details.whole(), ReasoningDetails()
        self._carry(index, seal(KIND, self._model, payload) if payload else "")

    def _carry(self, index: int, sealed: str) -> None:
        self._writer.item_done(index, {"encrypted_content": sealed} if sealed else None)


class ReasoningDetails:
    """OpenRouter's blocks of thoughts, put together from their pieces."""

    def __init__(self) -> None:
        self._blocks: dict[Any, dict[str, Any]] = {}
        self._pieces: dict[Any, dict[str, list[str]]] = {}
        self._chars = 0

    def __bool__(self) -> bool:
        return bool(self._blocks)

    def take(self, listed: list[Any]) -> str:
        """More of them; returns what of it can be shown. Raises Broken: it is far too much."""
        shown: list[str] = []
        for told in listed:
            if not isinstance(told, dict):
                continue
            at = str(told.get("index")), str(told.get("type"))
            block = self._blocks.setdefault(at, {})
            for key, value in told.items():
                self._chars += len(value) if isinstance(value, str) else 1
                if self._chars > _MOST_REASONING_CHARS:
                    raise Unusable("The model's thoughts do not come to an end: they were stopped.")
                if key in _JOINED and isinstance(value, str):
                    self._pieces.setdefault(at, {}).setdefault(key, []).append(value)
                    shown.append("" if key == "data" else value)
                elif value is not None:
                    block[key] = value
        return "".join(shown)

    def whole(self) -> list[dict[str, Any]]:
        """The blocks as they go back."""
        return [
            {**block, **{key: "".join(said) for key, said in self._pieces.get(at, {}).items()}}
            for at, block in self._blocks.items()
        ]


_NAMES = ("think", "thinking", "thought")
_OPENING = re.compile(rf"\s*<({'|'.join(_NAMES)})>")
_OPENINGS = tuple(f"<{name}>" for name in _NAMES)
_CLOSING = re.compile(rf"</(?:{'|'.join(_NAMES)})>")
_CLOSINGS = tuple(f"</{name}>" for name in _NAMES)
_LONGEST = max(map(len, _CLOSINGS))
"""White space; a model that says more of it says nothing else: the client should see it."""


class ThinkTagParser:
    """The text of one answer."""

    def __init__(self, *, begun: bool = False) -> None:
        """``begun``: the prompt has opened a tag already."""
        self._mode = "thought" if begun else "start"
        self._held = ""
        self._blank = True
        """Nothing but white space has come since the tag."""

    @property
    def over(self) -> bool:
        """From here on everything is text."""
        return self._mode == "text" and not self._held

    def feed(self, text: str) -> list[tuple[bool, str]]:
        """Take more; returns pieces, each with whether it is thought."""
        if self._mode == "text":
            return self._text(text)
        self._held += text
        if self._mode == "start":
            return self._start()
        return self._thought()

    def end(self) -> list[tuple[bool, str]]:
        """The text is over; returns what was held back."""
        held, self._held = self._held, ""
        return [(self._mode == "thought", held)] if held else []

    def _start(self) -> list[tuple[bool, str]]:
        opened = _OPENING.match(self._held)
        if opened is not None:
            self._held, self._mode = self._held[opened.end() :], "thought"
            return self._thought()
        begun = self._held.lstrip()
        short = len(self._held) <= _MOST_BLANK_CHARS
        if short and any(tag.startswith(begun) for tag in _OPENINGS):
            return []
        held, self._held, self._mode = self._held, "", "text"
        self._blank = False
        return [(False, held)]

    def _thought(self) -> list[tuple[bool, str]]:
        closed = _CLOSING.search(self._held)
        if closed is None:
            safe = len(self._held) - _tail(self._held)
            bare = len(self._held[:safe].rstrip())
            safe = bare if safe - bare <= _MOST_BLANK_CHARS else safe
            said, self._held = self._held[:safe], self._held[safe:]
            return self._blankless(True, said)
        said, rest = self._held[: closed.start()], self._held[closed.end() :]
        self._held = ""
        pieces = self._blankless(True, said.rstrip())
        self._mode, self._blank = "text", True
        return pieces + self._text(rest)

    def _text(self, text: str) -> list[tuple[bool, str]]:
        return self._blankless(False, text) if self._blank else [(False, text)]

    def _blankless(self, thought: bool, text: str) -> list[tuple[bool, str]]:
        """Without the empty lines that stand between a tag and what follows."""
        if self._blank:
            text = text.lstrip()
            self._blank = not text
        return [(thought, text)] if text else []


def _tail(text: str) -> int:
    """How many characters at the end may be the beginning of a closing tag."""
    at = text.rfind("<", max(0, len(text) - _LONGEST + 1))
    return len(text) - at if at >= 0 and any(c.startswith(text[at:]) for c in _CLOSINGS) else 0


_WRITTEN = ("cache_write_tokens", "cache_creation_tokens", "cache_creation_input_tokens")
"""What went into a cache: OpenRouter's, LiteLLM's and Anthropic's words."""

_FOUND = (
    "prompt_cache_hit_tokens",  # DeepSeek
    "cached_tokens",  # Moonshot, Together
    "cache_read_input_tokens",  # Claude behind gateways
    "num_cached_tokens",  # Mistral
    "cached_prompt_tokens",
    "cache_read_tokens",
)
"""What was found in a cache, where the details do not say it."""


def usage_in(chunk: Mapping[str, Any]) -> Usage | None:
    """The count in a chunk or a whole answer; None: it has none."""
    groq, timings = chunk.get("x_groq"), chunk.get("timings")
    for holder in (chunk, groq, *_choices(chunk)):
        told = holder.get("usage") if isinstance(holder, dict) else None
        if isinstance(told, dict) and (usage := _counted(told)) is not None:
            return usage
    return _timed(timings) if isinstance(timings, dict) else None


def _counted(told: Mapping[str, Any]) -> Usage | None:
    tokens_in = _number(told, "prompt_tokens", "input_tokens")
    tokens_out = _number(told, "completion_tokens", "output_tokens")
    if tokens_in is None and tokens_out is None:
        return None
    tokens_in, tokens_out = tokens_in or 0, tokens_out or 0
    cached = _number(told.get("prompt_tokens_details"), "cached_tokens")
    if cached is None:
        cached = _number(told.get("input_tokens_details"), "cached_tokens")
    if cached is None:
        cached = _number(told, *_FOUND)
    written = _number(told.get("prompt_tokens_details"), *_WRITTEN)
    if written is None:
        written = _number(told, *_WRITTEN)
    reasoning = _number(told.get("completion_tokens_details"), "reasoning_tokens")
    if reasoning is None:
        reasoning = _number(told, "reasoning_tokens")
    beyond = (_number(told, "total_tokens") or 0) - tokens_in - tokens_out
    if beyond > 0:
        # xAI and Google count thoughts in the total only.
        tokens_out += beyond
        reasoning = beyond if reasoning is None else reasoning
    return Usage(tokens_in, tokens_out, cached, reasoning, written)


def _timed(timings: Mapping[str, Any]) -> Usage | None:
    """llama.cpp: ``prompt_n`` are the tokens that were not in its cache."""
    fresh, cached = _number(timings, "prompt_n"), _number(timings, "cache_n")
    said = _number(timings, "predicted_n")
    if fresh is None or said is None:
        return None
    return Usage(fresh + (cached or 0), said, cached)


def _choices(chunk: Mapping[str, Any]) -> list[Any]:
    listed = chunk.get("choices")
    return listed[:1] if isinstance(listed, list) else []


def _number(source: object, *keys: str) -> int | None:
    for key in keys:
        value = source.get(key) if isinstance(source, dict) else None
        usable = isinstance(value, int | float) and not isinstance(value, bool)
        if usable and value is not None and 0 <= value < 1e15:
            return int(value)
    return None


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
_REASONING = ("reasoning_content", "reasoning", "thinking", "reasoning_text")
_WANTED_BACK = _REASONING[:2]
"""In which fields a server may want thoughts back where it sent them so."""
_STATUS_WORDS = {"rate": 429, "quota": 429, "overload": 503, "unavailable": 503, "auth": 401}


class ChatReader:
    """See `endpoints.http_endpoint.Reader`."""

    def __init__(
        self,
        writer: ResponseWriter,
        model: str,
        toolbox: Toolbox,
        chat_options: ChatOptions,
        mask: Mask,
    ) -> None:
        """``mask`` knows what no word of the provider may repeat."""
        self._writer = writer
        self._mask = mask
        self._items = OutputItems(writer, model, toolbox, chat_options)
        self._tags: ThinkTagParser | None = None
        if chat_options.think_tags or chat_options.think_begun:
            self._tags = ThinkTagParser(begun=chat_options.think_begun)
        self._finish = ""
        """The finish reason, as soon as it came."""
        self._told: dict[str, Any] = {}
        """Model, tier and provider, as they were last said."""
        self._index: object = None
        """Of the choice that is the answer."""
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
        if nothing or self._writer.done:
            return
        self._heard += 1
        if self._heard > MOST_CHUNKS:
            raise Unusable("The answer does not come to an end: it was stopped.")
        chunk = said_by(message)
        if isinstance(chunk, dict):
            self._chunk(chunk, message.event)
        elif self._finish:
            return  # nothing of the answer is lost
        elif chunk == []:
            return
        elif isinstance(chunk, list) or message.event == "error":
            words = excerpt(message.data) or "The provider ended the answer with an error."
            self._failed({"error": words})
        elif chunk is None and message.data.strip() != b"null":
            words = excerpt(message.data) or "the answer cannot be read on."
            raise Broken(f"The provider sent a chunk that is not JSON: {words}")

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
        answer = _object(said_by(message))
        if not answer:
            said = excerpt(message.data)
            raise Broken(f"The provider's answer is not JSON{': ' + said if said else '.'}")
        self._chunk(answer, "")
        self._end(self._finish or ("stop" if answer.get("choices") else ""), "")

    def refuse(self, status: int, body: bytes, headers: dict[str, str], host: str) -> None:
        """See `Reader`."""
        answer = said_by(Message("", body))
        said = explained(error_in(_object(answer)), status, body, host)
        code = _code_of(said.code, status, said.message)
        self._writer.refuse(status, code, said.message, said.param or None, headers)

    def cut(self, host: str, *, marked: bool) -> None:
        """See `Reader`: without a finish reason a stream that was not marked broke off."""
        if not self._writer.done:
            self._end(self._finish or ("stop" if marked and self._writer.began else ""), host)

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
                self._complaint = chunk if error_in(chunk).message else self._complaint
        self._look(chunk)
        for choice in listed:
            if isinstance(choice, dict) and self._is_ours(choice.get("index")):
                self._choice(choice, whole=chunk.get("object") == "chat.completion")
        if (usage := usage_in(chunk)) is not None:
            self._writer.used(usage, whole=bool(self._finish))
            if self._finish and not listed:
                # the count is the last thing: whoever never closes is not waited for
                self._end(self._finish, "")

    def _is_ours(self, index: object) -> bool:
        """Whether this is the choice that came first; some count from 1, or with digits."""
        if self._index is None:
            self._index = index
        return index is None or index == self._index

    def _look(self, chunk: dict[str, Any]) -> None:
        """Who answers."""
        for name in ("model", "service_tier", "provider"):
            said = chunk.get(name)
            if not isinstance(said, str) or not said or self._told.get(name) == said:
                continue
            self._told[name] = said
            if name == "model":
                self._writer.served = said
            elif name == "service_tier":
                self._writer.tier = said
            else:
                self._writer.note(duetto_provider=said)

    def _choice(self, choice: dict[str, Any], *, whole: bool) -> None:
        delta, message = choice.get("delta"), choice.get("message")
        if not isinstance(delta, dict) or (not delta and not self._writer.began):
            # an answer in one piece; behind its pieces some say all of it again
            again = self._writer.began and (whole or self._streamed)
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
            self._items.think(thought, field if field in _WANTED_BACK else "")
        if isinstance(details, list) and details:
            self._items.detail(details, shown=isinstance(thought, str))
        if isinstance(content, str):
            if content:
                self._text(content)
        elif content:
            for part in content if isinstance(content, list) else [content]:
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
            self._writer.finish("incomplete", reason)
        else:
            self._writer.finish()

    def _telling_nothing(self, host: str) -> None:
        """It broke off, or was never an answer. Raises Refused, Broken."""
        where = host or "The provider"
        said = error_in(self._complaint)
        if said.status is not None:
            self._failed(self._complaint)
            return
        words = self._mask.text(said.message)
        if self._foreign and not self._writer.began:
            behind = f"it says: {words}" if words else "its answer is of another kind."
            told = f"{where} does not speak Chat Completions: {behind}"
            self._writer.refuse(400, "not_an_endpoint", told)
        if words:
            raise Broken(f"The answer of {where} ended before it was whole: {words}")
        raise Broken(f"The answer of {where} ended before it was whole.")

    def _failed(self, told: Mapping[str, Any]) -> None:
        """An error in place of a chunk, or as a finish reason."""
        said = error_in(told)
        message = said.message or "The provider broke off the answer without a reason."
        code = said.code or (f"http_{said.status}" if said.status else "server_error")
        code, message = self._mask.text(code), self._mask.text(message)
        if not self._writer.began:
            status = said.status or _status_of(code)
            code = _code_of(code, status, message)
            self._writer.refuse(status, code, message, said.param or None, None)
        self._writer.give_up(code, message)


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
