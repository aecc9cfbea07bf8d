"""Attempts: one prompt is tried several times at once, and the project's own tests choose.

Each attempt is a turn in a lane session: it sees what the screen showed when it began, asks
nobody, and changes nothing here. The best one that passes comes home as pending hunks; of the
others what they came to is kept until the next ones, to be looked at and taken from.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from tui.core.attempts import DEFAULT, MOST, AttemptPlan, JudgedRun, Ranked, Result, Tally, ranked
from tui.core.conversation import BlockKind
from tui.core.files import counted
from tui.core.inert_text import PROSE, brief, inert
from tui.core.meter import MeterView, TurnClocks, dollars
from tui.core.patches.bringing_home import LaneFile, difference, hunk_count, with_hunks
from tui.core.wire.efforts import effort_refusal
from tui.engine import intents
from tui.engine.attempt_judging import AttemptJudge, TakenHunks, Texts, known_disk, size_of
from tui.engine.intents import Intent
from tui.engine.lane_session import BringingHome, LaneResult, LaneSession, LaneSessions, home_words
from tui.engine.model_choice import NO_CATALOGUE, find_offer
from tui.engine.notices import Notices, Trouble
from tui.engine.ports import RoleSpec, VerifyCommand
from tui.engine.services import Services
from tui.engine.verification import is_allowed
from tui.errors import DuettoError

AT_ONCE = 16
"""Answers that stream side by side, as many as one socket carries."""
DEADLINE_S = 900.0
"""Of one attempt's answer."""
_MOST_NOTED = 5
"""Attempts that the conversation lists when they are over."""
_SAID_CHARS = 20_000
"""Of what a model said that is kept of an attempt; the end."""
_WHY_CHARS = 80
"""Of what a model said that changed nothing."""
AttemptState = Literal["waiting", "answering", "judging", "over"]


class Attempt(Struct, eq=False):
    """One of the tries; read by front ends."""

    number: int
    spec: RoleSpec
    state: AttemptState = "waiting"
    lane: LaneSession | None = None
    """While it answers."""
    tests: str = ""
    """How far the tests have come: ``37/120``."""
    began_s: float = 0.0
    seconds: float = 0.0
    """What it took, when it is over."""
    changes: Mapping[str, LaneFile] = {}
    result: Result | None = None
    meter: MeterView = MeterView()
    """Of its answer, when that is over."""
    said: str = ""
    why: str = ""
    """Why it was stopped."""
    denied: tuple[str, ...] = ()
    """Commands that it was not allowed to run."""
    throttle: float | None = None
    """Tokens a second at which it is to come; None: as it comes."""
    clocks: TurnClocks = TurnClocks()
    """Of its answer, when that is over."""
    judged_s: float | None = None
    """When its verdict came, by the clock."""
    home: str = ""
    """What came home of it when it was taken, in words."""
    trouble: Trouble | None = None
    """Why it did not come to its end."""


class AttemptStart(NamedTuple):
    """What all attempts of a run begin with."""

    text: str
    texts: Texts
    is_judged: bool


class RaceClocks(NamedTuple):
    """Seconds from its first request; None: not yet, or never."""

    ttft_s: float | None
    hunk_s: float | None
    last_s: float | None
    judged_s: float | None


