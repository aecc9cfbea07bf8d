"""Cases of the edge-case catalogue that have no scenario folder, through ``duetto apply``."""

from __future__ import annotations

import pytest

from tests.support.apply_runs import runner
from tests.support.scenarios import tree_of

Tree = dict[str, bytes]


@pytest.fixture
def apply(capfd, monkeypatch, tmp_path):
    return runner(capfd, monkeypatch, tmp_path / "home")


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


@pytest.mark.parametrize(
    "text",
    [
        "  *** Begin Patch\n  *** Update File: f.txt\n@@\n-a\n+A\n  *** End Patch\n",
        "*** Begin Patch\n*** Environment ID: e\n*** Update File: f.txt\n@@\n-a\n+A\n*** End Patch",
        "```diff\n" + update("@@\n-a\n+A\n") + "```\n",
        "apply_patch <<'PATCH'\n" + update("@@\n-a\n+A\n") + "PATCH\n",
        "1. Do:\n   " + update("@@\n-a\n+A\n").replace("\n", "\n   "),
    ],
)
def test_a09_a11_wrapped_patches(patched, text):
    """A09, A11: padded markers, Environment ID, fence, heredoc, list item."""
    tree, ended = patched(one(b"a\n"), text)
    assert (tree, ended.code) == (one(b"A\n"), 0)


def test_a09_two_patches_in_one_message(patched):
    """A09: two patches in one message -> both applied."""
    text = "First\n" + update("@@\n-a\n+A\n") + "then\n" + update("@@\n-b\n+B\n")
    tree, ended = patched(one(b"a\nb\n"), text)
    assert (tree, ended.code) == (one(b"A\nB\n"), 0)


def test_a12_earlier_closed_hunks_stay(patched):
    """A12: unprefixed line -> error naming it; earlier closed hunks stay."""
    tree, ended = patched(one(b"a\nb\n"), update("@@\n-a\n+A\n@@\n-b\nB\n"))
    assert (tree, ended.code) == (one(b"A\nb\n"), 1)
    assert "line 8: 'B' has no ' ', '+' or '-' prefix" in ended.err


def test_a13_whole_lines_of_a_new_file_stay(patched):
    """A13: line without + in Add File -> error; whole lines so far stay."""
    tree, ended = patched({}, patch("*** Add File: n.txt\n+one\ntwo\n"))
    assert ended.code == 1
    assert ended.report["hunks"][0]["stage"] == "landed"
    assert tree == {"n.txt": b"one\n"}


def test_a15_markers_as_content(patched):
    """A15: `+*** End Patch` is content."""
    tree, _ = patched(one(b"a\n"), update("@@\n a\n+*** End Patch\n"))
    assert tree == one(b"a\n*** End Patch\n")


def test_b04_missing_files_and_directories(patched, root):
    """B04: delete a directory, update missing -> error; files before it stay."""
    (root / "sub").mkdir()
    text = patch("*** Add File: n.txt\n+x\n*** Update File: gone.txt\n@@\n-a\n+b\n")
    tree, ended = patched({}, text)
    assert (tree, ended.code) == ({"n.txt": b"x\n"}, 1)
    assert "gone.txt" in ended.err
    assert "file not found" in ended.err
    _, ended = patched({}, patch("*** Delete File: sub\n"))
    assert ended.code == 1
    assert "directory" in ended.err
    assert (root / "sub").is_dir()


def test_b06_a_move_is_refused_when_a_hunk_failed(patched):
    """B06: move refused when a hunk failed."""
    text = patch("*** Update File: f.txt\n*** Move to: g.txt\n@@\n-a\n+A\n@@\n-zzz\n+Z\n")
    tree, ended = patched(one(b"a\n"), text)
    assert (tree, ended.code) == (one(b"A\n"), 1)


def test_b06_a_move_over_an_existing_file_is_flagged(patched):
    """B06: move over existing (flag)."""
    text = patch("*** Update File: f.txt\n*** Move to: g.txt\n@@\n-a\n+A\n")
    tree, ended = patched({"f.txt": b"a\n", "g.txt": b"old\n"}, text)
    assert (tree, ended.code) == ({"g.txt": b"A\n"}, 0)
    assert any(hunk["kind"] == "move" and hunk["flags"] for hunk in ended.report["hunks"])


def test_b07_sequential_on_the_live_buffer(patched):
    """B07: delete then add."""
    text = patch("*** Delete File: f.txt\n*** Add File: f.txt\n+new\n")
    tree, ended = patched(one(b"old\n"), text)
    assert (tree, ended.code) == (one(b"new\n"), 0)


def test_b08_no_header_behind_end_of_file(patched):
    """B08: a later chunk without @@ after End of File -> error."""
    tree, ended = patched(one(b"a\nb\n"), update("-b\n+B\n*** End of File\n-a\n+A\n"))
    assert (tree, ended.code) == (one(b"a\nB\n"), 1)
    assert "without a new '@@'" in ended.err


def test_b10_end_of_file_off_the_end(patched):
    """B10: not at the end but unique -> placed + flag."""
    tree, ended = patched(one(b"a\nb\nc\n"), update("@@\n-a\n+A\n*** End of File\n"))
    assert (tree, ended.code) == (one(b"A\nb\nc\n"), 0)
    assert ended.report["hunks"][0]["flags"]


def test_b11_blank_line_before_end(patched):
    """B11: blank line before End."""
    tree, ended = patched(one(b"a\nb\n"), update("@@\n-a\n+A\n\n"))
    assert (tree, ended.code) == (one(b"A\nb\n"), 0)


