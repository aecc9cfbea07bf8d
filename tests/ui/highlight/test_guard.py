"""Lexers that raise, hang, run for ever or eat memory."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from time import process_time
from types import FrameType
from typing import Any, ClassVar

import pytest
from pygments.lexer import Lexer, RegexLexer, bygroups, default
from pygments.token import Name, Text

from tui.core.text.buffer import Buffer
from tui.ui.highlight.colours import BufferColours, LexerLanguage
from tui.ui.highlight.guard import Guard

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
    patch.setattr("tui.ui.highlight.colours.language", lambda name: LexerLanguage(name, lexer))
    return BufferColours(buffer)


@pytest.mark.slow
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


def test_a_way_out_of_the_program_is_not_stopped() -> None:
    with pytest.raises(KeyboardInterrupt), Guard():
        raise KeyboardInterrupt
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


@pytest.mark.parametrize("moment", ["__enter__", "__exit__"])
def test_an_alarm_while_a_guard_comes_or_goes_does_not_get_out(moment: str) -> None:
    """It rings at each line of that, until the guard has put all back."""
    code = getattr(Guard, moment).__code__

    def ring(frame: FrameType, event: str, argument: object) -> Any:
        if frame.f_code is code:
            signal.raise_signal(signal.SIGVTALRM)
        return ring if frame.f_code is code else None

    before, depth = sys.gettrace(), Guard._depth
    with Guard() as first:
        pass
    try:
        sys.settrace(ring)
        with Guard() as guard:
            pass
    finally:
        sys.settrace(before)
    assert (first.failure, guard.failure, Guard._depth) == ("", "", depth)
    assert signal.getitimer(signal.ITIMER_VIRTUAL)[0] == 0.0
