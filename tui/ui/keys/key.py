"""What a row of the key tables holds."""

from __future__ import annotations

from typing import Literal, NamedTuple

Scope = Literal[
    "global", "prompt", "queue", "conversation", "review", "turn", "diff", "editor", "files"
]
SCOPES: tuple[Scope, ...] = (
    "global",
    "prompt",
    "queue",
    "conversation",
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
]
"""The state in which the footer shows a key: nothing streams, something does, that or a command
can be stopped, the hunk (or some) can be decided on, some wait for that or to be placed or looked
at, the last run failed and can be sent, the prompt has the focus under the editor, a hunk was
opened for editing, messages are queued."""


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
