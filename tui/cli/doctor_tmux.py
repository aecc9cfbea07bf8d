"""What of tmux's settings holds duetto up: ``duetto doctor`` inside tmux."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping

from tui.cli.finding import Finding
from tui.core.programs import safe_path

SLOW_ESC_MS = 50
_WAIT_S = 2.0
Ask = Callable[[str], str]
"""The value of a setting, empty if it cannot be had."""


def findings(environment: Mapping[str, str], ask: Ask | None = None) -> Iterator[Finding]:
    """What was found, none outside tmux; ``ask`` is tmux itself, unless given."""
    if not environment.get("TMUX"):
        return
    ask = ask or _value
    escape_ms, keys = ask("escape-time"), ask("extended-keys")
    clipboard, through = ask("set-clipboard"), ask("allow-passthrough")
    if not escape_ms:
        return
    text = f"escape-time {escape_ms} ms, extended-keys {keys}, set-clipboard {clipboard}"
    steps = []
    if not escape_ms.isdigit() or int(escape_ms) > SLOW_ESC_MS:
        steps.append("set -s escape-time 10 (Esc waits that long)")
    if keys == "off":
        steps.append("set -s extended-keys on (Shift+Enter is Enter without)")
    if ask("focus-events") == "off":
        steps.append("set -g focus-events on (who looks is guessed from the keys without)")
    if clipboard != "on" and through not in ("on", "all"):
        steps.append("set -s set-clipboard on (copying stays in duetto without)")
    if steps:
        yield Finding("tmux", "note", text, f"in tmux.conf: {'; '.join(steps)}")
    else:
        yield Finding("tmux", "ok", text)


def _value(name: str) -> str:
    program = shutil.which("tmux", path=safe_path(os.environ, os.getcwd()))
    scope = "-gqv" if name in ("allow-passthrough", "focus-events") else "-sqv"
    if program is None:
        return ""
    try:
        asked = subprocess.run(
            [program, "show-options", scope, name],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_WAIT_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return asked.stdout.decode("utf-8", "replace").strip()[:40]
