"""What is known of endpoints, over runs and beside other processes."""

from __future__ import annotations

import fcntl
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.tables import each
from tui.core.wire.endpoint_facts import Capabilities
from tui.effects.known_endpoints import KnownEndpoints

URL = "wss://user:pw@model.example/v1/responses?key=sk-secret"


class WallClock:
    def __init__(self) -> None:
        self.time = 1_000_000.0

    def __call__(self) -> float:
        return self.time


def test_what_was_learnt_is_known_in_the_next_run(tmp_path: Path) -> None:
    known = Capabilities(
        True, False, True, {"gpt-6 astra": True}, {"m": False, "n": True}, max_age_s=3540.5
    )
    KnownEndpoints(tmp_path / "state").save(URL, known)
    assert KnownEndpoints(tmp_path / "state").load("wss://model.example/v1/responses") == known
    file = tmp_path / "state" / "endpoints.json"
    assert "sk-secret" not in file.read_text()
    assert "pw" not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert KnownEndpoints(tmp_path).load(URL) == Capabilities()
    assert sorted(path.name for path in file.parent.iterdir()) == [
        "endpoints.json",
        "endpoints.lock",
    ]


def test_what_proved_wrong_is_forgotten(tmp_path: Path) -> None:
    store = KnownEndpoints(tmp_path, WallClock())
    known = Capabilities(lanes=True, max_age_s=60.0)
    store.save(URL, known)
    known.max_age_s = None
    store.save(URL, known)
    assert KnownEndpoints(tmp_path, WallClock()).load(URL) == Capabilities(lanes=True)


@each("value", ["0.5", "-1", "true", "false", "20"])
def test_a_limit_that_makes_no_sense_is_not_believed(tmp_path: Path, value: str) -> None:
    fact = f'{{"max_age_s": {{"value": {value}, "since": 1000000}}}}'
    (tmp_path / "endpoints.json").write_text(PLACE % fact)
    assert KnownEndpoints(tmp_path, WallClock()).load(URL) == Capabilities()


def test_a_fact_from_the_future_is_not_believed(tmp_path: Path) -> None:
    clock = WallClock()
    clock.time += 365 * 24 * 3600
    KnownEndpoints(tmp_path, clock).save(URL, Capabilities(websocket=False))
    assert KnownEndpoints(tmp_path, WallClock()).load(URL) == Capabilities()


def test_processes_do_not_undo_each_other(tmp_path: Path) -> None:
    clock = WallClock()
    first, second = KnownEndpoints(tmp_path, clock), KnownEndpoints(tmp_path, clock)
    ours, theirs = first.load(URL), second.load(URL)
    theirs.lanes, theirs.steer["m"] = False, True
    second.save(URL, theirs)
    ours.interrupt["m"] = True
    first.save(URL, ours)
    first.save("wss://other.example/", Capabilities(prewarm=True))
    known = KnownEndpoints(tmp_path, clock).load(URL)
    assert known == Capabilities(lanes=False, interrupt={"m": True}, steer={"m": True})
    assert set(first.all()) == {"wss://model.example/v1/responses", "wss://other.example/"}


PLACE = '{"endpoints": {"wss://model.example/v1/responses": %s}}'
BROKEN = ["", "{", "[]", '{"endpoints": 3}', PLACE % "{}"]
BROKEN += [
    PLACE % f'{{"{name}": {{"value": {value}, "since": 1e9}}}}'
    for name, value in [
        ("spam", "true"),
        ("lanes", "0.5"),
        ("steer m", "1"),
        ("steer", "true"),
        ("max_age_s", "true"),
        ("max_age_s", "-1"),
        ("max_age_s", "0.001"),
        ("max_age_s m", "60"),
        ("lanes", "1e999"),
    ]
]


@each("text", BROKEN)
def test_a_broken_file_is_nothing_known_and_is_replaced(tmp_path: Path, text: str) -> None:
    (tmp_path / "endpoints.json").write_text(text)
    store = KnownEndpoints(tmp_path)
    assert store.load(URL) == Capabilities()
    assert store.all() == {}
    store.save(URL, Capabilities(lanes=True))
    assert KnownEndpoints(tmp_path).load(URL).lanes is True


def test_a_full_disk_leaves_what_was_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    KnownEndpoints(tmp_path).save(URL, Capabilities(lanes=True))
    opened = os.open

    def full(path: Path, flags: int, mode: int = 0o777) -> int:
        return opened("/dev/full", os.O_WRONLY) if flags & os.O_TRUNC else opened(path, flags, mode)

    monkeypatch.setattr(os, "open", full)
    store = KnownEndpoints(tmp_path)
    store.save(URL, Capabilities(lanes=True, prewarm=True))
    assert KnownEndpoints(tmp_path).load(URL) == Capabilities(lanes=True)


@pytest.mark.slow
def test_two_processes_at_once_lose_nothing(tmp_path: Path) -> None:
    write = (
        "import sys; from pathlib import Path\n"
        "from tui.effects.known_endpoints import KnownEndpoints\n"
        "from tui.core.wire.endpoint_facts import Capabilities\n"
        "store, known = KnownEndpoints(Path(sys.argv[1])), Capabilities()\n"
        "for number in range(40):\n"
        "    known.steer[sys.argv[2] + str(number)] = True\n"
        "    store.save('wss://h.example/', known)\n"
    )
    both = [
        subprocess.Popen([sys.executable, "-c", write, str(tmp_path), name]) for name in ("a", "b")
    ]
    assert [one.wait(60) for one in both] == [0, 0]
    assert len(KnownEndpoints(tmp_path).load("wss://h.example/").steer) == 80


@pytest.mark.slow
def test_keeping_waits_for_nobody_and_loses_nothing(tmp_path: Path) -> None:
    """Another duetto may be stopped while it holds the lock; the answer streams on."""
    store, known = KnownEndpoints(tmp_path), Capabilities()
    with (tmp_path / "endpoints.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        for number in range(50):
            known.steer[f"m{number}"] = True
            store.keep(URL, known)
        store.flush()
        assert KnownEndpoints(tmp_path).load(URL) == Capabilities()
    store.close()
    assert KnownEndpoints(tmp_path).load(URL) == known


def test_what_could_not_be_written_is_written_with_the_next_fact(tmp_path: Path) -> None:
    store = KnownEndpoints(tmp_path)
    with (tmp_path / "endpoints.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        store.save(URL, Capabilities(lanes=True))
    store.save(URL, Capabilities(lanes=True, prewarm=True))
    assert KnownEndpoints(tmp_path).load(URL) == Capabilities(lanes=True, prewarm=True)


@pytest.mark.slow
def test_who_leaves_without_a_word_loses_nothing(tmp_path: Path) -> None:
    write = (
        "import sys; from pathlib import Path\n"
        "from tui.effects.known_endpoints import KnownEndpoints\n"
        "from tui.core.wire.endpoint_facts import Capabilities\n"
        "KnownEndpoints(Path(sys.argv[1])).keep('wss://h.example/', Capabilities(lanes=True))\n"
    )
    subprocess.run([sys.executable, "-c", write, str(tmp_path)], check=True, timeout=60)
    assert KnownEndpoints(tmp_path).load("wss://h.example/").lanes is True
