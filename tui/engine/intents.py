"""All that a front end may ask of the engine: `Session.submit(intent)`, synchronous."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["fast", "deep"]
Effort = Literal["low", "medium", "high", "xhigh"]


@dataclass(frozen=True, slots=True)
class Prompt:
    """Send this; while something streams it interrupts first and redirects."""

    text: str


@dataclass(frozen=True, slots=True)
class Queue:
    """Send this when the engine is idle."""

    text: str


@dataclass(frozen=True, slots=True)
class Unqueue:
    """Take a queued message out again (0-based)."""

    index: int


@dataclass(frozen=True, slots=True)
class EditQueued:
    """Replace the text of a queued message (0-based); empty text takes it out."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class HoldQueued:
    """This queued message (0-based) is being edited: the queue stops in front of it.

    None: no more; what waited for it goes now.
    """

    index: int | None


@dataclass(frozen=True, slots=True)
class Steer:
    """Add this to the answer that streams, without stopping it; queued where that cannot be."""

    text: str


@dataclass(frozen=True, slots=True)
class Prewarm:
    """The user begins to type: connect, and have the endpoint prepare for the first turn."""


@dataclass(frozen=True, slots=True)
class Interrupt:
    """Stop the foreground turn now, keep what has landed."""


@dataclass(frozen=True, slots=True)
class Accept:
    """Accept these hunks; None means every decidable one."""

    hunk_ids: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Reject:
    """Reject these hunks, telling the model ``words``; None means every decidable one."""

    hunk_ids: tuple[int, ...] | None = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Put an ambiguous hunk at one of its candidates (a 0-based line)."""

    hunk_id: int
    line: int


@dataclass(frozen=True, slots=True)
class UndoTurn:
    """Take the model's last turn back, byte for byte."""


@dataclass(frozen=True, slots=True)
class Switch:
    """Answer with this role from now on; mid-stream: interrupt and hand the instruction over."""

    role: Role


@dataclass(frozen=True, slots=True)
class SetEffort:
    """Reasoning effort of the current role."""

    effort: Effort


@dataclass(frozen=True, slots=True)
class Throttle:
    """Ask the rehearsal model for this many tokens/s; None: the model's own rate."""

    tokens_s: float | None


@dataclass(frozen=True, slots=True)
class OpenFile:
    """Open a workspace file in the editor and make it the active one."""

    path: str
    line: int | None = None
    """0-based line to go to."""
    col: int = 0
    aside: bool = False
    """In a tab only: the active file stays the active one."""
    new: bool = False
    """Also if there is no such file: it is made when it is saved."""


@dataclass(frozen=True, slots=True)
class CloseFile:
    """Close the tab; the buffer of a pending edit lives on."""

    path: str


@dataclass(frozen=True, slots=True)
class SaveFile:
    """Write the user's text and the accepted hunks; ``force`` overwrites a changed file."""

    path: str
    force: bool = False


@dataclass(frozen=True, slots=True)
class Reload:
    """Take the file as it is on the disk; undo brings the user's text back."""

    path: str


@dataclass(frozen=True, slots=True)
class Restore:
    """Bring back what was typed and not saved when duetto was ended by force."""


@dataclass(frozen=True, slots=True)
class Dismiss:
    """Remove what was kept of it."""


@dataclass(frozen=True, slots=True)
class Verify:
    """Run the workspace's test command."""


@dataclass(frozen=True, slots=True)
class RunCommand:
    """Run a shell command (``!command``) in the workspace."""

    command: str


@dataclass(frozen=True, slots=True)
class StopCommand:
    """End the running command or verification."""


@dataclass(frozen=True, slots=True)
class SendFailure:
    """Send the last failed run's output to the model."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The user's answer to an `Ask`."""

    ask_id: int
    choice: str


@dataclass(frozen=True, slots=True)
class NewConversation:
    """Forget the conversation (files and hunks stay)."""


Intent = (
    Prompt
    | Queue
    | Unqueue
    | EditQueued
    | HoldQueued
    | Steer
    | Prewarm
    | Interrupt
    | Accept
    | Reject
    | Place
    | UndoTurn
    | Switch
    | SetEffort
    | Throttle
    | OpenFile
    | CloseFile
    | SaveFile
    | Reload
    | Restore
    | Dismiss
    | Verify
    | RunCommand
    | StopCommand
    | SendFailure
    | Answer
    | NewConversation
)
