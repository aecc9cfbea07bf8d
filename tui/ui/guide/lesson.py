"""What the guide teaches, and how it sees that it was done: no widget, no clock of its own.

A step is done when the session shows that it was done, never because time went by. Steps may be
done in any order: the lesson goes to the first one that is left.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

from msgspec import Struct, field
from msgspec.structs import replace

from tui.core.conversation import Block, BlockKind
from tui.core.document.hunk import PLACED, TAKEN_BACK, Decision, Stage
from tui.engine.intents import Role
from tui.engine.session import Session

Step = Literal["prompt", "watch", "stop", "redirect", "accept", "run", "switch", "mend"]
STEPS: tuple[Step, ...] = get_args(Step)
ENOUGH_MISSED = 2
"""Answers that came to their end before they were stopped: then the lesson goes on without."""


class LessonView(Struct, frozen=True):
    """What can be seen of the session at one moment."""

    now_s: float = 0.0
    """Monotonic seconds."""
    busy: bool = False
    outcome: Literal["", "completed", "interrupted", "failed"] = ""
    """How the last turn ended; empty while one runs."""
    prompts: int = 0
    """How many the user has sent since the lesson began."""
    stops: int = 0
    """How many answers were stopped, by whatever key."""
    landed: int = 0
    """How many hunks have come, or begun to."""
    pending: bool = False
    """Something waits for a decision."""
    accepted: bool = False
    rejected: bool = False
    asks: bool = False
    """The model waits for leave to run a command."""
    ran: bool = False
    """A command of the model has ended, or was declined."""
    role: Role = "fast"
    tokens_s: float | None = None
    """Rate of the turn, so far."""
    ttft_s: float | None = None
    """Time to first token of the turn."""
    stopped: str = ""
    """How the stop went, in the session's words."""
    verifies: bool = False
    """The tests run."""
    blamed: bool = False
    """A hunk is marked that breaks the tests."""
    verdict: str = ""
    """Of the tests, on what the screen shows now; empty: there is none."""


class Figures(Struct):
    """What was measured on the way; None: it was not."""

    began_s: float = 0.0
    ended_s: float | None = None
    first_output_s: float | None = None
    """From the first prompt to the first output."""
    first_edit_s: float | None = None
    """From the first prompt to the first edit."""
    slow_tokens_s: float | None = None
    """While it was slowed down; an estimate, if it was stopped."""
    own_tokens_s: float | None = None
    """The quickest answer at its own speed."""
    stopped: str = ""
    accepted_s: float | None = None
    """From the last prompt to its hunks being accepted."""
    mended_s: float | None = None
    """From a failure being sent to the verdict that nothing fails any more."""


