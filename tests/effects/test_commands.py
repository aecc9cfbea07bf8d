import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.sources import ROOT
from tests.support.tables import each
from tui.core.programs import RunOptions, RunResult
from tui.effects.commands import runner
from tui.effects.commands.guard import remove
from tui.effects.commands.runner import CommandRunner

PY = sys.executable
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux only")


class Lines:
    """Collects output; `has` waits for a text in it."""

    def __init__(self) -> None:
        self.data = b""
        self._news = asyncio.Event()

    @property
    def text(self) -> str:
        return self.data.decode()

    def __call__(self, data: bytes) -> None:
        self.data += data
        self._news.set()

    async def has(self, text: str) -> None:
        async with asyncio.timeout(60):
            while text not in self.text:
                self._news.clear()
                await self._news.wait()


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with contextlib.suppress(OSError):
        stat = Path(f"/proc/{pid}/stat").read_text()
        return stat.rsplit(")", 1)[1].split()[0] != "Z"
    return True


async def timed_out(folder: Path, command: str) -> tuple[RunResult, str]:
    """What comes of a command that meets its deadline when it has said something, and its words."""
    for deadline_s in (1.0, 8.0, 60.0):  # a busy machine may take as long to start it
        output = Lines()
        result = await CommandRunner(str(folder)).run(command, output, deadline_s)
        assert result.timed_out
        if output.text.endswith("\n"):
            break
    return result, output.text


async def gone(pid: int) -> None:
    async with asyncio.timeout(60):
        while alive(pid):
            await asyncio.sleep(0.02)


AS_THE_MODEL = RunOptions(keys=False)


async def test_all_output_comes_in_small_pieces(tmp_path: Path) -> None:
    pieces: list[int] = []
    runner = CommandRunner(str(tmp_path))
    result = await runner.run(
        "head -c 5000000 /dev/zero", lambda data: pieces.append(len(data)), 60
    )
    assert result.status == 0
    assert sum(pieces) == 5_000_000
    assert max(pieces) <= 32_768


@pytest.mark.skipif(not Path("/bin/bash").exists(), reason="there is no bash")
async def test_a_line_for_bash_is_run_by_bash(tmp_path: Path) -> None:
    output = Lines()
    line = "set -o pipefail; [[ ab == a* ]] && echo {1..3}"
    result = await CommandRunner(str(tmp_path)).run(line, output, 30, RunOptions(bash=True))
    assert (result.status, output.text) == (0, "1 2 3\n")


async def test_the_deadline_ends_the_whole_group(tmp_path: Path) -> None:
    _, said = await timed_out(tmp_path, "sleep 300 & echo $!; wait")
    await gone(int(said))


async def test_what_ignores_sigterm_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "GRACE_S", 0.2)
    command = "trap '' TERM; echo $$; while :; do sleep 0.05; done"
    result, said = await timed_out(tmp_path, command)
    assert result.status == -9
    await gone(int(said))


async def test_cancelling_ends_the_whole_group(tmp_path: Path) -> None:
    output = Lines()
    running = asyncio.create_task(
        CommandRunner(str(tmp_path)).run("sleep 60 & echo $!; echo ok; wait", output, 60)
    )
    await output.has("ok")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await gone(int(output.text.split()[0]))


@each("command", [["no-such-command-here"], [], ["a\0b"]])
async def test_what_cannot_be_started_says_so(tmp_path: Path, command: list[str]) -> None:
    result = await CommandRunner(str(tmp_path)).run(command, Lines(), 10)
    assert result.status is None
    assert result.error.startswith("cannot start")


async def test_a_workspace_that_is_gone_says_so(tmp_path: Path) -> None:
    result = await CommandRunner(str(tmp_path / "gone")).run("true", Lines(), 10)
    assert result.status is None


async def test_nothing_is_on_stdin(tmp_path: Path) -> None:
    output = Lines()
    await CommandRunner(str(tmp_path)).run("wc -c", output, 10)
    assert output.text.strip() == "0"


