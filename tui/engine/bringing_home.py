"""Brings what a lane made of files into the session: a turn of its own, with pending hunks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from tui.core.conversation import Block, BlockKind
from tui.core.document.hunk import Hunk, Stage
from tui.core.document.report import shown
from tui.core.files import counted
from tui.core.inert_text import brief
from tui.core.patches.bringing_home import MET, LaneFile, bringing_home
from tui.engine.ports import RoleSpec
from tui.engine.response_items import PATCH_TOOL
from tui.engine.services import Services

_BRIEF = 80
"""Characters of a prompt that are shown where it comes home."""


class LaneResult(Struct, frozen=True):
    """What is brought home, and how that is said."""

    who: str
    """``delegate d1``, ``attempt 3 of 5``."""
    prompt: str
    """What the lane was asked."""
    spec: RoleSpec
    """Who did it."""
    files: Mapping[str, LaneFile]
    said: str = ""
    """The last words of its model, in Markdown."""
    judged: str = ""
    """What the verifiers say of it, as the lane left it; empty: nothing judged it."""


class BringingHome:
    """One result at a time, and never while an answer streams."""

    def __init__(self, services: Services, new_turn: Callable[[str, str, RoleSpec], int]) -> None:
        """``new_turn`` begins a turn that a lane did (prompt, that in brief, who); its number."""
        self._services, self._new_turn = services, new_turn
        self._one = asyncio.Lock()
        self._idle = asyncio.Event()
        services.state.after_turn.append(lambda *told: self._idle.set())

    async def bring(self, result: LaneResult) -> Sequence[Hunk]:
        """Bring it home as soon as no answer streams; returns its hunks, the refused ones too."""
        async with self._one:
            while self._services.state.status.busy:
                await self.turn_over()
            return await self._bring(result)

    async def turn_over(self) -> None:
        """Return when the turn that runs is over, and another may have begun."""
        self._idle.clear()
        await self._idle.wait()
        await asyncio.sleep(0)

    async def _bring(self, result: LaneResult) -> Sequence[Hunk]:
        services, state, role = self._services, self._services.state, result.spec.role
        in_brief = f"{result.who}: {brief(result.prompt, _BRIEF)}"
        number = self._new_turn(result.prompt, in_brief, result.spec)
        call_id = f"{result.who}, turn {number}"
        if result.said:
            state.add(Block(BlockKind.TEXT, number, "", role, state="done"), result.said)
        work = bringing_home(state.workspace.documents, result.files, number, call_id)
        hunks = await state.input_first.do(work, services.ports.clock.now)
        if hunks:
            state.add(Block(BlockKind.PATCH, number, PATCH_TOOL, role, call_id, "done"))
        state.note(number, f"{result.who}: {home_words(hunks, result)}")
        services.requests.history.note(_told(result, hunks))
        services.requests.told.mark(hunks)
        state.workspace.on_landed(hunks, True)
        state.hunks_changed()
        state.witness.turn_ends(number, "completed", beside=True)
        state.witness.decided()  # from here on the store has it
        return hunks


def home_words(hunks: Sequence[Hunk], result: LaneResult) -> str:
    """What came home of a lane: ``3 hunks in 2 files wait for you; judged: passes``."""
    if not hunks:
        return "its changes are here already" if result.files else "nothing is changed"
    waiting = [hunk for hunk in hunks if hunk.decidable]
    refused = [hunk for hunk in hunks if hunk.stage is Stage.REFUSED]
    met = sum(bool(MET.intersection(hunk.flags)) for hunk in waiting)
    places = counted(len({hunk.path for hunk in waiting}), "file")
    wait = "waits" if len(waiting) == 1 else "wait"
    words = [f"{counted(len(waiting), 'hunk')} in {places} {wait} for you"] * bool(waiting)
    words += [f"{met} of them met what was changed meanwhile"] * bool(met)
    words += [f"not brought: {one.path}: {one.reason}" for one in refused]
    words += [f"judged: {result.judged}"] * bool(result.judged)
    return "; ".join(words)


def _told(result: LaneResult, hunks: Sequence[Hunk]) -> str:
    """What the model of this conversation is told."""
    paths = sorted({hunk.path for hunk in hunks})
    about = f"Beside you another model ({result.who}) was asked: {result.prompt}"
    if not hunks:
        return f"{about}\nNothing came of it that is not here already."
    ids = f"hunks {hunks[0].id} to {hunks[-1].id}" if len(hunks) > 1 else f"hunk {hunks[0].id}"
    files = ", ".join(map(shown, paths))
    judged = f" What judges the project says of them: {result.judged}." if result.judged else ""
    return f"{about}\nIts changes are in the editor as {ids}, pending review, in {files}.{judged}"
