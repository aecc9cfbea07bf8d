from __future__ import annotations

import pytest

from tests.support.fakes import World, settle
from tui.core.edits.hunk import Decision, Stage
from tui.core.edits.patches.landing import Landing
from tui.core.file_read import MAX_BYTES
from tui.engine import intents
from tui.engine.catalogue import NOT_KNOWN
from tui.engine.session import Options

TEXT = "one\ntwo\nthree\nfour\nfive\n"


def patch(path: str, old: str, new: str) -> str:
    return f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch\n"


def land(world: World, text: str, turn: int = 1) -> None:
    landing = Landing(world.session.workspace, turn=turn, call_id=f"call_{turn}")
    landing.feed(text)
    landing.finish(cut=False)


def decisions(world: World) -> list[Decision]:
    return [hunk.decision for hunk in world.session.workspace.hunks]


async def test_accept_writes_what_was_accepted_only() -> None:
    world = World({"a.py": TEXT})
    land(world, patch("a.py", "two", "TWO"))
    land(world, patch("a.py", "four", "FOUR"), turn=2)
    world.session.submit(intents.Accept((1,)))
    assert world.files.data["a.py"] == TEXT.replace("two", "TWO").encode()
    assert "FOUR" in world.session.workspace.buffers["a.py"].text()
    assert world.session.drain().hunks
    world.session.submit(intents.Accept())
    assert b"FOUR" in world.files.data["a.py"]


async def test_manual_saving_waits_for_the_user() -> None:
    world = World({"a.py": TEXT}, options=Options(save="manual"))
    land(world, patch("a.py", "two", "TWO"))
    world.session.submit(intents.Accept())
    assert world.files.data["a.py"] == TEXT.encode()
    world.session.submit(intents.SaveFile("a.py"))
    assert b"TWO" in world.files.data["a.py"]


async def test_reject_puts_the_old_text_back() -> None:
    world = World({"a.py": TEXT})
    land(world, patch("a.py", "two", "TWO"))
    world.session.submit(intents.Reject(words="keep it"))
    assert world.session.workspace.buffers["a.py"].text() == TEXT
    assert world.session.workspace.hunks[0].words == "keep it"
    assert world.files.data["a.py"] == TEXT.encode()


async def test_a_refused_write_leaves_the_hunk_pending() -> None:
    world = World({"a.py": TEXT})
    land(world, patch("a.py", "two", "TWO"))
    world.files.read_only.add("a.py")
    world.session.submit(intents.Accept())
    assert decisions(world) == [Decision.PENDING]
    assert "read-only" in world.session.drain().troubles[0].why
    world.files.read_only.clear()
    world.session.submit(intents.Accept())
    assert decisions(world) == [Decision.ACCEPTED]
    assert b"TWO" in world.files.data["a.py"]


