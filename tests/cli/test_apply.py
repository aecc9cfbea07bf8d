"""``duetto apply``: all apply_patch scenarios of the corpus, output, exit codes, bad usage."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.apply_runs import runner
from tests.support.scenarios import LINK, Scenario, scenarios, tree_of
from tui.core.edits.patches.landing import Landing
from tui.core.edits.workspace import Workspace
from tui.effects.files import Files
from tui.effects.listing import Listing

SCENARIOS = scenarios("v4a")
REPOSITORY = Path(__file__).parent.parent.parent
HELLO = "*** Begin Patch\n*** Add File: hello.txt\n+hello\n*** End Patch\n"


@pytest.fixture
def apply(capfd, monkeypatch, tmp_path):
    return runner(capfd, monkeypatch, tmp_path / "home")


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "around" / "workspace"
    folder.mkdir(parents=True)
    return folder


def update(path: str, body: str) -> str:
    return f"*** Begin Patch\n*** Update File: {path}\n{body}*** End Patch\n"


def check(scenario: Scenario, root: Path, ended) -> None:
    assert tree_of(root) == scenario.expected()
    assert [path.name for path in root.parent.iterdir()] == [root.name]
    assert ended.code == (1 if scenario.error else 0)
    assert scenario.error in ended.err
    assert bool(scenario.error) == bool(ended.err)


def flags_of(scenario: Scenario) -> list[str]:
    return ["--cut"] if scenario.cut else []


@pytest.mark.parametrize("fmt", ["auto", "apply_patch"])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_scenario_whole(apply, scenario, fmt, root):
    scenario.make(root)
    ended = apply(scenario.patch, "--root", str(root), "--format", fmt, *flags_of(scenario))
    check(scenario, root, ended)


@pytest.mark.parametrize("size", [1, 2, 5, 17])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_a01_scenario_in_pieces(apply, scenario, size, root, tmp_path):
    """A01: any scenario fed in pieces -> identical tree and report as whole."""
    scenario.make(root)
    other = tmp_path / "other" / "workspace"
    other.mkdir(parents=True)
    scenario.make(other)
    arguments = ["--json", *flags_of(scenario)]
    whole = apply(scenario.patch, *arguments, "--root", str(other))
    ended = apply(scenario.patch, *arguments, "--root", str(root), "--chunk", str(size))
    check(scenario, root, ended)
    assert ended.report["ok"] is not bool(scenario.error)
    assert (ended.out, ended.err) == (whole.out, whole.err)
    for hunk in ended.report["hunks"]:
        placed = hunk["stage"] in ("landed", "partial")
        assert hunk["decision"] == ("accepted" if placed else "pending")


@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_a02_cut_at_every_prefix(apply, scenario, tmp_path):
    """A02: cut at every prefix -> no exception; no file deleted or moved early."""
    text = scenario.patch
    ends = [at + 1 for at, char in enumerate(text) if char == "\n"]
    for at in range(len(text) + 1):
        root = tmp_path / f"cut{at}"
        root.mkdir()
        before = scenario.make(root)
        ended = apply(text[:at], "--root", str(root), "--cut", "--json")
        assert ended.code in (0, 1)
        assert "internal error" not in ended.err
        after = tree_of(root)
        seen = sum(text[:at].count(f"\n*** {kind}") for kind in ("Delete File:", "Move to:"))
        gone = before.keys() - after.keys()
        assert len(gone) <= seen
        if gone:
            assert "\n***" in text[text.index("File:") : at]
            assert any(end <= at for end in ends)
        for hunk in ended.report["hunks"]:
            assert hunk["stage"] in ("landed", "partial", "dropped", "refused", "conflict")


def test_the_real_command_as_a_child_process(root, tmp_path):
    (root / "a.txt").write_text("one\ntwo\n")
    environment = {**os.environ, "DUETTO_HOME": str(tmp_path / "home")}
    ended = subprocess.run(
        [sys.executable, "-m", "tui.cli", "apply", "--root", str(root), "--json", "-"],
        input=update("a.txt", "@@\n one\n-two\n+2\n"),
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        env=environment,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    (hunk,) = json.loads(ended.stdout)["hunks"]
    assert (hunk["path"], hunk["stage"], hunk["decision"]) == ("a.txt", "landed", "accepted")
    assert (root / "a.txt").read_text() == "one\n2\n"


def test_json_of_what_was_placed_and_what_not(apply, root):
    (root / "a.txt").write_text("one\ntwo\nthree\n")
    (root / "b.txt").write_text("x\n")
    patch = (
        "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+1\n@@\n-nine\n+9\n"
        "*** Delete File: b.txt\n*** Add File: c.txt\n+new\n*** End Patch\n"
    )
    ended = apply(patch, "--root", str(root), "--json")
    report = ended.report
    assert ended.code == 1
    assert not report["ok"]
    assert [
        (hunk["path"], hunk["kind"], hunk["stage"], hunk["decision"]) for hunk in report["hunks"]
    ] == [
        ("a.txt", "edit", "landed", "accepted"),
        ("a.txt", "edit", "refused", "pending"),
        ("b.txt", "delete", "landed", "accepted"),
        ("c.txt", "add", "landed", "accepted"),
    ]
    assert "context not found" in report["hunks"][1]["reason"]
    assert report["hunks"][1]["reason"] in ended.err
    assert report["hunks"][0]["line"] == 1
    assert sorted(report["written"]) == ["a.txt", "c.txt"]
    assert report["deleted"] == ["b.txt"]
    assert tree_of(root) == {"a.txt": b"1\ntwo\nthree\n", "c.txt": b"new\n"}


def test_flagged_hunks_are_applied_and_listed(apply, root):
    (root / "d.txt").write_text("old\n")
    ended = apply(HELLO.replace("hello.txt", "d.txt"), "--root", str(root))
    assert ended.code == 0
    assert "overwrites" in ended.out
    ended = apply(update("d.txt", "@@ def nowhere():\n-hello\n+x\n"), "--root", str(root), "--json")
    (hunk,) = ended.report["hunks"]
    assert ended.code == 0
    assert hunk["flags"]
    assert (root / "d.txt").read_text() == "x\n"


def test_check_writes_nothing(apply, root):
    (root / "a.txt").write_text("one\n")
    before = tree_of(root)
    ended = apply(update("a.txt", "@@\n-one\n+1\n"), "--root", str(root), "--check")
    assert ended.code == 0
    assert "nothing was written" in ended.out
    ended = apply(update("a.txt", "@@\n-two\n+1\n"), "--root", str(root), "--check", "--json")
    assert ended.code == 1
    assert ended.report["checked"] is True
    assert ended.report["written"] == []
    ended = apply(HELLO, "--root", str(root), "--check", "--json")
    assert ended.report["hunks"][0]["decision"] == "pending"
    assert tree_of(root) == before


def test_a_patch_from_a_file_and_into_this_folder(apply, root, tmp_path, monkeypatch):
    patch = tmp_path / "p.patch"
    patch.write_text(HELLO)
    monkeypatch.chdir(root)
    assert apply("", str(patch)).code == 0
    assert tree_of(root) == {"hello.txt": b"hello\n"}


def test_a_text_without_a_patch(apply, root):
    ended = apply("just words\n", "--root", str(root))
    assert ended.code == 1
    assert "no Begin Patch" in ended.err
    ended = apply("", "--root", str(root), "--json")
    assert ended.code == 1
    assert "no Begin Patch" in ended.report["failure"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
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
    ],
)
def test_bad_usage(apply, root, monkeypatch, arguments, words):
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


def test_model_text_does_not_act_on_the_terminal(apply, root):
    ended = apply(update("\x1b[31mred.txt", "@@\n-a\x1b]0;x\x07\n+b\n"), "--root", str(root))
    assert ended.code == 1
    assert "\x1b" not in ended.out + ended.err
    assert "\x07" not in ended.out + ended.err


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


def wrapped(scenario: Scenario, channel: str) -> str:
    """The patch as it comes on a channel; cut where the patch ends."""
    if channel == "function":
        text = json.dumps({"input": scenario.patch})
        return text[:-2] if scenario.cut else text
    return f"Here it is:\n\n{scenario.patch}" if channel == "text" else scenario.patch


@pytest.mark.parametrize("channel", ["custom", "function", "text"])
@pytest.mark.parametrize("seed", range(3))
def test_a01_random_splits_of_all_scenarios_on_all_channels(seed, channel, tmp_path):
    """A01: random splits give the tree that the whole gives, however the patch is wrapped."""
    draw = random.Random(seed)
    for number, scenario in enumerate(SCENARIOS):
        root = tmp_path / str(number)
        root.mkdir()
        scenario.make(root)
        files = Files(root, Listing(root))
        workspace = Workspace(files.read, root=files.root)
        landing = Landing(workspace, turn=1, call_id="x", channel=channel)
        text = wrapped(scenario, channel)
        while text:
            size = draw.choice([1, 1, 2, 3, 8, 40])
            landing.feed(text[:size])
            text = text[size:]
            if draw.random() < 0.5:
                landing.tail()
        landing.finish(scenario.cut)
        assert landing.placed_all is not bool(scenario.error)
        assert ("Here it is:" in "".join(landing.prose)) == (channel == "text")
        for path in workspace.accept(None):
            plan = workspace.disk_plan(path)
            if plan.data is None and plan.expected is not None:
                files.delete(path, plan.expected)
            elif plan.data is not None and plan.data != plan.expected:
                files.write(path, plan.data, plan.expected)
        assert tree_of(root) == scenario.expected(), str(scenario)


def test_links_of_the_corpus_are_links(root):
    made = [scenario for scenario in SCENARIOS if scenario.meta.get("symlinks")]
    assert len(made) == 3
    made[0].make(root)
    assert any(data.startswith(LINK) for data in tree_of(root).values())


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
