"""What others do to files while duetto runs: taken over, merged, followed, or asked about."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from tests.support.fakes import FakeClock, MemoryFiles, World, settle
from tests.support.tables import each
from tests.support.turns import begun, land, update
from tui.core.document.hunk import Stage
from tui.core.files import FileRead, FolderEntry, GitState
from tui.core.patches.landing import Landing
from tui.engine import intents
from tui.engine.disk_changes import FOLLOW, PAUSE_S, SHOW_DIFF, STAY, TURN_S, entries_below
from tui.engine.session import Session, SessionOptions
from tui.errors import FileRefused

TEXT = "one\ntwo\nthree\nfour\nfive\n"


async def watched(files: dict[str, str], *, ask: bool = True) -> World:
    """A world whose watcher has begun."""
    world = World(files, options=SessionOptions(ask=ask))
    await world.runs()
    return world


def text_of(world: World, path: str = "a.py") -> str:
    return world.session.workspace.buffers[path].text()


@pytest.mark.case("G07")
async def test_the_difference_is_shown_and_the_question_stays() -> None:
    world = await watched({"a.py": TEXT})
    session = world.session
    session.submit(intents.OpenFile("a.py"))
    session.workspace.edit("a.py", (1, 0), (1, 3), "TWO")
    world.files.data["a.py"] = TEXT.replace("two", "2").encode()
    world.changed_outside("a.py")
    (ask,) = session.status.asks
    session.drain()
    await world.answers(SHOW_DIFF)
    assert session.drain().diff == ("a.py", "disk")
    (again,) = session.status.asks
    assert again.question == ask.question


@each(
    "written, after",
    [
        ("one\n2\n3\nfour\nfive\n", "one\n2\n3\nfour\nfive\n"),
        ("1\n2\n3\nfour\nfive\n", "1\n2\n3\nfour\nfive\n"),
        ("one\nTWO extra\nthree\nfour\nfive\n", "one\nTWO extra\nthree\nfour\nfive\n"),
        ("eins\nTWO\ndrei\nfour\nfive\n", "eins\ntwo\ndrei\nfour\nfive\n"),
    ],
)
async def test_undo_of_an_accept_loses_nothing_that_another_program_wrote_there_since(
    written: str, after: str
) -> None:
    world = await watched({"a.py": TEXT})
    session = world.session
    session.submit(intents.OpenFile("a.py"))
    land(world, update("a.py", "-two", "+TWO"))
    session.submit(intents.Accept((1,)))
    await settle()
    world.files.data["a.py"] = written.encode()
    world.changed_outside("a.py")
    await settle()
    session.drain()
    session.submit(intents.UndoDecision())
    await settle()
    assert world.files.data["a.py"].decode() == after
    (trouble,) = session.drain().troubles
    assert (trouble.what == "Not undone") is (written == after)


async def test_rejecting_the_hunk_that_conflicts_with_the_disk_ends_the_question() -> None:
    world = await watched({"a.py": TEXT})
    session = world.session
    session.submit(intents.OpenFile("a.py"))
    land(world, update("a.py", "-two", "+TWO"))
    land(world, update("a.py", "-five", "+FIVE"), turn=2)
    world.files.data["a.py"] = TEXT.replace("two", "2").encode()
    world.changed_outside("a.py")
    assert session.status.asks
    session.submit(intents.Reject((session.workspace.hunks[0].id,)))
    await settle()
    assert not session.status.asks
    assert text_of(world) == TEXT.replace("two", "2").replace("five", "FIVE")
    session.submit(intents.Accept())
    assert world.files.data["a.py"] == text_of(world).encode()


async def test_taking_back_what_was_typed_ends_the_question_at_the_save() -> None:
    world = await watched({"a.py": TEXT})
    session = world.session
    session.submit(intents.OpenFile("a.py"))
    session.workspace.edit("a.py", (1, 0), (1, 3), "TWO")
    world.files.data["a.py"] = TEXT.replace("two", "2").encode()
    world.changed_outside("a.py")
    session.workspace.undo("a.py")
    session.submit(intents.SaveFile("a.py"))
    await settle()
    assert not session.status.asks
    assert not session.drain().troubles
    assert text_of(world) == TEXT.replace("two", "2")


async def moved(world: World) -> None:
    """The open file goes to another name, edited and with a hunk in it."""
    world.session.submit(intents.OpenFile("a.py", 3, 1))
    world.session.cursor("a.py", (3, 1))
    world.session.workspace.edit("a.py", (4, 0), (4, 0), "my ")
    land(world, update("a.py", "-two", "+TWO"))
    world.files.data["sub/b.py"] = world.files.data.pop("a.py")
    world.files.data["c.py"] = b"something else\n"
    world.changed_outside("a.py", "sub/b.py", "c.py")


async def test_a_file_that_was_moved_is_followed_with_all_that_is_in_it() -> None:
    world = await watched({"a.py": TEXT})
    await moved(world)
    session, workspace = world.session, world.session.workspace
    (ask,) = session.status.asks
    assert ask.question == "a.py was moved to sub/b.py: follow it?"
    await world.answers(FOLLOW)
    (note,) = session.transcript.blocks
    assert (note.turn, note.text) == (0, "a.py was moved to sub/b.py: it is edited there now")
    assert session.status.open_paths == ["sub/b.py"]
    assert session.status.active_path == "sub/b.py"
    assert session.drain().goto == ("sub/b.py", 3, 1)
    assert text_of(world, "sub/b.py") == TEXT.replace("two", "TWO").replace("five", "my five")
    assert "a.py" not in workspace.buffers
    assert not workspace.conflicts
    assert workspace.is_dirty("sub/b.py")
    session.submit(intents.Accept())
    assert set(world.files.data) == {"sub/b.py", "c.py"}
    assert b"TWO" in world.files.data["sub/b.py"]
    workspace.undo("sub/b.py")
    assert "my" not in text_of(world, "sub/b.py")
    session.submit(intents.UndoTurn())
    assert text_of(world, "sub/b.py") == TEXT


async def test_a_file_that_was_moved_may_stay() -> None:
    world = await watched({"a.py": TEXT})
    await moved(world)
    session = world.session
    await world.answers(STAY)
    assert "my five" in text_of(world, "a.py")
    assert world.files.data["sub/b.py"] == TEXT.encode()
    session.submit(intents.SaveFile("a.py"))
    assert "a.py" not in world.files.data, "it is not made again without being asked"
    assert session.status.asks[0].question == "a.py was deleted on disk: keep your text?"


@each("places", [0, 2])
async def test_where_it_went_is_not_guessed(places: int) -> None:
    world = await watched({"a.py": TEXT})
    world.session.submit(intents.OpenFile("a.py"))
    data = world.files.data.pop("a.py")
    names = [f"copy{number}.py" for number in range(places)]
    world.files.data |= dict.fromkeys(names, data)
    world.changed_outside("a.py", *names)
    assert world.session.status.asks[0].question == "a.py was deleted on disk: keep your text?"


async def test_the_question_goes_when_the_file_comes_back() -> None:
    world = await watched({"a.py": TEXT})
    await moved(world)
    world.files.data["a.py"] = world.files.data.pop("sub/b.py")
    world.changed_outside("a.py", "sub/b.py")
    await settle()
    assert not world.session.status.asks
    assert not world.session.workspace.conflicts


class SlowFiles(MemoryFiles):
    """Each reading takes a while, on the world's clock."""

    clock: FakeClock
    READ_S = TURN_S / 3

    def read(self, path: str) -> FileRead:
        self.clock.advance(self.READ_S)
        return super().read(path)


