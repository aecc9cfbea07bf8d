"""How a session behaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from tui.engine.intents import Mode, Role
from tui.engine.model_commands import CommandRules
from tui.engine.ports import Caps, FixRules, VerifyWhen
from tui.engine.requests import TurnLimits

if TYPE_CHECKING:
    from tui.core.session_record import SessionKind
    from tui.engine.resuming import Resumption


class SessionOptions(Struct, frozen=True):
    """How a session behaves."""

    save: Literal["on-accept", "manual"] = "on-accept"
    limits: TurnLimits = TurnLimits()
    """Of one turn."""
    caps: Caps = Caps()
    """Of money."""
    fix: FixRules = FixRules()
    """How failures are mended."""
    mode: Mode = "manual"
    """What the model's commands may do."""
    commands: CommandRules = CommandRules()
    suggest: Callable[[], str] | None = None
    """The one to offer now; None: the first that was not asked for yet."""
    first_role: Role = "fast"
    conversation: str = ""
    """Names the conversation to the servers' caches; empty: a random name."""
    prompts: tuple[str, ...] = ()
    """Prompts to offer (the practice workspace's exercises)."""
    ask: bool = False
    """Somebody is there to choose where an ambiguous section goes; else it is refused."""
    ambiguous: Literal["ask", "first", "reject"] = "ask"
    """Of a section that fits in several places: ask (if somebody is there), the first, none."""
    linked: bool = False
    """Hard links are written without asking, and sent if a name is outside or ignored."""
    in_slices: bool = False
    """Keys are to be answered while very many hunks are decided on."""
    verify: VerifyWhen = "ask"
    """When verifiers run unasked."""
    auto_accept: bool = False
    """Accept a patch's hunks at its end, but for those that a person must look at."""
    propose: bool = False
    """The other model is proposed where the user's own statistics speak for it."""
    kind: SessionKind = "app"
    """What is kept of it says so."""
    asks_felt: bool | None = None
    """Somebody is there to be asked once a day how fast it felt; None: if they say so."""
    chaining: bool = True
    """Continue with ``previous_response_id`` where the protocol allows it."""
    resumed: Resumption | None = None
    """An earlier session that goes on."""
