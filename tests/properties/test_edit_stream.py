"""Any cutting of a stream gives the same events, and no stream breaks the order of events."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.edit_streams import joined, run
from tests.support.tables import each
from tui.core.document.hunk import Kind
from tui.core.edit_stream import Channel, Format, parser_for
from tui.core.edit_stream.events import (
    Cut,
    Divider,
    End,
    Ev,
    Failure,
    FileEnd,
    FileOp,
    Line,
    MoveTo,
    NoNewline,
    Prose,
    Refusal,
    SectionEnd,
    SectionStart,
)

CHANNELS: list[Channel] = ["custom", "function", "text"]
FORMATS: list[Format] = [
    "auto", "marked", "apply_patch", "search_replace", "unified_diff", "whole_file",
]  # fmt: skip
PATCH_LINES = [
    "*** Begin Patch", "*** End Patch", "*** Update File: a.py", "*** Add File: b.py",
    "*** Delete File: c.py", "*** Move to: d.py", "*** End of File", "*** Environment ID: x",
    "@@", "@@ def f():", "@@ -1,2 +3,4 @@ g", "+added", "-removed", " context", "", " ", "\t",
    "plain", "```", "```diff", "apply_patch <<'EOF'", "EOF", "  *** End Patch", " *** End Patch",
    "   *** Update File: a.py", "~~~", "+*** End Patch", "*** Tweak", "+", "-", "\ufeff", "é",
]  # fmt: skip

BLOCK_LINES = [
    "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE", "<<<<< SEARCH>", ">>>>>>>>> REPLACE>", "=====",
    "------- SEARCH", "+++++++ REPLACE", "<<<<<<< HEAD", ">>>>>>> other", "<<<<<<<SEARCH", "old",
    "    new", "", "...", "a.py", "**b.py**:", "```python", "```", "```sh", "````md", "````",
    "Now `a.py`:", "Text.", "   <<<<<<< SEARCH", "   =======", "   >>>>>>> REPLACE", "<<<< SEARCH",
    "======", "é \U0001f600", "<<<<<<<", ">",
]  # fmt: skip
DIFF_LINES = [
    "--- a/a.py", "+++ b/a.py", "@@ -1,2 +1,2 @@", "@@ ... @@", "@@", "@@ -0,0 +1 @@ def f", " a",
    "-b", "+c", "", "\\ No newline at end of file", "diff --git a/a.py b/b.py", "--- /dev/null",
    "rename from a.py", "rename to b.py", "new file mode 100644", "new file mode 120000",
    "index 123..456 100644", "+++ /dev/null", "deleted file mode 100644", "--- note", "+++ more",
    "Binary files a/x and b/x differ", "GIT binary patch", "literal 3", "Kc$abc", "-- ", "2.39.0",
    "```diff", "```", "Text.", "Index: a.py", "=" * 67, "diff --cc a.py", "@@@ -1 -1 +1 @@@", "++x",
    '--- "a/\\303\\251.py"', "+++ b/x y.py\t2024-01-01 10:00:00", "@@ -1,9 +1,9 @@", "- item",
    "old mode 100644", "new mode 100755", "similarity index 90%", "copy from a", "copy to b",
]  # fmt: skip
LISTING_LINES = [
    "a.py", "### b.py", "Modified `c.py`:", "```", "```python", "````", "~~~", "x = 1", "", "Text.",
    "   ```", "```sh", "   y = 2", "<<<<<<< SEARCH", "`", "``` a", "~~~~", "Makefile", "```a.py",
]  # fmt: skip


@st.composite
def streams(draw: st.DrawFn) -> str:
    """Lines of patches and of prose in any order, with either line ending."""
    kinds = [PATCH_LINES, BLOCK_LINES, DIFF_LINES, LISTING_LINES]
    pool = draw(st.sampled_from([*kinds, *kinds, [line for kind in kinds for line in kind]]))
    lines = draw(st.lists(st.sampled_from(pool), max_size=25))
    starts = {
        0: [],
        1: ["*** Begin Patch", "*** Update File: a.py"],
        2: ["a.py", "```", "<<<<<<< SEARCH", "old"],
        3: ["--- a/a.py", "+++ b/a.py", "@@ -1,2 +1,2 @@", " a"],
        4: ["a.py", "```"],
        5: ["diff --git a/a.py b/a.py"],
        6: ["```diff", "--- a.py", "+++ a.py", "@@ ... @@", "-b"],
    }
    lines = [*starts[draw(st.integers(0, 6))], *lines]
    indent = draw(st.sampled_from(["", "", "  "]))
    ending = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    text = ending.join(indent + line for line in lines)
    return text + draw(st.sampled_from(["", ending]))


@st.composite
def cuttings(draw: st.DrawFn, text: str) -> list[str]:
    """A text in pieces of any size, some of them empty."""
    at = sorted(draw(st.lists(st.integers(0, len(text)), max_size=40)))
    return [text[a:b] for a, b in zip([0, *at], [*at, len(text)], strict=True)]


class Order:
    """The grammar of events.py: what may follow what."""

    def __init__(self) -> None:
        self.file: FileOp | None = None
        self.section = self.ended_early = False
        self.last: Ev | None = None

    def take(self, event: Ev) -> None:
        if isinstance(event, FileOp):
            assert self.file is None
            self.file, self.ended_early = event, False
        elif isinstance(event, Failure | Cut):
            self.ended_early = True
        elif isinstance(event, Prose):
            assert self.file is None or self.ended_early
        elif isinstance(event, End):
            assert self.file is None
        else:
            assert self.file is not None
            self.inside(self.file, event)
        self.last = event

    def inside(self, file: FileOp, event: Ev) -> None:
        if isinstance(event, SectionStart):
            deletes = file.notation == "unified_diff" and file.kind is Kind.DELETE
            assert file.kind is Kind.EDIT or deletes
            assert not self.section
            self.section = True
        elif isinstance(event, Line):
            assert self.section or file.kind is Kind.ADD
        elif isinstance(event, Divider):
            assert self.section
        elif isinstance(event, NoNewline):
            assert isinstance(self.last, Line)
        elif isinstance(event, MoveTo | Refusal):
            assert isinstance(self.last, FileOp | MoveTo)
        elif isinstance(event, SectionEnd):
            assert self.section
            assert event.closed is not self.ended_early
            self.section = False
        elif isinstance(event, FileEnd):
            assert not self.section
            assert event.closed is not self.ended_early
            self.file = None


def check_order(events: list[Ev]) -> None:
    order = Order()
    for event in events:
        order.take(event)
    assert order.file is None


@pytest.mark.slow
@pytest.mark.case("A01", "A05", "A06")
@each("channel", CHANNELS)
@each("fmt", FORMATS)
@given(data=st.data())
@settings(max_examples=15)
def test_any_cutting_gives_the_same_events(fmt, channel, data):
    text = data.draw(streams())
    if channel == "function":
        text = json.dumps({"input": text}, ensure_ascii=data.draw(st.booleans()))
    cut = data.draw(st.booleans())
    whole = run(parser_for(fmt, channel), [text], cut=cut)
    assert run(parser_for(fmt, channel), list(text), cut=cut) == whole
    assert run(parser_for(fmt, channel), data.draw(cuttings(text)), cut=cut) == whole
    check_order(whole)


@pytest.mark.case("A07")
@each("fmt", FORMATS)
@given(data=st.data())
@settings(max_examples=30)
def test_text_without_an_edit_is_shown_whole(fmt, data):
    text = data.draw(streams())
    events = run(parser_for(fmt, "text"), data.draw(cuttings(text)))
    if all(isinstance(event, Prose) for event in events):
        assert "".join(event.text for event in events) == text


@each("fmt", FORMATS)
@given(text=st.text(max_size=300), channel=st.sampled_from(CHANNELS), cut=st.booleans())
@settings(max_examples=20)
def test_no_text_raises(fmt, text, channel, cut):
    check_order(run(parser_for(fmt, channel), [text], cut=cut))


@pytest.mark.case("A07")
@given(text=st.text(alphabet="*` \t\n\r<EOF~'BeginPatch-+@=SEARCHdif.", max_size=120))
@settings(max_examples=100)
def test_characters_of_markers_are_prose(text):
    if "*** Begin Patch" not in text and "SEARCH" not in text and "@@" not in text:
        events = run(parser_for("marked", "text"), list(text))
        assert events == ([Prose(text)] if text else [])


@pytest.mark.case("A02")
@each("fmt", FORMATS)
@given(data=st.data())
@settings(max_examples=15)
def test_facts_are_append_only(fmt, data):
    text = data.draw(streams())
    at = data.draw(st.integers(0, len(text)))
    facts = joined(parser_for(fmt, "custom").feed(text[:at]))
    whole = run(parser_for(fmt, "custom"), [text])
    if facts and isinstance(facts[-1], Prose):
        last = whole[len(facts) - 1]
        assert isinstance(last, Prose)
        assert last.text.startswith(facts.pop().text)
    assert whole[: len(facts)] == facts
