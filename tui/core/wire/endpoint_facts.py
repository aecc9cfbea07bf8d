"""What is known of an endpoint: what it can do, kept over runs, and its sockets now."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

REHEARSAL = "rehearsal"
"""The name of the endpoint of the rehearsal models."""
LEAST_AGE_S = 45.0
"""No server ends connections for their age that are younger: 60 s is the least that can be set."""
GRACE_S = 1.0
"""How long the server may take to answer an interrupt."""
ACCEPTED_S = 5.0
"""How long an accepted interrupt may take from its sending to its terminal event, all told."""
ModelFact = Literal["interrupt", "steer"]


class Capabilities(msgspec.Struct):
    """What one endpoint can do; None and missing models: not known yet (PROTOCOL section 13)."""

    lanes: bool | None = None
    """It echoes `stream_id`: one socket carries many conversations."""
    prewarm: bool | None = None
    """It answers ``generate: false``."""
    websocket: bool | None = None
    """False: it refused the upgrade, and is spoken to by HTTP+SSE until it is probed again."""
    interrupt: dict[str, bool] = {}
    """Model -> whether ``response.interrupt`` stops it."""
    steer: dict[str, bool] = {}
    """Model -> whether ``response.steer`` redirects it."""
    max_age_s: float | None = None
    """How old this endpoint let a connection become, where it ended one for its age; seconds."""


class Learning:
    """Writes down what an endpoint did; ``news``: a fact changed since it was reset."""

    def __init__(self, capabilities: Capabilities) -> None:
        self.capabilities = capabilities
        self.news = False

    def learn(self, fact: Literal["lanes", "prewarm"], works: bool | None) -> None:
        """It does this, or not; None: unknown again."""
        self.news |= getattr(self.capabilities, fact) is not works
        setattr(self.capabilities, fact, works)

    def learn_of(self, fact: ModelFact, model: str, works: bool) -> None:
        """It does this for one model, or not."""
        known = self.of(fact)
        self.news |= known.get(model) is not works
        known[model] = works

    def no_answer(self, fact: ModelFact, model: str) -> None:
        """It stayed silent: proof only where it has never answered (else the network is slow)."""
        if not self.of(fact).get(model):
            self.learn_of(fact, model, False)

    def of(self, fact: ModelFact) -> dict[str, bool]:
        """Model -> whether it does this."""
        return self.capabilities.steer if fact == "steer" else self.capabilities.interrupt


class Abilities(Struct, frozen=True):
    """What an endpoint can do for one model; None: not known yet."""

    interrupt: bool | None = None
    steer: bool | None = None
    prewarm: bool | None = None
    lanes: bool | None = None
    images: bool | None = None
    """The model takes them."""


class SocketView(Struct, frozen=True):
    """One endpoint's socket now; a lost one is shown until it is dialled again."""

    endpoint: str
    """The endpoint's name."""
    address: str
    """Host, port and path: no key, no query."""
    transport: str
    """``websocket``, ``http``, or ``bridge``: a WebSocket to ours, which asks the endpoint."""
    state: str
    """``open``, ``connecting``, ``closed``, or ``retiring``: too old for new requests."""
    lanes: tuple[str, ...]
    """Names used on it, the busy ones marked with a ``*`` at the end."""
    age_s: float
    round_trip_s: float | None
    bytes_in: int
    """Payload of the frames, in bytes; so is `bytes_out`."""
    bytes_out: int
    frames_in: int
    requests: int
    """`response.create` sent over all sockets of the endpoint; so are the two below."""
    continued: int
    """How many of them were continuations (a parent and only the new items)."""
    reconnects: int
    why: str = ""
    """Of ``http``: what keeps it from being a WebSocket, in words."""
