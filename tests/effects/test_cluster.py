"""Commands in shadows on a real Dask cluster: as on this machine, whatever dies on the way."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import trustme

from tests.support.dask_cluster import ROOT, DaskCluster
from tui.cli import practice
from tui.cli.cluster import client as client_module
from tui.cli.cluster.client import ClusterClient
from tui.cli.verifiers.finding import find_verifiers
from tui.cli.verifiers.project import Project
from tui.core.cluster import ClusterNews, ClusterOrder, RemoteTask, server_of
from tui.core.programs import RunOptions, RunResult
from tui.core.run_report import RunReport
from tui.effects.cluster import Cluster
from tui.effects.commands.runner import CommandRunner
from tui.engine.judging import judge
from tui.engine.ports import VerifyCommand, project_tests
from tui.errors import FileRefused

pytestmark = pytest.mark.slow
pytest.importorskip("distributed")

WRONG, RIGHT = b"def add(a, b):\n    return a - b\n", b"def add(a, b):\n    return a + b\n"
TESTS = """\
import unittest
from calc import add
class Adding(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(1, 2), 3)
"""


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    cluster = DaskCluster(tmp_path_factory.mktemp("dask") / "cluster")
    for name in ("w0", "w1"):
        cluster.add(name)
    cluster.wait()
    yield cluster
    cluster.close()


class House:
    """A workspace that is judged on the cluster."""

    def __init__(self, root: Path, dask: DaskCluster) -> None:
        self.root, self.dask = root, dask
        root.mkdir()
        (root / "calc.py").write_bytes(WRONG)
        (root / "test_calc.py").write_text(TESTS)
        self.said: list[str] = []
        self.cluster = Cluster(dask.server, str(root), os.environ, self.said.append, ["made/*"])
        self.runner = CommandRunner(str(root))

    @property
    def tests(self) -> VerifyCommand:
        found = project_tests(find_verifiers(Project(self.root), 60))
        assert found is not None
        return found

    async def judge(self, texts: dict[str, bytes | None]) -> tuple[RunResult, RunReport]:
        return await judge(self.runner, self.cluster, self.tests, texts)

    async def says(self, command: str, texts: dict[str, bytes | None] | None = None) -> str:
        shadow, said = await self.cluster.make(texts or {}), bytearray()
        result = await self.runner.run(command, said.extend, 60, RunOptions(shadow=shadow))
        assert not result.error, result.error
        return said.decode()


@pytest.fixture
async def house(tmp_path: Path, dask: DaskCluster) -> AsyncIterator[House]:
    house = House(tmp_path / "work", dask)
    yield house
    await house.cluster.close()


async def test_the_verdict_is_that_of_this_machine(house: House) -> None:
    result, report = await house.judge({})
    assert result.status == 1
    [failed] = report.failed
    assert (failed.path, failed.line) == ("test_calc.py", 4)
    result, report = await house.judge({"calc.py": RIGHT})
    assert (result.status, report.failed) == (0, ())
    assert report.counts is not None
    assert report.counts.passed == 1
    result, _ = await house.judge({"test_calc.py": None, "calc.py": None, "test_x.py": b"1/0\n"})
    assert result.status not in (0, None)
    assert sorted(os.listdir(house.root)) == ["calc.py", "test_calc.py"]
    assert (house.root / "calc.py").read_bytes() == WRONG


async def test_what_the_disk_becomes_is_seen_there(house: House) -> None:
    (house.root / "below").mkdir()
    (house.root / "below/link").symlink_to("../calc.py")
    assert await house.says("cat below/link", {"calc.py": RIGHT}) == RIGHT.decode()
    (house.root / "calc.py").write_text("saved\n")
    (house.root / "test_calc.py").unlink()
    (house.root / "large.txt").write_text("x" * 200_000)
    assert await house.says("cat calc.py; ls") == "saved\nbelow\ncalc.py\nlarge.txt\n"
    assert await house.says("wc -c <large.txt") == "200000\n"
    assert await house.says("wc -c <b.txt", {"b.txt": b"y" * 300_000}) == "300000\n"


async def test_nothing_private_leaves(house: House) -> None:
    secrets = {".env": "A=sesame-1", "id_rsa": "sesame-2", "ignored.txt": "sesame-3"}
    for name, text in secrets.items():
        (house.root / name).write_text(text)
    (house.root / ".gitignore").write_text("ignored.txt\nmade/\n")
    (house.root / "leads").symlink_to(".env")
    (house.root / "bad\udcff.txt").write_text("sesame-7\n")
    (house.root / "made").mkdir()
    (house.root / "made/needed.txt").write_text("open\n")
    (house.root / "made/id_ed25519").write_text("sesame-6\n")
    os.environ["MY_API_TOKEN"] = "sesame-4"
    try:
        said = await house.says("ls -A . made; env", {".env": b"A=sesame-5", "calc.py": RIGHT})
    finally:
        del os.environ["MY_API_TOKEN"]
    assert said.startswith(".:\n.gitignore\ncalc.py\nmade\ntest_calc.py\n\nmade:\nneeded.txt\n")
    assert "sesame" not in said
    found = await asyncio.to_thread(_everything, house.dask.folder)
    assert not any(b"sesame" in data for data in found)
    assert ".env stays on this machine: it is private or ignored" in house.said


def _everything(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in folder.rglob("*") if path.is_file()]


async def test_only_what_a_worker_lacks_is_sent(house: House) -> None:
    for number in range(50):
        (house.root / f"{number}.txt").write_text(f"{house.root} {number}\n")
    await house.says("true")

    def blobs() -> set[str]:
        return {str(path) for path in house.dask.folder.glob("*/**/blobs/*")}

    before = blobs()
    (house.root / "7.txt").write_text("another\n")
    (house.root / "8.txt").rename(house.root / "new.txt")
    assert await house.says("cat 7.txt; ls 8.txt new.txt 2>&1 | grep -c new") == "another\n1\n"
    assert blobs() == before


async def test_the_end_of_much_output_is_not_lost_and_names_our_folders(house: House) -> None:
    much = "pwd; sleep 0.4; yes /x/hello | head -c 6000000; sleep 0.4; pwd; echo; echo END"
    said = await house.says(much)
    assert said.startswith(f"{house.root}\n/x/hello\n")
    assert said.endswith(f"{house.root}\n\nEND\n")


async def test_its_output_comes_while_it_runs_and_a_stop_ends_it_there(house: House) -> None:
    shadow, said = await house.cluster.make({}), asyncio.Event()
    how = RunOptions(shadow=shadow)
    run = house.runner.run("echo begin; sleep 31.4159", lambda data: said.set(), 60, how)
    running = asyncio.ensure_future(run)
    await asyncio.wait_for(said.wait(), 30)
    while not _sleeping():
        await asyncio.sleep(0.05)
    running.cancel()
    await asyncio.wait([running])
    while _sleeping():
        await asyncio.sleep(0.05)


async def test_duetto_gone_nothing_of_it_runs_on(house: House) -> None:
    shadow, said = await house.cluster.make({}), asyncio.Event()
    how = RunOptions(shadow=shadow)
    run = house.runner.run("echo begin; sleep 31.4159", lambda data: said.set(), 60, how)
    running = asyncio.ensure_future(run)
    await asyncio.wait_for(said.wait(), 30)
    assert house.cluster._process is not None
    house.cluster._process.kill()
    assert (await running).error.startswith("on the cluster: the process that asks")
    while _sleeping():
        await asyncio.sleep(0.05)


def _sleeping() -> bool:
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if process.read_bytes() == b"sleep\x0031.4159\x00":
                return True
        except OSError:
            continue
    return False


async def test_deadline_and_missing_program_are_said(house: House) -> None:
    shadow = await house.cluster.make({})
    how = RunOptions(shadow=shadow)
    result = await house.runner.run("sleep 20", lambda data: None, 0.2, how)
    assert result.timed_out
    result = await house.runner.run(("/nowhere/tool", "x"), lambda data: None, 20, how)
    told = "no worker can run it: tool is not installed there"
    assert result.error == f"on the cluster: {told}"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("no-such-tool --all", "no-such-tool: not found"),
        ((sys.executable, "-m", "no_such_tool"), "No module named no_such_tool"),
    ],
)
async def test_what_a_worker_lacks_is_no_verdict(
    house: House, command: str | tuple[str, ...], said: str
) -> None:
    how = RunOptions(shadow=await house.cluster.make({}))
    result = await house.runner.run(command, lambda data: None, 20, how)
    assert result.error.startswith("on the cluster: no worker can run it: ")
    assert result.error.endswith(said)
    argv = (sys.executable, "-m", "unittest", "--help")
    result = await house.runner.run(argv, lambda data: None, 20, how)
    assert (result.status, result.error) == (0, ""), "it has this one"


async def test_tests_that_end_as_a_shell_does_are_judged_there(house: House) -> None:
    command = "test -e good || exit 127"
    for texts, status in (({}, 127), ({"good": b""}, 0)):
        how = RunOptions(shadow=await house.cluster.make(texts))
        result = await house.runner.run(command, lambda data: None, 20, how)
        assert (result.status, result.error) == (status, "")


async def test_what_one_worker_lacks_runs_on_another(tmp_path: Path) -> None:
    dask = DaskCluster(tmp_path / "cluster")
    dask.add("w0", PATH="/nonexistent")
    dask.add("w1")
    await asyncio.to_thread(dask.wait)
    house = House(tmp_path / "work", dask)
    try:
        how = RunOptions(shadow=await house.cluster.make({}))
        argv = (shutil.which("git") or "git", "--version")
        runs = (house.runner.run(argv, lambda data: None, 20, how) for _ in range(6))
        ends = await asyncio.gather(*runs)
    finally:
        await house.cluster.close()
        dask.close()
    assert [(one.status, one.error) for one in ends] == [(0, "")] * 6
    assert any(words.endswith(": git is not installed there") for words in house.said)


async def test_a_cluster_that_is_not_there_is_said(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        server = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        cluster = Cluster(server, str(tmp_path), os.environ, print)
        with pytest.raises(FileRefused, match=f"no Dask scheduler answers at {server}"):
            await cluster.make({})
        await cluster.close()


async def test_with_certificates_of_ones_own(tmp_path: Path) -> None:
    """As docs/cluster.md says it: who has no certificate of the authority is not heard."""
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    certificate.private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "own.pem"))
    tls, own = "DASK_DISTRIBUTED__COMM__TLS__", str(tmp_path / "own.pem")
    trusts = {f"{tls}CA_FILE": str(tmp_path / "ca.pem")}
    names = [f"{who}__{what}" for who in ("SCHEDULER", "WORKER") for what in ("CERT", "KEY")]
    theirs = trusts | {f"{tls}{name}": own for name in names}
    dask = DaskCluster(tmp_path / "cluster", "tls", **theirs)
    dask.add("w0")
    ours = trusts | {f"{tls}CLIENT__{what}": own for what in ("CERT", "KEY")}
    root = tmp_path / "work"
    root.mkdir()
    server = server_of(dask.server.replace("tls://", "dask+tls://"))
    cluster = Cluster(server, str(root), {**os.environ, **ours}, print)
    stranger = Cluster(server, str(root), os.environ, print)
    try:
        how, said = RunOptions(shadow=await cluster.make({})), bytearray()
        result = await CommandRunner(str(root)).run("echo hello", said.extend, 60, how)
        assert (result.status, said) == (0, b"hello\n")
        with pytest.raises(FileRefused, match="needs the certificates of DASK_"):
            await stranger.make({})
    finally:
        await cluster.close()
        await stranger.close()
        dask.close()


async def test_what_is_lost_on_the_way_is_done_again(tmp_path: Path) -> None:
    """A worker dies, then the scheduler; each of 30 tries has its verdict all the same."""
    dask = DaskCluster(tmp_path / "cluster")
    dask.add("w0")
    house = House(tmp_path / "work", dask)
    program = "import sys, time, calc; print('begun', flush=True); time.sleep({})"
    program += "; sys.exit(calc.add(1, 2) != 3)"
    ended, begun, first_spoke = 0, list[int](), asyncio.Event()

    async def one(number: int) -> tuple[int | None, str]:
        nonlocal ended
        said = bytearray()

        def hear(output: bytes) -> None:
            said.extend(output)
            if not number:
                first_spoke.set()

        shadow = await house.cluster.make({"calc.py": RIGHT if number % 3 else WRONG})
        command = program.format(0.4 if number else 3)
        how, argv = RunOptions(shadow=shadow), (sys.executable, "-c", command)
        result = await house.runner.run(argv, hear, 60, how)
        assert not result.error, result.error
        ended += 1
        begun.append((result.output or said).count(b"begun"))
        return result.status, said.decode() + result.strayed

    try:
        running = asyncio.gather(*(one(number) for number in range(30)))
        speaking = asyncio.create_task(first_spoke.wait())
        await asyncio.wait([speaking, running], return_when=asyncio.FIRST_COMPLETED)
        dask.kill("w0")
        dask.add("w1")
        dask.add("w2")
        while ended < 12 and not running.done():
            await asyncio.sleep(0.05)
        await dask.restart_scheduler()
        ends = await running
    finally:
        await house.cluster.close()
        dask.close()
    statuses = [status for status, _ in ends]
    assert statuses == [0 if number % 3 else 1 for number in range(30)], ends
    assert begun == [1] * 30, "what was said before it was lost does not count"
    assert any("was lost: run again on" in said for _, said in ends)
    assert any("is gone: duetto waits for it" in words for words in house.said)


async def test_without_dask_it_is_said_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "distributed.py").write_text("raise ImportError('no Dask')\n")
    path = os.pathsep.join((str(tmp_path), str(ROOT)))
    environment = {**os.environ, "PYTHONPATH": path}
    cluster = Cluster("tcp://127.0.0.1:1", str(tmp_path), environment, print)
    with pytest.raises(FileRefused, match=r"Dask is not installed here .*duetto\[cluster\]"):
        await cluster.make({})
    await cluster.close()


def test_attempts_are_judged_there(tmp_path: Path, dask: DaskCluster) -> None:
    home = tmp_path / "home"
    root = practice.ensure(home / "data")
    address = dask.server.replace("tcp", "dask")
    attempts = f'[attempts]\nrunner = "{address}"\nsend = [".practice.json"]\n'
    (home / "config.toml").write_text(f"[rehearsal]\nmistakes = 0.0\n{attempts}")
    prompt = "/attempts 3 --all make the cache safe for threads"
    done = subprocess.run(
        [sys.executable, "-m", "tui.cli", "exec", prompt, "-C", str(root)],
        env={**os.environ, "DUETTO_HOME": str(home), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.stdout, done.stderr
    table = json.loads(done.stdout)
    assert [row["verdict"] for row in table["attempts"]] == ["passed"] * 3, done.stderr
    assert table["winner"] == 1


async def test_workers_that_never_come_back_are_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dask, told = DaskCluster(tmp_path / "cluster"), list[ClusterNews]()
    dask.add("w0")
    root = tmp_path / "work"
    root.mkdir()
    client = ClusterClient(dask.server, str(root), "topic", told.append)
    orders: asyncio.Queue[ClusterOrder] = asyncio.Queue()
    serving = asyncio.create_task(client.serve(orders))
    try:
        argv = ("/bin/sh", "-c", "echo begin; sleep 31.4159")
        orders.put_nowait(ClusterOrder(RemoteTask(1, argv, str(root), str(ROOT), 60)))
        while not any(one.output for one in told):
            assert not serving.done(), told
            await asyncio.sleep(0.05)
        monkeypatch.setattr(client_module, "_WAIT_S", 2.0)
        dask.kill("w0")
        while not (ended := [one.ended for one in told if one.ended is not None]):
            await asyncio.sleep(0.05)
        assert ended[0].error == f"no worker came to {dask.server} in 2 s"
    finally:
        serving.cancel()
        await client.close()
        dask.close()
    while _sleeping():
        await asyncio.sleep(0.05)
