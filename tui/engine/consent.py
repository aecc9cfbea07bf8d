"""Commands of the workspace's own files: asked for once, remembered if the user says so."""

from __future__ import annotations

from tui.engine.board import Board
from tui.engine.ports import Ports, VerifyCommand

ALLOW_ONCE = "Run it once"
ALLOW_ALWAYS = "Always run it here"
REFUSE = "Do not run it"


async def is_allowed(board: Board, ports: Ports, command: VerifyCommand, words: str) -> bool:
    """True if a command may be run; ``words`` are what the user sees of it."""
    if not command.needs_consent or words in ports.consents:
        return True
    choice = await board.questions.ask(
        f"Run {' ⏎ '.join(words.splitlines())} ?",
        f"The command comes from the workspace itself: {command.source}.",
        (ALLOW_ONCE, ALLOW_ALWAYS, REFUSE),
    )
    if choice == ALLOW_ALWAYS:
        ports.consents.add(words)
        ports.remember_consent(words)
    return choice != REFUSE
