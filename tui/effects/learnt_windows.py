"""How many tokens models take, as their servers' refusals said, kept in the state folder over runs.

One small JSON file, replaced whole; a file that is broken or cannot be written costs what was
learnt, no more. What was learnt is forgotten after a while: a server may be started with more.
"""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

import msgspec

from tui.shared_files import replace_file

_KEPT_S = 7 * 86_400
_MOST_MODELS = 200
"""Those learnt last are kept."""


class _WindowsFile(msgspec.Struct):
    windows: dict[str, tuple[int, int]] = {}
    """``URL MODEL`` -> tokens, and when that was learnt (Unix time), oldest first."""


class LearntWindows:
    """The file of windows, by the endpoint's URL without query and the model's name."""

    def __init__(self, state_dir: Path) -> None:
        self.file = state_dir / "windows.json"

    def keep(self, place: str, model: str, tokens: int) -> None:
        """Keep what a server said; for a thread. Never raises."""
        windows = self._read()
        windows.pop(f"{place} {model}", None)
        windows[f"{place} {model}"] = (tokens, int(time.time()))
        kept = {one: windows[one] for one in list(windows)[-_MOST_MODELS:]}
        with suppress(OSError):
            replace_file(self.file, msgspec.json.encode(_WindowsFile(kept)))

    def known(self, place: str, model: str) -> int | None:
        """What was learnt lately, if anything; for a thread. Never raises."""
        tokens, learnt_s = self._read().get(f"{place} {model}", (0, 0))
        return tokens if tokens > 0 and 0 <= time.time() - learnt_s < _KEPT_S else None

    def _read(self) -> dict[str, tuple[int, int]]:
        try:
            return msgspec.json.decode(self.file.read_bytes(), type=_WindowsFile).windows
        except (OSError, msgspec.DecodeError, UnicodeError, RecursionError):
            return {}
