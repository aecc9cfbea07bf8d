"""The tool bench of a turn: runs calls while the model streams on, answers each exactly once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from tui.core.edits.telling.presence import not_kept
from tui.core.history import Entry, History, answer_item
from tui.engine.kit import Kit
from tui.engine.reply import Call
from tui.engine.requests import Said

if TYPE_CHECKING:
    from tui.core.edits.patches.landing import Landing
    from tui.core.steps import Work

_BROKEN = "error: the tool broke; the user was told"


class ToolBench:
    """Calls that the model has no answer to yet."""

    def __init__(self, kit: Kit, on_done: Callable[[], None]) -> None:
        self._kit = kit
        self._on_done = on_done
        self._calls: list[Call] = []
        self._running: dict[asyncio.Task[None], Call] = {}

    @property
    def waiting(self) -> bool:
        """True while a call is still being run."""
        running = [id(call) for call in self._running.values()]
        return any(call.output is None and id(call) in running for call in self._calls)

    @property
    def unanswered(self) -> bool:
        """True while calls stand in the history without their answers."""
        return bool(self._calls)

    def run(self, call: Call) -> None:
        """Run a finished call; `on_done` is called when it has its output."""
        task = self._kit.supervisor.start(self._run(call), call.name)
        self._running[task] = call
        task.add_done_callback(lambda done: self._end(done, call))

    def collect(self, calls: Iterable[Call]) -> None:
        """These calls stand in the history and need answers."""
        self._calls += calls

    def answer(self, history: History, otherwise: str = _BROKEN) -> bool:
        """Answer all, with ``otherwise`` where there is no output; False if there were none."""
        calls, self._calls = self._calls, []
        for call in calls:
            if call.report is not None and call.landing is not None:
                entry = history.answer(call.item, "", failed=True)
                report = partial(self._report, call, call.landing, call.report, entry)
                self._kit.requests.owed.append(report)
                continue
            output = otherwise if call.output is None else call.output
            history.answer(call.item, output, failed=call.failed or call.output is None)
        return bool(calls)

    def _report(
        self, call: Call, landing: Landing, report: Callable[[], Work[str]], entry: Entry
    ) -> Work[Said]:
        """Say what became of a patch, as it is now that it is sent."""
        output = yield from report()
        lost = yield from not_kept(self._kit.desk.workspace.ledger, landing.hunks)
        failed = bool(lost) or not landing.placed_all
        states = yield from self._kit.requests.told.states(landing.hunks)
        return Said(entry, answer_item(call.item, output, failed=failed), states)

    def stop(self) -> None:
        """The turn is over: nothing runs on, no question stays."""
        for task in self._running:
            task.cancel()

    async def _run(self, call: Call) -> None:
        if call.report is not None and call.landing is not None:
            await self._kit.desk.catalogue.prepare({hunk.path for hunk in call.landing.hunks})
            return
        arguments = str(call.item.get("arguments") or call.item.get("input") or "")
        result = await self._kit.tools.call(call.name, arguments)
        call.output, call.failed = result.output, result.failed
        self._kit.board.append(call.block, result.brief)

    def _end(self, task: asyncio.Task[None], call: Call) -> None:
        self._running.pop(task, None)
        if task.cancelled():
            self._kit.board.close(call.block, "cut")
            return
        if call.output is None and call.report is None:
            call.output, call.failed = _BROKEN, True
        self._kit.board.close(call.block, "failed" if call.failed else "done")
        self._on_done()
