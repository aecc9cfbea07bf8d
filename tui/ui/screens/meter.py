"""The meter explained: every figure of the status line as it is now, and what it means."""

from __future__ import annotations

from collections.abc import Callable

from textual.content import Content

from tui.engine.session import Session
from tui.ui.screens.status import Parts, StatusScreen, paragraph
from tui.ui.widgets.figures import StatusFacts
from tui.ui.widgets.line_template import FIELDS, default_template

EXPLAINED: dict[str, str] = {
    "news": "Whether the answer is being stopped, or where it stopped.",
    "rate": "Output tokens a second: over the last second while an answer streams, over the whole"
    " turn afterwards. ~ is an estimate from characters, until the server's own count comes."
    " The time to first token is left out.",
    "spark": "The rate of the last tenths of a second, the newest at the right; a bar's height is"
    " its rate's place on the scale. ':' and a number: how many bars.",
    "scale": "Where the rate stands between 20 tokens/s (work that you delegate) and 5,000 (a"
    " model that you work with), by factors, not by differences; the tick stands for 50 tokens/s."
    " ':words', ':plain', or ':' and the cells of the ruler.",
    "ghost": "How much of the same output a model at 50 tokens/s would have by now, and how far it"
    " is behind. It gets the same time to first token and the same pauses for tools.",
    "ttft": "Time to first token of the newest response: from its request until its first output"
    " came. What tools took before is not in it.",
    "tokens": "Output tokens of the turn; ~ while they are estimated.",
    "seconds": "From the prompt until now, or until the turn ended.",
    "tools": "Seconds of the turn in which tools ran (your answers to questions are in it); in no"
    " rate.",
    "reasoning": "+ if reasoning is counted in the rate, − if it came hidden, before the first"
    " output, and is left out. Nothing is said until a server told how much it was.",
    "context": "Tokens that the conversation fills of the model's window, and the window where it"
    " is known.",
    "cost": "Dollars of the turn, if the price of every answer in it is known; ~ if a count was"
    " estimated; price unknown (or $?) if an answer is charged for at a tier or of a model that has"
    " no known price.",
    "session_cost": "Dollars of the session; + if answers without a known price come on top.",
    "running": "The command that runs: the tests, or what you started with an exclamation mark.",
    "verdict": "How the last tests ended.",
    "throttle": "That you slowed the model down, and to how many tokens/s.",
    "served": "The model that answered, as the server says. Where it is another one than was"
    " asked: asked → served, and on which endpoint.",
    "tier": "The service tier that was served; asked → served where they differ.",
    "limits": "What is left of the server's rate limit when little is left, and when it is lifted;"
    " or how long the server says to wait. ':all' shows it at any time.",
    "connection": "● and the round trip: connected; http: over HTTP instead of a WebSocket; ◌:"
    " connecting, or when it is tried again; ○: idle, offline or lost.",
    "role": "Which of your two models answers: fast or deep.",
    "model": "The model that is asked.",
    "effort": "The reasoning effort that is asked for.",
    "endpoint": "The endpoint's name.",
    "transport": "WebSocket or HTTP.",
    "trip": "The round trip to the endpoint, where it was measured.",
    "queue": "How many of your prompts wait.",
    "path": "The file that is shown.",
    "workspace": "The folder's name.",
    "branch": "The git branch at the start.",
    "clock": "The time of day.",
}
_NAME = 14
_GUTTER = (
    "▹ in the editor is the same ghost: the line in which a model at 50 tokens/s would be writing"
    " now, in the same edit. It goes when it has written all, or when all hunks are decided."
)
_OWN = (
    "A line of your own: [meter] line in config.toml, with these names and the ones below in"
    " braces (docs/meter.md)."
)


def meter_report(scene: StatusFacts, width: int) -> Content:
    """All figures in rows of at most ``width`` cells, those of the usual line first."""
    names = [one.name for half in default_template() for chunk in half for one in chunk.figures()]
    parts: Parts = [("What the meter says now\n", "bold $accent")]
    for name in names:
        parts += _figure(name, scene, width)
    parts += [("\nIn the gutter\n", "bold $accent"), *paragraph(_GUTTER, "$muted", width)]
    parts += [("\nFor a line of your own\n", "bold $accent"), *paragraph(_OWN, "$muted", width)]
    for name in FIELDS:
        if name not in names:
            parts += _figure(name, scene, width)
    return Content.assemble(*parts).rstrip("\n")


def _figure(name: str, scene: StatusFacts, width: int) -> Parts:
    forms = FIELDS[name].forms(scene, "all" if name == "limits" else "")
    value = "".join(text for text, _ in forms[0]).strip() if forms else "nothing now"
    shown = value if len(value) <= width - _NAME - 2 else f"{value[: width - _NAME - 3]}…"
    head = [(f"  {name:<{_NAME}}", "$foreground"), (f"{shown}\n", "$foreground bold")]
    if not forms:
        head[1] = (f"{shown}\n", "$muted")
    return [*head, *paragraph(EXPLAINED[name], "$muted", width, "    ")]


class MeterScreen(StatusScreen):
    """As the status screen: it scrolls, can be copied, and is looked at once a second."""

    def __init__(self, session: Session, scene: Callable[[], StatusFacts]) -> None:
        """``scene`` is what the status line shows."""
        super().__init__(session)
        self._scene = scene
        self.box.border_title = "meter"

    def report(self, width: int) -> Content:
        """What is shown in rows of ``width`` cells."""
        return meter_report(self._scene(), width)