@pytest.mark.case("G09")
async def test_a_burst_is_looked_at_a_few_files_a_turn_and_all_of_them() -> None:
    """60 open files change while a hunk is open: no turn of the event loop takes long."""
    names = [f"f{number:03}.py" for number in range(60)]
    world = World()
    world.ports.files = world.files = files = SlowFiles(dict.fromkeys(names, TEXT))
    files.clock = world.clock
    world.session = session = Session(world.ports, world.roles, SessionOptions(ask=True))
    await session.run()
    await settle()
    for name in names:
        session.workspace.open(name)
    landing = Landing(session.workspace, turn=1, call_id="call_1")
    landing.feed("*** Begin Patch\n*** Update File: f007.py\n@@\n one\n-two\n+TWO\n")
    landing.tail()
    for name in names:
        files.data[name] = ("new\n" + TEXT).encode()
    began_s = world.clock.seconds
    world.changed_outside(*names)
    assert world.clock.seconds - began_s <= 2 * TURN_S, "the rest waits for the next turn"
    assert text_of(world, "f059.py") == TEXT
    for _ in range(500):
        await settle()
        if text_of(world, "f059.py") != TEXT:
            break
    assert all(text_of(world, name).startswith("new\n") for name in names)
    landing.feed(" three\n-four\n+FOUR\n*** End Patch\n")
    landing.finish(cut=False)
    assert text_of(world, "f007.py") == "new\n" + TEXT.replace("two", "TWO").replace("four", "FOUR")
    assert {hunk.stage for hunk in session.workspace.hunks} == {Stage.LANDED}


@pytest.mark.case("G06")
async def test_a_save_while_a_hunk_is_open_has_the_users_text_and_accepted_hunks_only() -> None:
    world = await watched({"a.py": TEXT})
    session = world.session
    session.submit(intents.OpenFile("a.py"))
    land(world, update("a.py", "-one", "+ONE"))
    session.submit(intents.Accept())
    land(world, update("a.py", "-five", "+FIVE"), turn=2)
    landing = Landing(session.workspace, turn=3, call_id="call_3")
    landing.feed("*** Begin Patch\n*** Update File: a.py\n@@\n ONE\n-two\n+TWO\n+more\n")
    landing.tail()
    row = text_of(world).split("\n").index("four")
    session.workspace.edit("a.py", (row, 0), (row, 0), "my ")
    session.drain()
    session.submit(intents.SaveFile("a.py"))
    saved = TEXT.replace("one", "ONE").replace("four", "my four")
    assert world.files.data["a.py"] == saved.encode()
    (trouble,) = session.drain().troubles
    assert trouble.what == "a.py is saved"
    assert trouble.why == "a model is writing in it: saved without what is undecided"
    landing.feed(" three\n*** End Patch\n")
    landing.finish(cut=False)
    session.submit(intents.Accept())
    final = saved.replace("two", "TWO\nmore").replace("five", "FIVE")
    assert world.files.data["a.py"] == final.encode()


