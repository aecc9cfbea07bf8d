"""What a provider wants back of its model's thoughts, as our clients carry it.

Clients of the Responses API keep a reasoning item's `encrypted_content` unread and send it back
with the conversation. What other languages want back (signed thinking blocks, a text of thoughts)
travels in there, with the name of who made it: thoughts of another kind or of another model are
left out of a request, for their provider would refuse them or take them for the model's own.

Which encrypted reasoning of a conversation a server of the Responses API is sent. Only who sealed
it opens it, with the same account: others refuse the whole request. So what is known to be
another server's is not sent, and what is refused is left out from then on.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import msgspec
from msgspec.structs import replace

from tui.bridge.endpoints.base import Asked, Refused, Target
from tui.bridge.endpoints.response_writer import ResponseWriter
from tui.core.wire.json_writing import is_long, request

if TYPE_CHECKING:
    from tui.bridge.upstream.client import Upstream


MOST_CHARS, MOST_VALUES = 2**20, 10_000
"""The longest thoughts have half as many characters."""
PREFIX = "duetto1."
"""No provider's own content begins like this: a full stop is in no base64."""

COMPACTED = (
    "(An earlier part of the conversation was sealed by its provider: it is not known here.)"
)
"""What stands for a ``compaction`` item, which nobody but its provider can read."""


def is_compacted(item: Mapping[str, Any]) -> bool:
    """Whether an item is a sealed beginning of the conversation."""
    return str(item.get("type")) in ("compaction", "compaction_summary", "context_compaction")


def seal(kind: str, model: str, payload: Mapping[str, Any]) -> str:
    """The `encrypted_content` for what ``model`` of an endpoint of this kind wants back.

    ``payload`` is JSON; it is not secret: it is the client's own conversation. Of a payload that
    no model thinks nothing is carried: empty.
    """
    if is_long(payload, MOST_CHARS, MOST_VALUES):
        return ""
    told = request({"kind": kind, "model": model, "payload": dict(payload)}).encode()
    return PREFIX + base64.urlsafe_b64encode(told).decode("ascii").rstrip("=")


def is_sealed(text: object) -> bool:
    """Whether a bridge made this `encrypted_content`, for whichever kind: no provider knows it."""
    return isinstance(text, str) and text.startswith(PREFIX)


def unseal(kind: str, model: str, text: object) -> dict[str, Any] | None:
    """What was sealed for this kind and model; None: another made it, or nobody, or it is torn."""
    if not isinstance(text, str) or not text.startswith(PREFIX):
        return None
    try:
        raw = text.removeprefix(PREFIX).encode("ascii")
        told = msgspec.json.decode(base64.b64decode(raw + b"=" * (-len(raw) % 4), b"-_", True))
    except (binascii.Error, msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    if not isinstance(told, dict) or (told.get("kind"), told.get("model")) != (kind, model):
        return None
    payload = told.get("payload")
    return payload if isinstance(payload, dict) else None


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


Ask = Callable[[Asked, ResponseWriter], Awaitable[None]]
"""Has an endpoint answer."""


class EncryptedReasoning:
    """Those of one endpoint."""

    def __init__(self, target: Target, upstream: Upstream) -> None:
        url = urlsplit(target.address.url)
        self._place = f"{url.hostname}:{url.port}"
        self._sealers = _SEALERS.setdefault(upstream, _Sealers())
        self._unopened: dict[tuple[str, bytes], None] = {}
        """Models, and digests of thoughts that they did not open."""

    async def answered(self, asked: Asked, writer: ResponseWriter, ask: Ask) -> None:
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
