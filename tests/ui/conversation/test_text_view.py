"""However much a model thinks, a frame takes up only so much of it."""

from __future__ import annotations

import itertools
import random

import pytest

from tests.support.scripted_app import running
from tests.support.scripted_session import ScriptedSession
from tui.core.conversation import Block, BlockKind
from tui.core.document.hunk import TAKEN_BACK, UNPAINTED, Decision, Hunk, Stage
from tui.core.document.hunk_list import HunkList
from tui.core.text.buffer import Mark
from tui.engine.notices import Notices
from tui.ui.conversation import hunk_card, text_view
from tui.ui.conversation.hunk_card import FilePart, PatchView, card_lines, empty_lines
from tui.ui.conversation.text_view import ReasoningView, TextView
from tui.ui.conversation.views import BlockView, Focus, UserView, ViewContext, ViewPage
from tui.ui.styled_text import StyledRow


def view_of(text: str) -> ReasoningView:
    block = Block(BlockKind.REASONING, 1)
    block.append(text)
    block.state = "done"
    return ReasoningView(block, 0, ViewContext(width=80), None)


def rows_of(view: BlockView) -> list[str]:
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


def test_the_live_row_has_whole_words_that_do_not_move() -> None:
    block = Block(BlockKind.REASONING, 1)
    block.state = "open"
    view = ReasoningView(block, 0, ViewContext(width=60), None)
    said = "I need to look at the cache first, then at whoever evicts what lies in it."
    text, rows = f"{said} {said} ", list[str]()
    for character in text:
        block.append(character)
        view.sync()
        live = next(row for row in rows_of(view) if "thinking" in row)
        rows.append(live.partition("▸ ")[2].partition("  ")[0])
    words = text.split()
    for before, row in itertools.pairwise(rows):
        assert row.startswith(before) or len(row.split()) == 1
        assert all(word in words for word in row.split())
    assert rows[-1].endswith("it.")


PIECES = (
    "A paragraph of some words that goes on.\n\n",
    "# Heading\n\n",
    "- one\n- two\n\n",
    "1. first\n\n   more of it\n\n2. second\n\n",
    "```python\ndef f(x):\n    return x\n```\n\n",
    "```\n" + "plain\n" * 40 + "```\n",
    "words without an end ",
    "| a | b |\n|---|---|\n| 1 | 2 |\n\n",
    "> quoted\n\n",
    "日本語 and émoji 👩‍🚀\n",
)


def text_of(row: StyledRow) -> str:
    return row.strip.text.rstrip()


def remade(page: ViewPage) -> list[str]:
    page.view.make(page.number)
    assert page.rows is not None
    assert page.height == len(page.rows)
    return [text_of(row) for row in page.rows]


def made(view: TextView) -> list[str]:
    """The rows of all pages, each made from its own part of the text."""
    rows: list[str] = []
    for page in view.pages:
        page.rows = None
        made = remade(page)
        while view.behind:  # a slow machine makes a part at once
            view.sync()
            made = [text_of(row) for row in page.rows or ()]
        rows += made
    return rows


def answers(session: ScriptedSession, turns: int) -> None:
    for turn in range(turns):
        session.say("user", f"prompt {turn}")
        session.say("text", f"answer {turn}\n\n" * 3, speaker="fast")


async def test_of_a_long_conversation_only_what_is_in_sight_is_made() -> None:
    session = ScriptedSession()
    answers(session, 5000)
    async with running(session) as (app, _):
        rows = app.bench.transcript.rows
        fresh = sum(page.rows is not None for view in rows.views for page in view.pages)
        assert fresh <= 80
        assert rows.total > 20_000
        last = [app.bench.transcript.render_line(y).text for y in range(30)]
        assert any("answer 4999" in row for row in last)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
async def test_starts_and_heights_agree_after_anything(seed: int) -> None:
    chance, session = random.Random(seed), ScriptedSession()
    async with running(session) as (app, pilot):
        rows = app.bench.transcript.rows
        blocks = [session.say("text", speaker="fast", state="open")]
        for _ in range(60):
            roll = chance.random()
            if roll < 0.3:
                blocks.append(session.say("text", speaker="fast", state="open"))
            elif roll < 0.4:
                session.say("run", "line\n" * 30, title="make", state="done")
            elif roll < 0.5:
                await pilot.resize_terminal(chance.randrange(60, 140), 30)
            elif roll < 0.6:
                session.state.close(chance.choice(blocks), chance.choice(("done", "failed")))
            else:
                block = chance.choice(blocks)
                if block.state == "open":
                    session.stream(block, chance.choice(PIECES) * chance.randrange(1, 80))
            app.bench.sync(Notices(transcript_from=0))
            pages = [page for view in rows.views for page in view.pages]
            assert rows.total == sum(page.height for page in pages)
            assert len(rows.pages) == len(pages)
            assert [view.first for view in rows.views] == sorted(v.first for v in rows.views)
            app.bench.transcript.viewport.go_to(chance.randrange(rows.total + 1))


