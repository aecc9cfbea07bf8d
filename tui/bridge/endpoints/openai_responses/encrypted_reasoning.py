"""Which encrypted reasoning of a conversation a server of the Responses API is sent.

Only who sealed it opens it, with the same account: others refuse the whole request. So what is
known to be another server's is not sent, and what is refused is left out from then on.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from msgspec.structs import replace

from tui.bridge.endpoints.base import Asked, Refused, Target
from tui.bridge.endpoints.response_writer import ResponseWriter

if TYPE_CHECKING:
    from tui.bridge.upstream.client import Upstream


_UNOPENED = re.compile(
    r"invalid_encrypted_content"
    r"|encrypted[ _]content.{0,400}(?:verif|decrypt|pars|invalid|issued)"
    r"|decrypt.{0,400}encrypted[ _]content"
    r"|item with id '?rs_\w+'? not found",
    re.IGNORECASE | re.DOTALL,
)
"""How OpenAI, Azure, xAI and gateways word it."""
_MOST_KNOWN = 4096
_Item = Mapping[str, Any]
_Items = Sequence[_Item]


class _Sealers:
    """Who sealed which thoughts, as far as this bridge has seen it."""

    def __init__(self) -> None:
        self._known: dict[bytes, str] = {}
        self._places: set[str] = set()

    def note(self, items: Iterable[_Item], place: str) -> None:
        """The server at ``place`` told these."""
        for item in items:
            if _seal(item):
                self._known[_digest(_seal(item))] = place
                self._places.add(place)
        _bound(self._known)

    def place(self, item: _Item) -> str | None:
        """Where it was sealed; None: nobody knows, or it is not."""
        return self._known.get(_digest(_seal(item))) if _seal(item) else None

    def is_elsewhere(self, item: _Item, place: str) -> bool:
        """Whether another server than that at ``place`` sealed it, for all that is known."""
        if self._places <= {place}:  # as mostly: megabytes of thoughts need no digest then
            return False
        return self.place(item) not in (None, place)


_SEALERS: WeakKeyDictionary[Upstream, _Sealers] = WeakKeyDictionary()
"""Of each bridge: what all its endpoints share is its client."""


class EncryptedReasoning:
    """Those of one endpoint."""

    def __init__(self, target: Target, upstream: Upstream) -> None:
        url = urlsplit(target.address.url)
        self._place = f"{url.hostname}:{url.port}"
        self._sealers = _SEALERS.setdefault(upstream, _Sealers())
        self._unopened: dict[tuple[str, bytes], None] = {}
        """Models, and digests of thoughts that they did not open."""

    async def answered(
        self,
        asked: Asked,
        writer: ResponseWriter,
        ask: Callable[[Asked, ResponseWriter], Awaitable[None]],
    ) -> None:
        """Have ``ask`` answer, with the thoughts that its server opens.

        Raises what ``ask`` raises.
        """
        left_out: list[_Item] = []
        asked = _without(asked, [item for item in asked.items if self._is_closed(asked, item)])
        try:
            while True:
                try:
                    await ask(asked, writer)
                    await writer.flush()
                    return
                except Refused as error:
                    unopened = not writer.began and _UNOPENED.search(f"{error.code} {error}")
                    suspects = self._suspects(asked) if unopened else []
                    if not suspects:
                        raise
                left_out += suspects
                asked = _without(asked, suspects)
        finally:
            if writer.began or writer.done:  # else it was another thing that was refused
                self._unopened |= {(asked.model, _name(item)): None for item in left_out}
                _bound(self._unopened)
            self._sealers.note(writer.output, self._place)

    def _is_closed(self, asked: Asked, item: _Item) -> bool:
        """Whether this model has refused the thought, or another server sealed it."""
        if item.get("type") != "reasoning":
            return False
        if self._unopened and (asked.model, _name(item)) in self._unopened:
            return True
        return self._sealers.is_elsewhere(item, self._place)

    def _suspects(self, asked: Asked) -> _Items:
        """What to leave out next: thoughts from elsewhere, and only then its own."""
        thoughts = [item for item in asked.items if item.get("type") == "reasoning"]
        strange = [item for item in thoughts if self._sealers.place(item) is None]
        return strange or thoughts


def _without(asked: Asked, items: Iterable[_Item]) -> Asked:
    names = set(map(id, items))
    if not names:
        return asked
    return replace(asked, items=[item for item in asked.items if id(item) not in names])


def _seal(item: _Item) -> str:
    seal = item.get("encrypted_content") if item.get("type") == "reasoning" else None
    return seal if isinstance(seal, str) else ""


def _name(item: _Item) -> bytes:
    """What tells a thought from others, sealed or not."""
    return _digest(f"{item.get('id')} {item.get('encrypted_content')}")


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()


def _bound(known: dict[Any, Any]) -> None:
    while len(known) > _MOST_KNOWN:
        del known[next(iter(known))]
