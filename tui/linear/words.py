"""States and figures as sentences: what a screen would show by place and colour."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from tui.core.document.hunk import OPEN, RED, TAKEN_BACK, Decision, Hunk, Kind, Stage
from tui.core.document.hunk_list import waits
from tui.core.files import counted
from tui.core.inert_text import brief, inert
from tui.core.meter import GHOST_TOKENS_S, PRICE_UNKNOWN, MeterView
from tui.core.wire.endpoint_facts import SocketView
from tui.engine.notices import Ask, Status, Trouble
from tui.engine.ports import Abilities

_MOST_LISTED = 12
"""Hunks of a patch that have a line each; of more each file has one."""
_SEVERITIES = {"error": "Problem", "warning": "Warning", "information": "Note"}
_VERDICTS = {
    "passed": "The {} passed.",
    "same": "The {} fail as they did before, and nothing else does.",
    "failed": "The {} failed.",
    "timeout": "The {} ran into their deadline.",
    "error": "The {} could not be run.",
}
_WHERE = {
    Stage.READING: "still being read",
    Stage.CANDIDATES: "fits in several places",
    Stage.LOCATED: "its place is found",
    Stage.LANDING: "still landing",
    Stage.LANDED: "pending",
    Stage.CUT: "cut, kept as it stands until you go on",
    Stage.CONFLICT: "in conflict",
    Stage.REFUSED: "refused",
}


def numbers_words(numbers: Iterable[int]) -> str:
    """``1 to 3, 5``."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ", ".join(" to ".join(map(str, dict.fromkeys(run))) for run in runs)


def span(seconds: float) -> str:
    """``84 ms``, ``1.2 s``, ``2 min 5 s``."""
    if seconds < 0.9995:
        return f"{max(seconds, 0) * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


def rate_words(view: MeterView) -> str:
    """How fast it came; empty if that is not known."""
    if view.tokens_s is None:
        return ""
    about = "about " if view.estimated else ""
    rate = f"{view.tokens_s:,.0f}" if view.tokens_s >= 10 else f"{view.tokens_s:.1f}"
    return f"{about}{rate} tokens per second"


def turn_words(view: MeterView) -> str:
    """``512 tokens in 1.3 s, 998 tokens per second, first word after 84 ms``."""
    about = "about " if view.tokens_estimated and view.tokens else ""
    said = [f"{about}{counted(view.tokens, 'token')} in {span(view.seconds)}", rate_words(view)]
    if view.ttft_s is not None:
        said.append(f"first word after {span(view.ttft_s)}")
    if view.cost.unknown:
        said.append(PRICE_UNKNOWN)
    elif view.cost.turn_usd is not None:
        said.append(dollars_words(view.cost.turn_usd, estimated=view.cost.estimated))
    return ", ".join(filter(None, said))


def meter_lines(view: MeterView) -> list[str]:
    """Every figure of the meter, a sentence each."""
    if view.state == "idle":
        return ["Nothing measured yet: the meter starts with your first prompt."]
    lines = [f"{turn_words(view)}."]
    if view.tokens:
        slow = span(view.tokens / GHOST_TOKENS_S)
        lines.append(f"At 50 tokens per second it takes {slow}.")
    if view.reasoning != "unknown":
        lines.append(f"Reasoning is {view.reasoning} in these figures.")
    if view.context_tokens is not None:
        window = "" if view.context_window is None else f" of {view.context_window:,}"
        lines.append(f"The conversation fills {view.context_tokens:,}{window} tokens.")
    if view.cached is not None:
        lines.append(f"{view.cached:.0%} of the turn's input came from the server's cache.")
    cost = view.cost
    if cost.session_usd is not None:
        least = "" if cost.session_whole else "at least "
        lines.append(f"This session: {least}{dollars_words(cost.session_usd)}.")
    elif cost.session_unknown:
        lines.append(f"This session: {PRICE_UNKNOWN}.")
    return lines


def dollars_words(usd: float, *, estimated: bool = False) -> str:
    """``0.0041 dollars``."""
    figure = f"{usd:,.2f}" if usd >= 1 else f"{usd:.3f}" if usd >= 0.01 else f"{usd:.4f}"
    return f"{'about ' if estimated else ''}{figure} dollars"


