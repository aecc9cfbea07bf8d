"""Verifiers that do harm: F5 on the screen ends, says how, and leaves the tree byte for byte."""

from __future__ import annotations

import shlex
import sqlite3
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.support.composed import composed
from tests.support.seat import Seat
from tests.support.sockets import own_port
from tests.support.turns import update
from tui.core.conversation import BlockKind
from tui.core.patches.landing import Landing
from tui.effects.commands import guard, runner
from tui.engine import intents
from tui.settings import Settings, VerifySettings

pytestmark = pytest.mark.slow
PYTHON = shlex.quote(sys.executable)
WAITS = update("a.py", "-x = 1", "+x = 2")
SEES = "grep -q 'x = 2' a.py || exit 0; "
"""Each of them sees the hunk that waits; before it all was well."""


def tree(root: Path) -> dict[str, object]:
    """All files and folders, with their rights, times and bytes."""
    found: dict[str, object] = {}
    for path in sorted(root.rglob("*")):
        about = path.lstat()
        data = path.read_bytes() if path.is_file() else b""
        found[str(path)] = (about.st_mode, about.st_mtime_ns, about.st_ino, data)
    return found


class Verified:
    """A workspace, and what F5 said on a hunk that waits in it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "work"
        self.root.mkdir()
        (self.root / "a.py").write_text("x = 1\n")
        (self.root / "b.py").write_text("y = 1\n")
        self.verdicts: list[str] = []
        self.output = ""

    async def by(self, command: str, *, times: int = 1, **settings: float) -> Verified:
        """F5 with this as the command of the tests, so often; the tree is as before."""
        before = tree(self.root)
        chosen = VerifySettings(command=SEES + command, **settings)
        async with composed(self.root, Settings(verify=chosen)) as (seat, _):
            landing = Landing(seat.session.workspace, turn=1, call_id="call")
            landing.feed(WAITS)
            landing.finish(cut=False)
            for _ in range(times):
                await seat.rests(intents.Verify(whole=True))
                self._note(seat)
            assert tree(self.root) == before
        return self

    def _note(self, seat: Seat) -> None:
        self.verdicts.append(seat.session.status.verdict)
        self.output = seat.texts(BlockKind.RUN)[0]  # behind it the hunk is blamed
        assert "there is no shadow here" not in "".join(seat.texts(BlockKind.NOTE))


@pytest.fixture
def verified(tmp_path: Path) -> Verified:
    return Verified(tmp_path)


def running(what: str) -> str:
    """Processes that have this in their command line."""
    found = subprocess.run(("pgrep", "-f", what), capture_output=True, text=True, check=False)
    return found.stdout


HANGS = {  # each by a process that no other test has
    "sleep 61803": "sleep 61803",
    "sleep 61804": "trap '' TERM INT HUP; while :; do sleep 61804; done",
    "sleep 61805": "setsid sh -c 'sleep 61805' & setsid sleep 61805",
}


@pytest.mark.parametrize("how", HANGS)
async def test_one_that_hangs_runs_into_its_deadline(verified: Verified, how: str) -> None:
    await verified.by(HANGS[how], deadline_s=0.5)
    assert verified.verdicts == ["timeout"]
    assert not running(how)


async def test_what_it_leaves_running_is_gone(verified: Verified) -> None:
    forks = "for n in $(seq 15); do setsid sh -c 'sleep 27182' & done; exit 1"
    await verified.by(f"({forks})")
    assert verified.verdicts == ["failed"]
    assert not running("sleep 27182")


async def test_a_fork_bomb_is_stopped(
    verified: Verified, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a lower limit: as the guard is a process of its own, a copy of it is started."""
    own = tmp_path / "guard.py"
    text = Path(guard.__file__).read_text("utf-8")
    own.write_text(text.replace("MOST_PROCESSES = 4096", "MOST_PROCESSES = 6"))
    monkeypatch.setattr(guard, "__file__", str(own))
    monkeypatch.setattr(runner, "command_guard", cache(guard.CommandGuard))
    await verified.by("for n in $(seq 18); do setsid sleep 31415 & done; wait")
    assert verified.verdicts == ["error"]
    assert "stopped: it had more than" in verified.output
    assert not running("sleep 31415")


