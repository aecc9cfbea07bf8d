"""Ended by force: what was typed is in the state folder, and is offered at the next start."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.terminal import DEADLINE_S, Terminal

Start = Callable[..., Terminal]
QUIT = "\x11"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A workspace with one file."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.txt").write_text("old\n")
    return folder


def typed_in(term: Terminal) -> None:
    """Text in the file and a draft in the prompt."""
    term.wait_for("send")
    term.type("half a thought")
    term.wait_for("❯ half a thought")
    term.type("\x1b2")
    term.wait_for("undo")
    term.type("IMPORTANT")
    term.wait_for("IMPORTANTold")


def rescued(tmp_path: Path) -> Path:
    """The one folder of it."""
    (folder,) = (tmp_path / "home" / "state" / "rescue").iterdir()
    return folder


@pytest.mark.parametrize("number", [signal.SIGTERM, None], ids=["SIGTERM", "window closed"])
def test_an_end_by_force_loses_no_typing(
    start: Start, work: Path, tmp_path: Path, number: signal.Signals | None
) -> None:
    term = start(work / "a.txt")
    typed_in(term)
    if number is None:
        assert term.hang_up() == 128 + signal.SIGHUP
    else:
        term.signal(number)
        assert term.wait_exit() == 128 + number
        assert term.trouble() == ""
        assert str(rescued(tmp_path)) in term.text.replace("\n", "")
    folder = rescued(tmp_path)
    assert (folder / "files" / "a.txt").read_text() == "IMPORTANTold\n"
    assert (folder / "draft.txt").read_text() == "half a thought"
    assert (work / "a.txt").read_text() == "old\n"


def kept_soon(term: Terminal, tmp_path: Path, text: str = "IMPORTANTold\n") -> Path:
    """The folder, once the text and the draft are in it; looked at as a crash would find it."""
    rescue = tmp_path / "home" / "state" / "rescue"

    def there(_: str) -> bool:
        files = list(rescue.glob("*/files/a.txt"))
        drafts = list(rescue.glob("*/draft.txt"))
        return bool(drafts and files and files[0].read_text() == text)

    term.wait_for(there)
    return rescued(tmp_path)


def test_a_kill_loses_no_typing_of_more_than_a_second_ago(
    start: Start, work: Path, tmp_path: Path
) -> None:
    term = start(work / "a.txt")
    typed_in(term)
    folder = kept_soon(term, tmp_path)
    other = start(work, size=(180, 36))
    other.wait_for("send")
    other.type("/rescue\r")  # whose folder it is, that one lives
    other.wait_for("Nothing was rescued for this workspace")
    other.leave()
    term.signal(signal.SIGKILL)
    assert term.wait_exit() == -signal.SIGKILL
    assert (folder / "draft.txt").read_text() == "half a thought"
    term = start(work, size=(180, 36))
    term.wait_for("/rescue brings it back")
    term.type("/rescue\r")
    term.wait_for("IMPORTANTold")
    term.wait_for("❯ half a thought")
    term.wait_for(lambda _: not folder.exists())


def test_a_kill_while_keys_go_on_loses_none_that_had_been_kept(
    start: Start, work: Path, tmp_path: Path
) -> None:
    term = start(work / "a.txt")
    typed_in(term)
    rescue = tmp_path / "home" / "state" / "rescue"

    def kept() -> str:
        return "".join(file.read_text() for file in rescue.glob("*/files/a.txt"))

    deadline, text = time.monotonic() + DEADLINE_S, ""
    while "yyyyyyyy" not in text and time.monotonic() < deadline:  # there is never a pause
        term.type("y", gap_s=0.02)
        text = kept()
    term.signal(signal.SIGKILL)
    assert term.wait_exit() == -signal.SIGKILL
    assert "yyyyyyyy" in text
    assert text.removesuffix("old\n") in kept()


def test_what_was_saved_is_kept_no_longer(start: Start, work: Path, tmp_path: Path) -> None:
    term = start(work / "a.txt")
    typed_in(term)
    folder = kept_soon(term, tmp_path)
    term.type("\x13")
    term.wait_for(lambda _: (work / "a.txt").read_text() == "IMPORTANTold\n")
    term.wait_for(lambda _: not (folder / "files" / "a.txt").exists())
    assert (folder / "draft.txt").exists()


def test_what_the_user_left_behind_is_not_kept(start: Start, work: Path, tmp_path: Path) -> None:
    term = start(work / "a.txt")
    typed_in(term)
    term.type(QUIT)
    term.wait_for("Not saved: a.txt")
    term.type("y")
    assert term.wait_exit() == 0
    assert not (tmp_path / "home" / "state" / "rescue").exists()


def test_a_fault_of_ours_loses_no_typing(
    environment: dict[str, str], work: Path, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "tests.terminal.crashing", "in_handler", "a.txt"]
    with Terminal(command, env=environment, cwd=work) as term:
        term.wait_for("send")
        term.type("\x1b2")
        term.wait_for("undo")
        term.type("IMPORTANT")
        term.wait_for("IMPORTANTold")
        term.type("\x1b1")
        term.type("z")  # no key of the conversation
        assert term.wait_exit() == 1
        shown = term.text.replace("\n", "")
    folder = rescued(tmp_path)
    assert shown.index("internal error") < shown.index(str(folder))
    assert (folder / "files" / "a.txt").read_text() == "IMPORTANTold\n"
