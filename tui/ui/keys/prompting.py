"""Keys of the prompt and of the queue above it."""

from __future__ import annotations

from tui.ui.keys.key import Key

PROMPTING: tuple[Key, ...] = (
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
        short="steer with the draft",
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
    Key(
        "unfold",
        ("alt+x",),
        "prompt",
        "Show the text behind a label like [pasted 200 lines]; Backspace removes it as one",
        short="show the folded paste",
    ),
    Key(
        "search_past",
        ("ctrl+r",),
        "prompt",
        "Look for an earlier prompt in the history; {prompt.send} takes it, Esc brings the draft"
        " back",
    ),
    Key(
        "edit_outside",
        ("ctrl+g",),
        "prompt",
        "The draft in your own editor (VISUAL or EDITOR); what you save there comes back",
    ),
    Key("conversation", ("shift+tab",), "prompt", "Go up into the conversation"),
    Key("search", ("ctrl+f",), "prompt", "Search the conversation"),
    Key("page_up", ("pageup",), "prompt", "Scroll the conversation up"),
    Key("page_down", ("pagedown",), "prompt", "Scroll the conversation down"),
    Key(
        "unqueue",
        ("alt+up",),
        "prompt",
        "Take the last queued message back into the prompt",
        short="take back from the queue",
    ),
    Key(
        "edit_queued",
        ("enter", "e"),
        "queue",
        "Edit the message in the prompt; {prompt.send} or {prompt.complete} puts it back to its"
        " place",
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
    Key("step_queued(-1)", ("up", "k"), "queue", "The message before", called="previous_queued"),
    Key(
        "step_queued(1)",
        ("down", "j"),
        "queue",
        "The message behind; below the last: the prompt",
        called="next_queued",
    ),
    Key("prompt", ("tab", "shift+tab", "i"), "queue", "Back to the prompt", "prompt"),
)
