"""What is to be in a copy of the workspace, as it changes: each look knows all of it."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.tables import each
from tui.effects.shadow import copying
from tui.effects.shadow.copying import ShadowSource

Change = Callable[[Path], object]


def source(root: Path) -> ShadowSource:
    """Nothing is ignored."""
    return ShadowSource(str(root), ("__pycache__",), lambda: listed(root))


def listed(root: Path) -> list[str]:
    return [str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir()]


def tree(root: Path) -> Path:
    for name in ("a.py", "one/b.py", "one/two/c.py", "three/d.py"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return root


def found(looking: ShadowSource) -> tuple[object, ...]:
    seen = looking.look()
    return seen.files, seen.links, set(seen.folders), set(seen.caches), seen.size


CHANGES: dict[str, Change] = {
    "a file is written": lambda root: (root / "one/b.py").write_text("other"),
    "of one length, with its old time": lambda root: written_secretly(root / "one/two/c.py"),
    "another file takes its place": lambda root: (root / "a.py").rename(root / "three/d.py"),
    "a file is gone": lambda root: (root / "one/two/c.py").unlink(),
    "rights": lambda root: (root / "a.py").chmod(0o755),
    "a new folder": lambda root: shutil.copytree(root / "one", root / "three/new"),
    "a folder is gone": lambda root: shutil.rmtree(root / "one"),
    "a folder has another name": lambda root: (root / "one").rename(root / "three/moved"),
    "a link": lambda root: (root / "one/link").symlink_to("b.py"),
    "a link leads elsewhere": lambda root: led_elsewhere(root / "link"),
    "a cache": lambda root: (root / "one/__pycache__").mkdir(),
    "a folder instead of a file": lambda root: ((root / "a.py").unlink(), (root / "a.py").mkdir()),
}


def written_secretly(path: Path) -> None:
    about = path.stat()
    path.write_text(path.read_text()[::-1])
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))


def led_elsewhere(link: Path) -> None:
    link.unlink(missing_ok=True)
    link.symlink_to(f"one/{random.random()}")


@each("what", CHANGES)
def test_the_next_look_knows_a_change(tmp_path: Path, what: str) -> None:
    root = tree(tmp_path / what)
    looking = source(root)
    found(looking)
    CHANGES[what](root)
    assert found(looking) == found(source(root))


@each("seed", range(3))
def test_any_changes_are_known_one_behind_the_other(tmp_path: Path, seed: int) -> None:
    rng, root = random.Random(seed), tree(tmp_path / str(seed))
    looking = source(root)
    for step in range(60):
        below = (one for one in root.rglob("*") if one.is_dir() and not one.is_symlink())
        folders = [root, *below]
        folder, other = rng.choice(folders), rng.choice(folders)
        name = str(rng.randrange(6))
        match rng.randrange(5):
            case 0 if not (folder / name).is_dir():
                (folder / name).write_text(str(step))
            case 1 if not (folder / name).exists():
                (folder / name).mkdir()
            case 2 if folder != root and not other.is_relative_to(folder):
                shutil.move(folder, other / f"{name}-{step}")
            case 3 if folder != root and rng.random() < 0.3:
                shutil.rmtree(folder)
            case _:
                (folder / f"link-{name}-{step}").symlink_to(name)
        if rng.random() < 0.6:
            assert found(looking) == found(source(root)), f"step {step}"


def test_a_change_costs_only_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tree(tmp_path / "work")
    looking, looked = source(root), list[str]()
    looking.look()
    if not looking.look().stays:
        pytest.skip("the kernel tells nothing of changes here")
    scan = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: looked.append(path) or scan(path))
    looking.look()
    assert looked == []
    (root / "one/b.py").write_text("other")
    looking.look()
    assert looked == [f"{root}/one"]


def test_many_folders_that_go_at_once_are_told_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that are watched are gone through once, not once for each that went."""
    watch, names = copying.FolderWatch(str(tmp_path)), [f"one/{number}" for number in range(60)]
    for name in names:
        (tmp_path / name).mkdir(parents=True)
    if not all(watch.begin(name) for name in ("", "one", *names)) or watch.changed() is None:
        pytest.skip("the kernel tells nothing of changes here")
    shutil.rmtree(tmp_path / "one")
    asked, outer = list[str](), copying.outer
    monkeypatch.setattr(copying, "outer", lambda path: asked.append(path) or outer(path))
    assert watch.changed() == {"", "one", *names}
    assert len(asked) <= len(names)


def test_a_file_with_two_names_may_be_written_by_the_other(tmp_path: Path) -> None:
    root = tree(tmp_path / "work")
    os.link(root / "a.py", tmp_path / "outside.py")
    looking = source(root)
    found(looking)
    (tmp_path / "outside.py").write_text("other")
    assert found(looking) == found(source(root))


@each("kind", ["nfs4", "fuse.sshfs", "9p"])
def test_of_a_network_nothing_is_taken_from_the_last_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Others may write there, too."""
    root, mounts = tree(tmp_path / "work"), tmp_path / "mountinfo"
    mounts.write_text(
        f"1 0 8:1 / / rw - ext4 /dev/a rw\n2 1 0:9 / {root} rw,x shared:1 - {kind} there rw\n"
    )
    monkeypatch.setattr(copying, "_MOUNTS", mounts)
    watch = copying.FolderWatch(str(root))
    watch.begin("")
    assert watch.changed() is None
    mounts.write_text("1 0 8:1 / / rw - ext4 /dev/a rw\n")
    assert watch.changed() == set()
    mounts.write_text(
        f"1 0 8:1 / / rw - ext4 /dev/a rw\n2 1 0:9 / {root}/one rw - {kind} there rw\n"
    )
    assert watch.changed() is None