async def test_what_is_given_is_on_stdin_and_need_not_be_read(tmp_path: Path) -> None:
    how = RunOptions(stdin=b"x" * 1_000_000)
    output: list[bytes] = []
    for command in ("true", "wc -c"):
        assert (await CommandRunner(tmp_path).run(command, output.append, 60, how)).status == 0
    assert b"".join(output).split() == [b"1000000"]


DAEMON = """
import os, signal, sys, time
ready, say = os.pipe()
if os.fork():
    os.close(say)
    os.read(ready, 1)
    os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(os.getpid(), "daemon", flush=True)
for fd in range(5): os.close(fd)
time.sleep(300)
"""
"""It forks twice, leads a session, is deaf, and holds no pipe."""
HIDDEN = f"env -i {PY} -ISc '{DAEMON}'"
"""No variable tells whose it is."""
ENDLESS = f"{HIDDEN}; nohup setsid sleep 300 & echo $$ leader; while :; do sleep 1; done"


def processes(said: str) -> dict[str, int]:
    return {name: int(pid) for pid, name in (line.split() for line in said.splitlines())}


def helpers(parent: int) -> list[int]:
    """The guard, as a child of a process; the wardens, as its own."""
    found: list[int] = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # another test's, which has just ended
            is_one = b"guard.py" in path.with_name("cmdline").read_bytes()
            stat = path.read_text()
            if is_one and int(stat.rsplit(")", 1)[1].split()[1]) == parent and "python" in stat:
                found.append(int(path.parent.name))
    return found


@linux
@each("killed", ["", "the guard", "the warden"])
async def test_what_a_stopped_command_started_is_gone_however_it_hides(
    killed: str, tmp_path: Path
) -> None:
    output = Lines()
    runner = CommandRunner(str(tmp_path))
    running = asyncio.create_task(runner.run(ENDLESS, output, 60))
    for name in ("daemon", "leader"):
        await output.has(f"{name}\n")
    pids = processes(output.text)
    (guard,) = helpers(os.getpid())
    if killed == "the guard":
        os.kill(guard, signal.SIGKILL)
        await gone(guard)
    if killed == "the warden":
        for warden in helpers(guard):  # the one that stands by, too
            os.kill(warden, signal.SIGKILL)
            await gone(warden)
        assert (await running).status == -signal.SIGKILL
    else:
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    for pid in pids.values():
        await gone(pid)
    assert (await runner.run("exit 3", Lines(), 60)).status == 3


@linux
async def test_what_it_leaves_running_ends_with_a_command_of_the_model(tmp_path: Path) -> None:
    output = Lines()
    result = await CommandRunner(str(tmp_path)).run(HIDDEN, output, 60, AS_THE_MODEL)
    assert result.status == 0
    assert not alive(processes(output.text)["daemon"])


@linux
async def test_a_daemon_of_the_users_own_goes_on(tmp_path: Path) -> None:
    output = Lines()
    runner = CommandRunner(str(tmp_path))
    await runner.run(HIDDEN, output, 60)
    pid = processes(output.text)["daemon"]
    with contextlib.suppress(asyncio.CancelledError):
        running = asyncio.create_task(runner.run("echo on; sleep 60", on := Lines(), 60))
        await on.has("on")
        running.cancel()
        await running
    assert alive(pid)
    os.kill(pid, signal.SIGKILL)


@linux
@each("leaves", ["", "os.setsid()"])
async def test_what_moves_on_all_the_time_is_ended(leaves: str, tmp_path: Path) -> None:
    output = Lines()
    moving = (
        "import os, signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN); print('on', flush=1)\n"
        f"while True:\n    {leaves}\n    if os.fork(): os._exit(0)"
    )
    running = asyncio.create_task(
        CommandRunner(str(tmp_path)).run(f'{PY} -ISc "{moving}"; sleep 60', output, 60)
    )
    await output.has("on")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    here = str(tmp_path)
    assert not [p for p in Path("/proc").glob("[0-9]*/cwd") if linked(p) == here]


def linked(path: Path) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


