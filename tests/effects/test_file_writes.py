"""Writes into a workspace: old or new, never between, and the file stays what it was."""

from __future__ import annotations

import errno
import os
import stat
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.support.tables import each
from tui.effects.files import Files
from tui.effects.listing import Listing
from tui.errors import FileRefused

REPOSITORY = Path(__file__).parent.parent.parent


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "ws"
    folder.mkdir()
    (tmp_path / "outside.txt").write_text("secret\n")
    (folder / "a.txt").write_bytes(b"one\r\ntwo\n")
    return folder


@pytest.fixture
def files(root):
    return Files(root, Listing(root))


def nothing_left(root):
    return [name for name in os.listdir(root) if name.startswith(".duetto")] == []


@pytest.mark.case("H07")
def test_h07_mode_owner_and_attributes_are_kept(files, root):
    """H07: exec bit, owner."""
    script = root / "run.sh"
    script.write_bytes(b"old")
    script.chmod(0o4755)
    if os.geteuid() == 0:
        os.chown(script, 1234, 4321)
        script.chmod(0o4755)
    before = script.stat()
    try:
        os.setxattr(script, "user.note", b"kept")
        attribute = True
    except OSError:
        attribute = False
    files.write("run.sh", b"new", b"old")
    after = script.stat()
    assert script.read_bytes() == b"new"
    assert (after.st_mode, after.st_uid, after.st_gid) == (
        before.st_mode,
        before.st_uid,
        before.st_gid,
    )
    if attribute:
        assert os.getxattr(script, "user.note") == b"kept"


@pytest.mark.case("H07")
def test_h07_access_lists_are_kept(files, root):
    """H07: POSIX ACLs are attributes of the file; a user of number 1234 may read it, too."""
    entries = [(0x01, 6, -1), (0x02, 4, 1234), (0x04, 4, -1), (0x10, 4, -1), (0x20, 0, -1)]
    rules = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *one) for one in entries)
    (root / "f").write_bytes(b"old")
    try:
        os.setxattr(root / "f", "system.posix_acl_access", rules)
    except OSError:
        rules = b""  # a file system without them: nothing of the kind may appear
    files.write("f", b"new", b"old")
    assert (root / "f").read_bytes() == b"new"
    if rules:
        assert os.getxattr(root / "f", "system.posix_acl_access") == rules
    else:
        assert "system.posix_acl_access" not in os.listxattr(root / "f")


@pytest.mark.case("H07")
def test_h07_hard_links_are_kept(files, root):
    """H07: hard link count preserved."""
    os.link(root / "a.txt", root / "b.txt")
    files.write("a.txt", b"longer than it was before\n", b"one\r\ntwo\n")
    assert (root / "b.txt").read_bytes() == b"longer than it was before\n"
    assert (root / "a.txt").stat().st_nlink == 2
    files.write("b.txt", b"s", b"longer than it was before\n")
    assert (root / "a.txt").read_bytes() == b"s"


@pytest.mark.case("H07")
def test_h07_read_only_is_refused(files, root):
    """H07: read-only file refused."""
    (root / "a.txt").chmod(0o444)
    with pytest.raises(FileRefused, match="read-only"):
        files.write("a.txt", b"x", b"one\r\ntwo\n")
    with pytest.raises(FileRefused, match="read-only"):
        files.delete("a.txt", b"one\r\ntwo\n")
    assert (root / "a.txt").read_bytes() == b"one\r\ntwo\n"


@pytest.mark.case("H07")
@pytest.mark.parametrize("links", [1, 2])
def test_h07_disk_full_changes_nothing(files, root, monkeypatch, links):
    """H07: disk full -> old file intact, the reason said."""
    if links == 2:
        os.link(root / "a.txt", root / "b.txt")

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", full)
    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(FileRefused, match="disk is full"):
        files.write("a.txt", b"x" * 100, b"one\r\ntwo\n")
    with pytest.raises(FileRefused, match="disk is full"):
        files.write("new/f.txt", b"x" * 100, None)
    monkeypatch.undo()
    assert (root / "a.txt").read_bytes() == b"one\r\ntwo\n"
    assert not (root / "new").exists()
    assert nothing_left(root)


