"""The slash commands: one table that prompt, completion, palette and help screen read."""

from __future__ import annotations

from difflib import get_close_matches
from typing import NamedTuple


class Command(NamedTuple):
    """One ``/command``."""

    name: str
    help: str
    argument: str = ""
    """How its argument is written; empty: it takes none."""


COMMANDS: tuple[Command, ...] = (
    Command("fast", "Answer with the fast model from now on"),
    Command("deep", "Answer with the deep model from now on"),
    Command("model", "Show both models, or switch to one", "[fast|deep]"),
    Command("effort", "Set the reasoning effort of the current model", "[low|medium|high|xhigh]"),
    Command("tier", "Ask for a service tier of the current model, as priority", "[NAME|off]"),
    Command("throttle", "Slow the model down, to feel the difference", "[TOKENS/S|off]"),
    Command("steer", "Add to the answer that streams, without stopping it", "TEXT"),
    Command("verify", "Run the project's tests"),
    Command("undo", "Take the model's last turn back, byte for byte"),
    Command("redo", "Bring the last decision or turn back that was taken back"),
    Command("review", "Review the whole turn: all files, all hunks"),
    Command(
        "diff",
        "Show what differs from the disk, from HEAD, from the turn's start",
        "[disk|head|turn] [PATH]",
    ),
    Command("auto", "Accept hunks by themselves, but for those that need a look", "[on|off]"),
    Command("tree", "Show the file tree with git's states, or put it away"),
    Command("split", "Two editors side by side, or one again"),
    Command("wrap", "Wrap long lines in the editor, or don't"),
    Command("follow", "Follow the landing edit in the editor, or let go of it"),
    Command("clear", "Begin a new conversation; files and hunks stay"),
    Command("rescue", "Bring back what was not saved when duetto was ended", "[forget]"),
    Command("theme", "Change the colours", "[NAME]"),
    Command("status", "Show models, what they can do, and the sockets, live"),
    Command("suspend", "Back to the shell; fg brings duetto back"),
    Command("help", "Show all keys and commands"),
    Command("quit", "Leave duetto"),
)


def find_command(name: str) -> Command | None:
    """The command of this name, without its slash."""
    return next((command for command in COMMANDS if command.name == name), None)


def split_command(text: str) -> tuple[str, str] | None:
    """Name and argument of a draft that is a command; None for any other text.

    A path such as ``/usr/bin`` at the start of a prompt is no command.
    """
    if not text.startswith("/") or text.startswith("//"):
        return None
    name, _, argument = text[1:].strip().partition(" ")
    if not name.replace("-", "").isalpha() and name:
        return None
    return name.lower(), argument.strip()


def unknown_command(name: str) -> str:
    """What to say to a command that there is not."""
    near = get_close_matches(name, [command.name for command in COMMANDS], 1, 0.5)
    hint = f"Did you mean /{near[0]}?" if near else "/help lists all commands."
    return f"There is no command /{name}. {hint}"


def completions(draft: str) -> list[Command]:
    """The commands that a draft of one word could become."""
    if not draft.startswith("/") or "\n" in draft or " " in draft:
        return []
    return [command for command in COMMANDS if command.name.startswith(draft[1:].lower())]
