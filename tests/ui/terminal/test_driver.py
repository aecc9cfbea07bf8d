"""The driver on a pseudo-terminal of its own: what it reads, writes, and leaves behind."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import signal
import struct
import termios
import time
import tty
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import pytest
from textual import events
from textual.message import Message

from tests.support.terminal import MODE
from tui.core.stamping import Name
from tui.ui.key_queue import TypedKey
from tui.ui.terminal import driver as driver_module
from tui.ui.terminal.driver import MOST_BYTES, OutputPipe, TerminalDriver
from tui.ui.terminal.input_stream import ESC_S

pytestmark = pytest.mark.slow


class Host:
    """As much of an app as a driver needs."""

    def __init__(self) -> None:
        self.heard: list[tuple[Message, float]] = []
        self.refreshed = 0
        self.stamps: list[tuple[str, str]] = []

    def post_message(self, message: Message) -> bool:
        self.heard.append((message, time.monotonic()))
        if isinstance(message, TypedKey):
            asyncio.get_running_loop().call_soon(message.on_taken)
        return True

    def refresh(self, *, layout: bool = False) -> None:
        self.refreshed += layout

    def stamp(self, name: Name, detail: str) -> None:
        self.stamps.append((name, detail))

    @property
    def keys(self) -> list[str]:
        return [message.key for message, _ in self.heard if isinstance(message, events.Key)]

    @property
    def sizes(self) -> list[tuple[int, int]]:
        return [
            tuple(message.size) for message, _ in self.heard if isinstance(message, events.Resize)
        ]


@contextmanager
def terminal() -> Iterator[tuple[int, int]]:
    """Both ends of a pseudo-terminal, 100 x 30."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    os.set_blocking(master, False)
    try:
        yield master, slave
    finally:
        os.close(master)
        os.close(slave)


def placed(monkeypatch: pytest.MonkeyPatch, host: Host, slave: int) -> TerminalDriver:
    """A driver that has not taken this terminal yet."""
    monkeypatch.setattr(driver_module, "_input_fileno", lambda: slave)
    monkeypatch.setattr(driver_module, "_output_fileno", lambda: slave)
    return TerminalDriver(host)