CLASSES = b"class A:\n    def f():\n        x\n\nclass B:\n    def f():\n        x\n"


def test_b12_stacked_anchors(patched):
    """B12: stacked @@."""
    tree, ended = patched(
        one(CLASSES), update("@@ class B:\n@@     def f():\n-        x\n+        y\n")
    )
    assert (tree, ended.code) == (one(CLASSES[:-2] + b"y\n"), 0)


def test_b12_anchor_missing_but_old_lines_unique(patched):
    """B12: anchor missing -> placed, flagged."""
    tree, ended = patched(one(b"a\nb\n"), update("@@ class Nowhere:\n-a\n+A\n"))
    assert (tree, ended.code) == (one(b"A\nb\n"), 0)
    assert ended.report["hunks"][0]["flags"]


def test_b13_line_numbers_break_ties_only(patched):
    """B13: `@@ -1,2 +1,2 @@` inside V4A -> a line hint."""
    tree, ended = patched(one(b"a\nb\n"), update("@@ -1,2 +1,2 @@\n-a\n+A\n b\n"))
    assert (tree, ended.code) == (one(b"A\nb\n"), 0)
    tree, ended = patched(one(b"a\nb\n"), update("@@ -2,1 +2,1 @@\n-z\n+A\n"))
    assert (tree, ended.code) == (one(b"a\nb\n"), 1)


def test_b16_context_only(patched):
    """B16: context-only hunk -> placed, no change, no review item."""
    tree, ended = patched(one(b"a\nb\n"), update("@@\n a\n b\n"))
    assert (tree, ended.code) == (one(b"a\nb\n"), 0)
    assert ended.report["hunks"] == []


def test_b17_repeated_lines_keep_their_order(patched):
    """B17: repeated lines `-a -b +b +b +a` -> order kept."""
    tree, ended = patched(one(b"x\na\nb\ny\n"), update("@@\n x\n-a\n-b\n+b\n+b\n+a\n y\n"))
    assert (tree, ended.code) == (one(b"x\nb\nb\na\ny\n"), 0)


def test_b18_no_end_patch_is_flagged(patched):
    """B18: no End Patch, clean end -> hunks kept, flagged."""
    text = "*** Begin Patch\n*** Update File: f.txt\n@@\n-a\n+A"
    tree, ended = patched(one(b"a\nb\n"), text)
    assert (tree, ended.code) == (one(b"A\nb\n"), 0)
    assert "no End Patch" in ended.report["hunks"][0]["flags"]


def test_b18_cut_between_hunks(patched):
    """B18: cut -> the open hunk is dropped, closed ones stay."""
    text = "*** Begin Patch\n*** Update File: f.txt\n@@\n-a\n+A\n@@\n"
    tree, ended = patched(one(b"a\nb\n"), text, "--cut")
    assert (tree, ended.code) == (one(b"A\nb\n"), 1)


def test_cut_in_a_move_header_moves_nothing(patched):
    text = "*** Begin Patch\n*** Update File: f.txt\n*** Move to: g.txt\n@@\n-a\n+A\n"
    tree, ended = patched(one(b"a\n"), text, "--cut")
    assert (tree, ended.code) == (one(b"a\n"), 1)


def test_f02_first_after_a_placed_hunk(patched):
    """F02: duplicate after a placed hunk -> the first after it, flagged."""
    tree, ended = patched(one(b"v\na\nv\nb\nv\n"), update("@@\n-a\n+A\n@@\n-v\n+V\n"))
    assert (tree, ended.code) == (one(b"v\nA\nV\nb\nv\n"), 0)
    assert ended.report["hunks"][1]["flags"]


def test_f02_ambiguous_lists_its_candidates(patched):
    """F02: exact duplicate without anchor -> headless reject with the lines."""
    tree, ended = patched(one(b"v\na\nv\n"), update("@@\n-v\n+V\n"))
    assert (tree, ended.code) == (one(b"v\na\nv\n"), 1)
    assert ended.report["hunks"][0]["candidates"] == [1, 3]


@pytest.mark.parametrize(
    ("data", "text", "expected"),
    [
        (b"\xef\xbb\xbfa\nb\n", update("@@\n-a\n+A\n"), b"\xef\xbb\xbfA\nb\n"),
        (b"a\nb\n", update("@@\n-a\n+A\n+B\n").replace("\n", "\r\n"), b"A\nB\nb\n"),
        (b"a\r\nb\r\n", update("@@\n-a\n+A\n+B\n"), b"A\r\nB\r\nb\r\n"),
        (b"a\r\nb\r\n", update("@@\n-a\n+A\n").replace("\n", "\r\n"), b"A\r\nb\r\n"),
        (b"a\xc2\x85x\xe2\x80\xa8y\nb\n", update("@@\n-b\n+B\n"), b"a\xc2\x85x\xe2\x80\xa8y\nB\n"),
        (b"a\x0cb\rc\nd", update("@@\n-a\x0cb\rc\n+x\n"), b"x\nd"),
        (b"a\nb", update("@@\n a\n-b\n+B\n"), b"a\nB\n"),
        (b"", update("@@\n+a\n"), b"a\n"),
    ],
)
def test_h04_only_the_lines_of_the_hunk_change(patched, data, text, expected):
    """H04: CRLF, mixed endings, BOM, no final newline, FF/NEL/U+2028; CRLF patch."""
    tree, ended = patched(one(data), text)
    assert (tree, ended.code) == (one(expected), 0)


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
