"""``/rewind``: the list of turns, and the preview of what comes back and what goes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.app import App
from textual.message import Message

from tui.core.files import counted
from tui.engine.intents import Against, Forward, Part, Rewind
from tui.engine.rewound_files import PastTurn, RewindPlan, preview_words, turn_words
from tui.engine.session import Session
from tui.engine.slash import asked
from tui.ui import theme
from tui.ui.finding.pick_list import PickList, PickScreen
from tui.ui.keymap import bindings
from tui.ui.review.changes import DiffLoad, FileChanges, of_texts, without_end
from tui.ui.review.screen import ReviewScreen
from tui.ui.styled_text import Piece, one_line

if TYPE_CHECKING:
    from tui.engine.notices import Notices

Over = Callable[["Callable[[Notices], None] | None"], object]
"""Who is told what lies over the workbench."""


class TurnList(PickList[PastTurn]):
    """A turn a row: its number, what was asked, and at the right what it changed."""

    def row(self, item: PastTurn, width: int) -> tuple[list[Piece], list[Piece]]:
        """The newest first."""
        style = theme.active().style
        colour = "faint" if item.rewound else "foreground"
        left = [
            (f"{item.number:>4}  ", style("accent")),
            (one_line(item.text), style(colour)),
        ]
        return left, [(f"  {turn_words(item)} ", style("muted"))]


class TurnsScreen(PickScreen[PastTurn | None]):
    """Type words or a number, Enter previews the rewind to before the turn that is lit."""

    title_words = "Rewind to before a turn"
    placeholder = "words of the prompt, or the number of a turn"

    def __init__(self, turns: list[PastTurn]) -> None:
        super().__init__()
        self._turns = turns[::-1]
        self._list: TurnList = TurnList()

    def look_for(self, words: str) -> None:
        """Those that have these words, or that number."""
        wanted = words.casefold().split()
        found = [
            one
            for one in self._turns
            if words.strip() == str(one.number)
            or all(word in one.text.casefold() for word in wanted)
        ]
        self._list.show(found)
        count = counted(len(found), "turn")
        self._status.update(f"{count} · ↑↓ choose · Enter preview · Esc leave")


class RewindLoad(DiffLoad):
    """The texts now, against what they would be."""

    def __init__(self, session: Session, plan: RewindPlan) -> None:
        super().__init__(session)
        self.plan = plan

    def words(self, against: Against, files: str) -> str:
        """Where it leads, and what goes."""
        return " · ".join(preview_words(self.plan))

    def nothing(self, against: Against, path: str) -> str:
        """No file changes."""
        if self.plan.part == "talk":
            return "Only the conversation goes back; files stay as they are."
        return "No file changes."

    async def files(self, against: Against, path: str) -> list[FileChanges]:
        """What comes back is new, what goes is old."""
        found = []
        for one in self.plan.files:
            sides = ((text or "").split("\n") for text in (one.now, one.then))
            old, new = (without_end([line.removesuffix("\r") for line in side]) for side in sides)
            file = of_texts(one.path, old, new)
            file.words = ", ".join(filter(None, (one.words, "changed by others" * one.others)))
            file.note = f"Stays as it is: {one.stays}." if one.stays else ""
            if not file.changes and not file.note:
                file.note = f"The file {one.words}." if one.words else "Only line ends change."
            found.append(file)
        return found


class RewindScreen(ReviewScreen):
    """Shows what a rewind would do, and does it."""

    BINDINGS = bindings("rewind", "diff")
    named = "rewind"
    read_only = ("rewind", "diff")

    def __init__(
        self, session: Session, tell: Callable[[Message], object], plan: RewindPlan
    ) -> None:
        super().__init__(session, tell, against="turn")
        self._plan = plan
        self._load = self.content.load = RewindLoad(session, plan)

    def action_go(self) -> None:
        """Do it."""
        plan = self._load.plan
        self.leave()
        self.session.submit(Rewind(plan.turn, plan.hunk, plan.part))

    async def action_part(self, part: Part) -> None:
        """Show files and conversation, or only one of them."""
        plan = await self.session.rewinding.plan(self._plan.turn, self._plan.hunk, part)
        if isinstance(plan, str):
            self.say(plan)
            return
        self._load.plan = plan
        self.content.look()

    def action_against(self) -> None:
        """There is nothing else to compare with."""
        self.say("This is what the rewind does; Esc leaves it undone.")


async def preview(
    app: App[int], session: Session, tell: tuple[Callable[[Message], object], Over], argument: str
) -> None:
    """Show the list of turns, or what a rewind to before this turn or hunk would do."""
    intent = asked("rewind", argument, session.status)
    if isinstance(app.screen, RewindScreen | TurnsScreen):
        return
    if isinstance(intent, str):
        app.notify(intent, severity="warning", markup=False)
        return
    if isinstance(intent, Forward):
        session.submit(intent)
        return
    if isinstance(intent, Rewind):
        await _show(app, session, tell, intent)
        return
    turns = session.rewinding.turns()
    if not turns:
        app.notify("There is no turn yet.", markup=False)
        return

    def chosen(turn: PastTurn | None) -> None:
        if turn is None:
            return
        if turn.rewound:
            session.submit(Forward(turn.number))
        else:
            app.call_later(_show, app, session, tell, Rewind(turn.number))

    app.push_screen(TurnsScreen(turns), chosen)


async def _show(
    app: App[int],
    session: Session,
    tell: tuple[Callable[[Message], object], Over],
    wanted: Rewind,
) -> None:
    plan = await session.rewinding.plan(wanted.turn, wanted.hunk, wanted.part)
    if isinstance(plan, str):
        app.notify(plan, severity="warning", markup=False)
        return
    post, over = tell
    screen = RewindScreen(session, post, plan)
    over(screen.sync)

    def left(result: None) -> None:
        over(None)

    app.push_screen(screen, left)
