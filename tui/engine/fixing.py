"""Has the model mend what the verifiers found, try after try, until they pass or it is no use.

A try is a prompt with the failure, and the verdict on the screen that its answer leaves. What the
answer changes in tests, or in what configures them, is marked and does not count: the verdict is
found without it.

What looks made for the tests is marked, too, but counts: it is a guess from the words of both. A
value that a test names is asked for, and the one that it expects is returned; or the code looks who
calls it. Small numbers are left out, since a rule may well begin with them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from tui.core.conversation import BlockKind
from tui.core.document.hunk import JUDGES, SPECIAL, Hunk
from tui.core.run_report import FailedTest, RunCounts
from tui.core.wire.efforts import EFFORTS
from tui.engine import intents
from tui.engine.intents import Intent, Role, TurnWay
from tui.engine.ports import EscalationStep, FixRules, VerifyCommand
from tui.engine.services import Services
from tui.engine.verifier_plan import EndedRun, Verdict

_LITERAL = re.compile(r"""(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])|"[^"\n]*"|'[^'\n]*'""")
_PLACE = re.compile(r"""^\s*File "|^\s*at |^\S*[\w/]\.\w+:\d+|^/\S+""")
_ASKS = re.compile(
    rf"(?:==|\.equals\(|\bis\b)\s*({_LITERAL.pattern})|(?:==|\bin)\s*[(\[{{]([^)\]}}\n]*)"
    r"|\bcase\s+([^:\n]+):"
)
_GIVES = re.compile(r"\breturn\b(.*)|(?:=>|->)(.*)|\)\s*\?(.*)|=(?!=)(.*)")
_PAIR = re.compile(rf"({_LITERAL.pattern})\s*(?::|=>|->)\s*({_LITERAL.pattern})")
_LOOKS = re.compile(
    r"PYTEST_CURRENT_TEST|\bimport (?:_?pytest|unittest)\b|\bfrom (?:_?pytest|unittest)\b"
    r"""|["'](?:_?pytest|unittest)["']|\b_getframe\b|\binspect\.(?:stack|currentframe)\b"""
    r"|\bjunitxml\b|\bos\._exit\b|JEST_WORKER_ID|import\.meta\.vitest|cfg!\(test\)"
    r"|\btesting\.Testing\(\)"
)
_EQUALS_ALL = re.compile(r"def __eq__\([^)]*\)[^:\n]*:\s*return True\b")
_NEAR = 4
"""Lines from what is asked to what is returned."""
_MOST_DETAIL = 4_000


def made_for_tests(before: str, after: str, details: Iterable[str]) -> str:
    """What of a change looks so, in words; empty: nothing does.

    ``details`` are what a runner said of each test that failed, with its lines.
    """
    old = set(map(str.strip, before.splitlines()))
    fresh = [line for line in after.splitlines() if line.strip() not in old]
    text = "\n".join(fresh)
    if (found := _LOOKS.search(text)) and found[0] not in before:
        return f"it asks for {found[0]}"
    if _EQUALS_ALL.search(text):
        return "it is equal to everything"
    cases = list(_cases(fresh, text))
    told = [_named(detail) for detail in details]
    if any(given not in set().union(*told) for given, _ in cases):
        return ""  # a table, of which the tests name some
    for given, result in cases:
        if given != result and any({given, result} <= named for named in told):
            return f"it returns {result} for {given}"
    return ""


def _named(detail: str) -> set[str]:
    """Values that a test names, but not those of places in files."""
    lines = detail[-_MOST_DETAIL:].splitlines()
    return _literals("\n".join(line for line in lines if not _PLACE.match(line)))


