"""What other programs make and apply, duetto applies to the same bytes.

Random edits are the truth. ``git diff`` writes them down in every way it has; V4A, SEARCH/REPLACE
and whole files are written here and applied by Codex, OpenAI's agents, aider and GNU patch too.
Wherever such a program comes to the truth, duetto comes to it, or asks because the text really
fits in several places; it never comes to anything else.

    edits_client.py CODEX AGENTS_PYTHON AIDER_PYTHON
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from edit_cases import Case, Tree, random_case, random_trees

from tui.core.patches.landing import Landing
from tui.core.document.workspace import Workspace
from tui.effects.files import Files
from tui.effects.listing import Listing
from tui.engine.saving import bring

HERE = Path(__file__).parent
Peer = Callable[[Case], "str | None"]
"""The file's text after the peer applied the case; None: it refused."""
CASES = {"codex": 60}
MOST = 300
WHO = ["-c", "user.name=n", "-c", "user.email=e"]


@dataclass
class Ours:
    """What duetto made of a patch."""

    tree: Tree
    reasons: list[str]

    @property
    def asks(self) -> bool:
        """All that is missing is held back for the user to look at."""
        held = ("ambiguous", "held,")
        return bool(self.reasons) and all(any(w in why for w in held) for why in self.reasons)


def write(tree: Tree, root: Path) -> None:
    for path, data in tree.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)


def read(root: Path) -> Tree:
    files = [file for file in root.rglob("*") if file.is_file() and ".git" not in file.parts]
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in files}


def ours(tree: Tree, patch: str, fmt: str, seed: int) -> Ours:
    """Land a patch in pieces of random sizes, accept all and write it."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write(tree, root)
        files = Files(root, Listing(folder))
        workspace = Workspace(files.read, files.root, files.named_root)
        landing = Landing(workspace, turn=1, call_id="c", channel="text", fmt=fmt)
        dice, at = random.Random(seed), 0
        while at < len(patch):
            size = dice.choice([1, 3, 17, 200, 5000])
            landing.feed(patch[at : at + size])
            landing.tail()
            at += size
        landing.finish(cut=False)
        paths = workspace.accept([hunk.id for hunk in landing.hunks if hunk.decidable])
        refused = bring(files, {path: workspace.disk_plan(path) for path in paths})
        reasons = [hunk.reason for hunk in landing.hunks if hunk.stage.value != "landed"]
        return Ours(read(root), [*reasons, *refused.values(), *filter(None, [landing.failure])])


def run(command: list[str], cwd: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run a program that reads nobody's settings; texts keep their line endings."""
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    done = subprocess.run(
        command, cwd=cwd, input=stdin.encode(), capture_output=True, env=environment, timeout=60
    )
    said = done.stdout.decode("utf-8", "replace")
    return subprocess.CompletedProcess(command, done.returncode, said, "")


def git_diffs() -> Iterator[tuple[Tree, Tree, str]]:
    """Two trees, and what ``git diff`` says of them, in one of its ways."""
    ways = [["-U3"], ["-U1"], ["-U10", "-M"], ["-M", "-C"], ["--no-prefix"],
            ["-c", "mnemonic"], ["--no-renames"], ["--patience", "-U2"], ["-W"], ["--full-index"]]
    for seed in range(MOST):
        before, after = random_trees(seed)
        way = ways[seed % len(ways)]
        config = ["-c", "diff.mnemonicPrefix=true"] if way == ["-c", "mnemonic"] else []
        quoted = ["-c", f"core.quotePath={'true' if seed % 2 else 'false'}"]
        with tempfile.TemporaryDirectory() as folder:
            run(["git", "init", "-q", "."], folder)
            write(before, Path(folder))
            run(["git", "add", "-A"], folder)
            run(["git", *WHO, "commit", "-qm", "before"], folder)
            for path in before:
                if path not in after:
                    (Path(folder) / path).unlink()
            write(after, Path(folder))
            run(["git", "add", "-A"], folder)
            flags = [] if config else way
            yield before, after, run(["git", *config, *quoted, "diff", "--cached", *flags], folder).stdout


