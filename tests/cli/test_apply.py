"""``duetto apply``: its report, exit codes and refusals; a sample of the corpus on a real disk.

All scenarios are played in memory by tests/core/patches/test_scenarios.py; here every tenth
of a kind, and those that only a real file system can show.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.apply_runs import Apply
from tests.support.commands import Duetto, clean_environment
from tests.support.scenarios import LINK, Scenario, Tree, scenarios, tree_of
from tests.support.sources import ROOT
from tests.support.tables import case

FORMATS = {
    "v4a": "apply_patch",
    "sr": "search_replace",
    "udiff": "unified_diff",
    "whole": "whole_file",
}
ON_A_DISK = {"273_add_over_a_folder", "274_add_below_a_file", "275_update_a_folder"}
ON_A_DISK |= {"302_path_too_long"}
SCENARIOS = [
    one
    for kind in FORMATS
    for number, one in enumerate(scenarios(kind))
    if number % 10 == 0 or one.meta.get("symlinks") or one.folder.name in ON_A_DISK
]
HELLO = "*** Begin Patch\n*** Add File: hello.txt\n+hello\n*** End Patch\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "around" / "workspace"
    folder.mkdir(parents=True)
    return folder


def patch(body: str) -> str:
    return f"*** Begin Patch\n{body}*** End Patch\n"


def update(path: str, body: str) -> str:
    return patch(f"*** Update File: {path}\n{body}")


@pytest.mark.slow
@pytest.mark.case("A01", "I04", "I05")
@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_a_scenario_known_detected_in_pieces_and_only_checked(
    apply: Apply, scenario: Scenario, tmp_path: Path
) -> None:
    own = FORMATS[scenario.folder.parent.name]
    told = set()
    for way in ("--format=auto", f"--format={own}", "--chunk=1", "--chunk=17", "--check"):
        root = tmp_path / way.replace("=", "_") / "workspace"
        root.mkdir(parents=True)
        before = scenario.make(root)
        flags = ["--cut"] if scenario.cut else []
        ended = apply(scenario.patch, way, "--json", "--report", "--root", str(root), *flags)
        assert ended.code == (1 if scenario.error else 0), way
        assert scenario.error in ended.err, way
        assert bool(scenario.error) == bool(ended.err), way
        assert [path.name for path in root.parent.iterdir()] == [root.name], way
        if way == "--check":
            assert tree_of(root) == before
        else:
            assert tree_of(root) == scenario.expected(), way
            check_report(ended.report, before, scenario)
            told.add(ended.out)
    assert len(told) == 1, "the same to the last word"


def check_report(report: dict[str, Any], before: Tree, scenario: Scenario) -> None:
    """What a model is told is what was kept, and what lies on the disk."""
    assert report["ok"] is not bool(scenario.error)
    after, lines = scenario.expected(), report["report"].split("\n")
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    kept: set[str] = set()
    for hunk in report["hunks"]:
        placed = hunk["stage"] == "landed"
        assert hunk["decision"] == ("accepted" if placed else "pending")
        (line,) = [one for one in lines if one.startswith(f"  hunk {hunk['id']} ")]
        assert ("kept" in line.split("NOT applied")[0]) != ("NOT applied" in line)
        if "NOT applied" not in line:
            kept |= {hunk["path"], hunk["target"]}
            check_rows(line, hunk["path"], (before, after), scenario.patch)
    if LINK not in b"".join(before.values()):
        assert changed <= {path.replace("\\", "/") for path in kept}
    if scenario.error and not report["hunks"]:
        assert scenario.error in report["report"] or "interrupted" in report["report"]


def check_rows(line: str, path: str, trees: tuple[Tree, Tree], patch: str) -> None:
    """The rows that a kept hunk is said to have hold what the patch says."""
    found = re.search(r"now lines? ([0-9]+)(?:-([0-9]+))?", line)
    before, after = (tree.get(path, b"") for tree in trees)
    if found is None or LINK in (before or after)[: len(LINK)] or path not in trees[1]:
        return
    said = {one.lstrip("+ ").strip() for one in patch.splitlines()}
    rows = after.decode().removeprefix("\ufeff").split("\n")
    first, last = int(found[1]), int(found[2] or found[1])
    now = {row.strip() for row in rows[first - 1 : last]}
    assert now & said
    assert now <= said | {row.strip() for row in before.decode().split("\n")}


def test_the_real_command_as_a_child_process(root, tmp_path):
    (root / "a.txt").write_text("one\ntwo\n")
    duetto = Duetto(ROOT, clean_environment(tmp_path / "home"))
    patch = update("a.txt", "@@\n one\n-two\n+2\n").encode()
    ended = duetto.run("apply", "--root", root, "--json", "-", stdin=patch)
    assert (ended.returncode, ended.stderr) == (0, b"")
    (hunk,) = json.loads(ended.stdout)["hunks"]
    assert (hunk["path"], hunk["stage"], hunk["decision"]) == ("a.txt", "landed", "accepted")
    assert (root / "a.txt").read_text() == "one\n2\n"


def test_a_patch_from_a_file_and_into_this_folder(apply, root, tmp_path, monkeypatch):
    patch = tmp_path / "p.patch"
    patch.write_text(HELLO)
    monkeypatch.chdir(root)
    assert apply("", str(patch)).code == 0
    assert tree_of(root) == {"hello.txt": b"hello\n"}


def test_bad_usage(apply, root, monkeypatch) -> None:
    for arguments, words in (
        (["--root", "no-such-folder"], "does not exist"),
        (["--root", "file"], "is not a folder"),
        (["--format", "diff"], "diff"),
        (["--chunk", "0"], "chunk"),
        (["--chunk", "x"], "chunk"),
        (["--nope"], "--nope"),
        (["no-such.patch"], "cannot read the patch no-such.patch: no such file"),
        (["."], "cannot read the patch"),
        (["a", "b"], "unexpected extra argument"),
        (["binary"], "not UTF-8"),
    ):
        with case(arguments, words):
            (root / "file").write_text("")
            (root / "binary").write_bytes(b"\xff\xfe\x00")
            monkeypatch.chdir(root)
            before = tree_of(root)
            ended = apply(HELLO, *arguments)
            assert ended.code == 2
            assert words in ended.err
            assert ended.err.count("\n") == 1
            assert tree_of(root) == before


def test_no_patch_on_a_terminal(apply, root, monkeypatch):
    monkeypatch.setattr("tui.cli.apply._is_terminal", lambda: True)
    ended = apply("", "--root", str(root))
    assert ended.code == 2
    assert "no patch" in ended.err


def test_all_files_or_none_are_written(apply, root):
    """A write that is refused takes the others of the patch back."""
    (root / "a.txt").write_text("a\n")
    (root / "z.txt").write_text("z\n")
    (root / "z.txt").chmod(0o444)
    patch = (
        "*** Begin Patch\n*** Update File: a.txt\n@@\n-a\n+A\n*** Add File: new/n.txt\n+n\n"
        "*** Update File: z.txt\n@@\n-z\n+Z\n*** End Patch\n"
    )
    ended = apply(patch, "--root", str(root), "--json")
    assert ended.code == 1
    assert "read-only" in ended.err
    assert {hunk["decision"] for hunk in ended.report["hunks"]} == {"pending"}
    assert ended.report["written"] == []
    assert tree_of(root) == {"a.txt": b"a\n", "z.txt": b"z\n"}


@pytest.mark.parametrize("name", ["../elsewhere.txt", ".env"])
def test_a_hard_link_that_leads_elsewhere_is_written_only_with_the_option(apply, root, name):
    (root / name).write_text("one\n")
    os.link(root / name, root / "a.txt")
    patch = update("a.txt", "@@\n-one\n+two\n")
    ended = apply(patch, "--root", str(root))
    assert ended.code == 1
    assert "hard link" in ended.err
    assert (root / name).read_text() == "one\n"
    assert apply(patch, "--root", str(root), "--linked").code == 0
    assert (root / name).read_text() == "two\n"
    assert (root / "a.txt").samefile(root / name)


def test_the_report_for_a_model_quotes_nothing_that_no_model_would_be_sent(apply, root):
    (root / ".env").write_text("KEY=hunter2\nB=1\n")
    text = "*** Begin Patch\n*** Update File: .env\n@@\n-KEY=x\n+KEY=y\n*** End Patch\n"
    ended = apply(text, "--root", str(root), "--report")
    assert "hunk 1 NOT applied" in ended.out
    assert "hunter2" not in ended.out
    assert "sha" not in ended.out


def test_the_report_does_not_act_on_the_terminal(apply: Apply, root: Path) -> None:
    (root / "a.txt").write_text("x\n")
    patch = "a.txt\n<<<<<<< SEARCH\n\x1b]0;x\x07\n=======\n2\n>>>>>>> REPLACE\n"
    ended = apply(patch, "--root", str(root), "--report")
    assert "\x1b" not in ended.out + ended.err


@pytest.mark.parametrize("fmt", ["apply_patch", "search_replace", "unified_diff", "whole_file"])
@pytest.mark.case("A07")
def test_a_text_without_an_edit_is_none_in_any_format(apply: Apply, fmt: str, root: Path) -> None:
    (root / "a.txt").write_text("x\n")
    ended = apply("only words, and `a.txt`\n", "--root", str(root), "--format", fmt, "--json")
    assert ended.code == 1
    assert ended.report["failure"]
    assert ended.report["hunks"] == []
    assert tree_of(root) == {"a.txt": b"x\n"}


NEAR = {
    "apply_patch": "*** Begin Patch\n*** Update File: a.txt\n@@\n {0}\n-{1}\n+x\n {2}\n"
    "*** End Patch\n",
    "search_replace": "a.txt\n<<<<<<< SEARCH\n{0}\n{1}\n{2}\n=======\n{0}\nx\n{2}\n"
    ">>>>>>> REPLACE\n",
    "unified_diff": "--- a/a.txt\n+++ b/a.txt\n@@ -7,3 +7,3 @@\n {0}\n-{1}\n+x\n {2}\n",
}


@pytest.mark.case("I06")
@pytest.mark.parametrize("fmt", NEAR)
def test_a_miss_names_the_closest_window_and_both_lines_and_quotes_it(
    apply: Apply, fmt: str, root: Path
) -> None:
    text = "".join(f"row {n}: value\n" for n in range(1, 41))
    (root / "a.txt").write_text(text)
    patch = NEAR[fmt].format("row 20: value", "row 21: vaule", "row 22: value")
    ended = apply(patch, "--root", str(root), "--report", "--format", fmt)
    assert ended.code == 1
    for said in (ended.err, ended.out):
        assert "line 20" in said
        assert "2 of 3" in said
        assert "row 21: value" in said
        assert "row 21: vaule" in said
    assert "Current text of a.txt, lines 18-" in ended.out
    assert "\nrow 21: value\n" in ended.out
    assert (root / "a.txt").read_text() == text


# cases of the edge-case catalogue that have no scenario folder


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
    patched({}, update("f.txt", "@@\n-a\n+b\n"))
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
    body = update("f.txt", "*** Move to: g.txt\n@@\n-a\n+A\n")
    tree, ended = patched({"sub/f.txt": b"a\n", "f.txt": b"a\n"}, f"{opening}\n{body}EOF\n")
    assert (tree, ended.code) == ({"sub/g.txt": b"A\n", "f.txt": b"a\n"}, 0)


def test_a09_the_folder_of_a_heredoc_ends_with_it(patched):
    """A09: the next patch is relative to the root again; absolute ones always are."""
    one_of = update("f.txt", "@@\n-a\n+A\n")
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
