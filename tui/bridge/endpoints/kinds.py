"""Which kinds of endpoints there are: our own, and those of plug-ins."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING

from tui.bridge.endpoints.base import Endpoint, Refused, Target

if TYPE_CHECKING:
    from tui.bridge.upstream.client import Upstream

Maker = Callable[[Target, "Upstream"], Endpoint]
"""Makes the endpoint of a target; raises Refused, if it cannot be one."""


def make(target: Target, upstream: Upstream) -> Endpoint:
    """The endpoint of a target. Raises Refused: nobody knows its kind, or its plug-in broke."""
    kind = target.spec.kind
    if kind in _OWN:
        return _OWN[kind]()(target, upstream)
    from tui.bridge.endpoints import plug_in

    made = plug_in.made(kind, target, upstream)
    if made is not None:
        return made
    raise Refused(400, "unknown_endpoint_kind", unknown(kind) or "")


def unknown(kind: str) -> str:
    """That nobody knows this kind, in words; empty: somebody does."""
    if kind in _OWN:
        return ""
    from tui.bridge.endpoints import plug_in

    known = [*_OWN, *plug_in.named()]
    if kind in known:
        return ""
    near = get_close_matches(kind, known, 1)
    advice = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}."
    return f"There is no kind of endpoint named {kind!r}: {advice}"


def load(targets: Iterable[Target]) -> None:
    """Import what these need, in the thread that calls: else their first request does, 80 ms."""
    for target in targets:
        if target.spec.kind in _OWN:
            _OWN[target.spec.kind]()
        if target.address.url.startswith("https:"):
            importlib.import_module("tui.bridge.upstream.http2")


def _openai_responses() -> Maker:
    from tui.bridge.endpoints.openai_responses.endpoint import ResponsesEndpoint

    return ResponsesEndpoint


def _openai_chat() -> Maker:
    from tui.bridge.endpoints.openai_chat.endpoint import ChatEndpoint

    return ChatEndpoint


def _responses_ws() -> Maker:
    from tui.bridge.endpoints.responses_ws.endpoint import ResponsesWsEndpoint

    return ResponsesWsEndpoint


def _rehearsal() -> Maker:
    from tui.bridge.rehearsal.casting import Rehearsal
    from tui.bridge.rehearsal.endpoint import RehearsalEndpoint

    return lambda _target, _upstream: RehearsalEndpoint(Rehearsal())


def _anthropic() -> Maker:
    from tui.bridge.endpoints.anthropic.endpoint import AnthropicEndpoint

    return AnthropicEndpoint


def _auto() -> Maker:
    from tui.bridge.endpoints.auto import AutoEndpoint

    return AutoEndpoint


_OWN: dict[str, Callable[[], Maker]] = {
    "anthropic": _anthropic,
    "openai-chat": _openai_chat,
    "openai-responses": _openai_responses,
    "responses-ws": _responses_ws,
    "rehearsal": _rehearsal,
    "auto": _auto,
}