class Git:
    """What git would say, and how often it was asked."""

    def __init__(self) -> None:
        self.files: Mapping[str, GitState] = {"a.py": "M"}
        self.asked = 0
        self.hold: asyncio.Event | None = None

    async def states(self) -> Mapping[str, GitState]:
        self.asked += 1
        if self.hold is not None:
            await self.hold.wait()
        return dict(self.files)


def world() -> tuple[World, Git]:
    made, git = World({"a.py": "", "sub/b.py": ""}), Git()
    made.ports.git_status = git.states
    return made, git


async def started() -> tuple[World, Git]:
    made, git = world()
    await made.runs()
    made.session.drain()
    return made, git


async def test_git_is_asked_once_and_again_when_something_changed() -> None:
    made, git = await started()
    made.session.folders.watch(seen=True)
    await settle()
    assert made.session.folders.states.files == {"a.py": "M"}
    assert made.session.drain().git
    made.clock.advance(60)
    await settle()
    assert git.asked == 1
    git.files = {"a.py": "M", "sub/c.py": "?"}
    made.changed_outside("sub/c.py", ".git/index")
    await settle()
    notices = made.session.drain()
    assert notices.folders == {"sub"}
    assert notices.git
    assert made.session.folders.states.of("sub") == "?"


async def test_the_branch_in_the_status_is_the_one_that_git_has_now() -> None:
    made, _ = await started()
    branch = "topic"
    made.ports.branch = lambda: branch
    made.changed_outside(".git/HEAD")
    assert made.session.status.branch == "topic"
    assert made.session.drain().status
    branch = "elsewhere"  # of a linked worktree git's own folder is not watched
    await begun(made, "go")
    assert made.session.status.branch == "elsewhere"


async def test_a_storm_of_changes_asks_git_at_a_measured_pace() -> None:
    made, git = await started()
    made.session.folders.watch(seen=True)
    await settle()
    for number in range(50):
        made.changed_outside(f"f{number}.py")
        await settle()
    assert git.asked == 1
    made.clock.advance(PAUSE_S)
    await settle()
    assert git.asked == 2


async def test_the_same_answer_is_no_news() -> None:
    made, _ = await started()
    made.session.folders.watch(seen=True)
    await settle()
    made.session.drain()
    made.clock.advance(60)
    await settle()
    made.changed_outside(".git/HEAD")
    await settle()
    assert not made.session.drain().git


async def test_out_of_sight_nothing_more_is_asked() -> None:
    made, git = await started()
    made.session.folders.watch(seen=True)
    await settle()
    made.session.folders.watch(seen=False)
    made.changed_outside("a.py")
    made.clock.advance(60)
    await settle()
    assert git.asked == 1
    made.session.folders.watch(seen=True)
    await settle()
    assert git.asked == 2
    made.session.folders.watch(seen=False)
    made.clock.advance(60)
    await settle()
    assert git.asked == 2
    made.session.folders.watch(seen=True)
    await settle()
    assert git.asked == 3, "not all that git reads is watched"


async def test_a_folder_is_listed_by_the_port_or_from_the_listing() -> None:
    made, _ = world()
    assert [entry.name for entry in await made.session.folders.entries("")] == ["sub", "a.py"]
    assert await made.session.folders.entries("sub") == [FolderEntry("b.py")]

    def refuse(folder: str) -> list[FolderEntry]:
        raise FileRefused(f"{folder}: permission denied")

    made.ports.folder = refuse
    with pytest.raises(FileRefused, match="sub: permission"):
        await made.session.folders.entries("sub")


def test_names_below_a_folder() -> None:
    paths = ["a/b/c.py", "a/d.py", "ab/e.py", "a/B.py"]
    assert entries_below(paths, "a") == [
        FolderEntry("b", "folder"),
        FolderEntry("B.py"),
        FolderEntry("d.py"),
    ]
    assert entries_below(paths, "x") == []


async def test_a_file_that_came_is_found_when_the_user_looks_for_it() -> None:
    made, _ = await started()
    assert "new.py" not in made.session.listing()
    made.files.data["new.py"] = b""
    made.changed_outside("new.py")
    await settle()
    assert "new.py" not in made.session.listing()
    made.session.folders.look()
    made.session.folders.look()
    await settle()
    assert "new.py" in made.session.listing()
    assert made.session.drain().listing
    made.session.folders.look()
    await settle()
    assert not made.session.drain().listing
