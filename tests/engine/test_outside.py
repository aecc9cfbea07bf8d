"""Each change of a file reaches the model exactly once, as a difference, with who made it."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.support.fakes import World, settle
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.tables import each
from tests.support.turns import begun, update
from tui.core.document.disk_changes import outside_change
from tui.core.files import FileRead, GitMove, GitPlace
from tui.core.text.change_set import Author
from tui.engine import intents
from tui.errors import FileRefused

OPEN, READ, ALL = ("a.py", "b.py"), ("c.py", "d.py"), ("a.py", "b.py", "c.py", "d.py", "e.py")
TEXT = "".join(f"line {n}\n" for n in range(40))
HEADS = {
    "user": "The user edited meanwhile:",
    "formatter": "The formatter changed this",
    "other": "Another program changed this",
    "git": "git changed these files",
}


class MovingGit:
    """A repository that goes elsewhere when a test says so."""

    def __init__(self) -> None:
        self.at, self.steps = 0, list[tuple[str, ...]]()

    def goes(self, paths: tuple[str, ...]) -> None:
        self.at += 1
        self.steps.append(paths)

    async def place(self) -> GitPlace:
        return GitPlace(f"commit{self.at}", f"branch{self.at}")

    async def moved(self, before: GitPlace, now: GitPlace) -> GitMove:
        first = int(before.commit.removeprefix("commit"))
        paths = dict.fromkeys(path for step in self.steps[first:] for path in step)
        return GitMove(f"checkout: moving from {before.branch} to {now.branch}", tuple(paths))

    async def changed(self, ref: str) -> tuple[list[str], str]:
        return [], ""

    async def head(self, path: str, ref: str = "HEAD") -> FileRead:
        return FileRead(None)


class Others:
    """A session beside which others work; every change has a word of its own."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.world = World(dict.fromkeys(ALL, TEXT))
        self.git = MovingGit()
        self.world.ports.git = lambda: self.git
        self.expected: dict[str, tuple[str, str]] = {}
        """Word -> who wrote it, and where."""
        self.count = 0

    async def begins(self) -> None:
        await self.world.runs()
        for path in OPEN:
            self.world.session.submit(intents.OpenFile(path))
        model = await begun(self.world, "read")
        for n, path in enumerate(READ):
            model.call("read_file", {"path": path}, f"call_{n}")
        model.complete()
        await self.world.wire.request(2)
        again = SteppedRehearsal(self.world.wire)
        again.begin()
        again.complete()
        await settle()

    def word(self, who: str, path: str) -> str:
        self.count += 1
        self.expected[f"word{self.count}x"] = who, path
        return f"word{self.count}x"

    def user_edits(self) -> None:
        path = self.chance.choice(OPEN)
        row = 2 * self.chance.randrange(10)
        self.world.session.workspace.edit(path, (row, 0), (row, 0), f"{self.word('user', path)}\n")
        self.world.session.submit(intents.SaveFile(path))

    def formatter_runs(self) -> None:
        path = self.chance.choice(OPEN)
        data = self._with(path, f"{self.word('formatter', path)}\n")
        outside_change(self.world.session.workspace.documents, path, FileRead(data), Author.TOOL)

    def program_writes(self) -> None:
        path = self.chance.choice((*OPEN, *READ))
        self._with(path, f"{self.word('other', path)}\n")
        self.world.changed_outside(path)

    def git_checks_out(self) -> None:
        paths = tuple(self.chance.sample(ALL, self.chance.randrange(1, 4)))
        for path in paths:
            self._with(path, f"git {self.count} {self.chance.random()}\n")
        self.git.goes(paths)
        self.world.changed_outside(*paths, ".git/HEAD", ".git/index")

    def _with(self, path: str, line: str) -> bytes:
        """A line more at the end of what lies on the disk."""
        data = self.world.files.data[path] + line.encode()
        self.world.files.data[path] = data
        return data

    async def asks(self, how: str) -> None:
        model = await begun(self.world, f"go {self.count}")
        if how == "interrupted":
            self.world.session.submit(intents.Interrupt())
            await settle()
            model.interrupted()
        elif how == "failed":
            model.cut_short("content_filter")
        else:
            model.complete()
        await settle()

    def told(self) -> list[str]:
        """Every paragraph that the model was told as news."""
        entries = self.world.session.services.requests.history.entries
        notes = [entry.text for entry in entries if entry.kind == "note"]
        return [part for note in notes for part in note.split("\n\n")]


@each("seed", range(25))
async def test_in_any_order_each_change_is_told_once_by_who_made_it(seed: int) -> None:
    others = Others(seed)
    await others.begins()
    doings = [others.user_edits, others.formatter_runs, others.program_writes]
    for _ in range(14):
        others.chance.choice([*doings, others.git_checks_out])()
        await settle()
        if others.chance.random() < 0.4:
            await others.asks(others.chance.choice(["completed", "interrupted", "failed"]))
    await others.asks("completed")
    told = others.told()
    listed = {
        path for part in told if part.startswith(HEADS["git"]) for path in ALL if path in part
    }
    seen: Counter[str] = Counter()
    for word, (who, path) in others.expected.items():
        parts = [part for part in told if f"+{word}" in part]
        if not parts and who == "other" and path in listed:
            continue  # the same file was changed by git, too, and is listed
        seen[who] += 1
        assert len(parts) == 1, (word, who, parts)
        assert parts[0].startswith(HEADS[who])
        assert parts[0].count(word) == 1
    assert not any("+git" in part for part in told)
    assert seen


