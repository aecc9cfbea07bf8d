"""What the responses of a turn leave behind: history, calls to answer, reports, the bill."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from tui.core.context import CutAnswer, PatchInProse
from tui.core.conversation import Block, History, HistoryEntry, answer_item
from tui.core.document.report import not_kept
from tui.core.edit_stream import Channel, Format
from tui.core.wire import events
from tui.core.wire.endpoint_facts import REHEARSAL
from tui.core.wire.events import Usage
from tui.core.wire.rate_limits import (
    CODEX_EVENT,
    PAUSE,
    Limit,
    limits_in,
    limits_of,
    limits_of_event,
)
from tui.engine.notices import Status, Trouble
from tui.engine.ports import PatchFormat, RoleSpec
from tui.engine.requests import Outcome, PatchReport, TurnRequest
from tui.engine.response import Reply, landed
from tui.engine.response_items import PATCH_TOOL, Call, Earlier, Page, as_answer, is_shell
from tui.engine.services import Services
from tui.engine.session_state import SessionState
from tui.engine.tools import ToolResult, failure

if TYPE_CHECKING:
    from tui.core.patches.landing import Landing
    from tui.core.steps import Work
    from tui.engine.response_items import CutReply


_BROKEN = "error: the tool failed; the user was told"
_PLANS = "plan mode: nothing is edited"
_READS = ("read_file", "list", "search", "recall", "shell_output")
_OUTPUT_TOOLS = ("shell_output", "write_stdin")
_OF_ONE_RUN = re.compile(r" after \d+\.\d s\b")
"""What differs between two equal runs of a command."""
SIDE_BY_SIDE = 8
"""Most calls that run at once: a model may ask for hundreds."""


class CallRunner:
    """Calls that the model has no answer to yet."""

    def __init__(
        self, services: Services, on_done: Callable[[], None], *, has_shell: bool = True
    ) -> None:
        self._services = services
        self._has_shell = has_shell
        self._on_done = on_done
        self._calls: list[Call] = []
        self._running: dict[asyncio.Task[None], Call] = {}
        self._room = asyncio.Semaphore(SIDE_BY_SIDE)
        self._last_round: list[tuple[str, str]] = []
        self.repeated = 1
        """So often in a row the same calls had the same results."""

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
        """Run a finished call; `on_done` is called when it has its output.

        Calls that only read run side by side; all others run alone, in their order.
        """
        reads = self._only_reads(call)
        earlier = [task for task, other in self._running.items() if not (reads and other.reads)]
        call.reads = reads
        task = self._services.supervisor.start(self._run(call, earlier), call.name)
        self._running[task] = call
        task.add_done_callback(lambda done: self._end(done, call))

    def _only_reads(self, call: Call) -> bool:
        if call.landing is not None or call.name in _READS:
            return True
        return self._runs(call) and self._services.commands.only_reads(call)

    def _runs(self, call: Call) -> bool:
        return self._has_shell and is_shell(call.item)

    def collect(self, calls: Iterable[Call]) -> None:
        """These calls stand in the history and need answers."""
        self._calls += calls

    def answer(self, history: History, otherwise: str = _BROKEN) -> bool:
        """Answer all, with ``otherwise`` where there is no output; False if there were none."""
        calls, self._calls = self._calls, []
        this_round = [(_asked(call), _OF_ONE_RUN.sub("", call.output or "")) for call in calls]
        again = bool(calls) and not any(map(_gets_on, calls)) and this_round == self._last_round
        self.repeated, self._last_round = self.repeated + 1 if again else 1, this_round
        for call in calls:
            if call.report is not None and call.landing is not None:
                entry = history.answer(call.item, "", failed=True)
                report = partial(self._report, call, call.landing, call.report, entry)
                self._services.requests.owed.append(report)
                continue
            so_far = otherwise if call.so_far is None else call.so_far()
            output = so_far if call.output is None else call.output
            answer = as_answer(str(call.item.get("type")), output, call.result)
            history.answer(call.item, answer, failed=call.failed or call.output is None)
        return bool(calls)

    def _report(
        self, call: Call, landing: Landing, report: Callable[[], Work[str]], entry: HistoryEntry
    ) -> Work[PatchReport]:
        """Say what became of a patch, as it is now that it is sent."""
        output = yield from report()
        lost = yield from not_kept(self._services.open_files.workspace.documents, landing.hunks)
        failed = bool(lost) or not landing.placed_all
        states = yield from self._services.requests.told.states(landing.hunks)
        return PatchReport(entry, answer_item(call.item, output, failed=failed), states)

    def stop(self) -> None:
        """The turn is over: nothing runs on, no question stays."""
        for task in self._running:
            task.cancel()

    async def _run(self, call: Call, earlier: list[asyncio.Task[None]]) -> None:
        if earlier:
            await asyncio.wait(earlier)
        if call.report is not None and call.landing is not None:
            await self._services.open_files.catalogue.prepare(
                {hunk.path for hunk in call.landing.hunks}
            )
            return
        async with self._room:
            result = await self._result(call)
        call.output, call.failed = result.output, result.failed
        self._services.state.append(call.block, result.brief)

    async def _result(self, call: Call) -> ToolResult:
        services = self._services
        if call.item.get("name") == PATCH_TOOL or call.item.get("type") == "apply_patch_call":
            plans = services.state.status.mode == "plan"
            why = _PLANS if plans else "this prompt is answered without edits"
            return failure(f"{why}; say in words what you would change")
        if self._runs(call) and services.state.status.asking:
            return failure("this prompt is answered without commands; read what you need")
        if self._runs(call):
            return await services.commands.run(call)
        arguments = str(call.item.get("arguments") or call.item.get("input") or "")
        if call.name in _OUTPUT_TOOLS:
            return await services.commands.read(arguments)
        with services.state.tool_time(services.ports.clock.now):
            return await services.tools.call(call.name, arguments)

    def _end(self, task: asyncio.Task[None], call: Call) -> None:
        self._running.pop(task, None)
        if task.cancelled():
            self._services.state.close(call.block, "cut")
            return
        if call.output is None and call.report is None:
            call.output, call.failed = _BROKEN, True
        if not call.lives_on:
            self._services.state.close(call.block, "failed" if call.failed else "done")
        self._on_done()


def _gets_on(call: Call) -> bool:
    """Whether it is no matter that it is made again: it waits, or has changed something."""
    return call.name in _OUTPUT_TOOLS or (call.landing is not None and call.landing.placed_all)


def _asked(call: Call) -> str:
    """What a call says, whatever its number is."""
    item = call.item
    said = item.get("arguments") or item.get("input") or item.get("action")
    return f"{call.name} {said}"


class Bill(Struct, frozen=True):
    """What a price depends on, beside the tokens."""

    endpoint: str
    models: Sequence[str]
    """The model's names, the one that the server gave first."""
    tier: str
    context_window: int | None
    """Tokens; None: not told."""


