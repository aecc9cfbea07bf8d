from __future__ import annotations

from pygments.token import Token

from tui.ui import theme


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
