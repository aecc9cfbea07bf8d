"""Keys that people bring along from other editors and shells."""

from __future__ import annotations

import pytest

from tests.ui.editor.test_editor import desk
from tui.core.text.change_set import Change, Position
from tui.errors import EditRefused

LINES = "one two three\nfour\n\tfive\n"


KEYS = [
    (["alt+f", "alt+f", "alt+b"], LINES, (0, 4)),
    (["ctrl+e"], LINES, (0, 13)),
    (["alt+right", "ctrl+k"], "one\nfour\n\tfive\n", (0, 3)),
    (["end", "ctrl+k"], "one two threefour\n\tfive\n", (0, 13)),
    (["end", "ctrl+u"], "\nfour\n\tfive\n", (0, 0)),
    (["down", "ctrl+u"], "one two threefour\n\tfive\n", (0, 13)),
    (["alt+d"], " two three\nfour\n\tfive\n", (0, 0)),
    (["end", "alt+backspace"], "one two \nfour\n\tfive\n", (0, 8)),
    (["alt+shift+right", "delete"], " two three\nfour\n\tfive\n", (0, 0)),
    (
        ["shift+end", "shift+delete", "ctrl+end", "shift+insert"],
        "\nfour\n\tfive\none two three",
        (3, 13),
    ),
    (["ctrl+shift+k"], "four\n\tfive\n", (0, 0)),
    (["ctrl+enter", "x"], "one two three\nx\nfour\n\tfive\n", (1, 1)),
    (["down", "down", "ctrl+shift+enter", "x"], "one two three\nfour\n\tx\n\tfive\n", (2, 2)),
    (["down", "ctrl+x", "ctrl+v", "ctrl+v"], "one two three\nfour\nfour\n\tfive\n", (3, 0)),
    (["ctrl+a", "ctrl+d"], LINES + "one two three\nfour\n\tfive\n", (6, 0)),
    (["x", "ctrl+z", "ctrl+shift+z"], "x" + LINES, (0, 1)),
    (["super+backspace"], LINES, (0, 0)),
]


async def test_keys() -> None:
    for keys, text, cursor in KEYS:
        async with desk(LINES) as d:
            await d.press(*keys)
            assert (d.text.rstrip("\n"), d.cursor) == (text.rstrip("\n"), cursor), keys


async def test_a_read_only_file_says_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk("text\n") as d:
        said: list[str] = []
        monkeypatch.setattr(d.app, "notify", lambda words, **more: said.append(words))

        def refuse(path: str, start: Position, end: Position, text: str, group: str = "") -> Change:
            raise EditRefused("a.py is read-only.")

        def refuse_all(path: str) -> Position | None:
            raise EditRefused("a.py is read-only.")

        monkeypatch.setattr(d.session.workspace, "edit", refuse)
        monkeypatch.setattr(d.session.workspace, "undo", refuse_all)
        monkeypatch.setattr(d.session.workspace, "redo", refuse_all)
        await d.press("ctrl+z", "ctrl+y")
        await d.press(*"abc", "enter", "backspace", "ctrl+d", "alt+down", "ctrl+underscore")
        assert said == ["a.py is read-only."]
        assert d.text == "text\n"
        assert not d.session.touches
