"""Every key of duetto in ONE table: bindings, footer, help screen and docs read it.

A row names an action; the widget or screen of its scope has the method ``action_<action>``.
Each row with a function key has a second way without one, since not every keyboard has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from textual.binding import Binding, BindingType

Scope = Literal["global", "prompt", "queue", "conversation", "review", "editor"]
SCOPES: tuple[Scope, ...] = ("global", "prompt", "queue", "conversation", "review", "editor")
SCOPE_TITLES: dict[Scope, str] = {
    "global": "Everywhere",
    "prompt": "In the prompt",
    "queue": "On a queued message",
    "conversation": "In the conversation",
    "review": "On a hunk",
    "editor": "In the editor",
}
"""Headings of the help screen."""

When = Literal[
    "always", "idle", "busy", "stoppable", "pending", "failed", "under", "editing", "queued"
]
"""The state in which the footer shows a key: nothing streams, something does, that or a command
can be stopped, hunks wait for a decision, the last run failed and can be sent, the
prompt has the focus under the editor, a hunk was opened for editing, messages are queued."""


class Key(NamedTuple):
    """One action and the keys that reach it."""

    action: str
    keys: tuple[str, ...]
    """Textual's names of the keys; the first one is shown in the footer."""
    scope: Scope
    help: str
    """A sentence for the help screen and the docs."""
    footer: str = ""
    """One or two words for the footer; empty: not shown there."""
    when: When = "always"
    priority: bool = False
    """True: taken before the focused widget sees the key."""


KEYMAP: tuple[Key, ...] = (
    Key(
        "interrupt",
        ("escape",),
        "global",
        "Stop the answer now and keep what has landed; with nothing streaming, close what is open",
        "stop",
        "stoppable",
        priority=True,
    ),
    Key(
        "cancel",
        ("ctrl+c",),
        "global",
        "Copy the selection; else stop the answer; else clear the draft (kept in the history);"
        " twice with nothing typed: quit",
        priority=True,
    ),
    Key(
        "accept_edited",
        ("alt+y",),
        "global",
        "Accept the hunk that e opened for editing, and go on with the review",
        "accept hunk",
        "editing",
        priority=True,
    ),
    Key(
        "accept",
        ("alt+a",),
        "global",
        "Accept all pending hunks and write the files",
        "accept all",
        "pending",
        priority=True,
    ),
    Key(
        "reject",
        ("alt+r",),
        "global",
        "Reject all pending hunks and take their text back",
        "reject all",
        "pending",
        priority=True,
    ),
    Key(
        "review",
        ("alt+j",),
        "global",
        "Go to the next pending hunk and review it",
        "review",
        "pending",
        priority=True,
    ),
    Key(
        "send_failure",
        ("alt+s",),
        "global",
        "Send the failed test run to the model",
        "send failure",
        "failed",
        priority=True,
    ),
    Key(
        "queue",
        ("alt+q",),
        "global",
        "Go to the queued messages: edit, send or remove one",
        "queue",
        "queued",
        priority=True,
    ),
    Key(
        "next_pane",
        ("f6", "alt+o"),
        "global",
        "Move between the conversation and the editor; where only one has room: show the other",
        "pane",
        priority=True,
    ),
    Key(
        "undo_turn",
        ("alt+u",),
        "global",
        "Take the model's last turn back, byte for byte",
        priority=True,
    ),
    Key("pane('conversation')", ("alt+1",), "global", "Show the conversation", priority=True),
    Key(
        "pane('editor')",
        ("alt+2",),
        "global",
        "Show the editor; where it is in sight: go into it",
        "type in it",
        "under",
        priority=True,
    ),
    Key(
        "switch",
        ("f2", "alt+m"),
        "global",
        "Switch between the fast and the deep model, idle or in the middle of an answer",
        "fast/deep",
        priority=True,
    ),
    Key(
        "effort",
        ("f3", "alt+e"),
        "global",
        "Next reasoning effort of the current model",
        priority=True,
    ),
    Key(
        "verify",
        ("f5", "alt+v"),
        "global",
        "Run the project's tests",
        "verify",
        "idle",
        priority=True,
    ),
    Key(
        "open_file",
        ("ctrl+o",),
        "global",
        "Open a file by a few letters of its name",
        "open",
        "idle",
        priority=True,
    ),
    Key(
        "save",
        ("ctrl+s",),
        "global",
        "Save the file in the editor: your text and the accepted hunks",
        priority=True,
    ),
    Key(
        "follow",
        ("alt+l",),
        "global",
        "Follow the landing edit, or let go of it",
        "follow",
        "busy",
        priority=True,
    ),
    Key("app.help", ("f1", "alt+h"), "global", "Show all keys and commands", "help", priority=True),
    Key(
        "app.command_palette",
        ("ctrl+p",),
        "global",
        "Search all commands and themes",
        priority=True,
    ),
    Key(
        "app.quit",
        ("ctrl+q",),
        "global",
        "Leave; asks first when something would be lost",
        "quit",
        "idle",
        priority=True,
    ),
    Key(
        "send",
        ("enter",),
        "prompt",
        "Send; while an answer streams: stop it and redirect with this instruction",
    ),
    Key(
        "steer",
        ("alt+enter", "ctrl+t"),
        "prompt",
        "Add to the answer that streams without stopping it, where the model can; else queue"
        " (Ctrl+T: for terminals that keep Alt+Enter to themselves)",
    ),
    Key("newline", ("shift+enter", "ctrl+j"), "prompt", "New line"),
    Key(
        "complete",
        ("tab",),
        "prompt",
        "Take the suggestion or completion; else queue the draft until the answer is done",
    ),
    Key(
        "older",
        ("up",),
        "prompt",
        "On the first line: the previous prompt of the history; with nothing typed: the queue,"
        " if a message waits there",
    ),
    Key("newer", ("down",), "prompt", "On the last line: the next prompt of the history"),
    Key("conversation", ("shift+tab",), "prompt", "Go up into the conversation"),
    Key("page_up", ("pageup",), "prompt", "Scroll the conversation up"),
    Key("page_down", ("pagedown",), "prompt", "Scroll the conversation down"),
    Key(
        "unqueue",
        ("alt+up",),
        "prompt",
        "Take the last queued message back into the prompt",
    ),
    Key(
        "edit_queued",
        ("enter", "e"),
        "queue",
        "Edit the message in the prompt; Enter or Tab puts it back to its place",
        "edit",
    ),
    Key(
        "remove_queued",
        ("d", "delete"),
        "queue",
        "Remove the message; the prompt's history keeps it",
        "remove",
    ),
    Key(
        "send_queued",
        ("s",),
        "queue",
        "Send the message now; while an answer streams: stop it and redirect",
        "send now",
    ),
    Key("step_queued(-1)", ("up", "k"), "queue", "The message before"),
    Key("step_queued(1)", ("down", "j"), "queue", "The message behind; below the last: the prompt"),
    Key("prompt", ("tab", "shift+tab", "i"), "queue", "Back to the prompt", "prompt"),
    Key(
        "activate",
        ("enter", "space"),
        "conversation",
        "Unfold, open the file at a location, show the hunk in the editor; place an ambiguous one",
    ),
    Key("prompt", ("tab", "shift+tab", "i"), "conversation", "Back to the prompt"),
    Key("previous_stop", ("up", "k"), "conversation", "Previous hunk, location or fold"),
    Key("next_stop", ("down", "j"), "conversation", "Next hunk, location or fold"),
    Key("scroll_home", ("home", "g"), "conversation", "Scroll to the first line"),
    Key("scroll_end", ("end", "G"), "conversation", "Scroll to the last line and stay there"),
    Key("accept_hunk", ("a",), "review", "Accept this hunk", "accept", "pending"),
    Key("reject_hunk", ("r",), "review", "Reject this hunk", "reject", "pending"),
    Key("accept_all", ("A",), "review", "Accept all pending hunks"),
    Key("reject_all", ("R",), "review", "Reject all pending hunks"),
    Key("next_hunk", ("n",), "review", "Next hunk", "next", "pending"),
    Key("previous_hunk", ("p",), "review", "Previous hunk"),
    Key(
        "edit_hunk",
        ("e",),
        "review",
        "Edit the hunk's text in the editor, then Alt+Y accepts it; copy the text of a dropped one",
    ),
    Key("next_candidate(-1)", ("left",), "review", "Previous place of an ambiguous hunk"),
    Key("next_candidate", ("right",), "review", "Next place of an ambiguous hunk"),
    Key("undo", ("ctrl+z",), "editor", "Undo your own last edit, never the model's", "undo"),
    Key("redo", ("ctrl+y",), "editor", "Redo your own edit"),
    Key("find", ("ctrl+f",), "editor", "Find in this file", "find"),
    Key("close_tab", ("ctrl+w",), "editor", "Close this tab"),
    Key("goto_line", ("alt+g",), "editor", "Go to a line, or line:column"),
    Key("step_tab(1)", ("ctrl+pagedown", "alt+full_stop"), "editor", "Next file"),
    Key("step_tab(-1)", ("ctrl+pageup", "alt+comma"), "editor", "Previous file"),
)
"""The table. Rows of scope ``editor`` belong to the editor's widgets."""


