"""What the user can do about an error that no retry heals, by the error's code."""

from __future__ import annotations

from typing import NamedTuple

from tui.core.wire.refusals import UNUSABLE


class Advice(NamedTuple):
    """The title of the trouble, and the next step; empty: as of any other failure."""

    what: str = ""
    next_step: str = ""


_SET_UP = Advice(
    "The endpoint is not set up right", "see to its table in config.toml; duetto doctor examines it"
)
_ADVICE = {
    "model_not_found": Advice(
        "There is no such model", "name another one with --fast or --deep, or in config.toml"
    ),
    "model_ambiguous": Advice(
        "", "ENDPOINT/MODEL is its whole name: put that into config.toml, or --fast or --deep"
    ),
    "image_not_supported": Advice(
        "This model takes no images", "switch to one that does, or begin anew with /clear"
    ),
    "file_not_supported": Advice(
        "This model takes no files", "switch to one that does, or begin anew with /clear"
    ),
    "endpoint_redirects": _SET_UP,
    "endpoint_not_usable": _SET_UP,
    "endpoint_kind_broken": _SET_UP,
    "invalid_endpoint": _SET_UP,
    "not_an_endpoint": _SET_UP,
    "unknown_endpoint": _SET_UP,
    "unknown_endpoint_kind": _SET_UP,
}
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
