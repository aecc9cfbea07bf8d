"""Keys that duetto adds to those of every editor (`tui.ui.editor.keys`), for the editor pane."""

from __future__ import annotations

from tui.ui.keys.key import Key

EDITING: tuple[Key, ...] = (
    Key("undo", ("ctrl+z",), "editor", "Undo your own last edit, never the model's", "undo"),
    Key("redo", ("ctrl+y", "ctrl+shift+z"), "editor", "Redo your own edit"),
    Key(
        "find",
        ("ctrl+f",),
        "editor",
        "Find in this file; in the bar Enter and Shift+Enter step, Alt+C is for upper and lower"
        " case, Alt+W for whole words, Alt+X for a regular expression, Alt+I for the selection",
        "find",
    ),
    Key(
        "replace",
        ("ctrl+r",),
        "editor",
        "Find and replace in this file; in the bar Tab goes to the other field, Enter replaces one"
        " and Alt+Enter (or Ctrl+J) all; $1 or \\1 is what the first group matched",
    ),
    Key(
        "toggle_comment",
        ("ctrl+underscore", "ctrl+slash"),
        "editor",
        "Make the lines comments, or take the signs off again (terminals send Ctrl+/ as Ctrl+_)",
    ),
    Key(
        "duplicate",
        ("ctrl+d",),
        "editor",
        "Duplicate the lines, or what is selected in one",
    ),
    Key(
        "move_lines(-1)",
        ("alt+up",),
        "editor",
        "Move the lines up",
        called="move_lines_up",
        short="move the lines up",
    ),
    Key(
        "move_lines(1)",
        ("alt+down",),
        "editor",
        "Move the lines down",
        called="move_lines_down",
        short="move the lines down",
    ),
    Key("bracket", ("ctrl+right_square_bracket",), "editor", "Go to the matching bracket"),
    Key("outline", ("ctrl+t",), "editor", "Go to a function, class or heading of this file"),
    Key("close_tab", ("ctrl+w",), "editor", "Close this tab"),
    Key(
        "goto_line",
        ("alt+g", "ctrl+g"),
        "editor",
        "Go to a line, line:column, or +3 and -3",
        short="go to a line",
    ),
    Key(
        "step_tab(1)",
        ("ctrl+pagedown", "alt+full_stop"),
        "editor",
        "Next file",
        called="next_tab",
        short="next file",
    ),
    Key(
        "step_tab(-1)",
        ("ctrl+pageup", "alt+comma"),
        "editor",
        "Previous file",
        called="previous_tab",
        short="previous file",
    ),
)
