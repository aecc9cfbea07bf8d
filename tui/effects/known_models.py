"""What was learnt of models in earlier runs: how many tokens they take, how fast they were.

One small JSON file for each in the state folder, replaced whole; a file that is broken or cannot
be written costs what was learnt, no more. Models are known by ``URL MODEL``, the URL without query.
"""

from __future__ import annotations

import statistics
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from tui.core.typed_data import from_json
from tui.shared_files import replace_file

_KEPT_S = 7 * 86_400
"""A window is forgotten then: a server may be started with more."""
_MOST_TURNS = 15
"""The median of so many turns is shown: a new server or tier is noticed soon."""
_MOST_MODELS = 200
"""Those heard of last are kept."""
Learnt = TypeVar("Learnt")


class _ModelsFile(Generic[Learnt]):
    """One file, with one table. Its methods are for a thread, and never raise."""

    def __init__(self, file: Path, table: str, kind: Any) -> None:
        self.file = file
        self._table, self._kind = table, dict[str, dict[str, kind]]

    def read(self) -> dict[str, Learnt]:
        """``URL MODEL`` -> what is known of it, oldest first."""
        try:
            tables = from_json(self.file.read_bytes(), self._kind)
        except (OSError, msgspec.DecodeError, UnicodeError, RecursionError):
            return {}
        found: dict[str, Learnt] = tables.get(self._table, {})
        return found

    def put(self, name: str, learnt: Learnt) -> None:
        """Keep this of a model from now on."""
        known = self.read()
        known.pop(name, None)
        known[name] = learnt
        kept = {one: known[one] for one in list(known)[-_MOST_MODELS:]}
        with suppress(OSError):
            replace_file(self.file, msgspec.json.encode({self._table: kept}))


class LearntWindows:
    """How many tokens models take, as their servers' refusals said."""

    def __init__(self, state_dir: Path) -> None:
        self.models = _ModelsFile[tuple[int, int]](
            state_dir / "windows.json", "windows", tuple[int, int]
        )
        """Tokens, and when that was learnt (Unix time)."""

    def keep(self, place: str, model: str, tokens: int) -> None:
        """Keep what a server said."""
        self.models.put(f"{place} {model}", (tokens, int(time.time())))

    def known(self, place: str, model: str) -> int | None:
        """What was learnt lately, if anything."""
        tokens, learnt_s = self.models.read().get(f"{place} {model}", (0, 0))
        return tokens if tokens > 0 and 0 <= time.time() - learnt_s < _KEPT_S else None


class Speed(NamedTuple):
    """Medians of the last turns."""

    tokens_s: float
    ttft_s: float
    turns: int


class MeasuredSpeeds:
    """How fast models were in the user's own turns."""

    def __init__(self, state_dir: Path) -> None:
        self.models = _ModelsFile[list[tuple[float, float]]](
            state_dir / "speeds.json", "speeds", list[tuple[float, float]]
        )
        """Tokens/s and seconds to the first token, oldest first."""

    def keep(self, place: str, model: str, tokens_s: float, ttft_s: float) -> None:
        """Add a turn."""
        name = f"{place} {model}"
        turns = [*self.models.read().get(name, []), (round(tokens_s, 1), round(ttft_s, 4))]
        self.models.put(name, turns[-_MOST_TURNS:])

    def all(self) -> dict[str, Speed]:
        """``URL MODEL`` -> how fast it was."""
        return {
            name: Speed(
                statistics.median(rate for rate, _ in turns),
                statistics.median(wait for _, wait in turns),
                len(turns),
            )
            for name, turns in self.models.read().items()
            if turns
        }
