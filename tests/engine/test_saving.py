from __future__ import annotations

from tests.support.fakes import World
from tests.support.turns import land, update
from tui.core.document.hunk import Decision
from tui.core.files import MAX_BYTES
from tui.engine import intents
from tui.engine.session import SessionOptions

TEXT = "one\ntwo\nthree\nfour\nfive\n"


def decisions(world: World) -> list[Decision]:
    return [hunk.decision for hunk in world.session.workspace.hunks]


async def test_accept_writes_what_was_accepted_only() -> None:
    world = World({"a.py": TEXT})
    land(world, update("a.py", "-two", "+TWO"))
    land(world, update("a.py", "-four", "+FOUR"), turn=2)
    world.session.submit(intents.Accept((1,)))
    assert world.files.data["a.py"] == TEXT.replace("two", "TWO").encode()
    assert "FOUR" in world.session.workspace.buffers["a.py"].text()
    assert world.session.drain().hunks
    world.session.submit(intents.Accept())
    assert b"FOUR" in world.files.data["a.py"]


async def test_manual_saving_waits_for_the_user() -> None:
    world = World({"a.py": TEXT}, options=SessionOptions(save="manual"))
    land(world, update("a.py", "-two", "+TWO"))
    world.session.submit(intents.Accept())
    assert world.files.data["a.py"] == TEXT.encode()
    world.session.submit(intents.SaveFile("a.py"))
    assert b"TWO" in world.files.data["a.py"]


async def test_undoing_the_turn_restores_every_byte() -> None:
    world = World({"a.py": TEXT, "b.py": "x\n"})
    text = update("a.py", "-two", "+TWO").replace(
        "*** End Patch", "*** Add File: new.py\n+hello\n*** Delete File: b.py\n*** End Patch"
    )
    before = dict(world.files.data)
    land(world, text)
    world.session.submit(intents.Accept())
    assert set(world.files.data) == {"a.py", "new.py"}
    world.session.submit(intents.UndoTurn())
    assert world.files.data == before
    world.session.submit(intents.UndoTurn())
    assert world.session.drain().troubles


async def test_contradicting_changes_block_saving_until_forced() -> None:
    world = World({"a.py": TEXT})
    session = world.session
    session.submit(intents.OpenFile("a.py"))
    session.workspace.edit("a.py", (1, 0), (1, 3), "mine")
    world.files.data["a.py"] = TEXT.replace("two", "theirs").encode()
    session.submit(intents.SaveFile("a.py"))
    assert b"theirs" in world.files.data["a.py"]
    assert session.drain().troubles
    session.submit(intents.SaveFile("a.py", force=True))
    assert b"mine" in world.files.data["a.py"]


async def conflict(world: World) -> None:
    await world.runs()
    world.session.submit(intents.OpenFile("a.py"))
    world.session.workspace.edit("a.py", (1, 0), (1, 3), "mine")
    world.files.data["a.py"] = TEXT.replace("two", "theirs").encode()
    world.changed_outside("a.py")


ASKING = SessionOptions(ask=True, conversation="c")


async def test_the_user_is_asked_once_which_text_is_to_stay() -> None:
    world = World({"a.py": TEXT}, options=ASKING)
    await conflict(world)
    session = world.session
    session.submit(intents.SaveFile("a.py"))
    (ask,) = session.status.asks
    assert ask.question == "a.py changed on disk: keep mine / take theirs"
    await world.answers(0)
    assert world.files.data["a.py"] == TEXT.replace("two", "mine").encode()
    assert not session.status.asks
    assert not session.workspace.conflicts


async def test_theirs_can_be_taken_and_nothing_is_lost() -> None:
    world = World({"a.py": TEXT}, options=ASKING)
    await conflict(world)
    session = world.session
    await world.answers(1)
    assert session.workspace.buffers["a.py"].text() == TEXT.replace("two", "theirs")
    session.workspace.undo("a.py")
    assert session.workspace.buffers["a.py"].text() == TEXT.replace("two", "mine")
    assert world.files.data["a.py"] == TEXT.replace("two", "theirs").encode()


async def test_a_file_deleted_on_disk_is_made_again_only_when_the_user_says_so() -> None:
    world = World({"a.py": TEXT}, options=ASKING)
    await conflict(world)
    session = world.session
    await world.answers("later")
    del world.files.data["a.py"]
    session.submit(intents.SaveFile("a.py"))
    assert "a.py" not in world.files.data
    assert "was deleted on disk" in session.drain().troubles[-1].why
    (ask,) = session.status.asks
    assert ask.question == "a.py was deleted on disk: keep mine?"
    await world.answers(0)
    assert b"mine" in world.files.data["a.py"]


