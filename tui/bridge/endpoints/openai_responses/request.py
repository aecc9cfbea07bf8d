"""Requests of the Responses API: their bodies, for HTTP and WebSocket, and an endpoint by HTTP.

Our own items are its items. What is left out or refused here is what such a server would answer
with an error: other models' reasoning, pictures for a model without eyes, unknown efforts, and the
fields that it has refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from tui.bridge.endpoints.base import Asked, Refused, Target, read_options
from tui.bridge.endpoints.encrypted_content import Ask, EncryptedReasoning, is_sealed
from tui.bridge.endpoints.http_endpoint import HttpEndpoint, Reader
from tui.bridge.endpoints.openai_responses.stream import ResponsesReader
from tui.bridge.endpoints.response_writer import ResponseWriter
from tui.core.wire.address import Address, checked
from tui.core.wire.efforts import nearest_effort
from tui.core.wire.json_writing import request_body
from tui.core.wire.refusals import MOST_TRIES, STATUSES, RefusedFields, fields_refused, without

if TYPE_CHECKING:
    from tui.bridge.upstream.client import Upstream


_ENVELOPE = frozenset(
    {"previous_response_id", "client_metadata", "background", "stream", "stream_id", "generate"}
)
"""What means nothing to an endpoint that is sent the whole conversation each time."""
_ENCRYPTED = "reasoning.encrypted_content"


def settings(asked: Asked) -> dict[str, Any]:
    """The request without its input and envelope: not stored, thoughts sealed, known efforts."""
    told = {key: value for key, value in asked.request.items() if key not in _ENVELOPE}
    told.pop("input", None)
    told["store"] = False
    reasoning = told.get("reasoning")
    if isinstance(reasoning, dict):
        told["reasoning"] = _known_effort(reasoning, asked.facts.efforts)
        include = told.get("include") or []
        if isinstance(include, list) and _ENCRYPTED not in include:
            # Unstored, a model's own thoughts come back to it only this way. Models that do not
            # reason refuse the word, hence only where the client speaks of reasoning.
            told["include"] = [*include, _ENCRYPTED]
    return told


def items_for(asked: Asked, items: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Items as this server takes them. Raises Refused: there are pictures, and it is blind."""
    if asked.facts.images is False and any(map(_shows, items)):
        words = f"The model {asked.model} takes text only: remove the image, or use another model."
        raise Refused(400, "image_not_supported", words, param="input")
    return _without_loose_thoughts([item for item in items if not _is_foreign(item)])


def _known_effort(reasoning: Mapping[str, Any], known: Sequence[str] | None) -> dict[str, Any]:
    told, effort = dict(reasoning), reasoning.get("effort")
    if known is None or not isinstance(effort, str):
        return told
    if known:
        told["effort"] = nearest_effort(effort, known)
    else:
        del told["effort"]
    return told


def _is_foreign(item: Mapping[str, Any]) -> bool:
    """Whether it is the thought of a model of another kind, or one that nothing is left of."""
    if item.get("type") != "reasoning":
        return False
    sealed = item.get("encrypted_content")
    # A server that stores nothing answers "item not found" to the bare shell of a thought;
    # open-weight servers give and take the thought itself, as `content`.
    return is_sealed(sealed) if sealed else not item.get("content")


def _without_loose_thoughts(items: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without the thoughts that led to nothing, for the answer was stopped behind them.

    The service refuses them: "provided without its required following item".
    """
    kept: list[dict[str, Any]] = []
    leads = False
    for item in reversed(items):
        if item.get("type") != "reasoning":
            leads = _is_output(item)
        elif not leads:
            continue
        kept.append(item)
    return kept[::-1]


def _is_output(item: Mapping[str, Any]) -> bool:
    """Whether a model made the item, a message or a call."""
    if item.get("type", "message") == "message":
        return item.get("role") == "assistant"
    return not str(item.get("type")).endswith("_output")


def _shows(item: Mapping[str, Any]) -> bool:
    return any(part.get("type") == "input_image" for part in _parts(item))


def _parts(item: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for key in ("content", "output"):
        held = item.get(key)
        if isinstance(held, list):
            yield from (part for part in held if isinstance(part, dict))


class ResponsesOptions(msgspec.Struct, frozen=True):
    """The options of one endpoint that speaks the Responses API, by HTTP or by WebSocket."""

    omit: tuple[str, ...] = ()
    """Fields that it is known not to take; dots lead into tables."""
    max_age_s: float | None = None
    """The service's limit of a WebSocket's age."""


class ResponsesRequests:
    """Those of one endpoint, by HTTP and by WebSocket alike."""

    def __init__(self, options: dict[str, Any]) -> None:
        """Raises Refused: an option is wrong."""
        self.options = read_options(options, ResponsesOptions)
        self._refused = RefusedFields()

    def body(self, asked: Asked, items: list[dict[str, Any]]) -> dict[str, Any]:
        """A request as this server takes it; ``items``: those of the conversation that are said."""
        told = {**settings(asked), "input": items_for(asked, items)}
        return without(told, self._left_out(asked))

    async def answered(self, asked: Asked, writer: ResponseWriter, ask: Ask) -> None:
        """Have ``ask`` answer; again without what the server does not take, if it says so.

        Raises what ``ask`` raises.
        """
        for tries_left in reversed(range(MOST_TRIES)):
            without_effort = asked.facts.efforts == () and asked.request.get("reasoning")
            mute = ["reasoning.effort"] if without_effort else []
            writer.left_out(dict.fromkeys((*self._left_out(asked), *mute)))
            try:
                await ask(asked, writer)
                return
            except Refused as error:
                over = writer.began or not tries_left or error.status not in STATUSES
                if over or not self._learns(asked, error):
                    raise

    def _left_out(self, asked: Asked) -> list[str]:
        known = asked.facts.options.get("omit", self.options.omit)
        names = [name for name in known if name.partition(".")[0] in asked.request]
        return [*names, *self._refused.of(asked.model)]

    def _learns(self, asked: Asked, error: Refused) -> bool:
        sent = self.body(asked, list(asked.items))
        refused = fields_refused(f"{error.code} {error}", error.param, sent)
        return self._refused.learn(asked.model, refused)


class ResponsesLanguage:
    """See `endpoints.http_endpoint.Language`."""

    def __init__(self, requests: ResponsesRequests) -> None:
        self._requests = requests

    def request(self, asked: Asked, target: Target) -> tuple[Address, bytes]:
        """See `Language`."""
        body = {**self._requests.body(asked, list(asked.items)), "stream": True}
        return http_address(target.address), request_body(body)

    def reader(self, asked: Asked, target: Target, writer: ResponseWriter) -> Reader:
        """See `Language`."""
        return ResponsesReader(writer, target.address)


def http_address(address: Address) -> Address:
    """The same endpoint for HTTP. Raises EndpointError as `core.wire.address.checked`."""
    url = checked(address).url
    return replace(address, url=f"http{url.removeprefix('ws')}")


class ResponsesEndpoint(HttpEndpoint):
    """See `endpoints.kinds.ModelEndpoint`."""

    def __init__(self, target: Target, upstream: Upstream) -> None:
        self._requests = ResponsesRequests(target.spec.options)
        super().__init__(target, ResponsesLanguage(self._requests), upstream)
        self._reasoning = EncryptedReasoning(target, upstream)

    async def answer(self, asked: Asked, writer: ResponseWriter) -> None:
        """See `ModelEndpoint`."""
        await self._reasoning.answered(asked, writer, self._answered)

    async def _answered(self, asked: Asked, writer: ResponseWriter) -> None:
        await self._requests.answered(asked, writer, super().answer)