def trouble_line(trouble: Trouble) -> str:
    """What happened, why, and what to do next."""
    said = [trouble.what.rstrip("."), trouble.why]
    words = ": ".join(filter(None, (" ".join(part.split()) for part in said)))
    step = f" Next: {' '.join(trouble.next_step.split())}." if trouble.next_step else ""
    end = "" if words.endswith(("?", "!")) else "."
    return f"{_SEVERITIES[trouble.severity]}: {words.rstrip('.')}{end}{step}"


def ask_lines(ask: Ask) -> list[str]:
    """A question with its numbered choices."""
    lines = [f"Question: {' '.join(ask.question.split())}"]
    lines += [line for line in ask.detail.split("\n") if line.strip()]
    lines += [f"{number}. {choice}" for number, choice in enumerate(ask.choices, 1)]
    last = len(ask.choices)
    words = f" Words behind {last} go to the model." if ask.takes_words else ""
    return [*lines, f"Type a number from 1 to {last}.{words}"]


def hunk_state(hunk: Hunk) -> str:
    """What became of a hunk: ``pending``, ``accepted``, ``refused: context not found``."""
    if hunk.decision is Decision.REJECTED and hunk.reason == TAKEN_BACK:
        return f"cut, and taken back as you went on: /undecide {hunk.id} brings it back"
    if hunk.decision is not Decision.PENDING:
        words = f": {hunk.words}" if hunk.words else ""
        return inert(f"{hunk.decision.value}{words}")
    said = _WHERE[hunk.stage]
    reasons = [*hunk.flags, *([hunk.reason] if hunk.reason else [])]
    if reasons:
        said += f": {', '.join(reasons)}"
    if hunk.redone:
        said += f", {hunk.redone.replace(RED, '')}"
    return inert(said)


def hunk_change(hunk: Hunk) -> str:
    """What a hunk does: ``line 4, 1 removed, 3 added``."""
    match hunk.kind:
        case Kind.DELETE:
            return f"deletes the file, {counted(hunk.removed, 'line')}"
        case Kind.MOVE:
            return f"moves the file to {inert(hunk.target)}"
    where = "" if hunk.start is None else f"line {hunk.start.line + 1}, "
    if hunk.kind is Kind.ADD:
        where = "writes the whole file, " if hunk.base else "new file, "
    return f"{where}{hunk.removed} removed, {hunk.added} added"


def hunk_line(hunk: Hunk, *, path: bool = False) -> str:
    """As in ``Hunk 2: line 4, 1 removed, 3 added; pending.`` (with its path, if wanted)."""
    name = f" {inert(hunk.path)}," if path else ""
    return f"Hunk {hunk.id}:{name} {hunk_change(hunk)}; {hunk_state(hunk)}."


def patch_lines(hunks: Sequence[Hunk]) -> list[str]:
    """What a patch brought: a line a hunk, or a line a file where there are many."""
    files: dict[str, list[Hunk]] = {}
    for hunk in hunks:
        files.setdefault(hunk.path, []).append(hunk)
    lines = []
    for path, mine in files.items():
        added, removed = sum(h.added for h in mine), sum(h.removed for h in mine)
        head = f"{inert(path)}: {counted(len(mine), 'hunk')}, {removed} removed, {added} added"
        if len(hunks) > _MOST_LISTED:
            states = [hunk_state(hunk) for hunk in mine]
            counts = ", ".join(f"{states.count(s)} {s}" for s in dict.fromkeys(states))
            lines.append(f"{head}; {counts}.")
        elif len(mine) == 1:
            lines.append(f"{inert(path)}: {hunk_line(mine[0])}")
        else:
            lines += [f"{head}.", *map(hunk_line, mine)]
    return lines


def waiting_words(hunks: Iterable[Hunk]) -> str:
    """How many hunks wait, and what to do; empty if none does."""
    number = sum(waits(hunk) for hunk in hunks)
    if not number:
        return ""
    verb = "waits" if number == 1 else "wait"
    which = "it" if number == 1 else "them"
    return (
        f"{counted(number, 'hunk')} {verb} for your decision: "
        f"/review reads {which}, /accept all takes {which}."
    )


