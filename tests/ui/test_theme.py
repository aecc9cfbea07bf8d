from __future__ import annotations

from pathlib import Path

import pytest
from pygments.token import Token

from tui.errors import SettingsError
from tui.ui import theme
from tui.ui.theming.contrast import contrast

MINIMAL = '[palette]\nbackground = "#000000"\nforeground = "#ffffff"\naccent = "#00ff00"\n'


def write(folder: Path, text: str) -> Path:
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    return folder


def test_there_are_four_and_the_default_comes_first() -> None:
    names = theme.theme_names()
    assert names[0] == theme.DEFAULT_THEME
    assert len(names) >= 4


@pytest.mark.parametrize("name", theme.theme_names())
def test_text_can_be_read(name: str) -> None:
    colours = theme.read_theme(name).colours
    back = colours["background"]
    assert contrast(colours["foreground"], back) >= 7
    assert contrast(colours["muted"], back) >= 4.5
    for role in ("accent", "fast", "deep", "success", "warning", "error", "hunk-pending"):
        assert contrast(colours[role], back) >= 3.5, role


def test_high_contrast_means_it() -> None:
    colours = theme.read_theme("contrast").colours
    for name, colour in colours.items():
        if name.startswith("syntax-") or name in ("foreground", "muted", "faint"):
            assert contrast(colour, colours["background"]) >= 7, name


def test_themes_differ_in_darkness() -> None:
    assert {theme.read_theme(name).dark for name in theme.theme_names()} == {True, False}


def test_three_colours_make_a_theme(tmp_path: Path) -> None:
    palette = theme.read_theme("mine", write(tmp_path, MINIMAL))
    assert palette.colours["fast"] == "#00ff00"
    assert palette.colours["panel"] not in ("#000000", "#ffffff")
    assert palette.textual_theme().name == "mine"


def test_an_unknown_theme_names_those_that_there_are() -> None:
    with pytest.raises(SettingsError, match="dusk"):
        theme.read_theme("noon")


def test_token_styles_come_from_the_nearest_name() -> None:
    palette = theme.read_theme("dusk")
    keyword = palette.colours["syntax-keyword"]
    assert str(palette.syntax_style(Token.Keyword.Namespace).color).find(keyword) >= 0
    assert palette.syntax_style(Token.Keyword) == palette.syntax_style(Token.Keyword.Reserved)
    assert palette.syntax_style(Token.Comment.Single).italic
    assert palette.syntax_style(Token.Text) == palette.style("syntax-text")


def test_what_is_written_strong_or_with_emphasis_looks_so() -> None:
    palette = theme.read_theme("dusk")

    def face(token: object) -> tuple[bool, bool]:
        style = palette.syntax_style(token)
        return bool(style.bold), bool(style.italic)

    assert face(Token.Generic.Strong) == (True, False)
    assert face(Token.Generic.Emph) == (False, True)
    assert face(Token.Generic.EmphStrong) == (True, True)
    assert face(Token.Generic.Heading) == face(Token.Generic.Subheading) == (True, False)
    assert face(Token.Name.Function) == face(Token.Text) == (False, False)


def test_a_style_with_an_unknown_colour_is_a_mistake() -> None:
    with pytest.raises(KeyError):
        theme.active().style("mauve")
