"""Whether the map of a project has the files that a task turns out to need.

The tasks are commits of real projects: the subject is the prompt, the files that were changed are
those needed. The map is made of the project as it was before the first of them, so that it knows
nothing of what they did, and has nothing but the subject: no file is open.
"""

from __future__ import annotations

import io
import lzma
import random
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from tests.benchmarks.findings import Bound, Findings, Spot, Tell
from tui.core.project_map import READ_BYTES, FileFacts, ProjectIndex, Seeds, facts_of
from tui.core.tokens import tokens
from tui.effects.project_map import MapMade, MapOrder

TASKS = Path(__file__).with_name("map_tasks.json.xz")
BUDGETS = (1000, 2000, 4000)
UNSEEN = "rubocop"
"""Nothing was chosen by its tasks."""
IN_MAP, IN_LIST = "needed files in the map %", "needed files in the plain listing %"
READ_S, AGAIN_S, DRAW_MS = "processor time to read all s", "and at the next start s", "a map ms"
MEMORY_MB = "memory of its process MB"
_FILES, _QUICK_FILES = 50_000, 2_000
METHOD = (
    "Up to 120 commits each of five projects (Rust, Go, TypeScript, Python, Ruby) that change one"
    " to eight files which were there before. The prompt is the commit's subject, nothing is open."
    " The share of the changed files that the map names, as the mean over commits; half of the"
    " tokens are for names here, as the other half goes to lines that define something. The plain"
    " listing has all of its tokens for names, in the order of the alphabet.",
    f"The weights were chosen on the others; {UNSEEN} was not looked at before they stood.",
    "Reading: the real process, over generated files of 2 kB, first with nothing kept.",
)


class MapTasks(Struct):
    """A project and what was done to it."""

    of: str
    files: dict[str, FileFacts]
    """Of its words those that occur in a task."""
    tasks: list[tuple[str, list[str]]]
    """The subject and the files."""


def projects() -> dict[str, MapTasks]:
    """All that are kept with the tests, by name."""
    return msgspec.json.decode(lzma.decompress(TASKS.read_bytes()), type=dict[str, MapTasks])


