"""What a rehearsed answer consists of, before it is cut into tokens."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Reason:
    """A reasoning summary; all of it counts as reasoning tokens."""

    text: str

    def item(self) -> dict[str, Any]:
        """The output item to begin."""
        return {"type": "reasoning"}


@dataclass(frozen=True, slots=True)
class Say:
    """Prose."""

    text: str

    def item(self) -> dict[str, Any]:
        """The output item to begin."""
        return {"type": "message"}


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call; ``text`` is what streams: the input, or the arguments as JSON."""

    name: str
    text: str
    custom: bool = False

    def item(self) -> dict[str, Any]:
        """The output item to begin."""
        return {
            "type": "custom_tool_call" if self.custom else "function_call",
            "name": self.name,
        }


Beat = Reason | Say | Call


def function_call(name: str, **arguments: str) -> Call:
    """A function call with its arguments as JSON."""
    return Call(name, json.dumps(arguments, ensure_ascii=False))
