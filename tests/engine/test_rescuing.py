from __future__ import annotations

import asyncio

from tests.support.fakes import World, settle
from tui.core.unsaved import Unsaved, UnsavedFile
from tui.engine.intents import Dismiss, OpenFile, Prompt, Queue, Restore
from tui.errors import FileRefused

TYPED = UnsavedFile("a.py", b"typed\n", b"old\n")
PATH = "state/rescue/then"
KEPT = Unsaved((TYPED,), "a thought", ("next",), PATH)


class Kept:
    """What was kept, in memory."""

    def __init__(self, *unsaved: Unsaved) -> None:
        self.all = list(unsaved)
        self.refusal = ""
        self.kept_now: list[Unsaved] = []
        """What was handed over, each time."""
        self.failed: list[str] = []

    def jot(self, unsaved: Unsaved) -> None:
        if not self.refusal:
            self.kept_now.append(unsaved)

    def bring(self) -> tuple[str, list[str]]:
        if self.refusal:
            raise FileRefused(self.refusal)
        return "now", self.failed

    def kept(self) -> list[Unsaved]:
        return list(self.all)

    def dismiss(self, folder: str) -> None:
        if self.refusal:
            raise FileRefused(self.refusal)
        self.all = [unsaved for unsaved in self.all if unsaved.folder != folder]


async def started(rescue: Kept, files: dict[str, str | bytes] | None = None) -> World:
    """A session that has looked."""
    world = World({"a.py": "old\n"} if files is None else files)
    world.ports.rescue = rescue
    await world.session.run()
    while not said(world) and rescue.all:
        await asyncio.sleep(0.001)
    await settle()
    return world


def said(world: World) -> str:
    return "\n".join(block.text for block in world.session.transcript.blocks)


async def test_it_is_restored_into_editor_and_prompt_and_nothing_is_written_or_sent() -> None:
    rescue = Kept(KEPT)
    world = await started(rescue)
    session = world.session
    session.submit(Restore())
    assert session.workspace.buffers["a.py"].text() == "typed\n"
    assert session.workspace.is_dirty("a.py")
    assert session.status.active_path == "a.py"
    assert session.status.unsent == "next\n\na thought"
    assert not session.status.busy
    assert session.status.queued == []
    assert world.files.writes == []
    assert rescue.all == []
    assert rescue.kept_now == [Unsaved((TYPED,), "next\n\na thought")]
    session.workspace.undo("a.py")
    assert session.workspace.buffers["a.py"].text() == "old\n"
    await session.close()


async def test_what_another_duetto_has_taken_is_not_brought_back_twice() -> None:
    rescue = Kept(KEPT)
    world = await started(rescue)
    rescue.all.clear()
    world.session.submit(Restore())
    assert world.session.workspace.buffers == {}
    assert "another duetto" in world.session.drain().troubles[-1].next_step


async def test_one_after_the_other() -> None:
    older = Unsaved(draft="older", folder="older")
    rescue = Kept(KEPT, older)
    world = await started(rescue)
    world.session.submit(Restore())
    assert rescue.all == [older]
    assert "is kept in older" in said(world)
    world.session.submit(Dismiss())
    assert rescue.all == []
    world.session.submit(Dismiss())
    assert "Nothing was rescued" in world.session.drain().troubles[-1].what


async def test_what_cannot_be_restored_stays_where_it_is() -> None:
    lost = UnsavedFile("bin", b"typed", None)
    rescue = Kept(Unsaved((lost, TYPED), folder=PATH))
    world = await started(rescue, {"a.py": "old\n", "bin": b"\0\0"})
    world.session.submit(Restore())
    trouble = world.session.drain().troubles[-1]
    assert "binary" in trouble.why
    assert PATH in trouble.next_step
    assert world.session.workspace.buffers["a.py"].text() == "typed\n"
    assert len(rescue.all) == 1


async def test_what_cannot_be_restored_is_not_in_the_way_of_the_others() -> None:
    older = Unsaved((TYPED,), folder="older")
    rescue = Kept(Unsaved((UnsavedFile("bin", b"typed", None),), folder=PATH), older)
    world = await started(rescue, {"a.py": "old\n", "bin": b"\0\0"})
    world.session.submit(Restore())
    assert "is kept in older" in said(world)
    world.session.submit(Restore())
    assert world.session.workspace.buffers["a.py"].text() == "typed\n"
    assert [unsaved.folder for unsaved in rescue.all] == [PATH]
    assert said(world).rindex(f"is kept in {PATH}") > said(world).rindex("is kept in older")


async def test_the_kept_copy_stays_until_there_is_another_one() -> None:
    rescue = Kept(KEPT)
    world = await started(rescue)
    rescue.failed = ["files/a.py: the disk is full"]
    world.session.submit(Restore())
    assert rescue.all == [KEPT]
    assert world.session.workspace.buffers["a.py"].text() == "typed\n"
    trouble = world.session.drain().troubles[-1]
    assert (trouble.what, trouble.why) == ("The rescued text is still kept", rescue.failed[0])


async def test_a_file_that_changed_since_is_pointed_at() -> None:
    world = await started(Kept(KEPT), {"a.py": "theirs\n"})
    world.session.submit(Restore())
    assert world.session.drain().troubles[-1].what == "Look through a.py"
    assert world.session.workspace.buffers["a.py"].text() == "typed\n"


async def test_what_is_not_removed_is_told() -> None:
    rescue = Kept(KEPT)
    world = await started(rescue)
    rescue.refusal = "read-only"
    world.session.submit(Dismiss())
    assert world.session.drain().troubles[-1].why == "read-only"


async def test_all_that_would_be_lost() -> None:
    world = World({"a.py": "old\n", "b.py": "b\n"})
    session = world.session
    for path in ("a.py", "b.py"):
        session.submit(OpenFile(path))
    session.workspace.edit("a.py", (0, 0), (0, 3), "typed")
    session.status.queued = ["next"]
    assert session.unsaved("a thought") == Unsaved((TYPED,), "a thought", ("next",))


async def test_a_prompt_that_waits_for_the_socket_would_be_lost_too() -> None:
    world = World()
    world.session.submit(Prompt("hello"))
    world.session.submit(Queue("later"))
    assert world.session.unsaved("").queued == ("hello", "later")
    await world.wire.request(1)
    assert world.session.unsaved("").queued == ("later",)
