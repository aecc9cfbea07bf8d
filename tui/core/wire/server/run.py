"""One response as a server makes it: what it was asked, and the events it says.

The owner (the bridge) streams with `item_added`, `delta`, `item_done` and ends with `finish`,
`fail` or `refuse`; `emit` says anything else. After the end every call is a silent no-op, so that
a producer that notices its interrupt late does no harm.

An item is open while it comes. A message may hold text and a refusal, a reasoning several parts of
a summary and its own words: parts are opened by their first text and closed by the next part or by
the item's end.

Steering on the server's side: texts that were accepted while a response streamed. A text is owed
to the response's successor: the server starts it by itself, or, if the response ended with tool
calls, puts the text behind the outputs that the client sends (PROTOCOL section 7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct, field

from tui.core.text.pieces import Pieces
from tui.core.wire.events import CALL_OUTPUTS, OUTPUTS, Usage, unanswered
from tui.core.wire.json_writing import LongFrame, Told, frame_or_long, size_of

Emit = Callable[..., None]
"""Says one event: its kind, then its fields."""


class TextFamily(Struct, frozen=True):
    """How one kind of text of an item travels."""

    text_event: str
    """Event family: ``.delta`` and ``.done`` follow."""
    text_key: str
    """The field of the ``.done`` event (and of a call's item) that holds the whole text."""
    part_event: str = ""
    part_type: str = ""
    list_key: str = ""
    """The item's list of parts; empty for a call."""
    index_key: str = ""
    part_key: str = "text"
    """The field of a part that holds its text."""


_TEXT = TextFamily(
    "response.output_text", "text", "response.content_part", "output_text",
    "content", "content_index",
)  # fmt: skip
_REFUSAL = TextFamily(
    "response.refusal", "refusal", "response.content_part", "refusal",
    "content", "content_index", "refusal",
)  # fmt: skip
_SUMMARY = TextFamily(
    "response.reasoning_summary_text", "text", "response.reasoning_summary_part",
    "summary_text", "summary", "summary_index",
)  # fmt: skip
_REASONING = TextFamily(
    "response.reasoning_text", "text", "response.content_part", "reasoning_text",
    "content", "content_index",
)  # fmt: skip
_FAMILIES: dict[str, dict[str, TextFamily]] = {
    "message": {"": _TEXT, "text": _TEXT, "refusal": _REFUSAL},
    "reasoning": {"": _SUMMARY, "summary": _SUMMARY, "reasoning_text": _REASONING},
    "function_call": {"": TextFamily("response.function_call_arguments", "arguments")},
    "custom_tool_call": {"": TextFamily("response.custom_tool_call_input", "input")},
}
"""The type of an item -> the name of a family, empty for its usual one -> how it travels."""
_PREFIXES = {"message": "msg", "reasoning": "rs", "function_call": "fc", "custom_tool_call": "ctc"}


class OpenItem(Struct):
    """One item that has begun. `item` is what its ``added`` event said."""

    item: dict[str, Any]
    families: dict[str, TextFamily]
    head: dict[str, Any]
    """Fields that each of its events carries."""
    parts: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """The closed parts, by the item's list that they go in."""
    _family: TextFamily | None = None
    """Of the text that is coming."""
    _at: dict[str, Any] = field(default_factory=dict)
    _delta_event: str = ""
    _text: Pieces = field(default_factory=Pieces)

    def delta(self, text: str, name: str, emit: Emit) -> None:
        """More text, of a family by its name; of an item without any it says nothing."""
        family = self.families.get(name)
        if family is None:
            return
        if family is not self._family:
            self._begin(family, emit)
        self._text.append(text)
        emit(self._delta_event, **self._at, delta=text)

    def end_part(self, emit: Emit) -> None:
        """Close the open part: the next text begins another one."""
        family, self._family = self._family, None
        if family is None:
            return
        text, self._text = self._text.text, Pieces()
        if not family.list_key:
            self.item = {**self.item, family.text_key: text}
            named = {"name": self.item["name"]} if "name" in self.item else {}
            emit(f"{family.text_event}.done", **self._at, **named, **{family.text_key: text})
            return
        emit(f"{family.text_event}.done", **self._at, **{family.text_key: text})
        part = _part(family, text)
        at = {key: value for key, value in self._at.items() if key != "logprobs"}
        emit(f"{family.part_event}.done", **at, part=part)
        self.parts.setdefault(family.list_key, []).append(part)

    def whole(self, given: dict[str, Any] | None, emit: Emit) -> dict[str, Any]:
        """The finished item: what came, and ``given`` over it."""
        usual = self.families.get("")
        silent = given is None and self._family is None and not self.parts
        if silent and usual is not None and usual is not _SUMMARY:
            self._begin(usual, emit)  # a message or a call without any text has an empty one
        self.end_part(emit)
        whole = {**self.item, **self.parts, **(given or {})}
        if "status" in whole:
            whole["status"] = (given or {}).get("status") or "completed"
        return whole

    def _begin(self, family: TextFamily, emit: Emit) -> None:
        self.end_part(emit)
        self._family, self._delta_event = family, f"{family.text_event}.delta"
        self._at = dict(self.head)
        if not family.list_key:
            return
        self._at[family.index_key] = len(self.parts.get(family.list_key, ()))
        emit(f"{family.part_event}.added", **self._at, part=_part(family, ""))
        if family is _TEXT:
            self._at["logprobs"] = []


def opened(item: dict[str, Any], index: int, tail: str) -> OpenItem:
    """Begin an item; ``tail`` makes its ids unique. Ids and empty texts are filled in."""
    kind = str(item.get("type"))
    families = _FAMILIES.get(kind, {})
    usual = families.get("")
    full = {"id": f"{_PREFIXES.get(kind, 'item')}_{tail}", **item}
    if kind == "message":
        full = {"role": "assistant", **full}
    if kind != "reasoning":
        full["status"] = "in_progress"
    if usual is not None and usual.list_key:
        full.setdefault(usual.list_key, [])
    elif usual is not None:
        full = {"call_id": f"call_{tail}", usual.text_key: "", **full}
    return OpenItem(full, families, {"item_id": full["id"], "output_index": index})


def passed_on(item: dict[str, Any]) -> OpenItem:
    """An item that another server began: its events come from there."""
    return OpenItem(item, {}, {})


def _part(family: TextFamily, text: str) -> dict[str, Any]:
    part: dict[str, Any] = {"type": family.part_type, family.part_key: text}
    return {**part, "annotations": [], "logprobs": []} if family is _TEXT else part


FinishStatus = Literal["completed", "incomplete", "failed"]


_ENVELOPE = frozenset({"type", "sequence_number", "stream_id"})
TOLD_BY_OTHERS = ("model", "usage", "service_tier", "incomplete_details", "error")
"""What a response that another server made keeps of it; the rest is ours."""


def usage_fields(usage: Usage) -> dict[str, Any]:
    """Usage as the terminal event says it.

    Clients of the protocol want numbers: what the provider did not count is 0, and named beside.
    """
    told = {name: getattr(usage, name) for name in ("cached_tokens", "reasoning_tokens")}
    uncounted = [name for name, count in told.items() if count is None]
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {
            "cached_tokens": usage.cached_tokens or 0,
            "cache_write_tokens": usage.cache_write_tokens or 0,
        },
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
        "total_tokens": usage.input_tokens + usage.output_tokens,
        **({"uncounted": uncounted} if uncounted else {}),
    }


