"""Where lines come from, and when something may be written."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.tables import case
from tests.support.terminal import Terminal
from tui.linear.console import (
    MOST_BYTES,
    Console,
    EditedLines,
    LineSource,
    Listener,
    NotText,
    PlainLines,
)


class Typing:
    """A terminal's line into which the user types while ``during`` runs."""

    live = shows = edits = True
    ended = False
    typed = ""

    def __init__(self, during: Callable[[Typing], None]) -> None:
        self.during = during
        self.lines: list[str] = []

    @property
    def entered(self) -> bool:
        return bool(self.lines)

    def wait(self, prompt: str) -> None:
        self.during(self)
        if not self.lines:
            raise EOFError

    def take(self) -> str:
        return self.lines.pop(0)

    def hide(self, on: bool) -> None:
        """Nothing is shown here."""

    def drop(self) -> None:
        """Nothing stands in the line any more."""
        self.typed = ""

    def keep(self) -> None:
        """What stands in the line stays there."""


@pytest.fixture
def ends() -> Iterator[tuple[int, int]]:
    """A pipe: where to read what was said, where to say it."""
    before = signal.getsignal(signal.SIGRTMIN)
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    yield reading, writing
    os.close(reading)
    os.close(writing)
    signal.signal(signal.SIGRTMIN, before)


def serve(
    console: Console,
    typing: Callable[[str], None] = lambda text: None,
    line: Callable[[str], None] = lambda text: None,
) -> None:
    """Until the source has nothing more."""
    console.serve(
        Listener(
            line=lambda text, taken: (line(text), taken())[1],
            interrupted=lambda dropped, taken: taken(),
            ended=console.close,
            killed=lambda code: None,
            typing=typing,
        )
    )
    console.release()


def said(reading: int) -> str:
    try:
        return os.read(reading, 65_536).decode()
    except BlockingIOError:
        return ""


def test_nothing_is_said_into_a_line_that_is_being_typed(ends: tuple[int, int]) -> None:
    reading, writing = ends
    heard: list[str] = []
    typed: list[str] = []

    def during(line: Typing) -> None:
        line.typed = "half"
        console.say("arrived\n")
        heard.append(said(reading))
        assert console.holding
        line.typed = ""
        console.look()
        heard.append(said(reading))
        console.say("at once\n")
        heard.append(said(reading))
        assert not console.holding

    console = Console(Typing(during), writing)
    console.mode("ready", stoppable=False)
    serve(console, typed.append)
    assert heard == ["", "\narrived\n> ", "\nat once\n> "]
    assert typed == ["half", ""]


def test_a_look_that_readline_does_not_let_in_is_known_to_wait(ends: tuple[int, int]) -> None:
    looks: list[bool] = []

    def during(line: Typing) -> None:
        looks.extend((console.look(), console.look()))
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])  # so busy is it with keys
        looks.extend((console.look(), console.look()))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGRTMIN])
        looks.append(console.look())

    console = Console(Typing(during), ends[1])
    serve(console)
    assert looks == [True, True, True, False, True]


def test_a_prompt_that_is_due_waits_while_somebody_types(ends: tuple[int, int]) -> None:
    prompts: list[str] = []

    def during(line: Typing) -> None:
        if len(prompts) == 1:
            line.typed = "half"
            console.mode("more", stoppable=False)
            assert console.holding
            line.typed = ""
            console.look()

    class Noting(Typing):
        def wait(self, prompt: str) -> None:
            prompts.append(prompt)
            super().wait(prompt)

    console = Console(Noting(during), ends[1])
    console.mode("ready", stoppable=False)
    serve(console)
    assert prompts == ["> ", "... "]


def test_a_line_is_taken_whatever_is_said_while_it_is_entered(ends: tuple[int, int]) -> None:
    reading, writing = ends
    heard: list[str] = []
    typed = ["first", "second"]

    def during(line: Typing) -> None:
        line.lines += typed[:1]
        if typed:
            console.say(f"said behind {typed.pop(0)}\n")
            console.mode("more", stoppable=False)

    console = Console(Typing(during), writing)
    console.mode("ready", stoppable=False)
    serve(console, line=heard.append)
    assert heard == ["first", "second"]
    assert said(reading) == "said behind first\nsaid behind second\n"


