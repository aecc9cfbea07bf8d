"""A theme's file: a mistake costs its line; names that are asked for are there."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.sources import ROOT, Source, package, reads_all
from tests.support.tables import each
from tui.ui import theme
from tui.ui.theme import ThemeLibrary
from tui.ui.theming.contrast import TEXT_RATIO
from tui.ui.theming.contrast_check import GROUNDS, least_contrast, texts
from tui.ui.theming.theme_file import MIXES, MOST_COMPLAINTS, ThemeReading, is_colour, reading

MINIMAL = '[palette]\nbackground = "#000000"\nforeground = "#ffffff"\naccent = "#00ff00"\n'


def read(text: str) -> ThemeReading:
    return reading(text, "mine", "mine.toml", lambda name: None)


def test_all_that_duetto_brings_are_right() -> None:
    library = ThemeLibrary()
    assert [library.reading(name).complaints for name in library.names()] == [()] * 14


@each(
    "text, line, words",
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


@each("text", ["", "# nothing\n", "\x00", "[[[[", "= = =\n" * 99, "[" * 5000])
def test_nonsense_is_the_default_and_is_told_in_bounds(text: str) -> None:
    found = read(text)
    assert found.empty
    assert found.palette.colours["background"] == theme.cached_theme("dusk").colours["background"]
    assert 1 <= len(found.complaints) <= MOST_COMPLAINTS


def own(folder: Path, **files: str) -> ThemeLibrary:
    for name, text in files.items():
        (folder / f"{name}.toml").write_text(text)
    library = ThemeLibrary()
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
    assert found.palette.colours["deep"] == theme.cached_theme("dusk").colours["deep"]


def test_a_circle_of_themes_ends(tmp_path: Path) -> None:
    library = own(tmp_path, a='base = "b"\n', b='base = "a"\n', c='base = "a"\n', d='base = "d"\n')
    for name in "abcd":
        assert "cannot build on" in str(library.reading(name).complaints[0])
        assert library.reading(name).palette.colours["background"]


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


@each("text", ["", "dark = false\n", "[palette\nfoo", MINIMAL[:60]])
def test_what_a_broken_file_is_lent_can_be_read(text: str) -> None:
    assert least_contrast(read(text).palette) >= TEXT_RATIO


TCSS = sorted((ROOT / "tui" / "ui" / "styles").glob("*.tcss"))


EXTRA = {"muted-over"}
"""Variables that are made of a theme's colours."""


def asked(source: Source) -> Iterator[tuple[str, int]]:
    """The names in calls of ``style(...)``: first the colour, then what it lies on."""
    for node in source.nodes:
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name != "style":
            continue
        for argument in node.args[:2]:
            for one in choices(argument):
                if isinstance(one, ast.Constant):
                    yield str(one.value), node.lineno


def choices(node: ast.expr) -> Iterator[ast.expr]:
    """What ``a if x else b`` may be."""
    if isinstance(node, ast.IfExp):
        yield from choices(node.body)
        yield from choices(node.orelse)
    else:
        yield node


@reads_all
def test_modules_ask_for_colours_that_there_are() -> None:
    unknown = [
        f"{source.path}:{line} {name}"
        for source in package()
        if source.path.startswith("tui/ui/")
        for name, line in asked(source)
        if name and not is_colour(name)
    ]
    assert unknown == []


@each("file", TCSS)
def test_styles_ask_for_colours_that_there_are_and_that_read(file: Path) -> None:
    text = re.sub(r"/\*.*?\*/", "", file.read_text(), flags=re.S)
    for block in re.findall(r"\{([^{}]*)\}", text):
        found = dict(re.findall(r"([\w-]+):[^;]*?\$([\w-]+)", block))
        for name in found.values():
            assert is_colour(name) or name in EXTRA, name
        colour, back = found.get("color"), found.get("background")
        assert colour is None or colour in texts() or colour in EXTRA, colour
        if back == "selection":
            assert colour in (None, "foreground", *EXTRA), f"{colour} may not read on it"
        assert back is None or back in (*GROUNDS, "selection", "line", "accent"), back


def test_every_mix_is_of_what_is_there_before_it() -> None:
    known = {"background", "foreground", "accent"}
    for name, (start, towards, share) in MIXES.items():
        assert {start, towards} <= known, name
        assert 0 <= share <= 1
        known.add(name)
