"""What terminals send, as Textual's events."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.messages import TerminalSupportsSynchronizedOutput

from tests.support.tables import each
from tui.ui.key_decoder import KeyDecoder
from tui.ui.terminal.input_stream import InputStream, Token


def keys(*sequences: str) -> list[str]:
    """Names of the keys of these sequences or texts."""
    tokens = [Token("sequence" if s[0] == "\x1b" else "text", s) for s in sequences]
    return [
        message.key for message in KeyDecoder().messages(tokens) if isinstance(message, events.Key)
    ]


@each(
    "sent, key",
    [
        ("\x1b[A", "up"),
        ("\x1bOA", "up"),
        ("\x1b[1;5C", "ctrl+right"),
        ("\x1b[1;2D", "shift+left"),
        ("\x1b[1;3A", "alt+up"),
        ("\x1b[Z", "shift+tab"),
        ("\x1b[5~", "pageup"),
        ("\x1b[15~", "f5"),
        ("\x1bOP", "f1"),
        ("\x1b[[A", "f1"),
        # Alt, in its short form
        ("\x1ba", "alt+a"),
        ("\x1b2", "alt+2"),
        ("\x1b.", "alt+full_stop"),
        ("\x1b\\", "alt+backslash"),
        ("\x1b-", "alt+minus"),
        ("\x1b\r", "alt+enter"),
        ("\x1bA", "alt+shift+a"),
        ("\x1bé", "alt+é"),
        ("\x1b\x01", "alt+ctrl+a"),
        ("\x1bb", "ctrl+left"),
        ("\x1bf", "ctrl+right"),
        ("\x1b\x7f", "ctrl+w"),
        # xterm's modifyOtherKeys, tmux's extended-keys
        ("\x1b[27;3;13~", "alt+enter"),
        ("\x1b[27;2;13~", "shift+enter"),
        ("\x1b[27;5;9~", "ctrl+tab"),
        # Kitty
        ("\x1b[27u", "escape"),
        ("\x1b[27;2u", "escape"),
        ("\x1b[27;129:1u", "escape"),
        ("\x1b[13;2u", "shift+enter"),
        ("\x1b[13;3u", "alt+enter"),
        ("\x1b[9;2u", "shift+tab"),
        ("\x1b[127;2u", "backspace"),
        ("\x1b[99;5u", "ctrl+c"),
        ("\x1b[99;69u", "ctrl+c"),  # with Caps Lock
        ("\x1b[1089::99;5u", "ctrl+c"),  # on a Cyrillic keyboard
        ("\x1b[122:90;6u", "ctrl+shift+z"),
        ("\x1b[45:95;6u", "ctrl+underscore"),
        ("\x1b[47;5u", "ctrl+slash"),
        ("\x1b[93;5u", "ctrl+right_square_bracket"),
        ("\x1b[92;3u", "alt+backslash"),
        ("\x1b[1;5:1C", "ctrl+right"),
        ("\x1b[57414u", "enter"),
        ("\x1b[120;9u", "super+x"),
        ("\x03", "ctrl+c"),
        ("\x1f", "ctrl+underscore"),
        ("\x1d", "ctrl+right_square_bracket"),
    ],
)
def test_a_key_has_one_name_in_every_way_it_is_sent(sent: str, key: str) -> None:
    assert keys(sent) == [key]


@each(
    "sent, typed",
    [
        ("\x1b[97;;97u", "a"),
        ("\x1b[97:65;2;65u", "A"),
        ("\x1b[97;2u", "A"),
        ("\x1b[49:33;2u", "!"),
        ("\x1b[32;2u", " "),
        ("\x1b[27;2;32~", " "),
        ("\x1b[97;65u", "a"),
        ("\x1b[1092;1u", "ф"),
    ],
)
def test_text_that_is_sent_as_a_key_is_typed(sent: str, typed: str) -> None:
    (message,) = KeyDecoder().messages([Token("sequence", sent)])
    assert isinstance(message, events.Key)
    assert message.character == typed
    assert message.is_printable


def test_what_is_no_key_is_nothing() -> None:
    for sent in (
        "\x1b[97;1:3u",  # let go
        "\x1b[1;1:3A",
        "\x1b[99999999999u",
        "\x1b[1114112;5u",
        "\x1b[?62;22c",
        "\x1b]11;rgb:0/0/0\x07",
        "\x1bP1$r0m\x1b\\",
        "\x1b[200",
        "\x1b[M !!",
        "\x1b[<;;M",
        "\x1b[" + "9" * 5000 + "u",
        "\x1b[5;5;5;5;5;5u",
    ):
        assert KeyDecoder().messages([Token("sequence", sent)]) == [], sent


@given(
    st.text("\x1b[]OPM<;:?$0125~uAmMyR\x07\\ a\x7fé\u200d\x00", max_size=60)
    | st.from_regex(r"\x1b\[[<?>]?[0-9;:]{0,40}[ $]?[A-Za-z~]", fullmatch=True)
)
def test_whatever_a_terminal_sends_there_is_a_meaning(noise: str) -> None:
    stream, words = InputStream(), KeyDecoder()
    tokens = [*stream.feed(noise, 0.0)]
    while stream.deadline is not None:
        tokens += stream.expire(stream.deadline)
    for message in words.messages(tokens):
        assert not isinstance(message, events.Key) or message.key


def test_reports_of_the_terminal() -> None:
    words, heard = KeyDecoder(), []
    words.on_kitty = heard.append
    tokens = [
        Token("sequence", s) for s in ("\x1b[I", "\x1b[?2026;2$y", "\x1b[O", "\x1b[?5u", "\x1b[?0u")
    ]
    found = words.messages(tokens)
    assert [type(m) for m in found] == [
        events.AppFocus,
        TerminalSupportsSynchronizedOutput,
        events.AppBlur,
    ]
    assert heard == [True, False]
    assert words.messages([Token("sequence", "\x1b[?2026;0$y")]) == []


def test_a_mouse_that_moves_is_told_where_it_is_now() -> None:
    sent = [f"\x1b[<35;{x};7M" for x in range(1, 200)]
    found = KeyDecoder().messages(
        [Token("sequence", s) for s in [*sent, "\x1b[<0;9;7M", *sent[:3]]]
    )
    assert [type(message) for message in found] == [
        events.MouseMove,
        events.MouseDown,
        events.MouseMove,
    ]
    assert [(m.x, m.y) for m in found if isinstance(m, events.MouseEvent)] == [
        (198, 6),
        (8, 6),
        (2, 6),
    ]


def test_turns_of_the_wheel_are_all_told() -> None:
    found = KeyDecoder().messages([Token("sequence", "\x1b[<64;5;5M")] * 5)
    assert [type(message) for message in found] == [events.MouseScrollUp] * 5


def test_a_paste_has_plain_line_ends_and_no_nul() -> None:
    (paste,) = KeyDecoder().messages([Token("paste", "a\rb\r\nc\0d\x1b[31m")])
    assert isinstance(paste, events.Paste)
    assert paste.text == "a\nb\ncd\x1b[31m"


def test_a_key_that_is_held_down_stays_a_key() -> None:
    assert keys("j" * 63) == ["j"] * 63
    assert keys("j" * 255) == ["j"] * 64
    assert keys(*["\x1b[A"] * 5000, "\x1b[B") == ["up"] * 64 + ["down"]
    assert keys(*["\x1b[A", "\x1b[B"] * 100) == ["up", "down"] * 100
