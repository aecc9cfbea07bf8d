"""duetto was killed in the middle of an accept: the next one says so, in the app and without."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.terminal import Terminal
from tests.terminal.conftest import Piped
from tui.core.document.unfinished_writes import WriteStep
from tui.effects.write_ahead_log import WriteAheadLog

pytestmark = pytest.mark.case("H08")
OLD, NEW = b"one\ntwo\nthree\n", b"one\nTWO\nthree\n"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Of three files one is new, one is old, and one was changed by somebody since."""
    folder = tmp_path / "work"
    folder.mkdir()
    for name, data in {"a.py": NEW, "b.py": OLD, "c.py": b"mine\n"}.items():
        (folder / name).write_bytes(data)
    journal = WriteAheadLog(tmp_path / "home" / "state", str(folder))
    journal.begin([WriteStep(f"{name}.py", OLD, NEW, (1,)) for name in "abc"], "00ab")
    journal.leave()
    return folder


def journals(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "home" / "state").glob("journal/*"))


def test_the_app_asks_and_shows_all_three_versions(
    start: Callable[..., Terminal], work: Path, tmp_path: Path
) -> None:
    term = start(work, size=(80, 40))
    term.wait_for("Writing 3 files was cut short when duetto ended: write the rest?")
    assert "a.py is new; b.py is old; c.py is neither" in term.text
    term.type("1")
    term.wait_for("c.py changed before it could be written: which text should stay?")
    assert (work / "b.py").read_bytes() == OLD, "all of it at once, when all is chosen"
    term.type("4")
    term.wait_for("+mine")
    term.wait_for("which text should stay?")
    term.type("2")
    term.wait_for("as you chose: a.py, b.py, c.py are new")
    assert [path.read_bytes() for path in sorted(work.iterdir())] == [NEW, NEW, NEW]
    term.leave()
    assert journals(tmp_path) == []


def test_apply_says_it_and_settles_it(piped: Piped, work: Path, tmp_path: Path) -> None:
    patch = tmp_path / "patch"
    patch.write_text("*** Begin Patch\n*** Add File: d.py\n+x\n*** End Patch\n")
    ran = piped("apply", "--root", work, patch)
    assert ran.returncode == 0
    (sentence,) = ran.stderr.strip().split("\n")
    assert sentence == (
        "duetto: writing 3 files was cut short before: a.py is new; b.py is old; c.py is neither,"
        f" somebody changed it since; duetto apply --root {work} --recover finish writes the rest,"
        f" duetto apply --root {work} --recover undo takes it back"
    )
    assert (work / "d.py").read_text() == "x\n"
    ran = piped("apply", "--root", work, "--recover", "undo")
    assert ran.returncode == 1
    assert "c.py: it was changed since" in ran.stderr
    assert ran.stdout.split("\n")[:2] == ["a.py  old again", "b.py  old again"]
    assert (work / "a.py").read_bytes() == OLD
    assert (work / "c.py").read_bytes() == b"mine\n"
    ran = piped("apply", "--root", work, "--recover", "keep")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert piped("apply", "--root", work, "--recover", "keep").stdout == (
        "nothing was cut short here\n"
    )
    assert journals(tmp_path) == []


@pytest.mark.parametrize("arguments", [["--apply"], []])
def test_exec_says_it_where_it_writes(piped: Piped, work: Path, arguments: list[str]) -> None:
    ran = piped("exec", *arguments, "-C", work, "hello")
    assert ("writing 3 files was cut short before" in ran.stderr) is bool(arguments)
    assert (work / "b.py").read_bytes() == OLD
