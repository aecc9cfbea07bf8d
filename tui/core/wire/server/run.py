"""One response as a server makes it: what it was asked, and the events it says.

The owner (the bridge) streams with `item_added`, `delta`, `item_done` and ends with `finish`,
`fail` or `refuse`; `emit` says anything else. After the end every call is a silent no-op, so that
a producer that notices its interrupt late does no harm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tui.core.wire.frames import frame
from tui.core.wire.usage import Usage

FinishStatus = Literal["completed", "incomplete", "failed"]


@dataclass(frozen=True, slots=True)
class _Family:
    """How the text of one kind of item travels."""

    text_event: str
    """Event family: ``.delta`` and ``.done`` follow."""
    text_key: str
    """The field of the ``.done`` event (and of a call's item) that holds the whole text."""
    part_event: str = ""
    part_type: str = ""
    list_key: str = ""
    """The item's list of parts; empty for a call."""
    index_key: str = ""
    prefix: str = ""


_ENVELOPE = frozenset({"type", "sequence_number", "stream_id"})
_TOLD_BY_OTHERS = ("model", "usage", "service_tier", "incomplete_details", "error")
"""What a response that another server made keeps of it; the rest is ours."""
_FAMILIES = {
    "message": _Family(
        "response.output_text", "text", "response.content_part", "output_text",
        "content", "content_index", "msg",
    ),
    "reasoning": _Family(
        "response.reasoning_summary_text", "text", "response.reasoning_summary_part",
        "summary_text", "summary", "summary_index", "rs",
    ),
    "function_call": _Family("response.function_call_arguments", "arguments", prefix="fc"),
    "custom_tool_call": _Family("response.custom_tool_call_input", "input", prefix="ctc"),
}  # fmt: skip


@dataclass(slots=True)
class _OpenItem:
    item: dict[str, Any]
    family: _Family | None
    pieces: list[str] = field(default_factory=list)
    head: dict[str, Any] = field(default_factory=dict)
    """Fields that each of its events carries."""


def usage_fields(usage: Usage) -> dict[str, Any]:
    """Usage as the terminal event says it."""
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens or 0},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }


@dataclass(frozen=True, slots=True)
class Task:
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