class AttemptView(NamedTuple):
    """An attempt at one moment."""

    attempt: Attempt
    words: str
    """Its state, or what it came to."""
    meter: MeterView
    added: int
    removed: int
    seconds: float
    place: int = 0
    """In the ranking, from 1; 0: it is not ranked yet."""
    wins: bool = False

    @property
    def passes(self) -> bool:
        """It is over, and green."""
        return self.attempt.result is not None and self.attempt.result.passes

    @property
    def changes(self) -> Mapping[str, LaneFile]:
        """What it made of files, up to now."""
        return self.attempt.changes if self.attempt.lane is None else self.attempt.lane.changes

    @property
    def clocks(self) -> RaceClocks:
        """When what of it happened."""
        row, seen = self.attempt, self._turn_clocks
        judged_s = None
        if row.judged_s is not None and seen.asked_s is not None:
            judged_s = row.judged_s - seen.asked_s
        return RaceClocks(seen.ttft_s, seen.hunk_s, seen.last_s, judged_s)

    @property
    def _turn_clocks(self) -> TurnClocks:
        row = self.attempt
        return row.clocks if row.lane is None else row.lane.state.meter.clocks()

    @property
    def _answered_s(self) -> float:
        """How long after its first request it is now, or was when its last token came."""
        row, clocks = self.attempt, self._turn_clocks
        if row.lane is None or clocks.asked_s is None:
            return clocks.last_s or 0.0
        return row.began_s + self.seconds - clocks.asked_s

    def ghost(self, other: AttemptView) -> float | None:
        """Where in its text the other one is as a ghost: as far as it had come in the same time.

        A share; None: it is nowhere in it. In a text that is whole a side that still answers
        goes on; the one that was slower stays where it was when the text was done.
        """
        at_s = self._answered_s
        if self.attempt.lane is None and other.attempt.lane is not None:
            at_s = max(at_s, other._answered_s)
        theirs, mine = other._turn_clocks.tokens_by(at_s), self._turn_clocks.tokens_by(at_s)
        return theirs / mine if 0 < theirs < mine else None