LONG = "A line of an answer that came all at once.\n\n" * 4000


async def test_an_answer_that_is_over_is_made_again_as_the_clock_allows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text, looks = LONG[:4_000], itertools.count()
    monkeypatch.setattr(text_view, "thread_time", lambda: next(looks) / 250)
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        session.say("text", text, speaker="fast")
        app._paint()
        app.bench.transcript.recolour()
        view = app.bench.transcript.rows.views[-1]
        assert isinstance(view, text_view.TextView)
        assert 0 < view._read < len(text) / 4
        while app.bench.transcript.rows.behind is not None:
            await pilot.pause()  # the frames that take up the rest come by themselves
        assert view._read == len(text)


def card(count: int, files: int) -> tuple[PatchView, HunkList]:
    roster = HunkList()
    for number in range(count):
        path = f"{number * files // count}.py"
        roster.add(Hunk(number + 1, 1, "call", path, stage=Stage.LANDED, added=1))
    scene = ViewContext(hunks=roster.of_call, files=roster.files_of, reviews=lambda: roster.reviews)
    view = PatchView(Block(BlockKind.PATCH, 1, "apply_patch", call_id="call"), 0, scene, None)
    return view, roster


def text(view: PatchView) -> list[str]:
    """All rows, each page made."""
    return [
        "".join(piece for piece, _ in line.pieces).rstrip()
        for number in range(len(view.pages))
        for line in view.lines(number)
    ]


