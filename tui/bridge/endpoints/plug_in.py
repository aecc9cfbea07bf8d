"""Kinds of endpoints that other packages bring, by the entry point ``duetto.endpoint``.

What goes wrong in one is an answer in words to whoever asked it, and a place in the log.
"""

from __future__ import annotations

import contextlib
import logging
import traceback
from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

from tui.bridge.endpoints.base import Asked, Broken, Endpoint, ModelFacts, Refused, Steered, Target
from tui.bridge.endpoints.telling import Telling

if TYPE_CHECKING:
    from tui.bridge.upstream.client import Upstream

GROUP = "duetto.endpoint"
"""Entry points of this group: a kind's name -> a callable as `kinds.Maker`."""
_NEEDED = ("answer", "warm", "models", "close")
_log = logging.getLogger(__name__)


def named() -> list[str]:
    """The kinds that installed packages bring."""
    return sorted({point.name for point in entry_points(group=GROUP)})


def made(kind: str, target: Target, upstream: Upstream) -> Endpoint | None:
    """The endpoint of a plug-in; None: no package has this kind.

    Raises Refused: two packages have it, or its package cannot be used.
    """
    found = list({point.value: point for point in entry_points(group=GROUP, name=kind)}.values())
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
    """A plug-in's endpoint; what it raises beyond the contract is Broken. See `Endpoint`."""

    def __init__(self, endpoint: Endpoint, whose: str) -> None:
        """``whose`` begins a sentence about it."""
        self._endpoint = endpoint
        self._whose = whose

    async def answer(self, asked: Asked, telling: Telling) -> None:
        """See `Endpoint`."""
        with _guarded(self._whose):
            await self._endpoint.answer(asked, telling)

    async def warm(self) -> None:
        """See `Endpoint`."""
        with contextlib.suppress(Refused, Broken), _guarded(self._whose):
            await self._endpoint.warm()

    async def models(self) -> dict[str, ModelFacts]:
        """See `Endpoint`."""
        with _guarded(self._whose):
            return await self._endpoint.models()

    async def close(self) -> None:
        """See `Endpoint`."""
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
