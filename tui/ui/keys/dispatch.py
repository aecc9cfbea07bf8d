"""Do what a row of the keymap does, wherever the focus is: palette and leader key need it."""

from __future__ import annotations

from textual import events
from textual.app import App

from tui.ui.keymap import stand_in
from tui.ui.keys.table import Key
from tui.ui.prompt.queue_list import QueueList
from tui.ui.screens.workbench import Workbench


async def act(app: App[object], bench: Workbench, key: Key) -> None:
    """Do it; the widget that does it is shown and gets the focus first."""
    if key.action.startswith("app."):
        await app.run_action(key.action)
    elif key.scope in ("turn", "diff"):
        await app.screen.run_action(key.action)
    elif key.scope == "global":
        await bench.action_command(key.action)
    elif key.scope == "prompt":
        prompt = bench.prompt_box.prompt
        if bench.focused is not prompt:
            bench.prompt_box.focus_prompt()
        prompt.post_message(events.Key(stand_in(key), None))
    else:
        await _act_in_pane(bench, key)


async def _act_in_pane(bench: Workbench, key: Key) -> None:
    """The keys go to the pane from now on."""
    if key.scope == "editor":
        bench.pane_actions.enter_editor()
        await bench.editor.run_action(key.action)
    elif key.scope == "files":
        if bench.focused is not bench.editor.dock.tree:
            await bench.action_command("tree")
        if (tree := bench.editor.dock.tree) is not None:
            await tree.run_action(key.action)
    elif key.scope == "queue":
        bench.pane_actions.queue()
        if isinstance(queue := bench.focused, QueueList):
            await queue.run_action(key.action)
    else:
        if bench.focused is not bench.transcript:
            bench.panes.show("conversation")
            bench.set_focus(bench.transcript)
        await bench.transcript.run_action(key.action)
