"""How duetto runs programs by itself, and what comes back from them.

A folder that was only opened must not get a command run: by a PATH that leads into it, or by its
git configuration (the file system monitor, hooks, the transport of a partial clone). git's filters
are up to who runs them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from msgspec import Struct

CommandLine = str | Sequence[str]
"""For the shell, or the program and its arguments."""
Output = Callable[[bytes], None]
"""Is called with what a command says, as it comes."""
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
    r"|^(BASH_)?ENV$|^BASH_FUNC_|^(SHELL|BASH)OPTS$|^PS4$|^CDPATH$|^GIT_EXTERNAL_DIFF$|^GIT_CONFIG",
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
_GIT_READS = _GIT_SETTINGS | {
    "core.hooksPath": "/dev/null",
    "diff.autoRefreshIndex": "false",
    "gpg.program": "false",  # %G in a format of the configuration's own
    "gpg.openpgp.program": "false",
    "gpg.ssh.program": "false",
    "gpg.x509.program": "false",
}
_RUNS = re.compile(
    r"diff\.external|diff\..*\.(command|textconv)|filter\..*\.(clean|process)|merge\..*\.driver"
    r"|core\.(worktree|alternaterefscommand)",
    re.DOTALL,
)


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
    kept |= {"GIT_PAGER": "cat", "PAGER": "cat"}
    return kept | _git_settings(_GIT_SETTINGS)


def only_reading(environment: Mapping[str, str], root: str) -> dict[str, str]:
    """Of such an environment the part in which a program that only reads does no more.

    No program of the workspace takes another's name, and no configuration adds anything, but for
    what `named_programs` finds.
    """
    kept = {name: value for name, value in environment.items() if name != "RIPGREP_CONFIG_PATH"}
    kept |= {"PATH": safe_path(environment, root), "GIT_NO_LAZY_FETCH": "1"}
    return kept | {"GIT_ALLOW_PROTOCOL": "none"} | _git_settings(_GIT_READS)


def _git_settings(settings: Mapping[str, str]) -> dict[str, str]:
    variables = {"GIT_CONFIG_COUNT": str(len(settings))}
    for at, (name, value) in enumerate(settings.items()):
        variables |= {f"GIT_CONFIG_KEY_{at}": name, f"GIT_CONFIG_VALUE_{at}": value}
    return variables


def named_programs(listed: str, *, submodule: bool) -> str:
    """The first of a repository's own settings that has git run a program, or look elsewhere.

    ``listed`` is what ``git config -z --list --show-scope`` says. Where git looks into a
    submodule, our own settings do not hold.
    """
    scopes = iter(listed.split("\0"))
    for scope, entry in zip(scopes, scopes, strict=False):
        name, _, value = entry.partition("\n")
        if scope not in ("local", "worktree") or value.startswith("git-lfs "):
            continue
        if submodule and name == "core.fsmonitor" and value != "false":
            return name
        if _RUNS.fullmatch(name) and not (submodule and name == "core.worktree"):
            return name
    return ""


class Confinement(Struct, frozen=True):
    """What a command may touch that runs in the sandbox; all else of the disk is read-only."""

    writable: bool = True
    """False: it may write nothing but its own temporary folder, not even the workspace."""
    network: bool = False

    @property
    def words(self) -> str:
        """What it may do, in words."""
        may = "writes the workspace" if self.writable else "only reads"
        return f"{may}{', uses the network' if self.network else ''}"


class Overlay(NamedTuple):
    """What is mounted over a folder for one command; all paths are absolute."""

    folder: str
    lower: tuple[str, ...]
    """Folders that are seen through it, the uppermost first; none: ``upper`` itself is seen."""
    upper: str
    """Gets what the command writes."""
    work: str
    """An empty folder for the kernel, beside ``upper``."""
    writable: bool = True


class Entry(NamedTuple):
    """How one command gets into a shadow."""

    root: str
    """The workspace's folder there."""
    overlays: tuple[Overlay, ...] = ()
    """None: the shadow is a folder elsewhere."""
    variables: Mapping[str, str] = {}
    """Over those of its environment."""
    room: int = 0
    """Bytes that it may write."""
    leave: Callable[[], str] = lambda: ""
    """Called once when all of it has ended, in a thread; see `RunResult.strayed`."""
    written: tuple[str, ...] = ()
    """The folders that may grow by ``room``."""


