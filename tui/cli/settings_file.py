"""A user's ``config.toml`` with other models in it: its comments and its order stay.

The text is changed statement by statement, and read back: what would mean anything else than was
asked for is not written.
"""

from __future__ import annotations

import copy
import json
import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct, field

from tui import toml_tables
from tui.engine.intents import Role
from tui.errors import SettingsError
from tui.settings import parse
from tui.shared_files import replace_file

HEAD = """\
# docs/settings.md says what else can stand here
schema = 1
"""
_OF_THE_MODEL = frozenset(
    (
        "context_window",
        "max_output_tokens",
        "images",
        "price",
        "tier",
        "patch_tool",
        "patch_format",
        "shell_tool",
    )
)
"""What ``[models.X]`` says of one model only: it is commented out when another one comes."""
_VALUE = re.compile(
    r"""(\s*[\w"'-]+\s*=\s*)("(?:[^"\\]|\\.)*"|'[^']*'|true|false)(?P<rest>\s*(?:\#.*)?)"""
)


class Placed(NamedTuple):
    """A model and where it is."""

    model: str
    endpoint: str


class SettingsChange(Struct, frozen=True):
    """What is to be said by the settings."""

    models: Mapping[Role, Placed]
    endpoints: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Tables of endpoints that are no provider's: ``url``, ``key_env``, ``provider``."""


class _Statement(NamedTuple):
    """A header, or a key with its value, over whole lines."""

    first: int
    behind: int
    path: tuple[str, ...]
    """Of a header the table; of a key the table and the key as far as it has no branches."""
    is_header: bool


def changed(text: str, change: SettingsChange, origin: str) -> str:
    """The text of settings with this change. Raises SettingsError: it cannot be made safely."""
    before = tomllib.loads(text)
    wanted = _wanted(before, change)
    new = text if text.strip() else HEAD
    for name, table in change.endpoints.items():
        new = _with_table(new, ("endpoints", name), table, drop=frozenset())
    for role, placed in change.models.items():
        own = before.get("models", {}).get(role, {})
        same = (own.get("name"), own.get("endpoint")) == placed
        values = {"name": placed.model, "endpoint": placed.endpoint}
        new = _with_table(
            new, ("models", role), values, drop=frozenset() if same else _OF_THE_MODEL
        )
    _check(new, wanted, origin)
    return new


def _check(new: str, wanted: Mapping[str, Any], origin: str) -> None:
    """Raise SettingsError unless the text means this, whatever its schema is."""
    try:
        safe = {**tomllib.loads(new), "schema": 0} == {**wanted, "schema": 0}
    except tomllib.TOMLDecodeError:
        safe = False
    if not safe:
        raise SettingsError(f"{origin} cannot be changed safely")
    parse(new, origin)


def keep_value(file: Path, table: str, key: str, value: bool) -> None:
    """Say one thing in the settings. Raises SettingsError: it cannot be, nothing is changed."""
    text = toml_tables.read(file, required=False)
    parse(text or HEAD, str(file))
    before = tomllib.loads(text or "")
    wanted = {**before, table: {**before.get(table, {}), key: value}}
    known = text if text and text.strip() else HEAD
    new = _with_table(known, (table,), {key: value}, drop=frozenset())
    _check(new, wanted, str(file))
    if new != text:
        write(file, text, new)


def plain(change: SettingsChange) -> str:
    """The tables of a change by themselves, to be written by hand."""
    tables = {f"endpoints.{_key(name)}": table for name, table in change.endpoints.items()}
    for role, placed in change.models.items():
        tables[f"models.{role}"] = {"name": placed.model, "endpoint": placed.endpoint}
    return "\n".join(
        f"[{name}]\n" + "".join(f"{_key(key)} = {_toml(value)}\n" for key, value in table.items())
        for name, table in tables.items()
    )


def write(file: Path, before: str | None, text: str) -> None:
    """Write it in one step, through links, with the mode that it has.

    ``before`` is what it was made from (None: there was no file). Raises SettingsError, having
    changed nothing.
    """
    try:
        place = Path(os.path.realpath(file))
        lies = place.read_text(encoding="utf-8") if place.exists() else None
        if lies != before:
            raise SettingsError(f"{file} was changed meanwhile: look at the lines again")
        mode = stat.S_IMODE(place.stat().st_mode) if before is not None else 0o600
        replace_file(place, text.encode(), mode=mode, synced=True)
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or "it is not text"
        raise SettingsError(f"{file} cannot be written: {why}") from error


def _wanted(before: Mapping[str, Any], change: SettingsChange) -> dict[str, Any]:
    """What the changed text has to mean."""
    wanted = copy.deepcopy(dict(before))
    for name, table in change.endpoints.items():
        wanted.setdefault("endpoints", {}).setdefault(name, {}).update(table)
    for role, placed in change.models.items():
        own = wanted.setdefault("models", {}).setdefault(role, {})
        if (own.get("name"), own.get("endpoint")) != placed:
            for key in _OF_THE_MODEL & own.keys():
                del own[key]
        own.update(name=placed.model, endpoint=placed.endpoint)
    return wanted


