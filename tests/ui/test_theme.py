from __future__ import annotations

from pathlib import Path

import pytest
from pygments.token import Token

from tui.errors import SettingsError
from tui.ui import theme

MINIMAL = '[palette]\nbackground = "#000000"\nforeground = "#ffffff"\naccent = "#00ff00"\n'


def write(folder: Path, text: str) -> Path:
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    return folder


def test_three_colours_make_a_theme(tmp_path: Path) -> None:
    palette = theme.ThemeLibrary(write(tmp_path, MINIMAL)).reading("mine").palette
    assert palette.colours["fast"] == "#00ff00"
    assert palette.colours["panel"] not in ("#000000", "#ffffff")
    assert palette.textual_theme().name == "mine"


def test_an_unknown_theme_names_those_that_there_are() -> None:
    with pytest.raises(SettingsError, match="dusk"):
        theme.cached_theme("noon")


def test_token_styles_come_from_the_nearest_name() -> None:
    palette = theme.cached_theme("dusk")
    keyword = palette.colours["syntax-keyword"]
    assert str(palette.syntax_style(Token.Keyword.Namespace).color).find(keyword) >= 0
    assert palette.syntax_style(Token.Keyword) == palette.syntax_style(Token.Keyword.Reserved)
    assert palette.syntax_style(Token.Comment.Single).italic
    assert palette.syntax_style(Token.Text) == palette.style("syntax-text")


def test_what_is_written_strong_or_with_emphasis_looks_so() -> None:
    palette = theme.cached_theme("dusk")

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
