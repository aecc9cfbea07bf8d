"""What is offered and put in, without a screen; and the keys of vi."""

from __future__ import annotations

from textual import events

from tests.support.fake_draft import FakeDraft
from tests.support.tables import each
from tui.engine.notices import Status
from tui.ui.prompt.completer import Completer
from tui.ui.prompt.history import DraftHistory, HistorySearch
from tui.ui.prompt.vi import ViController


def typed(text: str, *paths: str) -> tuple[FakeDraft, Completer]:
    draft = FakeDraft(text)
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
    draft.write("@ca")
    completer.look()
    assert completer.items == []
    draft.write("@ca @c")
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


def test_earlier_prompts_are_looked_for_and_the_draft_comes_back() -> None:
    draft, completer = typed("a draft")
    history = DraftHistory()
    for text in ("make the cache safe", "write a test\nfor the cache", "rename it"):
        history.add(text)
    search = HistorySearch(draft, history, completer, draft.write)
    search.begin(draft.text)
    draft.write("cac ma")
    search.look()
    assert [item.text for item in completer.items] == ["make the cache safe"]
    assert search.aside == "a draft"
    search.end()
    assert (draft.text, search.active) == ("a draft", False)


def press(vi: ViController, *names: str) -> None:
    for name in names:
        vi.take(events.Key(name, name if len(name) == 1 else None))


def test_vi_edits_selects_and_walks() -> None:
    draft, walked = FakeDraft("fix the old\ncache"), list[int]()
    vi = ViController(draft, walked.append, list, lambda: None)
    assert not vi.take(events.Key("x", "x")), "it is text in insert mode"
    assert vi.leave_insert()
    assert not vi.leave_insert()
    press(vi, "d", "d")
    assert draft.text == "fix the old"
    press(vi, "u", "0", "v", "l")
    assert draft.text == "fix the old\ncache"
    assert draft.selected is not None
    assert vi.words == "visual"
