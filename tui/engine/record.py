"""What the responses of a turn leave behind: the history, calls to answer, reports to give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tui.core.context import Cut
from tui.core.edit_stream import Channel
from tui.core.turn import Block
from tui.core.wire import events
from tui.engine.errand import Errand, Outcome
from tui.engine.kit import Kit
from tui.engine.reply import Reply
from tui.engine.requests import origin
from tui.engine.tool_bench import ToolBench

if TYPE_CHECKING:
    from tui.core.landing import Landing

_CUT: dict[Outcome, str] = {"interrupted": "was interrupted by the user", "failed": "broke off"}


class Record:
    """Of one turn."""

    def __init__(self, kit: Kit, errand: Errand, bench: ToolBench) -> None:
        self.chars = 0
        """Characters of output that came, reasoning left out."""
        self._kit = kit
        self._errand = errand
        self._bench = bench
        self._prose_reports: list[str] = []
        self._half: list[Block] = []
        """Texts that broke off and are asked for again."""

    def landing(self, call_id: str, channel: Channel) -> Landing:
        """Where a patch of this turn goes."""
        from tui.core.landing import Landing

        workspace = self._kit.board.workspace
        return Landing(workspace, turn=self._errand.number, call_id=call_id, channel=channel)

    def count(self, response: Mapping[str, object], now: float) -> None:
        """The server's own figures, if it gave any."""
        usage = events.usage_of(dict(response))
        if usage is not None:
            self._kit.board.meter.usage(now, usage)
            self._kit.board.metered()

    def ended(
        self, reply: Reply, response: Mapping[str, object], *, chainable: bool, cut: bool
    ) -> None:
        """A response came to an end of its own; the chain may go on from there."""
        self.gather(reply, cut=cut)
        response_id = str(response.get("id") or reply.response_id)
        history = self._kit.requests.history
        history.ended(response_id, chainable=chainable and not reply.slots.mended)

    def gather(self, reply: Reply, *, cut: bool, broke: bool = False) -> None:
        """The response is over, however: finished items stay, what is half-written is closed.

        Of a half-written patch the history keeps what stands in the buffers; where it ``broke``
        and will be asked for again, one of which nothing stands there is forgotten.
        """
        reply.close(cut=cut)
        self.chars += reply.chars
        history = self._kit.requests.history
        for item in reply.items:
            history.output(item, origin(self._errand.spec))
        self._bench.collect(call for call in reply.calls if call.done)
        for item, report in reply.partial_calls(landed=broke):
            history.cut_call(item, report)
        if report := reply.prose_report():
            self._prose_reports.append(report)

    def broke(self) -> None:
        """The last response broke and is asked for again: say what landed from its prose.

        What landed from its calls is told by their answers.
        """
        self._half += self._kit.board.half_written(self._errand.number)
        if self._prose_reports:
            requests = self._kit.requests
            head = "Your last answer broke off. Do not send again what it changed:"
            requests.report = "\n".join(filter(None, (requests.report, head, *self._prose_reports)))
            self._prose_reports = []

    def begun(self) -> None:
        """A response begins: it says anew what broke off."""
        half, self._half = self._half, []
        self._kit.board.supersede(half)

    def close(self, outcome: Outcome) -> None:
        """The turn is over: what the next one tells the model of it."""
        requests, how = self._kit.requests, _CUT.get(outcome)
        requests.cut = None if how is None else Cut(self._errand.number, self.chars, how)
        reports = [requests.report, *self._prose_reports]
        requests.report = "\n".join(filter(None, reports))
