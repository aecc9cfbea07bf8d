"""What every kind of endpoint is, which there are, and those that plug-ins bring.

A kind knows one provider's language: it is asked for a response and writes it to the client. What
is the same for all of them is done in `bridge.runs`: interrupts, steering, the throttle, retries
and fallbacks.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import traceback
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Protocol

from tui.bridge.endpoints.base import Asked, Broken, ModelFacts, Refused, Steered, Target

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from tui.bridge.endpoints.response_writer import ResponseWriter
    from tui.bridge.upstream.client import Upstream


class ModelEndpoint(Protocol):
    """One endpoint of any kind; made once, asked by all connections."""

    async def answer(self, asked: Asked, writer: ResponseWriter) -> None:
        """Ask, tell what comes while it comes, and end with `ResponseWriter.finish` or `conclude`.

        Cancelled when the client interrupts or is gone: what the provider works on for this
        request has to stop then, within 10 ms, and nothing else.

        Raises:
            Refused: nothing of an answer was told.
            Broken: the connection failed, or ended before the answer did.
            Steered: from `ResponseWriter.item_done`; it is let through.
        """

    async def warm(self) -> None:
        """Open a connection that the next request takes; failures are no matter."""

    async def models(self) -> dict[str, ModelFacts]:
        """The models that it serves now, with what it says of each. Raises Refused, Broken."""

    async def close(self) -> None:
        """End all connections."""


Maker = Callable[[Target, "Upstream"], ModelEndpoint]
"""Makes the endpoint of a target; raises Refused, if it cannot be one."""
GROUP = "duetto.endpoint"
"""Entry points of this group: a kind's name -> a callable as `kinds.Maker`."""
_NEEDED = ("answer", "warm", "models", "close")
_log = logging.getLogger(__name__)


def named() -> list[str]:
    """The kinds that installed packages bring."""
    return sorted({point.name for point in _entry_points()})


def _entry_points() -> Iterable[EntryPoint]:
    from importlib.metadata import entry_points  # 30 ms, and most people have no plug-in

    return entry_points(group=GROUP)


def made(kind: str, target: Target, upstream: Upstream) -> ModelEndpoint | None:
    """The endpoint of a plug-in; None: no package has this kind.

    Raises Refused: two packages have it, or its package cannot be used.
    """
    named = (point for point in _entry_points() if point.name == kind)
    found = list({point.value: point for point in named}.values())
    if not found:
        return None
    if len(found) > 1:
        names = " and ".join(sorted(map(_package, found)))
        raise _broken(f"More than one package has the kind {kind!r} ({names}): remove one.")
    (point,) = found
    whose = f"The plug-in for the kind {kind!r} ({_package(point)})"
    try:
        with _guarded(whose):
            endpoint: Any = point.load()(target, upstream)
    except Broken as error:
        raise _broken(str(error)) from error
    lacking = [name for name in _NEEDED if not callable(getattr(endpoint, name, None))]
    if lacking:
        raise _broken(f"{whose} makes no endpoint, {lacking[0]}() is missing: update or remove it.")
    return Guarded(endpoint, whose)


class Guarded:
    """A plug-in's endpoint; what it raises beyond the contract is Broken. See `ModelEndpoint`."""

    def __init__(self, endpoint: ModelEndpoint, whose: str) -> None:
        """``whose`` begins a sentence about it."""
        self._endpoint = endpoint
        self._whose = whose

    async def answer(self, asked: Asked, writer: ResponseWriter) -> None:
        """See `ModelEndpoint`."""
        with _guarded(self._whose):
            await self._endpoint.answer(asked, writer)

    async def warm(self) -> None:
        """See `ModelEndpoint`."""
        with contextlib.suppress(Refused, Broken), _guarded(self._whose):
            await self._endpoint.warm()

    async def models(self) -> dict[str, ModelFacts]:
        """See `ModelEndpoint`."""
        with _guarded(self._whose):
            return await self._endpoint.models()

    async def close(self) -> None:
        """See `ModelEndpoint`."""
        with contextlib.suppress(Refused, Broken), _guarded(self._whose):
            await self._endpoint.close()


@contextlib.contextmanager
def _guarded(whose: str) -> Iterator[None]:
    """Code of others. Raises Broken for what is beyond the contract, beside what it allows."""
    try:
        yield
    except (Refused, Broken, Steered):
        raise
    except Exception as error:
        # Not the error's own words: they may quote a key or a prompt.
        name = type(error).__name__
        places = traceback.extract_tb(error.__traceback__)
        where = f" at {places[-1].filename}:{places[-1].lineno}" if places else ""
        _log.error("%s failed: %s%s", whose, name, where)
        raise Broken(f"{whose} failed ({name}): update or remove it.") from error


