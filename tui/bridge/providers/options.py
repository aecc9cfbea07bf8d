"""Which options a kind of endpoint understands: a typing error in a file is not passed over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from tui import toml_tables

_ROUTE = ("discovery", "model_route")


def wrong_options(kind: str, options: Mapping[str, Any]) -> tuple[tuple[str, ...], str] | None:
    """The path of an option that is wrong, and what is wrong; None: all are understood.

    Those of a plug-in's kind are its own business.
    """
    struct = _struct(kind)
    if struct is None:
        return None
    known = (*struct.__struct_fields__, *_ROUTE)
    for name, value in options.items():
        if name not in known:
            advice = toml_tables.nearest(name, known) or "; remove it"
            return ("options", name), f"is no option of {kind}{advice}"
        try:
            msgspec.convert({name: value}, struct)
        except msgspec.ValidationError as error:
            what = str(error).partition(" - at ")[0].rstrip(".")
            return ("options", name), f"is wrong: {toml_tables.in_words(what)}"
    return None


def _struct(kind: str) -> type[msgspec.Struct] | None:
    """What the options of a kind are read into."""
    if kind in ("openai-chat", "auto"):
        from tui.bridge.endpoints.openai_chat.dialect import Dialect

        return Dialect
    if kind == "anthropic":
        from tui.bridge.endpoints.anthropic.options import Options

        return Options
    if kind in ("responses-ws", "openai-responses"):
        from tui.bridge.endpoints.openai_responses.options import ResponsesOptions

        return ResponsesOptions
    return None
