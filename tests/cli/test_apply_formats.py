"""``duetto apply`` in every format: all scenarios of the corpus, whole, in pieces and cut.

SEARCH/REPLACE, unified diffs and whole files; those of apply_patch are in `test_apply`.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.apply_runs import Apply, Ended, runner
from tests.support.scenarios import LINK, Scenario, Tree, scenarios, tree_of

FORMATS = {"sr": "search_replace", "udiff": "unified_diff", "whole": "whole_file"}
SCENARIOS = [one for folder in FORMATS for one in scenarios(folder)]
ALL = [*scenarios("v4a"), *SCENARIOS]
DELETERS = ("+++ /dev/null", "deleted file mode", "rename to", "*** Delete File:", "*** Move to:")


@pytest.fixture
def apply(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Apply:
    return runner(capfd, monkeypatch, tmp_path / "home")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "around" / "workspace"
    folder.mkdir(parents=True)
    return folder


def format_of(scenario: Scenario) -> str:
    return FORMATS.get(scenario.folder.parent.name, "apply_patch")


def flags_of(scenario: Scenario) -> list[str]:
    return ["--cut"] if scenario.cut else []


def check(scenario: Scenario, root: Path, ended: Ended) -> None:
    assert tree_of(root) == scenario.expected()
    assert [path.name for path in root.parent.iterdir()] == [root.name]
    assert ended.code == (1 if scenario.error else 0)
    assert scenario.error in ended.err
    assert bool(scenario.error) == bool(ended.err)


@pytest.mark.parametrize("fmt", ["auto", "own"])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_a_scenario_whole_known_or_detected(
    apply: Apply, scenario: Scenario, fmt: str, root: Path
) -> None:
    scenario.make(root)
    wanted = format_of(scenario) if fmt == "own" else "auto"
    ended = apply(
        scenario.patch, "--root", str(root), "--format", wanted, *flags_of(scenario), "--json"
    )
    check(scenario, root, ended)
    assert ended.report["ok"] is not bool(scenario.error)


@pytest.mark.case("A01")
@pytest.mark.parametrize("size", [1, 2, 5, 17])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_a_scenario_in_pieces_is_the_same_to_the_last_word(
    apply: Apply, scenario: Scenario, size: int, root: Path, tmp_path: Path
) -> None:
    scenario.make(root)
    other = tmp_path / "other" / "workspace"
    other.mkdir(parents=True)
    scenario.make(other)
    arguments = ["--json", "--report", "--format", format_of(scenario), *flags_of(scenario)]
    whole = apply(scenario.patch, *arguments, "--root", str(other))
    ended = apply(scenario.patch, *arguments, "--root", str(root), "--chunk", str(size))
    check(scenario, root, ended)
    assert (ended.out, ended.err) == (whole.out, whole.err)
    for hunk in ended.report["hunks"]:
        placed = hunk["stage"] in ("landed", "partial")
        assert hunk["decision"] == ("accepted" if placed else "pending")


def cuts_of(text: str) -> Iterator[int]:
    """Prefixes: around every end of a line, and some between."""
    ends = {at + step for at, char in enumerate(text) if char == "\n" for step in (0, 1, 2)}
    some = random.Random(len(text)).sample(range(len(text) + 1), min(25, len(text) + 1))
    yield from sorted({at for at in {*ends, *some} if at <= len(text)})


@pytest.mark.case("A02")
@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_cut_anywhere_no_file_goes_early(apply: Apply, scenario: Scenario, tmp_path: Path) -> None:
    text = scenario.patch
    for at in cuts_of(text):
        root = tmp_path / f"cut{at}"
        root.mkdir()
        before = scenario.make(root)
        arguments = ("--root", str(root), "--format", format_of(scenario), "--cut", "--json")
        ended = apply(text[:at], *arguments)
        assert ended.code in (0, 1)
        assert "internal error" not in ended.err
        gone = before.keys() - tree_of(root).keys()
        assert len(gone) <= sum(text[:at].count(mark) for mark in DELETERS)
        for hunk in ended.report["hunks"]:
            assert hunk["stage"] in ("landed", "partial", "dropped", "refused", "conflict")


@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_check_changes_no_byte(apply: Apply, scenario: Scenario, root: Path) -> None:
    before = scenario.make(root)
    ended = apply(scenario.patch, "--root", str(root), "--check", *flags_of(scenario))
    assert tree_of(root) == before
    assert ended.code == (1 if scenario.error else 0)
    assert "nothing was written" in ended.out


@pytest.mark.case("I04", "I05")
@pytest.mark.parametrize("scenario", ALL, ids=str)
def test_the_report_is_of_what_was_kept_and_of_the_disk(
    apply: Apply, scenario: Scenario, root: Path
) -> None:
    before = scenario.make(root)
    arguments = ("--root", str(root), "--json", "--report", *flags_of(scenario))
    told = told_by(apply(scenario.patch, *arguments).report)
    assert "revert" not in told.text
    after = scenario.expected()
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    kept: set[str] = set()
    for hunk in told.hunks:
        (line,) = [one for one in told.lines if one.startswith(f"  hunk {hunk['id']} ")]
        assert ("kept" in line.split("NOT applied")[0]) != ("NOT applied" in line)
        if "NOT applied" not in line:
            kept |= {hunk["path"], hunk["target"]}
            check_rows(line, hunk["path"], (before, after), scenario.patch)
    if LINK not in b"".join(before.values()):
        assert changed <= {path.replace("\\", "/") for path in kept}
    if scenario.error and not told.hunks:
        assert scenario.error in told.text or "interrupted" in told.text


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


class Told:
    """What a model would be told, beside what the hunks are."""

    def __init__(self, report: dict[str, Any]) -> None:
        self.text: str = report["report"]
        self.lines = self.text.split("\n")
        self.hunks: list[dict[str, Any]] = report["hunks"]


def told_by(report: dict[str, Any]) -> Told:
    return Told(report)


def test_the_report_alone_is_plain_text(apply: Apply, root: Path) -> None:
    (root / "a.txt").write_text("one\ntwo\nthree\n")
    patch = "a.txt\n<<<<<<< SEARCH\ntwo\n=======\n2\n>>>>>>> REPLACE\n"
    ended = apply(patch, "--root", str(root), "--report")
    assert ended.code == 0
    assert ended.out.splitlines()[0] == "the patch was read: placed, accepted (1 hunk)"
    assert ended.out.splitlines()[2] == "  hunk 1 kept, accepted, now line 2"
    again = apply(patch, "--root", str(root), "--report")
    assert again.code == 1
    assert "already in the file" in again.out
    assert (root / "a.txt").read_text() == "one\n2\nthree\n"


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


def test_a_format_takes_no_other(apply: Apply, root: Path) -> None:
    (root / "a.txt").write_text("x\n")
    blocks = "a.txt\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n"
    for wrong in ("apply_patch", "unified_diff"):
        assert apply(blocks, "--root", str(root), "--format", wrong).code == 1
        assert (root / "a.txt").read_text() == "x\n"
    assert apply(blocks, "--root", str(root), "--format", "search_replace").code == 0


def test_json_without_report_is_as_before(apply: Apply, root: Path) -> None:
    ended = apply("--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n+n\n", "--root", str(root), "--json")
    assert list(json.loads(ended.out)) == [
        "ok",
        "checked",
        "failure",
        "written",
        "deleted",
        "hunks",
    ]
    assert tree_of(root) == {"n.txt": b"n\n"}


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