class Attempts:
    """One run of attempts at a time."""

    def __init__(
        self,
        services: Services,
        lanes: LaneSessions,
        submit: Callable[[Intent], None],
        home: BringingHome,
    ) -> None:
        """``submit`` asks the session for something."""
        self._services, self._state, self._ports = services, services.state, services.ports
        self._lanes, self._submit, self._home = lanes, submit, home
        self.failure: Callable[[], tuple[str, str] | None] = lambda: None
        """What the last verdict found, as a prompt and in brief."""
        self.judges_landed = False
        """What is taken is judged unasked, as what a turn lands is."""
        self.rows: list[Attempt] = []
        """Of the last run, by their numbers."""
        self.prompt = self.asked = ""
        """What they were asked, and that in brief."""
        self.said = ""
        """How the run goes, or ended."""
        self.race = False
        """The last run is a race: two sides by the clock, and nothing comes home by itself."""
        self._order: list[Ranked] = []
        self.tally = Tally()
        self._taken = TakenHunks(self._state.workspace)
        self._task: asyncio.Task[None] | None = None
        self._tries: dict[int, asyncio.Task[None]] = {}
        self._ending: set[asyncio.Task[None]] = set()
        """Lanes whose servers still say what was spent, and what comes home."""
        self._greens: list[bool] = []
        self._said_begin = False
        self._why = ""
        """Why no more of them begin."""
        self._stopped = False
        self._shown = ""
        """What `Status.running` says of them."""
        self._told: Callable[[int], None] = lambda winner: None
        """Told of the winner, or 0, when a run is over."""

    @property
    def active(self) -> bool:
        """True while they run."""
        return self._task is not None

    @property
    def progress(self) -> str:
        """How far they are; empty: none runs."""
        return self._shown if self.active else ""

    @property
    def at_work(self) -> bool:
        """True also while lanes that are over are being left."""
        return self.active or bool(self._ending)

    def handle(self, intent: Intent) -> None:
        """Begin, stop, or take what one of them made."""
        match intent:
            case intents.MakeAttempts(AttemptPlan(prompt="")) if (
                self._state.status.outdated and self.failure() is not None
            ):
                step = "verify first, or say what: /attempts 5 PROMPT"
                self._state.warn("The verdict is out of date", step)
            case intents.MakeAttempts(plan):
                self.begin(plan)
            case intents.StopAttempts() if not self.active:
                what, step = "No attempts run", "/attempts show lists the last ones"
                if self.race:
                    what, step = "No race runs", "/race show has the last one"
                self._state.warn(what, step)
            case intents.StopAttempts(number) if number > len(self.rows):
                self._state.warn(f"There is no {self._noun} {number}", f"{self._table} lists them")
            case intents.StopAttempts(number):
                self.stop(number)
            case intents.TakeAttempt():
                self.take(intent)

    def begin(self, wanted: AttemptPlan) -> bool:
        """False: not now; it is said why."""
        if self._state.status.mode == "plan" and not wanted.race:
            self._state.warn(
                "Nothing is changed in plan mode", "/mode sandbox or /mode manual leaves it"
            )
            return False
        text, brief = wanted.prompt, wanted.prompt
        if self.active:
            what, step = "Attempts are running", "wait for them, or stop them with /attempts stop"
            if self.race:
                what, step = "A race is running", "wait for its end, or stop it with /race stop"
            self._state.warn(what, step)
            return False
        if not text and (failure := self.failure()) is not None:
            text, brief = failure
        if not text:
            self._state.warn("Nothing to try", "say what: /attempts 5 PROMPT; or verify first")
            return False
        self.rows, self._order, self._greens, self._why = [], [], [], ""
        self._stopped, self.race, self._said_begin = False, wanted.race, False
        self._taken = TakenHunks(self._state.workspace)
        self.prompt, self.asked = text, brief.strip().partition("\n")[0]
        self.said = f"beginning: {self.asked}"
        work = self._run(wanted, text)
        self._task = self._services.supervisor.start(work, "attempts")
        self._task.add_done_callback(self._over)
        self._say("beginning")
        return True

    def mend(self, told: Callable[[int], None]) -> int:
        """Begin attempts at what failed, and return how many; ``told`` hears which one passed."""
        if not self.begin(AttemptPlan(DEFAULT, "")):
            return 0
        self._told = told
        return DEFAULT

    def stop(self, number: int = 0) -> None:
        """End one of them, or all (0)."""
        chosen = [row for row in self.rows if number in (0, row.number)]
        if not (self.rows or self._stopped) and self._task is not None:
            self._task.cancel()
            self.said = f"stopped before one began: {self.asked}"
            self._state.note(0, inert(self.said))
        self._stopped |= self.active and not number
        for row in chosen:
            self._end(row, "stopped")

    def _end(self, row: Attempt, why: str) -> None:
        """Stop an attempt, unless it is over."""
        task = self._tries.get(row.number)
        if task is None or task.done() or row.why:
            return
        row.why = why
        if row.lane is not None:  # at once, whatever the task waits for
            row.lane.session.submit(intents.Interrupt())
        task.cancel()

    def views(self) -> list[AttemptView]:
        """All of them now: the best first, those that are not over behind."""
        now = self._ports.clock.now()
        places = {one.result.number: at for at, one in enumerate(self._order, 1)}
        found = [self._view(row, places.get(row.number, 0), now) for row in self.rows]
        if self.race:
            return found
        return sorted(found, key=lambda one: (not one.place, one.place, one.attempt.number))

    def _view(self, row: Attempt, place: int, now: float) -> AttemptView:
        if row.lane is not None:
            meter = row.lane.state.meter.view(now)
            return AttemptView(row, _answering(row), meter, 0, 0, now - row.began_s)
        result = row.result
        if result is None:
            words = f"tests {row.tests}".strip() if row.state == "judging" else row.state
            seconds = now - row.began_s if row.state == "judging" else 0.0
            return AttemptView(row, words, row.meter, 0, 0, seconds)
        ranked_as = self._order[place - 1] if place else None
        words = ranked_as.reason if ranked_as is not None else result.why
        wins = ranked_as is not None and ranked_as.wins
        lines = (result.added, result.removed)
        return AttemptView(row, words, row.meter, *lines, row.seconds, place, wins)

    def words(self, most: int = MOST, *, only: int = 0) -> str:
        """The table in words, a line for each of the first ones; or one with its difference."""
        if not self.rows:
            return self.said or NONE_YET
        said = race_words if self.race else view_words
        if only:
            found = [one for one in self.views() if one.attempt.number == only]
            lines = [
                line
                for one in found
                for line in (said(one), *(row.removeprefix("=") for row in difference(one.changes)))
            ]
            return inert("\n".join(lines) or f"There is no {self._noun} {only}.", PROSE)
        lines = [self.said, *map(said, self.views()[:most])]
        lines += [f"… and {len(self.rows) - most} more: {self._table}"] * (len(self.rows) > most)
        return inert("\n".join(lines), PROSE)

    def take(self, wanted: intents.TakeAttempt, *, verify: bool = False) -> None:
        """Bring what one of them made home, or only one of its files, or some hunks."""
        number = wanted.number
        row = next((one for one in self.rows if one.number == number), None)
        if row is None or not row.changes:
            why = f"{self._table} lists them"
            if row is not None:
                why = "it changed nothing" if row.state == "over" else "it still answers"
            self._state.warn(f"There is nothing to take of {self._noun} {number}", why)
            return
        files = _chosen(row.changes, wanted)
        if isinstance(files, str):
            what = f"{self._noun.capitalize()} {number} {files}"
            self._state.warn(what, f"it changed {_what(row.changes)}")
            return
        who = side_name(row) if self.race else f"attempt {number} of {len(self.rows)}"
        result = LaneResult(who, self.prompt, row.spec, files, row.said)
        work = self._bring(row, result, verify=verify)
        task = self._services.supervisor.start(work, "bringing an attempt home")
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _bring(self, row: Attempt, result: LaneResult, *, verify: bool) -> None:
        row.home = "comes when the answer ends" if self._state.status.busy else ""
        self._state.restated()
        hunks = await self._home.bring(result)
        self._taken.add(hunks)
        for lane in [one.lane for one in self.rows if one.lane is not None]:
            for path, text in self._taken.files().items():  # before they can reach the disk
                lane.files.texts.setdefault(path, text)
        row.home = home_words(hunks, result)
        self._state.restated()
        if verify or (
            hunks and self.judges_landed
        ):  # it is another text than was judged, if something was changed meanwhile
            self._submit(intents.Verify(unasked=True))

    async def _run(self, wanted: AttemptPlan, text: str) -> None:
        specs = await self._specs(wanted)
        if isinstance(specs, str):
            self._state.warn("The race did not begin" if wanted.race else "No attempt began", specs)
            self.said = specs
            return
        await self._services.open_files.prepare()  # once for all lanes
        commands = await self._verifiers()
        screen = await self._services.screen()
        texts = await asyncio.to_thread(screen.files)
        judge = AttemptJudge(self._ports, commands, texts, self._noted)
        judge.disk = partial(known_disk, self._state.workspace.documents)
        judge.instead, judge.at_once = self._taken.files, self._lanes.judging
        if not judge.judges:
            self._state.note(0, NO_VERIFIER)
        self.rows = [
            Attempt(number, spec, throttle=wanted.side(number)[2])
            for number, spec in enumerate(specs, 1)
        ]
        self.said = self._title
        self._say_progress()
        judge.begin()
        try:
            await self._all(AttemptStart(text, texts, judge.judges), judge, first=not wanted.all)
        finally:
            await judge.end()
        self._conclude(wanted)

    def _noted(self, words: str) -> None:
        self._state.note(0, inert(words))
        self._state.trouble(Trouble(words, "", severity="information", noted=True))

    async def _all(self, task: AttemptStart, judge: AttemptJudge, *, first: bool) -> None:
        """All attempts, until one passes or they are over; none goes on behind this."""
        wide = asyncio.Semaphore(self._width())
        start = asyncio.get_running_loop().create_task
        self._tries = {
            row.number: start(self._one(row, task, judge, wide), name=f"attempt {row.number}")
            for row in self.rows
        }
        try:
            left = set(self._tries.values())
            while left:
                done, left = await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
                for one in done:
                    if not one.cancelled() and (error := one.exception()) is not None:
                        raise error
                if first and any(self._greens):
                    self._why = ANOTHER
                for row in self.rows:  # what is paid for goes on, where the money is spent
                    if self._why and (self._why == ANOTHER or row.state == "waiting"):
                        self._end(row, f"stopped: {self._why}")
        finally:
            for row in self.rows:
                self._end(row, "stopped")
            await asyncio.gather(*self._tries.values(), return_exceptions=True)
            self._tries = {}

    async def _one(
        self, row: Attempt, task: AttemptStart, judge: AttemptJudge, wide: asyncio.Semaphore
    ) -> None:
        clock = self._ports.clock
        try:
            async with wide:
                row.began_s = clock.now()
                why = await self._answered(row, task)
            if why:
                row.result = _left_off(row, why)
                return
            row.state = "judging"
            self._say_progress()

            def progress(words: str) -> None:
                row.tests = words

            row.result = await judge.judge(row.number, row.changes, progress)
            if row.result.verdict:
                row.judged_s = clock.now()
            if row.result.verdict not in ("", "error"):
                self._greens.append(row.result.passes)
        except asyncio.CancelledError:
            row.result = _left_off(row, row.why or "stopped")
            raise
        finally:
            row.state = "over"
            row.seconds = clock.now() - row.began_s if row.began_s else 0.0
            self._order = ranked([one.result for one in self.rows if one.result is not None])
            self._say_progress()

    async def _answered(self, row: Attempt, task: AttemptStart) -> str:
        """Have it answered; returns why there is nothing to judge."""
        texts = {**self._taken.files(), **task.texts}
        lane = row.lane = self._lanes.make("attempt", row.spec, texts)
        troubles: list[Trouble] = []

        def stirred(notices: Notices) -> None:
            troubles.extend(notices.troubles)
            if lane.has_asked:
                self._say_begin()

        lane.on_stirred = stirred
        row.state = "answering"
        self._say_progress()
        try:
            try:
                async with asyncio.timeout(DEADLINE_S):
                    await lane.begin(talk=True)
                    if row.throttle is not None:
                        lane.session.submit(intents.Throttle(row.throttle))
                    lane.prompt(task.text)
                    await lane.rest()
            except TimeoutError:
                return f"no end of the answer in {DEADLINE_S:g} s"
        finally:
            self._keep(row, lane)
            ending = self._services.supervisor.start(self._lanes.end(lane), "ending an attempt")
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)
        if lane.state.status.outcome == "completed":
            self._greens += [False] * (task.is_judged and not row.changes)
            return "" if row.changes else _unchanged(row)
        if any(one.over_budget for one in troubles):
            self._why = troubles[-1].words
        ends = (one for one in troubles if one.severity == "error" or one.over_budget)
        row.trouble = next(ends, None)
        if row.changes:
            return ""
        return row.trouble.words if row.trouble else "the answer did not come to an end"

    def _keep(self, row: Attempt, lane: LaneSession) -> None:
        """What is looked at later of an answer that is over."""
        meter = lane.state.meter
        row.lane, row.meter, row.clocks = None, meter.view(self._ports.clock.now()), meter.clocks()
        row.changes, row.said = lane.changes, said_in(lane)
        row.denied = tuple(ask.command or ask.question for ask in lane.denied)

    async def _specs(self, wanted: AttemptPlan) -> list[RoleSpec] | str:
        """Who makes each attempt; a str says why one cannot."""
        status, roles = self._state.status, self._state.roles
        found: dict[str, RoleSpec] = {"": self._state.spec_now(status.role)}
        for name in wanted.models:
            if name in ("fast", "deep"):
                role = next((role for role in roles if role == name), None)
                if role is None:
                    return f"no {name} model is set up: /connect sets it up"
                spec = self._state.spec_now(role)
            elif known := [role for role, one in roles.items() if one.model == name]:
                spec = self._state.spec_now(known[0])
            else:
                offered = await self._offered(name)
                if isinstance(offered, str):
                    return offered
                spec = offered
            found[name] = spec
        specs = []
        for number in range(1, wanted.count + 1):
            spec, (effort, tier, _) = found[wanted.model(number)], wanted.side(number)
            if effort and (why := effort_refusal(effort, spec.model, spec.efforts)):
                return why
            specs.append(
                replace(
                    spec,
                    temperature=wanted.temperature(number),
                    effort=effort or spec.effort,
                    tier=spec.tier if tier is None else tier,
                )
            )
        return specs

    async def _offered(self, name: str) -> RoleSpec | str:
        catalogue, status = self._ports.catalogue, self._state.status
        if catalogue is None:
            return NO_CATALOGUE
        offer = find_offer(name, await catalogue().offers(), status.endpoint)
        if isinstance(offer, str):
            return offer
        try:
            return await catalogue().spec(status.role, offer.endpoint, offer.model)
        except DuettoError as error:
            return f"{offer.model} cannot be used on {offer.endpoint}: {error}"

    async def _verifiers(self) -> Sequence[VerifyCommand]:
        """What may judge; the user is asked before, as nobody is later."""
        found: list[VerifyCommand] = []
        with suppress(DuettoError):  # F5 says why
            found = [one for one in await self._ports.verifiers() if one.argv]
        if await is_allowed(self._state, self._ports, *found):
            return found
        return [one for one in found if not one.needs_consent]

    def _width(self) -> int:
        """How many at once: no more than the server lets ask now."""
        left = [one.remaining for one in self._state.status.limits if one.name == "requests"]
        wide = min(AT_ONCE, len(self.rows))
        fewer = max(int(min([wide, *left])), 1)
        if fewer < wide:
            limit = counted(int(min(left)), "more request")
            self._state.note(0, f"{fewer} at once: the server's rate limit leaves {limit} now")
        return fewer

    def _conclude(self, wanted: AttemptPlan) -> None:
        """Say what came of it, and bring the winner home."""
        if self.race:
            self._state.note(0, self.words())
            return
        whole = not (self._why or self._stopped)
        self.tally.add(JudgedRun(tuple(self._greens), whole))
        best = self._order[0] if self._order else None
        winner = best.result if best is not None and best.wins else None
        self.said = self._words(wanted, winner)
        self._state.note(0, self.words(_MOST_NOTED))
        if winner is not None and not self._stopped:  # Esc: nothing follows by itself
            self.take(intents.TakeAttempt(winner.number), verify=True)
        self._tell(0 if winner is None else winner.number)

    @property
    def _noun(self) -> str:
        return "side" if self.race else "attempt"

    @property
    def _table(self) -> str:
        return "/race show" if self.race else "/attempts show"

    @property
    def _title(self) -> str:
        """What was asked of them."""
        return f"{'race' if self.race else counted(len(self.rows), 'attempt')}: {self.asked}"

    def _words(self, wanted: AttemptPlan, winner: Result | None) -> str:
        usd = sum(row.meter.cost.turn_usd or 0.0 for row in self.rows)
        told = [self._title]
        if winner is not None:
            take = f": /attempts take {winner.number}" if self._stopped else ""
            told.append(f"attempt {winner.number} wins{take}")
        elif self._greens:
            told.append("none passes")
        told += [dollars(usd)] if usd else []
        told += [words] if (words := self.tally.words(wanted.count)) else []
        return " · ".join(told)

    def _over(self, task: asyncio.Task[None]) -> None:
        if task is self._task:
            self._task = None
            if self._state.status.running == self._shown:  # else a command runs, too
                self._state.status.running = ""
            self._state.restated()
            self._tell(0)  # unless it was told: they did not come to their end

    def _tell(self, winner: int) -> None:
        told, self._told = self._told, lambda winner: None
        told(winner)

    def _say_begin(self) -> None:
        """Once, when the first request has left: nothing has kept them from it."""
        if not self._said_begin:
            self._said_begin, count = True, counted(len(self.rows), "attempt")
            ways = "/attempts show lists them, /attempts stop ends them"
            words = f"{count} begin: {self.asked} ({ways})"
            if self.race:
                words = f"the race begins: {self.asked} (/race show, /race stop)"
            self._state.note(0, inert(words))

    def _say_progress(self) -> None:
        over = sum(row.state == "over" for row in self.rows)
        passes = sum(self._greens)
        self._say(f"{over} of {len(self.rows)}" + (f" · {passes} pass" if passes else ""))

    def _say(self, words: str) -> None:
        self._shown = f"{'race' if self.race else 'attempts'} · {words}"
        self._state.status.running = self._shown
        self._state.restated()


