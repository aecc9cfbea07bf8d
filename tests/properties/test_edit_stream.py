"""Any cutting of a stream gives the same events, and no stream breaks the order of events."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.edit_streams import joined, run
from tests.support.scenarios import scenarios
from tui.core.edit_stream import Channel, parser_for
from tui.core.edit_stream.events import (
    Cut,
    End,
    Ev,
    Failure,
    FileEnd,
    FileOp,
    Line,
    Prose,
    SectionEnd,
    SectionStart,
)
from tui.core.hunk import Kind

CHANNELS: list[Channel] = ["custom", "function", "text"]
LINES = [
    "*** Begin Patch", "*** End Patch", "*** Update File: a.py", "*** Add File: b.py",
    "*** Delete File: c.py", "*** Move to: d.py", "*** End of File", "*** Environment ID: x",
    "@@", "@@ def f():", "@@ -1,2 +3,4 @@ g", "+added", "-removed", " context", "", " ", "\t",
    "plain", "```", "```diff", "apply_patch <<'EOF'", "EOF", "  *** End Patch", " *** End Patch",
    "   *** Update File: a.py", "~~~", "+*** End Patch", "*** Tweak", "+", "-", "\ufeff", "é",
]  # fmt: skip


@st.composite
def streams(draw: st.DrawFn) -> str:
    """Lines of patches and of prose in any order, with either line ending."""
    lines = draw(st.lists(st.sampled_from(LINES), max_size=25))
    if draw(st.booleans()):
        lines = ["*** Begin Patch", "*** Update File: a.py", *lines]
    indent = draw(st.sampled_from(["", "", "  "]))
    ending = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    text = ending.join(indent + line for line in lines)
    return text + draw(st.sampled_from(["", ending]))


@st.composite
def cuttings(draw: st.DrawFn, text: str) -> list[str]:
    """A text in pieces of any size, some of them empty."""
    at = sorted(draw(st.lists(st.integers(0, len(text)), max_size=40)))
    return [text[a:b] for a, b in zip([0, *at], [*at, len(text)], strict=True)]


def check_order(events: list[Ev]) -> None:
    """The grammar of events.py."""
    file: Kind | None = None
    section = ended_early = False
    for event in events:
        if isinstance(event, FileOp):
            assert file is None
            file, ended_early = event.kind, False
        elif isinstance(event, SectionStart):
            assert file is Kind.EDIT
            assert not section
            section = True
        elif isinstance(event, Line):
            assert section or file is Kind.ADD
        elif isinstance(event, Failure | Cut):
            ended_early = True
        elif isinstance(event, SectionEnd):
            assert section
            assert event.closed is not ended_early
            section = False
        elif isinstance(event, FileEnd):
            assert file is not None
            assert not section
            assert event.closed is not ended_early
            file = None
        elif isinstance(event, End):
            assert file is None
    assert file is None
    assert not section


@pytest.mark.parametrize("channel", CHANNELS)
@given(data=st.data())
@settings(max_examples=300, deadline=None)
def test_a01_any_cutting_gives_the_same_events(channel, data):
    """A01: 1 char at a time, in random splits, and whole -> identical events."""
    text = data.draw(streams())
    if channel == "function":
        text = json.dumps({"input": text}, ensure_ascii=data.draw(st.booleans()))
    cut = data.draw(st.booleans())
    whole = run(parser_for("auto", channel), [text], cut=cut)
    assert run(parser_for("auto", channel), list(text), cut=cut) == whole
    assert run(parser_for("auto", channel), data.draw(cuttings(text)), cut=cut) == whole
    check_order(whole)


@given(text=st.text(max_size=300), channel=st.sampled_from(CHANNELS), cut=st.booleans())
@settings(max_examples=300, deadline=None)
def test_no_text_raises(text, channel, cut):
    check_order(run(parser_for("auto", channel), [text], cut=cut))


@given(text=st.text(alphabet="*` \t\n\r<EOF~'BeginPatch", max_size=120))
@settings(max_examples=500, deadline=None)
def test_text_without_a_patch_is_shown_whole(text):
    if "*** Begin Patch" not in text:
        events = run(parser_for("auto", "text"), list(text))
        assert events == ([Prose(text)] if text else [])


@given(data=st.data())
@settings(max_examples=300, deadline=None)
def test_facts_are_append_only(data):
    """A02, I3: what a cut stream says, the whole stream says too, up to the cut."""
    text = data.draw(streams())
    at = data.draw(st.integers(0, len(text)))
    facts = joined(parser_for("auto", "custom").feed(text[:at]))
    whole = run(parser_for("auto", "custom"), [text])
    if facts and isinstance(facts[-1], Prose):
        last = whole[len(facts) - 1]
        assert isinstance(last, Prose)
        assert last.text.startswith(facts.pop().text)
    assert whole[: len(facts)] == facts


@pytest.mark.parametrize("scenario", scenarios(), ids=str)
def test_a02_every_prefix_of_every_scenario(scenario):
    """A02: cut at every prefix -> no exception, and no unclosed delete or move is confirmed."""
    text = scenario.patch
    for at in range(len(text) + 1):
        events = run(parser_for("auto", "text"), [text[:at]], cut=True)
        check_order(events)
        closed = sum(isinstance(event, FileEnd) and event.closed for event in events)
        headers = text[:at].count("*** ") - text[:at].count("*** Begin")
        assert closed <= headers
