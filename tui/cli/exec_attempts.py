"""``duetto exec --attempts N``: attempts without a screen, and their table as JSON."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys

from msgspec.structs import replace

from tui.cli.composition import Composition
from tui.cli.exec import is_left_out, to_end
from tui.cli.exec_reports import left_out_words
from tui.core.attempts import AttemptPlan, count_refusal
from tui.core.document.hunk import Decision, Hunk
from tui.core.inert_text import inert
from tui.engine.attempts import AttemptView
from tui.engine.intents import Accept, Answer, Intent, MakeAttempts, Prompt, StopAttempts
from tui.engine.notices import Trouble
from tui.engine.session import Session
from tui.errors import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_OVER_BUDGET,
    EXIT_UNREACHABLE,
    UsageError,
)

_FRAME_S = 0.02


def play_attempts(
    composition: Composition, count: int | None, asked: Intent, *, apply: bool
) -> int:
    """Make them, print the table, and write what the winner changed if it is to be applied.

    Raises UsageError: there cannot be so many, a command is asked for, or nothing to apply.
    """
    if count is not None:
        if not isinstance(asked, Prompt):
            why = "takes a prompt, not a command: duetto exec --attempts 5 PROMPT"
            raise UsageError(f"--attempts {why}")
        if problem := count_refusal(count):
            raise UsageError(f"--attempts {count}: {problem}")
        asked = MakeAttempts(AttemptPlan(count, asked.text))
    assert isinstance(asked, MakeAttempts)
    if asked.plan.race and apply:
        raise UsageError("a race changes no files: leave --apply out, or ask for --attempts 2")
    turn = AttemptsTurn(composition.session)
    return asyncio.run(to_end(composition, turn.play(asked, apply=apply)))


class AttemptsTurn:
    """Follows one run of attempts to its end."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._interrupted = self._unreachable = self._over_budget = False
        self._over = {h.id for h in session.workspace.hunks if h.decision != Decision.PENDING}

    async def play(self, asked: MakeAttempts, *, apply: bool) -> int:
        """Returns the exit code."""
        session = self._session
        with contextlib.suppress(NotImplementedError):  # Windows
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._interrupt)
        if (usd := session.options.limits.usd) is not None:  # all of them are one turn here
            self._limit(session.meter.session_usd + usd)
        session.submit(asked)
        await self._rest()
        for one in self._lanes_troubles():
            self._tell(one)
        wins = any(view.wins for view in session.attempts.views())
        left_out: list[Hunk] = []
        if wins and apply and not self._interrupted:
            self._accept()
            await self._rest()
            left_out = self._left_out()
        print(json.dumps(table(session), indent=2, ensure_ascii=False))
        return self._code(wins=wins and not left_out)

    def _limit(self, usd: float) -> None:
        """Spend no more than so much in all."""
        budget = self._session.services.budget()
        caps = budget.caps
        budget.caps = replace(caps, session=usd if caps.session is None else min(usd, caps.session))

    def _lanes_troubles(self) -> list[Trouble]:
        """Why attempts failed, each reason once."""
        rows = [view.attempt for view in self._session.attempts.views()]
        return list(dict.fromkeys(row.trouble for row in rows if row.trouble is not None))

    def _left_out(self) -> list[Hunk]:
        """The winner's hunks that need a look; it is said why."""
        hunks = [one for one in self._session.workspace.hunks if one.id not in self._over]
        left = [one for one in hunks if is_left_out(one, hunks)]
        for hunk in left:
            print(left_out_words(hunk), file=sys.stderr)
        return left

    async def _rest(self) -> None:
        session = self._session
        while not session.at_rest:
            self._take()
            await asyncio.sleep(_FRAME_S)
        self._take()

    def _take(self) -> None:
        """Say what went wrong; questions get the safe answer: nobody is there to ask."""
        for trouble in self._session.drain().troubles:
            self._tell(trouble)
        for ask in list(self._session.status.asks):
            print(f"duetto: {inert(ask.question)} {inert(ask.choices[-1])}", file=sys.stderr)
            self._session.submit(Answer(ask.id, ask.choices[-1]))

    def _tell(self, trouble: Trouble) -> None:
        self._unreachable |= trouble.unreachable
        self._over_budget |= trouble.over_budget
        words = trouble.words
        print(f"duetto: {inert(words)}", file=sys.stderr)

    def _accept(self) -> None:
        """The winner's hunks that need no look."""
        workspace = self._session.workspace
        chosen = [hunk.id for hunk in workspace.hunks if workspace.may_be_taken_as_read(hunk)]
        if chosen:
            self._session.submit(Accept(tuple(chosen)))

    def _interrupt(self) -> None:
        self._interrupted = True
        self._session.submit(StopAttempts())

    def _code(self, *, wins: bool) -> int:
        if self._interrupted:
            return EXIT_INTERRUPTED
        if wins:
            return EXIT_OK
        if self._unreachable:
            return EXIT_UNREACHABLE
        return EXIT_OVER_BUDGET if self._over_budget else EXIT_FAILED


def table(session: Session) -> dict[str, object]:
    """All that is known of the attempts, the best one first."""
    attempts = session.attempts
    views = attempts.views()
    if attempts.race:
        return {"race": [{**_row(view), **_clocks(view)} for view in views]}
    winner = next((view.attempt.number for view in views if view.wins), None)
    chances = {
        f"pass@{k}": {"share": share, "runs": runs}
        for k in (1, len(views))
        for share, runs in [attempts.tally.at(k)]
        if runs
    }
    return {"winner": winner, **chances, "attempts": [_row(view) for view in views]}


def _clocks(view: AttemptView) -> dict[str, object]:
    """Of a side of a race: seconds from its first request."""
    spec, clocks = view.attempt.spec, view.clocks
    return {
        "effort": spec.effort,
        "tier": spec.tier or None,
        "throttle": view.attempt.throttle,
        "ttft_s": clocks.ttft_s,
        "first_hunk_s": clocks.hunk_s,
        "last_token_s": clocks.last_s,
        "judged_s": clocks.judged_s,
    }


def _row(view: AttemptView) -> dict[str, object]:
    row, meter, result = view.attempt, view.meter, view.attempt.result
    return {
        "attempt": row.number,
        "model": row.spec.model,
        "temperature": row.spec.temperature,
        "verdict": result.verdict if result is not None else "",
        "reason": view.words,
        "broke": list(result.broke) if result is not None else [],
        "failed": list(result.failed) if result is not None else [],
        "files": sorted(row.changes),
        "added": view.added,
        "removed": view.removed,
        "tokens": meter.tokens,
        "tokens_estimated": meter.tokens_estimated,
        "tokens_s": meter.tokens_s,
        "usd": meter.cost.turn_usd,
        "seconds": round(view.seconds, 3),
        "not_allowed": list(row.denied),
    }
