"""The log when its disk is full."""

from __future__ import annotations

import io
import json
from pathlib import Path

from tui.bridge.team.access_log import AccessLog


class Full(io.BytesIO):
    """A file on a full disk: what is buffered cannot be written, not at its end either."""

    broken = True

    def flush(self) -> None:
        if self.broken:
            raise OSError(28, "No space left on device")

    def close(self) -> None:
        self.flush()


def test_a_log_on_a_full_disk_goes_on_elsewhere_when_it_is_rotated(tmp_path: Path) -> None:
    log = AccessLog(tmp_path / "log")
    log._out = Full()
    log.note("lost")
    while not log.dropped:
        pass
    log.reopen()
    log.note("first")
    log.note("second")
    log.close()
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [line["event"] for line in lines] == ["first", "second"]
    assert log.dropped == 1
