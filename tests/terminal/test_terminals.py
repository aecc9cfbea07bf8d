"""The real program on terminals of all kinds: what is written is what each of them can show."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.terminal import Terminal
from tests.terminal.conftest import DUETTO, Piped
from tui.ui import theme

SGR = re.compile(r"\x1b\[([0-9;:]*)m")
ERASING = re.compile(r"\x1b\[[0-3]?[JK]")
Start = Callable[..., Terminal]
LIGHT = theme.cached_theme("paper").colours["background"].removeprefix("#")
UTF_8 = {"LANG": "C.UTF-8"}
KINDS = {
    "true": {"TERM": "xterm-256color", "COLORTERM": "truecolor"} | UTF_8,
    "256": {"TERM": "xterm-256color"} | UTF_8,
    "16": {"TERM": "xterm"} | UTF_8,
    "console": {"TERM": "linux"} | UTF_8,
    "none": {"TERM": "xterm-256color", "COLORTERM": "truecolor", "NO_COLOR": "1"} | UTF_8,
    "vt100": {"TERM": "vt100", "LANG": "C"},
}


@pytest.fixture
def config(environment: dict[str, str]) -> Path:
    """The settings that duetto reads."""
    home = Path(environment["DUETTO_HOME"])
    home.mkdir(exist_ok=True)
    return home / "config.toml"


def codes(output: bytes) -> set[str]:
    """Kinds of colour codes: ``true``, ``256``, ``16``."""
    found: set[str] = set()
    painted = output.replace(b"\x1b[48;2;1;2;3m", b"")  # the question whether there are so many
    for said in SGR.findall(painted.decode("utf-8", "replace")):
        parts = [int(part or 0) for part in re.split("[;:]", said)]
        if 38 in parts or 48 in parts:
            at = parts.index(38 if 38 in parts else 48)
            found.add("256" if parts[at + 1] == 5 else "true")
        elif any(30 <= part <= 37 or 40 <= part <= 47 or 90 <= part <= 107 for part in parts):
            found.add("16")
    return found


def visit(term: Terminal) -> None:
    """The first screen, a file, the help over it, and out."""
    term.wait_for("Enter" if term.columns < 60 else "send")
    term.type("\x1bh")
    term.wait_for("Esc closes")
    term.type("\x1b")
    term.wait_gone("Esc closes")
    term.leave()


@pytest.mark.parametrize("name", KINDS)
def test_only_codes_that_the_terminal_has(start: Start, name: str) -> None:
    term = start("practice", size=(100, 30), kind=KINDS[name])
    visit(term)
    wanted = {"true": {"true"}, "256": {"256"}, "16": {"16"}, "console": {"16"}}.get(name, set())
    assert codes(term.output) == wanted
    if name == "vt100":
        assert term.output.isascii()
    if name in ("vt100", "console"):
        assert b"]11;" not in term.output
        assert b"[6n" not in term.output
    assert term.trouble() == ""


def test_a_light_terminal_is_noticed_and_followed_and_no_key_is_lost(
    start: Start, config: Path
) -> None:
    config.write_text('[editor]\ntheme = "auto"\n', encoding="utf-8")
    term = start("practice", size=(100, 30))
    term.background = b"fafa/f8f8/f3f3"
    term.type("typed before anything was answered")
    term.wait_for("❯ typed before anything was answered")
    term.wait_for(lambda _: len(term.cells(lambda cell: cell.bg == LIGHT)) > 1000)
    assert "rgb:" not in term.text
    assert term.output.count(b"\x1b]11;?") == 1
    term.type("\x1b[?997;1n")
    term.wait_for(lambda _: not term.cells(lambda cell: cell.bg == LIGHT))
    term.leave()
    assert term.output.count(b"\x1b[?2031h") == term.output.count(b"\x1b[?2031l") == 1


def test_wide_signs_never_shift_a_row(start: Start) -> None:
    term = start("practice", size=(100, 30))
    term.wide = True
    term.wait_for(lambda text: "send" in text and "│" not in text and "─" not in text)
    term.type("\x1bh")
    term.wait_for("Esc closes")
    shown = "".join(term.lines)
    assert not set(shown) & set("─│●…→▏·"), "signs that are two cells wide here"


def test_a_terminal_without_a_screen_is_told_of_the_other_way(start: Start) -> None:
    refused = start("practice", kind={"TERM": "dumb"} | UTF_8)
    assert refused.wait_exit() == 2
    assert "duetto --linear" in refused.output.decode()
    assert b"\x1b[?1049h" not in refused.output


def test_no_terminal_is_told_of_the_other_way(piped: Piped) -> None:
    refused = piped()
    assert refused.returncode == 2
    assert "duetto --linear" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


def test_nothing_is_erased_and_nothing_is_written_while_nothing_happens(start: Start) -> None:
    """No flicker: after the first picture only cells change, and at rest not one byte is sent."""
    term = start("practice", size=(120, 36))
    term.wait_for("send")
    term.wait_for(lambda _: not term.pump(1.0))  # it comes to rest
    begun = len(term.output)
    term.type("make the cache safe for threads\r")
    term.wait_for("pending")
    written = term.output[begun:].decode("utf-8", "replace")
    assert not ERASING.search(written)
    assert written.count("\x1b[?2026h") == written.count("\x1b[?2026l") > 3
    outside = re.sub(r"\x1b\[\?2026h.*?\x1b\[\?2026l", "", written, flags=re.DOTALL)
    assert not re.search(r"[^\x1b\[\]?0-9;a-zA-Z\x07\\ ]", outside), "cells are written in frames"


def test_a_key_paints_its_own_row(start: Start) -> None:
    term = start("practice", size=(120, 36))
    term.wait_for("send")
    term.type("a word")
    # the model is dialled, and what the terminal answered is taken up
    term.wait_for(re.compile(r"● (ready|ok|\d)"))
    term.settle(1.0)
    cost: list[tuple[int, int]] = []
    for _ in range(4):  # beside one of them the connection may be measured again
        begun = len(term.output)
        term.type("s")
        term.settle(0.4)
        written = term.output[begun:]
        assert b"s" in written
        rows = {int(row) for row in re.findall(rb"\x1b\[(\d+);\d+H", written)}
        cost.append((len(rows), len(written)))
    painted, size = min(cost)
    assert painted <= 2, "the row of the prompt, and the cursor's"
    assert size < 600


ODD = (
    "שלום עולם and left to right again",
    "مرحبا بالعالم",
    "👩\u200d👩\u200d👧\u200d👦 family, 🇩🇪 flag, 👍🏽 thumb",
    "e\u0301\u0301\u0301\u0301 Z\u0351\u036b\u0343algo",
    "漢字かな交じり文",
    "\u200b\u200d\ufeff nothing to see",
    "\u202eevil\u202c \u2066isolate\u2069",
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b5A \x08\x08back",
    "tab\there, bell\x07, null\x00",
)


@pytest.mark.parametrize("name", ["true", "vt100"])
def test_no_text_breaks_a_row(start: Start, tmp_path: Path, name: str) -> None:
    """Right to left, joined, combining, wide and control characters, in files and their names."""
    folder = tmp_path / "odd"
    folder.mkdir()
    (folder / "text.md").write_text("\n".join(ODD), encoding="utf-8")
    for words in ODD:
        (folder / words.replace("/", "").replace("\0", "")).write_text("", encoding="utf-8")
    term = start(folder / "text.md", size=(100, 30), kind=KINDS[name])
    term.wait_for("and left to right again" if name != "vt100" else "left to right again")
    term.type("\x1bt")
    term.wait_for("text.md")
    term.wait_for(lambda text: "Read-only" not in text)  # the note goes by itself
    border = {"true": "▏", "vt100": "|"}[name]
    columns = [{x for x, sign in enumerate(line) if sign == border} for line in term.lines[2:24]]
    assert set.intersection(*columns), "the panes' border stands in one column of all rows"
    written = term.output.decode("utf-8", "replace")
    assert "\x1b[31mred" not in written
    assert "\x1b]0;title" not in written
    assert not {"\u202e", "\u200b", "\x9b", "\x08"} & set(written)


def test_a_turn_that_ends_unseen_is_told_of_and_the_title_comes_back(
    start: Start, config: Path
) -> None:
    config.write_text(
        '[notify]\ntitle = true\ndesktop = "osc9"\nafter_s = 0.001\n', encoding="utf-8"
    )
    term = start("practice", size=(100, 30))
    term.wait_for("send")
    assert b"\x1b]2;" not in term.output
    term.type("\x1b[O")
    term.type("make the cache safe for threads\r\x1b[O")
    term.wait_for("pending")
    term.wait_for(lambda _: b"]9;" in term.output)
    assert term.output.count(b"\x1b]9;duetto: The turn is done.\x07") == 1
    assert b"\x1b]2;duetto: practice, the turn is done\x07" in term.output
    assert b"cache safe" not in b"".join(re.findall(rb"\x1b\][29];[^\x07]*", term.output))
    assert b"\x07\x07" not in term.output, "no bell"
    term.leave()
    assert term.output.count(b"\x1b[22;2t") == term.output.count(b"\x1b[23;2t") == 1


def test_the_doctor_says_what_was_found_out_and_how(start: Start) -> None:
    term = start("doctor", size=(100, 40), kind=KINDS["256"])
    term.background = b"fafa/f8f8/f3f3"
    term.wide = True
    shown = term.wait_for("notification")
    assert "colours: 256 (TERM=xterm-256color)" in shown
    assert "signs of open width are two cells wide (measured)" in shown
    assert "light (it said so)" in shown
    assert "â" not in shown
    assert "rgb:" not in shown


def test_what_is_typed_while_the_doctor_looks_is_for_the_shell(
    environment: dict[str, str], tmp_path: Path
) -> None:
    script = f'{shlex.join(DUETTO)} doctor; read -r line; echo "then: $line"'
    with Terminal(["sh", "-c", script], env=environment, cwd=tmp_path) as term:
        term.type("typed ahead\r")
        term.wait_for("then: typed ahead")
