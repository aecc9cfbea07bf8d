"""An endpoint that speaks Chat Completions, asked again where it does not know a field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from msgspec.structs import fields, replace

from tui.bridge.endpoints.base import Asked, Refused, Target, options_over, read_options
from tui.bridge.endpoints.http_endpoint import HttpEndpoint, Reader
from tui.bridge.endpoints.openai_chat.dialect import ChatOptions, ChatTurn, adapted
from tui.bridge.endpoints.openai_chat.request import body, toolbox, unsaid_of
from tui.bridge.endpoints.openai_chat.stream import ChatReader
from tui.bridge.endpoints.response_writer import ResponseWriter
from tui.core.wire.address import Address, checked, secrets_in
from tui.core.wire.json_writing import request_body
from tui.core.wire.masking import Mask
from tui.core.wire.refusals import MOST_TRIES, STATUSES
from tui.errors import EndpointError

if TYPE_CHECKING:
    from tui.bridge.upstream.client import Upstream


_MOST_MODELS = 256


class ChatLanguage:
    """See `endpoints.http_endpoint.Language`."""

    def __init__(self, options: dict[str, Any]) -> None:
        """``options``: see `ChatOptions`; those of a model are over them."""
        self._options = options
        self._learnt: dict[str, ChatOptions] = {}
        """What single models do not know."""

    def request(self, asked: Asked, target: Target) -> tuple[Address, bytes]:
        """See `Language`."""
        habits = self.dialect(asked)
        box = toolbox(asked, habits)
        told = body(asked, habits, box)
        left = unsaid_of(asked, habits, told)
        if isinstance(asked, ChatTurn):
            asked.sent.toolbox, asked.sent.body, asked.sent.left_out = box, told, left
        address = chat_address(target.address, habits.path)
        key = asked.request.get("prompt_cache_key")
        if habits.cache_key_header and isinstance(key, str) and key.isascii() and key.isprintable():
            headers = {**address.headers, habits.cache_key_header: key[:256]}
            address = replace(address, headers=headers)
        return address, request_body(told)

    def reader(self, asked: Asked, target: Target, writer: ResponseWriter) -> Reader:
        """See `Language`."""
        habits = self.dialect(asked)
        sent = asked.sent.toolbox if isinstance(asked, ChatTurn) else None
        box = sent or toolbox(asked, habits)
        if isinstance(asked, ChatTurn):
            writer.left_out(asked.sent.left_out)
        if box.left_out:
            writer.note(duetto_tools_left_out=", ".join(box.left_out)[:200])
        return ChatReader(writer, asked.model, box, habits, Mask(secrets_in(target.address)))

    def dialect(self, asked: Asked) -> ChatOptions:
        """How this model is asked. Raises Refused: an option is not understood."""
        learnt = self._learnt.get(asked.model)
        return learnt or read_options(options_over(asked.facts.options, self._options), ChatOptions)

    def learn(self, turn: ChatTurn, error: Refused) -> bool:
        """Whether a refusal is about a field that the same request can do without.

        It is left out from now on.
        """
        habits = adapted(self.dialect(turn), turn.sent, error)
        if habits is None:
            return False
        while len(self._learnt) >= _MOST_MODELS:
            del self._learnt[next(iter(self._learnt))]
        self._learnt[turn.model] = habits
        return True


def chat_address(address: Address, path: str) -> Address:
    """Where a base URL's chats are answered. Raises Refused: no key may go there."""
    try:
        checked(address)
    except EndpointError as error:
        raise Refused(400, "invalid_endpoint", str(error)) from error
    parts = urlsplit(address.url.strip())
    base = parts.path.rstrip("/").removesuffix("/responses")
    if not base.endswith(path):
        base = f"{base or '/v1'}{path}"
    scheme = {"ws": "http", "wss": "https"}.get(parts.scheme, parts.scheme)
    return replace(address, url=parts._replace(scheme=scheme, path=base, fragment="").geturl())


class ChatEndpoint(HttpEndpoint):
    """See `endpoints.kinds.ModelEndpoint`."""

    def __init__(self, target: Target, upstream: Upstream) -> None:
        self._chat = ChatLanguage(target.spec.options)
        super().__init__(target, self._chat, upstream)

    async def answer(self, asked: Asked, writer: ResponseWriter) -> None:
        """See `ModelEndpoint`."""
        for tries_left in reversed(range(MOST_TRIES)):
            turn = ChatTurn(**{one.name: getattr(asked, one.name) for one in fields(asked)})
            try:
                await super().answer(turn, writer)
            except Refused as error:
                over = writer.began or not tries_left or error.status not in STATUSES
                if over or not self._chat.learn(turn, error):
                    raise
            else:
                return