def billed(
    services: Services, spec: RoleSpec, response: Mapping[str, object], usage: Usage
) -> None:
    """Take up what the end of a response tells of who answered."""
    bill = bill_of(response, spec)
    meter = services.state.meter
    services.window().counted(spec, usage)
    services.budget().counted(spec, usage)
    if bill.context_window is not None:  # the bridge knows what settings say, and the server too
        meter.windows[spec.endpoint, spec.model] = bill.context_window
        services.window().describe(spec)
    ask = services.ports.quote
    if ask is None or bill.endpoint == REHEARSAL:
        return
    number, turn = meter.responses, services.requests.history.turn

    async def pay() -> None:
        quote = await ask(bill.endpoint, bill.models, usage, bill.tier)
        meter.paid(number, quote.usd, unknown=quote.unknown)
        services.state.witness.paid(turn, quote)
        if quote.context_window and bill.endpoint == spec.endpoint and not spec.context_window:
            meter.windows.setdefault((spec.endpoint, spec.model), quote.context_window)
            services.window().describe(spec)
        services.state.metered()

    services.budget().pays(services.supervisor.start(pay(), "the price"))


def bill_of(response: Mapping[str, object], spec: RoleSpec) -> Bill:
    """Who answered a request of this role; the bridge says more of it in ``metadata``."""
    said = response.get("metadata")
    said = said if isinstance(said, Mapping) else {}
    endpoint = str(said.get("duetto_endpoint") or spec.endpoint)
    names = [response.get("model"), said.get("duetto_model")]
    if endpoint == spec.endpoint and not said.get("duetto_fallback_reason"):
        names.append(spec.model)
    window = str(said.get("duetto_context_window") or "")
    return Bill(
        endpoint,
        [name for name in dict.fromkeys(names) if isinstance(name, str) and name],
        str(response.get("service_tier") or ""),
        int(window) if window.isascii() and window.isdigit() and len(window) < 12 else None,
    )