class Run:
    """A response in flight."""

    def __init__(
        self, task: Task, send: Callable[[str], None], ended: Callable[[Run, bool], None]
    ) -> None:
        self.task = task
        self.output: list[dict[str, Any]] = []
        """Finished items."""
        self.interrupted = False
        """The client wants it to stop, or is gone: end with `finish_interrupted`."""
        self.steered = False
        """The client has added input: end at the next item boundary, reason ``steered``."""
        self.done = False
        self._send = send
        self._ended = ended
        self._sequence = 0
        self._index = 0
        self._open: dict[int, _OpenItem] = {}

    @property
    def response_id(self) -> str:
        """The response's id."""
        return self.task.response_id

    @property
    def lane(self) -> str | None:
        """The `stream_id`; None: the default lane."""
        return self.task.lane

    @property
    def request(self) -> dict[str, Any]:
        """The create without its envelope."""
        return self.task.request

    @property
    def full_input(self) -> list[dict[str, Any]]:
        """The whole conversation so far, as items."""
        return self.task.full_input

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
                self._open[index] = _OpenItem(item, None)
            elif kind == "response.output_item.done":
                self._open.pop(index, None)
                self.output.append(item)
        if isinstance(index, int):
            self._index = max(self._index, index + 1)
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
        index, kind = self._index, str(item.get("type"))
        self._index += 1
        family = _FAMILIES.get(kind)
        tail = f"{self.response_id.removeprefix('resp_')}_{index}"
        full = {"id": f"{family.prefix if family else 'item'}_{tail}", **item}
        head = {"item_id": full["id"], "output_index": index}
        if kind == "message":
            full = {"role": "assistant", **full}
        if kind != "reasoning":
            full["status"] = "in_progress"
        if family is not None and family.list_key:
            full.setdefault(family.list_key, [])
            head[family.index_key] = 0
        elif family is not None:
            full = {"call_id": f"call_{tail}", family.text_key: "", **full}
        self._open[index] = _OpenItem(full, family, head=head)
        self.emit("response.output_item.added", output_index=index, item=full)
        if family is not None and family.part_event:
            self.emit(f"{family.part_event}.added", **head, part=_part(family, ""))
        if kind == "message":
            head["logprobs"] = []
        return index

    def delta(self, index: int, text: str) -> None:
        """More text of an open item."""
        opened = self._open.get(index)
        if opened is None or opened.family is None:
            return
        opened.pieces.append(text)
        self.emit(f"{opened.family.text_event}.delta", **opened.head, delta=text)

    def item_done(self, index: int, item: dict[str, Any] | None = None) -> None:
        """Finish an item: with its text so far, or with ``item`` as it is."""
        opened = self._open.pop(index, None)
        if opened is None or self.done:
            return
        whole = {**opened.item, **(item or {})}
        if "status" in whole:
            whole["status"] = (item or {}).get("status") or "completed"
        family = opened.family
        if family is not None and item is None:
            text = "".join(opened.pieces)
            self.emit(f"{family.text_event}.done", **opened.head, **{family.text_key: text})
            if family.list_key:
                part = _part(family, text)
                self.emit(f"{family.part_event}.done", **opened.head, part=part)
                whole[family.list_key] = [part]
            else:
                whole[family.text_key] = text
        self.output.append(whole)
        self.emit("response.output_item.done", output_index=index, item=whole)

    def finish(
        self,
        status: FinishStatus = "completed",
        usage: Usage | dict[str, Any] | None = None,
        reason: str | None = None,
    ) -> None:
        """End; ``reason`` is that of an incomplete response, such as ``max_output_tokens``."""
        counted = usage_fields(usage) if isinstance(usage, Usage) else usage
        details = {"reason": reason} if reason else None
        body = self._response(status, usage=counted, incomplete_details=details)
        self._end(f"response.{status}", body, remembered=status != "failed")

    def conclude(self, status: FinishStatus, response: dict[str, Any]) -> None:
        """End as another server ended it; the items that came are the output."""
        told = {key: response[key] for key in _TOLD_BY_OTHERS if response.get(key) is not None}
        body = self._response(status, **told)
        self._end(f"response.{status}", body, remembered=status != "failed")

    def finish_interrupted(self, usage: Usage | dict[str, Any] | None = None) -> None:
        """End as the client asked: open items are discarded, finished ones stay."""
        for index, opened in sorted(self._open.items()):
            self.emit(
                "response.output_item.interrupted",
                response_id=self.response_id,
                item_id=opened.item.get("id"),
                output_index=index,
            )
        self._open.clear()
        self.finish("incomplete", usage, reason="interrupted")

    def fail(self, code: str, message: str) -> None:
        """End with `response.failed`."""
        error = {"code": code, "message": message}
        self._end("response.failed", self._response("failed", error=error), remembered=False)

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
        self.done = True
        self._ended(self, False)

    def abandon(self) -> None:
        """The client is gone: say nothing more."""
        self.interrupted = self.done = True

    def _say(self, kind: str, fields: dict[str, Any]) -> None:
        event = {"type": kind, "sequence_number": self._sequence, **fields}
        if self.task.lane is not None:
            event["stream_id"] = self.task.lane
        self._sequence += 1
        self._send(frame(event))

    def _end(self, kind: str, response: dict[str, Any], *, remembered: bool) -> None:
        if self.done:
            return
        self.emit(kind, response=response)
        self.done = True
        self._ended(self, remembered)

    def _response(self, status: str, **fields: Any) -> dict[str, Any]:
        request = self.task.request
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
            "metadata": {},
            "tools": [],
            "tool_choice": "auto",
            "parallel_tool_calls": True,
            "previous_response_id": request.get("previous_response_id"),
            "store": False,
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


def _part(family: _Family, text: str) -> dict[str, Any]:
    part: dict[str, Any] = {"type": family.part_type, "text": text}
    return {**part, "annotations": [], "logprobs": []} if family.prefix == "msg" else part
