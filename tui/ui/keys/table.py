"""Every action of duetto, by scope: its keys, its sentence, its words in the footer."""

from __future__ import annotations

from typing import Literal, NamedTuple

Scope = Literal[
    "global",
    "prompt",
    "queue",
    "conversation",
    "command",
    "review",
    "turn",
    "diff",
    "editor",
    "files",
]
SCOPES: tuple[Scope, ...] = (
    "global",
    "prompt",
    "queue",
    "conversation",
    "command",
    "review",
    "turn",
    "diff",
    "editor",
    "files",
)
SCOPE_TITLES: dict[Scope, str] = {
    "global": "Everywhere",
    "prompt": "In the prompt",
    "queue": "On a queued message",
    "conversation": "In the conversation",
    "command": "On a command of the model",
    "review": "On a hunk",
    "turn": "In the review of a turn",
    "diff": "In the review and in a diff",
    "editor": "In the editor",
    "files": "In the file tree",
}
"""Headings of the help screen."""

When = Literal[
    "always",
    "idle",
    "busy",
    "stoppable",
    "pending",
    "waiting",
    "failed",
    "under",
    "editing",
    "queued",
    "asked",
    "waited",
]
"""The state in which the footer shows a key: nothing streams, something does, that or a command
can be stopped, the hunk (or some) can be decided on, some wait for that or to be placed or looked
at, the last run failed and can be sent, the prompt has the focus under the editor, a hunk was
opened for editing, messages are queued, a question waits, the answer waits for a command."""


class Key(NamedTuple):
    """One action and the keys that reach it."""

    action: str
    keys: tuple[str, ...]
    """Textual's names of the keys; the first one is shown in the footer."""
    help: str
    """A sentence for the help screen and the docs."""
    footer: str = ""
    """One or two words for the footer; empty: not shown there."""
    when: When = "always"
    scope: Scope = "global"
    """In `TABLE` the heading says it."""
    priority: bool = False
    """Taken before the focused widget sees the key, as all of the scope "global" are."""
    like: str = ""
    """Name of an action of the scope "global" whose keys do this too, in this row's scope."""
    letter: str = ""
    """What does it behind the leader key; empty: the key that does it with Alt, if one does."""
    group: str = ""
    """Its heading in the list behind the leader key; empty: that of its scope."""
    short: str = ""
    """A few words for that list; empty: the sentence, as far as there is room."""
    called: str = ""
    """Its name in ``config.toml``, where the action itself is none."""

    @property
    def name(self) -> str:
        """What ``[keys.SCOPE]`` of ``config.toml`` calls it."""
        return self.called or self.action.removeprefix("app.")


