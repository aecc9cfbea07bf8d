"""The user's own editor: what comes back from it, and what is said where nothing does."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tui.effects.text_editor import TextEditor


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


async def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    blank = tmp_path / "with blank"
    blank.mkdir()
    opened = editor(blank, 'printf " and größer 📦\\r\\nmore\\n" >> "$f"')
    edited = await opened.edit("the draft")
    assert edited.text == "the draft and größer 📦\nmore"
    assert edited.said == ""
    assert left(blank) == []


async def test_arguments_of_the_command_come_first(tmp_path: Path) -> None:
    program = script(tmp_path, 'echo "$1 $2" > "$f"')
    env = {"PATH": "", "EDITOR": "none", "VISUAL": f"{program} -c 'set wrap'"}
    edited = await TextEditor(tmp_path, env).edit("x")
    assert edited.text == "-c set wrap"


async def test_the_file_is_private(tmp_path: Path) -> None:
    edited = await editor(tmp_path, 'ls -l "$f" | cut -c1-10 > "$f"').edit("x")
    assert edited.text == "-rw-------"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("exit 1", "ended with exit code 1"),
        ('rm "$f"', "removed its file"),
        ("kill -9 $$", "ended with signal 9"),
        ('rm "$f"; mkdir "$f"', "cannot be read"),
    ],
)
async def test_an_editor_that_fails_leaves_the_draft(tmp_path: Path, body: str, words: str) -> None:
    edited = await editor(tmp_path, body).edit("the draft")
    assert edited.text is None
    assert words in edited.said
    assert "the draft is as it was" in edited.said.lower()
    assert left(tmp_path) == []


@pytest.mark.parametrize(
    "body",
    ['echo much work > "$f"; kill -9 $$', 'printf "caf\\351" > "$f"', 'printf "\\377" > "$f"'],
)
async def test_what_cannot_come_back_stays_where_it_is_said(tmp_path: Path, body: str) -> None:
    edited = await editor(tmp_path, body).edit("the draft")
    assert edited.text is None
    [file] = left(tmp_path)
    assert str(file) in edited.said


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ({"EDITOR": "vim 'x"}, "which is no command"),
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


async def test_ctrl_c_is_the_editors(tmp_path: Path) -> None:
    """The terminal sends the signal to both; ours must not end of it, the editor may."""
    before = signal.getsignal(signal.SIGINT)
    edited = await editor(tmp_path, "kill -INT $PPID; kill -INT $$; sleep 5").edit("x")
    assert "signal 2" in edited.said
    assert signal.getsignal(signal.SIGINT) == before
