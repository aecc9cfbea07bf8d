"""Every key of the table does what the table says, where it says so, idle and streaming."""

from __future__ import annotations

import pytest
from textual import events
from textual.widget import Widget

from tests.support.keyboard import sent_for
from tests.support.scripted_app import exercise, running, settled
from tests.support.scripted_session import ScriptedSession
from tui.ui.app import DuettoApp
from tui.ui.key_words import KeyWords
from tui.ui.keymap import KEYMAP, rows
from tui.ui.keys.key import Key, Scope
from tui.ui.prompt.queued import QueueBox
from tui.ui.terminal.input_stream import InputStream

FOCI: dict[Scope, tuple[str, ...]] = {
    "global": ("prompt", "queue", "transcript", "editor-text", "tree"),
    "prompt": ("prompt",),
    "queue": ("queue",),
    "conversation": ("transcript",),
    "review": ("transcript",),
    "editor": ("editor-text",),
    "files": ("tree",),
}
CASES = [(scope, focus, busy) for scope in FOCI for focus in FOCI[scope] for busy in (False, True)]


@pytest.mark.parametrize(("scope", "focus", "busy"), CASES)
async def test_every_key_works_where_the_table_says(scope: Scope, focus: str, busy: bool) -> None:
    session = ScriptedSession()
    exercise(session)
    session.status.queued = ["then write a test for it"]
    async with running(session) as (app, pilot):
        session.status.busy = busy
        await settled(session, pilot)
        if focus == "tree":
            await app.bench.editor.toggle_tree()
        done: list[str] = []
        for row in rows(scope):
            record(app, row, done)
        widget = app.bench.query_one(f"#{focus}", Widget)
        for row in rows(scope):
            for key in row.keys:
                app.bench.set_focus(widget)
                await pilot.press(key)
                assert done == [row.action], f"{key} with the focus in {focus}"
                done.clear()


def record(app: DuettoApp, row: Key, done: list[str]) -> None:
    """Note the row's action instead of doing it."""
    bench = app.bench
    name = row.action.partition("(")[0]

    def note(*parameters: object) -> bool:
        said = ", ".join(map(repr, parameters))
        done.append(f"{name}({said})" if parameters else name)
        return True

    def noted() -> bool:
        done.append(row.action)
        return True

    owners: dict[Scope, object] = {
        "global": bench,
        "queue": bench.query_one(QueueBox),
        "conversation": bench.transcript,
        "review": bench.transcript,
        "editor": bench.editor,
        "files": bench.editor.file_tree,
    }
    if row.scope == "prompt":
        bench.prompt_box.prompt._do[name] = noted
    elif name.startswith("app."):
        setattr(app, f"action_{name.removeprefix('app.')}", noted)
    else:
        setattr(owners[row.scope], f"action_{name}", note)


@pytest.mark.parametrize("key", sorted({key for row in KEYMAP for key in row.keys}))
def test_terminals_can_send_every_key(key: str) -> None:
    stream = InputStream()
    tokens = [*stream.feed(sent_for(key), 0.0), *stream.expire(1.0)]
    found = KeyWords().messages(tokens)
    assert [item.key for item in found if isinstance(item, events.Key)] == [key]