def kept_words(hunks: Iterable[Hunk]) -> str:
    """What an interruption left of a turn's hunks: ``2 hunks whole, 1 cut as it stands``."""
    stages = [hunk.stage for hunk in hunks if hunk.stage not in OPEN]
    whole, cut = stages.count(Stage.LANDED), stages.count(Stage.CUT)
    said = [f"{counted(whole, 'hunk')} whole"] if whole else []
    if cut:
        said.append(f"{counted(cut, 'hunk')} cut, as it stands: /accept NUMBER keeps it")
    if refused := stages.count(Stage.REFUSED):
        said.append(f"{counted(refused, 'hunk')} not applied")
    return ", ".join(said)


def state_words(status: Status, view: MeterView) -> str:
    """What goes on now, in a sentence."""
    if status.retry_s is not None:
        wait = math.ceil(max(status.retry_s, 0))
        return f"The connection is lost; the next try is in {wait} s. /stop cancels."
    if status.stopping:
        return "Stopping."
    if status.busy and view.state == "waiting":
        return f"Waiting for {status.role}, {span(view.seconds)} so far."
    if status.busy:
        rate = rate_words(view)
        about = "about " if view.tokens_estimated else ""
        so_far = f"{about}{counted(view.tokens, 'token')}, {span(view.seconds)}"
        return f"{status.role} is answering: {so_far}{', ' if rate else ''}{rate}."
    if status.running:
        return f"Running: {brief(status.running)}."
    said = [f"Nothing runs; {status.role} answers your next prompt."]
    if status.verdict:
        said.append(_VERDICTS[status.verdict].format(status.judged))
        if status.outdated:
            said.append("The texts have changed since.")
    if queued := len(status.queued):
        said.append(f"{counted(queued, 'message')} queued: /queued lists them.")
    return " ".join(said)


def status_lines(status: Status, can: Abilities, sockets: Sequence[SocketView]) -> list[str]:
    """Models, what the one that answers can do, and the connection."""
    lines = []
    for role, name in status.models.items():
        asked = [inert(name or "none")]
        if effort := status.effort_words(role):
            asked.append(f"effort {effort}")
        if tier := status.tiers.get(role):
            asked.append(f"tier {inert(tier)}")
        now = "; answers now" if role == status.role else ""
        lines.append(f"{role}: {', '.join(asked)}{now}.")
    if status.advice:
        lines.append(f"Proposals of the other model: {status.advice}.")
    if status.served_model:
        where = f" on {inert(status.served_endpoint)}" if status.served_endpoint else ""
        tier = f", tier {inert(status.served_tier)}" if status.served_tier else ""
        lines.append(f"Served by {inert(status.served_model)}{where}{tier}.")
    if status.left_out:
        lines.append(f"Not sent, for the server refuses it: {inert(status.left_out)}.")
    if status.fallback_reason:
        lines.append(f"That is a fallback: {inert(status.fallback_reason)}.")
    if status.rehearsal:
        lines.append("This is a rehearsal: scripted answers at real speeds, no model.")
    yes = {True: "yes", False: "no", None: "not tried"}
    known = (
        ("steer", can.steer),
        ("interrupt", can.interrupt),
        ("prewarm", can.prewarm),
        ("images", can.images),
    )
    lines.append(f"It can: {', '.join(f'{name} {yes[able]}' for name, able in known)}.")
    trip = "" if status.round_trip_ms is None else f", {status.round_trip_ms:.0f} ms there and back"
    over = " by HTTP" if status.transport == "http" else ""
    lines.append(f"{inert(status.endpoint)} is {status.connection}{over}{trip}.")
    for socket in sockets:
        lines.append(f"Socket to {inert(socket.endpoint)}: {socket.state}, {socket.transport}.")
    if status.throttle:
        lines.append(f"Throttled to {status.throttle:,.0f} tokens per second.")
    if status.auto_accept:
        lines.append("Hunks that need no look are accepted automatically.")
    return lines