def _broken(words: str) -> Refused:
    return Refused(501, "endpoint_kind_broken", words)


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value


_NO_SUCH_PATH = (404, 405, 501)
_NO_MODEL = ("model", "deployment")
"""Words in a refusal with 404 that is about a model: the path is there."""


class AutoEndpoint:
    """See `endpoints.kinds.ModelEndpoint`."""

    def __init__(self, target: Target, upstream: Upstream) -> None:
        from tui.bridge.endpoints.openai_chat.endpoint import ChatEndpoint
        from tui.bridge.endpoints.openai_responses.request import ResponsesEndpoint

        responses = ResponsesEndpoint(target, upstream)
        chat = ChatEndpoint(target, upstream)
        path = target.address.url.partition("?")[0].rstrip("/")
        self._candidates: list[ModelEndpoint] = [chat, responses]
        if path.endswith("/responses"):
            self._candidates.reverse()
        self._all = tuple(self._candidates)

    async def answer(self, asked: Asked, writer: ResponseWriter) -> None:
        """See `ModelEndpoint`."""
        first: Refused | None = None
        for endpoint in list(self._candidates):
            try:
                await endpoint.answer(asked, writer)
            except Refused as error:
                if not _is_elsewhere(error) or writer.began:
                    self._settle(endpoint, error)
                    raise
                first = first or error
            else:
                self._candidates = [endpoint]
                return
        if first is not None:
            raise first

    async def warm(self) -> None:
        """See `ModelEndpoint`."""
        await self._candidates[0].warm()

    async def models(self) -> dict[str, ModelFacts]:
        """See `ModelEndpoint`."""
        return await self._candidates[0].models()

    async def close(self) -> None:
        """See `ModelEndpoint`."""
        for endpoint in self._all:
            await endpoint.close()

    def _settle(self, endpoint: ModelEndpoint, error: Refused) -> None:
        """A refusal of the request itself (a wrong model, a wrong field) is an answer, too."""
        if error.status in (400, 404, 422, 429) and error.code != "not_an_endpoint":
            self._candidates = [endpoint]


def _is_elsewhere(error: Refused) -> bool:
    """Whether the server has nothing at this path, or something else."""
    if error.code == "not_an_endpoint":
        return True
    about_model = any(word in f"{error.code} {error}".lower() for word in _NO_MODEL)
    return error.status in _NO_SUCH_PATH and not (error.status == 404 and about_model)


def make(target: Target, upstream: Upstream) -> ModelEndpoint:
    """The endpoint of a target. Raises Refused: nobody knows its kind, or its plug-in broke."""
    kind = target.spec.kind
    if kind in _OWN:
        return _maker(kind)(target, upstream)
    endpoint = made(kind, target, upstream)
    if endpoint is None:
        raise Refused(400, "unknown_endpoint_kind", unknown(kind))
    return endpoint


def unknown(kind: str) -> str:
    """That nobody knows this kind, in words; empty: somebody does."""
    known = [*_OWN] if kind in _OWN else [*_OWN, *named()]
    if kind in known:
        return ""
    near = get_close_matches(kind, known, 1)
    advice = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}."
    return f"There is no kind of endpoint named {kind!r}: {advice}"


def load(targets: Iterable[Target]) -> None:
    """Import what these need, in the thread that calls: else their first request does, 80 ms."""
    for target in targets:
        if target.spec.kind in _OWN:
            _maker(target.spec.kind)


_OWN = {
    "anthropic": ("tui.bridge.endpoints.anthropic.endpoint", "AnthropicEndpoint"),
    "openai-chat": ("tui.bridge.endpoints.openai_chat.endpoint", "ChatEndpoint"),
    "openai-responses": ("tui.bridge.endpoints.openai_responses.request", "ResponsesEndpoint"),
    "responses-ws": ("tui.bridge.endpoints.responses_ws.endpoint", "ResponsesWsEndpoint"),
    "local": ("tui.bridge.local.endpoint", "LocalEndpoint"),
    "rehearsal": ("tui.bridge.rehearsal.endpoint", "rehearsal_endpoint"),
    "auto": ("tui.bridge.endpoints.kinds", "AutoEndpoint"),
}
"""Our own kinds -> the module and its maker, imported when one is needed."""


def _maker(kind: str) -> Maker:
    module, name = _OWN[kind]
    maker: Maker = getattr(importlib.import_module(module), name)
    return maker
