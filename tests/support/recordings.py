"""The recorded frames of tests/corpus/recordings, connection by connection."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "corpus" / "recordings"


@dataclass(slots=True)
class RecordedFrame:
    """One line of a recording."""

    from_client: bool
    body: dict[str, Any]
    meta: str = ""
    """``handshake``, ``close_frame``, ...; empty for a real frame."""
    at_s: float = 0.0
    """When it travelled, in seconds since the recording began."""

    @property
    def text(self) -> str:
        """What travelled."""
        return str(self.body["_raw"]) if "_raw" in self.body else json.dumps(self.body)


@dataclass(slots=True)
class RecordedConnection:
    """All frames of one socket, in order."""

    name: str
    frames: list[RecordedFrame] = field(default_factory=list)


def names() -> list[str]:
    """All recordings."""
    return sorted(path.name for path in FOLDER.glob("*.jsonl"))


def connections(name: str) -> list[RecordedConnection]:
    """The sockets of one recording."""
    found: dict[int, RecordedConnection] = {}
    for line in (FOLDER / name).read_text().splitlines():
        entry = json.loads(line)
        number, body = entry.get("conn", 0), entry["frame"]
        meta, at_s = str(body.get("_meta", "")), float(entry.get("t", 0.0))
        frame = RecordedFrame(entry["dir"] == "c2s", body, meta, at_s)
        found.setdefault(number, RecordedConnection(f"{name}#{number}")).frames.append(frame)
    return list(found.values())
