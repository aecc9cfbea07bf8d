"""The items that an answer is told as: thoughts, then text, then calls, one after the other."""

from __future__ import annotations

from typing import Any

from tui.bridge.endpoints.carried import seal
from tui.bridge.endpoints.openai_chat.calls import CallBook
from tui.bridge.endpoints.openai_chat.dialect import KIND, Dialect
from tui.bridge.endpoints.openai_chat.thoughts import Details
from tui.bridge.endpoints.telling import Telling
from tui.bridge.endpoints.tools import Toolbox

_MOST_BLANK_CHARS = 256
"""A model that says more of it says nothing else: the client should see it."""


class Items:
    """The items of one answer. Every method may raise Steered."""

    def __init__(self, telling: Telling, model: str, toolbox: Toolbox, dialect: Dialect) -> None:
        self._telling = telling
        self._model = model
        self._back = dialect.reasoning_back
        self.calls = CallBook(telling, toolbox, self._call_begins)
        self._message: int | None = None
        self._thought: int | None = None
        self._came = ""
        """The field in which the thoughts come; empty: in the text, between tags."""
        self._details = Details()
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
            self._thought = self._telling.item_added({"type": "reasoning", "summary": []})
            self._came = field
        self._telling.delta(self._thought, text)

    def detail(self, listed: list[Any], *, shown: bool) -> None:
        """OpenRouter's blocks; ``shown``: their text came by itself."""
        text = self._details.take(listed)
        if not shown and text:
            self.think(text)
        elif self._thought is None and self._details:
            # what comes behind the thoughts (a signature, a sealed block) has an item of its own
            self._thought = self._telling.item_added({"type": "reasoning", "summary": []})

    def say(self, text: str, family: str = "") -> None:
        """More text, or of a ``refusal``."""
        if self._message is None:
            self._blank += text
            if len(self._blank) <= _MOST_BLANK_CHARS and not self._blank.strip():
                return
            text, self._blank = self._blank, ""
            self._end_thought()
            self.calls.settle()
            self._message = self._telling.item_added({"type": "message"})
        elif self._thought is not None:
            self._end_thought()
        self._telling.delta(self._message, text, family)

    def end(self, *, cut_short: bool) -> list[str]:
        """No more comes; returns the names of calls that are none, which are left open.

        ``cut_short``: the last words are missing.
        """
        self._end_thought()
        unsound = self.calls.unsound()
        if self._message is not None and not unsound:
            index, self._message = self._message, None
            self._telling.item_done(index, {"status": "incomplete"} if cut_short else None)
        if not unsound or cut_short:
            self.calls.finish()
        return unsound

    def _call_begins(self, signed: dict[str, Any]) -> None:
        self._end_thought()
        self._end_message()
        if signed:
            sealed = seal(KIND, self._model, {"call": signed})
            self._carry(self._telling.item_added({"type": "reasoning", "summary": []}), sealed)

    def _end_message(self) -> None:
        self._blank = ""
        if self._message is not None:
            index, self._message = self._message, None
            self._telling.item_done(index)

    def _end_thought(self) -> None:
        if self._thought is None:
            return
        index, self._thought = self._thought, None
        came = self._came if self._back == "auto" else self._back
        payload: dict[str, Any] = {"back": came} if came else {}
        if self._details:
            payload["details"], self._details = self._details.whole(), Details()
        self._carry(index, seal(KIND, self._model, payload) if payload else "")

    def _carry(self, index: int, sealed: str) -> None:
        self._telling.item_done(index, {"encrypted_content": sealed} if sealed else None)
