"""Descriptions of tools where a provider takes short ones only: the rest is told in words."""

from __future__ import annotations

from tui.bridge.endpoints.openai_chat.dialect import Dialect
from tui.bridge.endpoints.tools import Function, Toolbox

_MORE = " (The instructions say more.)"


def description(function: Function, dialect: Dialect) -> str:
    """A tool's description, as long as the provider takes it."""
    most = dialect.description_chars
    if not _is_long(function, dialect):
        return function.description
    return (function.description[: max(0, most - len(_MORE))] + _MORE)[:most]


def descriptions_in_words(toolbox: Toolbox, dialect: Dialect) -> str:
    """What the instructions have to say of tools; empty: nothing."""
    long = [one for one in toolbox.functions if _is_long(one, dialect)]
    return "\n\n".join(f"About the tool {one.name}:\n{one.description}" for one in long)


def _is_long(function: Function, dialect: Dialect) -> bool:
    return 0 < dialect.description_chars < len(function.description)
