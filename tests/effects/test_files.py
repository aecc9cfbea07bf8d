"""The workspace's files on a real disk."""

from __future__ import annotations

import errno
import os
import stat
import struct
import subprocess
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.support.tables import each
from tui.core.files import MAX_BYTES
from tui.effects.files import Files
from tui.effects.listing import Listing
from tui.errors import FileRefused


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


def test_read_gives_bytes_missing_and_kinds(files, root):
    assert files.read("a.txt").data == b"one\r\ntwo\n"
    missing = files.read("no/such.txt")
    assert (missing.data, missing.refusal) == (None, "")
    (root / "sub").mkdir()
    folder = files.read("sub")
    assert (folder.data, folder.kind) == (None, "directory")
    assert "is a directory" in folder.refusal
    assert "not a directory" in files.read("a.txt/b").refusal


@pytest.fixture
def snares(root):
    """Links out of the workspace and into .git."""
    (root / "sub").mkdir()
    (root / "out").symlink_to("..")
    (root / "ln.txt").symlink_to("../outside.txt")
    (root / "dangling.txt").symlink_to("../nothing.txt")
    (root / ".git" / "hooks").mkdir(parents=True)
    (root / "hooks").symlink_to(".git/hooks")


@each(
    "path, words",
    [
        ("/nonexistent-root/evil.txt", "outside the workspace"),
        ("../outside.txt", "outside the workspace"),
        ("sub/../../outside.txt", "outside the workspace"),
        ("~/x", "outside the workspace"),
        ("out/outside.txt", "through a symlink"),
        ("out/new.txt", "through a symlink"),
        ("ln.txt", "through a symlink"),
        ("dangling.txt", "through a symlink"),
        (".git/hooks/pre-commit", ".git"),
        (".GIT/config", ".git"),
        ("sub/.git/config", ".git"),
        ("hooks/x", ".git"),
        ("", "not a usable path"),
        ("a\0b", "not a usable path"),
        ("a\nb", "not a usable path"),
        ("a\udc80b", "not a usable path"),
        (".", "is not a file"),
        ("hooks", ".git"),
    ],
)
def test_h01_paths_that_are_refused(files, snares, root, path, words):
    before = sorted(os.walk(root.parent))
    assert words in files.read(path).refusal
    with pytest.raises(FileRefused, match=words.replace(".", r"\.")):
        files.write(path, b"x", None)
    with pytest.raises(FileRefused):
        files.delete(path, b"secret\n")
    assert sorted(os.walk(root.parent)) == before
    assert (root.parent / "outside.txt").read_text() == "secret\n"


def test_h01_fifo_is_refused_and_does_not_block(files, root):
    os.mkfifo(root / "pipe")
    found = files.read("pipe")
    assert (found.data, found.kind) == (None, "FIFO")
    with pytest.raises(FileRefused, match="FIFO"):
        files.write("pipe", b"x", b"")


def test_h02_paths_that_are_accepted(files, root):
    (root / "my dir").mkdir()
    (root / "my dir" / "naïve file.txt").write_bytes(b"n")
    (root / "ln").symlink_to("my dir")
    (root / "la.txt").symlink_to("a.txt")
    assert files.read(str(root / "a.txt")).data == b"one\r\ntwo\n"
    assert files.read("my dir/../a.txt").data == b"one\r\ntwo\n"
    assert files.read("ln/naïve file.txt").data == b"n"
    assert files.read("my dir\\naïve file.txt").data == b"n"
    files.write("la.txt", b"new\n", b"one\r\ntwo\n")
    assert (root / "la.txt").is_symlink()
    assert (root / "a.txt").read_bytes() == b"new\n"
    assert files.relative(str(root / "x/../y.py")) == "y.py"


def test_h06_too_large_is_refused(files, root):
    (root / "big").write_bytes(b"x" * (MAX_BYTES + 1))
    read = files.read("big")
    assert "too large" in read.refusal
    assert read.head == b"x" * MAX_BYTES
    assert read.size_bytes == MAX_BYTES + 1
    (root / "fits").write_bytes(b"x" * MAX_BYTES)
    assert files.read("fits").data is not None


