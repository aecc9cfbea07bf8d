"""What is offered and put in, without a screen; and the keys of vi."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from textual.widgets import TextArea

from tests.support.tables import each
from tui.engine.notices import Status
from tui.ui.file_search import SLICE
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
        ("ledger/cache.py", "看@ca", "看@ledger/cache.py "),
        ("my notes.md", '@"my no', '@"my notes.md" '),
        ('a"b.md', "@ab", '@"a\\"b.md" '),
        ("größe📦.md", "@gröss", "@gröss"),
        ("grün.md", "@grü", "@grün.md "),
        ("my notes.md", "!cat @no", "!cat 'my notes.md' "),
        ("it's.md", "!cat @its", "!cat 'it'\"'\"'s.md' "),
        ("ledger/cache.py", "one\nsee @ca", "one\nsee @ledger/cache.py "),
        ("end.", "@en", '@"end." '),
        ("at@sign.py", "@sign", '@"at@sign.py" '),
        ("v1.py里.md", "@v1", '@"v1.py里.md" '),
        ("diff", "@dif", "@./diff "),
    ],
)
def test_odd_names_are_quoted(path: str, text: str, taken: str) -> None:
    draft, completer = typed(text, path)
    completer.take()
    assert draft.text == taken


class Known:
    """What can be attached to a prompt."""

    def sizes(self, paths: Iterable[str]) -> dict[str, int]:
        return {path: 1 if "one" in path else 1200 for path in paths if path.endswith(".py")}

    def offered(self, letters: str) -> list[tuple[str, str]]:
        known = {"diff": "what differs", "img/": "folder", "./": "folder"}
        return [one for one in known.items() if letters and one[0].startswith(letters)]

    def shown_images(self, draft: str) -> list[str]:
        return []

    def pasted(self, text: str) -> list[str]:
        return [text] if text.endswith(".py") else []


def test_tokens_are_said_and_what_is_no_file_is_offered() -> None:
    draft, completer = typed("", "a.py", "d.md", "diff.py", "one.py")
    completer.attachables = Known()
    write(draft, "see @di")
    completer.look()
    assert [(one.shown, one.help) for one in completer.items] == [
        ("diff.py", "~1,200 tokens"),
        ("diff", "what differs"),
    ]
    completer.take(1)
    assert draft.text == "see @diff "
    write(draft, "see @on")
    completer.look()
    assert [(one.shown, one.help) for one in completer.items] == [("one.py", "~1 token")]
    write(draft, "see @a.py:1")
    completer.look()
    assert completer.items == []
    assert completer.as_attached("my dir/b.py") == '@"my dir/b.py" '
    assert completer.as_attached("words") == ""


def test_what_is_named_in_full_and_is_no_file_is_taken_first() -> None:
    for text, taken in (
        ("@diff", "@diff"),
        ("@img", "@img/ "),
        ("@im", "@img/a.py "),
        ("@.", "@./ "),
        ("/pin .", "/pin ./ "),
        ("/pin img", "/pin img/ "),
        ("/pin diff", "/pin diff.py "),
    ):
        draft, completer = typed("", "diff.py", "img/a.py", "img/b.py")
        completer.attachables = Known()
        write(draft, text)
        completer.look()
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


async def test_an_arrow_while_files_are_looked_for_selects_of_those_that_are_found() -> None:
    draft, completer = typed("@u", "u", *(f"unit_{n}.py" for n in range(3 * SLICE)))
    found = asyncio.Event()
    completer.on_change = found.set
    await found.wait()
    write(draft, "@unit_29")
    completer.look()
    assert completer.step(1)
    for _ in range(9):  # turns of a search that goes on
        await asyncio.sleep(0)
    assert completer.selected is completer.items[1]
    assert completer.selected.shown.startswith("unit_29")


@each("text, sure", [("/cle", True), ("/clr", False), ("/t", False), ("/theme pap", False)])
def test_a_command_is_sure_only_where_nothing_else_is_meant(text: str, sure: bool) -> None:
    _, completer = typed(text)
    assert completer.items
    assert completer.sure is sure
    completer.step(1)
    completer.step(-1)
    assert completer.sure, "it was chosen"


@each(
    "text, offered",
    [
        ("/context ", "drop add"),
        ("/tasks ", "stop pause go take tell yes no"),
        ("/tasks stop ", ""),
        ("/verify ", "disk all tests lint types"),
        ("/verify disk l", "all lint"),
        ("/stats ask ", "on off"),
        ("/rewind ", "hunk files talk forward"),
        ("/rewind hunk 3 ", "files talk"),
        ("/rewind 3 ", "files talk"),
        ("/diff head ", ""),
        ("/attempts ta", "take"),
        ("/attempts fix it ", ""),
    ],
)
def test_the_words_of_an_argument_are_offered_at_their_place(text: str, offered: str) -> None:
    _, completer = typed(text)
    assert sorted(item.shown for item in completer.items) == sorted(offered.split())
