"""What there is a key for is found by its name too."""

from __future__ import annotations

import re

import pytest
from textual.widgets import OptionList

from tests.support.scripted_app import exercise, running, settled
from tests.support.scripted_session import ScriptedSession
from tui.ui.commands import COMMANDS
from tui.ui.keymap import key_name, rows
from tui.ui.palette import offers

UNSAID = {"interrupt", "cancel", "app.command_palette"}


async def test_every_key_of_editor_and_workbench_is_named_once() -> None:
    session = ScriptedSession()
    async with running(session) as (app, _):
        offered = list(offers(app.bench))
    titles = [offer.title for offer in offered]
    assert len(titles) == len(set(titles))
    words = [offer.help for offer in offered]
    for scope in ("global", "editor"):
        for key in rows(scope):
            if key.action not in UNSAID:
                name = rf"(?<![\w+]){re.escape(key_name(key.keys[0]))}(?![\w+])"
                named = [said for said in words if re.search(name, said)]
                assert len(named) == 1, key.action
    for command in COMMANDS:
        assert (f"/{command.name}" in titles) is not bool(command.argument)


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
@pytest.mark.parametrize(
    ("typed", "focus"),
    [
        ("replace", "find-needle"),
        ("find in", "find-needle"),
        ("goto", "find-needle"),
        ("/tree", "tree"),
    ],
)
async def test_it_does_what_the_key_does(size: tuple[int, int], typed: str, focus: str) -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session, size) as (app, pilot):
        await settled(session, pilot)
        await pilot.press("ctrl+p")
        await pilot.pause()
        await pilot.press(*typed)
        for _ in range(50):
            await pilot.pause(0.02)
            if app.screen.query_one(OptionList).option_count:
                break
        await pilot.press("enter")
        for _ in range(50):
            await pilot.pause(0.02)
            if app.focused is not None and app.focused.id == focus:
                break
        assert app.focused is not None
        assert app.focused.id == focus


@pytest.mark.parametrize("name", ["tree", "split", "wrap", "follow"])
async def test_what_the_editor_pane_shows_has_commands(name: str) -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session) as (app, pilot):
        pane = app.bench.editor
        before = (pane.tree_open, pane.split, pane.editor.wrap, pane.following)
        assert app.bench.run_slash(f"/{name}")
        for _ in range(50):
            await pilot.pause(0.02)
            after = (pane.tree_open, pane.split, pane.editor.wrap, pane.following)
            if after != before:
                break
        at = ("tree", "split", "wrap", "follow").index(name)
        assert [a != b for a, b in zip(before, after, strict=True)] == [i == at for i in range(4)]
