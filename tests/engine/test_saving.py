from __future__ import annotations

from tests.support.fakes import World, settle
from tui.core.hunk import Decision
from tui.core.landing import Landing
from tui.engine import intents
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
    assert session.status.open_paths == ["a.py"]
    assert len(session.drain().troubles) == 2
    session.cursor("a.py", (1, 1))
