"""Steering on the server's side: texts that were accepted while a response streamed.

A text is owed to the response's successor: the server starts it by itself, or, if the response
ended with tool calls, puts the text behind the outputs that the client sends (PROTOCOL section 7).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from tui.core.wire.events import CALL_OUTPUTS, OUTPUTS, unanswered
from tui.core.wire.server.run import Run

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
    excluding = ("conversation", "context_management", "multi_agent")
    excluded = next((name for name in excluding if run.request.get(name)), "")
    if excluded:
        words = f"A response with '{excluded}' cannot be steered."
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