async def test_accepting_never_overwrites_what_changed_on_disk() -> None:
    world = World({"a.py": TEXT})
    land(world, update("a.py", "-two", "+TWO"))
    land(world, update("a.py", "-four", "+FOUR"), turn=2)
    world.files.data["a.py"] = TEXT.replace("two", "theirs").encode()
    await world.runs()
    world.changed_outside("a.py")
    world.session.submit(intents.Accept((2,)))
    assert world.files.data["a.py"] == TEXT.replace("two", "theirs").encode()
    assert decisions(world) == [Decision.PENDING, Decision.PENDING]
    world.session.submit(intents.Reload("a.py"))
    assert decisions(world) == [Decision.REJECTED, Decision.REJECTED]
    assert [hunk.agent for hunk in world.session.workspace.hunks if hunk.is_out] == [
        "TWO\n",
        "FOUR\n",
    ]
    world.session.submit(intents.SaveFile("a.py"))
    assert world.files.data["a.py"] == TEXT.replace("two", "theirs").encode()


async def test_tabs() -> None:
    world = World({"a.py": TEXT, "b.py": "", "bin": b"\0"})
    session = world.session
    session.submit(intents.OpenFile("a.py", 2, 1))
    session.submit(intents.OpenFile("b.py"))
    assert session.status.open_paths == ["a.py", "b.py"]
    assert session.status.active_path == "b.py"
    assert session.drain().goto == ("a.py", 2, 1)
    session.submit(intents.CloseFile("b.py"))
    assert session.status.active_path == "a.py"
    session.submit(intents.OpenFile("bin"))
    session.submit(intents.OpenFile("gone.py"))
    assert session.status.open_paths == ["a.py", "bin"]
    assert len(session.drain().troubles) == 2
    session.cursor("a.py", (1, 1))


async def test_saving_a_file_that_is_not_open_is_told() -> None:
    world = World({"a.py": TEXT})
    world.session.submit(intents.SaveFile("b/../a.py"))
    (trouble,) = world.session.drain().troubles
    assert trouble.what == "b/../a.py was not saved"
    assert not world.files.writes


async def test_several_files_are_accepted_together_or_not_at_all() -> None:
    world = World({"a.py": TEXT, "b.py": TEXT})
    both = update("a.py", "-two", "+TWO").replace("*** End Patch\n", "")
    land(world, both + update("b.py", "-four", "+FOUR").replace("*** Begin Patch\n", ""))
    before = dict(world.files.data)
    world.files.read_only.add("b.py")
    world.session.submit(intents.Accept())
    assert world.files.data == before
    assert decisions(world) == [Decision.PENDING, Decision.PENDING]
    world.files.read_only.clear()
    world.session.submit(intents.Accept())
    assert b"TWO" in world.files.data["a.py"]
    assert b"FOUR" in world.files.data["b.py"]


async def test_taking_a_turn_back_saves_nothing_of_the_users_where_saving_is_theirs() -> None:
    world = World({"a.py": TEXT}, options=SessionOptions(save="manual"))
    session = world.session
    land(world, update("a.py", "-two", "+TWO"))
    session.submit(intents.Accept())
    session.workspace.edit("a.py", (4, 0), (4, 0), "mine ")
    session.submit(intents.UndoTurn())
    assert session.workspace.buffers["a.py"].text() == TEXT.replace("five", "mine five")
    assert not world.files.writes


async def test_a_text_that_could_not_be_opened_again_is_not_written() -> None:
    world = World({"a.py": TEXT})
    world.session.submit(intents.OpenFile("a.py"))
    world.session.workspace.edit("a.py", (0, 0), (0, 0), "x" * MAX_BYTES)
    world.session.submit(intents.SaveFile("a.py"))
    (trouble,) = world.session.drain().troubles
    assert "larger than 8 MB" in trouble.why
    assert not trouble.next_step, "no hunk is pending"
    world.session.workspace.edit("a.py", (0, 0), (0, MAX_BYTES), "y")
    world.session.submit(intents.SaveFile("a.py"))
    assert world.files.data["a.py"].startswith(b"yone")
