"""Cases of the edge-case catalogue that have no scenario folder, through ``duetto apply``."""

from __future__ import annotations

import pytest

from tests.support.scenarios import tree_of

Tree = dict[str, bytes]


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def patched(apply, root):
    """Patch a tree whole and char by char; both give the same; returns tree and outcome."""

    def patching(tree: Tree, patch: str | bytes, *arguments: str):
        for path, data in tree.items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        checked = apply(patch, "--root", str(root), "--check", "--json", *arguments)
        ended = apply(patch, "--root", str(root), "--chunk", "1", "--json", *arguments)
        assert (checked.code, checked.err) == (ended.code, ended.err)
        return tree_of(root), ended

    return patching


def patch(body: str) -> str:
    return f"*** Begin Patch\n{body}*** End Patch\n"


def update(body: str, path: str = "f.txt") -> str:
    return patch(f"*** Update File: {path}\n{body}")


def one(data: bytes) -> Tree:
    return {"f.txt": data}


def test_a13_whole_lines_of_a_new_file_stay(patched):
    """A13: line without + in Add File -> error; whole lines so far stay."""
    tree, ended = patched({}, patch("*** Add File: n.txt\n+one\ntwo\n"))
    assert ended.code == 1
    assert ended.report["hunks"][0]["stage"] == "landed"
    assert tree == {"n.txt": b"one\n"}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"caf\xe9\nb\n", "not UTF-8"),
        ("a\nb\n".encode("utf-16"), "not UTF-8"),
        (b"a\0\nb\n", "binary"),
        (b"b\n" * (5 << 20), "8 MB"),
    ],
)
def test_h06_bytes_that_are_refused(patched, data, words):
    """H06: Latin-1, UTF-16, NUL bytes, > 8 MB -> refused with the reason, unchanged."""
    tree, ended = patched(one(data), update("@@\n-b\n+B\n"))
    assert (tree, ended.code) == (one(data), 1)
    assert words in ended.err or "binary" in ended.err


def test_h01_fifo_and_dangling_link(patched, root):
    """H01: dangling tail, FIFO -> refused, nothing created."""
    import os

    os.mkfifo(root / "pipe")
    (root / "ln").symlink_to("../nowhere/x")
    text = patch("*** Add File: ln\n+x\n*** Update File: pipe\n@@\n-a\n+b\n*** Delete File: pipe\n")
    _, ended = patched({}, text)
    assert ended.code == 1
    assert "through a symlink" in ended.err
    assert "FIFO" in ended.err
    assert not (root.parent / "nowhere").exists()
    assert (root / "pipe").is_fifo()


def test_h02_absolute_inside_and_symlink_inside(patched, root):
    """H02: absolute inside, `..` inside, symlink inside -> accepted."""
    (root / "ln.txt").symlink_to("f.txt")
    tree, ended = patched(one(b"a\n"), update("@@\n-a\n+b\n", str(root / "f.txt")))
    assert (tree["f.txt"], ended.code) == (b"b\n", 0)
    tree, ended = patched({}, update("@@\n-b\n+c\n", "sub/../ln.txt"))
    assert (tree["f.txt"], ended.code) == (b"c\n", 0)
    assert (root / "ln.txt").is_symlink()


def test_h07_mode_is_kept_and_read_only_refused(patched, root):
    """H07: exec bit kept; read-only file refused."""
    (root / "f.txt").write_bytes(b"a\n")
    (root / "f.txt").chmod(0o755)
    patched({}, update("@@\n-a\n+b\n"))
    assert (root / "f.txt").stat().st_mode & 0o777 == 0o755
    (root / "f.txt").chmod(0o555)
    tree, _ = patched({}, "")
    assert tree == one(b"b\n")


def test_h09_twin(patched):
    """H09: the same name with accents composed in another way -> refused, no twin."""
    tree, ended = patched({"cafe\u0301.txt": b"a\n"}, patch("*** Add File: caf\u00e9.txt\n+x\n"))
    assert (tree, ended.code) == ({"cafe\u0301.txt": b"a\n"}, 1)
    assert "is spelled" in ended.err


@pytest.mark.parametrize(
    "opening",
    [
        "cd sub && apply_patch <<'EOF'",
        'cd "sub" && apply_patch <<EOF',
        "cd 'sub/' && apply_patch << \"EOF\"",
        "bash -lc 'cd ./sub && apply_patch <<EOF",
    ],
)
def test_a09_a_heredoc_behind_cd_has_its_paths_below_that_folder(patched, opening):
    """A09 [codex]: `cd DIR && apply_patch <<EOF`."""
    body = update("*** Move to: g.txt\n@@\n-a\n+A\n")
    tree, ended = patched({"sub/f.txt": b"a\n", "f.txt": b"a\n"}, f"{opening}\n{body}EOF\n")
    assert (tree, ended.code) == ({"sub/g.txt": b"A\n", "f.txt": b"a\n"}, 0)


def test_a09_the_folder_of_a_heredoc_ends_with_it(patched):
    """A09: the next patch is relative to the root again; absolute ones always are."""
    one_of = update("@@\n-a\n+A\n")
    text = f"cd sub && apply_patch <<EOF\n{one_of}EOF\nthen\n{one_of}"
    tree, ended = patched({"sub/f.txt": b"a\n", "f.txt": b"a\n"}, text)
    assert (tree, ended.code) == ({"sub/f.txt": b"A\n", "f.txt": b"A\n"}, 0)


def test_a09_cd_out_of_the_workspace_is_refused(patched):
    """A09, H01: the folder is checked as all paths are."""
    text = "cd .. && apply_patch <<EOF\n" + patch("*** Add File: n.txt\n+x\n") + "EOF\n"
    tree, ended = patched({}, text)
    assert (tree, ended.code) == ({}, 1)
    assert "outside the workspace" in ended.err


def test_h02_absolute_paths_through_a_link_to_the_root(apply, root):
    """H02: the workspace was opened through a link: its files may be named through it."""
    link = root.parent / "link"
    link.symlink_to(root)
    (root / "f.txt").write_bytes(b"a\nb\n")
    both = f"*** Update File: {link}/f.txt\n@@\n-a\n+A\n*** Update File: {root}/f.txt\n@@\n-b\n+B\n"
    ended = apply(patch(both), "--root", str(link), "--json")
    assert (ended.code, tree_of(root)) == (0, one(b"A\nB\n"))
    assert {hunk["path"] for hunk in ended.report["hunks"]} == {"f.txt"}
