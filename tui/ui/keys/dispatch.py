"""Do what a row of the keymap does, wherever the focus is: palette and leader key need it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events

from tui.ui.keymap import stand_in
from tui.ui.keys.table import Key, Scope
from tui.ui.screens.workbench import Workbench

if TYPE_CHECKING:
    from typing import Any

    from textual.app import App
    from textual.screen import Screen


def scopes_of(screen: Screen[Any]) -> tuple[Scope, ...]:
    """The scopes whose keys work on this screen now, the nearest first; none: it has its own keys.

    Unlike the footer's they name prompt and conversation too.
    """
    if not isinstance(screen, Workbench):
        scopes: tuple[Scope, ...] = getattr(screen, "scopes", ())
        return scopes
    focused = screen.focused
    if focused is screen.transcript:
        chosen = screen.transcript.selection.hunk is not None
        return ("review", "conversation", "global") if chosen else ("conversation", "global")
    if screen.in_editor(focused):
        in_tree = focused is screen.editor.dock.tree
        return ("files", "editor", "global") if in_tree else ("editor", "global")
    return ("queue" if screen.prompt_box.in_queue else "prompt", "global")


def way_out(screen: Screen[Any], closes: str = "closes") -> str:
    """What Esc does now on a screen over the workbench, which it otherwise ``closes``."""
    stops = getattr(screen.app, "stops_first", False)
    return "Esc stops the answer" if stops else f"Esc {closes}"


async def act(app: App[object], bench: Workbench, key: Key) -> None:
    """Do it; the widget that does it gets the focus first."""
    if key.action.startswith("app."):
        await app.run_action(key.action)
    elif key.scope in ("turn", "diff"):
        await app.screen.run_action(key.action)
    elif key.scope == "global":
        await bench.run_action(key.action)
    elif key.scope == "prompt":
        prompt = bench.prompt_box.prompt
        if bench.focused is not prompt:
            bench.prompt_box.focus_prompt()
        prompt.post_message(events.Key(stand_in(key), None))
    else:
        await _in_its_place(bench, key)


async def _in_its_place(bench: Workbench, key: Key) -> None:
    """In a pane: it is shown, and the keys go there from now on."""
    if key.scope == "editor":
        bench.enter_editor()
        await bench.editor.run_action(key.action)
    elif key.scope == "files":
        if bench.focused is not bench.editor.dock.tree:
            await bench.action_tree()
        if (tree := bench.editor.dock.tree) is not None:
            await tree.run_action(key.action)
    elif key.scope == "queue":
        if bench.prompt_box.focus_queue() and (queue := bench.focused) is not None:
            await queue.run_action(key.action)
        else:
            bench.action_queue()
    else:
        if bench.focused is not bench.transcript:
            bench.panes.show("conversation")
            bench.set_focus(bench.transcript)
        await bench.transcript.run_action(key.action)
