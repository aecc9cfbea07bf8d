"""TOML files read into plain data: what is wrong is said with file, line and dotted key."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import msgspec.inspect

from tui.core.text.patterns import pattern
from tui.core.typed_data import typed
from tui.core.wire.address import Address, checked
from tui.errors import EndpointError, SettingsError

_HEADER = pattern(r"^\s*\[\[?\s*(?P<name>[^\]]+?)\s*\]\]?\s*(#.*)?$")
_NAME = r"""(?:[\w-]+|"[^"]*"|'[^']*')"""
_KEY = pattern(rf"^\s*(?P<name>{_NAME}(?:\s*\.\s*{_NAME})*)\s*=")
_PART = pattern(_NAME)
_LONG_NUMBER = pattern(r"[\d_]{4300}")
"""Python reads none that is longer, for the time that it takes."""


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in _PART.findall(dotted))


def line_of(text: str, key: Sequence[str]) -> int:
    """The 1-based line on which ``key`` (a path of names) is set, or its nearest table's.

    Multi-line strings that look like keys may mislead it; it is for messages only.
    """
    wanted, table = tuple(key), tuple[str, ...]()
    best_line, best_length = 1, 0
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            here = table = _parts(header["name"])
        elif assignment := _KEY.match(line):
            here = table + _parts(assignment["name"])
        else:
            continue
        if here[: len(wanted)] == wanted:
            return number
        if len(here) > best_length and wanted[: len(here)] == here:
            best_line, best_length = number, len(here)
    return best_line


def syntax_trouble(text: str, error: ValueError) -> tuple[int, str]:
    """The 1-based line of a syntax error, and what is wrong without the place."""
    if not isinstance(error, tomllib.TOMLDecodeError):
        found = _LONG_NUMBER.search(text)
        return text.count("\n", 0, found.start() if found else 0) + 1, "a number is too long"
    message = str(error)
    if found := re.search(r"\s*\(at line (\d+), column (\d+)\)$", message):
        return int(found[1]), f"{message[: found.start()]} (column {found[2]})"
    what = re.sub(r"\s*\(at end of document\)$", "", message)
    return max(1, len(text.splitlines())), f"{what} at the end of the file"


LIMIT_BYTES = 1 << 20
"""Of a file."""