async def test_undoing_the_turn_restores_every_byte() -> None:
    world = World({"a.py": TEXT, "b.py": "x\n"})
    text = patch("a.py", "two", "TWO").replace(
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


async def test_a_change_outside_is_taken_over_and_an_echo_is_not() -> None:
    world = World({"a.py": TEXT})
    await world.session.run()
    world.session.submit(intents.OpenFile("a.py"))
    buffer = world.session.workspace.buffers["a.py"]
    revision = buffer.revision
    for _ in range(1):
        await settle()
    assert world.outside is not None
    world.outside({"a.py"})
    assert buffer.revision == revision
    world.files.data["a.py"] = TEXT.replace("five", "FIVE").encode()
    world.outside({"a.py"})
    assert "FIVE" in world.session.workspace.buffers["a.py"].text()
    assert "a.py" in world.session.drain().buffers
    await world.session.close()


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
    await world.session.run()
    await settle()
    world.session.submit(intents.OpenFile("a.py"))
    world.session.workspace.edit("a.py", (1, 0), (1, 3), "mine")
    world.files.data["a.py"] = TEXT.replace("two", "theirs").encode()
    assert world.outside is not None
    world.outside({"a.py"})


ASKING = Options(ask=True, conversation="c")


async def test_the_user_is_asked_once_which_text_is_to_stay() -> None:
    world = World({"a.py": TEXT}, options=ASKING)
    await conflict(world)
    session = world.session
    session.submit(intents.SaveFile("a.py"))
    (ask,) = session.status.asks
    assert ask.question == "a.py changed on disk: keep mine / take theirs"
    session.submit(intents.Answer(ask.id, ask.choices[0]))
    await settle()
    assert world.files.data["a.py"] == TEXT.replace("two", "mine").encode()
    assert not session.status.asks
    assert not session.workspace.conflicts
    await session.close()


async def test_theirs_can_be_taken_and_nothing_is_lost() -> None:
    world = World({"a.py": TEXT}, options=ASKING)
    await conflict(world)
    session = world.session
    (ask,) = session.status.asks
    session.submit(intents.Answer(ask.id, ask.choices[1]))
    await settle()
    assert session.workspace.buffers["a.py"].text() == TEXT.replace("two", "theirs")
    session.workspace.undo("a.py")
    assert session.workspace.buffers["a.py"].text() == TEXT.replace("two", "mine")
    assert world.files.data["a.py"] == TEXT.replace("two", "theirs").encode()
    await session.close()


async def test_deciding_later_leaves_both_and_saving_asks_again() -> None:
    world = World({"a.py": TEXT}, options=ASKING)
    await conflict(world)
    session = world.session
    session.submit(intents.Answer(session.status.asks[0].id, "whatever"))
    await settle()
    assert not session.status.asks
    assert b"theirs" in world.files.data["a.py"]
    assert "mine" in session.workspace.buffers["a.py"].text()
    session.submit(intents.SaveFile("a.py"))
    assert len(session.status.asks) == 1
    assert b"theirs" in world.files.data["a.py"]
    await session.close()


async def test_the_question_goes_when_the_disk_goes_back() -> None:
    world = World({"a.py": TEXT}, options=ASKING)
    await conflict(world)
    world.files.data["a.py"] = TEXT.encode()
    assert world.outside is not None
    world.outside({"a.py"})
    await settle()
    assert not world.session.status.asks
    await world.session.close()


async def test_a_file_deleted_on_disk_is_made_again_only_when_the_user_says_so() -> None:
    world = World({"a.py": TEXT}, options=ASKING)
    await conflict(world)
    session = world.session
    session.submit(intents.Answer(session.status.asks[0].id, "later"))
    await settle()
    del world.files.data["a.py"]
    session.submit(intents.SaveFile("a.py"))
    assert "a.py" not in world.files.data
    assert "was deleted on disk" in session.drain().troubles[-1].why
    (ask,) = session.status.asks
    assert ask.question == "a.py was deleted on disk: keep mine?"
    session.submit(intents.Answer(ask.id, ask.choices[0]))
    await settle()
    assert b"mine" in world.files.data["a.py"]
    await session.close()


async def test_accepting_never_overwrites_what_changed_on_disk() -> None:
    world = World({"a.py": TEXT})
    land(world, patch("a.py", "two", "TWO"))
    land(world, patch("a.py", "four", "FOUR"), turn=2)
    world.files.data["a.py"] = TEXT.replace("two", "theirs").encode()
    await world.session.run()
    await settle()
    assert world.outside is not None
    world.outside({"a.py"})
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
    await world.session.close()


async def test_ambiguous_sections_wait_for_the_user_where_there_is_one() -> None:
    for ask, stage in ((True, Stage.CANDIDATES), (False, Stage.REFUSED)):
        world = World({"a.py": "x\ny\nx\n"}, options=Options(ask=ask))
        land(world, patch("a.py", "x", "X"))
        assert [hunk.stage for hunk in world.session.workspace.hunks] == [stage]
        world.session.submit(intents.Place(1, 2))
        assert world.session.workspace.buffers["a.py"].text() == "x\ny\nX\n"


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


@pytest.mark.parametrize(
    "alias", ["tests/../src/a.py", "./src/a.py", "src\\a.py", "/workspace/src/a.py"]
)
async def test_a_file_has_one_name_however_it_was_opened(alias: str) -> None:
    world = World({"src/a.py": TEXT})
    session = world.session
    session.submit(intents.OpenFile(alias, 1, 0))
    assert session.status.open_paths == ["src/a.py"]
    assert session.status.active_path == "src/a.py"
    assert session.drain().goto == ("src/a.py", 1, 0)
    session.workspace.edit("src/a.py", (0, 0), (0, 0), "mine ")
    session.submit(intents.SaveFile(session.status.active_path))
    assert world.files.data["src/a.py"].startswith(b"mine one")


async def test_saving_a_file_that_is_not_open_is_told() -> None:
    world = World({"a.py": TEXT})
    world.session.submit(intents.SaveFile("b/../a.py"))
    (trouble,) = world.session.drain().troubles
    assert trouble.what == "b/../a.py was not saved"
    assert not world.files.writes


async def test_a_move_is_accepted_whole_or_not_at_all() -> None:
    world = World({"m.txt": TEXT})
    moved = patch("m.txt", "two", "TWO").replace("@@", "*** Move to: n.txt\n@@", 1)
    land(world, moved)
    world.files.data["m.txt"] = b"somebody else\n"
    world.session.submit(intents.Accept())
    assert world.files.data == {"m.txt": b"somebody else\n"}
    assert Decision.ACCEPTED not in decisions(world)
    trouble = world.session.drain().troubles[0]
    assert trouble.what == "m.txt was not written"
    assert trouble.next_step == "nothing was written, the hunks stay pending"


async def test_several_files_are_accepted_together_or_not_at_all() -> None:
    world = World({"a.py": TEXT, "b.py": TEXT})
    both = patch("a.py", "two", "TWO").replace("*** End Patch\n", "")
    land(world, both + patch("b.py", "four", "FOUR").replace("*** Begin Patch\n", ""))
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
    world = World({"a.py": TEXT}, options=Options(save="manual"))
    session = world.session
    land(world, patch("a.py", "two", "TWO"))
    session.submit(intents.Accept())
    session.workspace.edit("a.py", (4, 0), (4, 0), "mine ")
    session.submit(intents.UndoTurn())
    assert session.workspace.buffers["a.py"].text() == TEXT.replace("five", "mine five")
    assert not world.files.writes


async def test_taking_a_saved_turn_back_restores_the_disk_where_nothing_else_is_unsaved() -> None:
    world = World({"a.py": TEXT}, options=Options(save="manual"))
    session = world.session
    land(world, patch("a.py", "two", "TWO"))
    session.submit(intents.Accept())
    session.submit(intents.SaveFile("a.py"))
    assert b"TWO" in world.files.data["a.py"]
    session.submit(intents.UndoTurn())
    assert world.files.data["a.py"] == TEXT.encode()


async def ignoring(world: World) -> None:
    """From now on notes.txt is ignored, as far as the files know."""
    await world.session.run()
    await settle()
    assert await why_private(world) == ""
    world.files.private = {"notes.txt": "it is ignored"}


async def why_private(world: World) -> str:
    await world.session._desk.catalogue.prepare(["notes.txt"])
    return world.session._desk.privacy("notes.txt")


async def test_what_a_saved_ignore_file_says_holds_at_once() -> None:
    world = World({".gitignore": "x\n", "notes.txt": TEXT})
    await ignoring(world)
    world.session.submit(intents.OpenFile(".gitignore"))
    world.session.workspace.edit(".gitignore", (0, 0), (0, 1), "notes.txt")
    world.session.submit(intents.SaveFile(".gitignore"))
    assert world.session._desk.privacy("notes.txt") == NOT_KNOWN
    assert await why_private(world) == "it is ignored"
    await world.session.close()


async def test_what_an_ignore_file_says_that_changed_outside_holds_at_once() -> None:
    world = World({".ignore": "x\n", "notes.txt": TEXT})
    world.session.submit(intents.OpenFile(".ignore"))
    await ignoring(world)
    world.files.data[".ignore"] = b"notes.txt\n"
    assert world.outside is not None
    world.outside({".ignore"})
    assert world.session._desk.privacy("notes.txt") == NOT_KNOWN
    assert await why_private(world) == "it is ignored"
    await world.session.close()


async def test_a_file_that_cannot_be_read_any_more_is_told_once() -> None:
    world = World({"a.py": TEXT})
    await world.session.run()
    await settle()
    session = world.session
    session.submit(intents.OpenFile("a.py"))
    del world.files.data["a.py"]
    world.files.data["a.py/b"] = b""
    assert world.outside is not None
    world.outside({"a.py"})
    world.outside({"a.py"})
    (trouble,) = session.drain().troubles
    assert (trouble.what, trouble.why) == ("a.py cannot be read any more", "it is a folder")
    assert session.workspace.is_dirty("a.py")
    session.submit(intents.SaveFile("a.py"))
    (trouble,) = session.drain().troubles
    assert trouble.why == "it is a folder"
    assert session.workspace.buffers["a.py"].text() == TEXT
    await session.close()


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
