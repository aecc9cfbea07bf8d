"""A model that the test steps: every response, item and delta comes when the test says so."""

from __future__ import annotations

import itertools
import json
from typing import Any

from tests.support.fakes import FakeWire
from tui.core.wire import events


class SteppedRehearsal:
    """Speaks for the server on a `FakeWire`, one event a call."""

    def __init__(self, wire: FakeWire) -> None:
        self.wire = wire
        self._ids = itertools.count(1)
        self._response = ""
        self._items: list[dict[str, Any]] = []

    def begin(self, model: str = "quick-1") -> str:
        """``response.created``; returns the id."""
        self._response = f"resp_{next(self._ids)}"
        self._items = []
        self.wire.give(events.Created({"id": self._response, "model": model}))
        return self._response

    def open_text(self) -> str:
        """A message begins."""
        key = f"msg_{next(self._ids)}"
        item = {"type": "message", "id": key, "role": "assistant", "content": []}
        self.wire.give(events.ItemAdded(len(self._items), item))
        return key

    def say(self, key: str, text: str) -> None:
        """A piece of a message."""
        self.wire.give(events.TextDelta(key, text))

    def close_text(self, key: str, text: str) -> None:
        """The message is finished."""
        content = [{"type": "output_text", "text": text, "annotations": []}]
        self.item({"type": "message", "id": key, "role": "assistant", "content": content})

    def text(self, text: str, chunk: int = 5) -> None:
        """A whole message."""
        key = self.open_text()
        for at in range(0, len(text), chunk):
            self.say(key, text[at : at + chunk])
        self.close_text(key, text)

    def finishes(self, text: str) -> None:
        """A whole message, and the end of the response."""
        self.text(text)
        self.complete()

    def answers(self, text: str) -> None:
        """A whole response."""
        self.begin()
        self.finishes(text)

    def reason(self, text: str) -> None:
        """A whole reasoning summary."""
        key = f"rs_{next(self._ids)}"
        item = {"type": "reasoning", "id": key, "summary": []}
        self.wire.give(events.ItemAdded(len(self._items), item))
        self.wire.give(events.ReasoningDelta(key, text, summary=True))
        self.item(
            {**item, "summary": [{"type": "summary_text", "text": text}], "encrypted_content": "x"}
        )

    def open_patch(self, call_id: str) -> str:
        """An apply_patch call begins."""
        key = f"ctc_{call_id}"
        self.wire.give(events.ItemAdded(len(self._items), self._patch_item(key, call_id, "")))
        return key

    def patch_delta(self, key: str, delta: str) -> None:
        """A piece of a patch."""
        self.wire.give(events.InputDelta(key, delta))

    def close_patch(self, key: str, call_id: str, patch: str) -> None:
        """The patch is whole."""
        self.item(self._patch_item(key, call_id, patch))

    def patch(self, patch: str, call_id: str, chunk: int = 7) -> None:
        """A whole apply_patch call."""
        key = self.open_patch(call_id)
        for at in range(0, len(patch), chunk):
            self.patch_delta(key, patch[at : at + chunk])
        self.close_patch(key, call_id, patch)

    def call(self, name: str, arguments: dict[str, Any] | str, call_id: str) -> None:
        """A whole function call; ``arguments`` as an object, or as the text itself."""
        key = f"fc_{call_id}"
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        item = {"type": "function_call", "id": key, "call_id": call_id, "name": name}
        self.wire.give(events.ItemAdded(len(self._items), {**item, "arguments": ""}))
        self.wire.give(events.ArgumentsDelta(key, text))
        self.item({**item, "arguments": text})

    def complete(self, output_tokens: int | None = None) -> None:
        """``response.completed``."""
        self.wire.give(events.Completed(self._whole("completed", output_tokens)))

    def interrupted(self, output_tokens: int | None = None) -> None:
        """``response.incomplete``, reason interrupted."""
        self.cut_short("interrupted", output_tokens)

    def cut_short(self, reason: str, output_tokens: int | None = None) -> None:
        """``response.incomplete`` for a reason."""
        response = self._whole("incomplete", output_tokens)
        self.wire.give(events.Incomplete({**response, "incomplete_details": {"reason": reason}}))

    def _whole(self, status: str, output_tokens: int | None) -> dict[str, Any]:
        response: dict[str, Any] = {
            "id": self._response,
            "status": status,
            "output": list(self._items),
        }
        if output_tokens is not None:
            response["usage"] = {"input_tokens": 100, "output_tokens": output_tokens}
        return response

    def item(self, item: dict[str, Any]) -> None:
        """A whole item of any kind."""
        self._items.append(item)
        self.wire.give(events.ItemDone(len(self._items) - 1, item))

    @staticmethod
    def _patch_item(key: str, call_id: str, patch: str) -> dict[str, Any]:
        return {
            "type": "custom_tool_call",
            "id": key,
            "call_id": call_id,
            "name": "apply_patch",
            "input": patch,
        }
