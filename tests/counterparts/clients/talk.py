"""One socket to a bridge, spoken to in frames."""

from __future__ import annotations

import json

from websockets.sync.client import connect

ENDS = ("response.completed", "response.incomplete", "response.failed", "error")


class Talk:
    """Asks one model."""

    def __init__(self, base: str, token: str, model: str) -> None:
        url = base.replace("http://", "ws://") + "/responses"
        headers = {"Authorization": f"Bearer {token}"}
        self.socket = connect(url, additional_headers=headers, proxy=None, max_size=None)
        self.model = model

    def say(self, kind: str, **fields: object) -> None:
        """An event of the client."""
        self.socket.send(json.dumps({"type": f"response.{kind}", **fields}))

    def create(self, text: str, /, *items: dict, **fields: object) -> None:
        """Ask for a response."""
        said = [{"role": "user", "content": text}] if text else []
        self.say("create", **{"model": self.model, "input": [*items, *said], **fields})

    def until(self, *kinds: str) -> list[dict]:
        """The events up to one of these, or to an end."""
        events: list[dict] = []
        while not events or events[-1]["type"] not in (kinds or ENDS):
            events.append(json.loads(self.socket.recv(timeout=60)))
        return events

    def ask(self, text: str, /, *items: dict, **fields: object) -> list[dict]:
        """A whole response."""
        self.create(text, *items, **fields)
        return self.until()


def deltas(events: list[dict]) -> list[str]:
    """The pieces of text."""
    return [e["delta"] for e in events if e["type"] == "response.output_text.delta"]
