"""One write a frame, and none while the terminal has not taken the frame before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual.app import App
from textual.geometry import Offset

_SYNC_START, _SYNC_END = "\x1b[?2026h", "\x1b[?2026l"
"""Between them a terminal that can shows nothing (DEC private mode 2026)."""


def is_behind(app: App[object], again: Callable[[], None]) -> bool:
    """True while a frame waits to be written: another one would be old before it is seen.

    A slow line gets fewer frames, each as it is then; and nobody waits for the line. ``again`` is
    called when the terminal has taken all.
    """
    driver = app._driver
    if not getattr(driver, "behind", False):
        return False
    when_taken: Callable[[Callable[[], None]], None] = getattr(driver, "when_taken", lambda _: None)
    when_taken(again)
    return True


def write_frame(app: App[Any], text: str, cursor: Offset) -> None:
    """Write the bytes of a frame, which the terminal shows at once if it can, and the cursor.

    ``cursor`` is where the terminal's own cursor goes, for input methods.
    """
    driver = app._driver
    if driver is not None and app._running and not app._closed and not app.is_headless:
        text = f"{text}\x1b[{cursor.y + 1};{cursor.x + 1}H"
        if app._sync_available:
            text = f"{_SYNC_START}{text}{_SYNC_END}"
        driver.write(text)
        driver.flush()
    app.post_display_hook()
