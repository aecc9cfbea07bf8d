"""A bracketed paste of a megabyte: one edit, one step to undo, no freeze."""

from __future__ import annotations

from time import process_time

import pytest
from textual import events

from tests.support.editor_app import EditorApp
from tests.support.fake_session import FakeSession

TEXT = "def f():\n    return 1\n"
PASTES = {
    "lines": "    value = compute(1, 'two')  # words\n" * 26_000,
    "one line": "word xyz " * 111_000,
    "windows": "some words\r\n" * 85_000,
    "escapes": "a\x1b[31m\x1b]52;c;eA==\x07\n" * 45_000,
    "wide": "漢字 👩\u200d👩\u200d👧\t" * 100_000,
}


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("name", PASTES)
async def test_a_megabyte_is_pasted_at_once(name: str, wrap: bool) -> None:
    app = EditorApp(FakeSession({"a.py": TEXT}), "a.py")
    async with app.run_test(size=(80, 24)) as pilot:
        editor, buffer = app.pane.editor, app.session.workspace.buffers["a.py"]
        editor.set_wrap(wrap)
        await pilot.press("down")
        start = process_time()
        editor.on_paste(events.Paste(PASTES[name]))
        rows = [editor.render_line(y).text for y in range(editor.size.height)]
        assert process_time() - start < 0.3
        pasted = PASTES[name].replace("\r\n", "\n")
        assert buffer.text() == TEXT.replace("    return", pasted + "    return", 1)
        assert not any("\x1b" in row or "\x07" in row for row in rows)
        editor.undo()
        assert buffer.text() == TEXT
        editor.undo(again=True)
        assert buffer.text().startswith("def f():\n" + pasted[:100])
