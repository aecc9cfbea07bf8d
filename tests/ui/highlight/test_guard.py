"""Lexers that raise, hang, run for ever or eat memory."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from time import process_time
from typing import ClassVar

import pytest
from pygments.lexer import Lexer, RegexLexer, bygroups, default
from pygments.token import Error, Name, Text, Whitespace

from tests.support.colour_samples import without_pauses
from tui.core.text.buffer import Buffer
from tui.ui.highlight import guard as guard_module
from tui.ui.highlight.colours import BufferColours
from tui.ui.highlight.guard import Guard, LexerUnfit
from tui.ui.highlight.languages import Language

TEXT = "hello world\n! x\n" + "a" * 60 + "!\nsecret\n"
Tokens = Iterator[tuple[int, object, str]]


class Catastrophic(RegexLexer):
    name = "Catastrophic"
    tokens: ClassVar = {"root": [(r"(a+)+$", Name), (r".|\n", Text)]}


class Turning(RegexLexer):
    name = "Turning"
    tokens: ClassVar = {"root": [default("x")], "x": [default("#pop")]}


class Climbing(RegexLexer):
    name = "Climbing"
    tokens: ClassVar = {"root": [(r"", Text, "root")]}


class Custom(Exception):
    pass


def fail(*arguments: object) -> None:
    raise Custom("text of the file: secret")


class Raising(RegexLexer):
    name = "Raising"
    tokens: ClassVar = {"root": [(r"\w+", Name), (r"(!)", bygroups(fail)), (r".|\n", Text)]}


class ByHand(Lexer):
    def get_tokens_unprocessed(self, text: str) -> Tokens:
        yield from ()


class Endless(ByHand):
    def get_tokens_unprocessed(self, text: str) -> Tokens:
        while True:
            yield 0, Name, ""


class Beyond(ByHand):
    def get_tokens_unprocessed(self, text: str) -> Tokens:
        pos = 0
        while True:
            yield pos, Name, "abc"
            pos += 3


class Looping(ByHand):
    def get_tokens_unprocessed(self, text: str) -> Tokens:
        while text:
            pass
        yield 0, Name, ""


class Greedy(ByHand):
    def get_tokens_unprocessed(self, text: str) -> Tokens:
        kept = []
        while True:
            kept.append(bytearray(2**19))
            yield 0, Name, ""


class Deep(ByHand):
    def get_tokens_unprocessed(self, text: str) -> Tokens:
        yield from self.get_tokens_unprocessed(text)


class Exhausted(ByHand):
    def get_tokens_unprocessed(self, text: str) -> Tokens:
        raise MemoryError
        yield 0, Name, ""


class Garbled(ByHand):
    def get_tokens_unprocessed(self, text: str) -> Tokens:
        yield from ("x", 1)


class Unborn(ByHand):
    def __init__(self, **options: object) -> None:
        raise KeyError("x")


UNFIT = [
    Catastrophic,
    Turning,
    Climbing,
    Raising,
    Endless,
    Beyond,
    Looping,
    Greedy,
    Deep,
    Exhausted,
    Garbled,
    Unborn,
]


def colours_by(lexer: type[Lexer], buffer: Buffer, patch: pytest.MonkeyPatch) -> BufferColours:
    lexer.name = lexer.__name__
    patch.setattr("tui.ui.highlight.colours.candidates", lambda path: [(lexer.name, "*")])
    patch.setattr("tui.ui.highlight.colours.language", lambda name: Language(name, lexer))
    return BufferColours(buffer)


@pytest.mark.parametrize("lexer", UNFIT, ids=lambda lexer: lexer.__name__)
def test_an_unfit_lexer_is_dropped_for_that_file(
    lexer: type[Lexer], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    buffer = Buffer("notes.zzz", TEXT)
    colours = colours_by(lexer, buffer, monkeypatch)
    worst_s, calls = 0.0, 0
    while colours.pending:
        began = process_time()
        colours.advance(3, 0.005, 0)
        colours.idle(0.004)
        worst_s = max(worst_s, process_time() - began)
        calls += 1
        assert calls < 500
    assert worst_s < 1.0
    assert colours.spans(2) == ()
    again = colours_by(lexer, buffer, monkeypatch)
    for _ in range(20):
        buffer.replace((0, 0), (0, 0), "a")
        assert colours.advance(3, 0.005, 0) is None
        assert colours.idle(0.004) is None
        again.idle(0.004)
    assert not colours.pending
    assert not again.pending
    said = [record.getMessage() for record in caplog.records if record.name == "tui.highlight"]
    assert len(said) == (2 if lexer is Unborn else 1) or len(set(said)) == 1
    assert "secret" not in " ".join(said)
    assert all(record.exc_info is None for record in caplog.records)


def test_what_is_no_token_type_is_not_painted(monkeypatch: pytest.MonkeyPatch) -> None:
    class Odd(ByHand):
        def get_tokens_unprocessed(self, text: str) -> Tokens:
            yield 0, None, "he"
            yield 2, "Name", "llo"
            yield -7, Name, "zz"
            yield 5, Name, " w"

    colours = colours_by(Odd, Buffer("notes.zzz", TEXT), monkeypatch)
    while not colours.loaded or (colours.wait_s == 0 and colours.pending):
        colours.idle(0.01)
    assert colours.spans(0) == ((5, 7, Name),)


def test_a_lexer_that_fails_in_a_fence_leaves_the_rest_its_colours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*arguments: object) -> None:
        raise Custom

    monkeypatch.setattr("pygments.lexers.data.JsonLexer.get_tokens_unprocessed", broken)
    buffer = Buffer("a.md", "# Title\n\n```json\n{}\n```\n\n```python\ndef f(): pass\n```\n")
    colours = BufferColours(buffer)
    while colours.pending:
        colours.idle(0.01)
    assert colours.spans(0) != ()
    assert colours.spans(3) == ()
    assert colours.spans(7)[0][:2] == (0, 3)
    assert colours.failed


def test_one_slow_step_is_forgiven_many_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(ByHand):
        def get_tokens_unprocessed(self, text: str) -> Tokens:
            for pos in range(len(text)):
                until = process_time() + 0.06
                while process_time() < until:
                    pass
                yield pos, Name, text[pos]

    monkeypatch.setattr("tui.ui.highlight.whole._CLOCK_EVERY", 1)
    colours = colours_by(Slow, Buffer("notes.zzz", TEXT), monkeypatch)
    calls = 0
    while colours.pending:
        colours.idle(0.004)
        calls += 1
    assert 5 < calls < 40
    assert colours.failed


class Far(RegexLexer):
    """The end of what is quoted is looked for in all of the text."""

    tokens: ClassVar = {
        "root": [
            (r'"(""|[^"])*"', Name),
            (r"\w+", Name.Function),
            (r"\s+", Whitespace),
        ]
    }


@pytest.mark.parametrize("edit_first", [False, True])
def test_a_lexer_that_is_slow_with_a_long_text_is_shown_less_of_it(
    edit_first: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    without_pauses(monkeypatch)
    monkeypatch.setattr(guard_module, "WIDE_CPU_S", 0.03)
    buffer = Buffer("notes.zzz", "one two three four five six seven eight\n" * 30_000)
    colours = colours_by(Far, buffer, monkeypatch)
    while colours.pending and not (edit_first and colours.loaded):
        colours.idle(0.1)
    buffer.replace((5, 0), (5, 0), '"')
    began = process_time()
    colours.advance(40, 0.005, 0)
    assert process_time() - began < 0.5
    while colours.pending:
        began = process_time()
        colours.idle(0.004)
        assert process_time() - began < 0.5
    assert not colours.failed
    assert not caplog.records
    assert colours.spans(5)[0] == (0, 1, Error)
    assert all(colours.spans(line)[0] == (0, 3, Name.Function) for line in range(6, 30_000))
    buffer.replace((7, 3), (7, 3), '"')
    colours.advance(40, 0.005, 0)
    while colours.pending:
        colours.idle(0.004)
    assert colours.spans(6) == ((0, 39, Name),)
    assert colours.spans(29_000)[0] == (0, 3, Name.Function)


def test_the_guard_leaves_no_alarm_behind() -> None:
    before = signal.getsignal(signal.SIGVTALRM)
    with Guard() as outer:
        with Guard() as inner:
            raise LexerUnfit("inner")
        assert inner.failure == "inner"
        guard_module.look()
    assert outer.failure == ""
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGVTALRM) == before


def test_a_way_out_of_the_program_is_not_stopped() -> None:
    with pytest.raises(KeyboardInterrupt), Guard():
        raise KeyboardInterrupt
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


def test_outside_the_main_thread_there_is_no_alarm_but_a_guard() -> None:
    failures = []

    def work() -> None:
        with Guard() as guard:
            raise Custom
        failures.append(guard.failure)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert failures == ["Custom"]


class Dying:
    def __del__(self) -> None:
        """An alarm that rings here is lost."""
        until = process_time() + 0.1
        while process_time() < until:
            pass


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_alarm_that_python_ignores_rings_again() -> None:
    began = process_time()
    with Guard(0.05) as guard:
        Dying()
        while process_time() < began + 5:
            pass
    assert guard.failure
    assert process_time() - began < 1
    assert signal.getitimer(signal.ITIMER_VIRTUAL)[0] == 0