def _cases(fresh: Sequence[str], text: str) -> Iterable[tuple[str, str]]:
    """Pairs of a value that is asked for, and one that is given for it."""
    for one in _PAIR.finditer(text):
        sides = [_literals(side) for side in (one[1], one[2])]
        yield from ((given, result) for given in sides[0] for result in sides[1])
    for number, line in enumerate(fresh):
        asked = {one for asks in _ASKS.findall(line) for one in _literals(" ".join(asks))}
        if not asked:
            continue
        for behind in fresh[number : number + _NEAR]:
            for gives in _GIVES.finditer(behind):
                results = _literals(next(filter(None, gives.groups()), ""))
                yield from ((given, result) for given in asked for result in results)


def _literals(text: str) -> set[str]:
    """Values in it that are no usual ones, each as one way of writing them has it."""
    found = (one[0].replace('"', "'") for one in _LITERAL.finditer(text))
    return {one for one in found if one.lstrip("-") not in ("0", "1", "2", "''", "10", "100")}


_OF_ONE_RUN = re.compile(r"0x[0-9a-fA-F]+|\d+(?:\.\d+)? ?m?s\b")


class ScreenVerdict(NamedTuple):
    """What the verifiers say of the screen."""

    verdict: Verdict
    failed: Mapping[str, str]
    """What failed, and why (`fingerprint`)."""
    texts: bytes
    """A digest of what they judged."""
    counts: Mapping[str, RunCounts]
    """By the command."""
    verifiers: Sequence[VerifyCommand]
    """All that there are; each says by which files it judges."""
    tests: Sequence[FailedTest] = ()
    """What failed, with all that was said of it."""
    skipped: frozenset[str] = frozenset()
    """Names of tests, where their runner tells them."""