async def test_a_checkout_of_a_thousand_files_is_one_sentence_and_a_list() -> None:
    files = {f"f{n}.py": TEXT for n in range(1000)}
    world, git = World(files), MovingGit()
    world.ports.git = lambda: git
    await world.runs()
    for n in range(20):
        world.session.submit(intents.OpenFile(f"f{n}.py"))
    (await begun(world, "hello")).complete()
    await settle()
    for path in files:
        world.files.data[path] = b"other\n"
    git.goes(tuple(files))
    world.changed_outside(*files, ".git/HEAD")
    await settle()
    (await begun(world, "go on")).complete()
    await settle()
    entries = world.session.services.requests.history.entries
    (said,) = [entry.text for entry in entries if entry.kind == "note"]
    assert said.startswith("git changed these files on the disk (checkout: moving from branch0 to")
    assert "and 900 more" in said
    assert all(f"f{n}.py" in said for n in range(20))
    assert len(said) < 3_000


async def test_what_comes_late_of_a_checkout_is_its_doing_and_what_comes_then_is_not() -> None:
    others = Others(1)
    await others.begins()
    others.git.goes(("a.py", "b.py"))
    others._with("a.py", "git a\n")
    others.world.changed_outside("a.py", ".git/HEAD")
    await others.asks("completed")
    others._with("b.py", "git b\n")
    others.world.changed_outside("b.py")
    await others.asks("completed")
    for path in OPEN:
        others._with(path, f"late {path}\n")
        others.world.changed_outside(path)
    await others.asks("completed")
    first, second, third = others.told()
    assert first.startswith(HEADS["git"])
    assert "a.py" in first
    assert "b.py" not in first
    assert second.startswith(HEADS["git"])
    assert "b.py" in second
    assert third.startswith(HEADS["other"])
    assert third.count("+late") == 2


async def test_a_commit_changes_no_file_and_is_not_told() -> None:
    world, git = World({"a.py": TEXT}), MovingGit()
    world.ports.git = lambda: git
    await world.runs()
    (await begun(world, "hello")).complete()
    await settle()

    async def committed(before: GitPlace, now: GitPlace) -> GitMove:
        return GitMove("commit: all of it", ("a.py",))

    git.moved = committed
    git.goes(("a.py",))
    world.changed_outside("a.py", ".git/HEAD")
    await settle()
    (await begun(world, "go on")).complete()
    entries = world.session.services.requests.history.entries
    assert [entry.text for entry in entries if entry.kind == "note"] == []


async def test_what_was_read_and_is_changed_back_is_no_news() -> None:
    others = Others(1)
    await others.begins()
    before = others.world.files.data["c.py"]
    others._with("c.py", "x\n")
    others.world.changed_outside("c.py")
    others.world.files.data["c.py"] = before
    others.world.changed_outside("c.py")
    await others.asks("completed")
    assert others.told() == []


@each("fails", [False, True])
async def test_where_nothing_is_watched_what_was_read_is_looked_at_again(fails: bool) -> None:
    async def refused(callback: object) -> None:
        raise FileRefused("the system refused it: too many watches")

    others = Others(1)
    others.world.ports.watch = refused if fails else None
    await others.begins()
    others._with("c.py", "unseen\n")
    await others.asks("completed")
    assert "\n".join(others.told()).count("+unseen") == 1
    await others.asks("completed")
    assert "\n".join(others.told()).count("+unseen") == 1


async def test_a_file_that_was_read_then_changed_then_opened_is_told_once() -> None:
    others = Others(1)
    await others.begins()
    others._with("c.py", "first\n")
    others.world.changed_outside("c.py")
    others.world.session.submit(intents.OpenFile("c.py"))
    others._with("c.py", "second\n")
    others.world.changed_outside("c.py")
    await settle()
    others.world.session.workspace.edit("c.py", (0, 0), (0, 0), "third\n")
    await others.asks("completed")
    told = "\n".join(others.told())
    assert [told.count(f"+{word}") for word in ("first", "second", "third")] == [1, 1, 1]
    await others.asks("completed")
    assert "\n".join(others.told()) == told


@pytest.mark.parametrize("size", [300_000])
async def test_of_a_long_file_only_that_it_changed_is_told(size: int) -> None:
    world = World({"big.py": "x" * size})
    await world.runs()
    model = await begun(world, "read")
    model.call("read_file", {"path": "big.py", "start": 1, "end": 1}, "call_1")
    model.complete()
    await world.wire.request(2)
    again = SteppedRehearsal(world.wire)
    again.begin()
    world.files.data["big.py"] = b"y" * size
    world.changed_outside("big.py")
    again.complete()
    await settle()
    (await begun(world, "go on")).complete()
    entries = world.session.services.requests.history.entries
    (said,) = [entry.text for entry in entries if entry.kind == "note"]
    assert "read it again" in said
    assert len(said) < 500


@each("who", ["user", "other"])
async def test_what_is_changed_in_a_models_hunk_is_told_once_as_a_difference(who: str) -> None:
    """It was quoted with the hunk, too."""
    others = Others(1)
    world = others.world
    await others.begins()
    model = await begun(world, "edit")
    model.call("apply_patch", {"input": update("a.py", "-line 5", "+one", "+two")}, "call_9")
    model.complete()
    await world.wire.request(4)
    again = SteppedRehearsal(world.wire)
    again.begin()
    again.complete()
    await settle()
    world.session.submit(intents.Accept())
    await settle()
    if who == "user":
        world.session.workspace.edit("a.py", (6, 3), (6, 3), " once")
    else:
        data = world.files.data["a.py"].replace(b"two\n", b"two once\n")
        world.files.data["a.py"] = data
        world.changed_outside("a.py")
    await others.asks("completed")
    hunk, change = others.told()
    assert "hunk 1 kept, edited since by" in hunk
    assert change.startswith(HEADS[who])
    assert change.endswith("-two\n+two once")
    assert "two" not in hunk
