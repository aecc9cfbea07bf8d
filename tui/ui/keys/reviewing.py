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
    Key(
        "accept_all",
        ("A",),
        "turn",
        "Accept all hunks that are shown",
        "all",
        "waiting",
        like="accept",
    ),
    Key("reject_all", ("R",), "turn", "Reject all hunks that are shown", like="reject"),
    Key("undo_decision", ("u",), "turn", "Take the last decision back", "undo"),
    Key("redo_decision", ("U",), "turn", "Bring it back"),
    Key(
        "edit_hunk",
        ("e",),
        "turn",
        "Edit the hunk in the editor, then {accept_edited} accepts it; copy the text of"
        " one that was dropped",
    ),
    Key("which_hunks", ("t",), "turn", "The hunks of the last turn, or all that are pending"),
    Key("step(1)", ("n",), "diff", "Next hunk", "next", called="next_hunk"),
    Key("close", ("escape", "q"), "diff", "Back", "back", like="review_turn"),
    Key("step(-1)", ("p",), "diff", "Previous hunk", called="previous_hunk"),
    Key("step_file(1)", ("tab",), "diff", "Next file", called="next_file"),
    Key("step_file(-1)", ("shift+tab",), "diff", "Previous file", called="previous_file"),
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
    Key("scroll_rows(-1)", ("up", "k"), "diff", "Scroll up", called="scroll_up"),
    Key("scroll_rows(1)", ("down", "j"), "diff", "Scroll down", called="scroll_down"),
    Key("scroll_pages(-1)", ("pageup",), "diff", "Scroll up by a page", called="page_up"),
    Key(
        "scroll_pages(1)",
        ("pagedown", "space"),
        "diff",
        "Scroll down by a page",
        called="page_down",
    ),
    Key("scroll_home", ("home", "g"), "diff", "To the first change"),
    Key("scroll_end", ("end", "G"), "diff", "To the last change"),
    Key(
        "sideways(-1)",
        ("left",),
        "diff",
        "Scroll the lines to the left; of an ambiguous hunk: the previous place",
        called="scroll_left",
    ),
    Key(
        "sideways(1)",
        ("right",),
        "diff",
        "Scroll the lines to the right; of an ambiguous hunk: the next place",
        called="scroll_right",
    ),
    Key("app.help", (), "diff", "Show all keys and commands", "help", like="help"),
)
