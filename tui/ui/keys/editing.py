"""Keys that duetto adds to those of every editor (`tui.ui.editor.keys`), for the editor pane."""

from __future__ import annotations

from tui.ui.keys.key import Key

EDITING: tuple[Key, ...] = (
    Key("undo", ("ctrl+z",), "editor", "Undo your own last edit, never the model's", "undo"),
    Key("redo", ("ctrl+y",), "editor", "Redo your own edit"),
    Key("find", ("ctrl+f",), "editor", "Find in this file", "find"),
    Key("close_tab", ("ctrl+w",), "editor", "Close this tab"),
    Key("goto_line", ("alt+g",), "editor", "Go to a line, or line:column"),
    Key("step_tab(1)", ("ctrl+pagedown", "alt+full_stop"), "editor", "Next file"),
    Key("step_tab(-1)", ("ctrl+pageup", "alt+comma"), "editor", "Previous file"),
)
