"""Hooks: commands of the user's or the workspace's that look at what happens, and may refuse it.

Each gets one JSON object on its stdin and answers by its exit status, as with other agents: 2
refuses, and what it has printed is the reason; any other failure is said, and does not hold
anything up. They run as the user's own commands do: in a group of their own, with a deadline.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from tui.core.programs import AS_THE_USER
from tui.core.shell.clipping import Clip
from tui.engine.formatting import Formatting, failure_of, words_of
from tui.engine.notices import Trouble
from tui.engine.ports import HookEvent, VerifyCommand
from tui.engine.services import Services
from tui.engine.verification import is_allowed
from tui.errors import DuettoError

VERSION = 1
"""Of what a hook is told."""
REFUSES = 2
"""The exit status of a refusal."""
_HEAD_BYTES, _TAIL_BYTES = 600, 300
"""Of what it prints."""
_Happened = tuple[HookEvent, dict[str, Any]]


class Hooks:
    """Runs them; those that nobody waits for one after the other."""

    def __init__(self, services: Services, formatting: Formatting) -> None:
        """Files are told of when ``formatting`` is done with them."""
        self._services, self._formatting = services, formatting
        self._state, self._ports = services.state, services.ports
        self._waiting: list[_Happened] = []
        self._task: asyncio.Task[None] | None = None
        self._news: list[str] = []
        """Refusals of which the model was not told."""
        self._failing: dict[str, str] = {}
        """Hook -> what went wrong with it last time: said once."""
        self._answers: dict[str, bool] = {}
        """A command and what it does -> whether the user lets it run."""
        self._asking = asyncio.Lock()

    @property
    def running(self) -> bool:
        """True while a hook runs for which nobody waits."""
        return self._task is not None

    def take_news(self) -> list[str]:
        """What the model is to be told, once."""
        news, self._news = self._news, []
        return news

    async def before_command(self, turn: int, line: str, folder: str) -> str:
        """Why a command of the model must not run, in words; empty: it may."""
        told = {"command": line, "folder": folder or "."}
        with self._state.tool_time(self._ports.clock.now):
            return await self._run("before_command", {"turn": turn, **told})

    def written(self, paths: Iterable[str]) -> None:
        """The new text of these files lies on the disk."""
        if self._waiting and self._waiting[-1][0] == "after_edit":
            paths = [*self._waiting.pop()[1]["paths"], *paths]
        self._add("after_edit", {"paths": list(dict.fromkeys(paths))})

    def turn_ended(self, turn: int, prompt: str, outcome: str) -> None:
        """A turn is over, however."""
        mine = [hunk for hunk in self._state.workspace.hunks if hunk.turn == turn]
        told = {"turn": turn, "prompt": prompt, "outcome": outcome}
        paths = list(dict.fromkeys(hunk.path for hunk in mine))
        pending = sum(hunk.decidable for hunk in mine)
        self._add("turn_end", {**told, "paths": paths, "pending_hunks": pending})

    def _add(self, event: HookEvent, told: dict[str, Any]) -> None:
        self._waiting.append((event, told))
        if self._task is None:
            self._task = self._services.supervisor.start(self._run_all(), "hooks")
            self._task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[None]) -> None:
        self._task = None
        self._state.restated()

    async def _run_all(self) -> None:
        while self._waiting:
            if self._waiting[0][0] == "after_edit":
                await self._formatting.over()
            event, told = self._waiting.pop(0)
            why = await self._run(event, told)
            if not why:
                continue
            about = (
                ", ".join(told["paths"][:5]) if event == "after_edit" else f"turn {told['turn']}"
            )
            self._news.append(f"The hook {event} refused {about}: {why}")
            status = self._state.status
            step = "the model is told with the next request"
            if event == "turn_end" and not status.busy:
                status.can_go_on = True
                step = "Enter with nothing typed lets the model go on, and tells it"
            self._say(f"The hook {event} refused {about}", why, step, failed=not status.busy)

    async def _run(self, event: HookEvent, told: Mapping[str, Any]) -> str:
        """Run what is set up for this; returns the reason of a refusal."""
        look_up = self._ports.hooks
        try:
            commands = [] if look_up is None else await look_up(event)
        except DuettoError as error:
            self._fails(event, f"The hook {event} did not run", str(error))
            return ""
        about = {
            "version": VERSION,
            "event": event,
            "workspace": self._ports.files.root,
            "mode": self._state.status.mode,
        }
        for hook in commands:
            if await self._allowed(event, hook):
                stdin = f"{json.dumps({**about, **told})}\n".encode()
                if why := await self._one(event, hook, stdin):
                    return why
        return ""

    async def _allowed(self, event: HookEvent, hook: VerifyCommand) -> bool:
        """What came with the workspace is asked about, once for what it does now."""
        words = words_of(hook)
        known = f"{words} #{hook.content}"
        async with self._asking:
            if known not in self._answers:
                self._answers[known] = await is_allowed(self._state, self._ports, hook)
                if not self._answers[known]:
                    what, why = f"The hook {event} does not run", "it was not allowed"
                    self._say(what, why, f"it comes from {hook.source}", failed=False)
        return self._answers[known]

    async def _one(self, event: HookEvent, hook: VerifyCommand, stdin: bytes) -> str:
        output = Clip(_HEAD_BYTES, _TAIL_BYTES)
        how = replace(AS_THE_USER, stdin=stdin)
        result = await self._ports.runner.run(hook.argv, output.feed, hook.deadline_s, how)
        said = " ".join(output.text().split())
        which = f"{event} {words_of(hook)}"
        if result.status == REFUSES and not result.timed_out:
            self._failing.pop(which, None)
            return said or "it gave no reason"
        failure = failure_of(result, hook.deadline_s)
        if failure:
            self._fails(which, f"The hook {event} {failure}", said or words_of(hook))
        else:
            self._failing.pop(which, None)
        return ""

    def _fails(self, which: str, what: str, why: str) -> None:
        """Say what went wrong, once; nothing waits for a hook that is broken."""
        if self._failing.get(which) != what:
            self._failing[which] = what
            self._say(what, why, "it held nothing up", failed=False)

    def _say(self, what: str, why: str, step: str, *, failed: bool) -> None:
        trouble = Trouble(what, why, step, severity="error" if failed else "warning", noted=True)
        self._state.trouble(trouble)
        self._state.note(0, "\n".join(filter(None, (f"{what}: {why}", step))))
