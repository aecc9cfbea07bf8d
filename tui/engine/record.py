"""What the responses of a turn leave behind: the history, calls to answer, reports to give."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from tui.core.context import Cut, PatchInProse
from tui.core.edit_stream import Channel, Format
from tui.core.history import Entry, answer_item
from tui.core.turn import Block
from tui.core.wire import events
from tui.engine.billing import billed
from tui.engine.calls import Earlier, landed
from tui.engine.errand import Errand, Outcome
from tui.engine.kit import Kit
from tui.engine.open_items import Call, Page
from tui.engine.ports import PatchFormat
from tui.engine.reply import Reply
from tui.engine.requests import Said, origin
from tui.engine.tool_bench import ToolBench

if TYPE_CHECKING:
    from tui.core.edits.patches.landing import Landing
    from tui.core.steps import Work

_BELOW = "interrupted: what became of it is said below"
"""The answer of a patch call that was cut: a user message has the report (EDITS.md section 10)."""
SOFTLY = ("interrupted", "steered")
"""Reasons of an incomplete response that are the user's own wish."""
_CUT: dict[Outcome, str] = {"interrupted": "was interrupted by the user", "failed": "broke off"}


class Record:
    """Of one turn."""

    def __init__(self, kit: Kit, errand: Errand, bench: ToolBench) -> None:
        self.chars = 0
        """Characters of output that came, reasoning left out."""
        self._kit = kit
        self._errand = errand
        self._bench = bench
        self._half: list[Block] = []
        """Texts that broke off and are asked for again."""
        self._earlier = Earlier()

    def reply(self, role: str) -> Reply:
        """A response that is to come."""
        page = Page(self._kit.board, self._errand.number, role)
        reply = Reply(page, self.landing, self._earlier)
        reply.calls.on_call = self._bench.run
        reply.calls.privacy = self._kit.desk.privacy
        return reply

    def landing(self, call_id: str, channel: Channel, *, hosted: bool = False) -> Landing:
        """Where a patch of this turn goes; ``hosted``: the built-in tool has a format of its own.

        A tool's format is what the model was asked for; only in prose others are known too.
        """
        from tui.core.edits.patches.landing import Landing

        workspace, spec = self._kit.board.workspace, self._errand.spec
        wanted: PatchFormat = "auto" if hosted or channel == "shell" else spec.patch_format
        return Landing(
            workspace,
            turn=self._errand.number,
            call_id=call_id,
            channel=channel,
            fmt=format_of(wanted, channel, in_prose=spec.patch_tool == "text"),
        )

    def count(self, response: Mapping[str, object], now: float, *, cut: bool) -> None:
        """The server's own figures, if it gave any; ``cut``: not all that it counted was heard."""
        usage = events.usage_of(dict(response))
        if usage is not None:
            cut = cut or _broken_off(response)
            self._kit.board.meter.usage(now, usage, cut=cut)
            billed(self._kit, self._errand.spec, response, usage)
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
        requests = self._kit.requests
        for item in reply.items:
            requests.history.output(item, origin(self._errand.spec))
        self._bench.collect(call for call in reply.calls.all if call.done)
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

    def _report(self, reply: Reply, call: Call, landing: Landing, entry: Entry) -> Work[Said]:
        """Say what became of a call that broke off, as it is now that it is sent."""
        report = yield from reply.calls.report(landing)
        states = yield from self._kit.requests.told.states(landing.hunks)
        return Said(entry, answer_item(call.item, report, failed=True), states)

    def broke(self) -> None:
        """The last response broke and is asked for again.

        What landed from its calls is told by their answers, what landed from its prose by a note.
        """
        requests = self._kit.requests
        if requests.prose:
            requests.cut = Cut(self._errand.number, self.chars, "broke off")
        self._half += self._kit.board.half_written(self._errand.number)
        self._earlier.broke = True

    def begun(self) -> None:
        """A response begins: it says anew what broke off."""
        half, self._half = self._half, []
        self._kit.board.supersede(half)

    def close(self, outcome: Outcome) -> None:
        """The turn is over: what the next one tells the model of it."""
        how = _CUT.get(outcome)
        cut = None if how is None else Cut(self._errand.number, self.chars, how)
        self._kit.requests.cut = cut


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
