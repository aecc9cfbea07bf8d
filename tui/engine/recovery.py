"""What to do when a response failed or the socket broke (PROTOCOL.md sections 4 and 11)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from tui.core.wire.events import ErrorEvent, Failed
from tui.core.wire.rate_limits import wait_words
from tui.core.wire.refusals import (
    BLOCKED,
    KEY_CLOSES,
    MOST_TRIES,
    PASSING,
    UNREACHED,
    UNUSABLE,
    is_hopeless,
    is_of_key,
)
from tui.engine.notices import Trouble
from tui.errors import DuettoError, EndpointError, KeyRefused, NoAnswer


class Advice(NamedTuple):
    """The title of the trouble, and the next step; empty: as of any other failure."""

    what: str = ""
    next_step: str = ""


_SET_UP = Advice(
    "The endpoint's settings are wrong", "check its table in config.toml, or run duetto doctor"
)
_ADVICE = {
    "model_not_found": Advice(
        "There is no such model", "name another one with --fast or --deep, or in config.toml"
    ),
    "model_ambiguous": Advice(
        "", "use its full name, ENDPOINT/MODEL, in config.toml, --fast or --deep"
    ),
    "image_not_supported": Advice(
        "This model takes no images",
        "choose one that does with /model, or take the image out of the prompt",
    ),
    "file_not_supported": Advice(
        "This model takes no files", "switch to one that does, or start over with /clear"
    ),
    BLOCKED: Advice(
        "The request was not let through", "check the network, its proxy and the endpoint's address"
    ),
    "endpoint_redirects": _SET_UP,
    "endpoint_not_usable": _SET_UP,
    "endpoint_kind_broken": _SET_UP,
    "invalid_endpoint": _SET_UP,
    "not_an_endpoint": _SET_UP,
    "unknown_endpoint": _SET_UP,
    "unknown_endpoint_kind": _SET_UP,
}
_FORBIDDEN = Advice(
    "The server refused the request", "check what the key may use, or choose another model"
)
_CREDIT = Advice("The account has no credit left", "add some, or switch to the other model")
_NO_CREDIT = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "insufficient_credits", "payment_required"}
)


def advice(code: str) -> Advice:
    """What to say of an error with this code."""
    return _CREDIT if code in _NO_CREDIT else _ADVICE.get(code, Advice())


def is_final(status: int | None, code: str) -> bool:
    """Whether it is of no use to wait, whatever the status lets hope.

    Who owes does not get in, and an answer that was not taken would come again.
    """
    return code in _NO_CREDIT or status == 402 or code == UNUSABLE


MAX_TRIES = 5
FIRST_WAIT_S = 0.2
LONGEST_WAIT_S = 120.0
UNNOTICED_S = 1.0
"""A first retry within this is nobody's concern."""
SPREAD = 0.1
"""Back-off varies by so much of itself, either way."""

TOO_BIG_CLOSE = 1009
TOO_BIG_STATUS = 413
_TOO_BIG_CODES = frozenset({"context_length_exceeded", "request_too_large"})
TOO_BIG = "begin a new conversation with /clear, or close large files"

NO_CONTACT = "The endpoint cannot be reached"
KEY_REFUSED = "The server refused the key"

Action = Literal["resend", "redial", "give up"]


class Remedy(Struct, frozen=True):
    """How to go on."""

    action: Action
    """``resend`` on the same socket; ``redial`` first; or ``give up`` and say why."""
    wait_s: float = 0.0
    silent: bool = False
    """Not the user's concern."""
    free: bool = False
    """The protocol's own business: nothing is ever said."""
    why: str = ""
    what: str = "The model could not answer"
    next_step: str = "fix that, then send the prompt again"
    unreachable: bool = False
    other_way: bool = False
    """Of ``give up``: the WebSocket is at fault, HTTP+SSE may do."""

    def trouble(self) -> Trouble:
        """The words for the user when giving up."""
        return Trouble(self.what, self.why, self.next_step, unreachable=self.unreachable)


def led(why: str, rest: str) -> str:
    """A reason, and what is done about it: a server's sentence may have ended before the colon."""
    return f"{_open_ended(why)}: {rest}"


def _open_ended(sentence: str) -> str:
    return sentence.rstrip(". \n")


