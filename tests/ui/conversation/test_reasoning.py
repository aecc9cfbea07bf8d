"""However much a model thinks, a frame takes up only so much of it."""

from __future__ import annotations

import itertools

import pytest

from tui.core.conversation import Block, BlockKind
from tui.ui.conversation import text_view
from tui.ui.conversation.text_view import ReasoningView
from tui.ui.conversation.views import ViewContext


def view_of(text: str) -> ReasoningView:
    block = Block(BlockKind.REASONING, 1)
    block.append(text)
    block.state = "done"
    return ReasoningView(block, 0, ViewContext(width=80), None)


def rows_of(view: ReasoningView) -> list[str]:
    rows = view.pages[0].rows
    assert rows is not None
    return [row.text.rstrip() for row in rows]


def test_an_unfolded_text_is_wrapped_over_several_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = itertools.count()
    monkeypatch.setattr(text_view, "thread_time", lambda: next(looks) * text_view._WRAP_S / 4)
    text = "".join(f"thought {number} of very many\n" for number in range(2000))
    view = view_of(text)
    view.toggle()
    view.sync()
    frames, before = 1, len(rows_of(view))
    while view.context.behind:
        view.sync()
        assert len(rows_of(view)) - before < 300
        frames, before = frames + 1, len(rows_of(view))
    assert frames > 5
    assert [row.split(" of ")[0][2:] for row in rows_of(view)[2:]] == [
        f"thought {number}" for number in range(2000)
    ]
    view.sync()
    assert len(rows_of(view)) == before, "all is there, and nothing twice"
