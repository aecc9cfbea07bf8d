"""A settings file as a bug report may show it: its shape, without keys and without comments.

What is shown is chosen, not what is hidden: switches, numbers and choices where the settings have
them, the host of an address, the program of a command, keys that are keys. Everything else says
that it was removed.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import PurePath
from typing import Any, get_args, get_type_hints
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

from tui.core.wire.masking import Mask
from tui.setting_tables import Settings

GONE = "(removed)"
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
_NAME = re.compile(r"[\w.:@/ -]{1,80}")
_KEY_SHAPED = re.compile(r"(?=[\w+/=]*\d)(?=[\w+/=]*[A-Za-z])[\w+/=]{20,}")
_KEY = re.compile(
    r"(?:(?:ctrl|control|alt|option|shift|meta|cmd|super|[cms])[-+]|\^)*"
    r"(?:.|f\d\d?|enter|return|tab|esc|escape|space|up|down|left|right|home|end|pgup|pgdn|pageup"
    r"|pagedown|ins|insert|del|delete|backspace|leader)",
    re.IGNORECASE,
)
_FIELD = re.compile(r"\{[\w:!]{0,40}\}|[\[\]]")
_ASSIGNMENT = re.compile(r"\s*(?P<name>[\w.\"'-]+)\s*=")
_TABLE = re.compile(r"\s*\[{1,2}[\w.\"' -]+\]{1,2}")
_QUOTED = re.compile(r"[\"']([^\"'\n]{6,200})")
_WORDS = re.compile(r"[\s=:'\"&?@/,;]+")
_LONG_WORD = 16
"""Characters of a word without a digit that is no word of the language."""
_KEY_VARIABLE = re.compile(r"key_env\s*=\s*[\"']([A-Za-z_]\w*)[\"']")


def cleaned(text: str, mask: Mask) -> dict[str, Any] | list[str]:
    """The tables of a settings file without secrets; of one that is no TOML, its lines' names."""
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError):
        return [_name_only(line) for line in text.splitlines()]
    shown = _table(data, Settings)
    assert isinstance(shown, dict)
    return {str(name): _masked(value, mask) for name, value in shown.items()}


def key_variables(text: str) -> Iterator[str]:
    """The environment variables that a settings file says hold keys, whatever they are called."""
    yield from _KEY_VARIABLE.findall(text)


def hidden(text: str) -> Iterator[str]:
    """Texts of a settings file that `cleaned` does not show: to be masked wherever they stand."""
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError):
        yield from (found[1] for found in _QUOTED.finditer(text))
        return
    shown = json.dumps(cleaned(text, Mask()), ensure_ascii=False)
    for value in _leaves(data):
        if value not in shown and value.strip().lower() != "duetto":
            yield value
            yield from _inside(value)


def _leaves(value: Any) -> Iterator[str]:
    """All texts in it but the names."""
    if isinstance(value, str):
        yield value.strip()
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _leaves(one)


def _inside(value: str) -> Iterator[str]:
    """What may be a secret in an address or a command line."""
    for word in _WORDS.split(value):
        if re.search(r"\d", word) or len(word) >= _LONG_WORD:
            yield from (word, unquote(word))
    with suppress(ValueError):
        parts = urlsplit(value)
        found = [parts.password or "", *(one for _, one in parse_qsl(parts.query))]
        yield from (form for one in found for form in (one, unquote(one)))


def _table(value: Any, kind: type[msgspec.Struct]) -> Any:
    """A table by what the settings know of it; the name of an unknown key is told, no more."""
    if not isinstance(value, dict):
        return GONE
    types, ways = get_type_hints(kind), _WAYS.get(kind.__name__, {})
    return {
        name: (ways[name](one) if name in ways else _typed(one, types[name]))
        if name in types
        else GONE
        for name, one in value.items()
    }


def _typed(value: Any, kind: Any) -> Any:
    """A value of that type: tables field by field, numbers, switches and choices as they are."""
    kinds = [kind, *get_args(kind)]
    tables = [one for one in kinds if isinstance(one, type) and issubclass(one, msgspec.Struct)]
    if tables and getattr(kind, "__origin__", None) is dict:
        return _named(value, lambda one: _table(one, tables[0]))
    if tables:
        return _table(value, tables[0])
    if isinstance(value, bool | int | float) and kind is not Any:
        return value if _fits(value, kind) else GONE
    return value if isinstance(value, str) and str not in kinds and _fits(value, kind) else GONE