_BELOW = "interrupted: what became of it is said below"
"""The answer of a patch call that was cut: a user message has the report (EDITS.md section 10)."""
SOFTLY = ("interrupted", "steered")
"""Reasons of an incomplete response that are the user's own wish."""
_CUT: dict[Outcome, str] = {"interrupted": "was interrupted by the user", "failed": "broke off"}


class Record:
    """Of one turn."""

    def __init__(self, services: Services, request: TurnRequest, runner: CallRunner) -> None:
        self.chars = 0
        """Characters of output that came, reasoning left out."""
        self._services = services
        self._request = request
        self._runner = runner
        self.left: CutReply | None = None
        """What its last response left half-said, if it was cut."""
        self._going_on = request.going_on
        services.state.keeps_cut = request.going_on is not None
        self._half: list[Block] = []
        """Texts that broke off and are asked for again."""
        self._earlier = Earlier()
        if request.going_on is not None and request.going_on.earlier is not None:
            self._earlier = request.going_on.earlier
            self._earlier.broke = True

    def reply(self, role: str) -> Reply:
        """A response that is to come."""
        page = Page(self._services.state, self._request.number, role)
        reply = Reply(page, self.landing, self._earlier, self._going_on)
        reply.calls.on_call = self._runner.run
        reply.calls.privacy = self._services.open_files.privacy
        return reply

    def landing(self, call_id: str, channel: Channel, *, hosted: bool = False) -> Landing:
        """Where a patch of this turn goes; ``hosted``: the built-in tool has a format of its own.

        A tool's format is what the model was asked for; only in prose others are known too.
        """
        from tui.core.patches.landing import Landing

        workspace, spec = self._services.state.workspace, self._request.spec
        wanted: PatchFormat = "auto" if hosted or channel == "shell" else spec.patch_format
        plans = self._services.state.status.only_reads
        return Landing(
            workspace,
            turn=self._request.number,
            call_id=call_id,
            channel=channel,
            fmt="none" if plans else format_of(wanted, channel, in_prose=spec.patch_tool == "text"),
        )

    def count(self, response: Mapping[str, object], now: float, *, cut: bool) -> None:
        """The server's own figures, if it gave any; ``cut``: not all that it counted was heard."""
        usage = events.usage_of(dict(response))
        if usage is not None:
            cut = cut or _broken_off(response)
            self._services.state.meter.usage(now, usage, cut=cut)
            billed(self._services, self._request.spec, response, usage)
            self._services.state.metered()

    def ended(
        self, reply: Reply, response: Mapping[str, object], *, chainable: bool, cut: bool
    ) -> None:
        """A response came to an end of its own; the chain may go on from there."""
        self.gather(reply, cut=cut)
        response_id = str(response.get("id") or reply.response_id)
        history = self._services.requests.history
        history.ended(response_id, chainable=chainable and not reply.slots.mended)

    def gather(self, reply: Reply, *, cut: bool, broke: bool = False) -> None:
        """The response is over, however: finished items stay, what is half-written is closed.

        Of a half-written patch the history keeps what stands in the buffers; where it ``broke``
        and will be asked for again, one of which nothing stands there is forgotten.
        """
        reply.close(cut=cut)
        self.left = reply.left if cut else None
        if reply.started:
            self._going_on, self._services.state.keeps_cut = None, False
        self.chars += reply.chars
        requests = self._services.requests
        for item in reply.items:
            requests.history.output(item, self._request.spec.origin)
        self._runner.collect(call for call in reply.calls.all if call.done)
        for call in reply.calls.partial():
            landing = call.landing
            if landing is not None and (landed(landing) or not broke):
                entry = requests.history.cut_call(call.item, _BELOW)
                if broke:
                    requests.owed.append(partial(self._report, reply, call, landing, entry))
        for landing in reply.patches_in_prose:
            if landed(landing) or not broke:
                patch = PatchInProse(landing.hunks, landing.failure, landing.was_cut)
                requests.prose.append(patch)
        if broke:
            for landing in reply.landings:
                if not landed(landing):
                    requests.told.mark(landing.hunks)

    def _report(
        self, reply: Reply, call: Call, landing: Landing, entry: HistoryEntry
    ) -> Work[PatchReport]:
        """Say what became of a call that broke off, as it is now that it is sent."""
        report = yield from reply.calls.report(landing)
        states = yield from self._services.requests.told.states(landing.hunks)
        return PatchReport(entry, answer_item(call.item, report, failed=True), states)

    def broke(self) -> None:
        """The last response broke and is asked for again.

        What landed from its calls is told by their answers, what landed from its prose by a note.
        """
        requests = self._services.requests
        if requests.prose:
            requests.cut = CutAnswer(self._request.number, self.chars, "broke off")
        self._half += self._services.state.half_written(self._request.number)
        self._earlier.broke = True

    def begun(self) -> None:
        """A response begins: it says anew what broke off."""
        half, self._half = self._half, []
        self._services.state.supersede(half)

    def close(self, outcome: Outcome) -> None:
        """The turn is over: what the next one tells the model of it."""
        self._services.state.keeps_cut = False
        how = _CUT.get(outcome)
        cut = None if how is None else CutAnswer(self._request.number, self.chars, how)
        self._services.requests.cut = cut


