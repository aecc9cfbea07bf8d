"""The top row with workspace and models, and the bottom row with what the keys do now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.cells import cell_len

from tui.engine.intents import Role
from tui.engine.notices import Status
from tui.ui import theme
from tui.ui.conversation.views import ROLE_GLYPHS
from tui.ui.keymap import hints
from tui.ui.keys.table import Scope, When
from tui.ui.styled_text import Piece, clip, clip_left, one_line
from tui.ui.widgets.painted import Bar, Group, fitting

ANSWERS = "▸ "
"""Before the role that answers: colours and weights are not for every eye."""
_ROLES: tuple[Role, ...] = ("fast", "deep")


class Header(Bar):
    """Shows `Status`; has no state of its own."""

    BACK = "panel"

    def __init__(
        self, status: Status, workspace: str, branch: str = "", *, id: str | None = None
    ) -> None:
        """``workspace`` is the folder's name; ``branch`` is empty where there is no git."""
        super().__init__(id=id)
        self._status = status
        self._workspace = workspace
        self._branch = branch

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
        if self._branch and left > 5:
            branch = f"  {clip(one_line(self._branch), left - 2)}"
            pieces.append((branch, palette.style("muted")))
        return pieces

    def _model(self, role: Role) -> list[Piece]:
        palette = theme.active()
        lit = role == self._status.role
        name = one_line(self._status.models.get(role, "")) or "none"
        effort = self._status.efforts.get(role)
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