def test_whether_it_may_be_written_is_said_with_its_bytes(files, root, monkeypatch):
    """U04: a read-only file is opened read-only."""
    (root / "a.txt").write_bytes(b"x\n")
    assert files.read("a.txt").unwritable == ""
    (root / "a.txt").chmod(0o444)
    read = files.read("a.txt")
    assert (read.data, read.unwritable) == (b"x\n", "its write permission was taken away")
    (root / "a.txt").chmod(0o644)
    # root may write everything, so the answer of the system is put in
    monkeypatch.setattr(os, "access", lambda path, mode, **_: path != "." or mode == os.R_OK)
    assert files.read("a.txt").unwritable == "permission denied for its folder"
    (root / "b.txt").hardlink_to(root / "a.txt")  # is written in its place
    assert files.read("a.txt").unwritable == ""
    monkeypatch.setattr(os, "access", lambda path, mode, **_: mode != os.W_OK)
    assert files.read("a.txt").unwritable == "you have no permission to write it"


def test_b01_directories_are_made_for_a_new_file(files, root):
    files.write("docs/deep/x.md", b"hi\n", None)
    assert (root / "docs" / "deep" / "x.md").read_bytes() == b"hi\n"
    assert nothing_left(root / "docs" / "deep")


def test_new_files_get_the_mode_of_the_umask(files, root):
    old = os.umask(0o027)
    try:
        files.write("n.txt", b"", None)
    finally:
        os.umask(old)
    assert stat.S_IMODE((root / "n.txt").stat().st_mode) == 0o640


def test_h09_a_twin_is_refused(files, root):
    (root / unicodedata.normalize("NFD", "café.txt")).write_bytes(b"x")
    found = files.read(unicodedata.normalize("NFC", "café.txt"))
    assert found.data is None
    assert found.refusal == "'café.txt' is spelled 'cafe\\u0301.txt' on the disk"


def privacy(files, path):
    return files.privacy_of([path])[path]


def test_private_files(files, root):
    (root / ".gitignore").write_text("build/\n*.log\n")
    (root / "inner").symlink_to(".env")
    for path in (".env", "sub/.env.local", "certs/server.pem", "id_rsa", ".netrc", "a.key"):
        assert privacy(files, path)
    for path in ("x.log", "build/out.js", ".ssh/config", "../x", ".git/config", "credentials"):
        assert privacy(files, path)
    for path in ("a.txt", ".env.example", "id_rsa.pub", "src/credentials.py", "tests/keys.py"):
        assert privacy(files, path) == ""
    (root / ".env").write_text("KEY=1\n")
    assert "secrets" in privacy(files, "inner")


def test_listing_leaves_secrets_out(files, root):
    for name in ("server.key", "secrets.yaml", "main.py"):
        (root / name).write_text("")
    assert files.listing() == ["a.txt", "main.py"]


def test_links_to_what_is_private_are_private(files, root, tmp_path):
    """A harmless name must not open a door to a secret, an ignored or an outside file."""
    (root / ".env").write_text("KEY=hunter2\n")
    (root / "dump.sql").write_text("insert\n")
    (root / ".gitignore").write_text("*.sql\n")
    (tmp_path / "secret.txt").write_text("outside\n")
    (root / "docs").mkdir()
    os.symlink("../a.txt", root / "docs" / "same.txt")
    os.symlink("../.env", root / "docs" / "notes.txt")
    os.symlink("dump.sql", root / "data.txt")
    os.symlink(tmp_path / "secret.txt", root / "out.txt")
    os.symlink("docs/notes.txt", root / "twice.txt")
    assert files.listing() == ["a.txt", "docs/same.txt"]
    for path in ("docs/notes.txt", "data.txt", "out.txt", "twice.txt"):
        assert privacy(files, path), path
    assert privacy(files, "docs/same.txt") == ""


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("../outside.txt", "has another name outside"),
        (".env", "a hard link to '.env'"),
        ("sub/id_rsa", "a hard link to 'sub/id_rsa'"),
        ("x.log", "a file that is ignored"),
        ("deep/er/b.txt", ""),
    ],
)
def test_a_hard_link_counts_as_all_of_its_names(files, root, name, words):
    (root / ".gitignore").write_text("*.log\n")
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).unlink(missing_ok=True)
    os.link(root / "a.txt", root / name)
    assert "a.txt" not in files.linked
    assert files.read("a.txt").data
    assert "a.txt" in files.linked
    assert words in privacy(files, "a.txt")
    assert bool(words) == bool(privacy(files, "a.txt"))
    assert privacy(files, "a.txt") == files.links_of(["a.txt"])["a.txt"]


