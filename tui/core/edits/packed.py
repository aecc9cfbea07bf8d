"""Things that are hardly ever asked for again, as bytes."""

from __future__ import annotations

from enum import Enum
from functools import partial
from io import BytesIO
from types import BuiltinFunctionType, MethodType
from typing import Generic, TypeVar

T = TypeVar("T")
_VALUES = (
    *(int, str, bytes, tuple, list, dict, set, type(None), Enum),
    *(type, partial, MethodType, BuiltinFunctionType),
)
"""Values, and how a method is said."""


class Packed(Generic[T]):
    """A list of objects, of which what lives on without them stays as it is: it is pointed to."""

    def __init__(self, things: list[T], own: set[type]) -> None:
        """``own``: classes whose objects nothing else refers to; they may come back as copies."""
        import pickle  # hardly a session needs them
        import zlib

        self._others: list[object] = []
        others, places = self._others, dict[int, int]()

        class Packer(pickle.Pickler):
            def persistent_id(self, thing: object) -> int | None:
                """Where a thing that lives on is kept; None: it becomes bytes."""
                if isinstance(thing, _VALUES) or type(thing) in own:
                    return None
                if (at := places.get(id(thing))) is None:
                    at = places[id(thing)] = len(others)
                    others.append(thing)
                return at

        out = BytesIO()
        Packer(out, 5).dump(things)
        self._data = zlib.compress(out.getvalue(), 1)

    def things(self) -> list[T]:
        """The list, as it was."""
        import pickle
        import zlib

        others = self._others

        class Unpacker(pickle.Unpickler):
            def persistent_load(self, at: int) -> object:
                """What lives on."""
                return others[at]

        found: list[T] = Unpacker(BytesIO(zlib.decompress(self._data))).load()
        return found
