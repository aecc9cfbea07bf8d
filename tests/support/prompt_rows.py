"""What stands over and under the prompt, and the keys of a text that is typed there."""

from __future__ import annotations

from tui.ui.app import DuettoApp
from tui.ui.prompt.completion_list import CompletionList
from tui.ui.widgets.painted import Bar

KEYS = {" ": "space", "@": "at", "/": "slash", '"': "quotation_mark", "!": "exclamation_mark"}


def keys(text: str) -> list[str]:
    """For Pilot."""
    return [KEYS.get(character, character) for character in text]


def shown(app: DuettoApp) -> list[str]:
    """The rows of the list."""
    rows = app.bench.query_one(CompletionList)
    return [rows.render_line(y).text.rstrip() for y in range(rows.rows)]


def hint(app: DuettoApp) -> str:
    """The row under the prompt."""
    return app.bench.query_one("#hint", Bar).render_line(0).text.rstrip()
