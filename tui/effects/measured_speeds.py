"""How fast models were in the user's own turns, kept in the state folder over runs.

One small JSON file, replaced whole; a file that is broken or cannot be written costs what was
measured, no more.
"""

from __future__ import annotations

import statistics
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from tui.shared_files import replace_file

_MOST_TURNS = 15
"""The median of so many turns is shown: a new server or tier is noticed soon."""
_MOST_MODELS = 200
"""Those measured last are kept."""


class Speed(NamedTuple):
    """Medians of the last turns."""

    tokens_s: float
    ttft_s: float
    turns: int


class _SpeedsFile(msgspec.Struct):
    speeds: dict[str, list[tuple[float, float]]] = {}
    """``URL MODEL`` -> tokens/s and seconds to the first token, oldest first."""


class MeasuredSpeeds:
    """The file of speeds, by the endpoint's URL without query and the model's name."""

    def __init__(self, state_dir: Path) -> None:
        self.file = state_dir / "speeds.json"

    def keep(self, place: str, model: str, tokens_s: float, ttft_s: float) -> None:
        """Add a turn; for a thread. Never raises."""
        speeds = self._read()
        name = f"{place} {model}"
        turns = [*speeds.pop(name, []), (round(tokens_s, 1), round(ttft_s, 4))]
        speeds[name] = turns[-_MOST_TURNS:]
        kept = {one: speeds[one] for one in list(speeds)[-_MOST_MODELS:]}
        with suppress(OSError):
            replace_file(self.file, msgspec.json.encode(_SpeedsFile(kept)))

    def all(self) -> dict[str, Speed]:
        """``URL MODEL`` -> how fast it was. Never raises."""
        return {
            name: Speed(
                statistics.median(rate for rate, _ in turns),
                statistics.median(wait for _, wait in turns),
                len(turns),
            )
            for name, turns in self._read().items()
            if turns
        }

    def _read(self) -> dict[str, list[tuple[float, float]]]:
        try:
            return msgspec.json.decode(self.file.read_bytes(), type=_SpeedsFile).speeds
        except (OSError, msgspec.DecodeError, UnicodeError, RecursionError):
            return {}
