from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.support.tables import each
from tui.effects import clipboard
from tui.effects.clipboard import ClipboardTool, command_for


@each(
    "environment, platform, there, command",
    [
        ({}, "darwin", "pbcopy", ("/bin/pbcopy",)),
        ({"WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}, "linux", "wl-copy xclip", ("/bin/wl-copy",)),
        ({"DISPLAY": ":0"}, "linux", "xclip", ("/bin/xclip", "-selection", "clipboard")),
        ({"DISPLAY": ":0"}, "linux", "xsel", ("/bin/xsel", "--clipboard", "--input")),
        ({"WSL_DISTRO_NAME": "u"}, "linux", "clip.exe", ("/bin/clip.exe",)),
        ({"DISPLAY": ":0"}, "linux", "", ()),
        ({}, "linux", "xclip wl-copy", ()),
        ({"DISPLAY": ":10", "SSH_CONNECTION": "a 1 b 2"}, "linux", "xclip", ()),
        ({"SSH_TTY": "/dev/pts/1"}, "darwin", "pbcopy", ()),
    ],
)
def test_the_program_of_the_desktop(
    environment: dict[str, str], platform: str, there: str, command: tuple[str, ...]
) -> None:
    found = command_for(
        environment, platform, lambda name: f"/bin/{name}" if name in there.split() else None
    )
    assert found == command


def test_it_gets_the_text_and_not_our_keys(tmp_path: Path) -> None:
    file = tmp_path / "copied"
    os.mkfifo(file)  # reading waits for the writer
    script = (
        "import os, pathlib, sys; data = sys.stdin.buffer.read();"
        f"pathlib.Path({str(file)!r}).write_bytes(data + b'|' + ' '.join(os.environ).encode())"
    )
    tool = ClipboardTool([sys.executable, "-c", script], {"PATH": "/bin"})
    assert tool.copy("é\x1b[0m") is True
    text, _, names = file.read_bytes().partition(b"|")
    assert text == "é\x1b[0m".encode()
    assert {*names.split()} - {b"LC_CTYPE"} == {b"PATH"}


def test_without_a_program_nothing_is_started() -> None:
    assert ClipboardTool([], {}).copy("x") is False


def test_a_program_that_hangs_or_fails_is_no_harm(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(clipboard, "WAIT_S", 0.1)
    for script in ("import time; time.sleep(30)", "raise SystemExit(3)"):
        tool = ClipboardTool([sys.executable, "-c", script], {})
        tool._newest = b"secret text"
        tool._run()
    ClipboardTool(["/nowhere/at/all"], {})._run()
    missing = ClipboardTool(["/nowhere/at/all"], {})
    missing._newest = b"secret text"
    missing._run()
    assert len(caplog.records) == 3
    assert "secret" not in caplog.text