def backoff_s(tries: int, jitter: float = 0.5) -> float:
    """Seconds before try number ``tries`` (from 1): 0.2, 0.4, 0.8, ...; ``jitter`` is 0 to 1."""
    wait_s = min(FIRST_WAIT_S * 2.0 ** max(tries - 1, 0), LONGEST_WAIT_S)
    return wait_s * (1.0 + SPREAD * (2.0 * jitter - 1.0))


class Tries:
    """Counts the failures since the last response that came to its end."""

    def __init__(self, jitter: Callable[[], float]) -> None:
        self.count = 0
        self.heard = False
        """A response began: whoever is there can answer. Else it is as good as unreachable."""
        self._jitter = jitter
        self._freed: set[str] = set()
        """Codes that cost no attempt any more: each does so once."""
        self._first: Remedy | None = None
        """Why another way was taken."""
        self._fields_refused = 0

    def over(self) -> None:
        """A response is whole: all attempts are there again."""
        self.count, self._fields_refused, self._first = 0, 0, None
        self._freed.clear()

    def detour(self, remedy: Remedy) -> None:
        """Another way is taken, with all attempts; if it fails too, both reasons are told."""
        self.over()
        self._first = remedy

    def last(self, remedy: Remedy) -> Remedy:
        """The end of it: what failed now, with what failed before and the better advice."""
        first = self._first
        if first is None or remedy.what == KEY_REFUSED:
            return remedy
        big = TOO_BIG in (first.next_step, remedy.next_step)
        step = TOO_BIG if big else remedy.next_step or first.next_step
        why = f"{_open_ended(first.why)}; then over HTTP: {remedy.why}"
        return replace(remedy, why=why, next_step=step)

    def lost(self, why: str, close_code: int | None, *, heard: bool) -> Remedy:
        """The socket broke under a request; ``heard`` if anything of its answer had come."""
        what = "The connection was lost"
        if close_code in KEY_CLOSES:
            return _key_refused(why)
        if is_hopeless(close_code):
            big = close_code == TOO_BIG_CLOSE
            step = TOO_BIG if big else "send it again"
            last = Remedy("give up", why=why, what=what, next_step=step, other_way=big)
            return replace(last, unreachable=not self.heard)
        self.count += 1
        if self.count > MAX_TRIES:
            step, gone = "send it again", not self.heard
            last = Remedy("give up", why=why, what=what, next_step=step, unreachable=gone)
            return replace(last, other_way=True)
        if self.count == 1 and not heard:
            return Remedy("redial", silent=True, why=why)
        return self._after("redial", None, Remedy("give up", why=why, what=what))

    def unreachable(self, error: EndpointError, *, reached: bool) -> Remedy:
        """Dialling failed; ``reached`` if it ever worked.

        A host that never answered is told of after one time-out: it is most likely a wrong
        address, and every further try would take as long.
        """
        if isinstance(error, KeyRefused):
            return replace(_key_refused(str(error)), next_step="")
        give_up = Remedy(
            "give up",
            why=str(error),
            what=NO_CONTACT,
            next_step="",
            unreachable=True,
            other_way=error.http_may_work,
        )
        hopeful = error.transient and not isinstance(error, NoAnswer)
        if error.final or not (reached or hopeful):
            return give_up
        self.count += 1
        if self.count > MAX_TRIES:
            return replace(give_up, other_way=True)
        return self._after("redial", error.retry_after_s, replace(give_up, why=error.cause))

    def failed(self, event: ErrorEvent | Failed) -> Remedy:
        """The server ended the response with a failure."""
        why = event.message or event.code or "the server did not say why"
        give_up = Remedy("give up", why=why, unreachable=event.code == BLOCKED)
        if event.code in _FREE:
            return self._own_business(event.code, give_up)
        self._freed.discard(NOT_FOUND)
        status = event.status if isinstance(event, ErrorEvent) else None
        of_key = event.code in ("invalid_api_key", "authentication_error")
        if of_key or status == 401 or (status == 403 and _names_key(event)):
            return _key_refused(why)
        if event.code == UNREACHED:
            step = "is it running, and is its address right? duetto doctor checks"
            why = why.replace(" cannot be reached: ", ": ", 1)  # NO_CONTACT says it
            return replace(give_up, what=NO_CONTACT, why=why, next_step=step, unreachable=True)
        action = None if is_final(status, event.code) else _transient(status, event.code)
        if action is None:
            big = status == TOO_BIG_STATUS or event.code in _TOO_BIG_CODES
            return replace(give_up, next_step=TOO_BIG) if big else _lost_way(give_up, event)
        self.count += 1
        if self.count > MAX_TRIES:
            words = f"{_open_ended(why)} (tried {self.count} times)"
            # a limit is the same by HTTP
            other_way, gone = action == "redial", not self.heard
            return replace(give_up, why=words, unreachable=gone, other_way=other_way)
        retry_s = event.retry_after_s if isinstance(event, ErrorEvent) else None
        return self._after(action, retry_s, give_up)

    def field_refused(self) -> Remedy | None:
        """The server did not take a field: the same again without it, which is not told.

        None: it has found fault with so many that it is no use.
        """
        self._fields_refused += 1
        return (
            Remedy("resend", silent=True, free=True) if self._fields_refused < MOST_TRIES else None
        )

    def _own_business(self, code: str, give_up: Remedy) -> Remedy:
        """A failure that is free once; then it counts, where another socket may know better."""
        free = Remedy(_FREE[code], silent=True, free=True, why=give_up.why)
        if code not in self._freed:
            self._freed.add(code)
            return free
        if free.action == "resend":
            return give_up
        self.count += 1
        if self.count > MAX_TRIES:
            return replace(give_up, other_way=True)
        return replace(free, wait_s=backoff_s(self.count, self._jitter()))

    def _after(self, action: Action, retry_s: float | None, give_up: Remedy) -> Remedy:
        """Try again after a while: ours, or the server's, if it named a longer one."""
        if retry_s is not None and retry_s > LONGEST_WAIT_S:
            return replace(give_up, next_step=f"the server says to wait {wait_words(retry_s)}")
        # a pause of 0 s, or till a moment that is past by its clock, is no leave to hurry
        wait_s = max(backoff_s(self.count, self._jitter()), retry_s or 0.0)
        silent = self.count == 1 and wait_s < UNNOTICED_S
        return Remedy(action, wait_s, silent, why=give_up.why)