class Task(Struct, frozen=True):
    """What a run is to answer."""

    response_id: str
    lane: str | None
    """The `stream_id`; None: the default lane."""
    request: dict[str, Any]
    """The create without its envelope; `input` holds only the new items."""
    full_input: list[dict[str, Any]]
    """The whole conversation: what the parent knew, then the new items."""
    generate: bool = True
    created_at: int = 0
    """Unix seconds."""
    size_bytes: int = 0
    """Of the frames that the whole conversation came and went in."""
    stored: bool = False
    """It is kept for the user's other connections."""


class Run:
    """A response in flight."""

    def __init__(
        self, task: Task, send: Callable[[Told], None], ended: Callable[[Run, bool], None]
    ) -> None:
        self.task = task
        self.response_id = task.response_id
        self.lane = task.lane
        self.request = task.request
        self.full_input = task.full_input
        self.output: list[dict[str, Any]] = []
        """Finished items."""
        self.interrupted = False
        """The client wants it to stop, or is gone: end with `finish_interrupted`."""
        self.steered = False
        """The client has added input: end at the next item boundary, reason ``steered``."""
        self.done = False
        self.tokens_s: float | None = None
        """The client's newest word on how fast it may come, given while it ran: tokens a second,
        `math.inf`: as fast as it comes. None: it said nothing since its request."""
        self.served: dict[str, Any] = {}
        """What the response says of who really answers: ``model``, ``service_tier``,
        ``metadata``."""
        self.end_bytes = 0
        """About the size of the frame that ended it, its whole output in it."""
        self.chars = 0
        """Of its output, as deltas said it so far."""
        self.item_chars = 0
        """Of its finished items, with all that they are made of."""
        self.ending: dict[str, Any] = {}
        """How it ended, for who keeps account of it: ``status``, and what there is of ``usage``,
        ``code`` and ``reason``; empty while it runs, and of an abandoned one."""
        self._send = send
        self._ended = ended
        self._sequence = 0
        self.next_index = 0
        """Output index of the next item."""
        self._open: dict[int, OpenItem] = {}

    @property
    def said(self) -> int:
        """How many events it has said: who looks twice sees whether it was silent."""
        return self._sequence

    @property
    def unfinished(self) -> bool:
        """An item has begun and not ended."""
        return bool(self._open)

    def emit(self, kind: str, **fields: Any) -> None:
        """Say one event; sequence number and lane are added."""
        if not self.done:
            self._say(kind, fields)

    def postscript(self, kind: str, **fields: Any) -> None:
        """Say what is still to be said of it behind its end, such as a steer's fate."""
        self._say(kind, fields)

    def pass_on(self, event: dict[str, Any]) -> None:
        """Say an event that another server made: numbered and routed as ours.

        An item's events need its ``output_index``. Terminal events are not passed on: `conclude`
        says them.
        """
        if self.done:
            return
        kind, index, item = str(event.get("type")), event.get("output_index"), event.get("item")
        if isinstance(item, dict) and isinstance(index, int):
            if kind == "response.output_item.added":
                self._open[index] = passed_on(item)
            elif kind == "response.output_item.done":
                self._open.pop(index, None)
                self._finished(item)
        if isinstance(index, int):
            self.next_index = max(self.next_index, index + 1)
        delta = event.get("delta")
        self.chars += len(delta) if isinstance(delta, str) else 0
        self._say(kind, {key: value for key, value in event.items() if key not in _ENVELOPE})

    def start(self) -> None:
        """Say that the response exists (the protocol does it)."""
        self.emit("response.created", response=self._response("in_progress"))
        self.emit("response.in_progress", response=self._response("in_progress"))

    def keep_alive(self) -> None:
        """Say that the work goes on, for clients that count only text frames as life."""
        self.emit("response.in_progress", response=self._response("in_progress"))

    def item_added(self, item: dict[str, Any]) -> int:
        """Begin an item; returns its output index.

        ``item`` needs a ``type`` (message, reasoning, function_call, custom_tool_call, ...) and
        for a call a ``name``; ids and empty texts are filled in.
        """
        index = self.next_index
        self.next_index += 1
        begun = opened(item, index, f"{self.response_id.removeprefix('resp_')}_{index}")
        self._open[index] = begun
        self.emit("response.output_item.added", output_index=index, item=begun.item)
        return index

    def delta(self, index: int, text: str, family: str = "") -> None:
        """More text of an open item.

        ``family``: ``refusal`` of a message, ``reasoning_text`` of a reasoning (``summary`` is its
        usual one). Parts open and close by themselves.
        """
        begun = self._open.get(index)
        if begun is not None and not self.done:
            self.chars += len(text)
            begun.delta(text, family, self.emit)

    def item_done(self, index: int, item: dict[str, Any] | None = None) -> None:
        """Finish an item: with its texts so far, and what ``item`` says over them."""
        begun = self._open.pop(index, None)
        if begun is None or self.done:
            return
        whole = begun.whole(item, self.emit)
        self._finished(whole)
        self.emit("response.output_item.done", output_index=index, item=whole)

    def finish(
        self,
        status: FinishStatus = "completed",
        usage: Usage | dict[str, Any] | None = None,
        reason: str | None = None,
    ) -> None:
        """End; ``reason`` is that of an incomplete response, such as ``max_output_tokens``."""
        counted = _counted(usage)
        details = {"reason": reason} if reason else None
        body = self._response(status, usage=counted, incomplete_details=details)
        self._end(f"response.{status}", body, remembered=status != "failed")

    def conclude(self, status: FinishStatus, response: dict[str, Any]) -> None:
        """End as another server ended it; the items that came are the output."""
        told = {key: response[key] for key in TOLD_BY_OTHERS if response.get(key) is not None}
        body = self._response(status, **told)
        self._end(f"response.{status}", body, remembered=status != "failed")

    def finish_interrupted(self, usage: Usage | dict[str, Any] | None = None) -> None:
        """End as the client asked: open items are discarded, finished ones stay."""
        for index, begun in sorted(self._open.items()):
            self.emit(
                "response.output_item.interrupted",
                response_id=self.response_id,
                item_id=begun.item.get("id"),
                output_index=index,
            )
        self._open.clear()
        self.finish("incomplete", usage, reason="interrupted")

    def fail(self, code: str, message: str, usage: Usage | dict[str, Any] | None = None) -> None:
        """End with `response.failed`; ``usage`` is what it took till then."""
        error, counted = {"code": code, "message": message}, _counted(usage)
        body = self._response("failed", error=error, usage=counted)
        self._end("response.failed", body, remembered=False)

    def refuse(
        self,
        status: int,
        code: str,
        message: str,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """End with an `error` event on this lane; see `error_fields`."""
        if self.done:
            return
        self._say("error", error_fields(status, code, message, param, headers))
        self.ending = {"status": "refused", "code": code}
        self.done = True
        self._ended(self, False)

    def abandon(self) -> None:
        """The client is gone: say nothing more."""
        self.interrupted = self.done = True

    def _finished(self, item: dict[str, Any]) -> None:
        self.output.append(item)
        self.item_chars += size_of(item)

    def _say(self, kind: str, fields: dict[str, Any]) -> int:
        """Say an event; returns the size of its frame, of a long one that of all items."""
        event = {"type": kind, "sequence_number": self._sequence, **fields}
        if self.lane is not None:
            event["stream_id"] = self.lane
        self._sequence += 1
        told = frame_or_long(event)
        self._send(told)
        return self.item_chars if isinstance(told, LongFrame) else len(told)

    def _end(self, kind: str, response: dict[str, Any], *, remembered: bool) -> None:
        if self.done:
            return
        self.end_bytes = self._say(kind, {"response": response})
        self.ending = {
            "status": response["status"],
            "usage": response["usage"],
            "code": _word(response["error"], "code"),
            "reason": _word(response["incomplete_details"], "reason"),
        }
        self.done = True
        self._ended(self, remembered)

    def _response(self, status: str, **fields: Any) -> dict[str, Any]:
        request = self.request
        return {
            "id": self.response_id,
            "object": "response",
            "created_at": self.task.created_at,
            "status": status,
            "model": request.get("model"),
            "output": list(self.output),
            "error": None,
            "incomplete_details": None,
            "usage": None,
            "tools": [],
            "tool_choice": "auto",
            "parallel_tool_calls": request.get("parallel_tool_calls") is not False,
            "previous_response_id": request.get("previous_response_id"),
            "store": self.task.stored,
            **self.served,
            "metadata": {**(request.get("metadata") or {}), **self.served.get("metadata", {})},
            **fields,
        }


def error_fields(
    status: int,
    code: str,
    message: str,
    param: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """An `error` event but for its envelope (PROTOCOL section 4).

    ``status`` is as of HTTP; ``headers`` such as ``retry-after`` in seconds.
    """
    kind = "server_error" if status >= 500 else "invalid_request_error"
    error = {"type": kind, "code": code, "message": message, "param": param}
    told = {"headers": dict(headers)} if headers else {}
    return {"status": status, "error": {**error, **told}, **told}


def _word(told: Any, key: str) -> str | None:
    """A word of what another server told, which may be anything."""
    word = told.get(key) if isinstance(told, dict) else None
    return word if isinstance(word, str) else None


def _counted(usage: Usage | dict[str, Any] | None) -> dict[str, Any] | None:
    return usage_fields(usage) if isinstance(usage, Usage) else usage


MAX_PENDING = 8
"""Texts that may wait for the successor of one response."""
_USER_PARTS = ("input_text", "input_image", "input_file")


class AcceptedText(Struct, frozen=True):
    """One accepted text."""

    id: str
    previous_response_id: str
    input: list[dict[str, Any]]
    size_bytes: int = 0
    """Of the frame that it came in."""

    def shown(self, *, with_input: bool = False) -> dict[str, Any]:
        """As the events carry it; ``with_input`` gives the text back."""
        named = {"id": self.id, "previous_response_id": self.previous_response_id}
        return {**named, "input": self.input} if with_input else named


class AcceptedTexts:
    """The texts of one connection that no successor has taken yet."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._counter = 0
        self._texts: dict[str, list[AcceptedText]] = {}
        self.held_bytes = 0

    def is_full(self, response_id: str) -> bool:
        """Whether that response may not be given another text."""
        return len(self._texts.get(response_id, ())) >= MAX_PENDING

    def accept(
        self, response_id: str, items: list[dict[str, Any]], size_bytes: int = 0
    ) -> AcceptedText:
        """Own a text."""
        self._counter += 1
        self.held_bytes += size_bytes
        text = AcceptedText(f"steer_{self._prefix}{self._counter}", response_id, items, size_bytes)
        self._texts.setdefault(response_id, []).append(text)
        return text

    def waiting(self, response_id: str) -> Sequence[AcceptedText]:
        """The texts that wait for this response's successor."""
        return self._texts.get(response_id, ())

    def take(self, response_id: str) -> list[AcceptedText]:
        """These texts, for the successor or to be given back; they wait no longer."""
        texts = self._texts.pop(response_id, [])
        self.held_bytes -= size_of_texts(texts)
        return texts


def items_of_texts(texts: Iterable[AcceptedText]) -> list[dict[str, Any]]:
    """The items of some texts, in their order."""
    return [item for text in texts for item in text.input]


def size_of_texts(texts: Iterable[AcceptedText]) -> int:
    """What they take, in bytes of the frames that they came in."""
    return sum(text.size_bytes for text in texts)


def steer_error(code: str, message: str) -> dict[str, str]:
    """Why a text is given back, as the events say it."""
    return {"type": "invalid_request_error", "code": code, "message": message}


def refusal_of(items: Sequence[dict[str, Any]], run: Run, *, room: bool) -> dict[str, str] | None:
    """Why a run cannot be steered by this input (PROTOCOL section 7); None: it can.

    ``room``: there is some for another text.
    """
    if run.request.get("context_management"):
        words = "A response with 'context_management' cannot be steered."
        return steer_error("steering_not_supported", words)
    if run.interrupted:
        return steer_error("response_not_active", "The response is being stopped.")
    user_messages = (
        item.get("type") == "message" and item.get("role") == "user" and _is_said(item["content"])
        for item in items
    )
    if not items or not all(user_messages):
        return steer_error("invalid_input", "User messages are expected.")
    if not room:
        words = "Too many texts wait for this response's successor."
        return steer_error("too_many_pending_steers", words)
    return None


def _is_said(parts: Sequence[object]) -> bool:
    """Whether a message says something, in parts that a user may say."""
    return bool(parts) and all(
        isinstance(part, dict) and part.get("type") in _USER_PARTS for part in parts
    )


def required_outputs(output: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Stubs of the outputs that the client owes for a response's tool calls."""
    return [
        {"type": CALL_OUTPUTS[str(item.get("type"))], "call_id": item.get("call_id")}
        for item in unanswered(output)
    ]


def behind_outputs(
    items: Sequence[dict[str, Any]], owed: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """A create's input with the owed texts behind the tool outputs that it begins with."""
    at = 0
    while at < len(items) and items[at].get("type") in OUTPUTS:
        at += 1
    return [*items[:at], *owed, *items[at:]]
