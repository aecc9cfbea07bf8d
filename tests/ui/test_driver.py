from __future__ import annotations

import inspect
import os
import threading
import time
from collections.abc import Callable

from textual import constants
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Key

from tests.support.scripted_app import scripted_app
from tests.support.scripted_session import ScriptedSession
from tui.core.trace import no_stamp
from tui.ui.driver import TerminalDriver, _new_parser, spelled, wait_after


class Recorder(TerminalDriver):
    """Reads from a pipe, keeps the messages and when they came."""

    def __init__(self, fileno: int) -> None:
        self.fileno = fileno
        self.exit_event = threading.Event()
        self._stamp = no_stamp
        self.keys: list[tuple[str, float]] = []

    def process_message(self, message: object) -> None:
        if isinstance(message, Key):
            self.keys.append((message.key, time.monotonic()))


def wait_for(true: Callable[[], bool]) -> None:
    """Until it is true, two seconds at most."""
    start = time.monotonic()
    while not true() and time.monotonic() - start < 2:
        time.sleep(0.001)


def typed(*chunks: bytes) -> list[tuple[str, float]]:
    """What the driver makes of these bytes, and seconds since the last one was written."""
    reader, writer = os.pipe()
    driver = Recorder(reader)
    thread = threading.Thread(target=driver.run_input_thread)
    thread.start()
    for chunk in chunks:
        os.write(writer, chunk)
    start = time.monotonic()
    wait_for(lambda: bool(driver.keys))
    driver.exit_event.set()
    thread.join()
    os.close(reader)
    os.close(writer)
    return [(key, at - start) for key, at in driver.keys]


def test_a_lone_esc_is_a_key_without_waiting_for_the_poll() -> None:
    ((key, seconds),) = typed(b"\x1b")
    assert key == "escape"
    assert seconds < constants.ESCAPE_DELAY + 0.06


def test_sequences_and_text_are_what_they_were() -> None:
    assert [key for key, _ in typed(b"\x1b[A")] == ["up"]
    assert [key for key, _ in typed(b"\x1ba")] == ["alt+a"]
    assert len(typed("é".encode())) == 1
    assert typed(b"\x03")[0][0] == "ctrl+c"


def test_it_waits_long_when_nothing_is_open() -> None:
    assert wait_after("abc") == 0.1
    assert wait_after("abc\x1b") == constants.ESCAPE_DELAY + 0.001


def test_textual_still_has_what_the_driver_leans_on() -> None:
    source = inspect.getsource(LinuxDriver)
    for name in (
        "def run_input_thread",
        "self.exit_event",
        "self.fileno",
        "process_message",
        "XTermParser(",
        "tick()",
    ):
        assert name in source, name


def test_the_app_uses_it_where_textual_would_use_its_own() -> None:
    app = scripted_app(ScriptedSession())
    assert app.get_driver_class() is TerminalDriver


def test_alt_with_a_digit_or_a_point_is_alt() -> None:
    assert [key for key, _ in typed(b"\x1b2")] == ["alt+2"]
    assert [key for key, _ in typed(b"\x1b.")] == ["alt+full_stop"]


def test_alt_enter_is_one_key_in_every_form_that_terminals_send() -> None:
    for sent in (b"\x1b\r", b"\x1b[13;3u", b"\x1b[27;3;13~"):
        assert [key for key, _ in typed(sent)] == ["alt+enter"], sent


def test_alt_enter_may_come_in_two_reads() -> None:
    driver, parser = Recorder(0), _new_parser()
    for chunk, open_esc in (("\x1b", False), ("\rx", True)):
        for message in parser.feed(spelled(chunk, open_esc=open_esc)):
            driver.process_message(message)
    assert [key for key, _ in driver.keys] == ["alt+enter", "x"]


def test_esc_then_enter_are_two_keys() -> None:
    reader, writer = os.pipe()
    driver = Recorder(reader)
    thread = threading.Thread(target=driver.run_input_thread)
    thread.start()
    os.write(writer, b"\x1b")
    wait_for(lambda: len(driver.keys) == 1)
    os.write(writer, b"\r")
    wait_for(lambda: len(driver.keys) == 2)
    driver.exit_event.set()
    thread.join()
    os.close(reader)
    os.close(writer)
    assert [key for key, _ in driver.keys] == ["escape", "enter"]


def test_shift_enter_from_a_terminal_that_tells_it_by_number() -> None:
    for sent in (b"\x1b[27;2;13~", b"\x1b[13;2u"):  # the second one is what docs/keys.md names
        assert [key for key, _ in typed(sent)] == ["shift+enter"]


def test_alt_with_a_letter_is_alt_whatever_was_typed_behind_it() -> None:
    """Over a slow line several keys come in one read."""
    for behind, then in ((b"\x1b[A", "up"), (b"d", "d"), (b"\x1bv", "alt+v"), (b"\r", "enter")):
        assert [key for key, _ in typed(b"\x1bq" + behind)] == ["alt+q", then], behind


def test_alt_b_and_alt_f_move_by_words_whatever_comes_behind() -> None:
    assert [key for key, _ in typed(b"\x1bb\x1bf\x1bb\x1b[A")] == [
        "ctrl+left",
        "ctrl+right",
        "ctrl+left",
        "up",
    ]


def test_alt_with_a_letter_may_come_in_two_reads() -> None:
    driver, parser = Recorder(0), _new_parser()
    for chunk, open_esc in (("\x1b", False), ("qd", True)):
        for message in parser.feed(spelled(chunk, open_esc=open_esc)):
            driver.process_message(message)
    assert [key for key, _ in driver.keys] == ["alt+q", "d"]


def test_esc_twice_is_esc_twice() -> None:
    assert [key for key, _ in typed(b"\x1b\x1b")] == ["escape", "escape"]
