"""How the Messages API is asked over HTTP: address, key, version, body."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import urlsplit

from tui.bridge.endpoints.anthropic.asking import Turn, asking, toolbox
from tui.bridge.endpoints.anthropic.lessons import fields_in
from tui.bridge.endpoints.anthropic.options import options_of
from tui.bridge.endpoints.anthropic.reading import Reading
from tui.bridge.endpoints.base import Asked, EndpointSpec, Refused, Target
from tui.bridge.endpoints.http_endpoint import Reader
from tui.bridge.endpoints.telling import Telling
from tui.core.wire.address import Address, guarded
from tui.core.wire.json_writing import request_body
from tui.errors import EndpointError

_VERSION_HEADER, _BETA_HEADER = "anthropic-version", "anthropic-beta"
_KEY_HEADER, _BEARER = "x-api-key", "Bearer "
_VERSIONED = re.compile(r"/v\d+[a-z\d]*$")


class AnthropicLanguage:
    """See `endpoints.http_endpoint.Language`."""

    def request(self, asked: Asked, target: Target) -> tuple[Address, bytes]:
        """See `Language`."""
        headers = {name.lower(): value for name, value in target.address.headers.items()}
        options = options_of(target.name, target.spec, asked.facts.options)
        version = headers.get(_VERSION_HEADER) or options.version
        sent = asking(asked, options, version)
        betas = [one.strip() for one in headers.get(_BETA_HEADER, "").split(",") if one.strip()]
        betas += [one for one in dict.fromkeys(sent.betas) if one not in betas]
        told = {_VERSION_HEADER: version, **({_BETA_HEADER: ",".join(betas)} if betas else {})}
        try:
            address = messages_address(target.address, target.spec, told)
        except EndpointError as error:
            raise Refused(400, "invalid_endpoint", str(error)) from error
        return address, request_body(sent.body)

    def reader(self, asked: Asked, target: Target, telling: Telling) -> Reader:
        """See `Language`."""
        if isinstance(asked, Turn):
            telling.left_out(fields_in(asked.lessons))
        return Reading(asked, target, telling, toolbox(asked))


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
