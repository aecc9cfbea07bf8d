from __future__ import annotations

from tests.support.tables import each
from tui.ui.highlight.checkpoints import checkpointed
from tui.ui.highlight.languages import language


@each("name", ["Python", "C++", "Objective-C", "C#", "YAML", "Ruby", "Scheme", "EmacsLisp", "Lua"])
def test_lexers_with_methods_of_their_own_can_start_in_the_middle(name: str) -> None:
    """All 489 that are made of expressions can (Pygments 2.21)."""
    lexer_class = language(name).lexer_class()
    assert lexer_class is not None
    assert checkpointed(lexer_class) is not None