def test_other_names_that_are_not_found_in_time_count_as_outside(files, root, monkeypatch):
    os.link(root / "a.txt", root / "b.txt")
    monkeypatch.setattr("tui.effects.listing.NAMES_DEADLINE_S", -1.0)
    assert "outside" in privacy(files, "a.txt")


def test_no_other_names_are_looked_for_where_there_are_none(files, root, monkeypatch):
    monkeypatch.setattr(Listing, "names", None)
    assert privacy(files, "a.txt") == ""
    files.read("a.txt")
    files.listing()
    assert files.linked == set()


def test_many_files_are_looked_up_together(files, root):
    (root / ".gitignore").write_text("*.log\n")
    reasons = files.privacy_of(["a.log", ".env", "../x", "new.py"])
    assert "ignored" in reasons["a.log"]
    assert "secrets" in reasons[".env"]
    assert "outside" in reasons["../x"]
    assert reasons["new.py"] == ""


REPOSITORY = Path(__file__).parent.parent.parent


def test_h07_mode_owner_and_attributes_are_kept(files, root):
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


def test_h07_access_lists_are_kept(files, root):
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


def test_h07_hard_links_are_kept(files, root):
    os.link(root / "a.txt", root / "b.txt")
    files.write("a.txt", b"longer than it was before\n", b"one\r\ntwo\n")
    assert (root / "b.txt").read_bytes() == b"longer than it was before\n"
    assert (root / "a.txt").stat().st_nlink == 2
    files.write("b.txt", b"s", b"longer than it was before\n")
    assert (root / "a.txt").read_bytes() == b"s"


def test_h07_read_only_is_refused(files, root):
    (root / "a.txt").chmod(0o444)
    with pytest.raises(FileRefused, match="read-only"):
        files.write("a.txt", b"x", b"one\r\ntwo\n")
    with pytest.raises(FileRefused, match="read-only"):
        files.delete("a.txt", b"one\r\ntwo\n")
    assert (root / "a.txt").read_bytes() == b"one\r\ntwo\n"


@pytest.mark.parametrize("links", [1, 2])
def test_h07_disk_full_changes_nothing(files, root, monkeypatch, links):
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


def test_h07_the_kernel_stops_the_write(root):
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
    with pytest.raises(FileRefused, match="changed on disk"):
        files.write("a.txt", b"x", b"what I read")
    with pytest.raises(FileRefused, match="exists now"):
        files.write("a.txt", b"x", None)
    with pytest.raises(FileRefused, match="deleted from the disk"):
        files.write("gone.txt", b"x", b"what I read")
    with pytest.raises(FileRefused, match="deleted from the disk"):
        files.write("gone/f.txt", b"x", b"what I read")
    with pytest.raises(FileRefused, match="changed on disk"):
        files.delete("a.txt", b"what I read")
    assert (root / "a.txt").read_bytes() == b"one\r\ntwo\n"
    assert not (root / "gone").exists()


