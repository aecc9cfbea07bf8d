"""The pseudo-terminal of the screen's benchmark, and what programs in it use."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.benchmarks.screen import clients, processes
from tests.benchmarks.screen.picture import Emulator
from tests.benchmarks.screen.pseudo_terminal import PseudoTerminal
from tests.benchmarks.screen.stand import stand
from tui.errors import DuettoError

pytestmark = pytest.mark.slow

BUSY = "import time\nt = time.process_time()\nwhile time.process_time() - t < 0.3: pass\n"


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def environment(**more: str) -> dict[str, str]:
    return clients.environment(more)


def shown(terminal: PseudoTerminal, word: str, within_s: float = 10.0) -> str:
    """The screen once a word is there."""
    emulator = Emulator()
    for _ in range(int(within_s / 0.02)):
        emulator.read(terminal.take())
        if word in emulator.text:
            break
        terminal.rest(0.02)
    assert word in emulator.text
    return emulator.text


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        (b"\x1b[6n", b"\x1b[1;1R"),
        (b"\x1b[?2026$p", b"\x1b[?2026;2$y"),
        (b"\x1b]11;?\x07", b"\x1b]11;rgb:0c0c/0c0c/0c0c\x1b\\"),
        (b"\x1b[18t", b"\x1b[8;40;120t"),
    ],
)
def test_a_program_may_ask_its_terminal_in_pieces(
    tmp_path: Path, query: bytes, answer: bytes
) -> None:
    code = f"""
import os, sys, time, tty
tty.setraw(0)
for byte in {list(query)!r}:
    os.write(1, bytes([byte])); time.sleep(0.002)
got = b""
while len(got) < {len(answer)}: got += os.read(0, 100)
os.write(1, b"got " + got.hex().encode() + b" end")
time.sleep(30)
"""
    with PseudoTerminal(python(code), environment(), tmp_path) as terminal:
        assert f"got {answer.hex()} end" in shown(terminal, " end").replace("\n", "")


def test_a_program_has_a_terminal_s_size_and_no_keys_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    monkeypatch.setenv("SOME_TOKEN", "sk-2")
    monkeypatch.setenv("DUETTO_FAST", "x")
    code = (
        "import os, sys; print(os.get_terminal_size(), os.environ['TERM'], 'OWN' in os.environ,"
        " [n for n in os.environ if n in ('OPENAI_API_KEY', 'SOME_TOKEN', 'DUETTO_FAST')], 'end')"
    )
    with PseudoTerminal(python(code), environment(OWN="1"), tmp_path) as terminal:
        text = shown(terminal, "end")
    assert "columns=120, lines=40) xterm-256color True []" in text.replace("\n", "")


def test_a_daemon_that_left_its_family_counts_and_ends_with_it(tmp_path: Path) -> None:
    (tmp_path / "daemon.py").write_text(f"import os\nos.setsid()\n{BUSY}time.sleep(60)\n")
    code = f"""
import subprocess, sys, time
subprocess.Popen([sys.executable, "-c", "import subprocess, sys; print(subprocess.Popen("
    "[sys.executable, {str(tmp_path / "daemon.py")!r}]).pid, 'end', flush=True)"]).wait()
time.sleep(60)
"""
    terminal = PseudoTerminal(python(code), environment(), tmp_path)
    try:
        daemon_pid = int(shown(terminal, "end").split()[0])
        family = terminal.processes()
        assert {terminal.pid, daemon_pid} <= set(family)
        assert os.getpid() not in family
        for _ in range(500):
            if processes.cpu_s([daemon_pid]) >= 0.25:
                break
            terminal.rest(0.02)
        assert processes.cpu_s([daemon_pid]) >= 0.25
        assert processes.ran_s([daemon_pid]) >= 0.25
        assert processes.usage(family).rss_mb > processes.usage([daemon_pid]).rss_mb > 3
    finally:
        terminal.close()
    assert not alive(daemon_pid)
    assert not alive(terminal.pid)


def test_a_client_that_ends_at_once_is_one_sentence(tmp_path: Path) -> None:
    with stand() as place:
        for command, words in (
            (python("print('no such model')"), "no such model"),
            (["/nowhere/at/all"], "No such file"),
        ):
            client = clients.Client("pi", tuple(command), environment())
            with place.seat(client, tmp_path) as seat, pytest.raises(DuettoError) as caught:
                seat.ready()
            assert str(caught.value).startswith("pi has ended by itself: ")
            assert words in str(caught.value)


def test_a_client_that_never_asks_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.benchmarks.screen.stand.HEARD_S", 0.1)
    client = clients.Client(
        "pi",
        tuple(python("print('hi', flush=True); input()\ninput()\ninput()\ninput()\ninput()")),
        environment(),
        0.1,
    )
    with stand() as place, place.seat(client, tmp_path) as seat:
        seat.ready()
        asked = place.wanted(1_000, 100)
        with pytest.raises(DuettoError, match=f"^pi did not send the prompt {asked.go_word}$"):
            seat.submit(asked)


def test_a_screen_that_was_not_watched_is_painted_anew(tmp_path: Path) -> None:
    code = """
import os, signal, sys, time
signal.signal(signal.SIGWINCH, lambda *_: print("wide", os.get_terminal_size().columns, flush=True))
print("begun", flush=True)
while True: time.sleep(1)
"""
    client = clients.Client("pi", tuple(python(code)), environment(), 0.1)
    with stand() as place, place.seat(client, tmp_path) as seat:
        seat.ready()
        seat.look_away()
        text = seat.see().last
    assert "begun" not in text
    assert text.split() == ["wide", "119", "wide", "120"]
