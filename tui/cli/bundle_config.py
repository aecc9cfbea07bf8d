"""A settings file as a bug report may show it: its shape, without keys and without comments.

What a reader needs stays (which kinds, hosts, models, switches); what could be a secret goes: the
values of headers, queries and options, of names that nobody knows, the user and query of an
address, assignments in commands, and whatever looks like a key wherever it stands.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any
from urllib.parse import urlsplit

import msgspec

from tui import setting_tables
from tui.core.wire.masking import Mask, is_secret_name

GONE = "(removed)"
_CLOSED = frozenset({"headers", "query", "options"})
"""Tables whose values are anybody's: nothing in them is shown but names."""
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
_ASSIGNED = re.compile(r"\b(?P<name>[A-Za-z_]\w*)=(?P<value>\"[^\"]*\"|'[^']*'|\S+)")
_OPTION = re.compile(r"(?P<name>-{1,2}[\w-]+)(?P<between>[= ])(?P<value>[^\s-]\S*)")
_KEY_SHAPED = re.compile(r"(?=[\w+/=-]*\d)(?=[\w+/=-]*[A-Za-z])[\w+/=]{20,}")
_ASSIGNMENT = re.compile(r"\s*(?P<name>[\w.\"'-]+)\s*=")
_TABLE = re.compile(r"\s*\[{1,2}[\w.\"' -]+\]{1,2}")


def _known_names() -> frozenset[str]:
    """Every name that some table of the settings has."""
    tables = [one for one in vars(setting_tables).values() if isinstance(one, type)]
    structs = [one for one in tables if issubclass(one, msgspec.Struct)]
    return frozenset(name for struct in structs for name in struct.__struct_fields__)


def cleaned(text: str, mask: Mask) -> dict[str, Any] | list[str]:
    """The tables of a settings file without secrets; of one that is no TOML, its lines' names."""
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return [_name_only(line) for line in text.splitlines()]
    known = _known_names()
    return {name: _cleaned(value, name, mask, known) for name, value in data.items()}


def _cleaned(value: Any, name: str, mask: Mask, known: frozenset[str]) -> Any:
    """A value under its name."""
    if isinstance(value, dict):
        if name in _CLOSED:
            return dict.fromkeys(value, GONE)
        return {
            mask.text(str(key)): _cleaned(one, str(key), mask, known) for key, one in value.items()
        }
    if isinstance(value, list):
        return [_cleaned(one, name, mask, known) for one in value]
    if not isinstance(value, str):
        return value if isinstance(value, bool | int | float) else str(value)
    return _text(value, name, mask, known)


def _text(value: str, name: str, mask: Mask, known: frozenset[str]) -> str:
    if name == "key_env":
        return value if not value or _VARIABLE.fullmatch(value) else GONE
    if name == "url":
        return mask.text(_address(value))
    if name not in known or (is_secret_name(name) and name != "key_header"):
        return GONE
    if name == "command":
        value = _OPTION.sub(_option, _ASSIGNED.sub(rf"\g<name>={GONE}", value))
    return _KEY_SHAPED.sub(GONE, mask.text(value))


def _option(found: re.Match[str]) -> str:
    secret = is_secret_name(found["name"])
    return f"{found['name']}{found['between']}{GONE if secret else found['value']}"


def _address(url: str) -> str:
    """Scheme, host, port and path."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return GONE
    if not parts.scheme or not parts.hostname:
        return GONE
    user, query = "(user)@" if "@" in parts.netloc else "", "?…" if parts.query else ""
    path = _KEY_SHAPED.sub(GONE, parts.path)
    return f"{parts.scheme}://{user}{parts.hostname}{port}{path}{query}"


def _name_only(line: str) -> str:
    """What can be said of a line that may be anything."""
    if table := _TABLE.match(line):
        return table[0].strip()
    if found := _ASSIGNMENT.match(line):
        return f"{found['name']} = {GONE}"
    return "" if not line.strip() else GONE
