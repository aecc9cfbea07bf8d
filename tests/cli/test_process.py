"""Ctrl+C at moments that no person can hit on purpose: always 130, never a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.support.commands import clean_environment
from tui.cli.process import hearing_ctrl_c

pytestmark = pytest.mark.slow

_PRESS = "os.kill(os.getpid(), signal.SIGINT)"
_MOMENTS = {
    "while modules are imported": f"""
class Pressing:
    def find_spec(self, name, path, target=None):
        if name == "tui.cli.main":
            {_PRESS}
sys.meta_path.insert(0, Pressing())
""",
    "in a command": f"""
from tui.cli import main
main.duetto.main = lambda *args, **more: {_PRESS}
""",
    "while a dataclass is made": f"""
from tui.cli import main
main.duetto.main = lambda *args, **more: exec({_PRESS!r}, globals())
""",
    "behind a command": f"""
from tui.cli import main
main.run = lambda args: threading.Timer(0.05, lambda: {_PRESS}).start() or 1
""",
}


@pytest.mark.parametrize("moment", _MOMENTS)
@pytest.mark.parametrize("ignored", [False, True], ids=["heard", "ignored"])
def test_ctrl_c_ends_with_130_or_not_at_all(tmp_path: Path, moment: str, ignored: bool) -> None:
    program = (
        f"import os, signal, sys, threading\n{_MOMENTS[moment]}\n"
        "from tui.cli.__main__ import main\nsys.argv = ['duetto', '--version']\nmain()\n"
    )
    before = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n" if ignored else ""
    (tmp_path / "pressed.py").write_text(before + program)
    done = subprocess.run(
        [sys.executable, "-m", "pressed"],
        cwd=tmp_path,
        env=clean_environment(tmp_path),
        capture_output=True,
        timeout=60,
        text=True,
        check=False,
    )
    assert (done.returncode == 130) is not ignored, done.stderr
    assert "Traceback" not in done.stderr


def test_at_the_end_all_is_written_and_nothing_is_taken_apart() -> None:
    """Taking Python apart takes longer than a person waits behind Ctrl+C."""
    script = """
import atexit, sys, threading
from tui.cli import process
atexit.register(process.leave)
atexit.register(print, "handlers", end=" ")
class Held:
    def __del__(self):
        print("taken apart")
held = Held()
threading.Timer(0.05, lambda: print("threads", end=" ")).start()
print("said", end=" ")
process.ended(7)
sys.exit(7)
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (7, "said threads handlers ")


def test_ctrl_c_that_ends_no_system_call_is_heard() -> None:
    """As one that comes between Python's last look and the call: here another thread gets it."""
    reading, writing = os.pipe()
    press = threading.Timer(0, lambda: signal.pthread_kill(threading.get_ident(), signal.SIGINT))

    def typed() -> None:
        with hearing_ctrl_c():
            press.start()
            os.read(reading, 1)

    with pytest.raises(KeyboardInterrupt):
        typed()
    press.join()
    os.close(reading)
    os.close(writing)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
