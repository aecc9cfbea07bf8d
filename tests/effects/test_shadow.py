"""Shadows: commands see the disk with other texts in it, and leave the disk as it is."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import threading
import venv
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tui.core.programs import Confinement, Entry, RunOptions, RunResult, Shadow, Written
from tui.effects.commands.runner import CommandRunner
from tui.effects.commands.sandbox import find_sandbox
from tui.effects.shadow import copying
from tui.effects.shadow.copying import ShadowSource
from tui.effects.shadow.making import Kind, ShadowFolder, ShadowMaker, clear_shadows
from tui.errors import FileRefused

CACHES = ("__pycache__", "node_modules/.cache", "*.tsbuildinfo")


class House:
    """A workspace, and its shadows."""

    def __init__(self, folder: Path, kind: Kind = "overlay", name: str = "work, a:b\\c") -> None:
        self.root, self.state = folder / name, folder / "state"
        (self.root / "below").mkdir(parents=True)
        (self.root / "a.txt").write_text("disk\n")
        (self.root / "below/b.txt").write_text("b\n")
        root = str(self.root)
        self.runner = CommandRunner(root, None, lambda: find_sandbox(root, [str(self.state)]))
        self.kind = kind
        source = ShadowSource(root, CACHES, self.listing)
        self.shadows = ShadowMaker(source, self.state, self.runner, [kind])

    def listing(self) -> list[str]:
        """Nothing is ignored but what it always is."""
        files = [path.relative_to(self.root) for path in self.root.rglob("*") if path.is_file()]
        return [
            str(path) for path in files if not {".git", ".venv", "node_modules"} & {*path.parts}
        ]

    async def make(self, texts: dict[str, bytes | None] | None = None) -> Shadow:
        try:
            return await self.shadows.make(texts or {})
        except FileRefused as error:
            pytest.skip(str(error))

    async def run(
        self, shadow: Shadow, command: str, confined: Confinement | None = None
    ) -> tuple[RunResult, str]:
        said = bytearray()
        how = RunOptions(shadow=shadow, confined=confined, keys=confined is None)
        result = await self.runner.run(f"exec 2>&1; {command}", said.extend, 60, how)
        return result, said.decode()

    async def says(self, shadow: Shadow, command: str) -> str:
        return (await self.run(shadow, command))[1]

    def on_disk(self) -> dict[str, object]:
        found: dict[str, object] = {}
        for folder, folders, files in os.walk(self.root):
            for name in folders + files:
                path = Path(folder, name)
                about = path.lstat()
                text = path.read_bytes() if path.is_file() else b""
                # git says of objects that it borrows that they are in use
                borrowed = self.kind == "copy" and "objects" in path.parts
                written = 0 if borrowed else about.st_mtime_ns
                found[str(path)] = (about.st_mode, written, about.st_ino, text)
        return found


@pytest.fixture(params=["overlay", "bound", "copy"])
async def house(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[House]:
    """All rules hold for each kind of shadow, but for what says so."""
    house = House(tmp_path, request.param)
    yield house
    await house.shadows.close()
    assert not any(one.is_dir() for one in (house.state / "shadows").glob("*"))


async def test_a_command_sees_the_texts_in_the_place_of_the_disk(house: House) -> None:
    before = house.on_disk()
    shadow = await house.make({"a.txt": b"shadow\n", "below/b.txt": None, "new/c.txt": b"c\n"})
    where = '"$PWD"' if house.kind == "copy" else f"'{house.root}'"
    said = await house.says(shadow, f"cat a.txt {where}/new/c.txt; ls below")
    assert said == "shadow\nc\n"
    assert house.on_disk() == before


async def test_it_is_kept_in_step(house: House) -> None:
    shadow = await house.make({"a.txt": b"1\n", "below/b.txt": None, "new/c.txt": b"c\n"})
    await shadow.hold({"a.txt": b"2\n", "below/b.txt/x": b"x\n"})
    assert await house.says(shadow, "cat a.txt below/b.txt/x; ls") == "2\nx\na.txt\nbelow\n"
    await shadow.hold({})
    assert await house.says(shadow, "cat a.txt below/b.txt") == "disk\nb\n"
    (house.root / "a.txt").write_text("saved\n")
    assert await house.says(shadow, "cat a.txt") == "saved\n"


async def test_what_a_command_leaves_is_gone_but_for_caches(house: House) -> None:
    shadow = await house.make()
    await house.says(
        shadow, "rm -rf below; mkdir -p below/__pycache__; echo x >below/__pycache__/x"
    )
    await house.says(shadow, "mkdir -p node_modules/.cache; echo x >node_modules/.cache/x")
    await house.says(shadow, "touch left x.tsbuildinfo")
    said = await house.says(shadow, "find . -type f | sort")
    kept = ["below/__pycache__/x", "below/b.txt", "node_modules/.cache/x", "x.tsbuildinfo"]
    assert said.split() == ["./a.txt", *(f"./{path}" for path in kept)]


HIDDEN = (
    "echo other >a.txt",
    "cp -p a.txt below/t; tr i o <below/t >a.txt; touch -r below/t a.txt; rm below/t",
    "ln a.txt below/name; echo other >below/name; rm below/name",
    "mkdir new; ln a.txt new/name; echo other >new/name; rm -r new",
    "mkdir -p new/__pycache__; touch new/__pycache__/x",
    "chmod 700 below; chmod 600 a.txt",
    "mv below moved; mkdir below; mv moved/b.txt below; rmdir moved; echo x >>below/b.txt",
    "rm a.txt; ln -s below/b.txt a.txt",
    "mv a.txt below; mv below/a.txt a.txt",
    "touch new/x",
)


async def test_the_next_command_finds_a_copy_as_it_was(house: House) -> None:
    """However a command changes it, and also where one left a folder for its cache."""
    shadow = await house.make()
    files = "find . ! -type d ! -path '*__pycache__*'"
    look = f"{files} -printf '%p %m %T@ %l' -exec cat {{}} \\; | sort; stat -c %a below"
    before = await house.says(shadow, look)
    for what in HIDDEN:
        await house.says(shadow, what)
        assert await house.says(shadow, look) == before, what


async def test_what_a_command_changes_in_a_copy_costs_only_its_files(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    if house.kind == "overlay":
        return
    shadow = await house.make()
    await house.says(shadow, "mkdir below/__pycache__")
    if not copying.FolderWatch(str(house.root)).begin(""):
        pytest.skip("the kernel tells nothing of changes here")
    await house.says(shadow, "true")
    looked, scan = list[str](), os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: looked.append(str(path)) or scan(path))
    await house.says(shadow, "echo other >a.txt; touch below/__pycache__/x")
    assert await house.says(shadow, "cat a.txt") == "disk\n"
    assert [path for path in looked if "/copy" in path] == []


async def test_it_is_told_what_a_command_wrote(house: House) -> None:
    shadow = await house.make({"a.txt": b"shadow\n", "below/c.txt": b"c\n", "old/d.txt": b"d\n"})
    writes = "echo new >a.txt; rm -r below; mkdir -p more/__pycache__; echo x >more/x"
    rest = "touch more/__pycache__/y; ln -s a.txt link; rm -r old; mkdir old; echo z >old/z"
    told: list[dict[str, bytes | None]] = []
    how = RunOptions(shadow=shadow, written=lambda files: told.append(dict(files)))
    before = house.on_disk()
    await house.runner.run(f"{writes}; {rest}", lambda data: None, 60, how)
    assert house.on_disk() == before
    files = {"a.txt": b"new\n", "below/b.txt": None, "below/c.txt": None, "more/x": b"x\n"}
    assert told == [files | {"old/d.txt": None, "old/z": b"z\n"}]
    await house.runner.run("cat a.txt", lambda data: None, 60, how)
    assert told[1:] == [{}]


async def test_a_confined_command_leaves_no_cache_for_the_user(house: House) -> None:
    shadow = await house.make({"a.txt": b"shadow\n"})
    if not (await house.runner.sandbox()).works:
        pytest.skip("no sandbox here")
    writes = "mkdir __pycache__; echo bad >__pycache__/a; cat a.txt __pycache__/a; ls -A"
    _, said = await house.run(shadow, f"{writes}; : >../outside", Confinement())
    assert said.startswith("shadow\nbad\n__pycache__\na.txt\nbelow\n")
    assert not (house.root.parent / "outside").exists()
    assert "No such file" in await house.says(shadow, "cat __pycache__/a")
    _, said = await house.run(shadow, "touch x || cat a.txt", Confinement(writable=False))
    assert said.endswith("shadow\n")


HOSTILE = {
    "writes in place": "echo x >>a.txt; echo x >>below/b.txt; truncate -s0 a.txt",
    "hard links": "ln a.txt link; echo x >>link; echo x >>other",
    "symlinks": "rm a.txt; ln -s / out; ln -s ../.. a.txt; echo x >>leads",
    "rights": "chmod -R 000 .",
    "names": 'mv below elsewhere; mv "$PWD" "$PWD.moved"; mv a.txt below',
    "removes": 'rm -rf ./* ./.??*; rm -rf "$PWD"',
    "mounts": 'umount -l .; umount "$PWD"; unshare -rm umount "$PWD"; echo x >>a.txt',
    "the real root": 'for p in /proc/[0-9]*; do echo x >>"$p/root$PWD/a.txt"; done',
    "commits": "git add -A; git commit -qm x; git tag t; git stash; git gc -q; git checkout -qb y",
    "folders without end": "python3 -c 'import os\nwhile len(os.getcwd()) < 3000: "
    'os.mkdir("d"); os.chdir("d")\'',
    "goes on": "(sleep 1; echo x >>a.txt) & setsid sh -c 'sleep 1; echo x >>a.txt' &",
}


@pytest.mark.slow
@pytest.mark.parametrize("what", HOSTILE)
async def test_whatever_a_command_does_the_disk_stays(house: House, what: str) -> None:
    git = ("git", "-c", "user.name=x", "-c", "user.email=x@x")
    for command in (("init", "-q"), ("add", "a.txt"), ("commit", "-qm", "one")):
        subprocess.run((*git, *command), cwd=house.root, check=True)
    os.link(house.root / "a.txt", house.root / "other")
    (house.root / "leads").symlink_to("a.txt")
    shadow = await house.make({"a.txt": b"shadow\n", "leads": b"shadow\n"})
    before = house.on_disk()
    await house.run(shadow, HOSTILE[what])
    assert house.on_disk() == before
    assert await house.says(shadow, "cat a.txt below/b.txt leads") == "shadow\nb\nshadow\n"


async def test_a_cache_that_leads_to_the_disk_is_not_written_through(house: House) -> None:
    before = house.on_disk()
    shadow = await house.make()
    await house.says(shadow, f"ln -s '{house.root}/below' __pycache__")
    await shadow.hold({"__pycache__/b.txt": b"shadow\n"})
    assert await house.says(shadow, "cat __pycache__/b.txt") == "shadow\n"
    assert house.on_disk() == before


async def test_a_repository_above_the_workspace_stays_as_it_is(tmp_path: Path) -> None:
    house = House(tmp_path / "repo")
    subprocess.run(("git", "init", "-q", house.root.parent), check=True)
    shadow = await house.make()
    said = await house.says(shadow, "git add a.txt; git status --short; git tag -l")
    assert "A  a.txt" in said
    listed = ("git", "status", "--short", "--", str(house.root))
    found = subprocess.run(listed, cwd=house.root, check=True, capture_output=True, text=True)
    assert "A  " not in found.stdout
    await house.shadows.close()


async def test_several_run_side_by_side(house: House) -> None:
    shadows = [await house.make({"a.txt": b"%d\n" % number}) for number in range(4)]
    found = await asyncio.gather(*(house.says(one, "cat a.txt; echo x >a.txt") for one in shadows))
    assert found == ["0\n", "1\n", "2\n", "3\n"]
    if house.kind != "overlay":
        return
    again = await asyncio.gather(*(house.says(shadows[0], "cat a.txt") for _ in range(3)))
    assert again == ["0\n"] * 3


async def test_a_run_that_is_cancelled_at_any_moment_leaves_the_shadow(house: House) -> None:
    shadow = await house.make({"a.txt": b"shadow\n"})
    for turns in range(24):
        run = asyncio.create_task(house.run(shadow, "sleep 60"))
        for _ in range(turns // 2):
            await asyncio.sleep(0.002)
        run.cancel()
        if turns % 2:  # once more, while it leaves
            await asyncio.sleep(0)
            run.cancel()
        await asyncio.wait([run])
    assert await house.says(shadow, "cat a.txt; ls") == "shadow\na.txt\nbelow\n"


@pytest.mark.slow
async def test_no_command_runs_any_more_when_the_shadow_is_left(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.effects.commands.runner.GRACE_S", 0.05)
    mark = f"60.{os.getpid()}"
    running = list[bool]()

    class Watched:
        """Looks for the command when it leaves."""

        def __init__(self, shadow: Shadow) -> None:
            self.hold, self.close, self._enter = shadow.hold, shadow.close, shadow.enter

        def enter(self, *, confined: bool, written: Written | None = None) -> Entry:
            entry = self._enter(confined=confined, written=written)

            def leave() -> str:
                said = subprocess.run(["pgrep", "-f", f"^sleep {mark}"], stdout=subprocess.PIPE)
                running.append(bool(said.stdout))
                return entry.leave()

            return entry._replace(leave=leave)

    shadow = Watched(await house.make())
    for turns in range(0, 30, 3):
        run = asyncio.create_task(house.run(shadow, f"trap '' TERM; exec sleep {mark}"))
        for _ in range(turns):
            await asyncio.sleep(0.001)
        run.cancel()
        for _ in range(turns % 2):  # once more, while it leaves
            await asyncio.sleep(0.001)
            run.cancel()
        await asyncio.wait([run])
    assert running
    assert not any(running)


@pytest.mark.slow
async def test_python_never_takes_the_cache_of_another_text(house: House) -> None:
    (house.root / "m.py").write_text("print(0)\n")
    shadow = await house.make()
    for number in range(1, 4):
        await shadow.hold({"m.py": b"print(%d)\n" % number})
        assert await house.says(shadow, "python3 -c 'import m'") == f"{number}\n"
    await shadow.hold({})
    assert await house.says(shadow, "python3 -c 'import m'") == "0\n"


async def test_what_went_back_to_the_disk_is_newer_than_what_was_built(house: House) -> None:
    shadow = await house.make({"a.txt": b"shadow\n"})
    await house.says(shadow, "mkdir __pycache__; cp a.txt __pycache__/built")
    await shadow.hold({})
    assert await house.says(shadow, "test a.txt -nt __pycache__/built && cat a.txt") == "disk\n"


async def test_one_that_is_closed_serves_again(house: House) -> None:
    shadow = await house.make({"a.txt": b"shadow\n"})
    await house.says(shadow, "mkdir __pycache__; touch __pycache__/x")
    shadow.close()
    again = await house.make({"below/b.txt": b"new\n"})
    assert await house.says(again, "cat a.txt below/b.txt; ls __pycache__") == "disk\nnew\nx\n"


async def test_one_that_nobody_waits_for_any_more_serves_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await house.make()
    new, begun, goes_on = ShadowFolder.new, threading.Event(), threading.Event()
    more: list[Path] = []

    def held(folder: ShadowFolder) -> Path:
        more.append(new(folder))
        begun.set()
        goes_on.wait(10)
        return more[-1]

    monkeypatch.setattr(ShadowFolder, "new", held)
    making = asyncio.create_task(house.shadows.make({"a.txt": b"left\n"}))
    await asyncio.to_thread(begun.wait, 10)
    making.cancel()
    await asyncio.wait([making])
    goes_on.set()
    if others := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(others, timeout=10)
    shadow = await house.make({"below/b.txt": b"mine\n"})
    assert len(more) == 1
    assert await house.says(shadow, "cat a.txt below/b.txt") == "disk\nmine\n"
    shadow.close()
    first.close()


@pytest.mark.slow
async def test_too_much_is_stopped(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("overlay", "copying"):
        monkeypatch.setattr(f"tui.effects.shadow.{kind}.ROOM", 50_000_000)
    shadow = await house.make()
    result, _ = await house.run(shadow, "cat /dev/zero >big")
    assert result.error == "stopped: it wrote more than 0.05 GB"


async def test_the_next_start_clears_what_a_killed_one_left(tmp_path: Path) -> None:
    house = House(tmp_path)
    left = house.state / "shadows/left/1/run-1"
    left.mkdir(parents=True)
    await house.make()
    assert not left.exists()
    shadow = await house.make({"a.txt": b"shadow\n"})
    source = ShadowSource(str(house.root), CACHES, house.listing)
    another_start = ShadowMaker(source, house.state, house.runner, ["overlay"])
    await another_start.make({})
    assert await house.says(shadow, "cat a.txt") == "shadow\n"
    await another_start.close()
    await house.shadows.close()


async def test_a_start_that_makes_none_clears_them_too(house: House) -> None:
    shadow = await house.make({"a.txt": b"shadow\n"})
    left = house.state / "shadows/left/1/run-1/work/work"
    left.mkdir(parents=True)
    left.chmod(0)  # as the kernel leaves it
    clear_shadows(house.state)
    assert not (house.state / "shadows/left").exists()
    assert await house.says(shadow, "cat a.txt") == "shadow\n"


def left_behind(house: House) -> Path:
    """A folder of a killed start, with a file that a command left."""
    left = house.state / "shadows/left/1/copy"
    (left / "sealed").mkdir(parents=True)
    (left / "sealed/file").write_text("x\n")
    return left


def test_what_a_command_sealed_goes_too(house: House) -> None:
    left = left_behind(house)
    sealing = ["chattr", "+i", str(left / "sealed")]
    if not shutil.which("chattr") or subprocess.run(sealing, capture_output=True).returncode:
        pytest.skip("no file can be sealed here")
    (left / "bare").mkdir()
    (left / "bare/file").write_text("x\n")
    (left / "bare").chmod(0)
    clear_shadows(house.state)
    assert not (house.state / "shadows/left").exists()


def test_nothing_is_removed_through_a_mount(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command may have had another file system seen in its copy: its files are none of ours."""
    left, mounts = left_behind(house), house.state / "mountinfo"
    monkeypatch.setattr("tui.effects.shadow.overlay._MOUNTS", mounts)
    seen = str(left / "sealed").replace("\\", r"\134").replace(" ", r"\040")
    mounts.write_text(
        f"36 35 98:0 / / rw - ext4 /dev/sda1 rw\n37 36 0:45 / {seen} rw - fuse x rw\n"
    )
    clear_shadows(house.state)
    assert (left / "sealed/file").exists()
    mounts.write_text("36 35 98:0 / / rw - ext4 /dev/sda1 rw\n")
    clear_shadows(house.state)
    assert not left.exists()


