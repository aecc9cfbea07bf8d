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


def test_h07_mode_is_kept_and_read_only_refused(patched, root):
    """H07: exec bit kept; read-only file refused."""
    (root / "f.txt").write_bytes(b"a\n")
    (root / "f.txt").chmod(0o755)
    patched({}, update("@@\n-a\n+b\n"))
    assert (root / "f.txt").stat().st_mode & 0o777 == 0o755
    (root / "f.txt").chmod(0o555)
    tree, _ = patched({}, "")
    assert tree == one(b"b\n")


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


def test_a_block_without_a_file_is_refused_by_its_reason(patched):
    block = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n"
    _, ended = patched({"a.txt": b"a\n"}, block)
    assert ended.code == 1
    assert ended.err.startswith("duetto: hunk 1 refused: no file name above this block")