def _chosen(
    changes: Mapping[str, LaneFile], wanted: intents.TakeAttempt
) -> Mapping[str, LaneFile] | str:
    """What of these is to be taken; a str says what is not there."""
    if wanted.path:
        one = changes.get(wanted.path)
        return f"did not change {inert(wanted.path)}" if one is None else {wanted.path: one}
    missing = [number for number in wanted.hunks if number > hunk_count(changes)]
    if missing:
        return f"has no hunk {missing[0]}"
    return with_hunks(changes, wanted.hunks) if wanted.hunks else changes


def _what(changes: Mapping[str, LaneFile]) -> str:
    """``2 hunks of a.py, b.py``."""
    return f"{counted(hunk_count(changes), 'hunk')} of {', '.join(map(inert, changes))}"


ANOTHER = "another one passes"
NO_VERIFIER = "nothing judges here, so there are candidates, and no winner: /attempts take 2"


def view_words(view: AttemptView) -> str:
    """An attempt in a line."""
    row, meter = view.attempt, view.meter
    place = f"{view.place}. " if view.place else ""
    told = [f"{place}attempt {row.number}: {view.words}"]
    told += [f"+{view.added} −{view.removed}"] if view.added or view.removed else []
    about = "~" * meter.tokens_estimated
    told += [f"{about}{counted(meter.tokens, 'token')}"] if meter.tokens else []
    told += [f"{view.seconds:.1f} s"] if view.seconds else []
    told += [dollars(meter.cost.turn_usd)] if meter.cost.turn_usd else []
    told += [f"{counted(len(row.denied), 'command')} not allowed"] if row.denied else []
    return " · ".join(told)