@pytest.mark.parametrize("files", [1, 1_500])
@pytest.mark.parametrize("state", ["open", "done"])
def test_a_frame_looks_at_no_more_hunks_than_can_be_in_sight(
    files: int, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    view, roster = card(3_000, files)
    view.block.state = "open" if state == "open" else "done"
    looked: list[int] = []
    signature = hunk_card._signature

    def counted(hunk: Hunk) -> tuple[object, ...]:
        looked.append(hunk.id)
        return signature(hunk)

    monkeypatch.setattr(hunk_card, "_signature", counted)
    view.sync()
    for page in view.pages:
        view.make(page.number)
    looked.clear()
    roster.hunks[-1].decision = Decision.ACCEPTED
    assert view.sync() is not None
    assert len(looked) <= 2 * hunk_card._MOST_MADE * hunk_card._PAGE_HUNKS
    assert sum(page.rows is not None for page in view.pages) <= hunk_card._MOST_MADE


def hunk(number: int, stage: Stage, line: int | None = None, path: str = "src/cache.py") -> Hunk:
    made = Hunk(number, 1, "c", path, stage=stage, added=2, removed=1)
    if line is not None:
        made.start = Mark(line)
    return made


def parts(hunks: list[Hunk], skip: int = 0) -> list[FilePart]:
    roster = HunkList()
    for one in hunks:
        roster.add(one)
    files = roster.files_of("c").items()
    return [FilePart(path, file, skip, file.total, earlier=skip > 0) for path, file in files]


def shown(hunks: list[Hunk], focus: Focus | None = None, *, cut: bool = False) -> list[str]:
    lines = card_lines(parts(hunks), 60, focus or Focus()) if hunks else empty_lines(cut)
    return ["".join(text for text, _ in line.pieces).rstrip() for line in lines]


def test_candidates_can_be_chosen() -> None:
    ambiguous = hunk(1, Stage.CANDIDATES)
    ambiguous.candidates = (3, 9)
    reading = shown([ambiguous], Focus(1))
    assert "? where?   2 candidates, reading context" in reading[1]
    assert len(reading) == 2
    assert "choose" not in reading[1]
    ambiguous.reason = "ambiguous: it fits at lines 4 and 10"
    rows = shown([ambiguous], Focus(1, 1))
    assert "← → choose  Enter places" in rows[1]
    assert rows[2].split() == ["2", "candidates:", "L4", "[L10]"]
    assert "[" not in shown([ambiguous])[2]


def test_a_cut_hunk_says_what_can_be_done_with_it_in_one_line() -> None:
    cut = hunk(1, Stage.CUT)
    assert [row.strip() for row in shown([cut])[2:]] == ["yours to keep, finish or take back"]
    assert "◐ cut" in shown([cut])[1]
    assert "a keep  e finish  r take back" in shown([cut], Focus(1))[1]
    cut.decision, cut.reason = Decision.REJECTED, TAKEN_BACK
    assert [row.strip() for row in shown([cut])[2:]] == ["taken back as you went on"]
    assert "u bring back  e copy" in shown([cut], Focus(1))[1]
    cut.decision, cut.stage, cut.reason = Decision.PENDING, Stage.REFUSED, UNPAINTED
    assert len(shown([cut])) == 2
    assert "⊘ refused  not painted yet" in shown([cut])[1]


def test_a_long_reason_ends_with_an_ellipsis_until_its_hunk_is_opened() -> None:
    out = hunk(1, Stage.REFUSED)
    out.reason = "why " * 60 + "the end"
    assert shown([out])[-1].endswith("why…")
    assert len(shown([out])) == 2 + 4
    assert "the end" in " ".join(shown([out], Focus(1, 0, True)))
    out.reason = "why " * 40 + "the end"
    assert shown([out])[-1].endswith("the end")


def test_the_chosen_one_of_many_candidates_is_in_sight() -> None:
    ambiguous = hunk(1, Stage.CANDIDATES)
    ambiguous.candidates, ambiguous.reason = tuple(range(0, 200, 10)), "ambiguous"
    for number in range(20):
        row = shown([ambiguous], Focus(1, number))[2]
        assert f"[L{number * 10 + 1}]" in row
        assert len(row) < 60


def test_the_text_of_a_hunk_that_is_out_can_be_read() -> None:
    out = hunk(1, Stage.REFUSED)
    out.base, out.agent = "old\n", "new\x1b[2J\nmore\n"
    assert "Enter text  e copy" in shown([out], Focus(1))[1]
    assert not any("more" in row for row in shown([out], Focus(1)))
    rows = shown([out], Focus(1, 0, True))
    assert [row.strip() for row in rows[2:]] == ["−old", "+new␛[2J", "+more"]
    out.agent = "x\n" * 100
    assert "61 more lines" in shown([out], Focus(1, 0, True))[-1]


@pytest.mark.parametrize(("lines", "shows"), [(1, "shows it"), (2, "shows them")])
def test_what_was_sent_with_a_prompt_is_folded(lines: int, shows: str) -> None:
    block = Block(BlockKind.USER, 1, "Fix the failed test of pytest", state="done")
    block.append("\n".join(["mend it"] * lines))
    view = UserView(block, 0, ViewContext(width=60), None)
    view.sync()
    assert any(row.rstrip().endswith(f"sent with it · Enter {shows}") for row in rows_of(view))


def test_a_prompt_that_its_title_says_whole_is_not_folded() -> None:
    block = Block(BlockKind.USER, 1, "attempt 1 of 2: mend it", state="done")
    block.append("mend it\n")
    view = UserView(block, 0, ViewContext(width=60), None)
    view.sync()
    assert [row.strip() for row in rows_of(view) if row.strip()] == ["▌ attempt 1 of 2: mend it"]
    assert not view.has_stops


@pytest.mark.parametrize("kind", [BlockKind.TEXT, BlockKind.REASONING])
def test_of_what_is_cut_no_painted_word_goes_or_moves(kind: BlockKind) -> None:
    text = "A **bold word** and *one* with `some code`, [a link](x.org).\n\n" + "".join(PIECES)
    view_type = TextView if kind is BlockKind.TEXT else ReasoningView
    for end in range(1, len(text), 3):
        block = Block(kind, 1)
        view = view_type(block, 0, ViewContext(width=40), None)
        for at in range(0, end, 13):
            block.append(text[at : min(at + 13, end)])
            view.sync()
        before = rows_of(view)
        block.state = "cut"
        view.sync()
        assert rows_of(view) == before, text[max(0, end - 30) : end]


@pytest.mark.slow
@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("lost", [0, 3, 4_000])
def test_what_was_cut_goes_on_in_its_rows(at_once: bool, lost: int) -> None:
    text = "".join(PIECES) + "A paragraph of some words.\n\n" * 400
    for cut in (10, len("".join(PIECES)) + 5, 7_005):
        block = Block(BlockKind.TEXT, 1)
        view = TextView(block, 0, ViewContext(width=40), None)
        block.append(text[:cut])
        while view.sync() is not None:
            pass
        block.state = "cut"
        view.sync()
        kept = max(cut - lost, 0)
        block.say(text[:kept])
        block.state = "open"
        if not at_once:
            view.sync()
        block.append(text[kept:])
        block.state = "done"
        while view.sync() is not None:
            pass
        whole = TextView(block, 0, ViewContext(width=40), None)
        while whole.sync() is not None:
            pass
        shown = [text_of(row) for page in view.pages for row in page.rows or ()]
        assert [*filter(None, shown)] == [*filter(None, made(view))]
        assert [*filter(None, shown)] == [*filter(None, made(whole))]