class Lesson(Struct):
    """How far somebody has come."""

    done: set[Step] = field(default_factory=set)
    skipped: set[Step] = field(default_factory=set)
    """Steps that were given up: the lesson goes on without them."""
    missed: int = 0
    """Answers that ended before they were stopped."""
    typed_over: bool = False
    """The answer was stopped by sending another instruction, not by the key for it."""
    figures: Figures = field(default_factory=Figures)
    sight: LessonView = field(default_factory=LessonView)
    """The newest one."""
    _role: Role = "fast"
    """The role that answered when the lesson began."""
    _stopped_at: int | None = None
    """How many prompts there were when the first answer was stopped."""
    _prompt_s: float = 0.0
    """When the newest prompt was sent."""
    _slowed: bool = True
    """The answer to it began slowly."""
    _lay_still: bool = False
    """An answer was stopped, and nothing came after it by itself."""
    _handed: int = 0
    """Answers that the other model took over: the session notes each as a stop, nobody meant it."""
    red: bool = False
    """The tests found the mistake of the last step."""
    _unasked: int | None = None
    """How many prompts there were when the last step began."""
    _tested: bool = False
    """The tests were run since the newest prompt."""
    _newest_handed: int = -1
    """How many stops the session had noted at the newest of them."""

    def begin(self, sight: LessonView) -> None:
        """From here on it counts."""
        self.sight, self._role = sight, sight.role
        self.figures.began_s = sight.now_s

    @property
    def step(self) -> Step | None:
        """The first one that is left; None: it is over."""
        left = (step for step in STEPS if step not in self.done | self.skipped)
        return next(left, None)

    @property
    def away(self) -> bool:
        """Whether another model than at first would answer."""
        return self.sight.role != self._role

    @property
    def mends(self) -> bool:
        """Whether the last step's prompt was sent."""
        return self._unasked is not None and self.sight.prompts > self._unasked

    @property
    def slow(self) -> bool:
        """Whether the model is to be slowed down, so that there is time to stop it."""
        return self.step in ("prompt", "watch", "stop")

    def look(self, sight: LessonView) -> None:
        """Take up what is to be seen now."""
        sight = self._without_handed(sight)
        before, self.sight = self.sight, sight
        another = sight.prompts > before.prompts
        self._measure_turn(before, sight)
        if another:
            self._prompt_s = sight.now_s
        if before.busy and not sight.busy:
            self._end_turn(sight)
        if sight.stops and self._stopped_at is None:
            # the prompt that stopped it comes after the stop, though both are seen at once
            self._stopped_at = sight.prompts - (another and before.busy)
        self._measure(sight)
        if self.step == "mend":
            self._judge(before, sight)
        self.done |= set(self._shown(sight))
        self.skipped -= self.done
        if another:
            self._slowed = self.slow
        if self.step is None and self.figures.ended_s is None:
            self.figures.ended_s = sight.now_s

    def _judge(self, before: LessonView, sight: LessonView) -> None:
        """What the tests say of the answer to the last step's prompt."""
        if self._unasked is None:
            self._unasked = before.prompts
        another = sight.prompts > before.prompts
        self._tested = (self._tested and not another) or sight.verifies
        if sight.verifies or not self._tested or not self.mends:
            return
        if sight.verdict == "failed":
            self.red = True
        elif sight.verdict == "passed":
            self.done.add("mend")
            if self.red:
                self.figures.mended_s = sight.now_s - self._prompt_s
        elif sight.verdict in ("same", "error", "timeout"):
            self.skipped.add("mend")  # it cannot be shown here

    def _without_handed(self, sight: LessonView) -> LessonView:
        if sight.stops - self._handed > self.sight.stops and sight.role != self.sight.role:
            self._handed, self._newest_handed = self._handed + 1, sight.stops
        stopped = "" if sight.stops == self._newest_handed else sight.stopped
        return replace(sight, stops=sight.stops - self._handed, stopped=stopped)

    def _end_turn(self, sight: LessonView) -> None:
        if sight.outcome == "interrupted":
            self._lay_still = True
        elif sight.outcome == "completed" and self.step == "stop":
            self.missed += 1
            if self.missed >= ENOUGH_MISSED:
                self.skipped.add("stop")
        elif sight.outcome == "completed" and self.step == "run" and not sight.ran:
            self.skipped.add("run")  # who answers runs nothing

    def _shown(self, sight: LessonView) -> Iterator[Step]:
        """The steps that this sight proves."""
        if sight.prompts:
            yield "prompt"
        if sight.landed:
            yield "watch"
        if sight.stops:
            yield "stop"
        if self._redirected(sight):
            anew = self._stopped_at is not None and "redirect" not in self.done
            self.typed_over = self.typed_over or (anew and not self._lay_still)
            yield "redirect"
        if sight.accepted or sight.rejected:
            yield "accept"
        if sight.ran and not sight.busy:
            yield "run"
        if sight.role != self._role:
            yield "switch"

    def _redirected(self, sight: LessonView) -> bool:
        """Something else was said after a stop, or after an answer that nobody stopped."""
        if self._stopped_at is not None:
            return sight.prompts > self._stopped_at
        return "stop" in self.skipped and sight.prompts > 1

    def _measure(self, sight: LessonView) -> None:
        figures = self.figures
        if not sight.prompts:
            return
        since_s = sight.now_s - self._prompt_s
        if sight.ttft_s is not None and figures.first_output_s is None:
            figures.first_output_s = sight.ttft_s
        if sight.landed and figures.first_edit_s is None:
            figures.first_edit_s = since_s
        if sight.stopped and not figures.stopped:
            figures.stopped = sight.stopped
        if sight.accepted and figures.accepted_s is None:
            figures.accepted_s = since_s

    def _measure_turn(self, before: LessonView, sight: LessonView) -> None:
        """How quick an answer was; one that was slow for a part of it says nothing.

        Of one that was stopped: how quick it was until then. What a server counts of it may be
        more than came.
        """
        figures = self.figures
        if sight.stops > before.stops and self._slowed and self.slow:
            figures.slow_tokens_s = before.tokens_s
        if not (before.busy and not sight.busy and sight.outcome == "completed"):
            return
        if self._slowed and self.slow:
            figures.slow_tokens_s = sight.tokens_s
        elif not self._slowed and sight.tokens_s is not None:
            figures.own_tokens_s = max(figures.own_tokens_s or 0.0, sight.tokens_s)