def read(file: Path, *, required: bool) -> str | None:
    """The text; None: there is no such file.

    A pipe or a device is read only where the user named it (``required``).

    Raises SettingsError: it cannot be read, or is not UTF-8.
    """
    if not required and file.exists() and not (file.is_file() or file.is_dir()):
        raise SettingsError(f"cannot read {file}: it is not a file")
    try:
        with file.open("rb") as opened:
            data = opened.read(LIMIT_BYTES + 1)
        if len(data) > LIMIT_BYTES:
            raise SettingsError(f"cannot read {file}: it is larger than 1 MB: not a settings file")
        return data.decode("utf-8-sig")
    except FileNotFoundError:
        if required:
            raise SettingsError(f"{file} does not exist; check --config") from None
        return None
    except NotADirectoryError:
        return None
    except OSError as error:
        raise SettingsError(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise SettingsError(f"{file} line {line}: not UTF-8; save it as UTF-8") from error


def read_again(file: Path) -> str:
    """The text, to find a line in; empty where it is a pipe, which can be read only once."""
    try:
        return (read(file, required=False) or "") if file.is_file() else ""
    except SettingsError:
        return ""


def parsed(text: str, origin: str, schema: int) -> dict[str, Any]:
    """The tables of a text; its ``schema``, if it says one, has to be ``schema``.

    Raises SettingsError: ``ORIGIN line N: what is wrong; what to do``.
    """
    try:
        data = tomllib.loads(text)
    except ValueError as error:
        line, what = syntax_trouble(text, error)
        raise SettingsError(f"{origin} line {line}: not valid TOML: {what}") from error
    except RecursionError:
        raise SettingsError(f"{origin}: not valid TOML: nested too deeply") from None
    said = data.get("schema", schema)
    if isinstance(said, int) and said < 1:
        line = line_of(text, ("schema",))
        raise SettingsError(f"{origin} line {line}: there is no schema {said}; write {schema}")
    if isinstance(said, int) and said > schema:
        line = line_of(text, ("schema",))
        raise SettingsError(
            f"{origin} line {line}: schema {said} is newer than this duetto, which reads"
            f" schema {schema}; upgrade duetto"
        )
    return data


T = TypeVar("T")


def converted(
    text: str,
    origin: str,
    data: Mapping[str, Any],
    kind: type[T],
    elsewhere: Mapping[str, str] | None = None,
) -> T:
    """Data of a text as a struct; ``elsewhere``: what to do with keys that belong somewhere else.

    Raises SettingsError: ``ORIGIN line N: what is wrong; what to do``.
    """
    try:
        return typed(data, kind)
    except msgspec.ValidationError as error:
        words = _explained(text, data, kind, (str(error), elsewhere or {}))
        raise SettingsError(f"{origin} {words}") from error


def nearest(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'NAME'?``, or nothing."""
    found = difflib.get_close_matches(name, list(known), 1, 0.7)
    return f"; did you mean {found[0]!r}?" if found else ""


_UNKNOWN = pattern(r"Object contains unknown field `(?P<field>[^`]*)`")
_MISSING = pattern(r"Object missing required field `(?P<field>[^`]*)`")
_AT = pattern(r" - at `(?P<path>[^`]*)`$")


def _explained(
    text: str, data: Mapping[str, Any], kind: type, said: tuple[str, Mapping[str, str]]
) -> str:
    """The message of msgspec with the line, the dotted key, and what to do."""
    message, elsewhere = said
    at = _AT.search(message)
    what = message[: at.start()] if at else message
    path = _key_path(data, kind, at["path"] if at else "$")
    if unknown := _UNKNOWN.search(what):
        key = (*path, unknown["field"])
        line = line_of(text, key)
        advice = elsewhere.get(key[-1]) or nearest(key[-1], _known_keys(kind, path))
        return f"line {line}: unknown key {'.'.join(key)!r}{advice or '; remove it'}"
    line = line_of(text, path)
    if missing := _MISSING.search(what):
        place = f"[{'.'.join(path)}]" if path else "the file"
        return f"line {line}: {place} lacks {missing['field']!r}; add it"
    return f"line {line}: {'.'.join(path) or 'the file'}: {in_words(what)}{_choices(kind, path)}"


_TYPES = {
    "object": "a table",
    "array": "a list",
    "str": "a string",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "date": "a date",
}
_TYPE = pattern(rf"\b(?:{'|'.join(_TYPES)})\b")
_TYPED = pattern(r"Expected `[^`]*`|, got `[^`]*`")
_SHAPES = {"^[^/]+/.+$": "ENDPOINT/MODEL"}
"""Patterns of strings, as a reader knows them."""


def in_words(what: str) -> str:
    """What msgspec says, with TOML's words for types and ours for patterns."""
    for written, shape in _SHAPES.items():
        what = what.replace(f"matching regex {written!r}", f"such as {shape}")
    plain = _TYPED.sub(lambda found: _TYPE.sub(lambda one: _TYPES[one[0]], found[0]), what)
    plain = plain.replace(
        "Invalid RFC3339 encoded date", "is not a date; write one like 2026-11-23"
    )
    plain = plain.replace(" | null", "").replace(" | ", " or ").replace("`", "")
    return plain.replace("Expected", "expected", 1).replace("Invalid", "invalid", 1)


def _key_path(data: object, kind: type, path: str) -> tuple[str, ...]:
    """A path like ``$.a[...].b`` as names; ``[...]`` is a dict's key, which it does not say."""
    parts = re.findall(r"\[\.\.\.\]|[^.\[\]]+", path.removeprefix("$"))
    names: list[str] = []
    table = data
    for part in parts:
        name = _failing(table, kind, names) if part == "[...]" else part
        names.append(name)
        table = table.get(name) if isinstance(table, Mapping) else None
    return tuple(names)


def _failing(table: object, kind: type, path: Sequence[str]) -> str:
    """The first key of a dict whose value is not what it should be: tried one by one."""
    here = _type_at(kind, path)
    values = here.value_type if isinstance(here, msgspec.inspect.DictType) else None
    value_type = values.cls if isinstance(values, msgspec.inspect.StructType) else str
    for name, value in table.items() if isinstance(table, Mapping) else ():
        try:
            typed(value, value_type)
        except msgspec.ValidationError:
            return str(name)
    return "..."


def _type_at(kind: type, path: Sequence[str]) -> msgspec.inspect.Type | None:
    here: msgspec.inspect.Type | None = msgspec.inspect.type_info(kind)
    for name in path:
        if isinstance(here, msgspec.inspect.StructType):
            here = next((field.type for field in here.fields if field.name == name), None)
        elif isinstance(here, msgspec.inspect.DictType):
            here = here.value_type
        if isinstance(here, msgspec.inspect.UnionType):
            here = here.types[0]
    return here


def _known_keys(kind: type, path: Sequence[str]) -> list[str]:
    here = _type_at(kind, path)
    if isinstance(here, msgspec.inspect.StructType):
        return [field.name for field in here.fields]
    return []


def _choices(kind: type, path: Sequence[str]) -> str:
    """What may stand there, where that can be listed."""
    here = _type_at(kind, path[:-1])
    fields = here.fields if isinstance(here, msgspec.inspect.StructType) else ()
    leaf = next((field.type for field in fields if path and field.name == path[-1]), None)
    whole = leaf.types if isinstance(leaf, msgspec.inspect.UnionType) else (leaf,)
    types = [one for one in whole if not isinstance(one, msgspec.inspect.NoneType)]
    values: list[str] = []
    for one in types:
        if isinstance(one, msgspec.inspect.LiteralType):
            quoted = len(types) > 1
            values[:0] = [f'"{value}"' if quoted else str(value) for value in one.values]
        elif isinstance(one, msgspec.inspect.BoolType) and len(types) > 1:
            values += ["true", "false"]
    return "; one of " + ", ".join(values) if values else ""


_HEADER_NAME = pattern(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


_OWN_HEADERS = frozenset({"host", "connection", "upgrade", "content-length", "transfer-encoding"})


def no_header(name: str) -> str:
    """Why this cannot be the name of a header that a user sets; empty if it can."""
    if not _HEADER_NAME.fullmatch(name):
        return 'is not the name of a header; write one like "api-key" or "Authorization"'
    if name.lower() in _OWN_HEADERS or name.lower().startswith("sec-websocket-"):
        return "is a header that the connection itself sets; remove it"
    return ""


def no_header_value(value: str) -> str:
    """Why this cannot be a header's value; empty if it can. The value is not in the text."""
    if value.isascii() and (value.isprintable() or not value):
        return ""
    return "holds a line break or a character that cannot be sent in a header"


def no_address(url: str) -> str:
    """Why this cannot be an endpoint's url; empty if it can."""
    try:
        checked(Address(url))
    except EndpointError as error:
        return f"is wrong: {error}"
    return ""


NO_VARIABLE = (
    "is not the name of an environment variable; set such a variable to the key, and give its"
    " name, never the key itself"
)


_VARIABLE = pattern(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


_KEY_LIKE = pattern(r"(?:sk|pk|rk|gsk|csk|xai|hf|ghp|nvapi|tgp|fw|r8)_|(?=.*\d)(?=.*[a-z]).{20}")


def is_variable(name: str) -> bool:
    """Whether this can be a variable's name, and does not look like a key put in its place."""
    return bool(_VARIABLE.fullmatch(name)) and not _KEY_LIKE.match(name)
