"""An endpoint that speaks the Messages API: asked again where its model pauses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec.structs import fields, replace

from tui.bridge.endpoints.anthropic.request import (
    AnthropicOptions,
    MessagesTurn,
    UnsupportedFields,
    at_usual_speed,
    is_of_one_request,
    messages_request,
    options_of,
    toolbox,
    unsupported_field_in,
    unsupported_in,
)
from tui.bridge.endpoints.anthropic.stream import MessagesReader
from tui.bridge.endpoints.base import Asked, EndpointSpec, Refused, Target, Unusable
from tui.bridge.endpoints.http_endpoint import HttpEndpoint, Reader
from tui.bridge.endpoints.response_writer import ResponseWriter
from tui.core.wire.address import Address, guarded
from tui.core.wire.json_writing import request_body
from tui.core.wire.refusals import MOST_TRIES, STATUSES
from tui.errors import EndpointError

if TYPE_CHECKING:
    from tui.bridge.upstream.client import Upstream


_VERSION_HEADER, _BETA_HEADER = "anthropic-version", "anthropic-beta"
_KEY_HEADER, _BEARER = "x-api-key", "Bearer "
_VERSIONED = re.compile(r"/v\d+[a-z\d]*$")


class AnthropicLanguage:
    """See `endpoints.http_endpoint.Language`."""

    def request(self, asked: Asked, target: Target) -> tuple[Address, bytes]:
        """See `Language`."""
        headers = {name.lower(): value for name, value in target.address.headers.items()}
        options = options_of(target, asked.facts.options)
        version = headers.get(_VERSION_HEADER) or options.version
        sent = messages_request(asked, options, version)
        betas = [one.strip() for one in headers.get(_BETA_HEADER, "").split(",") if one.strip()]
        betas += [one for one in dict.fromkeys(sent.betas) if one not in betas]
        told = {_VERSION_HEADER: version, **({_BETA_HEADER: ",".join(betas)} if betas else {})}
        try:
            address = messages_address(target.address, target.spec, told)
        except EndpointError as error:
            raise Refused(400, "invalid_endpoint", str(error)) from error
        return address, request_body(sent.body)

    def reader(self, asked: Asked, target: Target, writer: ResponseWriter) -> Reader:
        """See `Language`."""
        if isinstance(asked, MessagesTurn):
            writer.left_out(asked.left_out)
        return MessagesReader(asked, target, writer, toolbox(asked))


def messages_address(address: Address, spec: EndpointSpec, told: dict[str, str]) -> Address:
    """Where messages are asked for, with the key as this API takes it and with ``told`` headers.

    The base may be the host's, or end in ``/v1`` or in ``/messages``. The key travels as
    ``x-api-key``, unless the endpoint names another header or the option ``bearer``.

    Raises EndpointError: no such address, or the key would travel in clear text.
    """
    guarded(address)
    parts = urlsplit(address.url.strip())
    path = parts.path.rstrip("/")
    if not path.endswith("/messages"):
        path += "/messages" if _VERSIONED.search(path) else "/v1/messages"
    scheme = {"ws": "http", "wss": "https"}.get(parts.scheme, parts.scheme)
    headers = dict(address.headers)
    ours = spec.key_header.lower() == "authorization" and not spec.options.get("bearer")
    if ours and not any(name.lower() == "authorization" for name in spec.headers):
        bearer = next((name for name in headers if name.lower() == "authorization"), "")
        if headers.get(bearer, "").startswith(_BEARER):
            headers.setdefault(_KEY_HEADER, headers.pop(bearer).removeprefix(_BEARER))
    for name in told:
        headers = {key: value for key, value in headers.items() if key.lower() != name}
    url = parts._replace(scheme=scheme, path=path).geturl()
    return replace(address, url=url, headers={**headers, **told})


MOST_PAUSES = 32
"""A model that pauses more often in one answer does not come to an end."""


class AnthropicEndpoint(HttpEndpoint):
    """See `endpoints.kinds.ModelEndpoint`."""

    def __init__(self, target: Target, upstream: Upstream) -> None:
        """Raises Refused: an option of the endpoint is wrong."""
        super().__init__(target, AnthropicLanguage(), upstream)
        self._unsupported = UnsupportedFields()
        self._target = target
        options_of(target, {})

    async def answer(self, asked: Asked, writer: ResponseWriter) -> None:
        """See `ModelEndpoint`. A pause (``pause_turn``) is no end: the model is asked to go on."""
        turn = MessagesTurn(**{one.name: getattr(asked, one.name) for one in fields(asked)})
        for _ in range(MOST_PAUSES):
            pauses = len(turn.spent)
            await self._ask(turn, writer)
            if writer.done or len(turn.spent) == pauses:
                return
        raise Unusable("The model paused again and again, and did not come to an end.")

    async def _ask(self, turn: MessagesTurn, writer: ResponseWriter) -> None:
        """Ask once; at the usual speed, if fast mode, whose limits are its own, is at them."""
        try:
            await self._ask_taught(turn, writer)
        except Refused as error:
            slower = at_usual_speed(turn, self._options(turn))
            if error.status != 429 or writer.began or slower is None:
                raise
            writer.note(duetto_tier_reason="Fast mode is at its rate limit.")
            await self._ask_taught(slower, writer)

    async def _ask_taught(self, turn: MessagesTurn, writer: ResponseWriter) -> None:
        """Ask; again without what the server does not take, if that is why it refuses."""
        once: frozenset[str] = frozenset()
        for tries_left in reversed(range(MOST_TRIES)):
            known = self._unsupported.of(turn.model) | once
            try:
                await super().answer(replace(turn, unsupported=known), writer)
                return
            except Refused as error:
                learnt = unsupported_in(error) or self._other_lesson(turn, known, error)
                if not learnt or learnt in known or writer.began or not tries_left:
                    raise
                if is_of_one_request(learnt):
                    once |= {learnt}
                else:
                    self._unsupported.learn(turn.model, learnt)

    def _other_lesson(self, turn: MessagesTurn, known: frozenset[str], error: Refused) -> str:
        if error.status not in STATUSES:
            return ""
        sent = messages_request(replace(turn, unsupported=known), self._options(turn))
        return unsupported_field_in(error, sent.body)

    def _options(self, turn: MessagesTurn) -> AnthropicOptions:
        return options_of(self._target, turn.facts.options)
