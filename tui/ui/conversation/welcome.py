"""What the conversation shows while it is empty: who answers, and how to begin."""

from __future__ import annotations

from tui.engine.notices import Status
from tui.ui import theme
from tui.ui.rows import Line, Piece, one_line, wrap

_KEYS = (
    ("Enter", "sends the prompt below"),
    ("Esc", "stops it; what landed stays"),
    ("Alt+J F7", "reviews: a accept, r reject"),
    ("F2 Alt+M", "fast model ↔ deep model"),
    ("F5 Alt+V", "runs the tests"),
    ("F1 Alt+H", "all keys and commands"),
)
_CONNECT = (
    "export OPENAI_API_KEY=…",
    "duetto --endpoint wss://HOST/v1/responses \\",
    "       --fast MODEL --deep MODEL",
)


def welcome_lines(status: Status, width: int) -> list[Line]:
    """Rows for an empty conversation, at most ``width`` cells wide."""
    palette = theme.active()
    text, muted = palette.style("foreground"), palette.style("muted")
    lines = [
        Line([]),
        Line(
            [
                ("duetto", palette.style("accent", more="bold")),
                ("  pair-programming, interruptible", muted),
            ]
        ),
        Line([]),
    ]
    lines += [Line(_key(key, words)) for key, words in _KEYS]
    if status.rehearsal:
        lines.append(Line([]))
        lines.append(Line([("This is a rehearsal", palette.style("warning", more="bold"))]))
        words = "Scripted answers at real speeds, no model. Three lines connect one:"
        lines += [Line(row) for row in wrap([(words, text)], width)]
        lines += [Line([(f" {row}", palette.style("syntax-string"))], "panel") for row in _CONNECT]
    elif status.endpoint:
        lines += [Line([]), Line([("endpoint ", muted), (one_line(status.endpoint), text)])]
    return lines


def _key(key: str, words: str) -> list[Piece]:
    palette = theme.active()
    return [(f"{key:<10}", palette.style("accent")), (words, palette.style("muted"))]
