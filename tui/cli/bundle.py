"""``duetto doctor --bundle``: what a bug report needs, in one file, without keys or prompts.

The text of the conversation, of files and of drafts is in none of the places that are read here;
what the log, the settings and the environment could give away is removed. Nothing is sent.
"""

from __future__ import annotations

import io
import json
import os
import platform
import re
import shutil
import sys
import tomllib
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path, PurePath
from typing import Any, get_args, get_type_hints
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec
from msgspec.structs import asdict

import tui
from tui import toml_tables
from tui.cli.doctor_checks import CheckResult
from tui.cli.logfile import Masking, proxy_passwords, secrets_of
from tui.core.typed_data import typed
from tui.core.wire.masking import Mask
from tui.errors import SettingsError, UsageError
from tui.settings import PROJECT_FILE, Paths, Settings

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
        typed(value, kind)
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


LOG_BYTES = 512_000
"""Most of the log that is taken, its end."""
_TOLD_VARIABLES = (
    "TERM",
    "COLORTERM",
    "COLORFGBG",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "VTE_VERSION",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR_FORCE",
    "ESCDELAY",
    "REDUCE_MOTION",
    "DUETTO_LINEAR",
)
"""Variables whose values say what the terminal is, and nothing of its user."""
_SECRET_WORD = re.compile(r"(?<![A-Za-z])(?:AUTH|PASS|PAT|COOKIE|DSN)(?![A-Za-z])", re.IGNORECASE)
"""In the name of a variable, besides those that are masked in any log."""
_PASSWORD = re.compile(r"://[^\s/:@]*:([^\s/@]+)@")
_OF_COMMANDS = frozenset({"tests", "format"})
"""Findings whose text is a command line."""
_SET_OR_NOT = ("TMUX", "STY", "SSH_CONNECTION", "WSL_DISTRO_NAME", "DUETTO_HOME")
_ABOUT = """\
A bug report of duetto, made by `duetto doctor --bundle`. Nothing was sent: attach this file to the
report yourself, after a look through it.

Left out: keys, prompts, answers, drafts, and the text of your files. Of the settings only what is
known to be no secret is shown; everything else says (removed). Your home folder is written as ~.

doctor.json     what `duetto doctor` found
versions.json   duetto, Python, the system, the packages
terminal.json   what kind of terminal this is
settings.json   the settings, yours and the workspace's
folders.json    names, sizes and ages of duetto's own files
duetto.log      the end of the log
"""


def default_name(now: datetime) -> str:
    """The name of a bundle that was not named."""
    return f"duetto-bundle-{now:%Y-%m-%d-%H%M%S}.zip"


def write(target: Path, paths: Paths, config: Path, findings: Iterable[CheckResult]) -> list[str]:
    """Write the bundle, readable by its owner alone; gives the names of what is in it.

    ``config`` is the settings file that is in force. Raises UsageError: there is such a file
    already, or it cannot be written; nothing is left behind then.
    """
    if os.path.lexists(target):
        raise UsageError(f"{target} is there already; name another file, or remove it")
    texts = {"README.txt": _ABOUT, **dict(_texts(paths, config, findings))}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, text in texts.items():
            bundle.writestr(name, text.encode("utf-8", "backslashreplace"))
    made = False
    try:
        handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        made = True
        with os.fdopen(handle, "wb") as file:
            file.write(packed.getbuffer())
    except OSError as error:
        if made:
            target.unlink(missing_ok=True)
        why = error.strerror or type(error).__name__
        raise UsageError(f"cannot write {target}: {why}; name another place") from error
    return sorted(texts)


def _texts(
    paths: Paths, config: Path, findings: Iterable[CheckResult]
) -> Iterator[tuple[str, str]]:
    """Name and text of each part, all of them masked."""
    secrets = [*secrets_of(os.environ), *proxy_passwords(os.environ), *_named_keys(config)]
    secrets += _odd_secrets(os.environ)
    secrets += [one for file in (config, Path.cwd() / PROJECT_FILE) for one in hidden(_read(file))]
    masking, mask = Masking(secrets), Mask(secrets)
    found = [_quiet(finding) for finding in findings]
    parts: dict[str, object] = {
        "doctor.json": found,
        "versions.json": _versions(),
        "terminal.json": _terminal(os.environ),
        "settings.json": {
            "user": _settings(config, mask),
            "workspace": _settings(Path.cwd() / PROJECT_FILE, mask),
        },
        "folders.json": {
            name: list(_files(folder))
            for name, folder in (
                ("settings", paths.config_file.parent),
                ("data", paths.data_dir),
                ("state", paths.state_dir),
            )
        },
    }
    for name, value in parts.items():
        plain = _each_text(value, lambda text: without_home(masking.masked(text)))
        yield name, json.dumps(plain, indent=2, ensure_ascii=False, default=str)
    yield "duetto.log", without_home(masking.masked(_log(paths)))


