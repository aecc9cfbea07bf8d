import tracemalloc
from unicodedata import category

from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each
from tui.core.shell.clipping import Clip, plain


@each(
    "written, seen",
    [
        ("\x1b[31mred\x1b[0m\n", "red\n"),
        ("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "alink"),
        ("\x1b]52;c;never closed\nb", "\nb"),
        ("\x1bPdcs\x1b\\a\x1b(Bb\x1b=c\x1b7", "abc"),
        ("\x9b31ma\x9d0;t\x9cb", "ab"),
        (" 10%\r 50%\r100%\ndone\r\n", "100%\ndone\n"),
        ("working\r", "working"),
        ("b\bbo\bold", "bold"),
        ("\0\a\x7f\ta", "\u2400\u2407\u2421\ta"),
        ("a\u202eb\u2066c\ud800", "a\ufffdb\ufffdc\ufffd"),
        ("a\u2028b", "a\nb"),
        ("👩\u200d💻 é", "👩\u200d💻 é"),
    ],
)
def test_nothing_acts_and_a_line_is_in_its_last_state(written: str, seen: str) -> None:
    assert plain(written) == seen


@given(
    st.lists(st.sampled_from(["\x1b", "[", "31", "m", "]0;", "\x07", "\x1b\\", "é", "\n", "\b"]))
)
def test_no_cut_lets_a_control_character_through(pieces: list[str]) -> None:
    clip = Clip(4, 5)
    clip.feed("".join(pieces).encode())
    assert clip.text().replace("\n", "").isprintable()


def test_every_character_that_cannot_be_seen_has_a_sign() -> None:
    hidden = [chr(code) for code in range(0x110000) if category(chr(code)) in ("Cc", "Cf", "Cs")]
    kept = {char for char in hidden if plain(f"x{char}") == f"x{char}"}
    assert kept == {"\t", "\n", "\u200c", "\u200d"}


def test_the_middle_is_left_out_and_counted() -> None:
    clip = Clip(4, 6)
    for piece in (b"head", b"middle " * 1000, b"the end"):
        clip.feed(piece)
    assert clip.text() == "head\n[7,001 bytes left out]\nhe end"
    assert clip.size == 7011


def test_what_fits_is_whole_even_across_the_seam() -> None:
    clip = Clip(3, 3)
    clip.feed("aé✓".encode())
    assert clip.text() == "aé✓"


def test_half_characters_at_the_cut_are_left_out() -> None:
    clip = Clip(2, 4)
    clip.feed("a✓xyz✓b".encode())
    assert clip.text() == "a\n[5 bytes left out]\n✓b"


def test_much_output_takes_no_memory() -> None:
    clip = Clip(1000, 1000)
    chunk = b"x" * 65536
    tracemalloc.start()
    for _ in range(2000):
        clip.feed(chunk)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert clip.size == 2000 * 65536
    assert peak < 200_000
