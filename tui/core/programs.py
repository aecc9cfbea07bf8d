"""How duetto runs programs by itself, and what comes back from them.

A folder that was only opened must not get a command run: by a PATH that leads into it, or by its
git configuration (the file system monitor, hooks, the transport of a partial clone). git's filters
are up to who runs them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from msgspec import Struct

NO_COMMANDS = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
"""Options before git's command."""
USUAL_PATH = "/bin:/usr/bin"
"""Where there is no PATH (`os.defpath`)."""
_NOWHERE = "/nonexistent"
"""An empty PATH would mean the folder that a program is started in."""


def safe_path(environment: Mapping[str, str], *roots: str) -> str:
    """PATH without relative folders (``.`` or an empty part) and those in a workspace.

    ``roots`` are the workspace's names. In one that holds the home folder all is the user's.
    """
    folders = environment.get("PATH", USUAL_PATH).split(":")
    home = environment.get("HOME", "")
    tops = [root for root in roots if not is_below(home, root)]
    kept = [
        folder
        for folder in folders
        if folder.startswith("/") and not any(is_below(folder, top) for top in tops)
    ]
    return ":".join(kept) or _NOWHERE


def is_below(path: str, top: str) -> bool:
    """True for a folder and what lies in it, by their absolute names."""
    path, top = posixpath.normpath(path), posixpath.normpath(top)
    return path == top or path.startswith(top.rstrip("/") + "/")


def git_environment(environment: Mapping[str, str], *roots: str) -> dict[str, str]:
    """An environment in which git asks nobody, locks nothing and fetches nothing."""
    kept = {name: value for name, value in environment.items() if not name.startswith("GIT_")}
    return kept | {
        "PATH": safe_path(environment, *roots),
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",  # git before 2.44 does not know the line above
        "LC_ALL": "C",
    }


_SECRET_NAME = re.compile(
    r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|PRIVATE|AUTH|COOKIE|SESSION_BUS|DSN$|^(DUETTO|AWS|AZURE)_"
    r"|^(BASH_)?ENV$|^CDPATH$|^GIT_EXTERNAL_DIFF$|^GIT_CONFIG",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(
    r"^(sk-|gh[opsu]_|github_pat_|xox[abp]-|AKIA|AIza|hf_|glpat-|npm_|pypi-|eyJ)[\w.-]{8}"
    r"|-----BEGIN|://[^/@\s]*:[^/@\s]*@"
)
_GIT_SETTINGS = {
    "core.fsmonitor": "false",
    "log.showSignature": "false",
    "safe.bareRepository": "explicit",
}
"""A folder that has the shape of a repository brings a configuration, which can name programs."""


def without_keys(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment for a model's commands: nothing secret, no way to who holds secrets.

    git locks nothing that it only looks at, and obeys no repository that lies in the workspace.
    """
    kept = {
        name: value
        for name, value in environment.items()
        if not _SECRET_NAME.search(name) and not _SECRET_VALUE.search(value)
    }
    kept |= {"PATH": safe_path(environment), "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    kept |= {"GIT_PAGER": "cat", "PAGER": "cat", "GIT_CONFIG_COUNT": str(len(_GIT_SETTINGS))}
    for at, (name, value) in enumerate(_GIT_SETTINGS.items()):
        kept |= {f"GIT_CONFIG_KEY_{at}": name, f"GIT_CONFIG_VALUE_{at}": value}
    return kept


class Confinement(Struct, frozen=True):
    """What a command may touch that runs in the sandbox; all else of the disk is read-only."""

    writable: bool = True
    """False: it may write nothing but its own temporary folder, not even the workspace."""
    network: bool = False


class RunOptions(Struct, frozen=True):
    """How a command runs."""

    folder: str = ""
    """Below the workspace's root."""
    pty: bool = False
    """It gets a terminal of its own."""
    bash: bool = False
    """A line is for bash, where there is one; else for ``/bin/sh``."""
    keys: bool = True
    """Its environment has tokens and passwords, as that of the user's own commands has."""
    confined: Confinement | None = None
    """None: it may do what the user may."""
    stdin: bytes = b""
    """What it finds on its standard input; nothing of it where it has a terminal."""


AS_THE_USER = RunOptions()


class Sandbox(Struct, frozen=True):
    """What this machine can do to confine a command."""

    works: bool = False
    words: str = "no sandbox on this machine"
    """What confines commands, or why nothing does, for the screen."""


class Launch(NamedTuple):
    """How a confined command is started."""

    argv: tuple[str, ...]
    variables: Mapping[str, str] = {}
    """Over those of its environment."""
    confine: Callable[[], None] | None = None
    """Called in the new process before the program."""
    tidy: Callable[[], None] = lambda: None
    """Called when all of it has ended, in a thread."""


class RunResult(Struct, frozen=True):
    """How a command ended."""

    status: int | None
    """Exit status; negative: the signal; None: it could not be started."""
    seconds: float
    timed_out: bool = False
    stopped: bool = False
    error: str = ""


class Edited(NamedTuple):
    """A text, or why there is none."""

    text: str | None
    """None: the text that was given stays as it was."""
    said: str = ""
    """What the user should know of it, in a sentence."""
