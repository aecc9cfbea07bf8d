"""A worker of a cluster, without one: what it cannot run is no verdict."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.support.tables import each
from tui.cli.cluster.worker import TreeStore, own_facts
from tui.core.cluster import RemoteTask, SentTree, TaskEnd, blob_name

SAYS = "import sys; print('1 failed\\nbwrap: no such test'); sys.exit(1)"


async def ended(folder: Path, argv: tuple[str, ...] | str) -> TaskEnd:
    """How a command ends on a worker that was sent a workspace of one file, which is gone."""
    folder.mkdir(exist_ok=True)
    store, empty = TreeStore(folder), blob_name(b"")
    store.put({empty: b""})
    tree = SentTree({"checks/__main__.py": (empty, 0o644)})
    await store.build(tree)
    gone = {"checks/__main__.py": None}
    task = RemoteTask(1, argv, "/work", "/package", 60, tree=tree.name, texts=gone)
    return await store.run(task, lambda at, data: None, lambda: True)


@each(
    "argv, why",
    [
        (("/usr/lib/no-such-tool", "--all"), "no-such-tool is not installed there"),
        (("node_modules/.bin/no-such-tool",), "no-such-tool is not installed there"),
        ("no-such-tool --all", "no-such-tool: not found"),
        (("python3", "-m", "no_such_module", "-q"), "No module named no_such_module"),
        ("cd . && no-such-tool", "no-such-tool: not found"),
    ],
)
async def test_what_it_lacks_is_said(argv: tuple[str, ...] | str, why: str, tmp_path: Path) -> None:
    end = await ended(tmp_path / "worker", argv)
    assert end.unfit.endswith(why)


@each(
    "argv, status",
    [
        (("python3", "-c", SAYS), 1),
        ("exit 3", 3),
        ("echo no luck; exit 127", 127),
        ("echo no luck; exit 126", 126),
        ("./tests.sh", 127),
        (("/bin/sh", "-c", "echo no luck; exit 127"), 127),
        (("python3", "-m", "checks"), 1),
        (("/somewhere/sh", "-c", "exit 1"), 1),
    ],
)
async def test_what_it_runs_is_a_verdict(
    argv: tuple[str, ...] | str, status: int, tmp_path: Path
) -> None:
    end = await ended(tmp_path / "worker", argv)
    assert (end.status, end.unfit, end.error) == (status, "", "")


async def test_a_tool_of_the_projects_own_is_the_workers(tmp_path: Path) -> None:
    """``node_modules`` is not sent: the tool of that name on the worker's PATH is run."""
    name = os.path.basename(sys.executable)
    end = await ended(tmp_path / "worker", (f"node_modules/.bin/{name}", "-c", "exit(4)"))
    assert (end.status, end.unfit) == (4, "")


async def test_what_a_machine_is_is_found_without_a_trace(tmp_path: Path) -> None:
    """The folder above the workspace may be anybody's, and may not be written."""
    (tmp_path / "above/Work").mkdir(parents=True)
    before = (tmp_path / "above").stat().st_mtime_ns
    found = await own_facts("here", str(tmp_path / "above/Work"))
    assert (tmp_path / "above").stat().st_mtime_ns == before
    assert not found.folds_case
    (tmp_path / "above/wORK").symlink_to("Work")  # as a file system that folds case shows it
    assert (await own_facts("here", str(tmp_path / "above/Work"))).folds_case
