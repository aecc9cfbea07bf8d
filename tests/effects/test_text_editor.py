"""The user's own editor: what comes back from it, and what is said where nothing does."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.tables import each
from tui.effects import text_editor
from tui.effects.text_editor import TextEditor, left_behind


def script(folder: Path, body: str, name: str = "ed") -> str:
    """An editor that does this; ``$f`` is its file."""
    program = folder / name
    program.write_text(f"#!/bin/sh\nfor f; do :; done\n{body}\n")
    program.chmod(0o755)
    return str(program)


def editor(folder: Path, body: str, **more: str) -> TextEditor:
    env = {"PATH": os.environ["PATH"], "EDITOR": f"'{script(folder, body)}'"} | more
    return TextEditor(folder / "state", env)


def left(folder: Path) -> list[Path]:
    """Files that the editor's run left behind."""
    return [path for path in (folder / "state").rglob("*") if path.is_file()]


async def test_the_file_is_private(tmp_path: Path) -> None:
    edited = await editor(tmp_path, 'ls -l "$f" | cut -c1-10 > "$f"').edit("x")
    assert edited.text == "-rw-------"


@each(
    "body, words",
    [
        ("exit 1", "ended with exit code 1"),
        ('rm "$f"', "removed its file"),
        ("kill -9 $$", "ended with signal 9"),
        ('rm "$f"; mkdir "$f"', "cannot be read"),
        ('rm "$f"; mkfifo "$f"', "not a file any more"),
    ],
)
async def test_an_editor_that_fails_leaves_the_draft(tmp_path: Path, body: str, words: str) -> None:
    edited = await editor(tmp_path, body).edit("the draft")
    assert edited.text is None
    assert words in edited.said
    assert "the text is as it was" in edited.said.lower()
    assert left(tmp_path) == []


@each(
    "body",
    [
        'echo much work > "$f"; kill -9 $$',
        'echo much work > "$f"; exit 1',
        'echo put aside > "$f.save"; kill -1 $$',
        'printf "caf\\351" > "$f"',
        'printf "\\377" > "$f"',
    ],
)
async def test_what_cannot_come_back_stays_where_it_is_said(tmp_path: Path, body: str) -> None:
    edited = await editor(tmp_path, body).edit("the draft")
    assert edited.text is None
    assert any(
        f"{place}." in edited.said for file in left(tmp_path) for place in (file, file.parent)
    )


@each(
    "env, words",
    [
        ({"EDITOR": "vim 'x"}, "which is not a command"),
        ({"EDITOR": "no-such-editor -w"}, "there is no program 'no-such-editor'"),
        ({"VISUAL": "  ", "EDITOR": ""}, "There is no editor: set EDITOR"),
    ],
)
async def test_no_editor_is_said_before_the_terminal_is_lent(
    tmp_path: Path, env: dict[str, str], words: str
) -> None:
    opened = TextEditor(tmp_path, {"PATH": str(tmp_path)} | env)
    assert words in opened.refusal()
    assert (await opened.edit("x")).text is None


async def test_a_window_that_does_not_wait_is_told(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "EDITOR": script(tmp_path, "exit 0", "code")}
    edited = await TextEditor(tmp_path, env).edit("x")
    assert edited.text is None
    assert "code --wait" in edited.said


async def broken_off(opened: TextEditor, folder: Path, until: str) -> None:
    """Until the editor has made a file of this name duetto lives."""
    task = asyncio.create_task(opened.edit("the draft"))
    async with asyncio.timeout(60):
        while not any(folder.rglob(until)):
            await asyncio.sleep(0.01)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_where_duetto_is_ended_what_was_saved_stays(tmp_path: Path) -> None:
    opened = editor(tmp_path, 'echo an hour of work > "$f"; : > "$f.sign"; exec sleep 20')
    assert opened.written() is None
    await broken_off(opened, tmp_path, "prompt.md.sign")
    assert opened.written() == "an hour of work"
    said = await opened.leave()
    [folder] = left_behind(tmp_path / "state")
    assert said == f"what your editor had is in {folder}"
    assert (folder / "prompt.md").read_text() == "an hour of work\n"
    assert await opened.leave() == ""


async def test_where_nothing_was_written_nothing_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_editor, "_GRACE_S", 60.0)
    opened = editor(tmp_path, f": > '{tmp_path}/begun'; exec sleep 200")
    await broken_off(opened, tmp_path, "begun")
    assert left_behind(tmp_path / "state") == []  # this duetto lives
    assert await opened.leave() == ""
    assert left(tmp_path) == []
