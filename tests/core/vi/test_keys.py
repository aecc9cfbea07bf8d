"""The keys of vi over a text: ``|`` is the cursor."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.tables import each
from tui.core.vi.keys import ViKeys


def after(text: str, keys: str) -> str:
    """The text after these keys in normal mode, and the cursor in it."""
    at = text.index("|")
    text = text.replace("|", "", 1)
    vi = ViKeys()
    at = vi.leave(text, at).cursor if at == len(text) else at
    vi.mode = "normal"
    for key in keys:
        act = vi.press(key, text, at)
        if act.text is not None:
            text = text[: act.start] + act.text + text[act.end :]
        at = act.cursor
    return text[:at] + "|" + text[at:]


@each(
    "text, keys, wanted",
    [
        ("|one two three", "w", "one |two three"),
        ("|one two three", "2w", "one two |three"),
        ("|foo.bar baz", "W", "foo.bar |baz"),
        ("one two|", "b", "one |two"),
        ("|one two", "e", "on|e two"),
        ("  one| two", "0", "|  one two"),
        ("  one| two", "^", "  |one two"),
        ("|one two", "$", "one tw|o"),
        ("|one two", "ft", "one |two"),
        ("|one two", "tt", "one| two"),
        ("|a.b.c.d", "f.;;", "a.b.c|.d"),
        ("|a.b.c.d", "3f.", "a.b.c|.d"),
        ("|a.b.c.d", "3f.,", "a.b|.c.d"),
        ("one|\ntwo", "j", "one\ntw|o"),
        ("a\nb\n|c", "gg", "|a\nb\nc"),
        ("|a\nb\nc", "G", "a\nb\n|c"),
        ("|f(a, (b))", "%", "f(a, (b)|)"),
        ("|one", "l" * 9, "on|e"),
    ],
)
def test_motions(text: str, keys: str, wanted: str) -> None:
    assert after(text, keys) == wanted


@each(
    "text, keys, wanted",
    [
        ("|one two three", "dw", "|two three"),
        ("|one two three", "d2w", "|three"),
        ("|one two three", "2dw", "|three"),
        ("one |two\nthree", "dw", "one| \nthree"),
        ("one |two three", "D", "one| "),
        ("|one two", "de", "| two"),
        ("one tw|o", "db", "one |o"),
        ("|a, b, c", "dt,", "|, b, c"),
        ("|a, b, c", "d2f,", "| c"),
        ("a\n|b\nc", "dd", "a\n|c"),
        ("a\n|b", "dd", "|a"),
        ("|a", "dd", "|"),
        ("|a\nb\nc", "2dd", "|c"),
        ("|a\nb\nc", "dj", "|c"),
        ("a\nb\n|c", "dgg", "|"),
        ("|one two", "x", "|ne two"),
        ("|one two", "3x", "| two"),
        ("on|e", "X", "o|e"),
        ("|one", "rx", "|xne"),
        ("|one", "9rx", "|one"),
        ("|oNe", "2~", "On|e"),
        ("|a\n  b", "J", "a| b"),
        ("|one two", "dwP", "one| two"),
        ("|ab", "xp", "b|a"),
        ("|a\nb", "ddp", "b\n|a"),
        ("|a\nb", "yyP", "|a\na\nb"),
        ("|ab cd", "yiwwP", "ab a|bcd"),
        ("|ab", "yl3p", "aaa|ab"),
        ('say "on|e two" now', 'di"', 'say "|" now'),
        ("f(a, (|b), c)", "da(", "f(a, |, c)"),
        ("f(a, (b), |c)", "dib", "f(|)"),
        ("one t|wo three", "daw", "one |three"),
        ("|one two", "vee" + "d", "|"),
        ("o|ne two", "vlld", "o|two"),
        ("|one", "dq", "|one"),
        ("|one", "2d3", "|one"),
    ],
)
def test_changes(text: str, keys: str, wanted: str) -> None:
    assert after(text, keys) == wanted


@each(
    "text, key, wanted",
    [
        ("on|e", "i", "on|e"),
        ("on|e", "a", "one|"),
        ("  o|ne", "I", "  |one"),
        ("o|ne", "A", "one|"),
        ("o|ne\ntwo", "o", "one\n|\ntwo"),
        ("o|ne", "O", "|\none"),
        ("|one two", "cw", "| two"),
        ("|one two", "C", "|"),
        ("|one two", "s", "|ne two"),
        ("a\n|b\nc", "cc", "a\n|\nc"),
        ("f(|a)", "ci(", "f(|)"),
    ],
)
def test_ways_into_insert_mode(text: str, key: str, wanted: str) -> None:
    assert after(text, key) == wanted


def test_the_mode_and_what_is_begun_can_be_said() -> None:
    vi = ViKeys()
    assert vi.mode == "insert"
    vi.leave("one", 3)
    for key in "2d3f":
        vi.press(key, "one", 0)
    assert (vi.mode, vi.waiting) == ("normal", "2d3f")
    vi.leave("one", 0)
    assert vi.waiting == ""
    assert vi.press("u", "one", 0).order == "undo"
    assert vi.press("k", "one", 0).order == "older"


@given(
    st.text('ab.( )"\n ', max_size=12),
    st.text('wbeWBE0$^hljkgGfFtT;,%dcyxXDCpPrJ~iavo123ub"(W', max_size=12),
)
@example("", "vP")
@example(".", "v^w$p")
@example("", "ve~")
def test_no_keys_break_it(text: str, keys: str) -> None:
    vi, at = ViKeys(), 0
    vi.leave(text, 0)
    for key in keys:
        act = vi.press(key, text, at)
        if act.text is not None:
            assert 0 <= act.start <= act.end <= len(text)
            text = text[: act.start] + act.text + text[act.end :]
        assert 0 <= act.cursor <= len(text)
        at = act.cursor
        if vi.mode == "insert":
            at = vi.leave(text, at).cursor
