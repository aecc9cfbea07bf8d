"""Keys, sequences and pastes are the same wherever the reads split them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.tables import each
from tui.ui.terminal.input_stream import (
    ESC,
    PASTE_END,
    PASTE_S,
    PASTE_START,
    InputStream,
    Token,
)

SEQUENCES = (
    "\x1b[A",
    "\x1b[1;5C",
    "\x1b[15~",
    "\x1b[[A",
    "\x1bOP",
    "\x1b[27u",
    "\x1b[99;5u",
    "\x1b[45:95;6u",
    "\x1b[27;2;13~",
    "\x1b[<35;120;40M",
    "\x1b[<0;1;1m",
    "\x1b[M !!",
    "\x1b[I",
    "\x1b[O",
    "\x1b[?2026;2$y",
    "\x1b[?5u",
    "\x1b[?62;22c",
    "\x1b[12;40R",
)
REPLIES = ("\x1b]11;rgb:1010/1010/1414\x1b\\", "\x1b]52;c;aGk=\x07", "\x1bP>|tmux 3.5\x1b\\")
PASTES = (
    "",
    "one\rtwo",
    "\x1b[31mred\x1b[0m",
    "\x1b",
    "\x1b[200",
    "[A",
    "é\u200d\N{ROCKET}",
    "x" * 999,
)

Step = tuple[str, float]
"""What is read, and how long after the read before."""


def played(steps: Sequence[Step], *, sure: bool = False) -> list[Token]:
    """The tokens of these reads, every deadline kept, until nothing is open."""
    stream, now, tokens = InputStream(), 0.0, []
    stream.sure = sure
    for data, gap_s in steps:
        until = now + gap_s
        while stream.deadline is not None and stream.deadline <= until:
            now = stream.deadline
            tokens += stream.expire(now)
        now = until
        tokens += stream.feed(data, now)
    while stream.deadline is not None:
        tokens += stream.expire(stream.deadline)
    return joined(tokens)


def joined(tokens: Sequence[Token]) -> list[Token]:
    """With neighbouring texts as one."""
    found: list[Token] = []
    for token in tokens:
        if found and token.kind == found[-1].kind == "text":
            token = Token("text", found.pop().text + token.text)
        found.append(token)
    return found


def whole(parts: Sequence[str]) -> list[Token]:
    """What the parts mean."""
    return joined([meaning(part) for part in parts])


def meaning(part: str) -> Token:
    if part.startswith(PASTE_START):
        return Token("paste", part[len(PASTE_START) : -len(PASTE_END)])
    return Token("sequence" if part.startswith(ESC) else "text", part)


parts = st.lists(
    st.sampled_from((*SEQUENCES, *REPLIES, "\x1ba", "\x1b\r", "\x1bé", "\x1b2"))
    | st.text("ab[O]PX;5~A \r\té", min_size=1, max_size=4)
    | st.sampled_from(PASTES).map(lambda text: f"{PASTE_START}{text}{PASTE_END}"),
    min_size=1,
    max_size=6,
)


def cut(text: str, places: Sequence[int], gap_s: float) -> list[Step]:
    """The text in pieces, so far apart."""
    ends = sorted({place % (len(text) + 1) for place in places} | {0, len(text)})
    return [(text[a:b], gap_s) for a, b in pairwise(ends)]


@given(parts, st.lists(st.integers(0, 9999), max_size=12), st.sampled_from([0.0, 0.004, 0.019]))
def test_reads_that_split_anywhere_change_nothing(
    items: list[str], places: list[int], gap_s: float
) -> None:
    assert played(cut("".join(items), places, gap_s)) == whole(items)


@given(parts, st.lists(st.integers(0, 9999), max_size=12), st.sampled_from([0.1, 0.14, 0.4]))
@example([PASTE_START + "x\ry" + PASTE_END], list(range(40)), 0.1)
def test_over_a_slow_line_nothing_of_a_sequence_is_typed(
    items: list[str], places: list[int], gap_s: float
) -> None:
    """A sure terminal's ESC waits; whole sequences come out however slowly they came."""
    text = "".join(items)
    found = played(cut(text, places, gap_s), sure=True)
    if PASTE_END not in text:  # else what comes late behind a paste is none of it
        assert found == whole(items)
    assert [t for t in found if t.kind == "sequence"] == [
        t for t in whole(items) if t.kind == "sequence"
    ]


def test_a_paste_whose_esc_came_alone_is_pasted_not_typed() -> None:
    text = f"{PASTE_START}rm -rf\r{PASTE_END}"
    for at in range(1, len(text)):
        found = played([(text[:at], 0.0), (text[at:], 0.3)])
        assert found[-1] == Token("paste", "rm -rf\r"), at


@each("begin", ["\x1b[", "\x1bP>|", "\x1b]11;", "\x1bO"])
def test_a_megabyte_without_an_end_is_not_typed(begin: str) -> None:
    data = begin + "1;" * 500_000
    steps = [(data[at : at + 4095], 0.001) for at in range(0, len(data), 4095)]
    assert played([*steps, ("typed", 0.2)]) == [Token("text", "typed")]
    end = "m" if begin in ("\x1b[", "\x1bO") else "\x1b\\"
    assert joined(played([*steps, (end + "typed", 0.001)])) == [Token("text", "typed")]
    started_s = time.process_time()
    played(steps)
    assert time.process_time() - started_s < 0.5


def test_a_broken_sequence_is_dropped_and_what_follows_is_not() -> None:
    assert played([("\x1b[1;\rx", 0.0)]) == [Token("text", "\rx")]
    assert played([("\x1b[1;\x1b[A", 0.0)]) == [Token("sequence", "\x1b[A")]
    assert played([("\x1b[" + "1" * 5000, 0.0), ("x\r", 0.1)]) == [Token("text", "x\r")]


def test_an_end_marker_in_the_clipboard_does_not_have_the_rest_typed() -> None:
    evil = f"ls{PASTE_END}\rrm -rf ~\r"
    text = f"{PASTE_START}{evil}{PASTE_END}"
    expected = [Token("paste", "ls\rrm -rf ~\r")]
    assert played([(text, 0.0)]) == expected
    for at in range(1, len(text)):
        assert played([(text[:at], 0.0), (text[at:], 0.005)]) == expected, at


def test_a_paste_that_never_ends_ends() -> None:
    stream = InputStream()
    stream.feed(f"{PASTE_START}half a \x1b[20", 0.0)
    assert stream.deadline == PASTE_S
    assert stream.expire(PASTE_S) == [Token("paste", "half a \x1b[20")]
    assert stream.feed("x", PASTE_S + 1) == [Token("text", "x")]


@given(st.text("\x1b[]OPM<;:?$0125~uAmM\x07\\ a", max_size=60), st.lists(st.integers(0, 60)))
def test_whatever_comes_nothing_stays_open(noise: str, places: list[int]) -> None:
    played([*cut(noise, places, 0.03), ("x", 9.0)])
    found = played([*cut(noise, places, 0.03), (f"{PASTE_END}\r\r", 20.0)])
    assert found[-1].text.endswith("\r\r")


@each("typed", ["[", "O", "[1", "[<", "[?", "[ ", "[12", "[["])
@each("at_once", [True, False])
def test_what_is_typed_just_behind_an_esc_is_never_lost(typed: str, at_once: bool) -> None:
    pieces = [typed] if at_once else list(typed)
    first, *rest = played([(ESC, 0.0), ("", 0.1), *((piece, 0.1) for piece in pieces)])
    assert first == Token("escape", ESC)
    assert "".join(token.text for token in rest) == typed
    assert {token.kind for token in rest} == {"text"}
