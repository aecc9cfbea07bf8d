"""What the end of a response tells for the meter: what it cost, how large the model's window is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tui.core.wire.events import Usage
from tui.engine.kit import Kit
from tui.engine.lines import REHEARSAL
from tui.engine.ports import RoleSpec


@dataclass(frozen=True, slots=True)
class Bill:
    """What a price depends on, beside the tokens."""

    endpoint: str
    models: Sequence[str]
    """The model's names, the one that the server gave first."""
    tier: str
    context_window: int | None
    """Tokens; None: not told."""


def billed(kit: Kit, spec: RoleSpec, response: Mapping[str, object], usage: Usage) -> None:
    """Take up what the end of a response tells of who answered."""
    bill = bill_of(response, spec)
    meter = kit.board.meter
    if bill.context_window is not None:  # the bridge knows what settings say, and the server too
        meter.context_window = bill.context_window
        meter.windows[spec.endpoint, spec.model] = bill.context_window
    ask = kit.ports.quote
    if ask is None or bill.endpoint == REHEARSAL:
        return
    number = meter.responses

    async def pay() -> None:
        quote = await ask(bill.endpoint, bill.models, usage, bill.tier)
        meter.paid(number, quote.usd, unknown=quote.unknown)
        if quote.context_window and bill.endpoint == spec.endpoint and not spec.context_window:
            known = meter.windows.setdefault((spec.endpoint, spec.model), quote.context_window)
            meter.context_window = meter.context_window or known
        kit.board.metered()

    kit.supervisor.start(pay(), "the price")


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
