"""The top row with workspace and models, and the bottom row with what the keys do now.

The status line: figures laid out in so many cells, each in one of its forms. The weightiest
figures are taken first, each in its shortest form, as long as they fit; what is left of the room
makes them longer, the weightiest first again; and then come those that are a matter of course. So
the same line serves from 40 to 250 columns, and the right half stands at the right edge whatever
the left one does. What stands in it is a template (docs/meter.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from rich.cells import cell_len

from tui.core.files import counted
from tui.engine.intents import Role
from tui.engine.notices import OVER, Status
from tui.engine.session import Session
from tui.ui import theme
from tui.ui.conversation.views import ROLE_GLYPHS
from tui.ui.keymap import hints
from tui.ui.keys.table import Scope, When
from tui.ui.styled_text import Piece, clip, clip_left, one_line
from tui.ui.widgets.figures import Form, Forms, StatusFacts
from tui.ui.widgets.line_template import (
    EXTRA,
    FIELDS,
    STATES,
    Bracket,
    Chunk,
    Figure,
    LineTemplate,
    Part,
    Text,
    default_template,
)
from tui.ui.widgets.painted import Bar, Group, fitting

ANSWERS = "▸ "
"""Before the role that answers: colours and weights are not for every eye."""
_ROLES: tuple[Role, ...] = ("fast", "deep")


class Header(Bar):
    """Shows `Status`; has no state of its own."""

    BACK = "panel"

    def __init__(self, status: Status, workspace: str, *, id: str | None = None) -> None:
        """``workspace`` is the folder's name."""
        super().__init__(id=id)
        self._status = status
        self._workspace = workspace

    def pieces(self, width: int) -> list[Piece]:
        """Left the place, right the models."""
        palette = theme.active()
        left: list[Piece] = [(" duetto ", palette.style("accent", more="bold"))]
        models = [(index, self._model(role)) for index, role in enumerate(self._order())]
        by_role = dict(zip(self._order(), models, strict=True))
        warning = palette.style("warning", more="bold")
        marks: list[Group] = [(0, [("REHEARSAL", warning)])] * self._status.rehearsal
        marks += [(0, [("AUTO-ACCEPT", warning)])] * self._status.auto_accept
        marks += [(0, [mode])] if (mode := self._mode()) else []
        marks += [(0, [work])] if (work := self._delegated()) else []
        groups = [*marks, *((by_role[role][0] * 2, by_role[role][1]) for role in _ROLES)]
        for gap in (3, 2):  # closer together, before the other model is left out
            shown = fitting(groups, max(width - 8 - 14, 10), gap)
            if len(shown) == len(groups):
                break
        mine = by_role[self._status.role][1]
        if mine not in shown:  # its name has no room: who answers is said all the same
            shown = fitting([*marks, (0, mine[:2])], max(width - 8 - 10, 10), gap)
        right: list[Piece] = []
        for group in shown:
            right += [(" " * gap, palette.style("faint")), *group]
        right.append((" ", palette.style("faint")))
        room = width - 8 - sum(cell_len(text) for text, _ in right)
        left += self._place(room)
        used = sum(cell_len(text) for text, _ in left + right)
        return [*left, (" " * max(width - used, 0), palette.style("faint")), *right]

    def _mode(self) -> Piece | None:
        """What the model's commands may do, where that is not what is usual."""
        status, palette = self._status, theme.active()
        if status.mode == "manual":
            return None
        if status.mode == "plan":
            return ("PLAN", palette.style("deep", more="bold"))
        asks = "" if status.sandboxed or not status.sandbox else " asks"
        colour = "warning" if asks else "success"
        return (f"SANDBOX{asks}", palette.style(colour, more="bold"))

    def _delegated(self) -> Piece | None:
        """How many delegates are at work, and whether one waits for the user."""
        alive = [one for one in self._status.delegates if one.state not in OVER]
        waits = next((one for one in alive if one.ask or one.state in ("failed", "paused")), None)
        if not alive:
            return None
        style = theme.active().style
        if waits is not None:
            how = "asks" if waits.ask else waits.state
            return (f"d{waits.number} {how}", style("warning", more="bold"))
        return (counted(len(alive), "delegate"), style("deep"))

    def _order(self) -> list[Role]:
        """The role that answers is the more important one."""
        return sorted(_ROLES, key=lambda role: role != self._status.role)

    def _place(self, room: int) -> list[Piece]:
        palette = theme.active()
        if room < 4:
            return []
        folder = clip_left(f"{one_line(self._workspace)}/", room - 1)
        pieces: list[Piece] = [(f" {folder}", palette.style("foreground"))]
        left = room - cell_len(folder) - 1
        if self._status.branch and left > 5:
            branch = f"  {clip(one_line(self._status.branch), left - 2)}"
            pieces.append((branch, palette.style("muted")))
        return pieces

    def _model(self, role: Role) -> list[Piece]:
        palette = theme.active()
        lit = role == self._status.role
        name = one_line(self._status.models.get(role, "")) or "none"
        effort = self._status.effort_words(role)
        weight = "bold" if lit else ""
        pieces: list[Piece] = [
            (ANSWERS if lit else "", palette.style(role, more=weight)),
            (f"{ROLE_GLYPHS[role]} {role}", palette.style(role if lit else "faint", more=weight)),
            (f" {clip(name, 28)}", palette.style("foreground" if lit else "faint")),
        ]
        tier = one_line(self._status.tiers.get(role, ""))
        for asked in filter(None, (effort, clip(tier, 12))):
            pieces.append((f" · {asked}", palette.style("muted" if lit else "faint")))
        return pieces