Written = Callable[[Mapping[str, bytes | None]], None]
"""Told of files and their bytes; None: the file is gone."""


class Shadow(Protocol):
    """A throw-away copy of the workspace: as the disk, but for some files (effects.shadow).

    What a command writes in it is gone with the command, but for the caches of compilers and test
    runners: what a command leaves in these, others find if it was not confined.
    """

    async def hold(self, texts: Mapping[str, bytes | None]) -> None:
        """Have exactly these files differ from the disk; None: there is no such file.

        Only what changed since the last time is written. Raises FileRefused.
        """

    def enter(self, *, confined: bool, written: Written | None = None) -> Entry:
        """For the runner, once for each command. Raises OSError.

        ``written`` is told in `Entry.leave`, see `RunOptions.written`.
        """

    def close(self) -> None:
        """It is not needed any more; nothing runs in it."""


@runtime_checkable
class RemoteShadow(Shadow, Protocol):
    """A shadow on another machine: it runs commands itself."""

    async def run(
        self, command: CommandLine, output: Output, deadline_s: float, how: RunOptions
    ) -> RunResult:
        """See `engine.ports.Runner`."""


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
    reads: bool = False
    """It was judged to only read, and may not be made to do more."""
    confined: Confinement | None = None
    """None: it may do what the user may."""
    stdin: bytes = b""
    """What it finds on its standard input; nothing of it where it has a terminal."""
    names: tuple[str, ...] = ()
    """Files in the folder that it is known to read or write."""
    places: tuple[str, ...] = ()
    """Where folder and names led when it was allowed (`Runner.places`); empty: wherever."""
    shadow: Shadow | None = None
    """It runs in this, not on the disk."""
    memory: int = 0
    """Bytes that all that it starts may have together; 0: as many as there are."""
    nice: bool = False
    """Nobody waits for it: all others go before."""
    brings: tuple[str, ...] = ()
    """Files outside of the workspace that it leaves, and that are wanted here, if it runs
    elsewhere."""
    written: Written | None = None
    """Told in a thread what it left in its shadow, but for caches, links and what is too large.

    Files that it wrote as they were may be among them.
    """


AS_THE_USER = RunOptions()


class Sandbox(Struct, frozen=True):
    """What this machine can do to confine a command."""

    works: bool = False
    words: str = "no sandbox on this machine"
    """What confines commands, or why nothing does, for the screen."""
    emptied: tuple[str, ...] = ()
    """Folders of which commands see an empty one of their own."""
    leaves: frozenset[str] = frozenset()
    """What it does not keep from commands, as ``words`` say; by the names of `duetto doctor`."""


class Launch(NamedTuple):
    """How a confined command is started."""

    argv: tuple[str, ...]
    variables: Mapping[str, str] = {}
    """Over those of its environment."""
    ruleset: int = -1
    """Of Landlock, for the new process: a file descriptor, the caller's until `tidy`."""
    forbids: bytes = b""
    """For seccomp, with a ruleset."""
    open_folder: tuple[str, int] | None = None
    """A folder that is only there when the command starts, and its rights of the ruleset."""
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
    strayed: str = ""
    """A file of the workspace on the disk that was used instead of the shadow's."""
    output: bytes = b""
    """The end of what it said, if it was begun anew on another machine; else it was told."""


class Edited(NamedTuple):
    """A text, or why there is none."""

    text: str | None
    """None: the text that was given stays as it was."""
    said: str = ""
    """What the user should know of it, in a sentence."""
