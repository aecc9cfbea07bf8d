"""Keys of the diff views, and of the review of a turn."""

from __future__ import annotations

from tui.ui.keys.key import Key

REVIEWING: tuple[Key, ...] = (
    Key("accept_hunk", ("a",), "turn", "Accept this hunk, go to the next", "accept", "pending"),
    Key("reject_hunk", ("r",), "turn", "Reject this hunk, go to the next", "reject", "pending"),
    Key(
        "reject_why",
        ("w",),
        "turn",
        "Reject this hunk with a sentence that the model gets",
        "why",
        "pending",
    ),
    Key("accept_file", ("f",), "turn", "Accept the hunks of this file", "file", "waiting"),
    Key("reject_file", ("F",), "turn", "Reject the hunks of this file"),
    Key("accept_all", ("A", "alt+a"), "turn", "Accept all hunks that are shown", "all", "waiting"),
    Key("reject_all", ("R", "alt+r"), "turn", "Reject all hunks that are shown"),
    Key("undo_decision", ("u",), "turn", "Take the last decision back", "undo"),
    Key("redo_decision", ("U",), "turn", "Bring it back"),
    Key(
        "edit_hunk",
        ("e",),
        "turn",
        "Edit the hunk in the editor, then Alt+Y accepts it; copy the text of one that was dropped",
    ),
    Key("which_hunks", ("t",), "turn", "The hunks of the last turn, or all that are pending"),
    Key("step(1)", ("n",), "diff", "Next hunk", "next"),
    Key("close", ("escape", "q", "f7", "alt+d"), "diff", "Back", "back"),
    Key("step(-1)", ("p",), "diff", "Previous hunk"),
    Key("step_file(1)", ("tab",), "diff", "Next file"),
    Key("step_file(-1)", ("shift+tab",), "diff", "Previous file"),
    Key(
        "go",
        ("enter",),
        "diff",
        "Go to the hunk in the editor; place an ambiguous one",
    ),
    Key("layout", ("s",), "diff", "Side by side, or in one column", "side by side"),
    Key("context", ("c",), "diff", "Show the whole files, or only the changes", "context"),
    Key(
        "against",
        ("d",),
        "diff",
        "The file against the disk, against HEAD, against the turn's start; then back",
        "diff",
    ),
    Key("scroll_rows(-1)", ("up", "k"), "diff", "Scroll up"),
    Key("scroll_rows(1)", ("down", "j"), "diff", "Scroll down"),
    Key("scroll_pages(-1)", ("pageup",), "diff", "Scroll up by a page"),
    Key("scroll_pages(1)", ("pagedown", "space"), "diff", "Scroll down by a page"),
    Key("scroll_home", ("home", "g"), "diff", "To the first change"),
    Key("scroll_end", ("end", "G"), "diff", "To the last change"),
    Key(
        "sideways(-1)",
        ("left",),
        "diff",
        "Scroll the lines to the left; of an ambiguous hunk: the previous place",
    ),
    Key(
        "sideways(1)",
        ("right",),
        "diff",
        "Scroll the lines to the right; of an ambiguous hunk: the next place",
    ),
    Key("app.help", ("f1", "alt+h"), "diff", "Show all keys and commands", "help"),
)
