"""What the conversation shows while it is empty: who answers, and how to begin."""

from __future__ import annotations

from rich.cells import cell_len

from tui.engine.notices import Status
from tui.ui import theme
from tui.ui.keymap import shown
from tui.ui.rows import Line, Piece, clip, one_line, wrap

_CONNECT = (
    "export OPENAI_API_KEY=…",
    "duetto --endpoint openai \\",
    "       --fast MODEL --deep MODEL",
)


_ABOUT = "pair-programming, interruptible"


def welcome_lines(status: Status, width: int) -> list[Line]:
    """Rows for an empty conversation, at most ``width`` cells wide."""
    palette = theme.active()
    text, muted = palette.style("foreground"), palette.style("muted")
    name: Piece = ("duetto", palette.style("accent", more="bold"))
    lines = [Line([]), Line([name, (f"  {clip(_ABOUT, width - 8)}", muted)]), Line([])]
    keys = _keys()
    column = max(cell_len(key) for key, _ in keys) + 2
    room = width - column
    lines += [Line(_key(key, clip(words, room), column)) for key, words in keys]
    if status.rehearsal:
        lines.append(Line([]))
        lines.append(Line([("This is a rehearsal", palette.style("warning", more="bold"))]))
        words = "Scripted answers at real speeds, no model. Three lines connect one:"
        lines += [Line(row) for row in wrap([(words, text)], width)]
        lines += [Line([(f" {row}", palette.style("syntax-string"))], "panel") for row in _CONNECT]
        words = "duetto practice --guide teaches all of this in a minute."
        lines += [Line([]), *(Line(row) for row in wrap([(words, muted)], width))]
    elif status.endpoint:
        lines += [Line([]), Line([("endpoint ", muted), (one_line(status.endpoint), text)])]
    return lines


def _keys() -> list[tuple[str, str]]:
    """The keys of the first minute, and what they do."""
    accept, reject = shown("accept_hunk", "review"), shown("reject_hunk", "review")
    return [
        (shown("send", "prompt"), "sends the prompt below"),
        (shown("interrupt"), "stops it; what landed stays"),
        (f"{shown('review')} {shown('review_turn')}", f"reviews: {accept} accept, {reject} reject"),
        (shown("switch", most=2), "fast model ↔ deep model"),
        (shown("verify", most=2), "runs the tests"),
        (shown("app.help", most=2), "all keys and commands"),
    ]


def _key(key: str, words: str, column: int) -> list[Piece]:
    palette = theme.active()
    blank = " " * (column - cell_len(key))
    return [(f"{key}{blank}", palette.style("accent")), (words, palette.style("muted"))]
