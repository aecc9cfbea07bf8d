"""What an earlier duetto did not write to the end: asked about, and done as the user says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fakes import World, settle
from tui.core.document.unfinished_writes import WriteStep
from tui.effects.files import Files
from tui.effects.listing import Listing
from tui.effects.write_ahead_log import WriteAheadLog
from tui.engine import intents
from tui.engine.session import Session, SessionOptions
from tui.engine.unfinished import (
    FINISH,
    KEEP,
    KEEP_DISK,
    LATER,
    PUT_OLD,
    SHOW,
    UNDO,
    WRITE_NEW,
    look,
)

pytestmark = pytest.mark.case("H08")
OLD, NEW = b"one\ntwo\nthree\n", b"one\nTWO\nthree\n"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Of three files the first is new, and a folder was made for the third."""
    folder = tmp_path / "work"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.py").write_bytes(NEW)
    (folder / "b.py").write_bytes(OLD)
    journal = WriteAheadLog(tmp_path / "state", str(folder))
    (folder / ".duetto-00ab-1.tmp").write_bytes(b"half")
    steps = [
        WriteStep("a.py", OLD, NEW, (1,)),
        WriteStep("b.py", OLD, NEW, (2,)),
        WriteStep("sub/c.py", None, NEW, (3,), ("sub",)),
    ]
    journal.begin(steps, "00ab")
    journal.over(["b.py"])
    journal.leave()
    return folder


def journal_of(work: Path) -> WriteAheadLog:
    return WriteAheadLog(work.parent / "state", str(work))


async def begun(work: Path, *, ask: bool = True) -> Session:
    """The next duetto, which has looked."""
    world = World()
    ports = world.ports
    ports.files, ports.journal = Files(work, Listing(work)), journal_of(work)
    ports.watch = None
    session = Session(ports, world.roles, SessionOptions(ask=ask))
    await session.run()
    await settle()
    return session


async def answer(session: Session, choice: str) -> str:
    """Answer the one question; returns it with what is said beside it."""
    (ask,) = session.status.asks
    assert choice in ask.choices
    session.submit(intents.Answer(ask.id, choice))
    await settle()
    return f"{ask.question} {ask.detail}"


def lying(work: Path) -> dict[str, bytes]:
    files = [path for path in work.rglob("*") if path.is_file()]
    return {path.relative_to(work).as_posix(): path.read_bytes() for path in files}


async def test_it_is_taken_back_with_its_folders(work: Path) -> None:
    session = await begun(work)
    await answer(session, UNDO)
    assert lying(work) == {"a.py": OLD, "b.py": OLD}
    assert not (work / "sub").exists()
    await session.close()
    assert journal_of(work).unfinished() == []


@pytest.mark.parametrize(("choice", "again"), [(KEEP, 0), (LATER, 1)])
async def test_it_may_stay_as_it_is(work: Path, choice: str, again: int) -> None:
    session = await begun(work)
    await answer(session, choice)
    assert lying(work) == {"a.py": NEW, "b.py": OLD}
    await session.close()
    session = await begun(work)
    assert len(session.status.asks) == again


async def test_temporary_files_are_swept_up_and_those_of_others_are_not(work: Path) -> None:
    (work / ".duetto-00cd-1.tmp").write_bytes(b"another duetto's")
    await begun(work)
    assert not (work / ".duetto-00ab-1.tmp").exists()
    assert (work / ".duetto-00cd-1.tmp").exists()


def test_half_a_file_of_a_settling_is_remembered_until_it_is_put_right(work: Path) -> None:
    journal, disk = journal_of(work), Files(work, Listing(work))
    (one,) = journal.unfinished()
    with journal.settling(one.name):
        journal.begin([WriteStep("b.py", OLD, NEW, (2,))], "00cd")
        journal.over(["b.py"])
        journal.leave()
        journal.forget(one.name)
    (work / "b.py").write_bytes(b"one\nTwo\nthree\n")
    for mode in (0o444, 0o644):
        (work / "b.py").chmod(mode)
        journal = journal_of(work)
        assert look(disk, journal, journal.unfinished()) == []
        journal.leave()
    assert (work / "b.py").read_bytes() == OLD
    assert journal_of(work).unfinished() == []


@pytest.mark.parametrize(
    ("choice", "text"), [(KEEP_DISK, b"mine\n"), (WRITE_NEW, NEW), (PUT_OLD, OLD)]
)
async def test_of_a_file_that_was_changed_since_there_are_three_versions(
    work: Path, choice: str, text: bytes
) -> None:
    (work / "b.py").write_bytes(b"mine\n")
    session = await begun(work)
    assert "b.py is neither, somebody changed it since" in await answer(session, FINISH)
    assert "which text should stay?" in await answer(session, SHOW)
    (shown,) = [block.text for block in session.transcript.blocks]
    for line in ("+++ b.py (accepted)", "-two", "+TWO", "+++ b.py (on the disk)", "+mine"):
        assert line in shown.split("\n")
    await answer(session, choice)
    assert lying(work) == {"a.py": NEW, "b.py": text, "sub/c.py": NEW}
    await session.close()
    assert journal_of(work).unfinished() == []


async def test_a_file_half_written_in_place_is_old_again(work: Path) -> None:
    (work / "b.py").unlink()
    (work / "other.py").write_bytes(b"one\nTwo\nthree\n")
    (work / "b.py").hardlink_to(work / "other.py")
    session = await begun(work)
    assert (work / "b.py").read_bytes() == (work / "other.py").read_bytes() == OLD
    assert "a.py is new; b.py, sub/c.py are old." in await answer(session, UNDO)


async def test_what_cannot_be_written_is_told_and_asked_again(work: Path) -> None:
    session = await begun(work)
    (work / "b.py").write_bytes(b"changed while the question stood\n")
    await answer(session, FINISH)
    (trouble,) = session.drain().troubles
    assert trouble.what == "b.py was not written"
    assert trouble.why == "'b.py' was changed on disk by another program"
    assert lying(work)["b.py"] == b"changed while the question stood\n"
    assert lying(work)["a.py"] == NEW
    assert "sub/c.py" not in lying(work), "all of it, or nothing"
    assert len(journal_of(work).unfinished()) == 1


async def test_an_open_file_shows_what_was_chosen(work: Path) -> None:
    session = await begun(work)
    session.submit(intents.OpenFile("b.py"))
    await answer(session, FINISH)
    assert session.workspace.buffers["b.py"].text() == NEW.decode()
    assert not session.workspace.is_dirty("b.py")


async def test_where_nobody_can_be_asked_it_is_said(work: Path) -> None:
    session = await begun(work, ask=False)
    (trouble,) = session.drain().troubles
    assert trouble.what == (
        "writing 3 files was cut short before: a.py is new; b.py, sub/c.py are old"
    )
    assert trouble.severity == "warning"
    assert len(journal_of(work).unfinished()) == 1
