"""Which options a kind of endpoint understands: a typing error in a file is not passed over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tui import toml_tables

_ROUTE = ("discovery", "model_route")
_KNOWN: dict[str, tuple[str, ...]] = {
    "anthropic": (
        "bearer",
        "betas",
        "budgets",
        "cache",
        "cache_ttl",
        "display",
        "eager",
        "fast",
        "max_tokens",
        "sampling",
        "structured",
        "thinking",
        "version",
    ),
    "responses-ws": ("max_age_s", "omit"),
    "openai-responses": ("omit",),
}


def wrong_options(kind: str, options: Mapping[str, Any]) -> tuple[tuple[str, ...], str] | None:
    """The path of an option that is wrong, and what is wrong; None: all are understood.

    Those of a plug-in's kind are its own business.
    """
    known = _names(kind)
    if known is None:
        return None
    for name in options:
        if name not in known:
            advice = toml_tables.nearest(name, known) or "; remove it"
            return ("options", name), f"is no option of {kind}{advice}"
    if kind == "openai-chat":
        return _wrong_dialect(options)
    return None


def _names(kind: str) -> tuple[str, ...] | None:
    if kind in ("openai-chat", "auto"):
        from tui.bridge.endpoints.openai_chat.dialect import Dialect

        return (*Dialect.__struct_fields__, *_ROUTE)
    known = _KNOWN.get(kind)
    return None if known is None else (*known, *_ROUTE)


def _wrong_dialect(options: Mapping[str, Any]) -> tuple[tuple[str, ...], str] | None:
    """One that has a value of the wrong kind: they are tried one by one."""
    from tui.bridge.endpoints.base import Refused
    from tui.bridge.endpoints.openai_chat.dialect import dialect

    for name, value in options.items():
        try:
            dialect({name: value})
        except Refused as error:
            what = str(error).partition(": ")[2].partition(" - at ")[0].rstrip(".")
            return ("options", name), f"is wrong: {toml_tables.in_words(what)}"
    return None