async def test_the_disk_is_not_filled(verified: Verified, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("overlay", "copying"):
        monkeypatch.setattr(f"tui.effects.shadow.{kind}.ROOM", 50_000_000)
    await verified.by("cat /dev/zero >big")
    assert verified.verdicts == ["error"]
    assert "wrote more than 0.05 GB" in verified.output


async def test_memory_is_not_filled(verified: Verified) -> None:
    take = "x = []\nwhile True: x.append(bytearray(b'1' * 10_000_000))"
    await verified.by(f'{PYTHON} -c "{take}"', memory_gb=0.2)
    assert verified.verdicts == ["error"]
    assert "took more than 0.2 GB of memory" in verified.output


async def test_one_that_wants_a_terminal_finds_none(verified: Verified) -> None:
    await verified.by("read word </dev/tty && exit 0; read word && exit 0; tty && exit 0; exit 4")
    assert verified.verdicts == ["failed"]


async def test_of_much_output_its_ends_are_kept(verified: Verified) -> None:
    prints = "echo begins; head -c 300000000 /dev/zero | tr '\\0' x; echo; echo ends; exit 1"
    await verified.by(prints, deadline_s=60)
    assert verified.verdicts == ["failed"]
    assert verified.output.startswith("begins")
    assert "ends" in verified.output[-200:]
    assert len(verified.output) < 2_000_000


WRITES = {
    "in its folder": "echo z >>a.py; rm b.py; mkdir new; : >new/c",
    "by its absolute path": "cd /; echo z >>{root}/a.py; rm -rf {root}/*; echo z >{root}/d",
    "over git": "git init -q; git add -A; git -c user.name=x -c user.email=x@x commit -qm x",
    "in the folder's place": "cd ..; mv work other; ln -s / work",
    "its rights": "chmod -R 0 .; chmod 0 {root}",
    "whoever started it": "kill -9 $PPID; sleep 0.1; echo z >>a.py",
}


@pytest.mark.parametrize("where", WRITES)
async def test_what_it_writes_is_gone(verified: Verified, where: str) -> None:
    await verified.by(f"({WRITES[where].format(root=verified.root)}); exit 1", times=2)
    assert set(verified.verdicts) <= {"failed", "error"}


async def test_a_port_that_it_serves_is_free_for_the_next_run(verified: Verified) -> None:
    serve = (
        f"import socket, time; s = socket.socket(); s.bind(('127.0.0.1', {own_port()}));"
        "s.listen(); print('serves', flush=True); time.sleep(99)"
    )
    listens = f'setsid {PYTHON} -c "{serve}" >served & for n in $(seq 100); do '
    await verified.by(
        f"{listens} grep -q serves served && exit 0; sleep 0.05; done; exit 1", times=2
    )
    assert verified.verdicts == ["passed", "passed"]


async def test_a_database_in_the_workspace_is_as_it_was_for_each_run(verified: Verified) -> None:
    with sqlite3.connect(verified.root / "app.db") as base:
        base.execute("create table t (n)")
    code = (
        "import sqlite3; b = sqlite3.connect('app.db'); b.execute('insert into t values (1)');"
        "b.commit(); raise SystemExit(b.execute('select count(*) from t').fetchone() != (1,))"
    )
    await verified.by(f'{PYTHON} -c "{code}"', times=2)
    assert verified.verdicts == ["passed", "passed"]


async def test_an_exit_status_of_0_with_failures_in_the_report_is_red(
    verified: Verified, monkeypatch: pytest.MonkeyPatch
) -> None:
    (verified.root / "test_a.py").write_text("from a import x\ndef test_a(): assert x == 1\n")
    lies = "def pytest_sessionfinish(session): session.exitstatus = 0\n"
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    (verified.root / "conftest.py").write_text(lies)
    await verified.by(f"{PYTHON} -m pytest -q -p no:cacheprovider")
    assert verified.verdicts == ["failed"]