def of_repository(folder: Path, commits: int = 200) -> MapTasks:
    """The same of any git checkout: as it was so many commits ago, and what these did."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(folder), *words]
        return subprocess.run(command, capture_output=True, check=True, text=True).stdout

    log = git("log", "--first-parent", "--no-merges", "--format=%H%x09%s", f"-{commits}")
    *later, first = log.splitlines()
    start = first.partition("\t")[0]
    archive = ["git", "-C", str(folder), "archive", start]
    packed = subprocess.run(archive, capture_output=True, check=True).stdout
    files: dict[str, FileFacts] = {}
    with tarfile.open(fileobj=io.BytesIO(packed)) as unpacked:
        for member in filter(tarfile.TarInfo.isfile, unpacked):
            opened = unpacked.extractfile(member)
            if opened is not None and not f"/{member.name}".count("/."):
                data = opened.read(READ_BYTES)
                text = "" if b"\0" in data else data.decode("utf-8", "replace")
                files[member.name] = facts_of(member.name, text)
    tasks: list[tuple[str, list[str]]] = []
    for line in reversed(later):
        commit, _, subject = line.partition("\t")
        changed = git("diff-tree", "--no-commit-id", "--name-only", "--diff-filter=M", "-r", commit)
        needed = [path for path in changed.splitlines() if path in files]
        if 1 <= len(needed) <= 8:
            tasks.append((subject, needed))
    return MapTasks(f"{folder.name} at {start[:12]}", files, tasks)


def share(
    tasks: Iterable[tuple[str, list[str]]], order: Callable[[str], list[str]], room: int
) -> float:
    """The share of needed files among those that fit, the mean over all tasks."""
    shares = []
    for subject, needed in tasks:
        left, named = room, set[str]()
        for path in order(subject):
            left -= tokens(path) + 1
            if left < 0:
                break
            named.add(path)
        shares.append(sum(path in named for path in needed) / len(needed))
    return sum(shares) / max(len(shares), 1)


def bound(spot: Spot) -> Bound | None:
    """The target of a figure: a map has to be better than the listing everywhere (see `_add`)."""
    return Bound(150.0) if spot.figure == DRAW_MS else None


def measure(*, quick: bool, tell: Tell, repository: Path | None = None) -> Findings:
    """Measure all projects, or a git checkout; then reading very many files."""
    findings = Findings(METHOD, bound, quick=quick)
    with findings.timed():
        found = projects() if repository is None else {"": of_repository(repository)}
        for project in found.values():
            tell(project.of)
            _add(findings, project)
        if repository is None:
            tell("very many files")
            _read(findings, _QUICK_FILES if quick else _FILES)
    return findings


def _add(findings: Findings, project: MapTasks) -> None:
    index, listing = ProjectIndex(), sorted(project.files)
    index.list_files(listing)
    for path, facts in project.files.items():
        index.learn(path, facts)
    for budget in BUDGETS:
        where = f"{project.of}, {len(listing):,} files, {budget:,} tokens"
        plain = 100 * share(project.tasks, lambda subject: listing, budget)
        mapped = 100 * share(
            project.tasks, lambda subject: index.ranked(Seeds(subject)), budget // 2
        )
        spot = Spot(IN_MAP, where)
        findings.bounds[spot] = Bound(plain, at_least=True)
        findings.add(spot, mapped)
        findings.add(Spot(IN_LIST, where), plain)


def _read(findings: Findings, count: int) -> None:
    """What the process costs that reads a project of so many files."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "project")
        paths = _written(root, count)
        where = f"{count:,} files"
        for figure in (READ_S, AGAIN_S):
            cpu_s, draw_s, memory_mb = _run(root, Path(folder, "kept"), paths)
            findings.add(Spot(figure, where), cpu_s)
        findings.add(Spot(DRAW_MS, where), 1000 * draw_s)
        findings.add(Spot(MEMORY_MB, where), memory_mb)


def _run(root: Path, kept: Path, paths: list[str]) -> tuple[float, float, float]:
    """Processor seconds until all is read, seconds of a map then, and memory."""
    command = [sys.executable, "-m", "tui.effects.project_map", str(root), str(kept / "a.map")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        order = MapOrder(seeds=Seeds("the refund of an invoice"), tokens=2000, within_s=3600)
        taken = []
        for listed in (paths, None):
            began_s = _cpu_s(process.pid)
            line = msgspec.json.encode(msgspec.structs.replace(order, listed=listed))
            process.stdin.write(line + b"\n")
            process.stdin.flush()
            made = msgspec.json.decode(process.stdout.readline(), type=MapMade)
            assert made.known == len(paths)
            taken.append(_cpu_s(process.pid) - began_s)
        status = Path(f"/proc/{process.pid}/status").read_text()
        memory_kb = int(status.partition("VmHWM:")[2].split()[0])
        process.stdin.close()
    return taken[0], taken[1], memory_kb / 1000


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


_WORDS = ("account", "cart", "invoice", "ledger", "price", "refund", "session", "token", "queue")


def _written(root: Path, count: int) -> list[str]:
    chance, paths = random.Random(4), []
    for number in range(count):
        one, other, third = (chance.choice(_WORDS) for _ in range(3))
        path = f"src/{one}/{other}{number % 97}/{third}_{number}.py"
        imports = "\n".join(
            f"from src.{chance.choice(_WORDS)}.{chance.choice(_WORDS)}{chance.randrange(97)} "
            f"import {third}_{chance.randrange(count)}"
            for _ in range(8)
        )
        body = "\n\n".join(
            f"def {chance.choice(_WORDS)}_{n}(x: int) -> int:\n" + "    x += 1\n" * 15
            for n in range(10)
        )
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'"""The {one} of a {other}."""\n{imports}\n\n{body}\n')
        paths.append(path)
    return sorted(paths)