def git_scenario() -> str:
    """What git says is what duetto does; nothing but an ambiguous hunk may be left out."""
    asked = 0
    for seed, (before, after, patch) in enumerate(git_diffs()):
        if not patch:
            continue
        made = ours(before, patch, "unified_diff" if seed % 3 else "auto", seed)
        if made.asks:
            asked += 1
        elif made.tree != after:
            return f"diff {seed}: {made.reasons or 'another tree'}"
    return f"{asked} of {MOST} asked" if asked > MOST / 20 else ""


def compared(fmt: str, peer: Peer, name: str) -> str:
    """Wherever the peer comes to the truth, so does duetto, or it asks."""
    right = asked = 0
    count = CASES.get(name, MOST)
    for seed in range(count):
        case = random_case(seed, fmt)
        truth = {case.path: case.after.encode()}
        theirs = peer(case)
        made = ours({case.path: case.before.encode()}, case.patch, fmt, seed)
        right += theirs == case.after
        if made.tree == truth and not made.reasons:
            continue
        if not made.asks:
            return f"case {seed}: {made.reasons or 'another text'}, theirs {theirs == case.after}"
        asked += 1
    if right < count / 5:
        return f"only {right} of {count} of theirs are right: the cases are not theirs"
    return f"{asked} of {count} asked" if asked > count / 10 else ""


def gnu_patch(case: Case) -> str | None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / case.path
        file.write_bytes(case.before.encode())
        done = run(["patch", "-p1", "-F0", "--binary", "-s"], folder, case.bare)
        return file.read_bytes().decode() if done.returncode == 0 else None


def codex(binary: str) -> Peer:
    def applied(case: Case) -> str | None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / case.path
            file.write_bytes(case.before.encode())
            done = run([binary, "--codex-run-as-apply-patch", case.bare], folder)
            return file.read_bytes().decode() if done.returncode == 0 else None

    return applied


class Lines:
    """A script in another environment that answers one JSON line with another."""

    def __init__(self, python: str, script: str, way: str) -> None:
        self._process = subprocess.Popen(
            [python, str(HERE / script), way], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, encoding="utf-8",
        )

    def __call__(self, case: Case) -> str | None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        said = {"before": case.before, "patch": case.patch, "bare": case.bare, "path": case.path}
        self._process.stdin.write(json.dumps(said) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit("a peer's script ended")
        after = json.loads(answer)
        return None if after is None else str(after)


def main(codex_binary: str, agents: str, aider: str) -> None:
    scenarios: list[tuple[str, Callable[[], str]]] = [
        ("git diff in all its ways", git_scenario),
        ("GNU patch", lambda: compared("unified_diff", gnu_patch, "patch")),
        ("codex apply_patch", lambda: compared("apply_patch", codex(codex_binary), "codex")),
        (
            "agents apply_diff",
            lambda: compared("apply_patch", Lines(agents, "edits_agents.py", ""), "agents"),
        ),
        (
            "aider SEARCH/REPLACE",
            lambda: compared("search_replace", Lines(aider, "edits_aider.py", "block"), "aider"),
        ),
        (
            "aider unified diff",
            lambda: compared("unified_diff", Lines(aider, "edits_aider.py", "udiff"), "aider"),
        ),
        (
            "aider whole file",
            lambda: compared("whole_file", Lines(aider, "edits_aider.py", "whole"), "aider"),
        ),
    ]
    for name, scenario in scenarios:
        if name == "GNU patch" and shutil.which("patch") is None:
            print(f"FAILED {name}: patch is not installed", flush=True)
            continue
        lack = scenario()
        print(f"FAILED {name}: {lack}" if lack else f"ok {name}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:4])
