"""The commands of the linear mode, their help, and what Tab completes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tui.core.attachments import MADE
from tui.engine.session import Session
from tui.engine.slash import COMMANDS, Command, find_command

_OWN: tuple[Command, ...] = (
    Command("accept", "Accept hunks by their numbers, of a file, or all", "NUMBERS|PATH|all"),
    Command(
        "reject",
        "Reject hunks; the model is told your words with the next prompt",
        "NUMBERS|PATH|all [WORDS]",
    ),
    Command("review", "Read the hunks that wait, or these, or all of the turn", "[NUMBERS|all]"),
    Command("hunks", "List the hunks that wait, a line each", "[all]"),
    Command("place", "Put a hunk that fits in several places at one of them", "HUNK PLACE"),
    Command("undecide", "Take your last accept or reject back, or bring a cut hunk back", "[HUNK]"),
    Command("stop", "Stop the answer or the command, as Ctrl+C does"),
    Command("redirect", "Stop the answer and go on with these words, as typing does", "TEXT"),
    Command("queue", "Send these words when the answer is complete", "TEXT"),
    Command("queued", "List what is queued; drop 2 takes the second out", "[drop NUMBER]"),
    Command("again", "Send the prompt again that was not sent, or the last one"),
    Command("compose", "Write the prompt in your own editor", "[TEXT]"),
    Command(
        "show",
        "Read a file as it stands here, from a line on, or from one to another",
        "PATH [FIRST [LAST]]",
    ),
    Command("open", "Open a file: the model sees it with your next prompt", "PATH"),
    Command("close", "Close an open file", "PATH"),
    Command("status", "Say what is running, the models, what they can do, and the connections"),
    Command("help", "Read how linear mode works, and all commands"),
    Command("files", "List the workspace's files, or those with this in their name", "[PART]"),
    Command("save", "Save a file, or all that are not saved", "[PATH]"),
    Command("last", "Read the last answer again"),
    Command("reasoning", "Read what the model thought in the last turn"),
    Command("output", "Read the output of the last command"),
    Command("meter", "Read the figures of the last turn"),
    Command("more", "Go on with a long list"),
    Command(
        "pace", "How answers are read: by lines as they come, or whole at the end", "[lines|whole]"
    ),
)
_OF_THE_SCREEN = {"tree", "split", "wrap", "removed", "follow", "theme", "suspend"}
"""What is about panes and colours; all else is as on the screen."""
_INSTEAD = {command.name: command for command in _OWN}
LINEAR: tuple[Command, ...] = (
    *(_INSTEAD.pop(c.name, c) for c in COMMANDS if c.name not in _OF_THE_SCREEN),
    *_INSTEAD.values(),
)
"""All commands of the linear mode."""
AT_ONCE = frozenset(
    {"stop", "redirect", "queue", "queued", "steer", "tasks", "background", "delegate"}
)
"""What is not kept waiting for the end of an answer where commands come from a file."""


def help_lines() -> list[str]:
    """How to use the linear mode, and all commands."""
    lines = [
        "Type what you want and press Enter; a line that ends with a backslash goes on.",
        'A block of lines may stand between two lines of """.',
        "While an answer comes, typing redirects it and Ctrl+C stops it.",
        "Enter on an empty line says what is running.",
        "Ctrl+C twice when nothing runs, Ctrl+D, or /quit: leave.",
        "! before a line runs it as a shell command in the workspace.",
        "@ before a path attaches a file, lines of it (@a.py:10-40) or a folder; @diff, @failures,",
        "@selection and the name of a function do too. Tab completes paths and commands.",
        "Commands:",
    ]
    for command in LINEAR:
        argument = f" {command.argument}" if command.argument else ""
        lines.append(f"/{command.name}{argument}: {command.help}.")
    return lines


_MOST = 200
_CHOICES = re.compile(r"[a-z]+(?:\|[a-z]+)+")


class Completion:
    """Reads the session from another thread; it only looks."""

    def __init__(self, session: Session) -> None:
        self.session = session
        """Another one is put in its place when it is left for that."""

    def found(self, before: str, word: str) -> Sequence[str]:
        """What the word could become; ``before`` is the line up to it."""
        if not before.strip() and word.startswith("/"):
            names = [f"/{command.name}" for command in LINEAR]
            return [f"{name} " for name in names if name.startswith(word)]
        if word.startswith("@"):
            made = [f"@{name} " for name in MADE if name.startswith(word[1:])]
            return [*self._paths(word[1:], "@"), *made]
        name = before.strip().partition(" ")[0]
        command = find_command(name[1:], LINEAR) if name.startswith("/") else None
        if command is None:
            return []
        if "PATH" in command.argument:
            return self._paths(word, "")
        choices = _CHOICES.search(command.argument)
        found = choices[0].split("|") if choices else []
        return [choice for choice in found if choice.startswith(word)]

    def _paths(self, part: str, sign: str) -> list[str]:
        """Files that begin so; else those that have it in their names."""
        paths = self.session.listing()
        found = [path for path in paths if path.startswith(part)]
        if not found and part:
            found = [path for path in paths if part.lower() in path.lower()]
        return [f"{sign}{path} " for path in found[:_MOST]]
