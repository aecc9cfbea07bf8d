"""The figures of the status line: the meter, who answers, how it ended, what is waited for.

Each has one form or several, the longest first: the line takes what it has room for. No form:
nothing was measured or told.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from tui.core.meter import (
    FASTEST_TOKENS_S,
    PRICE_UNKNOWN,
    SLOWEST_TOKENS_S,
    MeterView,
    dollars,
)
from tui.core.price import names_of
from tui.core.wire.rate_limits import PAUSE, Limit, tightest, wait_words
from tui.engine.notices import Status
from tui.ui import theme
from tui.ui.conversation.views import ROLE_GLYPHS
from tui.ui.keymap import shown
from tui.ui.styled_text import Piece, clip, clip_left, one_line

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


def tools(view: MeterView) -> Forms:
    """How long tools ran in the turn."""
    if view.tool_s < _NOTICED_S:
        return []
    return [[(span(view.tool_s), theme.active().style("muted"))]]


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


def cached(view: MeterView) -> Forms:
    """``92%``: how much of the turn's input came from the server's cache."""
    if view.cached is None:
        return []
    return [[(f"{view.cached:.0%}", theme.active().style("muted"))]]


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


_VERDICTS = {
    "passed": ("✓", "passed", "success"),
    "same": ("=", "fail as before", "warning"),
    "failed": ("✗", "failed", "error"),
    "timeout": ("✗", "timed out", "error"),
    "error": ("!", "could not run", "warning"),
}
_SCARCE = 0.1
"""The share of a limit below which it is said how much is left."""
_UNSAID_TIERS = frozenset({"", "auto"})
_NAME = 24


class StatusFacts(NamedTuple):
    """All that a line is made of."""

    status: Status
    view: MeterView
    now: float
    """Monotonic seconds."""
    workspace: str = ""
    branch: str = ""
    clock: str = ""
    """``14:05``."""
    reached: bool = False
    """A connection to the endpoint stood before."""


def news(facts: StatusFacts) -> Forms:
    """That it stops, or where it was stopped."""
    status, warning = facts.status, theme.active().style("warning")
    if status.stopping:
        return [[("stopping…", warning)]]
    if not status.stopped or status.busy:
        return []
    words = one_line(status.stopped)
    return [
        [(f"■ {words}", warning)],
        [(f"■ {clip(words, 20)}", warning)],
        [("■ stopped", warning)],
    ]


def running(facts: StatusFacts) -> Forms:
    """The command that runs."""
    if not facts.status.running:
        return []
    words, warning = one_line(facts.status.running), theme.active().style("warning")
    return [[(f"$ {clip(words, cells)} …", warning)] for cells in (_NAME, 10)]


def verdict(facts: StatusFacts) -> Forms:
    """How the last tests ended; nothing while a command runs."""
    found = _VERDICTS.get(facts.status.verdict)
    if found is None or facts.status.running:
        return []
    sign, words, colour = found
    palette, judged = theme.active(), facts.status.judged
    style = palette.style("muted") if facts.status.outdated else palette.style(colour, more="bold")
    forms = [f"{judged} {words}", words]
    if facts.status.outdated:
        forms = [f"{judged} {words} · out of date", f"{words} · old"]
    return [[(f"{sign} {form}", style)] for form in forms]


def throttle(facts: StatusFacts) -> Forms:
    """That the model is slowed down, and to what."""
    if not facts.status.throttle:
        return []
    warning, words = theme.active().style("warning"), f"{facts.status.throttle:,.0f}/s"
    return [[(f"throttled {words}", warning)], [(f"≤ {words}", warning)]]


def role(facts: StatusFacts) -> Forms:
    """``fast`` or ``deep``."""
    name = facts.status.role
    style = theme.active().style(name, more="bold")
    return [[(f"{ROLE_GLYPHS[name]} {name}", style)], [(name, style)]]


def served(facts: StatusFacts) -> Forms:
    """Who answered, once that was told: ``asked → served`` where they differ."""
    status, style = facts.status, theme.active().style
    asked = one_line(status.models.get(status.role, ""))
    name = one_line(status.served_model or status.served_endpoint)
    if not name:
        return []
    if not other_model(facts):
        return [[(clip(name, _NAME), style("muted"))]]
    warning = style("warning")
    short: Form = [(f"↪ {clip(name, _NAME)}", warning)]
    place = one_line(status.served_endpoint)
    on = f" on {clip(place, 16)}" if place and status.served_model else ""
    if not asked:
        return [short]
    whole = [(clip(asked, _NAME), style("muted")), (f" → {clip(name, _NAME)}{on}", warning)]
    return [whole, [(f"↪ {clip(name, _NAME)}{on}", warning)], short]


def other_model(facts: StatusFacts) -> bool:
    """True if another model answered than was asked; a dated name of the same model is no other."""
    status = facts.status
    asked, name = status.models.get(status.role, ""), status.served_model
    same = not name or not asked or _bare(name).startswith(_bare(asked))
    return bool(status.served_endpoint) or not same


def tier(facts: StatusFacts) -> Forms:
    """The service tier, once that was told: ``asked → served`` where they differ."""
    status, style = facts.status, theme.active().style
    got = one_line(status.served_tier)
    if got.casefold() in _UNSAID_TIERS:
        return []
    if not other_tier(facts):
        return [[(clip(got, 12), style("muted"))]]
    asked = one_line(status.tiers.get(status.role, ""))
    whole = [(clip(asked, 12), style("muted")), (f" → {clip(got, 12)}", style("warning"))]
    return [whole, [(f"↪ {clip(got, 12)}", style("warning"))]]


def other_tier(facts: StatusFacts) -> bool:
    """True if another tier was served than was asked for."""
    status = facts.status
    asked, got = status.tiers.get(status.role, "").casefold(), status.served_tier.casefold()
    if asked in _UNSAID_TIERS or got in _UNSAID_TIERS:
        return False
    return got not in names_of(asked, status.same_tiers.get(status.role, ()))


def limits(facts: StatusFacts, option: str) -> Forms:
    """The limit that is felt first, if little is left, and when it is lifted; ``all``: always."""
    status, now = facts.status, facts.now
    if status.retry_s is not None:
        return []
    pauses = [one for one in status.limits if one.name == PAUSE and (one.until_s or 0) > now]
    if pauses:
        left = wait_words((pauses[0].until_s or now) - now)
        error = theme.active().style("error", more="bold")
        return [[(f"the server says to wait {left}", error)], [(f"wait {left}", error)]]
    found = tightest(status.limits, now)
    if found is None or ((found.share or 0.0) > _SCARCE and option != "all"):
        return []
    return _limit(found, now)


def _limit(found: Limit, now: float) -> Forms:
    share = found.share or 0.0
    colour = "error" if not found.remaining else "warning" if share <= _SCARCE else "muted"
    style = theme.active().style(colour)
    name = clip(one_line(found.name), _NAME) or "requests"
    left = "" if found.until_s is None else wait_words(found.until_s - now)
    after = f", {left}" if left else ""
    if name.startswith("%"):
        words = f"{found.remaining:.0f}{name} left"
    elif not found.remaining:
        words, after = f"no {name} left", f" for {left}" if left else ""
    else:
        whole = f" of {_count(found.most)}" if found.most else ""
        words = f"{_count(found.remaining)}{whole} {name} left"
    short = f"{share:.0%} left" if found.remaining else "limit reached"
    return [[(f"{words}{after}", style)], [(f"{short}{after}", style)], [(short, style)]]


def connection(facts: StatusFacts) -> Forms:
    """How it stands with the server: in words, with its round trip, or when it is tried again."""
    status, style = facts.status, theme.active().style
    if status.retry_s is not None:
        left, lit = f"{math.ceil(max(status.retry_s, 0))} s", style("warning", more="bold")
        again: Form = [(f"◌ again in {left}", lit)]
        way_out = f" · {shown('interrupt')} cancels"
        return [[*again, (way_out, style("muted"))], again, [(f"◌ {left}", lit)]]
    over: Form = [(" http", style("warning"))] if status.transport == "http" else []
    if status.connection == "ready":
        trip = " ready" if status.round_trip_ms is None else f" {status.round_trip_ms:.0f} ms"
        dot = ("●", style("meter-online"))
        short = over or [(" ok", style("muted"))]
        return [[dot, *over, (trip, style("muted"))], [dot, *short], [dot]]
    if status.connection == "connecting" or (status.connection == "lost" and status.busy):
        again_said = "re" if facts.reached else ""
        return [[(f"◌ {again_said}connecting", style("warning")), *over]]
    if status.connection == "starting":
        return [[("◌ starting", style("muted"))]]
    if status.connection == "offline" and facts.reached:
        return [[("○ idle", style("muted")), *over]]  # typing opens it again
    if status.connection == "lost":
        offline = style("meter-offline")
        return [[("○ connection lost", offline)], [("○ lost", offline)]]
    return [[("○ offline", style("meter-offline"))]]


def away(facts: StatusFacts) -> bool:
    """True while the connection does not stand."""
    status = facts.status
    return status.retry_s is not None or status.connection != "ready"


def path(facts: StatusFacts) -> Forms:
    """The file that is shown, as far as there is room."""
    whole = one_line(facts.status.active_path)
    cut = [clip_left(whole, cells) for cells in (60, _NAME, 12)]
    return [form for words in dict.fromkeys(cut) for form in plain(words, "foreground")]


def plain(words: str, colour: str = "muted") -> Forms:
    """Words of one colour, cut at a name's length and at half of it."""
    found = one_line(words)
    style = theme.active().style(colour)
    return [[(clip(found, cells), style)] for cells in (_NAME, 12)] if found else []


def _bare(name: str) -> str:
    """Without the maker's name before it, as some endpoints have it."""
    return name.rpartition("/")[2].casefold()


def _count(number: float | None) -> str:
    return f"{number or 0:,.0f}"
