"""The frame of the last start is there before the heavy imports, and nothing is lost by it."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.terminal import KIND, Terminal
from tests.terminal.conftest import Gate
from tui.ui.theming.contrast import luminance

Start = Callable[..., Terminal]
MODEL = ("--endpoint", "ws://127.0.0.1:9/v1/responses", "--fast", "m")
UNREACHED = "offline"
OPENED = b"\x1b[?1049h"


def frames(folder: Path) -> list[Path]:
    found = (folder / "home" / "cache" / "frames").glob("*")
    return [path for path in found if "." not in path.name]


@pytest.fixture
def kept(start: Start, gate: Gate, tmp_path: Path) -> list[str]:
    """A frame is kept, and the next start is held up; what the first one showed at last."""
    return keep(start, gate, tmp_path)


def keep(
    start: Start,
    gate: Gate,
    tmp_path: Path,
    size: tuple[int, int] = (120, 36),
    background: bytes = b"1010/1010/1414",
) -> list[str]:
    (tmp_path / "secret.txt").write_text("secret words\n")
    term = start(*MODEL, "secret.txt", size=size)
    term.background = background
    term.wait_for("secret words")
    term.wait_for(UNREACHED)
    while not frames(tmp_path):
        term.pump(0.05)
    term.settle()
    lines = term.lines
    term.leave()
    gate.shut()
    return lines


def held(start: Start, gate: Gate, *arguments: str, **more: object) -> tuple[Terminal, int]:
    term = start(*(arguments or (*MODEL, "secret.txt")), **more)
    return term, gate.reached(term)


def test_it_is_there_before_the_imports_without_text(
    start: Start, gate: Gate, kept: list[str], tmp_path: Path
) -> None:
    term, fd = held(start, gate)
    assert term.lines[0].split() == ["duetto", f"{tmp_path.name}/"]
    assert "".join("".join(term.lines[1:]).split()).strip("▏─") == ""
    column = kept[5].index("▏")
    assert all(row[column] == "▏" for row in (term.lines[5], term.lines[20]))
    assert term.takes_long_lines
    assert all(b"secret words" not in path.read_bytes() for path in frames(tmp_path))
    os.close(fd)
    term.wait_for("secret words")


@pytest.mark.parametrize("size", [(120, 36), (80, 24)])
def test_the_real_one_takes_its_place_without_a_flicker(
    start: Start, gate: Gate, tmp_path: Path, size: tuple[int, int]
) -> None:
    kept = keep(start, gate, tmp_path, size)
    term, fd = held(start, gate, size=size)
    before = len(term.output)
    os.close(fd)
    term.wait_for(lambda text: text == "\n".join(kept))
    later = term.output[before:]
    assert not any(sign in later for sign in (b"\x1b[2J", b"\x1b[J", b"\x1b[K", b"\x1b[?1049"))
    assert not any(mode in later for mode in (b"\x1b[?2004h", b"\x1b[?1003h", b"\x1b[>5u"))
    assert term.output.count(OPENED) == 1
    assert ("▏".encode() in later) == (size[0] >= 100), "the panes of another width"
    first = later[later.index(b"\x1b[?2026h") : later.index(b"\x1b[?2026l")]
    assert b"secret words" in first or b"secret" in first
    term.leave()


def test_keys_typed_meanwhile_are_there_in_order(start: Start, gate: Gate, kept: list[str]) -> None:
    term, fd = held(start, gate)
    term.type("one \x1b[200~two\x1b[201~ ")
    os.close(fd)
    term.type("three")
    term.wait_for("❯ one two three")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT])
def test_a_signal_gives_the_terminal_back(
    start: Start, gate: Gate, kept: list[str], number: signal.Signals
) -> None:
    term, _ = held(start, gate)
    term.signal(number)
    assert term.wait_exit() in (-number, 130)
    assert term.trouble() == ""


def test_ctrl_c_ends_a_start(start: Start, gate: Gate, kept: list[str]) -> None:
    term, _ = held(start, gate)
    term.type("\x03")
    assert term.wait_exit() == 130
    assert term.trouble() == ""


def test_what_breaks_gives_the_terminal_back(start: Start, gate: Gate, kept: list[str]) -> None:
    term, fd = held(start, gate)
    os.write(fd, b"x")
    os.close(fd)
    assert term.wait_exit() == 1
    assert term.trouble() == ""


def test_a_start_that_is_refused_says_so_to_the_shell(
    start: Start, gate: Gate, kept: list[str], tmp_path: Path
) -> None:
    term, fd = held(start, gate)
    (tmp_path / "home" / "config.toml").write_text("[[[\n")
    os.close(fd)
    assert term.wait_exit() == 2
    assert term.trouble() == ""
    assert b"config.toml line 1" in term.output.rpartition(b"\x1b[?1049l")[2]


def test_a_light_terminal_has_a_light_frame(start: Start, gate: Gate, tmp_path: Path) -> None:
    keep(start, gate, tmp_path, background=b"fafa/fafa/f8f8")
    term, fd = held(start, gate)
    grounds = Counter(cell.bg for cell in term.cells(lambda cell: True))
    assert luminance(f"#{grounds.most_common(1)[0][0]}") > 0.7
    os.close(fd)


def test_a_line_that_takes_nothing_holds_nothing_up(
    start: Start, gate: Gate, tmp_path: Path
) -> None:
    shown = keep(start, gate, tmp_path, size=(300, 100))
    term = start(*MODEL, "secret.txt", size=(300, 100))
    fd = gate.reached(term, reading=False)
    term.type("one ")
    os.close(fd)
    term.type("two")
    rows = _file_rows("\n".join(shown))
    term.wait_for(lambda text: "❯ one two" in text and _file_rows(text) == rows)


def _file_rows(text: str) -> list[str]:
    """The rows that name or show the file, without the notice that stands beside it for a while."""
    rows = [row for row in text.split("\n") if "secret" in row]
    return [row.partition("▌")[0].rstrip("▏ ") for row in rows]


def _damaged(folder: Path) -> None:
    for path in frames(folder):
        data = path.read_bytes()
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))


def _other_settings(folder: Path) -> None:
    (folder / "home" / "config.toml").write_text('[editor]\ntheme = "duetto-light"\n')


@pytest.mark.parametrize("change", [_damaged, _other_settings])
def test_what_is_not_the_same_starts_as_without(
    start: Start, gate: Gate, kept: list[str], tmp_path: Path, change: Callable[[Path], None]
) -> None:
    change(tmp_path)
    term, fd = held(start, gate)
    assert term.output == b""
    os.close(fd)


@pytest.mark.parametrize("arguments", [("--help",), ("doctor",), ("--linear",), MODEL])
def test_other_command_lines_show_nothing(
    start: Start, gate: Gate, kept: list[str], arguments: tuple[str, ...]
) -> None:
    term, fd = held(start, gate, *arguments)
    assert term.output == b""
    os.close(fd)


def test_another_terminal_size_folder_or_no_colours_show_nothing(
    start: Start, gate: Gate, kept: list[str], tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    kinds = {"TERM": "xterm-kitty"}, {"NO_COLOR": "1"}
    others = {"size": (100, 36)}, {"cwd": tmp_path / "other"}
    for more in (*others, *({"kind": KIND | kind} for kind in kinds)):
        term, fd = held(start, gate, **more)
        assert term.output == b""
        os.close(fd)