NOT_FOUND = "previous_response_not_found"
_FREE: dict[str, Action] = {
    NOT_FOUND: "resend",
    "websocket_connection_limit_reached": "redial",
}
"""The protocol's own business: the next request says all, and nobody is told."""


def not_reached(error: DuettoError) -> Trouble:
    """The words for a dial ahead of the first prompt that failed."""
    if isinstance(error, KeyRefused):
        trouble = _key_refused(str(error)).trouble()
        return replace(trouble, next_step="", severity="warning")
    what, step = "The endpoint cannot be reached", "send a prompt to try again"
    return Trouble(what, str(error), step, severity="warning", unreachable=True)


def _names_key(event: ErrorEvent | Failed) -> bool:
    words = f"{event.code} {event.message}" if event.message else ""
    return event.code != BLOCKED and is_of_key(words)


def _lost_way(remedy: Remedy, event: ErrorEvent | Failed) -> Remedy:
    """What the user can do where no retry helps."""
    code = "payment_required" if isinstance(event, ErrorEvent) and event.status == 402 else ""
    known = advice(code or event.code)
    if not known.next_step and isinstance(event, ErrorEvent) and event.status == 403:
        known = _FORBIDDEN
    if known.next_step:
        what = known.what or remedy.what
        return replace(remedy, what=what, next_step=known.next_step)
    if event.code not in ("http_404", "http_405"):
        return remedy
    status = event.code.removeprefix("http_")
    why = remedy.why
    if status not in why:
        why = f"{_open_ended(why)} (HTTP {status})"
    step = "check the endpoint's address, which usually ends in /v1, and its kind"
    return replace(remedy, why=why, next_step=step)


def _key_refused(why: str) -> Remedy:
    step = "check the key, or name another variable with --key-env"
    return Remedy("give up", why=why, what=KEY_REFUSED, next_step=step, unreachable=True)


_PASSING = ("server_error", "overloaded_error", "server_is_overloaded", "slow_down")


def _transient(status: int | None, code: str) -> Action | None:
    """How to retry what may pass by itself; None: it will not."""
    throttled = ("rate_limit_exceeded", "websocket_queue_full", "rate_limit_error")
    if status in PASSING or code in throttled:
        return "resend"
    if (status is not None and status >= 500) or code in _PASSING:
        return "redial"
    return None
