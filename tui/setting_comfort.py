"""What of the settings is looks, keys and comfort: a mistake in it is told, and stops nothing.

Wherever a default could send something to the wrong place, write a file that was not to be
written or keep what was not to be kept a mistake ends the start, as everywhere else.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tui import toml_tables
from tui.errors import SettingsError

_STRICT: Mapping[str, tuple[str, ...]] = {
    "editor": ("save", "ambiguous", "review"),
    "screen": ("linear",),
    "notify": (),
    "meter": (),
    "prompt": ("history",),
    "keys": (),
}
"""Tables of comfort, each with those of its keys that are none."""


@dataclass(slots=True)
class Sieve:
    """Takes the mistakes out of the tables of one text."""

    text: str
    origin: str
    kind: type[msgspec.Struct]
    said: list[str] = field(default_factory=list)
    """What was taken out: ``ORIGIN line N: what is wrong; what to do``."""

    def sifted(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Data without them; what stops the start is left in it."""
        known = self.kind.__struct_fields__
        kept: dict[str, Any] = {}
        for name, value in data.items():
            if _meant(name, known) not in _STRICT:
                kept[name] = value
            elif name not in known or not isinstance(value, Mapping):
                self._is_right({name: value})
            else:
                kept[name] = self._table(name, value)
        return kept

    def _table(self, name: str, table: Mapping[str, Any]) -> dict[str, Any]:
        keys = getattr(self.kind(), name)
        known = getattr(keys, "__struct_fields__", ())
        strict = _STRICT[name]
        return {
            key: value
            for key, value in table.items()
            if _meant(key, (*known, *strict)) in strict or self._is_right({name: {key: value}})
        }

    def _is_right(self, data: Mapping[str, Any]) -> bool:
        try:
            toml_tables.converted(self.text, self.origin, data, self.kind)
        except SettingsError as error:
            self.said.append(str(error))
            return False
        return True


def _meant(name: str, known: tuple[str, ...]) -> str:
    """The name, or the one that is misspelled."""
    found = [name] if name in known else difflib.get_close_matches(name, known, 1)
    return found[0] if found else ""