class Fixing:
    """One row of tries at a time."""

    def __init__(
        self,
        services: Services,
        rules: FixRules,
        submit: Callable[[Intent], None],
        words: Callable[[], tuple[str, str]],
        judge: Callable[[Sequence[int]], bool],
    ) -> None:
        """``words`` say the failure, and that in brief; ``judge`` has the screen judged.

        It leaves out the hunks of these numbers, and returns False if it cannot be done now.
        """
        self.rules = rules
        self._state, self._clock = services.state, services.ports.clock
        self._submit, self._words, self._judge = submit, words, judge
        self.attempt: Callable[[Callable[[int], None]], int] = lambda told: 0
        """Begins attempts at the failure and returns how many, 0 if there can be none; it tells
        which one passed, or 0."""
        self._stage: Literal["", "asked", "judging", "attempts"] = ""
        self._text = ""
        """The prompt that is out."""
        self._last: ScreenVerdict | None = None
        self._seen: set[bytes] = set()
        self._wanted: Sequence[Verdict] = ()
        """With one of these it is done."""
        self._tries = self._all_tries = 0
        self._steps: list[EscalationStep] = []
        self._before: tuple[Role, intents.Effort | None] | None = None
        """Role and effort when it began, where they are others now."""
        self._tried_with: intents.Effort | None = None
        """The effort of the last try."""
        self._began = self._asked = (0.0, 0.0)
        """Seconds and US dollars."""
        self._uncounted: list[Hunk] = []
        """What its tries changed in tests."""
        self._special: list[Hunk] = []
        """What its tries changed for the tests, as it looks."""
        self._cheated = False
        """The last try changed tests."""
        self._touched: set[str] = set()
        """Of what judges, what somebody changed on the disk meanwhile: a command of the model's?"""
        self._reproach = ""
        self._turn = 0
        """That answers the prompt."""
        self._landed = services.state.workspace.on_landed
        services.state.workspace.on_landed = self._mark_landed
        services.state.after_turn.append(self._turn_over)
        services.state.before_turn.append(self._turn_begins)
        services.state.before_drain.append(self._frame)

    @property
    def at_work(self) -> bool:
        """True from the first try to the last verdict."""
        return bool(self._stage)

    def begin(self, found: ScreenVerdict) -> None:
        """The first try, of what was found."""
        self._last, self._seen, self._uncounted, self._special = found, {found.texts}, [], []
        self._touched = set()
        self._wanted = ("passed",) if found.verdict == "same" else ("passed", "same")
        self._tries = self._all_tries = 0
        self._steps, self._before = list(self.rules.escalate), None
        self._began, self._reproach = self._now(), ""
        role = self.rules.role
        if role is not None and role != self._state.status.role:
            self._keep_before()
            self._submit(intents.Switch(role))
        self._try()

    def stop(self) -> None:
        """The user wants something else."""
        if self._stage:
            self._end("")

    def outside(self, paths: Iterable[str]) -> None:
        """Somebody changed these files on the disk."""
        if self._stage and self._last is not None:
            verifiers = self._last.verifiers
            self._touched |= {
                path for path in paths if any(one.judges_by(path) for one in verifiers)
            }

    @property
    def ran_commands(self) -> bool:
        """The last try did, and nobody knows what they changed."""
        blocks = self._state.transcript.blocks
        return any(one.kind is BlockKind.RUN and one.turn == self._turn for one in blocks)

    def run_over(self) -> None:
        """The verifiers ran, or could not; there is no verdict if `judged` was not called."""
        if self._stage == "judging":
            self._end("nothing could be judged")

    def judged(self, now: ScreenVerdict) -> None:
        """The verdict on the screen that a try left."""
        before = self._last
        if self._stage != "judging" or before is None:
            return
        self._last = now
        if now.verdict == "same" and now.verdict not in self._wanted:
            for told in self._state.after_verdict:
                told("failed")  # this try was to mend what failed before
        missing = _missing(before, now)
        seconds, usd = (a - b for a, b in zip(self._now(), self._asked, strict=True))
        cost = f" · ${usd:.3f}" if usd else ""
        after = _count(now) if now.verdict != "passed" else missing or "passed"
        row = f"try {self._all_tries} · {_count(before)} → {after}"
        self._say(f"{row} · {seconds:.1f} s{cost}")
        self._reproach = self._reproached(missing)
        if not now.verdict or now.verdict == "error":
            self._end("" if not now.verdict else "nothing could be judged")
        elif now.verdict in self._wanted and not missing:
            self._end(f"fixed in {_tries(self._all_tries)}")
        elif why := self._vain(before, now):
            self._give_up(why)
        else:
            self._seen.add(now.texts)
            self._try()

    def _vain(self, before: ScreenVerdict, now: ScreenVerdict) -> str:
        """Why another try would be of no use; empty: it may be."""
        if self._tries >= self.rules.tries:
            return f"{_tries(self._tries)} in vain"
        if self._cheated:  # it is told so first
            return ""
        if now.texts == before.texts:
            return "nothing was changed"
        if now.texts in self._seen:
            return "it goes to and fro between two states"
        if now.failed == before.failed and now.failed:
            return "the same tests fail in the same way"
        return ""

    def _give_up(self, why: str) -> None:
        """Rise, if there is a step left and the caps allow it."""
        while self._steps:
            step = self._steps.pop(0)
            if step == "attempts" and (count := self.attempt(self._attempted)):
                self._stage = "attempts"
                self._say(f"{why}; next: {count} attempts")
                return
            if words := self._taken(step):
                self._say(f"{why}; next: {words}")
                self._tries = 0
                self._try()
                return
        self._end(f"not fixed: {why}")

    def _attempted(self, winner: int) -> None:
        """The attempts are over; 0: none passed."""
        if self._stage != "attempts":
            return
        if winner:
            self._end(f"fixed by attempt {winner}")
        else:
            self._give_up("no attempt passes")

    def _taken(self, step: EscalationStep) -> str:
        """The step that was taken, in words; empty: it is not to be had."""
        status = self._state.status
        if step == "deep" and status.role != "deep" and status.models.get("deep"):
            self._keep_before()
            self._submit(intents.Switch("deep"))
            return f"the deep model, {status.models['deep']}"
        if step == "effort" and status.role in status.auto:  # which has followed the verdict
            effort = status.efforts.get(status.role)
            return f"effort {effort}" if effort != self._tried_with else ""
        if step == "effort" and (effort := self._higher()):
            self._keep_before()
            self._submit(intents.SetEffort(effort))
            return f"effort {effort}"
        return ""

    def _higher(self) -> intents.Effort | None:
        """The next higher effort that the model has."""
        status = self._state.status
        known, now = status.levels.get(status.role), status.efforts.get(status.role)
        levels = [one for one in EFFORTS if known is None or one in known]
        at = levels.index(now) if now in levels else len(levels) // 2 - 1
        return levels[at + 1] if 0 <= at + 1 < len(levels) else None

    def _keep_before(self) -> None:
        status = self._state.status
        if self._before is None:
            self._before = (status.role, status.efforts.get(status.role))

    def _try(self) -> None:
        spent_s, usd = (a - b for a, b in zip(self._now(), self._began, strict=True))
        if self.rules.seconds is not None and spent_s >= self.rules.seconds:
            self._end(f"not fixed in {self.rules.seconds:g} s")
            return
        if self.rules.usd is not None and usd >= self.rules.usd:
            self._end(f"not fixed for ${self.rules.usd:g}")
            return
        self._tries, self._all_tries = self._tries + 1, self._all_tries + 1
        self._stage, self._asked, self._cheated = "asked", self._now(), False
        self._tried_with = self._state.status.efforts.get(self._state.status.role)
        text, brief = self._words()
        blamed = [hunk for hunk in self._state.workspace.hunks if hunk.is_blamed]
        told = [f"Hunk {one.id} in {one.path} {flag}." for one in blamed for flag in one.flags]
        self._text = "\n\n".join(filter(None, (text, "\n".join(told), self._reproach)))
        way, queued = TurnWay(brief=brief), self._state.status.busy
        self._submit((intents.Queue if queued else intents.Prompt)(self._text, way))

    def _turn_begins(self, number: int) -> None:
        if self._stage == "judging":
            self._end("")
        elif self._stage == "asked" and self._text not in self._state.status.queued:
            self._turn = number

    def _mark_landed(self, hunks: Sequence[Hunk], whole: bool) -> None:
        """A patch has ended: what is marked is not accepted unasked behind this."""
        if self._stage == "asked" and hunks and hunks[0].turn == self._turn:
            self._mark()
        self._landed(hunks, whole)

    def _turn_over(self, number: int, text: str, outcome: str) -> None:
        if self._stage != "asked":
            return
        if text != self._text:
            if outcome != "completed" or self._text not in self._state.status.queued:
                self._end("")  # nobody waits for it any more
            return
        if outcome != "completed" or self._state.status.queued:
            self._end("")
            return
        self._mark()
        self._stage = "judging"
        if not self._judge([hunk.id for hunk in self._uncounted if hunk.undecided]):
            self._end("a command is still running")

    def _frame(self) -> None:
        """Once a frame: its prompt may have been taken out of the queue, or reworded there."""
        status = self._state.status
        if self._stage == "asked" and not status.busy and self._text not in status.queued:
            self._end("")

    def _mark(self) -> None:
        """What the answer changed in tests, or in what configures them, says so."""
        last, seen = self._last, [*self._uncounted, *self._special]
        verifiers, tests = ((), ()) if last is None else (last.verifiers, last.tests)
        for hunk in self._state.workspace.hunks:
            if hunk.turn != self._turn or hunk in seen:
                continue
            paths = [path for path in (hunk.path, hunk.target) if path]
            if any(one.judges_by(path) for path in paths for one in verifiers):
                hunk.flags += (JUDGES,)
                self._uncounted.append(hunk)
                self._cheated = True
            elif why := made_for_tests(hunk.base, hunk.agent, (one.detail for one in tests)):
                hunk.flags += (f"{SPECIAL}{why}",)
                self._special.append(hunk)
        self._state.workspace.documents.bump()
        self._state.hunks_changed()

    def _reproached(self, missing: str) -> str:
        """What the model is told of tests that it changed, or had skipped."""
        own = sorted({hunk.path for hunk in self._uncounted})
        told = []
        if own:
            changed = f"You changed what judges you ({', '.join(own)}): that does not count."
            told.append(f"{changed} Mend the code that is tested instead.")
        if special := [hunk for hunk in self._special if hunk.undecided]:
            hunks = "; ".join(f"hunk {one.id} in {one.path}, {one.flags[-1]}" for one in special)
            told.append(f"Mend the rule, not the case of one test ({hunks}).")
        if self._touched:
            paths = ", ".join(sorted(self._touched))
            told.append(
                f"On the disk {paths} changed meanwhile: if a command of yours did, undo it."
            )
        if missing:
            told.append(f"Tests that ran before do not any more ({missing}): that does not count.")
        return " ".join(told)

    def _end(self, why: str) -> None:
        """No more tries; ``why`` in words, empty if the user stopped it."""
        self._stage = ""
        if self._uncounted and why:
            count = len(self._uncounted)
            hunks = f"{count} change{'s' * (count > 1)} of tests"
            why += f" · {hunks} did not count and {'wait' if count > 1 else 'waits'} for you"
        if why and (special := [hunk for hunk in self._special if hunk.undecided]):
            numbers = ", ".join(str(hunk.id) for hunk in special)
            why += f" · look at hunk{'s' * (len(special) > 1)} {numbers}: {SPECIAL[:-2]}"
        if why and self._touched:
            changed = ", ".join(sorted(self._touched))
            why += f" · changed on the disk meanwhile, look at it: {changed}"
        if why:
            self._say(why)
        if self._before is not None:
            (role, effort), self._before = self._before, None
            if self._state.status.role != role:
                self._submit(intents.Switch(role))
            self._state.status.efforts[role] = effort
            self._state.restated()

    def _now(self) -> tuple[float, float]:
        return self._clock.now(), self._state.meter.session_usd

    def _say(self, words: str) -> None:
        self._state.note(0, words)