def side_name(row: Attempt) -> str:
    """Who races: ``deep gpt-6 · high · 50 tok/s``."""
    spec = row.spec
    told = [inert(spec.model), spec.effort or "", inert(spec.tier)]
    told += [f"{row.throttle:g} tok/s"] if row.throttle is not None else []
    return " · ".join(filter(None, told))


def clock_words(view: AttemptView) -> list[tuple[str, str]]:
    """The clocks of a race that have stopped, each with its name."""
    clocks, usd = view.clocks, view.meter.cost.turn_usd
    judged = "verified" if view.passes else "judged"
    named = (
        ("ttft", clocks.ttft_s),
        ("first hunk", clocks.hunk_s),
        ("last token", clocks.last_s if view.attempt.lane is None else None),
        (judged, clocks.judged_s),
    )
    told = [(name, _seconds(at)) for name, at in named if at is not None]
    return told + ([("price", dollars(usd))] if usd else [])


def _seconds(at: float) -> str:
    return f"{at * 1000:,.0f} ms" if at < 1 else f"{at:.2f} s"


def race_words(view: AttemptView) -> str:
    """A side of a race in a line."""
    clocks = [f"{name} {at}" for name, at in clock_words(view)]
    row = view.attempt
    lines = [f"+{view.added} −{view.removed}"] if view.added or view.removed else []
    return f"{row.number}. {side_name(row)}: {' · '.join([view.words, *clocks, *lines])}"


def said_in(lane: LaneSession) -> str:
    """What its model has said up to now; of a long text the end."""
    blocks = lane.state.transcript.blocks
    said = [block.text for block in blocks if block.kind is BlockKind.TEXT]
    return "\n\n".join(said)[-_SAID_CHARS:]


NONE_YET = "There are no attempts yet: /attempts 5 PROMPT makes some."


def _answering(row: Attempt) -> str:
    """What the model does now."""
    assert row.lane is not None
    status = row.lane.state.status
    running = [task.command for task in status.tasks if not task.ended]
    if running:
        return f"runs {running[0]}"
    blocks = row.lane.state.transcript.blocks
    return "thinking" if blocks and blocks[-1].kind is BlockKind.REASONING else "answering"


def _left_off(row: Attempt, why: str) -> Result:
    """What one came to that is not judged; what it had changed can be taken all the same."""
    added, removed = size_of(row.changes)
    return Result(row.number, added=added, removed=removed, why=why)


def _unchanged(row: Attempt) -> str:
    """Why nothing is there to judge, by the last words of the model: perhaps it refuses."""
    said = brief(row.said.strip().rpartition("\n\n")[2], _WHY_CHARS)
    return f"it changed nothing, and says: {said}" if said else "the model answered nothing"
