"""A plug-in for tests: a kind of endpoint of its own, "plain-words", as another package has it.

One POST; each server-sent event is one word of what `ResponseWriter` knows.
"""

from __future__ import annotations

import json
from typing import Any

from msgspec.structs import replace

from tui.bridge.endpoints.base import Asked, Broken, Refused, Target
from tui.bridge.endpoints.encrypted_content import is_sealed
from tui.bridge.endpoints.http_endpoint import HttpEndpoint, Reader
from tui.bridge.endpoints.kinds import ModelEndpoint
from tui.bridge.endpoints.response_writer import ResponseWriter
from tui.bridge.upstream.sse import Message
from tui.core.wire.address import Address
from tui.core.wire.events import Usage


class PlainWords:
    """See `tui.bridge.endpoints.http_endpoint.Language`."""

    def request(self, asked: Asked, target: Target) -> tuple[Address, bytes]:
        """See `Language`."""
        shown = [part["type"] for item in asked.items for part in item.get("content") or []]
        if asked.facts.images is False and "input_image" in shown:
            raise Refused(400, "image_not_supported", "This model takes text only.")
        own = [item for item in asked.items if not is_sealed(item.get("encrypted_content"))]
        told = {key: asked.request.get(key) for key in ("instructions", "tools", "reasoning")}
        body = {**told, "model": asked.model, "input": own}
        url = f"{target.address.url}/words"
        return replace(target.address, url=url), json.dumps(body).encode()

    def reader(self, asked: Asked, target: Target, writer: ResponseWriter) -> Reader:
        """See `Language`."""
        return Words(writer)


class Words:
    """See `tui.bridge.endpoints.http_endpoint.Reader`."""

    def __init__(self, writer: ResponseWriter) -> None:
        self._writer = writer
        self._indexes: dict[int, int] = {}

    def hear(self, message: Message) -> None:
        """See `Reader`."""
        try:
            said: list[Any] = json.loads(message.data)
        except ValueError:
            raise Broken("The server sent something that is not JSON.") from None
        match said:
            case ["begin", index, item]:
                self._indexes[index] = self._writer.item_added(item)
            case ["more", index, text, *family]:
                self._writer.delta(self._indexes[index], text, *family)
            case ["done", index]:
                self._writer.item_done(self._indexes[index])
            case ["served", model]:
                self._writer.served = model
            case ["used", *counts]:
                self._writer.used(Usage(*counts))
            case ["end", status, reason]:
                self._writer.finish(status, reason)
            case ["error", words]:
                raise Broken(words)

    def hear_whole(self, message: Message) -> None:
        """See `Reader`."""
        self.refuse(400, bytes(message.data), {}, "")

    def refuse(self, status: int, body: bytes, headers: dict[str, str], host: str) -> None:
        """See `Reader`."""
        error = json.loads(body)["error"]
        self._writer.refuse(status, error["code"], error["message"], None, headers)

    def cut(self, host: str, *, marked: bool) -> None:
        """See `Reader`."""
        if not self._writer.done:
            raise Broken(f"The answer of {host} ended before the response did.")


def make(target: Target, upstream: Any) -> ModelEndpoint:
    """The entry point."""
    return HttpEndpoint(target, PlainWords(), upstream)
