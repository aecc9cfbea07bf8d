"""What each page of the first run offers, and how it says that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from tui.ui.first_run.chooser import Item
from tui.ui.first_run.port import Port, Source

Page = Literal["start", "sources", "waiting", "fast", "deep", "check", "how"]
TITLES: dict[Page, str] = {
    "start": "pair-programming, interruptible",
    "sources": "who shall answer?",
    "waiting": "one moment",
    "fast": "the fast model: it answers while you watch",
    "deep": "the deep model: it gets the hard questions",
    "check": "written when you say so",
    "how": "how to connect a model",
}
_BACK: dict[Page, Page] = {
    "sources": "start",
    "waiting": "start",
    "fast": "sources",
    "deep": "fast",
    "check": "deep",
    "how": "start",
}
HOW = (
    "Nobody who could answer was found: no key of a known provider in the environment, no server"
    " on this machine. Set a provider's variable (GROQ_API_KEY, ANTHROPIC_API_KEY...), or start a"
    " server (Ollama, LM Studio, llama.cpp, vLLM), then start duetto again; or name one at once:"
)
LINE = "duetto --endpoint NAME|URL --fast MODEL --deep MODEL"


def ways(port: Port, sources: Sequence[Source] | None) -> Sequence[Item]:
    """The three ways to begin; ``sources`` is None while it is looked for them."""
    names = ", ".join(one.title for one in sources or ())
    connect = names or "nobody was found; how to"
    here = f"in {port.here}, with the rehearsal" if port.here else "in the practice workspace"
    return (
        Item("practice", "Practice, with a guide", "60 seconds; nothing leaves this machine"),
        Item("connect", "Connect a model", "looking…" if sources is None else connect),
        Item("here", "Just look around", here),
    )


def whom(sources: Sequence[Source]) -> Sequence[Item]:
    """Who could answer, and what choosing them sends."""
    return [Item(one.name, one.title, one.asks or one.words) for one in sources]


def models(names: Sequence[str], fast: str) -> Sequence[Item]:
    """The models; for the deep one, ``fast`` first: one may be both."""
    others = [Item(name, name) for name in names if name != fast]
    return [Item(fast, fast, "the same one"), *others] if fast else others


def before(page: Page, sources: Sequence[Source]) -> Page:
    """The page to go back to; who had no choice is not asked anew."""
    alone = len(sources) == 1 and not sources[0].asks
    back = _BACK.get(page, "start")
    return "start" if back == "sources" and alone else back


def keys(page: Page, fast: str) -> Sequence[tuple[str, str]]:
    """What the keys do on a page."""
    if page == "start":
        return (("↑↓ 1-3", "choose"), ("Enter", "begin"), ("Esc", "just look"))
    if page == "check":
        return (("Enter", f"write it, start with {fast}"), ("Esc", "back"))
    if page in ("waiting", "how"):
        return (("Esc", "back"),)
    return (("↑↓", "choose"), ("Enter", "take it"), ("Esc", "back"))