async def test_a_copy_is_not_cleaned_through_a_mount(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = House(tmp_path, "copy")
    shadow = await house.make()
    mounts = tmp_path / "mountinfo"
    monkeypatch.setattr("tui.effects.shadow.overlay._MOUNTS", mounts)
    mounting = (
        f'mkdir seen; echo mine >seen/file; echo "37 36 0:45 / $PWD/seen rw -" >{mounts}; pwd'
    )
    _, folder = await house.run(shadow, mounting)
    result, _ = await house.run(shadow, "true")
    assert "something is mounted in" in result.error
    theirs = Path(folder.strip()) / "seen/file"
    assert await asyncio.to_thread(theirs.exists)
    await asyncio.to_thread(mounts.write_text, "")
    assert await house.says(shadow, "ls") == "a.txt\nbelow\n"
    await house.shadows.close()


@pytest.mark.parametrize("kind", ["overlay", "bound", "copy"])
async def test_an_editable_install_is_that_of_the_shadow_or_there_is_no_verdict(
    tmp_path: Path, kind: Kind
) -> None:
    house = House(tmp_path, kind, "work")
    (house.root / "src").mkdir()
    (house.root / "src/mine.py").write_text("print('disk')\n")
    venv.create(house.root / ".venv")
    site = next((house.root / ".venv").glob("lib/*/site-packages"))
    (site / "mine.pth").write_text(f"{house.root}/src\n")
    shadow = await house.make({"src/mine.py": b"print('shadow')\n"})
    result, said = await house.run(shadow, ".venv/bin/python -c 'import mine'")
    assert (said, result.strayed) == ("shadow\n", "")
    finder = "import sys; sys.path.insert(0, '{}/src')\n"
    (site / "mine.pth").write_text(finder.format(house.root))
    result, said = await house.run(shadow, ".venv/bin/python -c 'import mine'")
    if house.kind == "copy":
        assert (said, result.strayed) == ("disk\n", "src/mine.py")
    else:
        assert (said, result.strayed) == ("shadow\n", "")
    await house.shadows.close()


@pytest.mark.parametrize("kind", ["bound", "copy"])
async def test_a_copy_has_packages_as_they_are_and_those_of_the_workspace_as_copies(
    tmp_path: Path, kind: Kind
) -> None:
    house = House(tmp_path, kind)
    for folder in ("node_modules/theirs", "packages/mine"):
        (house.root / folder).mkdir(parents=True)
        (house.root / folder / "index.js").write_text("disk\n")
    (house.root / "node_modules/mine").symlink_to("../packages/mine")
    before = house.on_disk()
    shadow = await house.make({"packages/mine/index.js": b"shadow\n"})
    said = await house.says(shadow, "cd node_modules; cat theirs/index.js mine/index.js; mkdir .x")
    assert said == "disk\nshadow\n"
    assert house.on_disk() == before
    await house.shadows.close()


async def test_a_copy_is_brought_in_step_with_the_disk(house: House) -> None:
    shadow = await house.make({"a.txt": b"shadow\n"})
    await house.says(shadow, "rm -r below; mkdir -p d/e; echo x >d/e/f")
    (house.root / "below/b.txt").write_text("other\n")
    (house.root / "new").mkdir()
    (house.root / "new/link").symlink_to(house.root / "a.txt")
    assert await house.says(shadow, "cat below/b.txt new/link; ls") == (
        "other\nshadow\na.txt\nbelow\nnew\n"
    )


async def test_what_is_too_large_is_not_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.effects.shadow.copying.MOST_FILES", 1)
    with pytest.raises(FileRefused, match="too large to be copied"):
        await House(tmp_path, "copy").shadows.make({})