@asynccontextmanager
async def driving(
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[tuple[Host, TerminalDriver, int]]:
    """A driver that has taken the terminal; the far end as the third."""
    with terminal() as (master, slave):
        host = Host()
        driver = placed(monkeypatch, host, slave)
        driver.start_application_mode()
        try:
            yield host, driver, master
        finally:
            driver.stop_application_mode()
            driver.close()


async def until(true: Callable[[], object], seconds: float = 60.0) -> None:
    """Give the loop turns until it is true."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen"
        await asyncio.sleep(0.001)


def written(master: int) -> bytes:
    """What has come out so far."""
    found = b""
    while True:
        try:
            data = os.read(master, 65536)
        except (BlockingIOError, OSError):
            return found
        if not data:
            return found
        found += data


def modes(output: bytes) -> dict[int, bool]:
    """Private modes as they were last set."""
    return {int(n): m[2] == b"h" for m in MODE.finditer(output) for n in m[1].split(b";")}


async def test_a_lone_esc_is_a_key_by_itself_within_30_ms(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ESC_S < 0.030, "how late it is on an idle machine; a busy one is not measured here"
    async with driving(monkeypatch) as (host, _, master):
        host.heard.clear()
        start = time.monotonic()
        os.write(master, b"\x1b")
        await until(lambda: host.keys)
        assert host.heard[0][1] - start >= ESC_S - 0.001
        assert host.keys == ["escape"]
        assert ("key", "escape") in host.stamps


async def test_what_is_typed_arrives_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    async with driving(monkeypatch) as (host, _, master):
        for piece in ("é".encode()[:1], "é".encode()[1:] + b"a\x1bqd\x1b[A\r\x1b\x1b"):
            os.write(master, piece)
            await asyncio.sleep(0.01)
        await until(lambda: len(host.keys) == 8)
        assert host.keys == ["é", "a", "alt+q", "d", "up", "enter", "escape", "escape"]
        assert host.stamps.count(("key", "character")) == 3


async def test_what_was_typed_before_the_terminal_was_taken_arrives_as_typed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """While it starts, and while an editor or the shell has it: Enter is a line feed there."""
    with terminal() as (master, slave):
        host = Host()
        driver = placed(monkeypatch, host, slave)

        async def taken(typed: str, times: int) -> None:
            echo = bytearray()
            os.write(master, typed.encode())
            await until(lambda: (echo.extend(written(master)), b"\n" in echo)[1])
            driver.start_application_mode()
            os.write(master, b"\n")
            await until(lambda: host.keys.count("ctrl+j") == times)
            driver.stop_application_mode()

        await taken("é1\rx", 1)
        await taken("2\ry", 2)
        driver.close()
        assert host.keys == ["é", "1", "enter", "x", "ctrl+j", "2", "enter", "y", "ctrl+j"]


async def test_the_terminal_is_taken_and_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    with terminal() as (master, slave):
        before = termios.tcgetattr(slave)
        driver = placed(monkeypatch, Host(), slave)
        driver.start_application_mode()
        taken = written(master)
        assert modes(taken)[1049] is True
        assert modes(taken)[25] is modes(taken)[7] is False
        assert b"\x1b[>5u" in taken
        assert b"\x1b[>4;1m" in taken
        assert b"\x1b[?2026$p" in taken
        assert b"\x1b[?u" in taken
        assert not termios.tcgetattr(slave)[tty.LFLAG] & (termios.ECHO | termios.ICANON)
        driver.write("text")
        driver.stop_application_mode()
        driver.stop_application_mode()
        left = written(master)
        assert {number: on for number, on in modes(taken + left).items() if on} == {
            7: True,
            25: True,
        }
        assert left.count(b"\x1b[<u") == 1
        assert left.index(b"\x1b[<u") < left.index(b"\x1b[?1049l")
        assert left.index(b"text") < left.index(b"\x1b[?1049l")
        assert termios.tcgetattr(slave) == before
        assert os.get_blocking(slave)  # the shell's file is as it was
        driver.write("late")
        driver.flush()
        driver.close()
        assert written(master) == b""


async def test_a_terminal_that_takes_nothing_holds_nobody_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with driving(monkeypatch) as (host, driver, master):
        frame = "\x1b[1;1H" + "x" * 20_000
        for _ in range(200):  # nobody reads: whoever waited would wait for ever
            driver.write(frame)
            driver.flush()
        assert driver.behind
        told: list[int] = []
        driver.when_taken(lambda: told.append(1))
        assert len(driver._pipe._waiting) < MOST_BYTES + 2 * len(frame)
        os.write(master, b"\x1b[27u")
        await until(lambda: host.keys)
        # when it takes something again, the picture is painted anew
        got = bytearray()
        await until(lambda: (got.extend(written(master)), not driver.behind)[1])
        assert told == [1]
        assert host.refreshed == 1
        assert b"\x1b[1;1H" in got


async def test_a_frame_is_painted_when_its_last_byte_is_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with driving(monkeypatch) as (host, driver, master):
        await until(lambda: ("painted", "1") in host.stamps)
        written(master)
        driver.write("a" * 500_000)
        driver.flush()
        assert ("painted", "2") not in host.stamps
        while ("painted", "2") not in host.stamps:
            written(master)
            await asyncio.sleep(0)
        driver.write("no flush")
        await until(lambda: ("painted", "3") in host.stamps)
        assert written(master).endswith(b"no flush")


@pytest.mark.parametrize("waiting", [30_000, MOST_BYTES + 200_000])
async def test_a_stuck_terminal_is_given_back_all_the_same(
    waiting: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver_module, "LAST_S", 0.1)
    async with driving(monkeypatch) as (host, driver, master):
        driver.write("x" * waiting)
        driver.flush()
        assert driver.behind
        painted: list[str] = []
        driver.when_taken(lambda: painted.append("a frame"))
        driver.stop_application_mode()
        assert not painted
        await asyncio.sleep(0.1)  # it reads again when nobody is there any more
        assert not any(on for mode, on in modes(written(master)).items() if mode not in (7, 25))
        driver.suspend_application_mode()
        driver.resume_application_mode()
        host.stamps.clear()
        for number in range(20):
            driver.write(f"frame {number}")
            driver.flush()
            await until(lambda number=number: f"frame {number}".encode() in written(master))
        assert len(host.stamps) >= 20  # and its frames count again
        assert len(driver._pipe._marks) <= 1


async def test_a_terminal_that_is_gone_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    hung_up: list[int] = []
    loop = asyncio.get_running_loop()
    try:
        master, slave = pty.openpty()
        driver = placed(monkeypatch, Host(), slave)
        loop.add_signal_handler(signal.SIGHUP, hung_up.append, 1)  # as the app does, later
        driver.start_application_mode()
        os.close(master)
        await until(lambda: hung_up)
        driver.write("x")
        driver.flush()
        await asyncio.sleep(0.05)
        assert hung_up == [1]  # once, not for ever
        driver.stop_application_mode()
        driver.close()
        os.close(slave)
    finally:
        loop.remove_signal_handler(signal.SIGHUP)


async def test_a_pipe_writes_where_the_terminal_cannot_be_opened_anew() -> None:
    reader, writer = os.pipe()  # a pipe has no name, so it is written to in the waiting way
    os.set_blocking(reader, False)
    pipe = OutputPipe(writer)
    text = "é" * 200_000
    pipe.write(text)
    pipe.flush()
    assert pipe.behind
    got = b""
    while len(got) < 400_000:
        got += written(reader)
        await asyncio.sleep(0)
    assert got.decode() == text
    os.close(reader)
    pipe.write("x")
    pipe.flush()
    assert pipe.gone
    pipe.close()
    pipe.close()
    os.close(writer)
