"""Scrolling, selecting and searching in the conversation, without an app."""

from __future__ import annotations

from collections.abc import Callable

from textual.geometry import Region

from tests.support.scripted_session import ScriptedSession
from tui.core.document.hunk import Stage
from tui.ui.conversation.layout import TranscriptLayout
from tui.ui.conversation.search import NOT_FOUND, SearchControl
from tui.ui.conversation.selection import Selection, Viewport
from tui.ui.conversation.views import ViewContext

HEIGHT = 10


class Conversation:
    """The parts of the pane, over a scripted session."""

    def __init__(self, session: ScriptedSession) -> None:
        self.session = session
        self.shown: list[tuple[int, int | None]] = []
        self.painted: list[tuple[Region, ...]] = []
        self.rows = TranscriptLayout(session.as_session(), ViewContext())
        self.viewport = Viewport(
            self.rows, lambda *regions: self.painted.append(regions), lambda: HEIGHT
        )
        self.selection = Selection(
            session.workspace.hunk_list,
            self.rows,
            self.viewport,
            lambda hunk, line: self.shown.append((hunk.id, line)),
        )
        self.viewport.resize(60, HEIGHT)
        self.sync()

    def sync(self) -> None:
        first = self.rows.sync(self.session.drain(), HEIGHT)
        if first is not None:
            self.viewport.changed_from(first)


def long_answer() -> ScriptedSession:
    session = ScriptedSession()
    session.say("reasoning", "First the mutations.", speaker="fast")
    session.say("text", "word\n\n" * 60, speaker="fast", state="open")
    return session


def patch(count: int) -> ScriptedSession:
    session = ScriptedSession()
    session.say("patch", speaker="fast")
    for line in range(count):
        session.hunk(Stage.LANDED, line, added=1)
    return session


def test_it_stands_still_while_the_user_reads_further_up() -> None:
    one = Conversation(long_answer())
    viewport, block = one.viewport, one.session.transcript.blocks[-1]
    viewport.go_to(5)
    one.painted.clear()
    one.session.stream(block, "more\n\n" * 10)
    one.sync()
    assert (viewport.top, viewport.follows) == (5, False)
    assert viewport.at_hint(HEIGHT - 1)
    assert (Region(0, HEIGHT - 1, 60, 1),) in one.painted
    assert () not in one.painted, "the rows in sight are as they were"
    viewport.go_to(one.rows.total)
    assert viewport.follows
    assert not viewport.at_hint(HEIGHT - 1)
    one.session.stream(block, "more\n\n" * 10)
    one.sync()
    assert viewport.top == one.rows.total - HEIGHT


def test_a_step_selects_what_is_in_sight_and_scrolls_through_what_is_only_read() -> None:
    one = Conversation(long_answer())
    one.selection.focus(True)
    assert one.selection.target is None, "what is far above is not jumped to"
    top = one.viewport.top
    one.selection.step(back=True)
    one.selection.step(back=True)
    assert (one.viewport.top, one.selection.target) == (top - 2, None)
    one.viewport.go_to(0)
    one.selection.step(back=True)
    assert one.selection.target is not None
    one.viewport.go_to(one.rows.total)
    one.selection.step(back=True)
    assert one.viewport.top > 3, "a selection that is out of sight is not jumped back to"


def test_hunks_are_stepped_through_and_those_that_wait_come_first() -> None:
    session = patch(4)
    one = Conversation(session)
    one.selection.focus(True)
    assert one.shown == [(1, None)], "the keys need something to act on"
    one.selection.step_hunk()
    one.selection.step_hunk(back=True)
    one.selection.step(back=False)
    one.selection.step(back=True)
    assert [hunk for hunk, _ in one.shown] == [1, 2, 1, 2, 1]
    session.workspace.hunks[1].stage = Stage.REFUSED
    one.selection.step_hunk(waiting=True)
    assert one.selection.hunk is session.workspace.hunks[2]
    hunk = session.workspace.hunks[3]
    hunk.stage, hunk.candidates, hunk.reason = Stage.CANDIDATES, (3, 9), "it fits twice"
    one.selection.step_hunk(waiting=True)
    one.selection.choose_candidate(1)
    one.selection.choose_candidate(1)
    assert one.shown[-3:] == [(4, 3), (4, 9), (4, 3)]
    line = session.workspace.hunks[2].start.line
    assert one.selection.return_to("ledger/cache.py", line)
    assert one.selection.hunk is session.workspace.hunks[2]
    assert not one.selection.return_to("ledger/other.py", line)


def test_a_search_counts_in_slices_and_says_how_many(session: ScriptedSession) -> None:
    for turn in range(30):
        session.say("text", f"The answer {turn} is here.", speaker="fast")
    one, told, later = Conversation(session), [""], list[Callable[[], None]]()
    search = SearchControl(one.rows, one.viewport, told.append, lambda _, then: later.append(then))

    def run() -> None:
        while later:
            later.pop(0)()

    search.look_for("answer 1")
    assert told == [""], "not before it is opened"
    search.open()
    search.look_for("answer 1")
    run()
    assert told[-1] == "1 of 11"
    lit = [row for row in range(one.rows.total) if search.highlights(row)]
    assert len(lit) == 11
    search.step(older=True)
    assert told[-1] == "2 of 11"
    session.say("text", "The answer 1 again.", speaker="fast")
    one.sync()
    search.grown(30)
    run()
    assert told[-1] == "3 of 12"
    search.close()
    one.viewport.go_to(20)
    search.open()
    search.look_for("answer")
    run()
    assert told[-1] == "18 of 31", "the newest of those in sight and above"
    search.look_for("nonsense")
    run()
    assert told[-1] == NOT_FOUND
    search.close()
    assert not search.highlights(lit[0])


def test_each_step_leads_to_another_hunk_where_the_text_of_one_was_shown() -> None:
    session = patch(4)
    for hunk in session.workspace.hunks:
        hunk.agent = "one\ntwo\n"
    one = Conversation(session)
    selection = one.selection
    selection.focus(True)
    first = selection.hunk
    assert first is not None
    selection.peek(first)
    selection.step_hunk()
    selection.step_hunk(back=True)
    assert selection.hunk is first
    selection.peek(first)
    for _ in range(2):
        selection.step(back=False)
    selection.step(back=True)
    assert selection.hunk is not None
    assert selection.hunk.id == first.id + 1
