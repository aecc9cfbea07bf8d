"""What there is a key for is found by its name too."""

from __future__ import annotations

import pytest
from textual.widgets import OptionList

from tests.support.scripted_app import exercise, running, settled
from tests.support.scripted_session import ScriptedSession
from tui.engine.intents import Switch
from tui.ui import theme
from tui.ui.commands import COMMANDS
from tui.ui.keymap import KEYMAP, rows, ways
from tui.ui.keys.key import SCOPES
from tui.ui.palette import KEYS_ONLY, OVER, Palette, offers


async def test_every_action_of_the_workbench_is_offered_once_with_its_keys() -> None:
    session = ScriptedSession()
    async with running(session) as (app, _):
        offered = {offer.title: offer.help for offer in offers(app, app.bench, app.screen)}
        count = len(list(offers(app, app.bench, app.screen)))
    assert len(offered) == count, "each has a title of its own"
    said = {"app.help", "app.quit", "review_turn", "undo_turn"}
    for scope in set(SCOPES) - set(OVER):
        for key in rows(scope):
            if key.action in KEYS_ONLY or key.action in said | {one.name for one in COMMANDS}:
                continue
            word = key.name.replace("_", " ").capitalize()
            mine = [keys for title, keys in offered.items() if title.startswith(f"{word}: ")]
            assert ", ".join(ways(key)) in mine, key.action
    for command in COMMANDS:
        assert (f"/{command.name}" in offered) is not bool(command.argument)
    assert "F7" in offered["/review"]


async def test_over_the_review_what_can_be_done_there_is_offered() -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session) as (app, pilot):
        await pilot.press("f7")
        await pilot.pause()
        assert app.screen is not app.bench
        titles = {offer.title for offer in offers(app, app.bench, app.screen)}
    for scope in OVER:
        for key in rows(scope):
            word = key.name.replace("_", " ").capitalize()
            assert any(title.startswith(f"{word}: ") for title in titles), key.action
    assert not any(title.startswith("/") for title in titles)


def test_what_is_not_offered_has_a_reason() -> None:
    assert set(KEYS_ONLY) <= {key.action for key in KEYMAP}
    assert all(KEYS_ONLY.values())


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


async def test_it_follows_a_change_of_colours_while_it_is_open() -> None:
    """A theme's file may be written anew, and a terminal may say late that it is light."""
    async with running(ScriptedSession()) as (app, pilot):
        await pilot.press("ctrl+p")
        await pilot.pause(0.1)
        box = app.screen.query_one("#--container")
        app.theme = "paper"
        await pilot.pause(0.05)
        await pilot.pause()
        assert box.styles.background.hex.lower() == theme.active().colours["panel"]
    theme.activate(theme.DEFAULT_THEME)


async def test_a_second_palette_over_the_help_or_right_after_the_first_one_breaks_nothing() -> None:
    async with running(ScriptedSession()) as (app, pilot):
        await pilot.press("ctrl+p", "f1", "ctrl+p", "f1")
        assert isinstance(app.screen, Palette)
        app.screen.dismiss()
        app.action_command_palette()
        await pilot.press("escape", "ctrl+p")
        assert [type(screen) for screen in app.screen_stack[1:]] == [Palette]


async def test_what_is_chosen_by_two_quick_enters_is_done_once() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        await pilot.press("ctrl+p", *"/deep")
        options = app.screen.query_one(OptionList)
        for _ in range(50):
            await pilot.pause(0.02)
            if options.option_count:
                break
        options.highlighted = 0
        options.action_select()
        options.action_select()
        await pilot.pause(0.1)
        assert app.screen is app.bench
        assert session.intents == [Switch("deep")]