TABLE: dict[Scope, tuple[Key, ...]] = {
    "global": (
        Key(
            "interrupt",
            ("escape",),
            "Stop the answer now; what is painted stays; with nothing streaming, close what is"
            " open",
            "stop",
            "stoppable",
        ),
        Key(
            "cancel",
            ("ctrl+c",),
            "Copy the selection; else stop the answer; else clear the draft (kept in the history);"
            " twice with nothing typed: quit",
        ),
        Key(
            "question",
            ("alt+n",),
            "Go to the question over the prompt: may this command run?",
            "answer",
            "asked",
            group="Go to",
            short="the question that waits",
        ),
        Key(
            "accept_edited",
            ("alt+y",),
            "Accept the hunk that e opened for editing, and go on with the review",
            "accept hunk",
            "editing",
            group="Hunks",
            short="accept the edited hunk",
        ),
        Key(
            "accept",
            ("alt+a",),
            "Accept all pending hunks and write the files",
            "accept all",
            "pending",
            group="Hunks",
            short="accept all hunks",
        ),
        Key(
            "reject",
            ("alt+r",),
            "Reject all pending hunks and take their text back",
            "reject all",
            "pending",
            group="Hunks",
            short="reject all hunks",
        ),
        Key(
            "review",
            ("alt+j",),
            "Go to the next pending hunk and review it",
            "review",
            "waiting",
            group="Hunks",
            short="next pending hunk",
        ),
        Key(
            "review_turn",
            ("f7", "alt+d"),
            "Review the whole turn: all files, all hunks, side by side; while it streams or after",
            "whole turn",
            "waiting",
            group="Hunks",
            short="review the whole turn",
        ),
        Key(
            "send_failure",
            ("alt+s",),
            "Send the failed test run to the model",
            "send failure",
            "failed",
            group="Model and tests",
            short="send the failed run",
        ),
        Key(
            "queue",
            ("alt+q",),
            "Go to the queued messages: edit, send or remove one",
            "queue",
            "queued",
            group="Go to",
            short="queued messages",
        ),
        Key(
            "next_pane",
            ("f6", "alt+o"),
            "Move between the conversation and the editor; where only one has room: show the other",
            "pane",
            group="Go to",
            short="the other pane",
        ),
        Key(
            "card",
            ("alt+k",),
            "From lines in the editor to the card of the hunk that wrote them; from the card back"
            " to its lines",
            group="Hunks",
            short="from lines to card, and back",
        ),
        Key(
            "search",
            ("alt+slash",),
            "Search the conversation",
            group="Go to",
            short="search the conversation",
        ),
        Key(
            "undo_turn",
            ("alt+u",),
            "Undo the model's last turn, byte for byte",
            group="Hunks",
            short="undo the model's turn",
        ),
        Key(
            "pane('conversation')",
            ("alt+1",),
            "Show the conversation; where it is in sight: go into it",
            called="show_conversation",
            group="Go to",
            short="conversation",
        ),
        Key(
            "pane('editor')",
            ("alt+2",),
            "Show the editor; where it is in sight: go into it",
            "type in it",
            "under",
            called="show_editor",
            group="Go to",
            short="editor",
        ),
        Key(
            "switch",
            ("f2", "alt+m"),
            "Switch between the fast and the deep model, idle or in the middle of an answer",
            "fast/deep",
            group="Model and tests",
            short="fast ↔ deep model",
        ),
        Key(
            "effort",
            ("f3", "alt+e"),
            "Next reasoning effort of the current model",
            group="Model and tests",
            short="next effort",
        ),
        Key(
            "verify",
            ("f5", "alt+v"),
            "Run the project's tests",
            "verify",
            "idle",
            group="Model and tests",
            short="run the tests",
        ),
        Key("open_file", ("ctrl+o",), "Open a file by a few letters of its name", "open", "idle"),
        Key("save", ("ctrl+s",), "Save the file in the editor: your text and the accepted hunks"),
        Key(
            "tree",
            ("f4", "alt+t"),
            "The file tree with git's states: letters filter it, {files.open_row} opens,"
            " {files.open_beside} opens beside",
            "files",
            "idle",
            group="Go to",
            short="file tree",
        ),
        Key(
            "split",
            ("ctrl+backslash", "alt+p"),
            "Two editors side by side, or one again; what the model writes is followed in the one"
            " that you are not in",
            group="Editor",
            short="two editors, or one",
        ),
        Key(
            "other_side",
            ("alt+3",),
            "Go to the other one of two editors",
            group="Go to",
            short="the other editor",
        ),
        Key(
            "follow",
            ("alt+l",),
            "Follow the landing edit, or let go of it",
            "follow",
            "busy",
            group="Editor",
            short="follow the edit",
        ),
        Key(
            "wrap",
            ("alt+z",),
            "Wrap long lines in the editor, or don't",
            group="Editor",
            short="wrap long lines",
        ),
        Key(
            "removed",
            ("alt+minus",),
            "Hide the removed lines that are shown struck while a hunk is pending, or show them",
            group="Editor",
            short="removed lines",
        ),
        Key(
            "app.help",
            ("f1", "alt+h"),
            "Show all keys and commands",
            "help",
            group="Go to",
            short="all keys and commands",
        ),
        Key(
            "app.leader",
            ("ctrl+n",),
            "List what can be done here, then take a key of the list: the one that does it with"
            " Alt, for keyboards and terminals that have no Alt",
            "more",
            "idle",
        ),
        Key("app.command_palette", ("ctrl+p",), "Search all commands and themes", called="palette"),
        Key(
            "app.quit",
            ("ctrl+q",),
            "Leave; asks first when something would be lost",
            "quit",
            "idle",
        ),
    ),
    "prompt": (
        Key(
            "send",
            ("enter",),
            "Send; while an answer streams: stop it and redirect with this instruction",
        ),
        Key(
            "steer",
            ("alt+enter", "ctrl+t"),
            "Add to the answer that streams without stopping it, where the model can; else queue"
            " (Ctrl+T: for terminals that keep Alt+Enter to themselves)",
            short="steer with the draft",
        ),
        Key("newline", ("shift+enter", "ctrl+j"), "New line"),
        Key(
            "complete",
            ("tab",),
            "Take the suggestion or completion; else queue the draft until the answer is done",
        ),
        Key(
            "older",
            ("up",),
            "On the first line: the previous prompt of the history; with nothing typed: the"
            " question or the queue, if one waits there",
        ),
        Key("newer", ("down",), "On the last line: the next prompt of the history"),
        Key(
            "unfold",
            ("alt+x",),
            "Show the text behind a label like [pasted 200 lines]; Backspace removes it as one",
            short="show the folded paste",
        ),
        Key(
            "search_past",
            ("ctrl+r",),
            "Look for an earlier prompt in the history; {prompt.send} takes it, Esc brings the"
            " draft back",
        ),
        Key(
            "edit_outside",
            ("ctrl+g",),
            "The draft in your own editor (VISUAL or EDITOR); what you save there comes back",
        ),
        Key(
            "mode",
            ("shift+tab",),
            "What the model's commands may do: manual (you are asked), sandbox (confined, without"
            " questions), plan (only read), and round again",
        ),
        Key("search", ("ctrl+f",), "Search the conversation"),
        Key("page_up", ("pageup",), "Scroll the conversation up"),
        Key("page_down", ("pagedown",), "Scroll the conversation down"),
        Key(
            "unqueue",
            ("alt+up",),
            "Take the last queued message back into the prompt",
            short="take back from the queue",
        ),
    ),
    "queue": (
        Key(
            "edit_queued",
            ("enter", "e"),
            "Edit the message in the prompt; {prompt.send} or {prompt.complete} puts it back to its"
            " place",
            "edit",
        ),
        Key(
            "remove_queued",
            ("d", "delete"),
            "Remove the message; the prompt's history keeps it",
            "remove",
        ),
        Key(
            "send_queued",
            ("s",),
            "Send the message now; while an answer streams: stop it and redirect",
            "send now",
        ),
        Key("step_queued(-1)", ("up", "k"), "The message before", called="previous_queued"),
        Key(
            "step_queued(1)",
            ("down", "j"),
            "The message behind; below the last: the prompt",
            called="next_queued",
        ),
        Key("prompt", ("tab", "shift+tab", "i"), "Back to the prompt", "prompt"),
    ),
    "conversation": (
        Key(
            "activate",
            ("enter",),
            "Unfold, open the file at a location, show the hunk in the editor; place an ambiguous"
            " one",
        ),
        Key(
            "peek", ("space",), "Show the lines of a hunk in its card; fold or unfold anything else"
        ),
        Key("prompt", ("tab", "shift+tab", "i"), "Back to the prompt"),
        Key("previous_stop", ("up", "k"), "Previous hunk, location or fold"),
        Key("next_stop", ("down", "j"), "Next hunk, location or fold"),
        Key(
            "step_message(-1)",
            ("K",),
            "Previous message: prompt or answer",
            called="previous_message",
        ),
        Key("step_message(1)", ("J",), "Next message", called="next_message"),
        Key(
            "copy_block",
            ("c", "y"),
            "Copy what is selected: code, the text of a hunk, output, a message",
            "copy",
        ),
        Key(
            "copy_message",
            ("C",),
            "Copy the whole message, command or patch; with nothing selected the newest answer",
        ),
        Key(
            "search",
            ("ctrl+f",),
            "Search the conversation: Enter or ↑ goes to older matches, ↓ to newer ones",
            "search",
        ),
        Key("scroll_pages(-1)", ("pageup",), "Scroll up by a page", called="page_up"),
        Key("scroll_pages(1)", ("pagedown",), "Scroll down by a page", called="page_down"),
        Key("scroll_home", ("home", "g"), "Scroll to the first line"),
        Key("scroll_end", ("end", "G"), "Scroll to the last line and stay there"),
    ),
    "command": (
        Key(
            "task('background')",
            ("b",),
            "Let the command go on behind the answer, which no longer waits for it",
            "background",
            "waited",
            called="background",
        ),
        Key(
            "task('stop')",
            ("s",),
            "Stop the command, and all that it started",
            "stop it",
            called="stop",
        ),
    ),
    "review": (
        Key("accept_hunk", ("a",), "Accept this hunk", "accept", "pending"),
        Key("reject_hunk", ("r",), "Reject this hunk", "reject", "pending"),
        Key(
            "reject_why",
            ("w",),
            "Reject this hunk with a sentence that the model gets",
            "why",
            "pending",
        ),
        Key("accept_all", ("A",), "Accept all pending hunks"),
        Key("reject_all", ("R",), "Reject all pending hunks"),
        Key("undo_decision", ("u",), "Take the last decision back"),
        Key("redo_decision", ("U",), "Bring it back"),
        Key("next_hunk", ("n",), "Next hunk", "next", "pending"),
        Key("previous_hunk", ("p",), "Previous hunk"),
        Key(
            "edit_hunk",
            ("e",),
            "Edit the hunk's text in the editor, then {accept_edited} accepts it; copy the text"
            " of one that is not there",
        ),
        Key(
            "next_candidate(-1)",
            ("left",),
            "Previous place of an ambiguous hunk",
            called="previous_candidate",
        ),
        Key("next_candidate", ("right",), "Next place of an ambiguous hunk"),
    ),
    "turn": (
        Key("accept_hunk", ("a",), "Accept this hunk, go to the next", "accept", "pending"),
        Key("reject_hunk", ("r",), "Reject this hunk, go to the next", "reject", "pending"),
        Key(
            "reject_why",
            ("w",),
            "Reject this hunk with a sentence that the model gets",
            "why",
            "pending",
        ),
        Key(
            "decide_file(True)",
            ("f",),
            "Accept the hunks of this file",
            "file",
            "waiting",
            called="accept_file",
        ),
        Key("decide_file(False)", ("F",), "Reject the hunks of this file", called="reject_file"),
        Key(
            "decide_all(True)",
            ("A",),
            "Accept all hunks that are shown",
            "all",
            "waiting",
            like="accept",
            short="accept all hunks",
            called="accept_all",
        ),
        Key(
            "decide_all(False)",
            ("R",),
            "Reject all hunks that are shown",
            like="reject",
            short="reject all hunks",
            called="reject_all",
        ),
        Key(
            "take_back('turn')",
            (),
            "Undo the model's last turn, byte for byte",
            like="undo_turn",
            short="undo the model's turn",
            called="undo_turn",
        ),
        Key(
            "take_back('decision')",
            ("u",),
            "Take the last decision back",
            "undo",
            called="undo_decision",
        ),
        Key("redo_decision", ("U",), "Bring it back"),
        Key(
            "edit_hunk",
            ("e",),
            "Edit the hunk in the editor, then {accept_edited} accepts it; copy the text of"
            " one that is not there",
        ),
        Key("which_hunks", ("t",), "The hunks of the last turn, or all that are pending"),
    ),
    "diff": (
        Key("step(1)", ("n",), "Next hunk", "next", called="next_hunk"),
        Key("close", ("escape", "q"), "Back", "back", like="review_turn", short="back"),
        Key("step(-1)", ("p",), "Previous hunk", called="previous_hunk"),
        Key("step_file(1)", ("tab",), "Next file", called="next_file"),
        Key("step_file(-1)", ("shift+tab",), "Previous file", called="previous_file"),
        Key("go", ("enter",), "Go to the hunk in the editor; place an ambiguous one"),
        Key("layout", ("s",), "Side by side, or in one column", "side by side"),
        Key("context", ("c",), "Show the whole files, or only the changes", "context"),
        Key(
            "against",
            ("d",),
            "The file against the disk, against HEAD, against the turn's start; then back",
            "diff",
        ),
        Key("scroll_rows(-1)", ("up", "k"), "Scroll up", called="scroll_up"),
        Key("scroll_rows(1)", ("down", "j"), "Scroll down", called="scroll_down"),
        Key("scroll_pages(-1)", ("pageup",), "Scroll up by a page", called="page_up"),
        Key("scroll_pages(1)", ("pagedown", "space"), "Scroll down by a page", called="page_down"),
        Key("scroll_home", ("home", "g"), "To the first change"),
        Key("scroll_end", ("end", "G"), "To the last change"),
        Key(
            "sideways(-1)",
            ("left",),
            "Scroll the lines to the left; of an ambiguous hunk: the previous place",
            called="scroll_left",
        ),
        Key(
            "sideways(1)",
            ("right",),
            "Scroll the lines to the right; of an ambiguous hunk: the next place",
            called="scroll_right",
        ),
        Key(
            "app.help",
            (),
            "Show all keys and commands",
            "help",
            like="help",
            short="all keys and commands",
        ),
    ),
    "editor": (
        Key("undo", ("ctrl+z",), "Undo your own last edit, never the model's", "undo"),
        Key("redo", ("ctrl+y", "ctrl+shift+z"), "Redo your own edit"),
        Key(
            "find",
            ("ctrl+f",),
            "Find in this file; in the bar Enter and Shift+Enter step, Alt+C is for upper and lower"
            " case, Alt+W for whole words, Alt+X for a regular expression, Alt+I for the selection",
            "find",
        ),
        Key(
            "replace",
            ("ctrl+r",),
            "Find and replace in this file; in the bar Tab goes to the other field, Enter"
            " replaces one and Alt+Enter (or Ctrl+J) all; $1 or \\1 is what the first group"
            " matched",
        ),
        Key(
            "toggle_comment",
            ("ctrl+underscore", "ctrl+slash"),
            "Make the lines comments, or take the signs off again (terminals send Ctrl+/ as"
            " Ctrl+_)",
        ),
        Key("duplicate", ("ctrl+d",), "Duplicate the lines, or what is selected in one"),
        Key(
            "move_lines(-1)",
            ("alt+up",),
            "Move the lines up",
            called="move_lines_up",
            short="move the lines up",
        ),
        Key(
            "move_lines(1)",
            ("alt+down",),
            "Move the lines down",
            called="move_lines_down",
            short="move the lines down",
        ),
        Key("bracket", ("ctrl+right_square_bracket",), "Go to the matching bracket"),
        Key("outline", ("ctrl+t",), "Go to a function, class or heading of this file"),
        Key("close_tab", ("ctrl+w",), "Close this tab"),
        Key(
            "goto_line",
            ("alt+g", "ctrl+g"),
            "Go to a line, line:column, or +3 and -3",
            short="go to a line",
        ),
        Key(
            "step_tab(1)",
            ("ctrl+pagedown", "alt+full_stop"),
            "Next file",
            called="next_tab",
            short="next file",
        ),
        Key(
            "step_tab(-1)",
            ("ctrl+pageup", "alt+comma"),
            "Previous file",
            called="previous_tab",
            short="previous file",
        ),
    ),
    "files": (
        Key("open_row", ("enter",), "Open the file; open or close the folder", "open"),
        Key(
            "open_beside",
            ("alt+enter",),
            "Open the file in the other one of two editors",
            "beside",
            short="open it beside",
        ),
        Key(
            "show_all",
            ("alt+i",),
            "Show what is hidden or ignored too, or no longer",
            "all files",
            short="hidden files too",
        ),
        Key("leave", ("tab", "shift+tab"), "Back to the editor", "editor"),
    ),
}
"""The rows of each scope as they are written: some take keys from others, see `tui.ui.keymap`."""
