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
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import tui
from tui import toml_tables
from tui.cli.bundle_config import GONE, cleaned, hidden, key_variables
from tui.cli.finding import Finding
from tui.cli.logfile import Masking, proxy_passwords, secrets_of
from tui.core.wire.masking import Mask
from tui.errors import SettingsError, UsageError
from tui.settings import PROJECT_FILE, Paths

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


def write(target: Path, paths: Paths, config: Path, findings: Iterable[Finding]) -> list[str]:
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


def _texts(paths: Paths, config: Path, findings: Iterable[Finding]) -> Iterator[tuple[str, str]]:
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
        plain = _each_text(value, lambda text: homeless(masking.masked(text)))
        yield name, json.dumps(plain, indent=2, ensure_ascii=False, default=str)
    yield "duetto.log", homeless(masking.masked(_log(paths)))


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


def _quiet(finding: Finding) -> dict[str, object]:
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


def homeless(text: str, home: str | None = None) -> str:
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
