"""What to do when a response failed or the socket broke (PROTOCOL.md sections 4 and 11)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tui.core.events import ErrorEvent, Failed
from tui.engine.notices import Trouble

MAX_TRIES = 5
FIRST_WAIT_S = 0.2
LONGEST_WAIT_S = 120.0

HOPELESS_CLOSES = frozenset({1002, 1003, 1007, 1008, 1009})
"""Close codes after which the same request would end the same way (1009: it is too big)."""

Action = Literal["resend", "redial", "give up"]


@dataclass(frozen=True, slots=True)
class Remedy:
    """How to go on."""

    action: Action
    """``resend`` on the same socket; ``redial`` first; or ``give up`` and say why."""
    wait_s: float = 0.0
    silent: bool = False
    """Not the user's concern, and no attempt is counted."""
    why: str = ""
    next_step: str = ""
    key: bool = False
    """The server refused the key."""

    def trouble(self) -> Trouble:
        """The words for the user when giving up."""
        return Trouble(
            "The server refused the key" if self.key else "The model could not answer",
            self.why,
            self.next_step or "send the prompt again when that is settled",
            retryable=not self.key,
            unreachable=self.key,
        )


def backoff_s(tries: int) -> float:
    """Seconds before try number ``tries`` (from 1): 0.2, 0.4, 0.8, ..."""
    return min(FIRST_WAIT_S * 2.0 ** max(tries - 1, 0), LONGEST_WAIT_S)


def remedy_for(event: ErrorEvent | Failed, tries: int) -> Remedy:
    """How to answer a failure; ``tries`` is the number of this attempt at the response, from 1."""
    why = event.message or event.code or "the server did not say why"
    status = event.status if isinstance(event, ErrorEvent) else None
    retry_s = event.retry_after_s if isinstance(event, ErrorEvent) else None
    if event.code == "previous_response_not_found":
        return Remedy("resend", silent=True, why=why)
    if event.code == "websocket_connection_limit_reached":
        return Remedy("redial", silent=True, why=why)
    if status in (401, 403) or event.code in ("invalid_api_key", "authentication_error"):
        step = "check the key, or name another variable with --key-env"
        return Remedy("give up", why=why, next_step=step, key=True)
    action = _transient(status, event.code)
    if action is None:
        return Remedy("give up", why=why)
    if tries > MAX_TRIES:
        return Remedy("give up", why=f"{why} (tried {tries} times)")
    if retry_s is not None and retry_s > LONGEST_WAIT_S:
        return Remedy("give up", why=why, next_step=f"the server asks to wait {retry_s:.0f} s")
    return Remedy(action, retry_s if retry_s is not None else backoff_s(tries), why=why)


def _transient(status: int | None, code: str) -> Action | None:
    """How to retry what may pass by itself; None: it will not."""
    throttled = ("rate_limit_exceeded", "websocket_queue_full", "rate_limit_error")
    if status == 429 or code in throttled:
        return "resend"
    if (status is not None and status >= 500) or code in ("server_error", "overloaded_error"):
        return "redial"
    return None