_ROOMY = 70
"""A row that is narrower has only what works now."""


def _cells(hint: tuple[str, str]) -> int:
    """How wide a key and its word are, with the blanks around them."""
    return cell_len(hint[0]) + cell_len(hint[1]) + 3


class KeysLine(Bar):
    """Shows keys for a set of states and the scopes that have the focus."""

    _states: frozenset[When] = frozenset()
    _scopes: tuple[Scope, ...] = ("global",)

    _labels: Mapping[str, str] = {}

    def show(self, states: set[When], scopes: Sequence[Scope], labels: Mapping[str, str]) -> None:
        """These states hold now; the keys of these scopes work now, the nearest first.

        ``labels``: words for actions that do not always do the same.
        """
        self._labels = dict(labels)
        self._states, self._scopes = frozenset(states), tuple(scopes)
        self.update_bar()

    def pieces(self, width: int) -> list[Piece]:
        """As many keys as fit."""
        palette = theme.active()
        pieces: list[Piece] = []
        for key, label in self._fitting(width - 1):
            pieces += [
                (f" {key}", palette.style("accent")),
                (f" {label} ", palette.style("muted")),
            ]
        return pieces

    def _fitting(self, room: int) -> list[tuple[str, str]]:
        """The first ones that fit; where the help has no place among them it is the last one.

        While something can be stopped what it needs goes first.
        """
        shown: list[tuple[str, str]] = []
        found = self._hints()
        if sum(map(_cells, found)) <= room:
            return found
        calm = room >= _ROOMY and "stoppable" not in self._states
        last = [hint for hint in found if hint[1] == "help" and calm]
        room -= sum(map(_cells, last))
        for hint in found:
            if hint in last:
                continue
            room -= _cells(hint)
            if room < 0:
                break
            shown.append(hint)
        return shown + last

    def _hints(self) -> list[tuple[str, str]]:
        return hints(set(self._states), *self._scopes, labels=self._labels)


_EDGE = 1
"""Blanks at both ends."""
_BETWEEN = 2
"""Blanks that part left from right, at least."""
_DETAILS = 10
"""Figures of that weight and more come when the connection has its words."""
_ROUNDS = (
    (-1, STATES, STATES),
    (STATES, _DETAILS, STATES + 1),
    (_DETAILS, EXTRA, EXTRA),
    (EXTRA, 100, 0),
)
"""From and below which weight figures are taken, and below which they become longer then."""
_OWN_WORDS = 99
"""The weight of words without a figure: they go first."""


