"""Notes on lines in the editor: the field, the mark in the gutter, the words beside the text."""

from __future__ import annotations

from tests.support.colour_samples import settle
from tests.support.patches import disk
from tests.support.tables import each
from tests.ui.editor.test_pane import count_of, cursor_of, pane, session_of
from tui.core.document.workspace import Workspace
from tui.core.text.buffer import Buffer
from tui.engine.intents import AskChange, OpenFile, PutNote, SendNotes
from tui.ui.editor.note_marks import comment_on, lay_notes
from tui.ui.editor.paint import EditorRow, RowFrame, RowPainter
from tui.ui.editor.view import View
from tui.ui.theme import active

TEXT = "x = 1  # TODO: a name that says it\ny = '# no comment'\n\nz = 3\n"


def view_of(workspace: Workspace) -> View:
    return View(workspace.open("a.txt"), None, workspace)


def rows_of(view: View, workspace: Workspace, width: int = 60) -> list[EditorRow]:
    view.fit(width, wrap=False)
    rows = view.rows(6, True, lambda path, first, last: {})
    lay_notes(rows, view, width, view.cursor_spot(6), workspace.notes)
    return rows


async def test_a_key_opens_a_field_whose_words_become_a_note_on_the_line() -> None:
    async with pane("a.py") as (p, pilot):
        await pilot.press("down", "down", "alt+semicolon", *"why?", "enter")
        assert session_of(p).intents[-1] == PutNote("a.py", 2, "why?")
        assert p.editor.has_focus
        assert cursor_of(p) == (2, 0)
        assert count_of(p) == ""


async def test_alt_enter_sends_all_and_escape_keeps_nothing() -> None:
    async with pane("a.py") as (p, pilot):
        before = len(session_of(p).intents)
        await pilot.press("alt+semicolon", *"no", "escape")
        assert session_of(p).intents[before:] == []
        await pilot.press("alt+semicolon", *"yes", "alt+enter")
        assert session_of(p).intents[before:] == [PutNote("a.py", 0, "yes"), SendNotes()]


async def test_finding_is_as_it_was_behind_a_note() -> None:
    async with pane("a.py") as (p, pilot):
        await pilot.press("ctrl+f", *"value = 7", "enter", "escape")
        await pilot.press("alt+semicolon", *"note", "enter", "ctrl+f")
        assert p.find_bar.query_wanted.needle != "note"


async def test_keys_step_from_note_to_note_in_all_files() -> None:
    async with pane("a.py") as (p, pilot):
        p.session.workspace.notes.put("a.py", None, "nowhere")
        await pilot.press("alt+apostrophe")
        assert not [one for one in session_of(p).intents if isinstance(one, OpenFile) and one.line]


def test_a_noted_line_has_a_mark_and_the_words_where_there_is_room() -> None:
    workspace = disk(a=TEXT).workspace
    workspace.notes.put("a.txt", 1, "one\x1b[31m")
    workspace.notes.put("a.txt", 3, "two", severity="error", turn=1)
    view = view_of(workspace)
    rows = rows_of(view, workspace)
    assert [row.note for row in rows] == ["", "accent", "", "error", "", ""]
    assert "one" in rows[1].chips[0][0]
    assert "\x1b" not in "".join(text for row in rows for text, _ in row.chips)
    painted = RowPainter(active()).strip(rows[3], RowFrame(60, 0, 3)).text
    assert painted.startswith("◆")
    assert painted.rstrip().endswith("◆ two")
    narrow = rows_of(view, workspace, 24)
    assert narrow[1].note
    assert not narrow[1].chips


@each("line, said", [(0, "TODO: a name that says it"), (1, ""), (2, ""), (3, "")])
def test_the_text_of_a_comment_is_what_the_field_begins_with(line: int, said: str) -> None:
    buffer = Buffer("a.py", TEXT)
    view = View(buffer)
    settle(view.colours, buffer)
    assert comment_on(view, line) == said


async def test_a_key_asks_for_a_change_of_what_is_selected() -> None:
    async with pane("a.py") as (p, pilot):
        await pilot.press("down", "shift+down", "shift+down")
        p.words.change()
        await pilot.press(*"short", "enter")
        assert session_of(p).intents[-1] == AskChange("a.py", (1, 0), (3, 0), "short")
        p.words.change()
        before = len(session_of(p).intents)
        await pilot.press("enter")
        assert len(session_of(p).intents) == before
