"""Keys, sequences and pastes are the same wherever the reads split them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tui.ui.terminal.input_stream import (
    ESC,
    ESC_S,
    LATE_S,
    OPEN_S,
    PASTE_END,
    PASTE_S,
    PASTE_START,
    SURE_ESC_S,
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


@pytest.mark.parametrize("sequence", SEQUENCES)
@pytest.mark.parametrize("gap_s", [0.1, 0.14])
def test_every_byte_of_a_sequence_late_is_the_sequence(sequence: str, gap_s: float) -> None:
    """Its ESC was taken for Esc by then; the rest of it is not typed."""
    apart = played([(character, gap_s) for character in sequence])
    assert apart == [Token("escape", ESC), Token("sequence", sequence)]


@pytest.mark.parametrize("sequence", SEQUENCES)
@pytest.mark.parametrize("gap_s", [0.1, 0.3, 0.9])
def test_a_sequence_in_two_reads_is_one(sequence: str, gap_s: float) -> None:
    for at in range(1, len(sequence)):
        found = played([(sequence[:at], 0.0), (sequence[at:], gap_s)])
        assert found[-1] == Token("sequence", sequence), at
        assert [token.kind for token in found[:-1]] == (["escape"] if at == 1 else []), at


def test_a_paste_whose_esc_came_alone_is_pasted_not_typed() -> None:
    text = f"{PASTE_START}rm -rf\r{PASTE_END}"
    for at in range(1, len(text)):
        found = played([(text[:at], 0.0), (text[at:], 0.3)])
        assert found[-1] == Token("paste", "rm -rf\r"), at


def test_a_lone_esc_is_a_key_after_esc_s() -> None:
    stream = InputStream()
    assert stream.feed(ESC, 10.0) == []
    assert stream.deadline == 10.0 + ESC_S
    assert stream.expire(10.0 + ESC_S / 2) == []
    assert stream.expire(10.0 + ESC_S) == [Token("escape", ESC)]
    assert stream.deadline is None
    assert ESC_S <= 0.025  # 30 ms, and the loop has to come round


def test_a_terminal_that_sends_esc_by_the_byte_after_all_is_believed() -> None:
    stream = InputStream()
    stream.sure = True
    stream.feed(ESC, 0.0)
    assert stream.deadline == SURE_ESC_S
    assert stream.expire(SURE_ESC_S) == [Token("escape", ESC)]
    stream.feed(ESC, 5.0)
    assert stream.deadline == 5.0 + ESC_S


def test_what_is_typed_after_esc_is_text() -> None:
    for typed in ("a", "x", "hello", "[", "O", "1;5", "Oh", "[]", "[hello]"):
        found = played([(ESC, 0.0), *((character, 0.2) for character in typed)])
        assert found == [Token("escape", ESC), Token("text", typed)], typed
    for typed in ("hello", "[]", "[hello]", "Oh no"):  # in one read, as over a slow line
        found = played([(ESC, 0.0), (typed, 0.4)])
        assert found == [Token("escape", ESC), Token("text", typed)], typed


def test_long_after_esc_all_is_text() -> None:
    assert played([(ESC, 0.0), ("[A", LATE_S + 1)]) == [Token("escape", ESC), Token("text", "[A")]


def test_a_bracket_soon_after_esc_is_not_held_for_long() -> None:
    stream = InputStream()
    stream.feed(ESC, 0.0)
    stream.expire(ESC_S)
    assert stream.feed("[", 0.2) == []
    assert stream.deadline is not None
    assert stream.deadline <= 0.2 + 0.15
    assert stream.expire(stream.deadline) == [Token("text", "[")]


def test_esc_twice_is_esc_twice() -> None:
    assert played([("\x1b\x1b", 0.0)]) == [Token("escape", ESC)] * 2


def test_a_sequence_that_never_ends_is_dropped() -> None:
    found = played([("a\x1b[1;", 0.0), ("b", OPEN_S + 1)])
    assert found == [Token("text", "ab")]


@pytest.mark.parametrize("begin", ["\x1b[", "\x1bP>|", "\x1b]11;", "\x1bO"])
def test_a_megabyte_without_an_end_is_not_typed(begin: str) -> None:
    data = begin + "1;" * 500_000
    steps = [(data[at : at + 4095], 0.001) for at in range(0, len(data), 4095)]
    assert played([*steps, ("typed", 0.2)]) == [Token("text", "typed")]
    end = "m" if begin in ("\x1b[", "\x1bO") else "\x1b\\"
    assert joined(played([*steps, (end + "typed", 0.001)])) == [Token("text", "typed")]
    started_s = time.process_time()
    played(steps)
    assert time.process_time() - started_s < 0.5


def test_what_comes_while_a_sequence_is_let_pass_slowly_is_typed() -> None:
    steps = [("\x1bP>|" + "x" * 70_000, 0.0), ("a", 0.06), ("b", 0.01), ("c", 0.06)]
    assert joined(played(steps)) == [Token("text", "abc")]


@pytest.mark.parametrize("reply", REPLIES)
@pytest.mark.parametrize("gap_s", [0.025, 0.1, 0.3, 0.9])
def test_an_answer_whose_esc_came_alone_is_not_typed(reply: str, gap_s: float) -> None:
    assert played([(ESC, 0.0), (reply[1:], gap_s)]) == [
        Token("escape", ESC),
        Token("sequence", reply),
    ]


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


def test_two_pastes_are_two() -> None:
    text = f"{PASTE_START}a{PASTE_END}{PASTE_START}b{PASTE_END}"
    assert played([(text, 0.0)]) == [Token("paste", "a"), Token("paste", "b")]


def test_a_key_behind_a_paste_is_a_key() -> None:
    found = played([(f"{PASTE_START}a{PASTE_END}\r", 0.0)])
    assert found == [Token("paste", "a"), Token("text", "\r")]


def test_the_end_of_a_paste_is_not_doubted_for_ever() -> None:
    stream = InputStream()
    stream.feed(f"{PASTE_START}a{PASTE_END}", 0.0)
    now, tokens = 0.0, []
    while not tokens and now < 5:
        now += 0.01
        tokens = stream.feed("\x1b[<35;1;1M", now)
    assert tokens[0] == Token("paste", "a")
    assert now < 0.6


def test_a_paste_that_never_ends_ends() -> None:
    stream = InputStream()
    stream.feed(f"{PASTE_START}half a \x1b[20", 0.0)
    assert stream.deadline == PASTE_S
    assert stream.expire(PASTE_S) == [Token("paste", "half a \x1b[20")]
    assert stream.feed("x", PASTE_S + 1) == [Token("text", "x")]


def test_an_end_marker_alone_is_nothing() -> None:
    assert played([(f"a{PASTE_END}b", 0.0)]) == [Token("text", "ab")]


@pytest.mark.parametrize("inside", ["", PASTE_END], ids=["plain", "end marker inside"])
def test_a_megabyte_is_pasted_quickly(inside: str) -> None:
    """As a terminal sends it: 4,095 bytes a read."""
    text = "def f():\r\treturn 1\r" * 55_000
    data = f"{PASTE_START}{text[:500]}{inside}{text[500:]}{PASTE_END}"
    stream, tokens = InputStream(), []
    start = time.process_time()
    for at in range(0, len(data), 4095):
        tokens += stream.feed(data[at : at + 4095], at / len(data) * 0.4)
    tokens += stream.expire(9.0)
    assert time.process_time() - start < 0.3
    assert tokens == [Token("paste", text)]


@given(st.text("\x1b[]OPM<;:?$0125~uAmM\x07\\ a", max_size=60), st.lists(st.integers(0, 60)))
def test_whatever_comes_nothing_stays_open(noise: str, places: list[int]) -> None:
    played([*cut(noise, places, 0.03), ("x", 9.0)])
    found = played([*cut(noise, places, 0.03), (f"{PASTE_END}\r\r", 20.0)])
    assert found[-1].text.endswith("\r\r")


@pytest.mark.parametrize("typed", ["[", "O", "[1", "[<", "[?", "[ ", "[12", "[["])
@pytest.mark.parametrize("at_once", [True, False])
def test_what_is_typed_just_behind_an_esc_is_never_lost(typed: str, at_once: bool) -> None:
    pieces = [typed] if at_once else list(typed)
    first, *rest = played([(ESC, 0.0), ("", 0.1), *((piece, 0.1) for piece in pieces)])
    assert first == Token("escape", ESC)
    assert "".join(token.text for token in rest) == typed
    assert {token.kind for token in rest} == {"text"}


@pytest.mark.parametrize("rest", ["[<35;4", "[1;"])
def test_the_beginning_of_a_late_report_is_not_typed(rest: str) -> None:
    assert played([(ESC, 0.0), (rest, 0.2)]) == [Token("escape", ESC)]