class _Made(NamedTuple):
    """A chunk with something to say."""

    weight: int
    gap: int
    right: bool
    forms: Forms
    cells: tuple[int, ...]
    """Of each form, the gap left out."""


def laid_out(template: LineTemplate, facts: StatusFacts, width: int) -> list[Piece]:
    """The pieces of the line, together ``width`` cells."""
    made = [*_made(template.left, facts, right=False), *_made(template.right, facts, right=True)]
    chosen = _chosen(made, width - 2 * _EDGE)
    blank = theme.active().style("faint")
    halves: tuple[Form, Form] = ([], [])
    for index, form in sorted(chosen.items()):
        one = made[index]
        half = halves[one.right]
        if half and one.gap:
            half.append((" " * one.gap, blank))
        half += one.forms[form]
    left, right = halves
    used = sum(cell_len(text) for text, _ in (*left, *right))
    edge = (" " * _EDGE, blank)
    return [edge, *left, (" " * max(width - used - 2 * _EDGE, 0), blank), *right, edge]


def _chosen(made: list[_Made], room: int) -> dict[int, int]:
    """Which chunks are shown, and which form of each."""
    order = sorted(range(len(made)), key=lambda at: made[at].weight)
    chosen: dict[int, int] = {}
    for first, last, lengthened in _ROUNDS:
        for index in (at for at in order if first <= made[at].weight < last):
            if not _taken(made, chosen, index, room):
                # else a lesser one would come and go as the figures change their widths
                _lengthen(made, chosen, order, room)
                return chosen
        _lengthen(made, chosen, [at for at in order if made[at].weight < lengthened], room)
    return chosen


def _lengthen(made: list[_Made], chosen: dict[int, int], order: list[int], room: int) -> None:
    """Take longer forms of these, as far as there is room."""
    left = room - _used(made, chosen)
    for index in order:
        if index not in chosen:
            continue
        cells = made[index].cells
        now = cells[chosen[index]]
        form = next(at for at, wanted in enumerate(cells) if wanted - now <= left)
        left -= cells[form] - now
        chosen[index] = form


def _taken(made: list[_Made], chosen: dict[int, int], index: int, room: int) -> bool:
    """Take one more, in the longest form that fits; False: none does.

    What is no extra begins with its shortest one: it leaves room for the others.
    """
    forms = range(len(made[index].forms))
    for form in forms if made[index].weight >= EXTRA else forms[-1:]:
        chosen[index] = form
        if _used(made, chosen) <= room:
            return True
    del chosen[index]
    return False


def _used(made: list[_Made], chosen: dict[int, int]) -> int:
    """The cells of these forms side by side."""
    used, begun = 0, {False: False, True: False}
    for index in sorted(chosen):
        one = made[index]
        used += one.cells[chosen[index]] + (one.gap if begun[one.right] else 0)
        begun[one.right] = True
    return used + (_BETWEEN if all(begun.values()) else 0)


def _made(chunks: tuple[Chunk, ...], facts: StatusFacts, *, right: bool) -> list[_Made]:
    found = []
    for chunk in chunks:
        forms = [form for form in _forms(chunk.parts, facts) if form]
        if forms:
            weights = [_weight(one, facts) for one in chunk.figures()]
            cells = tuple(sum(cell_len(text) for text, _ in form) for form in forms)
            weight = min(weights, default=_OWN_WORDS)
            found.append(_Made(weight, chunk.gap, right, forms, cells))
    return found


def _weight(figure: Figure, facts: StatusFacts) -> int:
    if figure.kept:
        return -1
    return FIELDS[figure.name].weight_in(facts) if figure.name else _OWN_WORDS


