"""The names of all figures, with their units, and their targets (issue 6, Speed)."""

from __future__ import annotations

READY = "ready after the command s"
DIRECT, THROUGH = "first token directly ms", "first token through the bridge ms"
ADDED = "added to the first token ms"
BRIDGE_CPU = "CPU of the bridge us per token"
ADDED_CPU = "added CPU us per token"
"""The bridge's, and what its client spends more than one of the upstream does."""
CAME = "tokens that came %"
LATE_P95, LATE_MAX = "a token behind its pace p95 ms", "a token behind its pace max ms"
DIRECT_P95, DIRECT_MAX = "the machine's own delay p95 ms", "the machine's own delay max ms"
"""The same pace with nothing between: what else runs on this machine."""
CORE = "of one core %"
MEMORY = "memory at most MB"
STOP_P50, STOP_P95, STOP_MAX = (
    "upstream told of an interrupt p50 ms",
    "upstream told of an interrupt p95 ms",
    "upstream told of an interrupt max ms",
)
AT_MOST = {
    READY: 0.5,
    ADDED: 1.0,
    ADDED_CPU: 40.0,
    CORE: 100.0,
    LATE_P95: 20.0,
    MEMORY: 300.0,
    STOP_P95: 10.0,
    STOP_MAX: 10.0,
}
"""`LATE_P95` is a bound of our own, a token's time at 50 tokens/s: else it would hold no pace."""
AT_LEAST = {CAME: 100.0}