def _odd_secrets(environment: Mapping[str, str]) -> Iterator[str]:
    """Values that may be secret by their names, and passwords in addresses."""
    for name, value in environment.items():
        yield from _PASSWORD.findall(value)
        if _SECRET_WORD.search(name):
            yield value.strip()


def _named_keys(config: Path) -> list[str]:
    """The values of the variables that the settings say hold keys."""
    names = key_variables(_read(config))
    return [value for name in names if (value := os.environ.get(name, "").strip())]


def _read(file: Path) -> str:
    """A settings file; empty: there is none, or none that can be read."""
    try:
        return toml_tables.read(file, required=False) or ""
    except SettingsError:
        return ""


def _quiet(finding: CheckResult) -> dict[str, object]:
    """A finding; of a command only the program, since its words may be anything."""
    told = asdict(finding)
    if finding.check in _OF_COMMANDS:
        told["text"] = f"{finding.text.split(' ')[0]} {GONE}"
    return told


def _each_text(value: object, changed: Callable[[str], str]) -> object:
    """The same with every text in it changed, names too."""
    if isinstance(value, str):
        return changed(value)
    if isinstance(value, Mapping):
        return {changed(str(name)): _each_text(one, changed) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_each_text(one, changed) for one in value]
    return value


def without_home(text: str, home: str | None = None) -> str:
    """The text with the user's home folder as ``~``: it often holds a name."""
    folder = (home or str(Path.home())).rstrip("/\\")
    if len(folder) < 2:
        return text
    written = "|".join(re.escape(one) for one in {folder, json.dumps(folder)[1:-1]})
    return re.sub(rf"(?:{written})(?![\w.-])", "~", text)


def _versions() -> dict[str, object]:
    packages = {one.metadata["Name"]: one.version for one in metadata.distributions()}
    return {
        "duetto": tui.__version__,
        "python": sys.version,
        "system": platform.platform(),
        "packages": dict(sorted(packages.items(), key=lambda pair: str(pair[0]).lower())),
    }


def _terminal(environment: Mapping[str, str]) -> dict[str, object]:
    size = shutil.get_terminal_size((0, 0))
    said = {name: environment[name] for name in _TOLD_VARIABLES if name in environment}
    return {
        "size": f"{size.columns}x{size.lines}",
        "stdin is a terminal": sys.stdin.isatty(),
        "stdout is a terminal": sys.stdout.isatty(),
        "encoding": sys.stdout.encoding,
        "environment": {name: value[:80] for name, value in said.items()},
        "set": [name for name in _SET_OR_NOT if environment.get(name)],
    }


def _settings(file: Path, mask: Mask) -> object:
    """A settings file as it may be shown, or why there is none."""
    try:
        text = toml_tables.read(file, required=False)
    except SettingsError as error:
        return str(error)
    return "not there" if text is None else cleaned(text, mask)


_MOST_FILES = 200


def _files(folder: Path) -> Iterator[dict[str, object]]:
    """What lies in a folder of duetto's; not what is in it."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        yield {"error": error.strerror}
        return
    for entry in entries[:_MOST_FILES]:
        try:
            about = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        changed = datetime.fromtimestamp(about.st_mtime, UTC)
        yield {
            "name": entry.name + ("/" if entry.is_dir(follow_symlinks=False) else ""),
            "bytes": about.st_size,
            "mode": f"{about.st_mode & 0o777:o}",
            "changed": f"{changed:%Y-%m-%d %H:%M:%S}Z",
        }
    if len(entries) > _MOST_FILES:
        yield {"more": len(entries) - _MOST_FILES}


def _log(paths: Paths) -> str:
    """The end of the log; a line that was cut is left out."""
    try:
        with paths.log_file.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - LOG_BYTES, 0))
            data = file.read(LOG_BYTES)
    except OSError as error:
        return f"no log: {error.strerror}\n"
    whole = data if size <= LOG_BYTES else data.partition(b"\n")[2]
    return whole.decode("utf-8", "backslashreplace") or "the log is empty\n"
