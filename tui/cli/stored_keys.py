"""Which keys ``duetto keys set`` has put into the system's keyring: names only.

No keyring lists its entries, and to load one takes longer than the first paint may.
"""

from __future__ import annotations

import json
from pathlib import Path

from tui.errors import SettingsError

FILE = "keys.json"


def names(state_dir: Path) -> list[str]:
    """Whose keys lie there, sorted; a file that is broken names none."""
    try:
        read = json.loads((state_dir / FILE).read_bytes())
    except (OSError, ValueError, RecursionError):
        return []
    return (
        sorted({name for name in read if isinstance(name, str)}) if isinstance(read, list) else []
    )


def remember(state_dir: Path, name: str) -> None:
    """Note that this one's key lies there. Raises SettingsError."""
    _write(state_dir, [*names(state_dir), name])


def forget(state_dir: Path, name: str) -> None:
    """Note that it does not. Raises SettingsError."""
    _write(state_dir, [one for one in names(state_dir) if one != name])


def _write(state_dir: Path, found: list[str]) -> None:
    file = state_dir / FILE
    fresh = file.with_suffix(".new")
    try:
        state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh.write_text(json.dumps(sorted(set(found))), encoding="utf-8")
        fresh.chmod(0o600)
        fresh.replace(file)
    except OSError as error:
        raise SettingsError(f"cannot write {file}: {error.strerror}") from error
