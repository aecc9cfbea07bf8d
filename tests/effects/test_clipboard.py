"""Texts that are copied; images of files and of the clipboard, by whichever program there is."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.pictures import png
from tests.support.tables import each
from tui.core.images import MOST_BYTES
from tui.effects import clipboard
from tui.effects.clipboard import ClipboardTool, LocalPictures, command_for


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


DATA = png(3, 2)


def tool(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def pictures(
    folder: Path, environment: Mapping[str, str], platform: str = "linux"
) -> LocalPictures:
    def which(name: str) -> str | None:
        path = folder / name
        return str(path) if path.exists() else None

    return LocalPictures(environment, os.environ, which, platform)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "image").write_bytes(DATA)
    return tmp_path


def test_wayland_and_x11_are_asked_for_a_kind_that_they_offer(folder: Path) -> None:
    image = folder / "image"
    tool(folder, "wl-paste", f'[ "$1" = --list-types ] && echo text/plain image/png || cat {image}')
    tool(folder, "xclip", f'[ "$5" = TARGETS ] && echo TARGETS image/png || cat {image}')
    assert pictures(folder, {"WAYLAND_DISPLAY": "w"}).copied() == DATA
    assert pictures(folder, {"DISPLAY": ":0"}).copied() == DATA
    assert pictures(folder, {"DISPLAY": ":0", "SSH_CONNECTION": "x"}).copied() == DATA
    tool(folder, "xclip", "echo TARGETS STRING")
    assert "your terminal pastes" in str(pictures(folder, {"DISPLAY": ":0"}).copied())
    tool(folder, "xclip", "echo TARGETS")
    assert pictures(folder, {"DISPLAY": ":0"}).copied() == "there is no image on the clipboard"
    tool(folder, "xclip", "exit 1")
    assert pictures(folder, {"DISPLAY": ":0"}).copied() == "there is no image on the clipboard"


def test_a_mac_is_asked_by_pngpaste_or_by_applescript(folder: Path) -> None:
    tool(folder, "osascript", f"printf '\\302\\253data PNGf{DATA.hex().upper()}\\302\\273'")
    assert pictures(folder, {}, "darwin").copied() == DATA
    tool(folder, "pngpaste", f"cat {folder / 'image'}")
    tool(folder, "osascript", "exit 1")
    assert pictures(folder, {}, "darwin").copied() == DATA
    tool(folder, "pngpaste", "exit 1")
    assert pictures(folder, {}, "darwin").copied() == "there is no image on the clipboard"


def test_where_no_clipboard_can_be_read_a_sentence_says_what_to_do(folder: Path) -> None:
    for environment, words in (
        ({}, "there is no desktop here"),
        ({"SSH_TTY": "/dev/pts/1"}, "copy the image here as a file"),
        ({"DISPLAY": ":0"}, "xclip, which is not installed"),
        ({"WAYLAND_DISPLAY": "w"}, "wl-paste, which is not installed"),
    ):
        assert words in str(pictures(folder, environment).copied())


def test_a_file_is_read_by_its_whole_path(folder: Path) -> None:
    port = pictures(folder, {})
    path = str(folder / "image")
    assert port.is_there(path)
    assert not port.is_there(str(folder))
    assert port.read(path).data == DATA
    assert port.read(f"{path}x").refusal == f"there is no file {path}x"
    remote = pictures(folder, {"SSH_TTY": "/dev/pts/1"})
    assert "on this machine, which you reach over SSH" in remote.read("/Users/me/a.png").refusal
    assert port.read(str(folder)).refusal.startswith(f"{folder} ")
    os.mkfifo(folder / "pipe.png")
    assert port.read(str(folder / "pipe.png")).refusal.endswith("is not a file")
    with (folder / "huge.png").open("wb") as file:
        file.truncate(100_000_000)
    assert port.read(str(folder / "huge.png")).size_bytes == 100_000_000 > MOST_BYTES
