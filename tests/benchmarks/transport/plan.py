"""What a run of the benchmark measures, and what it found: plain data."""

from __future__ import annotations

from dataclasses import dataclass

SSE_NEW = "sse-new"
"""A new HTTPS connection for every turn, the whole history in its body, the answer by SSE."""
SSE_KEPT = "sse-keepalive"
"""The same on one HTTPS connection that is kept."""
WS_FULL = "ws-full"
"""One WebSocket, the whole history in every turn."""
WS_INCREMENTAL = "ws-incremental"
"""One WebSocket, the parent's id and only the new items in every turn: what duetto does."""
TRANSPORTS = (SSE_NEW, SSE_KEPT, WS_FULL, WS_INCREMENTAL)

PLAIN_JSON = "websockets + json.loads"
"""Name of the row for the WebSocket library by itself, beside `SSE_KEPT` and our own wire."""
TOKEN_CLIENTS = (SSE_KEPT, PLAIN_JSON, WS_INCREMENTAL)


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured."""

    round_trips_ms: tuple[int, ...] = (0, 20, 80)
    histories_kb: tuple[int, ...] = (10, 100, 400)
    blocks: int = 2
    """Of turns without idle time, per transport and cell; those of the transports alternate."""
    turns: int = 4
    """In each block."""
    idle_turns: int = 3
    """The same after an idle time."""
    idle_ms: int = 400
    """How long a tool runs between two turns."""
    answer_ms: int = 500
    """How long the answers last between which a tool runs (500 tokens of a fast model): for so
    long too the client sends nothing."""
    tokens: int = 8000
    """In one answer without pace."""
    token_runs: int = 7
    """Per client, interleaved."""
    paced_tokens: int = 4000
    paced_rate: int = 1000
    """Tokens a second."""
    paced_runs: int = 3


FULL = Plan()
QUICK = Plan(
    round_trips_ms=(0, 20),
    histories_kb=(10, 100),
    blocks=1,
    turns=3,
    idle_turns=1,
    tokens=4000,
    token_runs=3,
    paced_tokens=300,
    paced_runs=1,
)


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn as it was measured."""

    ttft_ms: float
    """From the call that sends to the first text that is handed on."""
    cpu_ms: float
    """Processor time of the client's process."""
    sent_bytes: int
    """TCP payload from the client, counted on the way: TLS, HTTP or frames, and body."""
    idle_ms: float
    """How long the connection had been idle."""


@dataclass(frozen=True, slots=True)
class TurnFigures:
    """Medians over the turns of one transport in one cell."""

    round_trip_ms: int
    history_kb: int
    idle_ms: int
    transport: str
    turns: int
    ttft_ms: float
    overhead_ms: float
    """Of the time to the first token, what is beyond one round trip."""
    cpu_ms: float
    sent_bytes: int


@dataclass(frozen=True, slots=True)
class TokenFigures:
    """Medians over the answers that one client read."""

    client: str
    rate: int
    """Tokens a second; 0: without pace."""
    tokens: int
    """In each answer."""
    runs: int
    cpu_us: float
    """Processor time of the client's process, per token."""
    wall_us: float


@dataclass(frozen=True, slots=True)
class Findings:
    """All figures of one run."""

    turns: tuple[TurnFigures, ...]
    tokens: tuple[TokenFigures, ...]
    seconds: float
    quick: bool = False