def _forms(parts: tuple[Part, ...], facts: StatusFacts) -> Forms:
    """Parts side by side: all in their longest form, and so on down to the shortest."""
    if len(parts) == 1:
        return _part_forms(parts[0], facts)
    return _side_by_side([_part_forms(part, facts) for part in parts])


def _side_by_side(each: list[Forms]) -> Forms:
    levels = max((len(forms) for forms in each), default=0)
    return [
        [piece for forms in each if forms for piece in forms[min(level, len(forms) - 1)]]
        for level in range(levels)
    ]


def _part_forms(part: Part, facts: StatusFacts) -> Forms:
    if isinstance(part, Text):
        return [[(part.text, theme.active().style("faint"))]]
    if isinstance(part, Bracket):
        each = [_part_forms(one, facts) for one in part.parts]
        said = zip(part.parts, each, strict=True)
        return _side_by_side(each) if any(f for one, f in said if not isinstance(one, Text)) else []
    return FIELDS[part.name].forms(facts, part.option) if part.name else []


_TICK_S, _CALM_TICK_S = 0.1, 1.0
"""How often seconds and rate are looked at while a turn runs; for who is disturbed by motion."""
_SLOW_TICK_S = 1.0
"""How often what follows the time is looked at while no turn runs."""


class StatusLine(Bar):
    """Reads session.meter and session.status; of its own it keeps the template only."""

    BACK = "panel"

    def __init__(self, session: Session, workspace: str = "", *, id: str | None = None) -> None:
        """``workspace`` is the folder's name."""
        super().__init__(id=id)
        self._session = session
        self._workspace = workspace
        self._template = default_template()
        self._timed = _timed(self._template)
        self._reached: set[str] = set()
        """Endpoints that a connection stood to: the next one is a reconnection."""

    def follow(self, template: LineTemplate) -> None:
        """Show what this template says from now on."""
        self._template, self._timed = template, _timed(template)
        if self.is_attached:
            self._pace()
            self.update_bar()

    def on_mount(self) -> None:
        """The clock runs only while a turn does, or while something follows the time."""
        tick_s = _CALM_TICK_S if self.app.animation_level == "none" else _TICK_S
        self._timer = self.set_interval(tick_s, self.update_bar, pause=True)
        self._slow_timer = self.set_interval(_SLOW_TICK_S, self._look, pause=True)
        self._pace()

    def sync(self, *, only_meter: bool = False) -> None:
        """Take up what changed; while a turn runs the clock paints the meter, not the frame."""
        self._pace()
        if not (self._session.status.busy and only_meter):
            self.update_bar()

    def pieces(self, width: int) -> list[Piece]:
        """What the template says, as far as there is room."""
        return laid_out(self._template, self.facts(), width)

    def facts(self) -> StatusFacts:
        """All that it shows a part of."""
        session = self._session
        status, now = session.status, session.now()
        if status.connection == "ready":
            self._reached.add(status.endpoint)
        return StatusFacts(
            status,
            session.meter.view(now),
            now,
            self._workspace,
            status.branch,
            datetime.now().strftime("%H:%M"),
            status.endpoint in self._reached,
        )

    def _look(self) -> None:
        """What follows the time, once more; the last time it is over."""
        self.update_bar()
        self._pace()

    def _pace(self) -> None:
        """How often it is looked at now; asked at every frame."""
        busy = self._session.status.busy
        (self._timer.resume if busy else self._timer.pause)()
        counts = not busy and bool(self._timed) and self._counts()
        (self._slow_timer.resume if counts else self._slow_timer.pause)()

    def _counts(self) -> bool:
        """True if something in it goes on while nothing happens."""
        now, limits = self._session.now(), self._session.status.limits
        limited = any(one.until_s is not None and one.until_s > now for one in limits)
        return "clock" in self._timed or ("limits" in self._timed and limited)


def _timed(template: LineTemplate) -> frozenset[str]:
    """The fields in it that change while nothing else does."""
    return frozenset(name for name in template.names() if name and FIELDS[name].follows_time)