def rows(scope: Scope) -> Iterator[Key]:
    """The rows of one scope, in the order of the table."""
    return (key for key in KEYMAP if key.scope == scope)


def actions(scope: Scope) -> dict[str, str]:
    """Key -> action of one scope, for widgets that must see a key before Textual does."""
    return {name: key.action for key in rows(scope) for name in key.keys}


def bindings(*scopes: Scope) -> list[BindingType]:
    """Textual bindings for the ``BINDINGS`` of the widget or screen that owns these scopes."""
    return [
        Binding(",".join(key.keys), key.action, key.help, show=False, priority=key.priority)
        for scope in scopes
        for key in rows(scope)
    ]


_NAMES = {
    "escape": "Esc",
    "enter": "Enter",
    "space": "Space",
    "tab": "Tab",
    "backspace": "Backspace",
    "delete": "Del",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "home": "Home",
    "end": "End",
    "full_stop": ".",
    "comma": ",",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "ctrl": "Ctrl",
    "alt": "Alt",
    "shift": "Shift",
}


def key_name(key: str) -> str:
    """A key as people write it: ``ctrl+j`` is ``Ctrl+J``, ``f2`` is ``F2``."""
    *modifiers, last = key.split("+")
    plain = _NAMES.get(last) or (last.upper() if modifiers or len(last) > 1 else last)
    return "+".join([*(_NAMES.get(name, name.title()) for name in modifiers), plain])


def hints(
    states: set[When], *scopes: Scope, labels: Mapping[str, str] | None = None
) -> list[tuple[str, str]]:
    """Key and label of what the footer shows in these states, in the order of ``scopes``.

    ``labels`` says by action what it does now, where the table's word is not enough. What
    stops an answer comes first, always.
    """
    shown = [
        key
        for scope in scopes
        for key in rows(scope)
        if key.footer and (key.when == "always" or key.when in states)
    ]
    shown.sort(key=lambda key: key.action != "interrupt")
    said = labels or {}
    return [(key_name(key.keys[0]), said.get(key.action, key.footer)) for key in shown]