def format_of(wanted: PatchFormat, channel: Channel, *, in_prose: bool) -> Format:
    """What a channel is read as.

    A tool takes one format. Prose is looked through for all that was not ruled out; beside a
    patch tool for those with markers of their own only, or a file that is quoted in an
    explanation would replace the one on the disk.
    """
    if channel != "text":
        return "apply_patch" if wanted == "auto" else wanted
    if in_prose or wanted not in ("auto", "whole_file"):
        return wanted
    return "marked"


def _broken_off(response: Mapping[str, object]) -> bool:
    """The server broke off what it was saying: it may have counted what it did not say."""
    details = response.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    return response.get("status") == "failed" or reason in SOFTLY


class Served:
    """Takes down what the responses of one turn say; a stand-in, or a notice, is told once."""

    def __init__(self, state: SessionState) -> None:
        self._state = state
        self._told = self._notice = ""

    def note(self, response: Mapping[str, object], now: float) -> None:
        """A response began, or ended: what it says of itself."""
        status = self._state.status
        before = (status.served_model, status.served_tier, status.served_endpoint)
        status.served_model = _text(response.get("model")) or status.served_model
        status.served_tier = _text(response.get("service_tier"))
        metadata = response.get("metadata")
        said = metadata if isinstance(metadata, Mapping) else {}
        place = _text(said.get("duetto_endpoint"))
        reason = _text(said.get("duetto_fallback_reason"))
        if reason:
            status.served_endpoint, status.fallback_reason = place, reason
            self._tell(status)
        elif place:
            status.served_endpoint = status.fallback_reason = ""
        if (notice := _text(said.get("duetto_notice"))) and notice != self._notice:
            self._notice = notice
            self._state.trouble(Trouble(notice, severity="information"))
        status.left_out = _text(said.get("duetto_left_out")) or status.left_out
        limits = limits_in(_text(said.get("duetto_rate_limits")), now)
        if limits or any(one.name == PAUSE for one in status.limits):
            self._limit(limits)
        if before != (status.served_model, status.served_tier, status.served_endpoint):
            self._state.restated()

    def refused(self, event: events.ErrorEvent | events.Failed, now: float) -> None:
        """A request was refused: for a limit, with a pause that the server asks for, maybe."""
        if not isinstance(event, events.ErrorEvent):
            return
        self.paused(event.retry_after_s, now, limits_of(event.headers, now))

    def paused(self, pause_s: float | None, now: float, limits: tuple[Limit, ...] = ()) -> None:
        """The server asks to be left alone for so many seconds (None: it does not)."""
        if pause_s:
            limits += (Limit(PAUSE, 0, None, now + pause_s),)
        if limits:
            self._limit(limits)

    def heard(self, event: events.Unknown, now: float) -> None:
        """A vendor's event, which may tell of limits."""
        if event.type == CODEX_EVENT and (limits := limits_of_event(event.raw, now)):
            self._limit(limits)

    def _limit(self, limits: tuple[Limit, ...]) -> None:
        if limits != self._state.status.limits:
            self._state.status.limits = limits
            self._state.restated()

    def _tell(self, status: Status) -> None:
        """One calm notice a turn."""
        who = " on ".join(filter(None, (status.served_model, status.served_endpoint)))
        if who == self._told:
            return
        self._told = who
        what = f"{who or 'Another model'} answers instead"
        self._state.trouble(Trouble(what, status.fallback_reason, severity="information"))


def forget_served(status: Status) -> None:
    """Somebody else is asked from now on."""
    status.served_model = status.served_tier = ""
    status.served_endpoint = status.fallback_reason = status.left_out = ""
    status.limits = ()


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
