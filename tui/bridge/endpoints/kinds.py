"""Which kinds of endpoints there are: our own, and those of plug-ins."""

from __future__ import annotations

from collections.abc import Callable
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
    maker = _OWN.get(kind)
    if maker is not None:
        return maker(target, upstream)
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


def _openai_responses(target: Target, upstream: Upstream) -> Endpoint:
    from tui.bridge.endpoints.openai_responses.endpoint import ResponsesEndpoint

    return ResponsesEndpoint(target, upstream)


def _openai_chat(target: Target, upstream: Upstream) -> Endpoint:
    from tui.bridge.endpoints.openai_chat.endpoint import ChatEndpoint

    return ChatEndpoint(target, upstream)


def _responses_ws(target: Target, upstream: Upstream) -> Endpoint:
    from tui.bridge.endpoints.responses_ws.endpoint import ResponsesWsEndpoint

    return ResponsesWsEndpoint(target, upstream)


def _rehearsal(_target: Target, _upstream: Upstream) -> Endpoint:
    from tui.bridge.rehearsal.casting import Rehearsal
    from tui.bridge.rehearsal.endpoint import RehearsalEndpoint

    return RehearsalEndpoint(Rehearsal())


def _anthropic(target: Target, upstream: Upstream) -> Endpoint:
    from tui.bridge.endpoints.anthropic.endpoint import AnthropicEndpoint

    return AnthropicEndpoint(target, upstream)


def _auto(target: Target, upstream: Upstream) -> Endpoint:
    from tui.bridge.endpoints.auto import AutoEndpoint

    return AutoEndpoint(target, upstream)


_OWN: dict[str, Maker] = {
    "anthropic": _anthropic,
    "openai-chat": _openai_chat,
    "openai-responses": _openai_responses,
    "responses-ws": _responses_ws,
    "rehearsal": _rehearsal,
    "auto": _auto,
}
