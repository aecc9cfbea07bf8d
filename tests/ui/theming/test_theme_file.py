"""A theme's file: a mistake costs its line, the rest is worn."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tui.errors import SettingsError
from tui.ui import theme
from tui.ui.theming.contrast import TEXT_RATIO
from tui.ui.theming.library import Library
from tui.ui.theming.pairs import least_contrast
from tui.ui.theming.theme_file import MOST_COMPLAINTS, Reading, reading

MINIMAL = '[palette]\nbackground = "#000000"\nforeground = "#ffffff"\naccent = "#00ff00"\n'


def read(text: str) -> Reading:
    return reading(text, "mine", "mine.toml", lambda name: None)


def test_all_that_duetto_brings_are_right() -> None:
    library = Library()
    assert [library.reading(name).complaints for name in library.names()] == [()] * 14


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[palette]\n", 1, "lacks background, foreground, accent"),
        (MINIMAL + 'fasst = "#ffffff"\n', 5, "no colour 'fasst'; did you mean 'fast'?"),
        (MINIMAL + 'hunk-added = "#ffffff"\n', 5, "no colour 'hunk-added'"),
        (MINIMAL + 'fast = "red"\n', 5, "must look like #a1b2c3, not 'red'"),
        (MINIMAL + "[widget]\n", 5, "unknown entry 'widget'"),
        (MINIMAL + "[[hunk]]\n", 5, "hunk has to be a table"),
        ("title = 3\n" + MINIMAL, 1, "title must be a text"),
        ('dark = "yes"\n' + MINIMAL, 1, "dark must be true or false"),
        ("dark = false\n" + MINIMAL, 1, "the background is dark"),
        ('base = "noon"\n' + MINIMAL, 1, "cannot build on 'noon'"),
        (MINIMAL + '[face]\nsyntax-comment = "wavy"\n', 6, "bold, italic"),
        (MINIMAL + '[face]\ncomment = "bold"\n', 6, "[face] knows no 'comment'"),
        (MINIMAL + 'fast = "#fff\n', 5, "not valid TOML"),
        (MINIMAL + "[hunk\n", 5, "not valid TOML"),
        (MINIMAL + f"fast = {'1' * 5000}\n", 5, "not valid TOML"),
        (MINIMAL + f"fast = 0x{'f' * 5000}\n", 5, "not such a number"),
        (MINIMAL + f"fast = {'[' * 50}{']' * 50}\n", 5, "not a table, a list or a date"),
        (MINIMAL + 'accent = "#fff"\n', 5, "'accent' is set a second time"),
    ],
)
def test_a_mistake_is_told_with_its_line(text: str, line: int, words: str) -> None:
    found = read(text)
    (complaint,) = found.complaints
    assert str(complaint).startswith(f"mine.toml line {line}: ")
    assert words in complaint.words
    if MINIMAL in text and 'accent = "#fff"' not in text:
        assert found.palette.colours["accent"] == "#00ff00", "the rest is worn"


def test_a_broken_line_does_not_take_the_others_with_it() -> None:
    found = read(MINIMAL + "[hunk\npending = '#123'\n???\n[meter]\nrate = '#abc'\nspark = \n")
    assert found.palette.colours["hunk-pending"] == "#112233"
    assert found.palette.colours["meter-rate"] == "#aabbcc"
    assert [complaint.line for complaint in found.complaints] == [5, 7, 10]


@pytest.mark.parametrize("text", ["", "# nothing\n", "\x00", "[[[[", "= = =\n" * 99, "[" * 5000])
def test_nonsense_is_the_default_and_is_told_in_bounds(text: str) -> None:
    found = read(text)
    assert found.empty
    assert found.palette.colours["background"] == theme.read_theme("dusk").colours["background"]
    assert 1 <= len(found.complaints) <= MOST_COMPLAINTS


def test_darkness_is_seen_where_it_is_not_said() -> None:
    assert read(MINIMAL).palette.dark
    assert not read(MINIMAL.replace("#000000", "#fafafa")).palette.dark


def test_a_face_is_painted() -> None:
    from pygments.token import Token

    palette = read(MINIMAL + '[face]\nsyntax-keyword = "bold"\nsyntax-comment = ""\n').palette
    assert palette.syntax_style(Token.Keyword).bold
    assert not palette.syntax_style(Token.Comment).italic
    assert theme.active().syntax_style(Token.Comment).italic


# -- the user's own folder


def own(folder: Path, **files: str) -> Library:
    for name, text in files.items():
        (folder / f"{name}.toml").write_text(text)
    library = Library()
    library.own_folder(folder)
    return library


def test_a_theme_builds_on_another_one(tmp_path: Path) -> None:
    library = own(
        tmp_path,
        mine='base = "nord"\n[palette]\naccent = "#f80"\n',
        more='base = "mine"\n[palette]\nfast = "#08f"\n',
    )
    nord, more = library.reading("nord").palette.colours, library.reading("more").palette.colours
    assert more == {**nord, "accent": "#ff8800", "fast": "#0088ff"}


def test_a_theme_of_ones_own_goes_before_duettos_and_may_build_on_it(tmp_path: Path) -> None:
    library = own(tmp_path, dusk='base = "dusk"\ntitle = "My dusk"\n[palette]\nfast = "#08f"\n')
    found = library.reading("dusk")
    assert found.complaints == ()
    assert found.palette.title == "My dusk"
    assert found.palette.colours["fast"] == "#0088ff"
    assert found.palette.colours["deep"] == theme.read_theme("dusk").colours["deep"]


def test_a_circle_of_themes_ends(tmp_path: Path) -> None:
    library = own(tmp_path, a='base = "b"\n', b='base = "a"\n', c='base = "a"\n', d='base = "d"\n')
    for name in "abcd":
        assert "cannot build on" in str(library.reading(name).complaints[0])
        assert library.reading(name).palette.colours["background"]


def test_a_chain_of_themes_without_end_is_cut(tmp_path: Path) -> None:
    library = own(tmp_path, **{f"z{at}": f'base = "z{(at + 1) % 300}"\n' for at in range(300)})
    assert library.reading("z0").palette.colours["background"]


def test_a_folder_that_may_not_be_entered_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = own(tmp_path, mine=MINIMAL)

    def refuse(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_file", refuse)
    assert "Permission denied" in str(library.reading("mine").complaints[0])


def test_what_is_no_name_or_no_file_is_not_listed(tmp_path: Path) -> None:
    library = own(tmp_path, auto=MINIMAL, ok=MINIMAL)
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "a b.toml").write_text(MINIMAL)
    (tmp_path / "-x.toml").write_text(MINIMAL)
    assert library.own_names() == ["ok"]


@pytest.mark.parametrize("data", [b"\xff\xfe", b"x" * 70_000])
def test_a_file_that_cannot_be_read_is_told_with_its_name(tmp_path: Path, data: bytes) -> None:
    library = own(tmp_path)
    (tmp_path / "mine.toml").write_bytes(data)
    found = library.reading("mine")
    assert found.empty
    assert found.palette.colours["background"]
    assert "mine.toml" in str(found.complaints[0])
    assert library.complaints() == list(found.complaints)


def test_a_folder_or_a_pipe_in_place_of_a_file_does_not_hold_anything_up(tmp_path: Path) -> None:
    library = own(tmp_path)
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "folder.toml").mkdir()
    for name in ("pipe", "folder"):
        assert "is not a file" in str(library.reading(name).complaints[0])
        assert name not in library.names(), "it is not offered"


def test_what_is_no_file_does_not_hide_a_theme_of_duettos(tmp_path: Path) -> None:
    library = own(tmp_path)
    (tmp_path / "ember.toml").symlink_to("/dev/zero")
    assert library.reading("ember").complaints == ()
    assert library.names().count("ember") == 1


@pytest.mark.parametrize("text", ["", "dark = false\n", "[palette\nfoo", MINIMAL[:60]])
def test_what_a_broken_file_is_lent_can_be_read(text: str) -> None:
    assert least_contrast(read(text).palette) >= TEXT_RATIO


def test_a_file_that_goes_while_it_is_read_is_told(tmp_path: Path) -> None:
    library = own(tmp_path, mine=MINIMAL)
    assert "mine" in library.names()
    (tmp_path / "mine.toml").unlink()
    assert "not there any more" in str(library.reading("mine").complaints[0])
    library.forget()
    with pytest.raises(SettingsError, match="no theme 'mine'"):
        library.reading("mine")
