"""The prompt: what is offered over it, what waits in it, and what is asked."""

from __future__ import annotations

from textual import events

from tests.snapshots.sessions import streaming, whole
from tests.support.gallery import LOW, Scene, Show
from tests.support.prompt_rows import keys
from tests.support.scripted_session import ScriptedSession
from tui.engine.notices import Ask

LONG = "make the cache safe for threads:\n- one lock\n- taken in put and clear only\n\nand a test"


def asking() -> ScriptedSession:
    """A question above the prompt; the safe refusal is chosen."""
    session = ScriptedSession()
    session.say("user", "deploy it")
    answers = ("run it this time", "run it always", "do not run it")
    session.status.asks = [Ask(1, "Run the command of this workspace?", "make test", answers)]
    return session


async def recalled(show: Show) -> None:
    """Two of three earlier prompts have the words."""
    past = show.app.bench.prompt_box.prompt.past
    for text in ("make the cache safe", "write a test\nfor the cache", "rename it"):
        past.add(text)
    await show.press("ctrl+r", *"cac")


async def vi(show: Show) -> None:
    """In normal mode, in the middle of a command."""
    show.app.bench.prompt_box.prompt.use_vi()
    await show.press(*keys("fix the old cache"), "escape", "2", "d")


async def written(show: Show) -> None:
    """A draft of several lines, and a paste that is folded."""
    prompt = show.app.bench.prompt_box.prompt
    prompt.post_message(events.Paste(LONG + "\n"))
    await show.settle()
    prompt.post_message(events.Paste("a line\n" * 200))
    await show.settle()


SCENES = (
    Scene("question", asking),
    Scene("queue", streaming, ("alt+q", "up")),
    Scene("queue-edited", streaming, ("alt+q", "e", "!")),
    Scene("commands", whole, ("slash",)),
    Scene("arguments", whole, tuple(keys("/effort ")), LOW),
    Scene("files-offered", whole, tuple(keys("see @ca"))),
    Scene("recalled", whole, begin=recalled),
    Scene("vi-normal", whole, begin=vi),
    Scene("draft", whole, begin=written),
    Scene("shell-command", whole, tuple(keys("!git status"))),
)
