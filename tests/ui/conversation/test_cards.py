"""Cards of the conversation: hunks, calls, failures, and what is copied of them."""

from __future__ import annotations

from textual.pilot import Pilot

from tests.support.scripted_app import exercise, running, settled
from tests.support.scripted_session import ScriptedSession
from tests.support.tables import each
from tui.core.conversation import Block, BlockKind
from tui.core.document.hunk import Stage
from tui.core.run_report import FailedTest, RunReport
from tui.ui.app import DuettoApp
from tui.ui.conversation.selection import fenced_code
from tui.ui.conversation.views import FailureWords, duration, failure


def shown(app: DuettoApp) -> list[str]:
    pane = app.bench.transcript
    rows = (pane.render_line(y).text for y in range(pane.size.height))
    return [row[:-1].strip() for row in rows]


async def test_a_file_of_a_card_is_folded_to_its_counts(session: ScriptedSession) -> None:
    session.say("patch", speaker="fast")
    session.hunk(Stage.LANDED, 0, added=1)
    session.hunk(Stage.LANDED, 7, added=3, removed=1)
    session.hunk(Stage.LANDED, 2, added=5, path="README.md")
    async with running(session) as (app, pilot):
        await pilot.press("alt+1", "up", "enter")
        rows = [row for row in shown(app) if row]
        assert rows[1].startswith("▸ ledger/cache.py")
        assert "2 hunks" in rows[1]
        assert "+4" in rows[1]
        assert rows[2].startswith("✎ README.md")
        await pilot.press("space")
        assert len([row for row in shown(app) if "pending" in row]) == 3


@each("size", [(160, 40), (80, 40)])
async def test_a_run_keeps_its_name_where_what_it_ran_on_has_no_room(
    session: ScriptedSession, size: tuple[int, int]
) -> None:
    run = session.state.add(Block(BlockKind.RUN, 0, "pytest -q", state="failed"))
    ground = "12 pending hunks and unsaved text"
    left_out = "hunks 7, 9, which change what judges them"
    run.report = RunReport((FailedTest("test_put"),), ground=ground, left_out=left_out)
    async with running(session, size) as (app, pilot):
        await settled(session, pilot)
        if size == (80, 40):
            await pilot.press("alt+1")
        rows = [row for row in shown(app) if row]
        at = next(number for number, row in enumerate(rows) if "pytest -q" in row)
        assert rows[at].startswith("$ pytest -q")
        said = " ".join(row.strip("│ ") for row in rows[at : at + 3])
        assert f"with {ground}" in said
        assert f"without {left_out}" in said


async def test_a_verdict_is_grey_once_its_texts_are_others(session: ScriptedSession) -> None:
    run = session.state.add(Block(BlockKind.RUN, 0, "pytest -q", state="done"))
    session.status.verdict = "passed"
    async with running(session, (160, 40)) as (app, pilot):
        await settled(session, pilot)

        def colours() -> list[str]:
            found = []
            for widget, words in (
                (app.bench.transcript, "✓ ok"),
                (app.bench.status_line, "passed"),
            ):
                rows = [widget.render_line(y) for y in range(widget.size.height)]
                found += [
                    str(one.style.color.name)
                    for row in rows
                    for one in row
                    if words in one.text and one.style and one.style.color
                ]
            return found

        fresh = colours()
        assert len(fresh) == 2
        run.outdated = session.status.outdated = True
        session.state.changed(run)
        session.state.restated()
        await settled(session, pilot)
        grey = colours()
        assert len(grey) == 2
        assert not set(fresh) & set(grey)
        (head,) = [row for row in shown(app) if "pytest -q" in row]
        assert head.endswith("✓ ok · out of date"), "not by its colour alone"
        assert "✓ tests passed · out of date" in app.bench.status_line.render_line(0).text


async def test_a_card_follows_a_file_that_gets_another_name(session: ScriptedSession) -> None:
    block = session.say("patch", speaker="fast")
    hunks = session.hunk(Stage.LANDED, 0), session.hunk(Stage.LANDED, 7)
    async with running(session) as (app, pilot):
        await settled(session, pilot)
        session.workspace.hunk_list.moved(hunks, "ledger/store.py")
        session.state.changed(block)
        session.changed()
        await settled(session, pilot)
        (head,) = [row for row in shown(app) if "2 hunks" in row]
        assert head.startswith("✎ ledger/store.py")


async def test_the_scroll_bar_is_right_whatever_opens_and_closes(session: ScriptedSession) -> None:
    exercise(session)
    async with running(session, (80, 24)) as (app, pilot):
        pane = app.bench.transcript
        for key in ("alt+1", "alt+1", "space", "space", "ctrl+f", "z", "escape", "i"):
            await pilot.press(key)
            await settled(session, pilot)
            height, total = pane.size.height, pane.rows.total
            bar = [pane.render_line(y).text[-1] == "▐" for y in range(height)]
            assert sum(bar) == height * height // total, key
            room = height - sum(bar)
            assert bar.index(True) == round(pane.viewport.top * room / (total - height)), key


