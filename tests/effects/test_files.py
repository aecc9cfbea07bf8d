"""The workspace's files on a real disk."""

from __future__ import annotations

import os
import stat
import unicodedata

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


@pytest.mark.case("H01")
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


@pytest.mark.case("H01")
def test_h01_fifo_is_refused_and_does_not_block(files, root):
    """H01: FIFO -> refused."""
    os.mkfifo(root / "pipe")
    found = files.read("pipe")
    assert (found.data, found.kind) == (None, "FIFO")
    with pytest.raises(FileRefused, match="FIFO"):
        files.write("pipe", b"x", b"")


@pytest.mark.case("H02")
def test_h02_paths_that_are_accepted(files, root):
    """H02: absolute inside, .. inside, symlink inside, spaces and unicode."""
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


@pytest.mark.case("H02")
def test_h02_root_behind_a_symlink(root, tmp_path):
    (tmp_path / "link").symlink_to("ws")
    files = Files(tmp_path / "link", Listing(tmp_path / "link"))
    assert files.root == str(root)
    assert files.read(str(tmp_path / "link" / "a.txt")).data is not None
    assert files.read(str(root / "a.txt")).data is not None


@pytest.mark.case("H06")
def test_h06_too_large_is_refused(files, root):
    """H06: > 8 MB -> refused with the reason."""
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
    """B01: directory made only at save."""
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


@pytest.mark.case("H09")
def test_h09_a_twin_is_refused(files, root):
    """H09: the same name composed in another way -> no twin."""
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
