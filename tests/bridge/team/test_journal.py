"""The log when its disk is full."""

from __future__ import annotations

import io
import json
from pathlib import Path

from tui.bridge.team.access_log import Journal


class Full(io.BytesIO):
    """A file on a full disk: what is buffered cannot be written, not at its end either."""

    broken = True

    def flush(self) -> None:
        if self.broken:
            raise OSError(28, "No space left on device")

    def close(self) -> None:
        self.flush()


def test_a_log_on_a_full_disk_goes_on_elsewhere_when_it_is_rotated(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "log")
    journal._out = Full()
    journal.note("lost")
    while not journal.dropped:
        pass
    journal.reopen()
    journal.note("first")
    journal.note("second")
    journal.close()
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [line["event"] for line in lines] == ["first", "second"]
    assert journal.dropped == 1
