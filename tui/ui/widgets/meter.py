"""The meter in cells: rate, sparkline, and the scale from delegation to collaboration."""

from __future__ import annotations

import math

from tui.core.meter import MeterView
from tui.ui import theme
from tui.ui.rows import Piece
from tui.ui.widgets.bar import Group

_SPARKS = " ▁▂▃▄▅▆▇█"
_WORDED, _ROOMY = 110, 130
"""Widths from which the scale's ends are named, and from which the sparkline is long."""
_WORDED_BESIDE_DOLLARS = 150
"""Figures before words."""
_GHOST_PLACE = math.log(50 / 20) / math.log(5000 / 20)
"""Where 50 tokens/s stand on the scale from 20 to 5000."""


def meter_groups(view: MeterView, width: int) -> list[Group]:
    """What the meter says in a line of ``width`` cells, in order, each with its importance."""
    palette = theme.active()
    wordy = _WORDED if view.cost.session_usd is None else _WORDED_BESIDE_DOLLARS
    groups: list[Group] = [
        (0, _rate(view)),
        (6, _spark(view, 12 if width >= _ROOMY else 8)),
        (2, _scale(view, worded=width >= wordy)),
    ]
    if view.state == "idle":
        return groups
    if view.tokens:
        ghost = f"ghost {min(view.ghost, 1.0):.0%}"
        groups.append((3, [(ghost, palette.style("meter-ghost"))]))
    if view.ttft_s is not None:
        spent = _span(view.ttft_s)
        groups.append(
            (4, [("ttft ", palette.style("faint")), (spent, palette.style("foreground"))])
        )
    elif view.state == "waiting":
        groups.append((3, [("waiting", palette.style("muted"))]))
    groups.append((1, _count(view)))
    if view.reasoning != "unknown":
        sign = "+" if view.reasoning == "counted" else "−"
        groups.append((5, [(f"{sign}reasoning", palette.style("faint"))]))
    return groups


def context_group(view: MeterView) -> Group:
    """How much of the model's window the conversation fills."""
    palette = theme.active()
    if view.context_tokens is None:
        return (7, [])
    used = _thousands(view.context_tokens)
    if view.context_window is None:
        return (7, [("ctx ", palette.style("faint")), (used, palette.style("muted"))])
    share = view.context_tokens / max(view.context_window, 1)
    colour = "error" if share > 0.9 else "warning" if share > 0.7 else "muted"
    whole = _thousands(view.context_window)
    return (7, [("ctx ", palette.style("faint")), (f"{used}/{whole}", palette.style(colour))])


def cost_groups(view: MeterView) -> list[Group]:
    """What turn and session cost, where prices are known."""
    palette = theme.active()
    cost, groups = view.cost, list[Group]()
    if cost.turn_usd is not None:
        about = "~" if cost.estimated else ""
        groups.append((6, [(f"{about}{dollars(cost.turn_usd)}", palette.style("muted"))]))
    if cost.session_usd is not None:
        # the sign: answers without a known price come on top
        more = "" if cost.session_whole else "+"
        total = f"{dollars(cost.session_usd)}{more}"
        groups.append((8, [("Σ ", palette.style("faint")), (total, palette.style("muted"))]))
    return groups


def dollars(usd: float) -> str:
    """``$0.0041``, ``$0.124`` or ``$12.30``."""
    if usd >= 1:
        return f"${usd:,.2f}"
    if usd >= 0.01:
        return f"${usd:.3f}"
    return f"${usd:.4f}" if usd >= 0.00005 or not usd else "<$0.0001"


def _rate(view: MeterView) -> list[Piece]:
    palette = theme.active()
    if view.tokens_s is None:
        return [("    -- tok/s", palette.style("faint"))]
    about = "~" if view.estimated else ""
    rate = f"{about}{view.tokens_s:,.0f}" if view.tokens_s >= 10 else f"{about}{view.tokens_s:.1f}"
    lit = "bold" if view.state == "streaming" else ""
    return [
        (f"{rate:>6}", palette.style("meter-rate", more=lit)),
        (" tok/s", palette.style("muted")),
    ]


def _count(view: MeterView) -> list[Piece]:
    palette = theme.active()
    about = "~" if view.tokens_estimated else ""
    return [
        (f"{about}{view.tokens:,}", palette.style("foreground")),
        (" tok", palette.style("faint")),
        (f"  {view.seconds:.1f} s", palette.style("muted")),
    ]


def _spark(view: MeterView, cells: int) -> list[Piece]:
    palette = theme.active()
    values = [min(max(value, 0.0), 1.0) for value in view.spark[-cells:]]
    marks = "".join(_SPARKS[round(value * 8)] for value in values)
    if not marks.strip():
        return []
    return [
        ("·" * (cells - len(marks)), palette.style("faint")),
        (marks, palette.style("meter-spark")),
    ]


def _scale(view: MeterView, *, worded: bool, cells: int = 9) -> list[Piece]:
    """``delegate ├──┴───◆───┤ collaborate``; the tick stands for 50 tokens/s."""
    pieces = _ruler(view, cells)
    if not worded:
        return pieces
    palette = theme.active()
    known, near = view.tokens_s is not None, view.scale >= 0.5
    left = palette.style("meter-delegate" if known and not near else "faint")
    right = palette.style("meter-collaborate" if known and near else "faint")
    return [("delegate ", left), *pieces, (" collaborate", right)]


def _ruler(view: MeterView, cells: int) -> list[Piece]:
    palette = theme.active()
    line = palette.style("meter-scale")
    place = round(min(max(view.scale, 0.0), 1.0) * (cells - 1))
    tick = round(_GHOST_PLACE * (cells - 1))
    mark = palette.style("meter-mark", more="bold")
    known = view.tokens_s is not None
    pieces: list[Piece] = [("├", line)]
    for cell in range(cells):
        if known and cell == place:
            pieces.append(("◆", mark))
        else:
            pieces.append(("┴" if cell == tick else "─", line))
    return [*pieces, ("┤", line)]


def _span(seconds: float) -> str:
    """``84 ms`` or ``1.2 s``."""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _thousands(tokens: int) -> str:
    return str(tokens) if tokens < 1000 else f"{tokens / 1000:.0f}k"
