"""How each kind of block of the conversation is told: in lines, once, in the order it came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tui.core.edits.hunk import Hunk
from tui.core.edits.workspace import Workspace
from tui.core.inert_text import inert
from tui.core.turn import Block, BlockKind
from tui.linear.lines import verbatim
from tui.linear.speech import Speech
from tui.linear.words import brief, counted, patch_lines

MOST_OUTPUT = 30
"""Lines of a command's output that are told at once; of more only the last ones are."""
TAIL = 15
MOST_CHARS = 500
"""Of one line of it."""


@dataclass(slots=True)
class Pace:
    """How much is told, and when."""

    whole: bool = False
    """Answers are told at their end, in one piece."""
    outputs: bool = False
    """Outputs of commands are told to their last line, as they come."""


class BlockTeller(Protocol):
    """Tells one block while it grows."""

    def news(self) -> list[str]:
        """What is to be said since the last look."""


class TextTeller:
    """The model's prose."""

    def __init__(self, block: Block, pace: Pace) -> None:
        self._block = block
        self._pace = pace
        self._speech = Speech()
        self._read = 0

    def news(self) -> list[str]:
        """The sentences that became whole; at the end the rest."""
        lines: list[str] = []
        if self._pace.whole and self._block.state == "open":
            return lines
        if self._block.length > self._read:
            lines = self._speech.take(self._block.text_since(self._read))
            self._read = self._block.length
        if self._block.state != "open":
            lines += self._speech.rest()
            if lines and self._block.state == "cut":
                lines.append("(cut here)")
        return lines


class PatchTeller:
    """Edits: which file is written in, and at the end what came."""

    def __init__(self, block: Block, workspace: Workspace) -> None:
        self._block = block
        self._workspace = workspace
        self._looked = 0
        self._named: set[str] = set()

    def news(self) -> list[str]:
        """A line when a file is begun; a line a hunk when the patch has ended."""
        hunks = self._workspace.roster.of_call(self._block.call_id)
        if self._block.state != "open":
            return self._ended(hunks)
        begun = dict.fromkeys(hunk.path for hunk in hunks[self._looked :])
        self._looked = len(hunks)
        fresh = [path for path in begun if path and path not in self._named]
        self._named.update(fresh)
        return [f"Writing in {inert(path)}." for path in fresh]

    def _ended(self, hunks: Sequence[Hunk]) -> list[str]:
        lines = patch_lines(hunks)
        why = self._block.text.strip()
        said = any(why.partition(": ")[2] in hunk.reason for hunk in hunks)
        if self._block.state in ("cut", "failed") and why and not said:
            lines.append(sentence(f"The patch: {why}"))
        return lines


class RunTeller:
    """A command: that it runs, and its output when it has ended."""

    def __init__(self, block: Block, pace: Pace) -> None:
        self._block = block
        self._pace = pace
        self._begun = False
        self._read = 0
        self._line = ""

    def news(self) -> list[str]:
        """The output, all or its end."""
        lines: list[str] = []
        if not self._begun:
            self._begun = True
            lines.append(f"Running: {brief(self._block.title)}")
        ended = self._block.state != "open"
        if self._pace.outputs:
            return [*lines, *self._fresh(ended)]
        if ended:
            lines += output_lines(self._block.text)
        return lines

    def _fresh(self, ended: bool) -> list[str]:
        text = self._line + self._block.text_since(self._read)
        self._read = self._block.length
        *lines, self._line = text.replace("\r\n", "\n").split("\n")
        if ended and self._line:
            lines.append(self._line)
            self._line = ""
        return verbatim(lines)


class OnceTeller:
    """A block that is told when it is closed."""

    def __init__(self, block: Block, echoed: bool) -> None:
        """``echoed``: the words of a user's block stand there already, typed by hand."""
        self._block = block
        self._echoed = echoed

    def news(self) -> list[str]:
        """A line, or as many as there are in a note."""
        block = self._block
        if block.state == "open":
            return []
        match block.kind:
            case BlockKind.USER:
                return [] if self._echoed else [f"You: {brief(block.text, 240)}"]
            case BlockKind.TOOL:
                failed = ", failed" if block.state in ("failed", "cut") else ""
                result = f": {brief(block.text)}" if block.text.strip() else ""
                return [f"Tool: {brief(block.title)}{failed}{result}"]
            case BlockKind.NOTE:
                text = "\n".join(filter(None, (block.title, block.text.strip())))
                text = text.replace("~", "about ") if block.state == "cut" else text
                return [sentence(line) for line in text.split("\n") if line.strip()]
        return []


def teller_of(
    block: Block, workspace: Workspace, pace: Pace, *, echoed: bool = False
) -> BlockTeller:
    """Whoever tells this block."""
    match block.kind:
        case BlockKind.TEXT:
            return TextTeller(block, pace)
        case BlockKind.PATCH:
            return PatchTeller(block, workspace)
        case BlockKind.RUN:
            return RunTeller(block, pace)
    return OnceTeller(block, echoed)


def output_lines(text: str) -> list[str]:
    """A command's output, or how long it is and its end."""
    lines = text.replace("\r\n", "\n").rstrip("\n").split("\n")
    if len(lines) <= MOST_OUTPUT:
        return verbatim(map(_clipped, lines))
    left = len(lines) - TAIL
    head = f"{counted(left, 'line')} before these: /output reads all."
    return [head, *verbatim(map(_clipped, lines[-TAIL:]))]


def _clipped(line: str) -> str:
    """A line that nobody wants to hear to its end."""
    if len(line) <= MOST_CHARS:
        return line
    return f"{line[:MOST_CHARS]}… ({len(line) - MOST_CHARS:,} more characters: /output reads all)"


def sentence(words: str) -> str:
    """With a capital at the beginning and a full stop at the end."""
    words = " ".join(words.split())
    stop = "" if words.endswith((".", "!", "?", ":")) else "."
    return f"{words[:1].upper()}{words[1:]}{stop}"
