"""Tells a run what an upstream says of it: events, a whole response, or why there is none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tui.bridge.endpoints.base import MOST_READ_CHARS, status_of
from tui.bridge.endpoints.openai_responses.items import DONE, ItemBook, begun, text_of
from tui.bridge.endpoints.telling import Telling
from tui.bridge.upstream.complaint import complaint_in, excerpt
from tui.bridge.upstream.loose_json import said_by
from tui.bridge.upstream.sse import Message
from tui.core.wire.address import Address, secrets_in
from tui.core.wire.events import MOST_ERROR_CHARS
from tui.core.wire.json_writing import is_long
from tui.core.wire.masking import Mask
from tui.core.wire.rate_limits import pause_header, retry_after_s
from tui.core.wire.server.run import FinishStatus, Run

_ENDS: dict[str, FinishStatus] = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
}
_OPENINGS = frozenset({"response.created", "response.queued", "response.in_progress"})
"""Our own run has said these."""


class Retelling:
    """One run and the upstream that answers it."""

    mends = False

    def __init__(self, run: Run | Telling, address: Address) -> None:
        self._run = run
        self._mask = Mask(secrets_in(address))
        self._items = ItemBook()
        self._foreign = False
        """Something came that is no event of a response."""
        self._complaint = ""
        """What it said."""
        self._torn = ""
        """The function that was called with arguments that are no JSON; nobody could run it."""

    def hear(self, message: Message) -> None:
        """Take one server-sent message; what cannot be read is skipped."""
        event = _object(said_by(message))
        if event is None and message.event == "error":
            event = {"error": excerpt(message.data)}
        if event is not None:
            event.setdefault("type", message.event)
            self.hear_event(event)

    def hear_event(self, event: dict[str, Any]) -> None:
        """Take one event; what belongs to no response of this protocol is skipped."""
        kind, response = event.get("type"), event.get("response")
        if not isinstance(kind, str) or not kind:
            if event.get("error"):
                self._error(event)
            self._foreign = True
            self._complaint = complaint_in(event).message or self._complaint
            return
        if kind in _OPENINGS:
            return
        if kind in _ENDS:
            self._end(_ENDS[kind], response if isinstance(response, dict) else {})
        elif kind == "error":
            self._error(event)
        elif self._items.placed(event) and not self._tears(kind, event.get("item")):
            self._run.pass_on(event)

    def hear_whole(self, message: Message) -> None:
        """Take a response that came as one JSON object."""
        response = _object(said_by(message))
        if response is None:
            self._run.fail("server_error", "The server's answer is not a response.")
        elif response.get("object") == "chat.completion":
            words = "The server does not speak the Responses API: its answer is of another kind."
            self._run.refuse(400, "not_an_endpoint", words)
        elif response.get("error") and not response.get("output"):
            self._error(response)
        else:
            status = str(response.get("status"))
            self._end(_ENDS.get(f"response.{status}", "completed"), response)

    def refuse(self, status: int, body: bytes, headers: Mapping[str, str], host: str) -> None:
        """End a run that the upstream refused with an HTTP status."""
        said = complaint_in(_object(said_by(Message("", body))) or {})
        message = said.message
        if not message and status in (401, 403):
            message = f"{host} refused the key (HTTP status {status})."
        elif not message:
            words = excerpt(body)
            message = f"{host} answered with HTTP status {status}{': ' if words else '.'}{words}"
        self._refuse(status, (said.code or f"http_{status}", message, said.param), headers)

    def cut(self, host: str, *, marked: bool) -> None:
        """The stream is over without a terminal event; ``marked``: it said that it was whole.

        Such a mark behind finished items, the last of which is no mere thought, is taken for the
        end: to ask again would bring the same answer, and the same lack.
        """
        run = self._run
        if run.done:
            return
        last = str(run.output[-1].get("type")) if run.output else "reasoning"
        if marked and not self._items.unfinished and last != "reasoning":
            run.conclude("completed", {})
        elif self._foreign and not run.output:
            said = self._mask.text(self._complaint)
            behind = f"it says: {said}" if said else "its answer is of another kind."
            words = f"{host} does not speak the Responses API: {behind}"
            run.refuse(400, "not_an_endpoint", words)
        else:
            run.fail("server_error", f"The answer of {host} ended before the response did.")

    def _end(self, status: FinishStatus, response: dict[str, Any]) -> None:
        self._say_rest(response.get("output"))
        if self._torn and status == "completed":
            words = f"The model called {self._torn} with arguments that are not JSON."
            self._run.fail("server_error", words)
            return
        error = response.get("error") if status == "failed" else None
        if status == "failed":
            told = error if isinstance(error, dict) else {}
            words = _word(told.get("message")) or "The server gave up without a reason."
            code = _word(told.get("code")) or "server_error"
            more = {name: value for name, value in told.items() if not is_long(value, 1000, 100)}
            cut = {"code": code[:1000], "message": words[:MOST_ERROR_CHARS]}
            error = self._mask.value({**more, **cut})
        details = response.get("incomplete_details")
        details = None if is_long(details, 1000, 100) else self._mask.value(details)
        self._run.conclude(status, {**response, "error": error, "incomplete_details": details})

    def _error(self, event: dict[str, Any]) -> None:
        """An `error` event, flat or nested (PROTOCOL section 4)."""
        said, nested = complaint_in(event), event.get("error")
        code = said.code or (f"http_{said.status}" if said.status else "server_error")
        message = said.message or "The server ended with an error."
        status = said.status or status_of(code)
        holders = [holder for holder in (nested, event) if isinstance(holder, dict)]
        pauses = [
            retry_after_s(headers)
            for holder in holders
            if isinstance(headers := holder.get("headers"), dict)
        ]
        pause = pause_header(next((one for one in pauses if one is not None), None))
        self._refuse(status, (code, message, said.param), pause)

    def _say_rest(self, listed: object) -> None:
        """Tell what of the terminal event's list did not come by itself."""
        items = [item for item in _list(listed) if isinstance(item, dict)]
        for index, item in self._items.rest(items):
            if self._tears(DONE, item):
                continue
            if index is None:
                index = self._run.item_added(begun(item))
                if text := text_of(item):
                    self._run.delta(index, text)
                self._run.item_done(index, item)
            else:
                self._run.pass_on({"type": DONE, "output_index": index, "item": item})

    def _tears(self, kind: str, item: object) -> bool:
        """Whether this is the end of a call that nobody could run, which is then not told."""
        if kind != DONE or not isinstance(item, dict) or item.get("type") != "function_call":
            return False
        arguments = item.get("arguments")
        if not isinstance(arguments, str) or _is_json(arguments):
            return False
        self._torn = _word(item.get("name")) or "a function"
        return True

    def _refuse(self, status: int, told: tuple[str, str, str], headers: Mapping[str, str]) -> None:
        """``told``: code, message and param, which may all repeat the key."""
        code, message, param = map(self._mask.text, told)
        self._run.refuse(status, code, message, param or None, headers)


def _is_json(text: str) -> bool:
    """Whether arguments are nothing, or JSON; of long ones their end tells whether they are cut."""
    if len(text) > MOST_READ_CHARS:
        return text.rstrip()[-1:] == "}"
    if not text.strip():
        return True
    try:
        json.loads(text)  # which takes half characters, as this protocol does
    except (ValueError, RecursionError):
        return False
    return True


def _object(value: object) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
