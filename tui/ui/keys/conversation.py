"""Keys of the conversation, and of the hunks under review in it."""

from __future__ import annotations

from tui.ui.keys.key import Key

CONVERSATION: tuple[Key, ...] = (
    Key(
        "activate",
        ("enter",),
        "conversation",
        "Unfold, open the file at a location, show the hunk in the editor; place an ambiguous one",
    ),
    Key(
        "peek",
        ("space",),
        "conversation",
        "Show the lines of a hunk in its card; fold or unfold anything else",
    ),
    Key("prompt", ("tab", "shift+tab", "i"), "conversation", "Back to the prompt"),
    Key("previous_stop", ("up", "k"), "conversation", "Previous hunk, location or fold"),
    Key("next_stop", ("down", "j"), "conversation", "Next hunk, location or fold"),
    Key("previous_message", ("K",), "conversation", "Previous message: prompt or answer"),
    Key("next_message", ("J",), "conversation", "Next message"),
    Key(
        "copy_block",
        ("c", "y"),
        "conversation",
        "Copy what is selected: code, the text of a hunk, output, a message",
        "copy",
    ),
    Key(
        "copy_message",
        ("C",),
        "conversation",
        "Copy the whole message, command or patch; with nothing selected the newest answer",
    ),
    Key(
        "search",
        ("ctrl+f",),
        "conversation",
        "Search the conversation: Enter or ↑ goes to older matches, ↓ to newer ones",
        "search",
    ),
    Key(
        "scroll_pages(-1)",
        ("pageup",),
        "conversation",
        "Scroll up by a page",
        called="page_up",
    ),
    Key(
        "scroll_pages(1)",
        ("pagedown",),
        "conversation",
        "Scroll down by a page",
        called="page_down",
    ),
    Key("scroll_home", ("home", "g"), "conversation", "Scroll to the first line"),
    Key("scroll_end", ("end", "G"), "conversation", "Scroll to the last line and stay there"),
    Key("accept_hunk", ("a",), "review", "Accept this hunk", "accept", "pending"),
    Key("reject_hunk", ("r",), "review", "Reject this hunk", "reject", "pending"),
    Key(
        "reject_why",
        ("w",),
        "review",
        "Reject this hunk with a sentence that the model gets",
        "why",
        "pending",
    ),
    Key("accept_all", ("A",), "review", "Accept all pending hunks"),
    Key("reject_all", ("R",), "review", "Reject all pending hunks"),
    Key("undo_decision", ("u",), "review", "Take the last decision back"),
    Key("redo_decision", ("U",), "review", "Bring it back"),
    Key("next_hunk", ("n",), "review", "Next hunk", "next", "pending"),
    Key("previous_hunk", ("p",), "review", "Previous hunk"),
    Key(
        "edit_hunk",
        ("e",),
        "review",
        "Edit the hunk's text in the editor, then {accept_edited} accepts it; copy the text"
        " of a dropped one",
    ),
    Key(
        "next_candidate(-1)",
        ("left",),
        "review",
        "Previous place of an ambiguous hunk",
        called="previous_candidate",
    ),
    Key("next_candidate", ("right",), "review", "Next place of an ambiguous hunk"),
)
