"""A conversation as plain text, block by block, for ``duetto replay --text``."""

from __future__ import annotations

from collections.abc import Iterator

from tui.cli.exec_report import summary
from tui.core.turn import Block, BlockKind
from tui.engine.intents import Answer
from tui.engine.notices import Trouble
from tui.engine.session import Session


class TranscriptText:
    """Gives every block once, when it is closed; blocks are set apart by an empty line."""

    def __init__(self) -> None:
        self._told = 0

    def new(self, session: Session) -> Iterator[str]:
        """What was closed since the last look, and what went wrong; questions get a no."""
        troubles = session.drain().troubles
        for ask in list(session.status.asks):
            session.submit(Answer(ask.id, ask.choices[-1]))
        blocks = session.transcript.blocks
        while self._told < len(blocks) and blocks[self._told].state != "open":
            yield from self._next(session)
        for trouble in troubles:
            yield from ("", f"! {_words(trouble)}")

    def rest(self, session: Session) -> Iterator[str]:
        """What is left, open or not, and what became of the files."""
        yield from self.new(session)
        while self._told < len(session.transcript.blocks):
            yield from self._next(session)
        if lines := summary(session.workspace.hunks):
            yield from ("", *lines)

    def _next(self, session: Session) -> Iterator[str]:
        block = session.transcript.blocks[self._told]
        text = _told(block, session)
        if text:
            yield from (("",) if self._told else ())
            yield text
        self._told += 1


def _told(block: Block, session: Session) -> str:
    text = block.text.replace("\r", "").strip("\n")
    cut = " (cut)" if block.state == "cut" else ""
    match block.kind:
        case BlockKind.USER:
            return "\n".join(f"> {line}" for line in text.split("\n"))
        case BlockKind.TEXT:
            return text + (" (cut)" if block.state == "failed" else cut)
        case BlockKind.REASONING:
            return "\n".join(f"~ {line}" for line in text.split("\n")) if text else ""
        case BlockKind.PATCH:
            mine = [hunk for hunk in session.workspace.hunks if hunk.call_id == block.call_id]
            return "\n".join(f"= {line}" for line in summary(mine)) or f"= patch{cut}"
        case _:
            words = ": ".join(filter(None, (block.title, text)))
            return f"* {words}" if words else ""


def _words(trouble: Trouble) -> str:
    words = ": ".join(filter(None, (trouble.what, trouble.why)))
    return words + (f" ({trouble.next_step})" if trouble.next_step else "")