def _fits(value: Any, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except (msgspec.ValidationError, TypeError):
        return False
    return kind is not Any


def _named(value: Any, shown: Callable[[Any], Any]) -> Any:
    """A table whose names are the user's."""
    if not isinstance(value, dict):
        return GONE
    return {_plain(name): shown(one) for name, one in value.items()}


def _names_only(value: Any) -> Any:
    return _named(value, lambda _: GONE)


def _plain(value: Any) -> Any:
    """A name, or a list of names."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    fits = isinstance(value, str) and (not value or _NAME.fullmatch(value))
    return value if fits and not _KEY_SHAPED.search(value) else GONE


def _variable(value: Any) -> Any:
    fits = isinstance(value, str) and (not value or _VARIABLE.fullmatch(value))
    return value if fits else GONE


def _program(value: Any) -> Any:
    """The program of a command; how many words there were behind it."""
    words = value.split() if isinstance(value, str) else value
    if not isinstance(words, list) or not words or not isinstance(words[0], str):
        return GONE
    name = PurePath(words[0]).name
    shown = name if _NAME.fullmatch(name) and "=" not in name else GONE
    return f"{_plain(shown)} and {len(words) - 1} words {GONE}" if words[1:] else _plain(shown)


def _template(value: Any) -> Any:
    """The fields of a status line, without its own words."""
    return " ".join(_FIELD.findall(value)) if isinstance(value, str) else GONE


def _keys(value: Any) -> Any:
    """Tables of keys; what is no key is not shown."""
    if isinstance(value, dict):
        return {_plain(name): _keys(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_keys(one) for one in value]
    fits = isinstance(value, str) and all(map(_KEY.fullmatch, value.split(" ")))
    return value if fits or value == "" else GONE


def _address(value: Any) -> Any:
    """Scheme, host, port and path."""
    try:
        parts = urlsplit(value)
        port = f":{parts.port}" if parts.port else ""
    except (ValueError, AttributeError, TypeError):
        return GONE
    if not isinstance(value, str) or not parts.scheme or not parts.hostname:
        return GONE
    user, query = "(user)@" if "@" in parts.netloc else "", "?…" if parts.query else ""
    path = _KEY_SHAPED.sub(GONE, parts.path)
    return f"{parts.scheme}://{user}{parts.hostname}{port}{path}{query}"


_PLACE = {"name": _plain, "endpoint": _plain, "tier": _plain, "fallbacks": _plain}
_THEMES = {"theme": _plain, "theme_dark": _plain, "theme_light": _plain}
_WAYS: dict[str, dict[str, Callable[[Any], Any]]] = {
    "Settings": {"keys": _keys},
    "EndpointSettings": {
        "url": _address,
        "kind": _plain,
        "provider": _plain,
        "key_env": _variable,
        "key_header": _plain,
        "headers": _names_only,
        "query": _names_only,
        "options": _names_only,
    },
    "EndpointModelSettings": {"efforts": _plain, "fallbacks": _plain},
    "ModelSettings": dict(_PLACE),
    "VerifySettings": {"command": _program},
    "FormatSettings": {"command": _program},
    "PromptSettings": {"editor": _program},
    "EditorSettings": dict(_THEMES),
    "MeterSettings": {"line": _template},
}
"""Of texts that may be anything: what of them is shown."""


def _masked(value: Any, mask: Mask) -> Any:
    """With known keys masked wherever they stand, in names too."""
    if isinstance(value, dict):
        return {mask.text(str(name)): _masked(one, mask) for name, one in value.items()}
    if isinstance(value, list):
        return [_masked(one, mask) for one in value]
    return mask.text(value) if isinstance(value, str) else value


def _name_only(line: str) -> str:
    """What can be said of a line that may be anything."""
    if table := _TABLE.match(line):
        return table[0].strip()
    if found := _ASSIGNMENT.match(line):
        return f"{found['name']} = {GONE}"
    return "" if not line.strip() else GONE