def _with_table(
    text: str, path: tuple[str, ...], values: Mapping[str, str | bool], drop: frozenset[str]
) -> str:
    """The text with these values in a table, and without some of its keys."""
    lines = text.splitlines(keepends=True)
    end = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    statements = list(_statements(lines))
    header = next((one for one in statements if one.is_header and one.path == path), None)
    rest: dict[str, Any] = {}
    if header is None:
        rest = _rewritten(lines, statements, path, drop)
    else:
        missing = _set(lines, statements, path, values, drop)
        said = [f"{_key(key)} = {_toml(values[key])}{end}" for key in missing]
        _end_line(lines, header.first, end)
        lines[header.first] += "".join(said)
        return "".join(lines)
    if lines:
        _end_line(lines, -1, end)
    dotted = ".".join(map(_key, path))
    table = {**values, **{key: value for key, value in rest.items() if key not in values}}
    said = [f"{_key(key)} = {_toml(value)}{end}" for key, value in table.items()]
    return "".join([*lines, end, f"[{dotted}]{end}", *said])


def _set(
    lines: list[str],
    statements: Sequence[_Statement],
    path: tuple[str, ...],
    values: Mapping[str, str | bool],
    drop: frozenset[str],
) -> list[str]:
    """SettingsChange what a table's lines say; returns the keys that it does not have."""
    missing = list(values)
    for one in statements:
        if one.path[: len(path)] != path or len(one.path) == len(path):
            continue
        key = one.path[len(path)]
        if key in drop:
            _comment_out(lines, one, statements)
        elif key in values and not one.is_header:
            missing.remove(key)
            _replace_value(lines, one, key, values[key])
    return missing


def _replace_value(lines: list[str], one: _Statement, key: str, value: str | bool) -> None:
    line = lines[one.first]
    found = _VALUE.fullmatch(line.rstrip("\r\n"))
    ending = line[len(line.rstrip("\r\n")) :]
    if found is not None and one.behind == one.first + 1:
        lines[one.first] = f"{found[1]}{_toml(value)}{found['rest']}{ending}"
        return
    lines[one.first] = f"{key} = {_toml(value)}{ending or chr(10)}"
    for at in range(one.first + 1, one.behind):
        lines[at] = ""


def _rewritten(
    lines: list[str],
    statements: Sequence[_Statement],
    path: tuple[str, ...],
    drop: frozenset[str],
) -> dict[str, Any]:
    """Comment out what declares a table without a header of its own; returns what it said.

    An inline table of several is written anew for all of them.
    """
    said: dict[str, Any] = {}
    for one in statements:
        if one.is_header or not (
            one.path[: len(path)] == path or path[: len(one.path)] == one.path
        ):
            continue
        content: Any = tomllib.loads("".join(lines[one.first : one.behind]))
        for name in path[len(_table_before(statements, one)) :]:
            content = content.get(name, {}) if isinstance(content, dict) else {}
        if not isinstance(content, dict) or not content:
            continue
        if len(one.path) < len(path):
            raise SettingsError("one line declares several models: give each a table of its own")
        _comment_out(lines, one, statements)
        said |= content
    return {key: value for key, value in said.items() if key not in drop}


def _table_before(statements: Sequence[_Statement], one: _Statement) -> tuple[str, ...]:
    """The table that a key stands in."""
    above = [other for other in statements if other.is_header and other.first < one.first]
    return above[-1].path if above else ()


def _comment_out(lines: list[str], one: _Statement, statements: Sequence[_Statement]) -> None:
    """A statement, and of a header all that belongs to it."""
    behind = one.behind
    if one.is_header:
        later = [other for other in statements if other.first > one.first]
        inside = [*_until_header(later)]
        behind = inside[-1].behind if inside else one.behind
    for at in range(one.first, behind):
        if lines[at].strip() and not lines[at].lstrip().startswith("#"):
            lines[at] = f"# {lines[at]}"


def _until_header(statements: Sequence[_Statement]) -> Iterator[_Statement]:
    for one in statements:
        if one.is_header:
            return
        yield one


def _statements(lines: Sequence[str]) -> Iterator[_Statement]:
    """All headers and keys of a text that is valid TOML."""
    at, table = 0, tuple[str, ...]()
    while at < len(lines):
        line = lines[at].strip()
        if not line or line.startswith("#"):
            at += 1
        elif line.startswith("["):
            table = _path_in(tomllib.loads(line))
            yield _Statement(at, at + 1, table, is_header=True)
            at += 1
        else:
            behind, content = _value_from(lines, at)
            yield _Statement(at, behind, (*table, *_path_in(content)), is_header=False)
            at = behind


def _value_from(lines: Sequence[str], at: int) -> tuple[int, dict[str, Any]]:
    """Where the statement that begins here ends, and what it says."""
    for behind in range(at + 1, len(lines) + 1):
        with suppress(tomllib.TOMLDecodeError):
            return behind, tomllib.loads("".join(lines[at:behind]))
    raise SettingsError("the settings cannot be read")


def _path_in(content: Any) -> tuple[str, ...]:
    """The keys down to where it branches or has a value."""
    path: list[str] = []
    while isinstance(content, dict) and len(content) == 1:
        ((key, content),) = content.items()
        path.append(key)
    return tuple(path)


def _end_line(lines: list[str], at: int, end: str) -> None:
    if not lines[at].endswith("\n"):
        lines[at] += end


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


def _toml(value: Any) -> str:
    """A value as TOML writes it: JSON's strings are TOML's, but for one sign."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        inside = ", ".join(f"{_key(key)} = {_toml(one)}" for key, one in value.items())
        return f"{{ {inside} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return str(value)
