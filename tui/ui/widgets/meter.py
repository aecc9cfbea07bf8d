"""The meter in cells: rate, sparkline, the scale from delegation to collaboration, and so on.

Each figure has one form or several, the longest first: the status line takes what it has room
for. No form: there is nothing to say, for nothing was measured or told.
"""

from __future__ import annotations

import math

from tui.core.meter import FASTEST_TOKENS_S, PRICE_UNKNOWN, SLOWEST_TOKENS_S, MeterView
from tui.ui import theme
from tui.ui.rows import Piece

Form = list[Piece]
Forms = list[Form]
"""What can be shown, the longest first; empty: nothing."""

_SPARKS = " ▁▂▃▄▅▆▇█"
_SPARK_CELLS = (12, 8)
_RULER_CELLS = 9
_LEAST_CELLS, _MOST_CELLS = 4, 40
_GHOST_PLACE = math.log(50 / SLOWEST_TOKENS_S) / math.log(FASTEST_TOKENS_S / SLOWEST_TOKENS_S)
"""Where 50 tokens/s stand on the scale."""
_NOTICED_S = 0.05
"""A ghost that is behind by less is not behind."""


def rate(view: MeterView) -> Forms:
    """``~1,043``; ``--`` before anything was measured. As wide at any speed."""
    if view.tokens_s is None:
        return [[(f"{'--':>6}", theme.active().style("faint"))]]
    about = "~" if view.estimated else ""
    words = f"{about}{view.tokens_s:,.0f}" if view.tokens_s >= 10 else f"{about}{view.tokens_s:.1f}"
    lit = "bold" if view.state == "streaming" else ""
    return [[(f"{words:>6}", theme.active().style("meter-rate", more=lit))]]


def spark(view: MeterView, option: str) -> Forms:
    """The last tenths of a second as bars; ``option``: how many."""
    style = theme.active().style
    forms = []
    for cells in _cells(option, _SPARK_CELLS):
        values = [min(max(value, 0.0), 1.0) for value in view.spark[-cells:]]
        marks = "".join(_SPARKS[round(value * 8)] for value in values)
        if marks.strip():
            before = "·" * (cells - len(marks))
            forms.append([(before, style("faint")), (marks, style("meter-spark"))])
    return forms


def scale(view: MeterView, option: str) -> Forms:
    """``delegate ├──┴───◆───┤ collaborate``; the tick stands for 50 tokens/s.

    ``option``: ``words``, ``plain``, or how many cells the ruler has.
    """
    style = theme.active().style
    known, near = view.tokens_s is not None, view.scale >= 0.5
    left = style("meter-delegate" if known and not near else "faint")
    right = style("meter-collaborate" if known and near else "faint")
    ruler = _ruler(view, _cells(option, (_RULER_CELLS,))[0])
    worded = [("delegate ", left), *ruler, (" collaborate", right)]
    return [worded] if option == "words" else [ruler] if option == "plain" else [worded, ruler]


def ghost(view: MeterView) -> Forms:
    """``7%, 9.5 s behind``, or ``7% −9.5 s``: how far a model at 50 tokens/s would be."""
    if not view.tokens or view.state == "idle":
        return []
    style = theme.active().style("meter-ghost")
    share = f"{min(view.ghost, 1.0):.0%}"
    if view.ghost_left_s < _NOTICED_S:
        return [[(share, style)]]
    behind = span(view.ghost_left_s)
    words = (f"{share}, {behind} behind", f"{share} −{behind}", share)
    return [[(one, style)] for one in words]


def ttft(view: MeterView) -> Forms:
    """Time to first token; ``waiting`` until there is one."""
    style = theme.active().style
    if view.ttft_s is not None:
        return [[(span(view.ttft_s), style("foreground"))]]
    return [[("waiting", style("muted"))]] if view.state == "waiting" else []


def tokens(view: MeterView) -> Forms:
    """``~512``: output of the turn."""
    if view.state == "idle":
        return []
    about = "~" if view.tokens_estimated else ""
    return [[(f"{about}{view.tokens:,}", theme.active().style("foreground"))]]


def seconds(view: MeterView) -> Forms:
    """How long the turn runs, or ran."""
    if view.state == "idle":
        return []
    minutes, rest = divmod(view.seconds, 60)
    words = f"{view.seconds:.1f} s" if view.seconds < 600 else f"{minutes:.0f} min {rest:.0f} s"
    return [[(words, theme.active().style("muted"))]]


def reasoning(view: MeterView) -> Forms:
    """Whether reasoning is in the rate; nothing before a server has told."""
    if view.reasoning == "unknown" or view.state == "idle":
        return []
    sign = "+" if view.reasoning == "counted" else "−"
    return [[(f"{sign}reasoning", theme.active().style("faint"))]]


def context(view: MeterView) -> Forms:
    """``12k/128k``: how much of the model's window the conversation fills."""
    style = theme.active().style
    if view.context_tokens is None:
        return []
    used = _thousands(view.context_tokens)
    if view.context_window is None:
        return [[(used, style("muted"))]]
    share = view.context_tokens / max(view.context_window, 1)
    colour = style("error" if share > 0.9 else "warning" if share > 0.7 else "muted")
    whole = _thousands(view.context_window)
    return [[(f"{used}/{whole}", colour)], [(f"{share:.0%}", colour)]]


def cost(view: MeterView) -> Forms:
    """What the turn costs, where all of its prices are known, or that one of them is not."""
    muted = theme.active().style("muted")
    if view.cost.unknown:
        return [[(PRICE_UNKNOWN, muted)], [("$?", muted)]]
    if view.cost.turn_usd is None:
        return []
    about = "~" if view.cost.estimated else ""
    return [[(f"{about}{dollars(view.cost.turn_usd)}", muted)]]


def session_cost(view: MeterView) -> Forms:
    """What the session costs; ``+``: answers without a known price come on top."""
    if view.cost.session_usd is None:
        return []
    more = "" if view.cost.session_whole else "+"
    return [[(f"{dollars(view.cost.session_usd)}{more}", theme.active().style("muted"))]]


def dollars(usd: float) -> str:
    """``$0.0041``, ``$0.124`` or ``$12.30``."""
    if usd >= 1:
        return f"${usd:,.2f}"
    if usd >= 0.01:
        return f"${usd:.3f}"
    return f"${usd:.4f}" if usd >= 0.00005 or not usd else "<$0.0001"


def span(seconds: float) -> str:
    """``84 ms`` or ``1.2 s``."""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _ruler(view: MeterView, cells: int) -> Form:
    style = theme.active().style
    line, mark = style("meter-scale"), style("meter-mark", more="bold")
    place = round(min(max(view.scale, 0.0), 1.0) * (cells - 1))
    tick = round(_GHOST_PLACE * (cells - 1))
    signs = ["┴" if cell == tick else "─" for cell in range(cells)]
    if view.tokens_s is None:
        return [("├" + "".join(signs) + "┤", line)]
    before, after = "".join(signs[:place]), "".join(signs[place + 1 :])
    return [("├" + before, line), ("◆", mark), (after + "┤", line)]


def _cells(option: str, default: tuple[int, ...]) -> tuple[int, ...]:
    if not option.isdecimal() or len(option) > 3:
        return default
    return (min(max(int(option), _LEAST_CELLS), _MOST_CELLS),)


def _thousands(tokens: int) -> str:
    if tokens < 1000:
        return str(tokens)
    return f"{tokens / 1000:.0f}k" if tokens < 999_500 else f"{tokens / 1e6:.1f}M"