def test_a_file_that_appears_while_writing_is_kept(files, root, monkeypatch):
    link = os.link

    def racing(*arguments, **named):
        (root / "n.txt").write_bytes(b"theirs")
        link(*arguments, **named)

    monkeypatch.setattr(os, "link", racing)
    with pytest.raises(FileRefused, match="exists now"):
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
    with pytest.raises(FileRefused, match="exists now"):
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


def test_a_name_that_a_file_gets_meanwhile_is_not_cut_off(files, root):
    files.prepare({"a.txt": (b"new", b"one\r\ntwo\n")})
    os.link(root / "a.txt", root / "b.txt")
    with pytest.raises(FileRefused, match="renamed meanwhile"):
        files.write("a.txt", b"new", b"one\r\ntwo\n")
    files.end()
    assert (root / "b.txt").read_bytes() == b"one\r\ntwo\n"
    assert nothing_left(root)


pytestmark = pytest.mark.case("H03")
CALLS = ("open", "stat", "access", "replace", "link", "unlink", "fsync", "mkdir", "listdir")
MOST = 60
Swap = Callable[[Path], None]


def file_for_link(root: Path) -> None:
    """The file becomes a link to one outside that holds the same bytes."""
    (root / "sub" / "f.txt").unlink(missing_ok=True)
    (root / "sub" / "f.txt").symlink_to(root.parent / "outside" / "f.txt")


def folder_for_link(root: Path) -> None:
    """Its folder becomes a link to one outside that holds such a file."""
    (root / "sub").rename(root / "moved")
    (root / "sub").symlink_to(root.parent / "outside")


def hard_link(root: Path) -> None:
    """The file becomes another name of one outside."""
    (root / "sub" / "f.txt").unlink(missing_ok=True)
    os.link(root.parent / "outside" / "f.txt", root / "sub" / "f.txt")


@contextmanager
def swapped_at(number: int, swap: Swap, root: Path) -> Iterator[list[int]]:
    """Right before the so manyth call of the system."""
    calls: list[int] = []

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            calls.append(1)
            if len(calls) == number:
                swap(root)
            return real(*arguments, **named)

        return call

    with pytest.MonkeyPatch.context() as patched:
        for name in CALLS:
            patched.setattr(os, name, counted(getattr(os, name)))
        yield calls


def made(folder: Path) -> tuple[Path, Path]:
    """A workspace with a file, and a folder outside with the same one."""
    root, outside = folder / "root", folder / "outside"
    for one in (root / "sub", outside):
        one.mkdir(parents=True)
        (one / "f.txt").write_bytes(b"old")
    return root, outside


def act(files: Files, what: str) -> None:
    if what == "change":
        files.write("sub/f.txt", b"new text", b"old")
    elif what == "make":
        files.write("sub/new.txt", b"new text", None)
    else:
        files.delete("sub/f.txt", b"old")


@each("what", ["change", "make", "delete"])
@each("swap", [file_for_link, folder_for_link])
def test_nothing_outside_is_written_made_or_deleted(tmp_path: Path, swap: Swap, what: str) -> None:
    done = 0
    for number in range(1, MOST):
        root, outside = made(tmp_path / f"{what}-{swap.__name__}-{number}")
        files = Files(root, Listing(root))
        with swapped_at(number, swap, root) as calls, suppress(FileRefused, OSError):
            act(files, what)
            done += 1
        assert os.listdir(outside) == ["f.txt"], number
        assert (outside / "f.txt").read_bytes() == b"old", number
        if len(calls) < number:
            break
    assert number > 8
    assert done, "at some moments it comes too late"


def test_a_hard_link_swapped_in_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    """Another name of a file is that file: who could link it there could have written it."""
    for number in range(1, MOST):
        root, outside = made(tmp_path / str(number))
        files = Files(root, Listing(root))
        with swapped_at(number, hard_link, root) as calls, suppress(FileRefused):
            act(files, "change")
        assert (outside / "f.txt").read_bytes() in (b"old", b"new text")
        assert (root / "sub" / "f.txt").read_bytes() in (b"old", b"new text")
        if len(calls) < number:
            break