def next_of(source: LineSource) -> str:
    source.wait("")
    return source.take()


def read_all(source: PlainLines) -> list[str]:
    lines = []
    while True:
        try:
            lines.append(next_of(source))
        except NotText as why:
            lines.append(f"Warning: {why}")
        except EOFError:
            return lines


def test_lines_that_are_no_text_are_told_and_left_out() -> None:
    utf = "Warning: a line was not UTF-8 (byte {}) and was left out"
    for data, lines in (
        (b"a\n/queue \xff\xfe\nb\n", ["a", utf.format(8), "b"]),
        (b"\xc3\nlast", [utf.format(1), "last"]),
        (b"a\r\n\nb\0c\n", ["a", "", "Warning: a line held a NUL character and was left out"]),
        ("日本\n".encode() * 2, ["日本", "日本"]),
    ):
        reading, writing = os.pipe()
        os.write(writing, data)
        os.close(writing)
        with case(data):
            assert read_all(PlainLines(reading)) == lines
        os.close(reading)


def test_a_line_that_is_too_long_is_left_out_to_its_end(tmp_path: Path) -> None:
    path, told = tmp_path / "lines", "Warning: a line of more than 8 MB was left out"
    for long, end, lines in (
        (MOST_BYTES, b"\nb", ["x" * MOST_BYTES, "b"]),
        (MOST_BYTES + 1, b"\nb\nc", [told, "b", "c"]),
        (MOST_BYTES * 2 + 100, b"\nb", [told, "b"]),
        (MOST_BYTES + 1, b"", [told]),
        (MOST_BYTES + 65_536, b"", [told]),
    ):
        path.write_bytes(b"x" * long + end)
        with case(long, end), path.open("rb") as file:
            assert read_all(PlainLines(file.fileno())) == lines


def test_what_readline_gives_that_is_no_text_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def undecoded(prompt: str) -> str:
        return b"\xff".decode()

    source = EditedLines(lambda line, word: (), ())
    for given in (undecoded, lambda prompt: "half a \udcff"):
        monkeypatch.setattr("builtins.input", given)
        with pytest.raises(NotText, match=r"^that line was not UTF-8 and was left out$"):
            next_of(source)


TYPED_AHEAD = """
import sys
from tui.linear.console import EditedLines

source, heard = EditedLines(lambda line, word: (), ()), []
print("up", flush=True)
open(sys.argv[1]).read()
for hidden in (True, False, True):
    source.hide(hidden)
    source.wait("? ")
    heard.append(source.take())
print("heard", heard, "kept", source._readline.get_current_history_length())
"""


def test_what_is_typed_ahead_of_a_hidden_line_and_behind_it_stays(tmp_path: Path) -> None:
    os.mkfifo(begin := tmp_path / "begin")
    with Terminal([sys.executable, "-c", TYPED_AHEAD, begin]) as term:
        term.wait_for("up")
        term.type("a key\rshown\ranother ")
        begin.write_text("")
        term.wait_for(lambda text: text.count("?") == 3)
        assert not term.echoes
        term.type("one\r")
        term.wait_for("heard ['a key', 'shown', 'another one'] kept 1")
        assert term.output.count(b"one") == 1
        assert term.wait_exit() == 0
        assert term.trouble() == ""


def test_a_line_that_is_left_out_is_told(ends: tuple[int, int]) -> None:
    reading, writing = ends
    faults = iter([NotText("it was no text")])

    def during(line: Typing) -> None:
        for fault in faults:
            raise fault

    serve(Console(Typing(during), writing))
    assert said(reading) == "Warning: it was no text.\n"


def test_its_end_is_told_until_it_is_heard(ends: tuple[int, int]) -> None:
    """A signal just before the call that waits for a line ends no wait: here the first does not."""
    reading, writing = os.pipe()

    class Deaf(Typing):
        looks = 0

        @property
        def entered(self) -> bool:
            self.looks += 1
            return self.looks == 1

        def wait(self, prompt: str) -> None:
            ending.start()
            os.read(reading, 1)

    console = Console(source := Deaf(lambda line: None), ends[1])
    ending = threading.Thread(target=console.finish)
    serve(console)
    ending.join()
    assert source.looks == 2
    os.close(reading)
    os.close(writing)
