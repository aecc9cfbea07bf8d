"""What is offered and put in, without a screen; and the keys of vi."""

from __future__ import annotations

from textual.widgets import TextArea

from tests.support.tables import each
from tui.engine.notices import Status
from tui.ui.prompt.completion import Completer


def write(draft: TextArea, text: str) -> None:
    """In the place of what stands there, with the cursor behind it."""
    draft.replace(text, (0, 0), draft.document.end, maintain_selection_offset=False)
    draft.move_cursor(draft.document.end)


def typed(text: str, *paths: str) -> tuple[TextArea, Completer]:
    draft = TextArea()
    write(draft, text)
    completer = Completer(draft, lambda: list(paths), Status)
    completer.look()
    return draft, completer


@each(
    "path, text, taken",
    [
        ("my notes.md", "@no", '@"my notes.md" '),
        ("my notes.md", '@"my no', '@"my notes.md" '),
        ('a"b.md', "@ab", '@"a\\"b.md" '),
        ("größe📦.md", "@gröss", "@gröss"),
        ("grün.md", "@grü", "@grün.md "),
        ("my notes.md", "!cat @no", "!cat 'my notes.md' "),
        ("it's.md", "!cat @its", "!cat 'it'\"'\"'s.md' "),
        ("ledger/cache.py", "one\nsee @ca", "one\nsee @ledger/cache.py "),
    ],
)
def test_odd_names_are_quoted(path: str, text: str, taken: str) -> None:
    draft, completer = typed(text, path)
    completer.take()
    assert draft.text == taken


def test_what_is_closed_stays_closed_until_the_next_word() -> None:
    draft, completer = typed("@c", "a/cache.py")
    assert completer.close()
    assert not completer.close()
    write(draft, "@ca")
    completer.look()
    assert completer.items == []
    write(draft, "@ca @c")
    completer.look()
    assert [item.shown for item in completer.items] == ["a/cache.py"]
    completer.keep_silent()
    assert completer.items == []


@each("text, sure", [("/cle", True), ("/clr", False), ("/t", False), ("/theme pap", False)])
def test_a_command_is_sure_only_where_nothing_else_is_meant(text: str, sure: bool) -> None:
    _, completer = typed(text)
    assert completer.items
    assert completer.sure is sure
    completer.step(1)
    completer.step(-1)
    assert completer.sure, "it was chosen"