LIMITED = """
import resource, signal, sys
from tui.effects.files import Files
from tui.effects.listing import Listing
from tui.errors import FileRefused
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))
files = Files(sys.argv[1], Listing(sys.argv[1]))
for name, expected in (("f", b"x" * 20_000), ("alone", b"y"), ("new/n", None)):
    try:
        files.write(name, b"z" * 100_000, expected)
    except FileRefused as error:
        print(error)
"""


@pytest.mark.case("H07")
def test_h07_the_kernel_stops_the_write(root):
    """H07: the system refuses more bytes in the middle of a write -> old files intact."""
    (root / "f").write_bytes(b"x" * 20_000)
    os.link(root / "f", root / "g")
    (root / "alone").write_bytes(b"y")
    ended = subprocess.run(
        [sys.executable, "-c", LIMITED, str(root)],
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        check=True,
    )
    assert ended.stdout.count("is not written: file too large") == 3
    assert (root / "f").read_bytes() == b"x" * 20_000
    assert (root / "alone").read_bytes() == b"y"
    assert sorted(os.listdir(root)) == ["a.txt", "alone", "f", "g"]


def test_a_change_by_somebody_else_is_never_overwritten(files, root):
    with pytest.raises(FileRefused, match="changed on the disk"):
        files.write("a.txt", b"x", b"what I read")
    with pytest.raises(FileRefused, match="exists by now"):
        files.write("a.txt", b"x", None)
    with pytest.raises(FileRefused, match="gone from the disk"):
        files.write("gone.txt", b"x", b"what I read")
    with pytest.raises(FileRefused, match="gone from the disk"):
        files.write("gone/f.txt", b"x", b"what I read")
    with pytest.raises(FileRefused, match="changed on the disk"):
        files.delete("a.txt", b"what I read")
    assert (root / "a.txt").read_bytes() == b"one\r\ntwo\n"
    assert not (root / "gone").exists()


def test_a_file_that_appears_while_writing_is_kept(files, root, monkeypatch):
    link = os.link

    def racing(*arguments, **named):
        (root / "n.txt").write_bytes(b"theirs")
        link(*arguments, **named)

    monkeypatch.setattr(os, "link", racing)
    with pytest.raises(FileRefused, match="exists by now"):
        files.write("n.txt", b"ours", None)
    assert (root / "n.txt").read_bytes() == b"theirs"
    assert nothing_left(root)


def test_without_hard_links_new_files_are_renamed_in(files, root, monkeypatch):
    def unsupported(*_, **__):
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", unsupported)
    files.write("n.txt", b"x", None)
    assert (root / "n.txt").read_bytes() == b"x"
    assert nothing_left(root)


@pytest.mark.slow
def test_a_reader_sees_old_or_new_and_nothing_between(files, root):
    old, new = b"o" * 200_000, b"n" * 300_000
    (root / "f").write_bytes(old)
    seen, stop = set(), threading.Event()

    def reading():
        while not stop.is_set():
            seen.add((root / "f").read_bytes())

    thread = threading.Thread(target=reading)
    thread.start()
    for _ in range(20):
        files.write("f", new, old)
        files.write("f", old, new)
    stop.set()
    thread.join()
    assert seen <= {old, new}


KILLED = """
import sys
from tui.effects.files import Files
from tui.effects.listing import Listing
files = Files(sys.argv[1], Listing(sys.argv[1]))
names = ["a", "b", "c"]
old, new = b"o" * 50_000, b"n" * 70_000
print("ready", flush=True)
while True:
    for name in names:
        files.write(name, new, old)
    old, new = new, old
"""


