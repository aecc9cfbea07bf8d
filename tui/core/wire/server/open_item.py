"""An output item while it comes: its texts, each in the events that its kind travels in.

A message may hold text and a refusal, a reasoning several parts of a summary and its own words:
parts are opened by their first text and closed by the next part or by the item's end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tui.core.wire.gathered import Gathered

Emit = Callable[..., None]
"""Says one event: its kind, then its fields."""


@dataclass(frozen=True, slots=True)
class Family:
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


_TEXT = Family(
    "response.output_text", "text", "response.content_part", "output_text",
    "content", "content_index",
)  # fmt: skip
_REFUSAL = Family(
    "response.refusal", "refusal", "response.content_part", "refusal",
    "content", "content_index", "refusal",
)  # fmt: skip
_SUMMARY = Family(
    "response.reasoning_summary_text", "text", "response.reasoning_summary_part",
    "summary_text", "summary", "summary_index",
)  # fmt: skip
_REASONING = Family(
    "response.reasoning_text", "text", "response.content_part", "reasoning_text",
    "content", "content_index",
)  # fmt: skip
_FAMILIES: dict[str, dict[str, Family]] = {
    "message": {"": _TEXT, "text": _TEXT, "refusal": _REFUSAL},
    "reasoning": {"": _SUMMARY, "summary": _SUMMARY, "reasoning_text": _REASONING},
    "function_call": {"": Family("response.function_call_arguments", "arguments")},
    "custom_tool_call": {"": Family("response.custom_tool_call_input", "input")},
}
"""The type of an item -> the name of a family, empty for its usual one -> how it travels."""
_PREFIXES = {"message": "msg", "reasoning": "rs", "function_call": "fc", "custom_tool_call": "ctc"}


@dataclass(slots=True)
class OpenItem:
    """One item that has begun. `item` is what its ``added`` event said."""

    item: dict[str, Any]
    families: dict[str, Family]
    head: dict[str, Any]
    """Fields that each of its events carries."""
    parts: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """The closed parts, by the item's list that they go in."""
    _family: Family | None = None
    """Of the text that is coming."""
    _at: dict[str, Any] = field(default_factory=dict)
    _delta_event: str = ""
    _text: Gathered = field(default_factory=Gathered)

    def delta(self, text: str, name: str, emit: Emit) -> None:
        """More text, of a family by its name; of an item without any it says nothing."""
        family = self.families.get(name)
        if family is None:
            return
        if family is not self._family:
            self._begin(family, emit)
        self._text.add(text)
        emit(self._delta_event, **self._at, delta=text)

    def end_part(self, emit: Emit) -> None:
        """Close the open part: the next text begins another one."""
        family, self._family = self._family, None
        if family is None:
            return
        text, self._text = str(self._text), Gathered()
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

    def _begin(self, family: Family, emit: Emit) -> None:
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


def _part(family: Family, text: str) -> dict[str, Any]:
    part: dict[str, Any] = {"type": family.part_type, family.part_key: text}
    return {**part, "annotations": [], "logprobs": []} if family is _TEXT else part