async def test_a_deaf_group_is_killed_with_its_command(tmp_path: Path) -> None:
    output = Lines()
    deaf = "trap '' TERM; echo $$ ok; while :; do sleep 1; done"
    running = asyncio.create_task(
        CommandRunner(str(tmp_path)).run(f'sh -c "{deaf}" & sh -c "{deaf}" & exit', output, 60)
    )
    result = await running
    assert result.status == 0
    for line in output.text.splitlines():
        await gone(int(line.split()[0]))


async def test_a_command_that_reads_finds_the_end(tmp_path: Path) -> None:
    for how in (RunOptions(), RunOptions(pty=True)):
        output = Lines()
        result = await CommandRunner(str(tmp_path)).run("cat; echo done", output, 30, how)
        assert (result.status, output.text.splitlines()) == (0, ["done"])


async def test_without_a_terminal_there_is_none_to_ask(tmp_path: Path) -> None:
    result = await CommandRunner(str(tmp_path)).run("read x </dev/tty", Lines(), 30)
    assert result.status not in (0, None)


async def test_with_a_terminal_it_is_a_whole_one(tmp_path: Path) -> None:
    output = Lines()
    script = (
        "test -t 0 && test -t 1 && test -t 2 && stty size </dev/tty; stty -a | grep -c -e -echo"
    )
    result = await CommandRunner(str(tmp_path)).run(script, output, 30, RunOptions(pty=True))
    assert (result.status, output.text.splitlines()) == (0, ["24 80", "1"])


async def test_the_model_has_no_keys_and_git_obeys_no_folder(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "OPENAI_API_KEY": "x",
        "DUETTO_HOME": "x",
        "DATABASE": "postgres://me:pass@host/db",
        "GREETING": "sk-0123456789abcdef",
        "SSH_AUTH_SOCK": "/x",
        "BASH_ENV": "/x",
        "HARMLESS": "yes",
        "PATH": f".:{os.environ['PATH']}",
    }
    output = Lines()
    runner = CommandRunner(str(tmp_path), environment)
    await runner.run("env; git config core.fsmonitor", output, 30, AS_THE_MODEL)
    seen = dict(line.partition("=")[::2] for line in output.text.splitlines())
    hidden = {"OPENAI_API_KEY", "DUETTO_HOME", "DATABASE", "GREETING", "SSH_AUTH_SOCK", "BASH_ENV"}
    assert not hidden & seen.keys()
    assert seen["HARMLESS"] == "yes"
    assert not seen["PATH"].startswith(".")
    assert output.text.endswith("false\n")
    await runner.run("env", output := Lines(), 30)
    assert "OPENAI_API_KEY=x" in output.text


async def test_it_runs_in_a_folder_of_the_workspace_only(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "a b").mkdir(parents=True)
    (root / "out").symlink_to(tmp_path)
    output = Lines()
    await CommandRunner(str(root)).run("pwd", output, 30, RunOptions("a b"))
    assert output.text == f"{root}/a b\n"
    for folder, why in (("out", "leads out"), ("../root2", "leads out"), ("gone", "is not there")):
        result = await CommandRunner(str(root)).run("pwd", output, 30, RunOptions(folder))
        assert result.status is None
        assert why in result.error


@each("swapped", ["sub", "sub/out.txt", ""])
async def test_what_was_swapped_since_it_was_allowed_runs_nothing(
    swapped: str, tmp_path: Path
) -> None:
    root = tmp_path / (swapped.replace("/", " ") or "as it was")
    other = root / "other"
    for folder in (root / "sub", other):
        folder.mkdir(parents=True)
    runner = CommandRunner(str(root))
    places = runner.places("sub", ["out.txt"])
    if swapped == "sub":
        (root / "sub").rename(root / "was")
    if swapped:
        (root / swapped).symlink_to(other if swapped == "sub" else other / "x")
    how = RunOptions("sub", names=("out.txt",), places=places)
    result = await runner.run("echo x >out.txt", Lines(), 30, how)
    assert ("is not what it was when this was allowed" in result.error) is bool(swapped)
    assert list(other.iterdir()) == []