@pytest.mark.slow
@each("delay_s", [0.001, 0.004, 0.011, 0.02])
def test_h08_killed_while_writing(root, delay_s):
    """H08: kill -9 at any step of a 3-file write -> every file is old or new."""
    for name in "abc":
        (root / name).write_bytes(b"o" * 50_000)
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(root)],
        stdout=subprocess.PIPE,
        cwd=REPOSITORY,
    )
    assert child.stdout.readline() == b"ready\n"
    with pytest.raises(subprocess.TimeoutExpired):
        child.wait(delay_s)
    child.kill()
    child.wait()
    child.stdout.close()
    for name in "abc":
        assert (root / name).read_bytes() in (b"o" * 50_000, b"n" * 70_000)


def test_without_hard_links_a_file_that_came_meanwhile_is_not_replaced(files, root, monkeypatch):
    def no_links(*names, **where):
        (root / "new.py").write_bytes(b"theirs")
        raise PermissionError

    monkeypatch.setattr(os, "link", no_links)
    with pytest.raises(FileRefused, match="exists by now"):
        files.write("new.py", b"mine", None)
    assert (root / "new.py").read_bytes() == b"theirs"
    assert [path.name for path in root.iterdir() if path.suffix == ".tmp"] == []


def test_a_workspace_that_is_gone_is_named(files, root):
    (root / "a.txt").unlink()
    root.rmdir()
    with pytest.raises(FileRefused, match=f"the folder {root} is gone: make it again, then save"):
        files.write("new.txt", b"typed", None)
    root.mkdir()
    files.write("new.txt", b"typed", None)
    assert (root / "new.txt").read_bytes() == b"typed"


def test_many_files_are_brought_to_the_disk_together(files, root, monkeypatch):
    """500 files one after the other, each with its folder, blocked the loop for 4 s (B5)."""
    calm, synced, at_once = os.fsync, [], []
    lock = threading.Lock()

    def slow(descriptor):
        with lock:
            synced.append(stat.S_ISDIR(os.fstat(descriptor).st_mode))
            at_once.append(threading.active_count())
        time.sleep(0.005)
        calm(descriptor)

    paths = [f"{'sub/' * (number % 2)}{number}.txt" for number in range(100)]
    (root / "sub").mkdir()
    for path in paths[:80]:
        (root / path).write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", slow)
    olds = {path: b"old" if (root / path).exists() else None for path in paths}
    ready = files.prepare({path: (b"new", old) for path, old in olds.items()})
    assert not ready.refusals
    assert not ready.in_place
    assert synced.count(False) == 100
    assert max(at_once) > 4
    assert all((root / path).read_bytes() == b"old" for path in paths[:80]), "nothing is changed"
    for path, old in olds.items():
        files.write(path, b"new", old)
    assert synced.count(True) == 0
    files.end()
    assert synced.count(True) == 2, "each folder once"
    assert all((root / path).read_bytes() == b"new" for path in paths)
    assert nothing_left(root)
    assert nothing_left(root / "sub")


def test_what_was_made_ready_and_is_not_written_goes(files, root):
    ready = files.prepare({"a.txt": (b"new", b"one\r\ntwo\n"), "made": (b"new", None)})
    assert not ready.refusals
    assert not nothing_left(root)
    files.end()
    assert nothing_left(root)
    assert sorted(os.listdir(root)) == ["a.txt"]


def test_a_name_that_a_file_gets_meanwhile_is_not_cut_off(files, root):
    files.prepare({"a.txt": (b"new", b"one\r\ntwo\n")})
    os.link(root / "a.txt", root / "b.txt")
    with pytest.raises(FileRefused, match="another name meanwhile"):
        files.write("a.txt", b"new", b"one\r\ntwo\n")
    files.end()
    assert (root / "b.txt").read_bytes() == b"one\r\ntwo\n"
    assert nothing_left(root)


def test_what_cannot_be_made_ready_is_refused_before_anything_is_changed(files, root, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "fsync", full)
    ready = files.prepare({"a.txt": (b"new", b"one\r\ntwo\n"), "made": (b"new", None)})
    assert ready.refusals == {
        path: f"'{path}' is not written: the disk is full" for path in ("a.txt", "made")
    }
    files.end()
    assert nothing_left(root)