def screen_verdict(
    verdict: Verdict, runs: Sequence[EndedRun], texts: bytes, verifiers: Sequence[VerifyCommand]
) -> ScreenVerdict:
    """What all runs say together of texts with this digest."""
    reports = [run.report for run in runs]
    tests = [one for report in reports for one in (*report.failed, *report.known)]
    failed = {one.name: fingerprint(one.message) for one in tests}
    counts = {run.words: run.report.counts for run in runs if run.report.counts is not None}
    skipped = frozenset(name for report in reports for name in report.skipped)
    return ScreenVerdict(verdict, failed, texts, counts, verifiers, tests, skipped)


def fingerprint(message: str) -> str:
    """Why a test failed, without what differs between two equal runs: addresses, and times."""
    return _OF_ONE_RUN.sub("#", message)


def _count(found: ScreenVerdict) -> str:
    return f"{len(found.failed)} failed" if found.failed else "failed"


def _tries(count: int) -> str:
    return "1 try" if count == 1 else f"{count} tries"


def _missing(before: ScreenVerdict, now: ScreenVerdict) -> str:
    """How many tests ran before and do not any more, in words; empty: none that is known.

    By the counts of the same command, and, where another part ran, by the names of what failed.
    """
    skipped = gone = 0
    for command in before.counts.keys() & now.counts.keys():
        was, is_now = before.counts[command], now.counts[command]
        skipped += max(is_now.skipped - was.skipped, 0)
        gone += max(sum(was) - sum(is_now), 0)
    skipped = max(skipped, len(before.failed.keys() & now.skipped))
    told = [f"{skipped} skipped" if skipped else "", f"{gone} removed" if gone else ""]
    return ", ".join(filter(None, told))