_IN_SIGHT = PLACED | {Stage.LANDING}


class Facts:
    """Counts prompts, stops and hunks since it was made."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._next = len(session.transcript.blocks)
        """The first block that was not looked at."""
        self._hunks = len(session.workspace.hunk_list.hunks)
        """Those that were there before."""
        self._reviews = session.workspace.hunk_list.reviews
        self._prompts = self._stops = self._landed = 0
        self._runs: list[Block] = []
        """The model's commands."""
        self._accepted = self._rejected = False

    def look(self) -> LessonView:
        """What is so now."""
        session = self._session
        self._read_blocks()
        self._read_hunks()
        now_s, status = session.now(), session.status
        view = session.meter.view(now_s)
        return LessonView(
            now_s,
            busy=status.busy,
            outcome=status.outcome,
            prompts=self._prompts,
            stops=self._stops,
            landed=self._landed,
            pending=session.workspace.hunk_list.has_decidable(),
            accepted=self._accepted,
            rejected=self._rejected,
            asks=any(ask.command for ask in status.asks),
            ran=any(run.state != "open" for run in self._runs),
            role=status.role,
            tokens_s=view.tokens_s,
            ttft_s=view.ttft_s,
            stopped=status.stopped,
            verifies=bool(status.running),
            blamed=any(hunk.is_blamed for hunk in session.workspace.hunks),
            verdict="" if status.outdated else status.verdict,
        )

    def _read_blocks(self) -> None:
        blocks = self._session.transcript.blocks
        if len(blocks) < self._next:  # another conversation
            self._next = 0
        for block in blocks[self._next :]:
            if block.kind is BlockKind.USER:
                self._prompts += 1
            elif block.kind is BlockKind.RUN and block.turn:
                self._runs.append(block)
            elif block.kind is BlockKind.NOTE and block.state in ("open", "cut"):
                self._stops += 1  # other notes are done as soon as they are said
        self._next = len(blocks)

    def _read_hunks(self) -> None:
        roster = self._session.workspace.hunk_list
        if not self._landed:
            self._landed = sum(hunk.stage in _IN_SIGHT for hunk in roster.hunks[self._hunks :])
        if roster.reviews == self._reviews:
            return
        self._reviews = roster.reviews
        mine = (hunk for hunk in roster.hunks[self._hunks :] if hunk.reason != TAKEN_BACK)
        decisions = {hunk.decision for hunk in mine}
        self._accepted = self._accepted or Decision.ACCEPTED in decisions
        self._rejected = self._rejected or Decision.REJECTED in decisions