async def test_a_workspace_that_goes_away_meanwhile_ends_nothing(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    output = Lines()
    result = await CommandRunner(str(root)).run("rmdir ../root; echo still", output, 30)
    assert (result.status, output.text) == (0, "still\n")
    assert "is not there" in (await CommandRunner(str(root)).run("true", output, 30)).error


async def test_names_and_output_that_are_no_text_pass(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff")).touch()
    output = Lines()
    result = await CommandRunner(str(tmp_path)).run(f"ls {os.fsdecode(bytes([255]))}", output, 30)
    assert result == RunResult(0, result.seconds)
    assert output.data.startswith(b"\xff")


@linux
async def test_what_takes_too_much_memory_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    """Each of two processes has less than the limit."""
    holds = "x = b'x' * 60_000_000; print('has it', flush=True); import time; time.sleep(60)"
    line = [PY, "-c", f"import os; os.fork(); {holds}"]
    how = RunOptions(memory=100_000_000)
    result = await CommandRunner(str(tmp_path)).run(line, Lines(), 60.0, how)
    assert result.status is None
    assert result.error == "stopped: it took more than 0.1 GB of memory"


async def test_what_nobody_waits_for_gives_way(tmp_path: Path) -> None:
    output = Lines()
    line = [PY, "-c", "import os; print(os.getpriority(os.PRIO_PROCESS, 0))"]
    await CommandRunner(str(tmp_path)).run(line, output, 60.0, RunOptions(nice=True))
    assert int(output.text) >= min(os.getpriority(os.PRIO_PROCESS, 0) + 10, 19)


def test_a_folder_without_end_is_removed(tmp_path: Path) -> None:
    command = "import os\nwhile len(os.getcwd()) < 3000: os.mkdir('d'); os.chdir('d')"
    (tmp_path / "top").mkdir()
    subprocess.run((PY, "-ISc", command), cwd=tmp_path / "top", check=True)
    try:
        remove("tree", str(tmp_path / "top"))
        assert not (tmp_path / "top").exists()
    finally:  # pytest itself cannot remove it
        subprocess.run(("rm", "-rf", tmp_path / "top"), check=True)


def report_of(command: str, folder: Path) -> tuple[Path, RunOptions, str]:
    """A report, how a command runs that leaves it, and the command: it says so, and goes on."""
    report = folder / "of this run.report"
    line = f"echo half >'{report}'; echo begun; {command}"
    return report, RunOptions(brings=(str(report),)), line


async def test_a_run_that_is_cancelled_leaves_no_report(tmp_path: Path) -> None:
    report, how, command = report_of("sleep 60", tmp_path)
    runner, output = CommandRunner(str(tmp_path)), Lines()
    running = asyncio.create_task(runner.run(command, output, 60, how))
    await output.has("begun")
    assert report.exists()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not report.exists()
    report, how, command = report_of("exit 1", tmp_path)
    await runner.run(command, output, 60, how)
    assert report.read_text() == "half\n", "of one that ended it is read"


@linux
async def test_a_duetto_that_is_killed_leaves_no_report(tmp_path: Path) -> None:
    report, how, command = report_of("sleep 60", tmp_path)
    program = (
        "import asyncio, sys\n"
        "from tui.core.programs import RunOptions\n"
        "from tui.effects.commands.runner import CommandRunner\n"
        "def say(data): sys.stdout.buffer.write(data); sys.stdout.flush()\n"
        "how = RunOptions(brings=(sys.argv[2],))\n"
        "asyncio.run(CommandRunner('.').run(sys.argv[1], say, 60, how))\n"
    )
    argv = [sys.executable, "-c", program, command, *how.brings]
    duetto = subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE)
    assert duetto.stdout is not None
    assert await asyncio.to_thread(duetto.stdout.readline) == b"begun\n"
    assert report.exists()
    duetto.kill()
    duetto.wait()
    duetto.stdout.close()
    while report.exists():
        await asyncio.sleep(0.02)
