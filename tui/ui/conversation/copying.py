"""What a part of the conversation is on the clipboard: the source, not the rows of the screen."""

from __future__ import annotations

import re
from typing import NamedTuple

from tui.core.conversation import BlockKind
from tui.core.document.hunk import Hunk
from tui.ui.conversation.hunk_card import PatchView
from tui.ui.conversation.markdown_stream import closes
from tui.ui.conversation.views import BlockView
from tui.ui.styled_text import RowTarget

_OPENING = re.compile(r"(?P<lead>.*?)(?:(?P<marker>`{3,})[^`\n]*|(?P<tildes>~{3,}).*)$")
_QUOTES = re.compile(r" {0,3}> ?")


class Copied(NamedTuple):
    """A text for the clipboard, and what it is in words."""

    text: str
    what: str

    @property
    def size(self) -> str:
        """How much it is, in words."""
        lines = self.text.rstrip("\n").count("\n") + 1
        if lines > 1:
            return f"{lines:,} lines"
        count = len(self.text.rstrip("\n"))
        return f"{count:,} character{'' if count == 1 else 's'}"


def selected_text(target: RowTarget | None, view: BlockView) -> Copied:
    """What the keys copy of a block: the part that is selected, else all of it."""
    if target is not None and target.kind == "code":
        return Copied(fenced_code(view.block.text, target.line), "code")
    hunks = view.context.hunks(view.block.call_id) if isinstance(view, PatchView) else ()
    if target is not None and target.kind == "hunk":
        for hunk in hunks:
            if hunk.id == target.key:
                return Copied(hunk.agent or hunk.base, f"hunk {hunk.id}")
    return whole_text(view)


def whole_text(view: BlockView) -> Copied:
    """All of a block."""
    block = view.block
    if isinstance(view, PatchView):
        hunks = view.context.hunks(block.call_id)
        return Copied("".join(map(_difference, hunks)), "patch")
    if block.kind is BlockKind.RUN:
        return Copied(f"$ {block.title}\n{block.text}", "command and its output")
    if block.kind is BlockKind.TOOL:
        return Copied("\n".join(filter(None, (block.title, block.text))), "tool call")
    words = {
        BlockKind.USER: "prompt",
        BlockKind.REASONING: "reasoning",
        BlockKind.NOTE: "note",
    }.get(block.kind, "message")
    return Copied("\n".join(filter(None, (block.title, block.text))), words)


def fenced_code(source: str, start: int) -> str:
    """The code of the fence that begins on the line at ``start``, without what leads its lines.

    The bar of a quote and the indent of a list are none of the code.
    """
    first, _, rest = source[start:].partition("\n")
    opening = _OPENING.match(first.rstrip("\r"))
    if opening is None:
        return ""
    lead, marker = opening["lead"], opening["marker"] or opening["tildes"]
    quotes = lead.count(">")
    indent = len(_unquoted(lead, quotes).expandtabs(4))
    lines: list[str] = []
    for line in rest.replace("\r\n", "\n").removesuffix("\n").split("\n"):
        bare = _dedented(_unquoted(line, quotes), indent)
        if closes(bare, marker):
            break
        lines.append(bare)
    return "".join(f"{line}\n" for line in lines)


def _unquoted(line: str, depth: int) -> str:
    """The line without the signs of so many quotes."""
    for _ in range(depth):
        found = _QUOTES.match(line)
        if found is None:
            break
        line = line[found.end() :]
    return line


def _dedented(line: str, most: int) -> str:
    """The line without as many leading blanks as the opening fence has."""
    blanks = len(line) - len(line.lstrip(" "))
    return line[min(blanks, most) :]


def _difference(hunk: Hunk) -> str:
    """A hunk as a difference, for reading."""
    line = "" if hunk.start is None else f" line {hunk.start.line + 1}"
    removed = "".join(f"-{text}\n" for text in hunk.base.splitlines())
    added = "".join(f"+{text}\n" for text in hunk.agent.splitlines())
    return f"@@ {hunk.path}{line} @@\n{removed}{added}"