async def test_from_a_card_to_its_lines_and_back_to_the_card(session: ScriptedSession) -> None:
    exercise(session)
    for size in ((120, 36), (80, 24)):
        async with running(session, size) as (app, pilot):
            await pilot.press("alt+1", "alt+1")
            hunk = app.bench.transcript.selection.hunk
            assert hunk is not None
            await pilot.press("alt+k")
            await settled(session, pilot)
            assert app.bench.pane_actions.in_editor(app.bench.focused)
            assert app.bench.panes.in_sight("editor")
            await pilot.press("alt+k")
            assert app.bench.focused is app.bench.transcript
            assert app.bench.transcript.selection.hunk is hunk
            assert app.bench.panes.in_sight("conversation")


async def called(session: ScriptedSession, pilot: Pilot[int], title: str, took_s: float) -> Block:
    block = session.say("tool", title=title, speaker="fast", state="open")
    await settled(session, pilot)
    session.now_s += took_s
    session.stream(block, "42 lines")
    session.state.close(block)
    await settled(session, pilot)
    return block


async def test_three_calls_are_one_row_that_counts_and_unfolds(session: ScriptedSession) -> None:
    session.say("text", "I look around.", speaker="fast")
    async with running(session) as (app, pilot):
        for name in ("read_file a.py", "read_file b.py", "search lock"):
            await called(session, pilot, name, 0.5)
        rows = [row for row in shown(app) if row]
        assert rows[2].startswith("→ 3 calls ▸ 2 read_file · 1 search")
        assert rows[2].endswith("1.5 s")
        assert len(rows) == 3
        running_one = session.say("tool", title="search put", speaker="fast", state="open")
        await settled(session, pilot)
        assert any(row.startswith("… 4 calls ▸ search put") for row in shown(app))
        session.state.close(running_one, "failed")
        session.say("text", "Found it.", speaker="fast")
        await settled(session, pilot)
        assert any("4 calls" in row and "1 failed" in row for row in shown(app))
        await pilot.press("alt+1", "enter")
        rows = [row for row in shown(app) if row]
        assert [row.split(" · ")[0] for row in rows[3:6]] == [
            "→ read_file a.py",
            "→ read_file b.py",
            "→ search lock",
        ]
        assert rows[6].startswith("✗ search put failed")
        await pilot.press("enter")
        assert len([row for row in shown(app) if row]) == 4


def test_times_are_said_as_people_say_them() -> None:
    assert [duration(seconds) for seconds in (0.01, 0.42, 12.3, 125)] == [
        "",
        "0.4 s",
        "12 s",
        "2 min 5 s",
    ]


WORDS = "The model could not answer: 529 overloaded\nfix that, then send the prompt again"


def test_the_parts_of_a_failure() -> None:
    assert failure(WORDS) == FailureWords(
        "The model could not answer", "529 overloaded", "fix that, then send the prompt again"
    )
    assert failure("It broke") == FailureWords("It broke", "", "")
    assert failure("It broke: a\nb\nnext") == FailureWords("It broke", "a\nb", "next")


async def test_a_failure_is_a_card_with_its_next_step_and_keys(session: ScriptedSession) -> None:
    session.say("user", "make it safe")
    session.say("note", WORDS, state="failed")
    async with running(session, (120, 30)) as (app, pilot):
        rows = "\n".join(shown(app))
        assert "✗ The model could not answer" in rows
        assert "529 overloaded" in rows
        assert "→ next: fix that, then send the prompt" in rows
        assert "F2 the other model" in rows
        await pilot.press("alt+1", "c")
        assert app.clipboard == WORDS
        await pilot.press("enter")
        assert app.bench.focused is app.bench.prompt_box.prompt


CODE = "def f(x):\n    return x\n"


@each(
    "source",
    [
        f"```python\n{CODE}```\n",
        f"~~~\n{CODE}~~~\n",
        f"```python\n{CODE}",
        "```python\r\ndef f(x):\r\n    return x\r\n```\r\n",
        "- ```python\n  def f(x):\n      return x\n  ```\n",
        "> ```python\n> def f(x):\n>     return x\n> ```\n",
        "> 1. ```python\n>    def f(x):\n>        return x\n>    ```\n",
    ],
)
def test_code_is_copied_as_it_is_meant(source: str) -> None:
    assert fenced_code(source, 0) == CODE


async def test_c_copies_the_code_that_is_selected(session: ScriptedSession) -> None:
    text = f"Two.\n\n```python\n{CODE}```\n\nand\n\n1. in a list\n\n   ```sh\n   ls -l\n   ```\n"
    session.say("text", text, speaker="fast")
    async with running(session) as (app, pilot):
        await pilot.press("alt+1", "c")
        assert app.clipboard == "ls -l\n"
        await pilot.press("up", "c")
        assert app.clipboard == CODE
        await pilot.press("C")
        assert app.clipboard == text


async def test_hunks_commands_and_patches_are_copied(session: ScriptedSession) -> None:
    exercise(session)
    hunk = session.hunk(Stage.LANDED, 3, added=1)
    hunk.agent = "    lock = 1\n"
    async with running(session, (120, 60)) as (app, pilot):
        await pilot.press("alt+1")
        app.bench.transcript.selection.select_pending()
        app.bench.transcript.selection.select_pending()
        await pilot.press("n", "n", "c")
        assert app.clipboard == "    lock = 1\n"
        await pilot.press("C")
        assert "@@ ledger/cache.py line 4 @@\n+    lock = 1\n" in app.clipboard
        await pilot.press("end", "J", "down", "down", "down", "c")
        assert app.clipboard.startswith("$ python -m pytest -q\n")
